//! Sightings of an object, from the phrases of all segments alone: the last, and how many.
//! Never the newest of the most similar.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::columns::Condition;
use crate::index::phrases::{ObjectQuery, PhraseMatches, Phrases, SceneQuery};
use crate::language::deeds::is_deed_word;
use crate::language::fit::{Certainty, Fit, fit};
use crate::language::lexicon;
use crate::language::likeness::is_likeness;
use crate::language::mention::{Attribute, AttributeKind};
use crate::search::segment::SegmentReader;

/// Records that show an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSightings {
    /// Certainty of all of them: the highest there is.
    pub certainty: Certainty,
    pub records: Vec<RecordId>,
}

/// Rows of each segment that show an object, of the highest rank.
#[derive(Debug)]
pub(super) struct SightingRows<'a> {
    certainty: Certainty,
    segments: Vec<(&'a SegmentReader<'a>, RoaringBitmap)>,
}

/// How well rows match a query: how surely they show the target, then, of those that hardly do,
/// how many of the things around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) certainty: Certainty,
    around: usize,
}

/// Rows within a condition that match the query best; `None` where none does better than
/// [`Certainty::Related`].
pub(super) fn find<'a>(
    readers: &'a [SegmentReader<'a>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Option<SightingRows<'a>> {
    let mut found: BTreeMap<Rank, Vec<(&SegmentReader<'_>, RoaringBitmap)>> = BTreeMap::new();
    let context = context_of(readers, query, condition);
    for reader in readers {
        let within = reader.select(condition);
        for (rank, rows) in by_rank(reader.phrases(), query, context) {
            let rows = within.of(&rows);
            if !rows.is_empty() {
                found.entry(rank).or_default().push((reader, rows));
            }
        }
    }
    let (Rank { certainty, .. }, segments) =
        found.pop_last().filter(|(it, _)| it.certainty > Certainty::Related)?;
    Some(SightingRows { certainty, segments })
}

/// What all records tell of how one is to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    around: Around,
    /// Whether there is none of its kind but what is asked for: "the grater" is the box grater.
    is_only_kind: bool,
}

pub(super) fn context_of(
    readers: &[SegmentReader<'_>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Context {
    Context {
        around: around_of(readers, query, condition),
        is_only_kind: is_only_kind(readers, &query.target, condition),
    }
}

/// Whether the target is seen as it is described, and nothing that has its noun is another: none
/// that is described otherwise, none before it that is not described, and none that says what
/// is not said of it, as a white plate where there is a black license plate.
fn is_only_kind(
    readers: &[SegmentReader<'_>],
    target: &ObjectQuery,
    condition: &Condition<'_>,
) -> bool {
    let (mut described, mut bare) = (Vec::new(), Vec::new());
    // The ambulance is no toy ambulance, and the cat that eats does not sleep.
    let is_animal = lexicon::descends_from(&target.said, "animal");
    let does = target.attributes.iter().any(|it| is_deed_word(&it.word));
    if is_animal && does || is_likeness(&target.attributes) {
        return false;
    }
    for reader in readers {
        let within = reader.select(condition);
        for named in reader.phrases().naming(target).filter(|it| it.is_own) {
            let rows = within.of(named.rows);
            let first = rows.min().and_then(|row| reader.ids().of(Row(row)));
            let Some(first) = first else { continue };
            match named.fit {
                None => return false,
                Some(Fit::Full) => described.push((first, named.attributes)),
                Some(Fit::Partial | Fit::Possible | Fit::Related) => {
                    bare.push((first, named.attributes));
                }
            }
        }
    }
    let may_be_described = |(first, attributes): &(RecordId, &[Attribute])| {
        let is_it =
            |of: &[Attribute]| fit(attributes, of).is_some() && !looks_otherwise(attributes, of);
        described.iter().any(|(before, of)| before <= first && is_it(of))
    };
    !bare.is_empty() && bare.iter().all(may_be_described)
}

/// Whether one is told by its look, and of the other another look is said: a red box need not be
/// the cardboard box, nor a blue mug the one with a cat on it. What changes, as that it is closed,
/// tells nothing apart. Another part of the name or another size is of another thing, however one
/// is told: gardening gloves are no rubber gloves.
fn looks_otherwise(attributes: &[Attribute], described: &[Attribute]) -> bool {
    use AttributeKind::{Colour, Compound, Material, Other, Pattern, Size};
    let is_on_it = |it: &Attribute| it.kind == Other && lexicon::is_name(&it.word);
    let is_look = |it: &Attribute| matches!(it.kind, Colour | Material | Pattern) || is_on_it(it);
    let is_told_by_look = described.iter().any(is_look);
    let tells =
        |it: &&Attribute| matches!(it.kind, Compound | Size) || is_told_by_look && is_look(it);
    let is_left_out = |it: &Attribute| described.iter().all(|of| of.word != it.word);
    attributes.iter().filter(tells).any(is_left_out)
}

/// What counts as a thing around the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// One of which something of its description is said.
    Described,
    /// Any that it may be: "a windowsill" for "the grey windowsill".
    Possible,
}

/// What counts as the things around: those that are described, where such a record is.
fn around_of(
    readers: &[SegmentReader<'_>],
    query: &SceneQuery,
    condition: &Condition<'_>,
) -> Around {
    let is_described = |reader: &SegmentReader<'_>| {
        let full = reader.phrases().matches(&query.target).full;
        let rows = query.around.iter().fold(full, |rows, thing| {
            rows & shown(reader.phrases(), query, thing, Around::Described)
        });
        !reader.select(condition).of(&rows).is_empty()
    };
    let is_any = !query.around.is_empty() && readers.iter().any(is_described);
    if is_any { Around::Described } else { Around::Possible }
}

/// Rows that show a thing around the target, or say of the target that it has it.
fn shown(
    phrases: &Phrases,
    query: &SceneQuery,
    thing: &ObjectQuery,
    around: Around,
) -> RoaringBitmap {
    let matches = phrases.matches(thing);
    let mut rows = match around {
        Around::Described => matches.full | matches.partial,
        Around::Possible => matches.union_named(),
    };
    let of_target = phrases.naming(&query.target).filter(|it| thing.is_told_by(it.attributes));
    of_target.for_each(|it| rows |= it.rows);
    rows
}

/// Rows of a segment that match the query, by rank.
pub(super) fn by_rank(
    phrases: &Phrases,
    query: &SceneQuery,
    Context { around, is_only_kind }: Context,
) -> Vec<(Rank, RoaringBitmap)> {
    let PhraseMatches { mut full, mut partial, mut possible, mut related } =
        phrases.matches(&query.target);
    if is_only_kind {
        let named = phrases.naming(&query.target);
        // Of several bikes any may be the orange one.
        let bare = named.filter(|it| it.is_own && !it.is_of_several && it.fit.is_some());
        bare.for_each(|it| full |= it.rows);
        for less in [&mut partial, &mut possible, &mut related] {
            *less -= &full;
        }
    }
    let is_any = !(full.is_empty() && partial.is_empty() && possible.is_empty());
    let things = query.around.iter().filter(|_| is_any);
    let shown: Vec<RoaringBitmap> = things.map(|it| shown(phrases, query, it, around)).collect();
    let needed = query.around.iter().zip(&shown).filter(|(it, _)| query.needs(it));
    let told = needed.fold(full.clone(), |rows, (_, shown)| rows & shown);
    let untold = &full - &told;
    let mut partial_in_place = RoaringBitmap::new();
    if !shown.is_empty() {
        // A cookbook on the sofa is the book on the sofa, and no book elsewhere is.
        partial_in_place = shown.iter().fold(partial.clone(), |rows, thing| rows & thing);
        partial -= &partial_in_place;
    }
    let mut of_possible = by_count(possible | untold, &shown);
    if !shown.is_empty() && !query.is_deed_left_out {
        // "A mug on the desk" says some of "the red mug on the desk".
        partial |= of_possible.pop().unwrap_or_default();
    }
    let mut of_full = by_count(told, &shown);
    let in_place = of_full.pop().unwrap_or_default() | partial_in_place;
    let mut ranks = vec![
        (Rank { certainty: Certainty::Related, around: 0 }, related),
        (Rank { certainty: Certainty::InPlace, around: 0 }, in_place),
    ];
    let mut add = |certainty, counted: Vec<RoaringBitmap>| {
        let counted = counted.into_iter().enumerate();
        ranks.extend(counted.map(|(around, rows)| (Rank { certainty, around }, rows)));
    };
    add(Certainty::Possible, of_possible);
    add(Certainty::Partial, by_count(partial, &shown));
    // A question says more of what is around than a caption does: the newest counts.
    add(Certainty::Shown, vec![of_full.into_iter().fold(RoaringBitmap::new(), |all, it| all | it)]);
    ranks
}

/// Rows by the number of sets that they are in, from none to all.
fn by_count(rows: RoaringBitmap, sets: &[RoaringBitmap]) -> Vec<RoaringBitmap> {
    let mut counted = vec![rows];
    for set in sets {
        counted.push(RoaringBitmap::new());
        for at in (1..counted.len()).rev() {
            let Some([fewer, more]) = counted.get_mut(at - 1..=at) else { continue };
            *more |= &*fewer & set;
            *fewer -= set;
        }
    }
    counted
}

impl SightingRows<'_> {
    pub(super) fn newest(&self, k: usize) -> ObjectSightings {
        let mut all: Vec<(Timestamp, RecordId)> = Vec::new();
        for (reader, rows) in &self.segments {
            let newest = reader.state.columns.newest_of(rows, k).into_iter();
            all.extend(newest.filter_map(|(at, row)| Some((at, reader.ids().of(row)?))));
        }
        all.sort_unstable_by(|a, b| b.cmp(a));
        let records = all.into_iter().take(k).map(|(_, id)| id).collect();
        ObjectSightings { certainty: self.certainty, records }
    }

    pub(super) fn count(&self) -> u64 {
        self.segments.iter().map(|(_, rows)| rows.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_something_on_it_is_not_what_looks_otherwise() {
        let said = |words: &[(&str, AttributeKind)]| -> Vec<Attribute> {
            let said = words.iter().map(|(word, kind)| (word.to_string(), *kind));
            said.map(|(word, kind)| Attribute { word, kind }).collect()
        };
        let with_cat = said(&[("cat", AttributeKind::Other)]);
        assert!(looks_otherwise(&said(&[("blue", AttributeKind::Colour)]), &with_cat));
        assert!(looks_otherwise(&said(&[("anchor", AttributeKind::Other)]), &with_cat));
        assert!(!looks_otherwise(&said(&[]), &with_cat));
        assert!(!looks_otherwise(&said(&[("open", AttributeKind::Other)]), &with_cat));
    }
}
