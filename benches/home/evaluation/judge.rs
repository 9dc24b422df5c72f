//! Judges what the planner and the baselines answered to a task; knows nothing of how
//! the memory came to be.

use engram::cli::client::Client;

use super::answer::Retrieval;
use super::baselines::Baselines;
use super::figures::Outcome;
use super::gold::{Answer, Goal, Gold, Last, Verdict};
use super::household::{Household, Task};
use super::loss::Loss;
use super::memory::Memory;
use super::slips::Slips;

/// One memory of a household.
pub(super) struct Judge<'a> {
    household: &'a Household,
    memory: &'a Memory,
    baselines: Baselines<'a>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(household: &'a Household, memory: &'a Memory) -> Self {
        Self { household, memory, baselines: Baselines::new(memory) }
    }

    /// Asks the baselines, too, and judges all by the truth.
    pub(super) fn outcome(
        &self,
        client: &mut Client,
        task: &Task,
        gold: &Gold,
        retrieval: Retrieval,
    ) -> anyhow::Result<Outcome> {
        let verdict = self.verdict(gold, &retrieval);
        let Retrieval { goals, calls, millis, text, is_error: _, is_late: _ } = retrieval;
        let simple = self.baselines.answers(client, &task.words)?;
        let simple = simple.map(|it| gold.judge(&self.goals(it.record.map(|_| it).as_slice()), ""));
        let mut outcome = Outcome {
            id: task.id.clone(),
            family: task.family.clone(),
            kind: task.kind.clone(),
            task: task.words.clone(),
            right_object: false,
            right_place: false,
            loss: (!verdict.place).then_some(Loss::Planner),
            record: None,
            position: None,
            is_guess: false,
            calls,
            millis,
            text,
            gold: self.describe(gold, task),
            baselines: simple.to_vec(),
        };
        outcome.answer(&goals.first().copied().unwrap_or_default(), verdict);
        Ok(outcome)
    }

    /// Of a reply that came too late nothing is right, not even that it has no goal.
    fn verdict(&self, gold: &Gold, retrieval: &Retrieval) -> Verdict {
        if retrieval.is_late {
            return Verdict { object: false, place: false };
        }
        gold.judge(&self.goals(&retrieval.goals), &retrieval.text)
    }

    fn goals(&self, answers: &[Answer]) -> Vec<Goal<'_>> {
        answers.iter().map(|it| Goal { answer: *it, shown: self.shown(it) }).collect()
    }

    /// The ids of what the frames of the answer's record truly show.
    fn shown(&self, answer: &Answer) -> Vec<&str> {
        let record = answer.record.and_then(|id| self.memory.get(id));
        let frames = record.map_or(&[][..], |it| it.frames.as_slice());
        let frames = frames.iter().filter_map(|frame| self.household.frames.get(*frame));
        frames.flat_map(|frame| frame.shown.iter().map(|it| it.id.as_str())).collect()
    }

    fn describe(&self, gold: &Gold, task: &Task) -> Vec<String> {
        match gold {
            Gold::NeverSeen(_) => vec![format!("a guess at {}", task.spots.join(" or "))],
            Gold::Nothing(answers) if answers.is_empty() => vec!["nothing".to_owned()],
            Gold::Nothing(answers) => vec![format!("the answer {}", answers.join(" or "))],
            Gold::Gone { left, .. } => vec![format!("no claim of {}", self.sighting(left))],
            Gold::Seen(lasts) => self.sightings(lasts),
            Gold::InTurn(lasts, then) => {
                vec![self.sightings(lasts).join(" or "), self.sightings(then).join(" or ")]
            }
        }
    }

    fn sightings(&self, lasts: &[Last]) -> Vec<String> {
        lasts.iter().map(|it| self.sighting(it)).collect()
    }

    fn sighting(&self, last: &Last) -> String {
        let record = self.memory.of_frame(last.frame).map_or(0, |it| it.id);
        let [x, y, _] = last.position;
        format!("{} in #{record} at ({x:.2}, {y:.2})", last.object)
    }

    /// What the captioner got wrong.
    pub(super) fn slips(&self) -> Slips {
        let mut slips = Slips::default();
        for record in &self.memory.records {
            for frame in record.frames.iter().filter_map(|it| self.household.frames.get(*it)) {
                slips.add(&record.caption, &frame.shown, &self.household.phrases);
            }
        }
        slips
    }
}
