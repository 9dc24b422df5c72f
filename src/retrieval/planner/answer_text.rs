//! Answers to questions, in words.
//!
//! Pure. English.

use crate::base::time::Zone;
use crate::language::reference::Order;
use crate::memory::episodic::Recalled;
use crate::memory::episodic::instances::Instance;
use crate::store::Record;

/// Records that an answer tells of, where no thing is asked for.
const SCENES_MAX: usize = 3;

/// How answers say things.
pub(super) struct AnswerWording {
    pub(super) zone: Zone,
    /// What is asked about; empty where it is no thing.
    pub(super) thing: String,
}

/// How many of a kind were seen.
pub(super) struct Counted {
    pub(super) objects: usize,
    pub(super) occasions: usize,
    pub(super) records: usize,
}

/// A thing with its sightings, in the order of time.
pub(super) struct Compared {
    pub(super) thing: String,
    pub(super) found: Vec<Recalled>,
}

impl AnswerWording {
    pub(super) fn sighting(&self, seen: &Recalled) -> String {
        format!("{:?} was seen {}", self.thing, self.at(&seen.record))
    }

    pub(super) fn existence(&self, seen: &Recalled) -> String {
        format!("yes: {:?} was last seen {}", self.thing, self.at(&seen.record))
    }

    pub(super) fn undone(&self, seen: &Recalled, doing: Option<&str>) -> String {
        let seen = self.sighting(seen);
        match doing {
            Some(doing) => format!("no record shows somebody {doing} it; {seen}"),
            None => seen,
        }
    }

    /// Where it was not seen as asked; `newest` is where it was at all.
    pub(super) fn elsewhere(&self, newest: Option<&Recalled>) -> String {
        let thing = &self.thing;
        match newest {
            Some(newest) => {
                format!("no {thing:?} was seen so; one was last seen {}", self.at(&newest.record))
            }
            None => format!("no record shows {thing:?}"),
        }
    }

    pub(super) fn count(&self, counted: &Counted, newest: &Recalled) -> String {
        let Counted { objects, occasions, records } = counted;
        let newest = self.at(&newest.record);
        format!(
            "{objects} different {:?}, seen {} in {}, last {newest}",
            self.thing,
            times(*occasions),
            records_of(*records),
        )
    }

    pub(super) fn object(&self, object: &Instance) -> String {
        let Instance { desc, visits, last_seen, .. } = object;
        let last_seen = self.zone.format(*last_seen);
        format!("{desc:?}, seen {}, last at {last_seen}", times(visits.len()))
    }

    /// Which of several by the order that is asked for, by the last sighting where there is
    /// none.
    pub(super) fn comparison(&self, mut compared: Vec<Compared>, order: Option<&Order>) -> String {
        let last = |it: &Compared| it.found.last().map(|it| it.record.end_at);
        let first = |it: &Compared| it.found.first().map(|it| it.record.end_at);
        match order {
            Some(Order::MostOften) => compared.sort_by_key(|it| std::cmp::Reverse(it.found.len())),
            Some(Order::LeastOften) => compared.sort_by_key(|it| it.found.len()),
            Some(Order::Earliest) => compared.sort_by_key(|it| (first(it).is_none(), first(it))),
            None | Some(Order::Latest | Order::NearestTo(_)) => {
                compared.sort_by_key(|it| std::cmp::Reverse(last(it)));
            }
        }
        let is_earliest = matches!(order, Some(Order::Earliest));
        let said: Vec<String> = compared.iter().map(|it| self.compared(it, is_earliest)).collect();
        said.join("; ")
    }

    fn compared(&self, it: &Compared, is_earliest: bool) -> String {
        let Compared { thing, found } = it;
        let (word, seen) =
            if is_earliest { ("first", found.first()) } else { ("last", found.last()) };
        match seen {
            Some(seen) => {
                let at = self.zone.format(seen.record.end_at);
                format!("{thing:?} in {}, {word} at {at}", records_of(found.len()))
            }
            None => format!("no record shows {thing:?}"),
        }
    }

    /// The newest of what was recalled.
    pub(super) fn scenes(&self, found: &[Recalled]) -> String {
        let mut newest: Vec<&Record> = found.iter().map(|it| &it.record).collect();
        newest.sort_by_key(|it| std::cmp::Reverse((it.end_at, it.id)));
        let said: Vec<String> = newest.iter().take(SCENES_MAX).map(|it| self.at(it)).collect();
        if said.is_empty() { "no record tells of it".to_owned() } else { said.join("; ") }
    }

    /// `at 2025-01-03 09:14:07: a red mug on a desk (#42)`
    fn at(&self, record: &Record) -> String {
        format!("at {}: {} (#{})", self.zone.format(record.end_at), record.caption, record.id)
    }
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

fn records_of(number: usize) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}
