//! Judges what the planner and the baselines answered to a task; knows nothing of how
//! the memory came to be.

use engram::cli::client::Client;

use super::answer::Retrieval;
use super::baselines::Baselines;
use super::figures::Outcome;
use super::gold::{Answer, Gold};
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
        let Retrieval { answer, calls, millis, text, is_error: _ } = retrieval;
        let simple = self.baselines.answers(client, &task.words)?;
        let verdict = gold.judge(&answer, &self.shown(&answer));
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
            baselines: simple.iter().map(|it| gold.judge(it, &self.shown(it))).collect(),
        };
        outcome.answer(&answer, verdict);
        Ok(outcome)
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
            Gold::Seen(lasts) => lasts
                .iter()
                .map(|last| {
                    let record = self.memory.of_frame(last.frame).map_or(0, |it| it.id);
                    let [x, y, _] = last.position;
                    format!("{} in #{record} at ({x:.2}, {y:.2})", last.object)
                })
                .collect(),
        }
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
