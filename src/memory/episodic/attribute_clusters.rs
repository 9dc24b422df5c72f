//! Which looks name the same thing by its attributes: what is red is not blue, what
//! is called "mug" may be either, and a single odd colour among many is a misdetection.
//!
//! Pure.

use std::collections::BTreeSet;

use crate::base::time::Timestamp;
use crate::index::mention::fit::{Fit, fit};
use crate::index::mention::{Attribute, AttributeKind};

/// A thing as one caption names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributedMention {
    /// Number of the record, in the order of time.
    pub(super) record: usize,
    /// Number of the sentence in the record's caption.
    pub(super) sentence: usize,
    pub(super) at: Timestamp,
    /// Number of the place.
    pub(super) place: usize,
    /// Without those that change from day to day or count; see [`lasting_attributes`].
    pub(super) attributes: Vec<Attribute>,
}

/// How well a name fits the cluster that it was counted to; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClusterFit {
    /// Called something else, among many that are not.
    Misdetection,
    /// Nothing against it.
    Possible,
    /// Named so.
    Full,
}

/// What is named alike, as far as attributes tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AttributeCluster {
    /// Everything that names of it say.
    pub(super) attributes: Vec<Attribute>,
    /// Numbers of the names, with how well each fits.
    pub(super) members: Vec<(usize, ClusterFit)>,
}

/// The attributes that stay with a thing: its colour, not whether it is open.
pub(super) fn lasting_attributes(attributes: &[Attribute]) -> Vec<Attribute> {
    let stays = |it: &&Attribute| match it.kind {
        AttributeKind::Colour
        | AttributeKind::Material
        | AttributeKind::Size
        | AttributeKind::Pattern => true,
        AttributeKind::State | AttributeKind::Number | AttributeKind::Other => false,
    };
    let mut lasting: Vec<Attribute> = attributes.iter().filter(stays).cloned().collect();
    lasting.sort_by(|a, b| a.word.cmp(&b.word));
    lasting.dedup();
    lasting
}

/// One set of attributes, with the numbers of the names that say it.
#[derive(Debug)]
struct AttributeVariant {
    attributes: Vec<Attribute>,
    members: Vec<usize>,
}

/// Divides names into clusters, those with most names first.
pub(super) fn cluster_by_attributes(names: &[AttributedMention]) -> Vec<AttributeCluster> {
    let mut clusters: Vec<AttributeCluster> = Vec::new();
    let mut unsure: Vec<AttributeVariant> = Vec::new();
    for variant in variants(names) {
        let free: Vec<usize> = (0..clusters.len())
            .filter(|at| {
                clusters.get(*at).is_some_and(|cluster| !cluster.is_beside(&variant, names))
            })
            .collect();
        let like = |wanted: Closeness| -> Vec<usize> {
            let close =
                |at: &usize| clusters.get(*at).is_some_and(|it| it.closeness(&variant) == wanted);
            free.iter().copied().filter(close).collect()
        };
        let (same, near) = (like(Closeness::Same), like(Closeness::Near));
        let rare = |at: &usize| {
            clusters
                .get(*at)
                .is_some_and(|cluster| variant.members.len() * RARE <= cluster.members.len())
        };
        if let [only] = same[..] {
            add_variant(&mut clusters, only, variant, ClusterFit::Possible);
        } else if !same.is_empty() {
            unsure.push(variant);
        } else if let Some(near) = near.into_iter().find(rare) {
            add_variant(&mut clusters, near, variant, ClusterFit::Misdetection);
        } else if let Some(misdetection) = free
            .into_iter()
            .filter(rare)
            .find(|at| is_misdetection(clusters.get(*at), &variant, names))
        {
            add_variant(&mut clusters, misdetection, variant, ClusterFit::Misdetection);
        } else {
            let members =
                variant.members.into_iter().map(|name| (name, ClusterFit::Full)).collect();
            clusters.push(AttributeCluster { attributes: variant.attributes, members });
        }
    }
    for variant in unsure {
        assign_by_place(&mut clusters, variant, names);
    }
    for cluster in &mut clusters {
        cluster.members.sort_unstable();
    }
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.members.len()));
    clusters
}

/// So many times as many names must speak against a variant to make it a misdetection.
const RARE: usize = 5;

/// Those that name a colour first, then those with most names.
fn variants(names: &[AttributedMention]) -> Vec<AttributeVariant> {
    let mut variants: Vec<AttributeVariant> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match variants.iter_mut().find(|it| it.attributes == name.attributes) {
            Some(variant) => variant.members.push(at),
            None => {
                variants.push(AttributeVariant {
                    attributes: name.attributes.clone(),
                    members: vec![at],
                });
            }
        }
    }
    let is_plain =
        |it: &AttributeVariant| !it.attributes.iter().any(|a| a.kind == AttributeKind::Colour);
    variants.sort_by_key(|it| (is_plain(it), std::cmp::Reverse(it.members.len())));
    variants
}

/// How a variant compares with a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closeness {
    /// Nothing that one says is denied by the other.
    Same,
    /// Colours that one eye calls this and another that.
    Near,
    Apart,
}

/// Materials that are named in place of a colour.
const BARE: &[&str] =
    &["wooden", "metal", "glass", "cardboard", "wicker", "bamboo", "stone", "brass", "copper"];

/// "a wooden toy car" is not "an orange toy car", where neither is said to be both.
fn is_bare_and_painted(bare: &[Attribute], painted: &[Attribute]) -> bool {
    let is_colour = |it: &Attribute| it.kind == AttributeKind::Colour;
    let is_bare = |it: &Attribute| BARE.contains(&it.word.as_str());
    bare.iter().any(is_bare)
        && !bare.iter().any(is_colour)
        && painted.iter().any(is_colour)
        && !painted.iter().any(is_bare)
}

impl AttributeCluster {
    fn closeness(&self, variant: &AttributeVariant) -> Closeness {
        let (a, b) = (&self.attributes, &variant.attributes);
        let excluded = fit(a, b).is_none() || fit(b, a).is_none();
        if excluded || is_bare_and_painted(a, b) || is_bare_and_painted(b, a) {
            return Closeness::Apart;
        }
        let shared = |kind: AttributeKind| {
            let words = |of: &[Attribute]| -> BTreeSet<String> {
                of.iter().filter(|it| it.kind == kind).map(|it| it.word.clone()).collect()
            };
            let (a, b) = (words(a), words(b));
            a.is_empty() || b.is_empty() || !a.is_disjoint(&b)
        };
        if shared(AttributeKind::Colour) { Closeness::Same } else { Closeness::Near }
    }

    /// Whether one sentence names both: then they are two things.
    fn is_beside(&self, variant: &AttributeVariant, names: &[AttributedMention]) -> bool {
        let place = |at: usize| names.get(at).map(|it| (it.record, it.sentence));
        let own: BTreeSet<_> = self.members.iter().map(|(at, _)| place(*at)).collect();
        variant.members.iter().any(|at| own.contains(&place(*at)))
    }
}

/// Whether each name of a variant stands alone between two of the cluster at its place.
fn is_misdetection(
    cluster: Option<&AttributeCluster>,
    variant: &AttributeVariant,
    names: &[AttributedMention],
) -> bool {
    let Some(cluster) = cluster else { return false };
    let own: Vec<&AttributedMention> =
        cluster.members.iter().filter_map(|(at, _)| names.get(*at)).collect();
    variant.members.iter().filter_map(|at| names.get(*at)).all(|odd| {
        let before = own.iter().filter(|it| it.at < odd.at).max_by_key(|it| it.at);
        let after = own.iter().filter(|it| it.at > odd.at).min_by_key(|it| it.at);
        let is_there = |it: Option<&&AttributedMention>| it.is_some_and(|it| it.place == odd.place);
        is_there(before) && is_there(after)
    })
}

fn add_variant(
    clusters: &mut [AttributeCluster],
    to: usize,
    variant: AttributeVariant,
    quality: ClusterFit,
) {
    let Some(cluster) = clusters.get_mut(to) else { return };
    let full = fit(&variant.attributes, &cluster.attributes) == Some(Fit::Full);
    let quality = if full { ClusterFit::Full } else { quality };
    cluster.members.extend(variant.members.into_iter().map(|name| (name, quality)));
    if quality != ClusterFit::Misdetection {
        for attribute in variant.attributes {
            if !cluster.attributes.contains(&attribute) {
                cluster.attributes.push(attribute);
            }
        }
    }
}

/// Gives each name that fits several clusters to the one seen there nearest in time;
/// those seen where none was become a cluster of their own.
fn assign_by_place(
    clusters: &mut Vec<AttributeCluster>,
    variant: AttributeVariant,
    names: &[AttributedMention],
) {
    let mut left = Vec::new();
    let known = clusters.clone();
    for at in variant.members {
        let Some(name) = names.get(at) else { continue };
        let one = AttributeVariant { attributes: name.attributes.clone(), members: vec![at] };
        let nearest = known.iter().enumerate().filter_map(|(number, cluster)| {
            let fits =
                cluster.closeness(&one) == Closeness::Same && !cluster.is_beside(&one, names);
            let seen = cluster.members.iter().filter_map(|(it, _)| names.get(*it));
            let there = seen.filter(|it| it.place == name.place);
            let apart = there.map(|it| it.at.since(name.at).max(name.at.since(it.at))).min();
            apart.filter(|_| fits).map(|apart| (apart, number))
        });
        match nearest.min().and_then(|(_, number)| clusters.get_mut(number)) {
            Some(cluster) => cluster.members.push((at, ClusterFit::Possible)),
            None => left.push((at, ClusterFit::Possible)),
        }
    }
    if !left.is_empty() {
        clusters.push(AttributeCluster { attributes: variant.attributes, members: left });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::mention::mentions;
    use std::time::Duration;

    /// A caption a minute, each at a place; the names of mugs in them, by cluster.
    fn clusters_of(seen: &[(&str, usize)]) -> Vec<Vec<String>> {
        let mut names = Vec::new();
        let mut texts = Vec::new();
        for (record, (caption, place)) in seen.iter().enumerate() {
            let at = Timestamp::EPOCH.plus(Duration::from_secs(60 * record as u64));
            for mention in mentions(caption).into_iter().filter(|it| it.head_stem == "mug") {
                let attributes = lasting_attributes(&mention.attributes);
                names.push(AttributedMention {
                    record,
                    sentence: 0,
                    at,
                    place: *place,
                    attributes,
                });
                texts.push(format!("{} {record}", mention.phrase));
            }
        }
        let of = |cluster: &AttributeCluster| {
            cluster.members.iter().map(|(at, _)| texts[*at].clone()).collect()
        };
        cluster_by_attributes(&names).iter().map(of).collect()
    }

    fn check(seen: &[(&str, usize)], expect: &[&[&str]]) {
        assert_eq!(clusters_of(seen), expect);
    }

    #[test]
    fn colours_tell_apart_and_what_is_unsaid_does_not() {
        check(
            &[("a red mug", 0), ("a blue mug", 0), ("a red mug", 1)],
            &[&["red mug 0", "red mug 2"], &["blue mug 1"]],
        );
        check(
            &[("a mug", 0), ("a red mug", 1), ("a ceramic mug", 2)],
            &[&["mug 0", "red mug 1", "ceramic mug 2"]],
        );
    }

    #[test]
    fn what_fits_several_is_the_one_seen_there() {
        check(
            &[("a red mug", 0), ("a blue mug", 1), ("a mug", 1), ("a mug", 0), ("a mug", 2)],
            &[&["red mug 0", "mug 3"], &["blue mug 1", "mug 2"], &["mug 4"]],
        );
    }

    #[test]
    fn a_single_odd_colour_among_many_is_a_slip() {
        let mut seen = vec![("a red mug", 0); 6];
        seen.insert(3, ("a blue mug", 0));
        let all = [
            "red mug 0",
            "red mug 1",
            "red mug 2",
            "blue mug 3",
            "red mug 4",
            "red mug 5",
            "red mug 6",
        ];
        check(&seen, &[&all]);
    }

    #[test]
    fn an_odd_colour_elsewhere_or_beside_or_at_the_end_is_no_slip() {
        for odd in [("a blue mug", 1), ("a red mug and a blue mug", 0)] {
            let mut seen = vec![("a red mug", 0); 6];
            seen.insert(3, odd);
            assert_eq!(clusters_of(&seen)[1], ["blue mug 3"]);
        }
        let mut seen = vec![("a red mug", 0); 6];
        seen.push(("a blue mug", 0));
        assert_eq!(clusters_of(&seen)[1], ["blue mug 6"]);
    }

    #[test]
    fn near_colours_are_one_where_one_is_rare_and_two_where_both_are_common() {
        let mut seen = vec![("a blue mug", 0); 5];
        seen.push(("a turquoise mug", 1));
        assert_eq!(clusters_of(&seen).len(), 1);
        seen.push(("a turquoise mug", 1));
        assert_eq!(clusters_of(&seen).len(), 2);
    }
}
