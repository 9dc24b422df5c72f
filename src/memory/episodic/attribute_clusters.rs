//! Clusters mentions of one kind of thing by their attributes: red is not blue, a bare "mug"
//! may be either, and a single odd colour among many is a misdetection.
//!
//! Pure. Leader clustering: attribute sets come in order of specificity and support, and each
//! joins the one cluster that it fits or begins its own.

use std::collections::BTreeSet;

use crate::base::time::Timestamp;
use crate::language::fit::{Fit, fit};
use crate::language::mention::{Attribute, AttributeKind};
use crate::language::words::MATERIALS;

/// Mention with its attributes, record, place and time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributedMention {
    /// Number of the record, in the order of time.
    pub(super) record: usize,
    /// Number of the sentence in the record's caption.
    pub(super) sentence: usize,
    pub(super) at: Timestamp,
    /// Number of the place.
    pub(super) place: usize,
    /// Lasting ones only; see [`lasting_attributes`].
    pub(super) attributes: Vec<Attribute>,
}

/// Fit of a mention in its cluster; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClusterFit {
    /// Contradicts the cluster, which far more mentions support.
    Misdetection,
    /// Compatible with the cluster.
    Possible,
    /// Has all attributes of the cluster.
    Full,
}

/// Mentions that may be of one kind of object.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct AttributeCluster {
    /// Union of the members' attributes.
    pub(super) attributes: Vec<Attribute>,
    /// Numbers of the mentions, with the fit of each.
    pub(super) members: Vec<(usize, ClusterFit)>,
}

/// Attributes that last: colour, material, size and pattern, not state or number.
pub(super) fn lasting_attributes(attributes: &[Attribute]) -> Vec<Attribute> {
    let stays = |it: &&Attribute| match it.kind {
        AttributeKind::Colour
        | AttributeKind::Material
        | AttributeKind::Size
        | AttributeKind::Pattern
        | AttributeKind::Compound => true,
        AttributeKind::State | AttributeKind::Number | AttributeKind::Other => false,
    };
    let mut lasting: Vec<Attribute> = attributes.iter().filter(stays).cloned().collect();
    lasting.sort_by(|a, b| a.word.cmp(&b.word));
    lasting.dedup();
    lasting
}

/// Mentions with one and the same attribute set.
#[derive(Debug)]
struct AttributeVariant {
    attributes: Vec<Attribute>,
    members: Vec<usize>,
}

/// Clusters of `names`, the largest first.
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
        let (mut same, near) = (like(Closeness::Same), like(Closeness::Near));
        // A striped umbrella is rather the red and white striped one than the black one.
        let shares = |at: &usize| clusters.get(*at).is_some_and(|it| it.shares(&variant));
        if same.iter().filter(|it| shares(it)).count() == 1 {
            same.retain(shares);
        }
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

/// Ratio of mentions at which a smaller set counts as a misdetection of a larger cluster.
const RARE: usize = 5;

/// Attribute sets, those with a colour first, then the most frequent.
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

/// Compatibility of an attribute set with a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closeness {
    /// No contradiction.
    Same,
    /// Confusable colours.
    Near,
    Apart,
}

/// "a wooden toy car" is not "an orange toy car", where neither is said to be both.
fn is_bare_and_painted(bare: &[Attribute], painted: &[Attribute]) -> bool {
    let is_colour = |it: &Attribute| it.kind == AttributeKind::Colour;
    let is_bare = |it: &Attribute| MATERIALS.has_tag(&it.word, "bare");
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

    /// Whether something is said of both.
    fn shares(&self, variant: &AttributeVariant) -> bool {
        variant.attributes.iter().any(|it| self.attributes.contains(it))
    }

    /// Whether one sentence mentions both, which makes them two objects.
    fn is_beside(&self, variant: &AttributeVariant, names: &[AttributedMention]) -> bool {
        let place = |at: usize| names.get(at).map(|it| (it.record, it.sentence));
        let own: BTreeSet<_> = self.members.iter().map(|(at, _)| place(*at)).collect();
        variant.members.iter().any(|at| own.contains(&place(*at)))
    }
}

/// Whether each mention of a variant stands alone between two of the cluster at its place.
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

/// Assigns each mention that fits several clusters to the one seen at its place nearest in
/// time; those without such a cluster begin one of their own.
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
    use crate::language::mention::mentions;
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
    fn colours_separate_clusters_and_missing_attributes_do_not() {
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
    fn an_ambiguous_mention_joins_the_cluster_seen_at_its_place() {
        check(
            &[("a red mug", 0), ("a blue mug", 1), ("a mug", 1), ("a mug", 0), ("a mug", 2)],
            &[&["red mug 0", "mug 3"], &["blue mug 1", "mug 2"], &["mug 4"]],
        );
    }

    #[test]
    fn an_ambiguous_mention_joins_the_only_cluster_of_which_the_same_is_said() {
        let striped = [("a red striped mug", 0), ("a blue mug", 1), ("a striped mug", 1)];
        check(&striped, &[&["red striped mug 0", "striped mug 2"], &["blue mug 1"]]);
        let both = [("a red striped mug", 0), ("a blue striped mug", 1), ("a striped mug", 1)];
        check(&both, &[&["blue striped mug 1", "striped mug 2"], &["red striped mug 0"]]);
    }

    #[test]
    fn a_single_odd_colour_among_many_is_a_misdetection() {
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
    fn an_odd_colour_elsewhere_beside_or_last_begins_a_cluster() {
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
    fn confusable_colours_are_merged_only_where_one_is_rare() {
        let mut seen = vec![("a blue mug", 0); 5];
        seen.push(("a turquoise mug", 1));
        assert_eq!(clusters_of(&seen).len(), 1);
        seen.push(("a turquoise mug", 1));
        assert_eq!(clusters_of(&seen).len(), 2);
    }
}
