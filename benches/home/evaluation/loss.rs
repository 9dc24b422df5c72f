//! Why a place is wrong: whether true captions would have led to it, and where not,
//! what the captions got wrong. Makes no calls.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::Outcome;
use super::gold::{Answer, Gold};
use super::household::{Household, Shown};
use super::memory::{Memory, Remembered};
use super::slips::{named, names};

/// Why the place of one task is wrong. All but the last are of tasks whose place is
/// right where the memory was given true captions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Loss {
    /// No caption names any of the right objects where it was seen last.
    LastSightingNotNamed,
    /// The caption at the goal names something like a right object that is not there.
    NamedWhereItWasNot,
    /// The caption at the goal is right, and some that are not led there.
    WrongElsewhere,
    /// The place is wrong with true captions, too.
    Planner,
}

/// How many tasks were lost, and why.
#[derive(Debug, Default, Serialize)]
pub(super) struct Losses {
    pub(super) all: usize,
    pub(super) last_sighting_not_named: usize,
    pub(super) named_where_it_was_not: usize,
    pub(super) wrong_elsewhere: usize,
    pub(super) planner: usize,
}

impl Losses {
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let mut losses = Self::default();
        for loss in outcomes.iter().filter_map(|it| it.loss) {
            losses.all += 1;
            *match loss {
                Loss::LastSightingNotNamed => &mut losses.last_sighting_not_named,
                Loss::NamedWhereItWasNot => &mut losses.named_where_it_was_not,
                Loss::WrongElsewhere => &mut losses.wrong_elsewhere,
                Loss::Planner => &mut losses.planner,
            } += 1;
        }
        losses
    }
}

/// What a captioner got wrong that lost a task which is not lost with true captions.
pub(super) fn of_captions(
    gold: &Gold,
    answer: &Answer,
    memory: &Memory,
    household: &Household,
) -> Loss {
    let lasts = gold.lasts();
    let phrases = &household.phrases;
    let wanted: Vec<&str> = lasts
        .iter()
        .filter_map(|last| {
            let frame = household.frames.get(last.frame)?;
            frame.shown.iter().find(|it| it.id == last.object).map(|it| it.phrase.as_str())
        })
        .collect();
    let is_named = lasts.iter().zip(&wanted).any(|(last, phrase)| {
        let record = memory.of_frame(last.frame);
        record.is_some_and(|it| names(&it.caption, phrase, phrases))
    });
    if !lasts.is_empty() && !is_named {
        return Loss::LastSightingNotNamed;
    }
    let goal = answer.record.and_then(|id| memory.get(id));
    let false_names = goal.map_or_else(Vec::new, |it| false_names(it, household));
    let kind = |phrase: &str| phrase.rsplit(' ').next().map(str::to_owned);
    // What was never seen has no kind: all that is named and not there may have misled.
    let misleads = |it: &&str| wanted.is_empty() || wanted.iter().any(|own| kind(own) == kind(it));
    if !answer.is_guess && false_names.iter().any(misleads) {
        Loss::NamedWhereItWasNot
    } else {
        Loss::WrongElsewhere
    }
}

/// What a record's caption names that none of its frames shows so often.
fn false_names<'a>(record: &Remembered, household: &'a Household) -> Vec<&'a str> {
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for frame in record.frames.iter().filter_map(|it| household.frames.get(*it)) {
        let mut of_frame: BTreeMap<&str, usize> = BTreeMap::new();
        for Shown { phrase, .. } in &frame.shown {
            *of_frame.entry(phrase).or_default() += 1;
        }
        for (phrase, count) in of_frame {
            let most = shown.entry(phrase).or_default();
            *most = count.max(*most);
        }
    }
    let claims = named(&record.caption, &household.phrases).into_iter();
    claims
        .filter(|claim| match shown.get_mut(claim) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            Some(_) | None => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::gold::Last;
    use super::super::household::Frame;
    use super::*;
    use engram::base::time::Timestamp;

    /// A frame a record: what its caption says and what it truly shows.
    fn check(frames: &[(&str, &[&str])], wanted: Option<&str>, goal: u64, expect: Loss) {
        let phrases: Vec<String> = ["a red mug", "a blue mug", "a hat"].map(str::to_owned).to_vec();
        let frame = |(_, things): &(&str, &[&str])| Frame {
            file: String::new(),
            stamp: String::new(),
            time: Timestamp::EPOCH,
            position: [0.0; 3],
            theta: 0.0,
            frame_id: String::new(),
            map_id: String::new(),
            source: String::new(),
            caption: String::new(),
            shown: things
                .iter()
                .map(|it| Shown { id: (*it).to_owned(), phrase: (*it).to_owned() })
                .collect(),
        };
        let household = Household {
            dir: "home".into(),
            frames: frames.iter().map(frame).collect(),
            tasks: Vec::new(),
            viewpoints: BTreeMap::new(),
            phrases,
        };
        let records = (0..).zip(frames).map(|(at, (caption, _))| Remembered {
            id: at,
            caption: (*caption).to_owned(),
            position: None,
            frames: vec![usize::try_from(at).unwrap()],
        });
        let memory = Memory::of(records.collect());
        let last = |object: &str| {
            let shows = |it: &&Frame| it.shown.iter().any(|it| it.id == object);
            let frame = household.frames.iter().rposition(|it| shows(&it)).unwrap();
            Last { object: object.to_owned(), frame, position: [0.0; 3] }
        };
        let gold =
            wanted.map_or(Gold::NeverSeen(Vec::new()), |object| Gold::Seen(vec![last(object)]));
        let answer = Answer { record: Some(goal), ..Answer::default() };
        assert_eq!(of_captions(&gold, &answer, &memory, &household), expect, "{frames:?}");
    }

    #[test]
    fn what_captions_got_wrong_is_told_apart() {
        let red: &[&str] = &["a red mug"];
        check(
            &[("a red mug", red), ("a hat", red)],
            Some("a red mug"),
            0,
            Loss::LastSightingNotNamed,
        );
        let hat = ("a red mug", &["a hat"][..]);
        check(&[("a red mug", red), hat], Some("a red mug"), 1, Loss::NamedWhereItWasNot);
        check(&[("a red mug", red), hat], None, 1, Loss::NamedWhereItWasNot);
        let blue = ("a blue mug", &["a blue mug"][..]);
        check(&[("a red mug", red), hat, blue], Some("a red mug"), 2, Loss::WrongElsewhere);
        let two = ("a red mug next to a red mug", red);
        check(&[("a red mug", red), two], Some("a red mug"), 1, Loss::NamedWhereItWasNot);
        let other = ("a red mug next to a hat", red);
        check(&[("a red mug", red), other], Some("a red mug"), 1, Loss::WrongElsewhere);
    }
}
