//! Which looks name the same thing by its attributes: what is red is not blue, what
//! is called "mug" may be either, and a single odd colour among many is a slip.
//!
//! Pure.

use std::collections::BTreeSet;

use crate::base::time::Timestamp;
use crate::index::mention::fit::{Fit, fit};
use crate::index::mention::{Attribute, AttributeKind};

/// A thing as one caption names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// Number of the record, in the order of time.
    pub(super) record: usize,
    /// Number of the sentence in the record's caption.
    pub(super) sentence: usize,
    pub(super) at: Timestamp,
    /// Number of the place.
    pub(super) place: usize,
    /// Without those that change from day to day or count; see [`lasting`].
    pub(super) attributes: Vec<Attribute>,
}

/// How well a name fits the kind that it was counted to; later is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// Called something else, among many that are not.
    Slip,
    /// Nothing against it.
    Possible,
    /// Named so.
    Full,
}

/// The names of one kind of thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Kind {
    /// Everything that names of it say.
    pub(super) attributes: Vec<Attribute>,
    /// Numbers of the names, with how well each fits.
    pub(super) names: Vec<(usize, Likeness)>,
}

/// The attributes that stay with a thing: its colour, not whether it is open.
pub(super) fn lasting(attributes: &[Attribute]) -> Vec<Attribute> {
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

/// A spelling of attributes with the numbers of its names.
#[derive(Debug)]
struct Spelling {
    attributes: Vec<Attribute>,
    names: Vec<usize>,
}

/// Divides names into kinds, those with most names first.
pub(super) fn kinds(names: &[Named]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut unsure: Vec<Spelling> = Vec::new();
    for spelling in spellings(names) {
        let free: Vec<usize> = (0..kinds.len())
            .filter(|at| kinds.get(*at).is_some_and(|kind| !kind.is_beside(&spelling, names)))
            .collect();
        let like = |wanted: Closeness| -> Vec<usize> {
            let close =
                |at: &usize| kinds.get(*at).is_some_and(|it| it.closeness(&spelling) == wanted);
            free.iter().copied().filter(close).collect()
        };
        let (same, near) = (like(Closeness::Same), like(Closeness::Near));
        let rare = |at: &usize| {
            kinds.get(*at).is_some_and(|kind| spelling.names.len() * RARE <= kind.names.len())
        };
        if let [only] = same[..] {
            add(&mut kinds, only, spelling, Likeness::Possible);
        } else if !same.is_empty() {
            unsure.push(spelling);
        } else if let Some(near) = near.into_iter().find(rare) {
            add(&mut kinds, near, spelling, Likeness::Slip);
        } else if let Some(slip) =
            free.into_iter().filter(rare).find(|at| is_slip(kinds.get(*at), &spelling, names))
        {
            add(&mut kinds, slip, spelling, Likeness::Slip);
        } else {
            let names = spelling.names.into_iter().map(|name| (name, Likeness::Full)).collect();
            kinds.push(Kind { attributes: spelling.attributes, names });
        }
    }
    for spelling in unsure {
        share_out(&mut kinds, spelling, names);
    }
    for kind in &mut kinds {
        kind.names.sort_unstable();
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.names.len()));
    kinds
}

/// So many times as many names must speak against a spelling to make it a slip.
const RARE: usize = 5;

/// Those that name a colour first, then those with most names.
fn spellings(names: &[Named]) -> Vec<Spelling> {
    let mut spellings: Vec<Spelling> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match spellings.iter_mut().find(|it| it.attributes == name.attributes) {
            Some(spelling) => spelling.names.push(at),
            None => {
                spellings.push(Spelling { attributes: name.attributes.clone(), names: vec![at] });
            }
        }
    }
    let is_plain = |it: &Spelling| !it.attributes.iter().any(|a| a.kind == AttributeKind::Colour);
    spellings.sort_by_key(|it| (is_plain(it), std::cmp::Reverse(it.names.len())));
    spellings
}

/// How a spelling compares with a kind.
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

impl Kind {
    fn closeness(&self, spelling: &Spelling) -> Closeness {
        let (a, b) = (&self.attributes, &spelling.attributes);
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
    fn is_beside(&self, spelling: &Spelling, names: &[Named]) -> bool {
        let place = |at: usize| names.get(at).map(|it| (it.record, it.sentence));
        let own: BTreeSet<_> = self.names.iter().map(|(at, _)| place(*at)).collect();
        spelling.names.iter().any(|at| own.contains(&place(*at)))
    }
}

/// Whether each name of a spelling stands alone between two of the kind at its place.
fn is_slip(kind: Option<&Kind>, spelling: &Spelling, names: &[Named]) -> bool {
    let Some(kind) = kind else { return false };
    let own: Vec<&Named> = kind.names.iter().filter_map(|(at, _)| names.get(*at)).collect();
    spelling.names.iter().filter_map(|at| names.get(*at)).all(|odd| {
        let before = own.iter().filter(|it| it.at < odd.at).max_by_key(|it| it.at);
        let after = own.iter().filter(|it| it.at > odd.at).min_by_key(|it| it.at);
        let is_there = |it: Option<&&Named>| it.is_some_and(|it| it.place == odd.place);
        is_there(before) && is_there(after)
    })
}

fn add(kinds: &mut [Kind], to: usize, spelling: Spelling, likeness: Likeness) {
    let Some(kind) = kinds.get_mut(to) else { return };
    let full = fit(&spelling.attributes, &kind.attributes) == Some(Fit::Full);
    let likeness = if full { Likeness::Full } else { likeness };
    kind.names.extend(spelling.names.into_iter().map(|name| (name, likeness)));
    if likeness != Likeness::Slip {
        for attribute in spelling.attributes {
            if !kind.attributes.contains(&attribute) {
                kind.attributes.push(attribute);
            }
        }
    }
}

/// Gives each name that fits several kinds to the one seen there nearest in time;
/// those seen where none was become a kind of their own.
fn share_out(kinds: &mut Vec<Kind>, spelling: Spelling, names: &[Named]) {
    let mut left = Vec::new();
    let known = kinds.clone();
    for at in spelling.names {
        let Some(name) = names.get(at) else { continue };
        let one = Spelling { attributes: name.attributes.clone(), names: vec![at] };
        let nearest = known.iter().enumerate().filter_map(|(number, kind)| {
            let fits = kind.closeness(&one) == Closeness::Same && !kind.is_beside(&one, names);
            let seen = kind.names.iter().filter_map(|(it, _)| names.get(*it));
            let there = seen.filter(|it| it.place == name.place);
            let apart = there.map(|it| it.at.since(name.at).max(name.at.since(it.at))).min();
            apart.filter(|_| fits).map(|apart| (apart, number))
        });
        match nearest.min().and_then(|(_, number)| kinds.get_mut(number)) {
            Some(kind) => kind.names.push((at, Likeness::Possible)),
            None => left.push((at, Likeness::Possible)),
        }
    }
    if !left.is_empty() {
        kinds.push(Kind { attributes: spelling.attributes, names: left });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::mention::mentions;
    use std::time::Duration;

    /// A caption a minute, each at a place; the names of mugs in them, by kind.
    fn kinds_of(seen: &[(&str, usize)]) -> Vec<Vec<String>> {
        let mut names = Vec::new();
        let mut texts = Vec::new();
        for (record, (caption, place)) in seen.iter().enumerate() {
            let at = Timestamp::EPOCH.plus(Duration::from_secs(60 * record as u64));
            for mention in mentions(caption).into_iter().filter(|it| it.head_stem == "mug") {
                let attributes = lasting(&mention.attributes);
                names.push(Named { record, sentence: 0, at, place: *place, attributes });
                texts.push(format!("{} {record}", mention.phrase));
            }
        }
        let of = |kind: &Kind| kind.names.iter().map(|(at, _)| texts[*at].clone()).collect();
        kinds(&names).iter().map(of).collect()
    }

    fn check(seen: &[(&str, usize)], expect: &[&[&str]]) {
        assert_eq!(kinds_of(seen), expect);
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
            assert_eq!(kinds_of(&seen)[1], ["blue mug 3"]);
        }
        let mut seen = vec![("a red mug", 0); 6];
        seen.push(("a blue mug", 0));
        assert_eq!(kinds_of(&seen)[1], ["blue mug 6"]);
    }

    #[test]
    fn near_colours_are_one_where_one_is_rare_and_two_where_both_are_common() {
        let mut seen = vec![("a blue mug", 0); 5];
        seen.push(("a turquoise mug", 1));
        assert_eq!(kinds_of(&seen).len(), 1);
        seen.push(("a turquoise mug", 1));
        assert_eq!(kinds_of(&seen).len(), 2);
    }
}
