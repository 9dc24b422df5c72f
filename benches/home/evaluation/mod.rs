//! How often the right thing is found in a simulated household, judged by what the
//! program cannot see.
//!
//! A household is simulated, what the robot saw of it is given to a daemon in a
//! temporary directory, and every task is done by its own planner through
//! `retrieve_object`, beside simpler ways of asking. A module of its own, so that the
//! tests compile it, too, and none of them has to build the benchmark.

mod answer;
mod baselines;
mod captions;
mod figures;
mod gold;
mod household;
mod judge;
mod loss;
mod memory;
mod report;
mod simulator;
mod slips;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Parser;
use engram::cli::Common;
use engram::cli::client::Client;
use engram::cli::interrupt::Interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};

use self::captions::Captions;
use self::figures::{Family, Outcome, Report};
use self::gold::Gold;
use self::household::{Household, Task};
use self::judge::Judge;
use self::loss::Losses;
use self::simulator::Simulation;
use self::trial::Trial;

/// Asks for things in a simulated household and counts how often the right one is found.
#[derive(Debug, Parser)]
#[command(name = "home", version)]
pub(crate) struct Flags {
    #[command(flatten)]
    common: Common,
    /// Which household: the same number is the same one
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How long the robot lives there
    #[arg(long, value_name = "D", default_value_t = 7)]
    days: u32,
    /// How many things are asked for
    #[arg(long, value_name = "T", default_value_t = 120)]
    tasks: u32,
    /// And how many of the families beside the six, which are counted apart
    #[arg(long, value_name = "N", default_value_t = 70)]
    extra: u32,
    /// How people say it: dev, dev2, dev3, dev4, held1, held2, or a grammar file of your own
    #[arg(long, value_name = "NAME|FILE", default_value = "dev")]
    wordings: String,
    /// Whose captions the memory is given: true ones, the captioner's, or those of a file that
    /// `engram caption --json` wrote
    #[arg(long, value_name = "oracle|model|FILE", default_value = "oracle")]
    captions: Captions,
    /// A household that is simulated already; needs no Python
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "days", "tasks", "extra", "wordings"])]
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
    /// Directory of simulate.py
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/home"))]
    simulator: PathBuf,
    /// Also print each task that was lost
    #[arg(long)]
    lost: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Judges and says the figures; `program` is the `engram` that is judged, and nothing
/// is left behind in `temporary`.
pub(crate) fn evaluate(
    flags: &Flags,
    program: &Path,
    temporary: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<String> {
    let dir = tempfile::tempdir_in(temporary).context("no temporary directory")?;
    let report = judged(flags, program, dir.path(), interrupt)
        .map_err(|error| interrupt.check().err().unwrap_or(error))?;
    dir.close().context("the temporary directory was not removed")?;
    if flags.json {
        return Ok(serde_json::to_string_pretty(&report)?);
    }
    let table = report::table(&report);
    Ok(if flags.lost {
        format!("{table}\n\n{}", report::lost(report.outcomes.iter().chain(&report.extra_outcomes)))
    } else {
        table
    })
}

fn judged(
    flags: &Flags,
    program: &Path,
    dir: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<Report> {
    let bar = ProgressBar::new_spinner()
        .with_style(ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")?);
    bar.set_message("simulating");
    bar.tick();
    let household = flags.household(dir)?;
    let tasks = household.tasks.iter();
    let golds: Vec<Gold> = tasks.map(|it| Gold::of(it, &household)).collect::<Result<_, _>>()?;
    let said = flags.captions.of(&household)?;
    let trial = Trial { flags, program, household: &household, dir, interrupt, bar: &bar };
    let (daemon, mut client, memory) = trial.remember("memory", said.as_deref())?;
    let models = models(&mut client)?;
    let judge = Judge::new(&household, &memory);
    let mut outcomes = trial.ask_all(&daemon, &mut client, &judge, &golds)?;
    drop(client);
    daemon.stop()?;
    let has_captioner = !flags.captions.are_true();
    if has_captioner && outcomes.iter().any(|it| it.loss.is_some()) {
        trial.explain(&mut outcomes, &golds, &memory)?;
    }
    bar.finish_and_clear();
    let (outcomes, extra_outcomes) = apart(&household.tasks, outcomes);
    let all: Vec<&Outcome> = outcomes.iter().collect();
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        embedder: models.embedder,
        captioner: flags.captions.name(models.captioner),
        frames: household.frames.len(),
        records: memory.records.len(),
        overall: Family::of("all", &all, &baselines::NAMES),
        families: families(&outcomes),
        slips: has_captioner.then(|| judge.slips()),
        losses: Losses::of(&outcomes),
        outcomes,
        extra_families: families(&extra_outcomes),
        extra_outcomes,
    })
}

impl Flags {
    /// The one that is named, else one that is simulated in `dir`.
    fn household(&self, dir: &Path) -> anyhow::Result<Household> {
        let simulated = dir.join("home");
        if self.home.is_none() {
            self.simulation().run(&simulated)?;
        }
        let home = self.home.as_ref().unwrap_or(&simulated);
        let household = Household::read(home, self.tasks_file.as_deref())?;
        ensure!(!household.tasks.is_empty(), "there is nothing to ask for");
        Ok(household)
    }

    fn simulation(&self) -> Simulation<'_> {
        let Self { python, simulator, seed, days, tasks, extra, wordings, captions, .. } = self;
        let images = *captions == Captions::Model;
        let (seed, days, tasks, extra) = (*seed, *days, *tasks, *extra);
        Simulation { python, dir: simulator, seed, days, tasks, extra, wordings, images }
    }
}

/// Names of what the daemon runs.
struct Models {
    embedder: String,
    captioner: String,
}

fn models(client: &mut Client) -> anyhow::Result<Models> {
    let stats = client.call("memory_stats", Map::new())?.structured;
    let name = |part: &str| {
        let name = stats.get(part).and_then(|it| it.get("name")).and_then(Value::as_str);
        name.unwrap_or("-").to_owned()
    };
    Ok(Models { embedder: name("embedder"), captioner: name("captioner") })
}

/// The outcomes of the six families, and those of the families beside them.
fn apart(tasks: &[Task], outcomes: Vec<Outcome>) -> (Vec<Outcome>, Vec<Outcome>) {
    let (mut six, mut extra) = (Vec::new(), Vec::new());
    for (task, outcome) in tasks.iter().zip(outcomes) {
        if task.extra { &mut extra } else { &mut six }.push(outcome);
    }
    (six, extra)
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
