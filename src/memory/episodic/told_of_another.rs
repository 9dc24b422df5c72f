//! What is said of a thing by what it has on it or in it, where captions say that of another: the mug
//! with a robin is not the blue one where the white mug has a robin.
//!
//! Pure.

use std::collections::BTreeSet;

use crate::index::phrases::ObjectQuery;
use crate::language::deeds::is_deed_word;
use crate::language::fit::Fit;
use crate::language::lexicon;
use crate::language::mention::{AttributeKind, Mention};
use crate::memory::episodic::target_mentions::TargetMention;
use crate::store::Record;

/// Leaves those mentions out which are of another thing by what it has, and of none that has all that
/// is asked for.
pub(super) fn leave_out_those_of_others(
    found: &mut [Vec<TargetMention>],
    records: &[&Record],
    target: &ObjectQuery,
) {
    let has_all = |it: &Mention| target.fit(it) == Some(Fit::Full);
    let mut others: BTreeSet<String> = BTreeSet::new();
    for thing in records.iter().flat_map(|it| it.parsed.there()) {
        if target.is_another_by_attributes(&thing.mention) {
            others.extend(borne(&thing.mention));
        }
    }
    let own = found.iter().flatten().map(|it| &it.mention).filter(|it| has_all(it));
    for word in own.flat_map(borne).collect::<Vec<_>>() {
        others.remove(&word);
    }
    for it in found {
        it.retain(|it| {
            has_all(&it.mention) || !borne(&it.mention).any(|word| others.contains(&word))
        });
    }
}

/// What a thing is said to have.
fn borne(mention: &Mention) -> impl Iterator<Item = String> + '_ {
    let is_borne = |it: &str| !lexicon::is_adjective(it) && !is_deed_word(it) && !it.contains('-');
    let said = mention.attributes.iter().filter(|it| it.kind == AttributeKind::Other);
    said.map(|it| it.word.clone()).filter(move |it| is_borne(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Zone;
    use crate::language::mention::Attribute;
    use crate::memory::episodic::instances::group;
    use crate::memory::episodic::instances::tests::{Seen, records, sought};
    use crate::memory::episodic::sighting_confidence::PlaceHistory;

    /// The ids of the first object that captions show, where those of `robin` have one on it.
    fn first(seen: &[Seen], robin: &[usize], thing: &str) -> Vec<u64> {
        let mut records = records(seen);
        for at in robin {
            let word = "robin".to_owned();
            let it = Attribute { word, kind: AttributeKind::Other };
            records[*at].parsed.things[0].mention.attributes.push(it);
        }
        let zone = Zone::from_name("UTC").unwrap();
        let found = group(&records, &PlaceHistory::default(), &sought(thing), zone);
        found[0].records.iter().map(|it| it.0).collect()
    }

    #[test]
    fn what_another_has_on_it_is_that() {
        let seen = [(0, 0.0, "a blue mug"), (9, 9.0, "a white mug"), (5000, 0.0, "a mug")];
        assert_eq!(first(&seen, &[1, 2], "a blue mug"), [1]);
        assert_eq!(first(&seen, &[2], "a blue mug"), [1, 3], "no other mug has one");
        assert_eq!(first(&seen, &[0, 1, 2], "a blue mug"), [1, 3], "both have one");
        assert_eq!(first(&seen, &[], "a blue mug"), [1, 3]);
    }
}
