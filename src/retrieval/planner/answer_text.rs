//! Answers to questions, in words.
//!
//! Pure. English.

use crate::base::time::Zone;
use crate::language::mention::mentions;
use crate::language::reference::Order;
use crate::memory::episodic::Recalled;
use crate::memory::episodic::instances::Instance;
use crate::retrieval::session::Goal;
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
        format!("{} was seen {}", self.name_in(seen), self.at(&seen.record))
    }

    pub(super) fn first_sighting(&self, seen: &Recalled) -> String {
        format!("{} was first seen {}", self.name_in(seen), self.at(&seen.record))
    }

    pub(super) fn existence(&self, seen: &Recalled) -> String {
        format!("yes: {} was last seen {}", self.name_in(seen), self.at(&seen.record))
    }

    /// Where only what may be the thing was seen.
    pub(super) fn near(&self, seen: &Recalled) -> String {
        let name = seen.matched.first().map_or("it", String::as_str);
        let at = self.at(&seen.record);
        format!("no {:?} was seen; near it: {name:?}, last seen {at}", self.thing)
    }

    /// The thing, and what the record calls it where that is another name.
    fn name_in(&self, seen: &Recalled) -> String {
        let thing = &self.thing;
        let head = |name: &str| mentions(&format!("a {name}")).pop().map(|it| it.head_stem);
        match seen.matched.first() {
            Some(called) if head(called) != head(thing) => format!("{thing:?}, as {called:?},"),
            Some(_) | None => format!("{thing:?}"),
        }
    }

    pub(super) fn deed(&self, who: &str, doing: &str, seen: &Recalled) -> String {
        format!("{who} was seen {doing} {}", self.at(&seen.record))
    }

    pub(super) fn no_deed(who: &str, doing: &str) -> String {
        format!("no record shows {who} {doing}")
    }

    pub(super) fn undone(&self, seen: &Recalled, doing: Option<&str>) -> String {
        let seen = self.sighting(seen);
        match doing {
            Some(doing) => format!("no record shows somebody {doing} it; {seen}"),
            None => seen,
        }
    }

    /// Where it was before the time that is asked about, at which nothing was seen of it.
    pub(super) fn before(&self, newest: &Recalled) -> String {
        let newest = self.at(&newest.record);
        format!("no {:?} was seen so; before that one was last seen {newest}", self.thing)
    }

    /// Where it was seen since it was where a question has it.
    pub(super) fn moved(&self, newest: &Recalled, there: &Recalled) -> String {
        let there = self.zone.format(there.record.end_at);
        format!(
            "no: {} was last seen {}; there it was at {there}",
            self.name_in(newest),
            self.at(&newest.record)
        )
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
    /// none; the answer first. "Is it this one rather than that" is asked of the first.
    pub(super) fn comparison(
        &self,
        compared: Vec<Compared>,
        order: Option<&Order>,
        is_yes_or_no: bool,
    ) -> String {
        let asked = compared.first().map(|it| it.thing.clone()).unwrap_or_default();
        let (ranked, how) = rank(compared, order);
        let is_earliest = matches!(order, Some(Order::Earliest));
        let said: Vec<String> =
            ranked.iter().map(|it| self.sighting_time(it, is_earliest)).collect();
        let verdict = match ranked.as_slice() {
            [first, ..] if first.found.is_empty() => "none of them was seen".to_owned(),
            [first, second, ..] if key(first, order) == key(second, order) => {
                format!("{:?} and {:?} alike", first.thing, second.thing)
            }
            [first, ..] if is_yes_or_no && first.thing == asked => {
                format!("yes, {:?} {how}", first.thing)
            }
            [first, ..] if is_yes_or_no => format!("no, {:?} {how}", first.thing),
            [first, ..] => format!("{:?} {how}", first.thing),
            [] => String::new(),
        };
        format!("{verdict}: {}", said.join("; "))
    }

    fn sighting_time(&self, it: &Compared, is_earliest: bool) -> String {
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

    /// The same to whether there was something.
    pub(super) fn scenes_there(&self, found: &[Recalled]) -> String {
        let scenes = self.scenes(found);
        if found.is_empty() { scenes } else { format!("yes: {scenes}") }
    }

    /// The first of what was recalled.
    pub(super) fn scenes(&self, found: &[Recalled]) -> String {
        let first = found.iter().take(SCENES_MAX);
        let said: Vec<String> = first.map(|it| self.at(&it.record)).collect();
        if said.is_empty() { "no record tells of it".to_owned() } else { said.join("; ") }
    }

    /// `"mug" was last seen here at 2025-01-03 09:14:07, from (1.2, 3.4): a red mug on a desk (#42)`
    pub(super) fn goal(goal: &Goal, seen: Option<&Record>) -> String {
        let [x, y, _] = goal.position;
        let shown = seen.map(|it| format!(": {} (#{})", it.caption, it.id));
        format!("{}, from ({x:.1}, {y:.1}){}", goal.reason, shown.unwrap_or_default())
    }

    /// `at 2025-01-03 09:14:07 from (1.2, 3.4): a red mug on a desk (#42)`
    fn at(&self, record: &Record) -> String {
        let from = record.meta.pose.map(|it| {
            let [x, y, _] = it.position;
            format!(" from ({x:.1}, {y:.1})")
        });
        let from = from.unwrap_or_default();
        format!("at {}{from}: {} (#{})", self.zone.format(record.end_at), record.caption, record.id)
    }
}

/// What comes first answers the question, and how it differs.
fn rank(mut compared: Vec<Compared>, order: Option<&Order>) -> (Vec<Compared>, &'static str) {
    compared.sort_by_key(|it| std::cmp::Reverse(key(it, order)));
    let how = match order {
        Some(Order::MostOften) => "was seen more often",
        Some(Order::LeastOften) => "was seen less often",
        Some(Order::Earliest) => "was seen earlier",
        Some(Order::LongestAgo) => "was seen less recently",
        None | Some(Order::Latest | Order::NearestTo(_)) => "was seen more recently",
    };
    (compared, how)
}

/// The greater the likelier it is the answer; what was never seen is none.
fn key(it: &Compared, order: Option<&Order>) -> (bool, i64) {
    let count = i64::try_from(it.found.len()).unwrap_or(i64::MAX);
    let micros = |it: Option<&Recalled>| it.map_or(0, |it| it.record.end_at.micros());
    let rank = match order {
        Some(Order::MostOften) => count,
        Some(Order::LeastOften) => -count,
        Some(Order::Earliest) => -micros(it.found.first()),
        Some(Order::LongestAgo) => -micros(it.found.last()),
        None | Some(Order::Latest | Order::NearestTo(_)) => micros(it.found.last()),
    };
    (!it.found.is_empty(), rank)
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

fn records_of(number: usize) -> String {
    if number == 1 { "1 record".to_owned() } else { format!("{number} records") }
}
