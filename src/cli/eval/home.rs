//! `engram eval home`: how often the right thing is found in a simulated household.
//!
//! A household is simulated, what the robot saw of it is given to a daemon of this
//! program in a temporary directory, and every task is done by its own planner
//! through `retrieve_object`, beside simpler ways of asking.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use crate::base::caption::Caption;
use crate::cli::client::Client;
use crate::cli::eval::answer::{Retrieval, retrieve};
use crate::cli::eval::baselines::{self, Baselines};
use crate::cli::eval::captions::{self, Captions};
use crate::cli::eval::figures::{Family, Outcome, Report};
use crate::cli::eval::gold::{Answer, Gold};
use crate::cli::eval::household::{Household, Task};
use crate::cli::eval::loss::{self, Loss, Losses};
use crate::cli::eval::memory::Memory;
use crate::cli::eval::report;
use crate::cli::eval::simulator::{self, Simulation};
use crate::cli::eval::slips::Slips;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::say;
use crate::cli::own_daemon::OwnDaemon;
use crate::cli::{Common, places};

/// The household and how it is judged.
#[derive(Debug, Args)]
pub(in crate::cli) struct Flags {
    /// Which household: the same number is the same one
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How long the robot lives there
    #[arg(long, value_name = "D", default_value_t = 7)]
    days: u32,
    /// How many things are asked for
    #[arg(long, value_name = "T", default_value_t = 120)]
    tasks: u32,
    /// How people say it: dev, dev2, dev3, dev4, held1, held2, or a grammar file of your own
    #[arg(long, value_name = "NAME|FILE", default_value = "dev")]
    wordings: String,
    /// Whose captions the memory is given: true ones, the captioner's, or those of a file that
    /// `engram caption --json` wrote
    #[arg(long, value_name = "oracle|model|FILE", default_value = "oracle")]
    captions: Captions,
    /// A household that is simulated already; needs no Python
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "days", "tasks", "wordings"])]
    home: Option<PathBuf>,
    /// Ask these tasks (JSONL; benches/home/README.md) instead of the household's
    #[arg(long, value_name = "FILE")]
    tasks_file: Option<PathBuf>,
    /// Which planner of `retrieve_object`; its own default where absent
    #[arg(long, value_name = "NAME")]
    planner: Option<String>,
    /// Python that has the simulator's requirements
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Directory of simulate.py, where it is not found beside the models
    #[arg(long, value_name = "DIR")]
    simulator: Option<PathBuf>,
    /// Also print each task that was lost
    #[arg(long)]
    lost: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Judges and prints the figures.
pub(super) fn run(flags: &Flags, common: &Common) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let dir = tempfile::tempdir().context("no temporary directory")?;
    let report = judge(flags, common, dir.path(), &interrupt)
        .map_err(|error| interrupt.check().err().unwrap_or(error))?;
    dir.close().context("the temporary directory was not removed")?;
    if flags.json {
        say(&serde_json::to_string_pretty(&report)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    say(&report::table(&report))?;
    if flags.lost {
        say(&format!("\n{}", report::lost(&report.outcomes)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn judge(
    flags: &Flags,
    common: &Common,
    dir: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let bar = ProgressBar::new_spinner()
        .with_style(ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")?);
    bar.set_message("simulating");
    bar.tick();
    let simulated = dir.join("home");
    if flags.home.is_none() {
        simulate(flags, common, &simulated)?;
    }
    let home = flags.home.as_ref().unwrap_or(&simulated);
    let household = Household::read(home, flags.tasks_file.as_deref())?;
    ensure!(!household.tasks.is_empty(), "there is nothing to ask for");
    let golds: Vec<Gold> =
        household.tasks.iter().map(|task| Gold::of(task, &household)).collect::<Result<_, _>>()?;

    let said = flags.captions.of(&household)?;
    let trial = Trial { flags, common, household: &household, dir, interrupt, bar: &bar };
    let (daemon, mut client, memory) = trial.remember("memory", said.as_deref())?;
    let stats = client.call("memory_stats", Map::new())?.structured;
    let judge =
        Judge { household: &household, memory: &memory, baselines: Baselines::new(&memory) };
    bar.set_message("asking");
    bar.set_length(household.tasks.len().try_into()?);
    let mut outcomes = Vec::new();
    let mut refusal = None;
    for (task, gold) in household.tasks.iter().zip(&golds) {
        let retrieval = trial.ask(&daemon, task)?;
        if retrieval.is_error {
            refusal.get_or_insert_with(|| retrieval.text.clone());
        }
        outcomes.push(judge.outcome(&mut client, task, gold, retrieval)?);
        bar.inc(1);
    }
    drop(client);
    daemon.stop()?;
    if let Some(refusal) = refusal.filter(|_| outcomes.iter().all(|it| it.calls.is_empty())) {
        bail!("not one task was done: {refusal}");
    }
    let has_captioner = !flags.captions.are_true();
    if has_captioner && outcomes.iter().any(|it| it.loss.is_some()) {
        trial.explain(&mut outcomes, &golds, &memory)?;
    }
    bar.finish_and_clear();
    let model = |name: &str| {
        let name = stats.get(name).and_then(|it| it.get("name")).and_then(Value::as_str);
        name.unwrap_or("-").to_owned()
    };
    let all: Vec<&Outcome> = outcomes.iter().collect();
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        embedder: model("embedder"),
        captioner: match &flags.captions {
            Captions::Oracle => None,
            Captions::Model => Some(model("captioner")),
            Captions::File(path) => Some(path.display().to_string()),
        },
        frames: household.frames.len(),
        records: memory.records.len(),
        overall: Family::of("all", &all, &baselines::NAMES),
        families: families(&outcomes),
        slips: has_captioner.then(|| judge.slips()),
        losses: Losses::of(&outcomes),
        outcomes,
    })
}

fn simulate(flags: &Flags, common: &Common, out: &Path) -> anyhow::Result<()> {
    let dir = simulator::find(flags.simulator.as_deref(), &common.load()?.models_dirs(&places()?))?;
    let Flags { python, seed, days, tasks, wordings, captions, .. } = flags;
    let images = *captions == Captions::Model;
    let simulation =
        Simulation { python, dir: &dir, seed: *seed, days: *days, tasks: *tasks, wordings, images };
    simulation.run(out)
}

/// In the order in which they are first asked of.
fn families(outcomes: &[Outcome]) -> Vec<Family> {
    let mut names: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !names.contains(&outcome.family.as_str()) {
            names.push(&outcome.family);
        }
    }
    let of = |name: &&str| {
        let members: Vec<&Outcome> = outcomes.iter().filter(|it| it.family == *name).collect();
        Family::of(name, &members, &baselines::NAMES)
    };
    names.iter().map(of).collect()
}

/// What every memory of a household is filled and asked with.
struct Trial<'a> {
    flags: &'a Flags,
    common: &'a Common,
    household: &'a Household,
    dir: &'a Path,
    interrupt: &'a Interrupt,
    bar: &'a ProgressBar,
}

impl Trial<'_> {
    /// A daemon that remembers the household by these captions, or by its images.
    fn remember(
        &self,
        name: &str,
        captions: Option<&[Caption]>,
    ) -> anyhow::Result<(OwnDaemon, Client, Memory)> {
        self.interrupt.check()?;
        self.bar.set_message("remembering");
        self.bar.tick();
        let dir = self.dir.join(name);
        fs::create_dir(&dir)?;
        let daemon = OwnDaemon::start(self.common, &places()?.program, &dir)?;
        let mut client = daemon.connect()?;
        let memory = Memory::fill(&mut client, self.household, captions, self.interrupt)?;
        Ok((daemon, client, memory))
    }

    fn ask(&self, daemon: &OwnDaemon, task: &Task) -> anyhow::Result<Retrieval> {
        self.interrupt.check()?;
        retrieve(daemon.socket(), task, self.flags.planner.as_deref())
    }

    /// Has what was lost done again by a memory of true captions, which tells whether the
    /// captions lost it; `memory` is the one that it was lost by.
    fn explain(
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
            let answer = self.ask(&daemon, task)?.answer;
            // Only whether the place is right counts, for which nothing need be shown.
            if gold.judge(&answer, &[]).place {
                let given = outcome.given();
                outcome.loss = Some(loss::of_captions(gold, &given, memory, self.household));
            }
        }
        drop(client);
        daemon.stop()
    }
}

struct Judge<'a> {
    household: &'a Household,
    memory: &'a Memory,
    baselines: Baselines<'a>,
}

impl Judge<'_> {
    fn outcome(
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

    fn slips(&self) -> Slips {
        let mut slips = Slips::default();
        for record in &self.memory.records {
            for frame in record.frames.iter().filter_map(|it| self.household.frames.get(*it)) {
                slips.add(&record.caption, &frame.shown, &self.household.phrases);
            }
        }
        slips
    }
}
