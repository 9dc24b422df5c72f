//! Fills a memory of a household and has its tasks done; knows nothing of what is
//! right, but where it asks again what was lost.

use std::fs;
use std::path::Path;

use anyhow::bail;
use engram::base::caption::Caption;
use engram::cli::client::Client;
use engram::cli::interrupt::Interrupt;
use engram::cli::own_daemon::OwnDaemon;
use indicatif::ProgressBar;

use super::Flags;
use super::answer::{Retrieval, retrieve};
use super::captions;
use super::figures::Outcome;
use super::gold::{Goal, Gold};
use super::household::{Household, Task};
use super::judge::Judge;
use super::loss;
use super::memory::Memory;

/// What every memory of a household is filled and asked with.
pub(super) struct Trial<'a> {
    pub(super) flags: &'a Flags,
    /// The `engram` that is judged.
    pub(super) program: &'a Path,
    pub(super) household: &'a Household,
    /// Of everything that is written.
    pub(super) dir: &'a Path,
    pub(super) interrupt: &'a Interrupt,
    pub(super) bar: &'a ProgressBar,
}

impl Trial<'_> {
    /// A daemon that remembers the household by these captions, or by its images.
    pub(super) fn remember(
        &self,
        name: &str,
        captions: Option<&[Caption]>,
    ) -> anyhow::Result<(OwnDaemon, Client, Memory)> {
        self.interrupt.check()?;
        self.bar.set_message("remembering");
        self.bar.tick();
        let dir = self.dir.join(name);
        fs::create_dir(&dir)?;
        let daemon = OwnDaemon::start(&self.flags.common, self.program, &dir)?;
        let mut client = daemon.connect()?;
        let memory = Memory::fill(&mut client, self.household, captions, self.interrupt)?;
        Ok((daemon, client, memory))
    }

    /// Has every task done, as the daemon's only caller; fails where it refuses them all.
    pub(super) fn ask_all(
        &self,
        daemon: &OwnDaemon,
        client: &mut Client,
        judge: &Judge<'_>,
        golds: &[Gold],
    ) -> anyhow::Result<Vec<Outcome>> {
        self.bar.set_message("asking");
        self.bar.set_length(golds.len().try_into()?);
        let mut outcomes = Vec::new();
        let mut refusal = None;
        for (task, gold) in self.household.tasks.iter().zip(golds) {
            let retrieval = self.ask(daemon, task)?;
            if retrieval.is_error {
                refusal.get_or_insert_with(|| retrieval.text.clone());
            }
            outcomes.push(judge.outcome(client, task, gold, retrieval)?);
            self.bar.inc(1);
        }
        if let Some(refusal) = refusal.filter(|_| outcomes.iter().all(|it| it.calls.is_empty())) {
            bail!("not one task was done: {refusal}");
        }
        Ok(outcomes)
    }

    fn ask(&self, daemon: &OwnDaemon, task: &Task) -> anyhow::Result<Retrieval> {
        self.interrupt.check()?;
        retrieve(daemon.socket(), task, self.flags.planner.as_deref())
    }

    /// Has what was lost done again by a memory of true captions, which tells whether the
    /// captions lost it; `memory` is the one that it was lost by.
    pub(super) fn explain(
        &self,
        outcomes: &mut [Outcome],
        golds: &[Gold],
        memory: &Memory,
    ) -> anyhow::Result<()> {
        let truth = captions::true_ones(self.household);
        let (daemon, client, _memory) = self.remember("truth", Some(&truth))?;
        let asked = self.household.tasks.iter().zip(golds);
        for (outcome, (task, gold)) in outcomes.iter_mut().zip(asked) {
            if outcome.loss.is_none() {
                continue;
            }
            let Retrieval { goals, text, .. } = self.ask(&daemon, task)?;
            // Only whether the place is right counts, for which nothing need be shown.
            let blind = |answer| Goal { answer, shown: Vec::new() };
            let goals: Vec<Goal<'_>> = goals.into_iter().map(blind).collect();
            if gold.judge(&goals, &text).place {
                let given = outcome.given();
                outcome.loss = Some(loss::of_captions(gold, &given, memory, self.household));
            }
        }
        drop(client);
        daemon.stop()
    }
}
