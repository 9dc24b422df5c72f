//! `engram bench recall`: how long a recall takes through the real socket, and
//! where the time goes.
//!
//! For each size a store is filled in a temporary directory, a daemon of this
//! program is started on it, and it is asked: over all of the time and windows of
//! it, by several clients, beside a busy captioner, and while captions come in.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context as _, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use crate::base::score::round_to;
use crate::base::time::{Clock as _, SystemClock};
use crate::cli::bench::ask::{Asker, K};
use crate::cli::bench::camera;
use crate::cli::bench::figures::{
    Latencies, Percentiles, RecallParts, RecallReport, SizeFigures, Together, WindowLatency,
};
use crate::cli::bench::fill;
use crate::cli::bench::plot::PlotFlag;
use crate::cli::bench::report;
use crate::cli::bench::workload::Workload;
use crate::cli::client::Client;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::say;
use crate::cli::own_daemon::{OwnDaemon, state_dir};
use crate::cli::{Common, places};
use crate::config::{Config, Places};
use crate::daemon;
use crate::memory::embedding_space;
use crate::memory::episodic::Episodic;
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::{self, Store};
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::tool::Tool as _;

/// Shares of the time that are searched.
const SHARES: [f64; 4] = [1.0, 0.5, 0.1, 0.01];
/// Starts of the daemon, of which the median counts: the first one also reads what filling
/// wrote since sled's last snapshot.
const STARTS: usize = 5;
/// Questions to warm up, before any counts.
const WARM_UP: usize = 100;
/// Questions a second of the measurement beside insertions.
const PACE: u32 = 200;
/// Most records: an hour and more of filling.
const RECORDS_MAX: usize = 10_000_000;

/// Flags of the measurement.
#[derive(Debug, Args)]
pub(in crate::cli) struct Flags {
    /// Records in the memory; several sizes show how it grows
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000, 10_000, 50_000])]
    records: Vec<usize>,
    /// Clients that ask at once, in a measurement of its own when more than one
    #[arg(long, value_name = "C", default_value_t = 1)]
    clients: usize,
    /// Questions of each measurement; the 99th percentile of 2,000 stands on twenty
    #[arg(long, value_name = "Q", default_value_t = 2_000)]
    questions: usize,
    /// Fill with the lines of this file, in order of time, instead of made-up captions
    #[arg(long, value_name = "FILE")]
    captions: Option<PathBuf>,
    /// Keep filled stores in this directory, by records and captions, and fill none that
    /// is there: what is measured is a copy
    #[arg(long, value_name = "DIR")]
    stores: Option<PathBuf>,
    /// Ask the lines of this file instead of made-up questions
    #[arg(long, value_name = "FILE")]
    ask: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: PlotFlag,
}

impl Flags {
    fn check(&self) -> anyhow::Result<()> {
        for records in &self.records {
            ensure!(
                (1..=RECORDS_MAX).contains(records),
                "--records is {records}; accepted is 1 to {RECORDS_MAX}"
            );
        }
        ensure!(
            (1..=64).contains(&self.clients),
            "--clients is {}; accepted is 1 to 64",
            self.clients
        );
        ensure!(
            (10..=1_000_000).contains(&self.questions),
            "--questions is {}; accepted is 10 to 1000000",
            self.questions
        );
        Ok(())
    }
}

/// Measures every size and prints the figures.
pub(super) fn run(flags: &Flags, common: &Common) -> anyhow::Result<ExitCode> {
    flags.check()?;
    flags.plot.check()?;
    let places = places()?;
    let config = common.load()?;
    let workload = Workload::read(flags.captions.as_deref(), flags.ask.as_deref())?;
    for records in &flags.records {
        workload.check(*records)?;
    }
    let bench = RecallBench {
        flags,
        common,
        config: &config,
        places: &places,
        workload: &workload,
        interrupt: Interrupt::watch()?,
    };
    let embedder = daemon::open_embedder(&config, &places)?;
    let report = RecallReport {
        version: env!("CARGO_PKG_VERSION"),
        embedder: embedder.identity().name.clone(),
        dimension: embedder.dimension(),
        cores: thread::available_parallelism().map_or(1, usize::from),
        questions: flags.questions,
        k: K,
        sizes: flags
            .records
            .iter()
            .map(|it| {
                bench.measure(*it).map_err(|error| bench.interrupt.check().err().unwrap_or(error))
            })
            .collect::<Result<_, _>>()?,
    };
    if flags.json {
        say(&serde_json::to_string_pretty(&report)?)?;
    } else {
        say(&report::table(&report))?;
    }
    flags.plot.write(|| report::curves(&report))?;
    Ok(ExitCode::SUCCESS)
}

struct RecallBench<'a> {
    flags: &'a Flags,
    common: &'a Common,
    config: &'a Config,
    places: &'a Places,
    workload: &'a Workload,
    interrupt: Interrupt,
}

impl RecallBench<'_> {
    fn measure(&self, records: usize) -> anyhow::Result<SizeFigures> {
        let dir = tempfile::tempdir().context("no temporary directory")?;
        let state = state_dir(dir.path());
        fs::create_dir(&state)?;
        let fill_seconds = self.fill(&state, records)?;

        let bar = steps(records)?;
        let count = self.flags.questions;
        let mut starts = Latencies::default();
        let (daemon, mut client) = loop {
            self.interrupt.check()?;
            let (daemon, client) = starts.time(|| self.answering(dir.path()))?;
            if starts.len() == STARTS {
                break (daemon, client);
            }
            drop(client);
            daemon.stop()?;
        };
        let stats = client.call(MemoryStats::NAME, Map::new())?.structured;
        let left = number(&stats, "captions_to_reread");
        ensure!(
            left == 0,
            "{left} captions of a kept store were parsed by another reader, and are read again beside the questions; remove it, so that it is filled anew"
        );
        let asker = Asker { socket: daemon.socket(), workload: self.workload, records };
        self.step(&bar, "warming up")?;
        asker.ask(WARM_UP.min(count), 1, 1.0)?;
        let mut windows = Vec::new();
        for share in SHARES {
            self.step(&bar, &format!("{:.0} % of the time", share * 100.0))?;
            let recall = asker.ask(count, 2, share)?.percentiles();
            windows.push(WindowLatency { share, recall });
        }
        let together = self.together(&asker, &bar)?;
        let stats = client.call(MemoryStats::NAME, Map::new())?.structured;
        self.step(&bar, &format!("{PACE} questions a second"))?;
        let paced = asker.ask_at_pace(count, 3, PACE)?.percentiles();
        self.step(&bar, "inserting meanwhile")?;
        let (inserting, inserts_per_second) = inserting(&asker, count)?;
        self.step(&bar, "beside the captioner")?;
        let busy = thread::scope(|scope| -> anyhow::Result<Percentiles> {
            let camera = camera::film(scope, daemon.socket())?;
            let busy = asker.ask(count, 4, 1.0);
            camera.finish()?;
            Ok(busy?.percentiles())
        })?;
        // Only now does the worker hold what captioning takes.
        let worker_bytes = number(
            &client.call(MemoryStats::NAME, Map::new())?.structured,
            "worker_resident_bytes",
        );
        drop(client);
        daemon.stop()?;
        self.step(&bar, "its parts")?;
        let whole = windows.first().map_or(f64::NAN, |it| it.recall.p50_millis);
        let parts = self.parts(&state, whole)?;
        bar.finish_and_clear();
        dir.close().context("the temporary directory was not removed")?;
        let index = stats.get("index").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(SizeFigures {
            records,
            fill_seconds,
            first_answer_millis: starts.percentiles().p50_millis,
            first_answer_millis_max: starts.percentiles().p99_millis,
            windows,
            together,
            busy,
            paced,
            inserting,
            inserts_per_second,
            parts,
            segments: index.get("segments").and_then(Value::as_array).map_or(0, Vec::len),
            index_bytes: number(&index, "memory_bytes"),
            daemon_bytes: number(&stats, "daemon_resident_bytes"),
            worker_bytes,
            disk_bytes: number(&stats, "disk_bytes"),
        })
    }

    /// Starts a daemon on the store in `dir` and has it answer its first question.
    fn answering(&self, dir: &Path) -> anyhow::Result<(OwnDaemon, Client)> {
        let daemon = OwnDaemon::start(self.common, &self.places.program, dir)?;
        let mut client = daemon.connect()?;
        let question = self.workload.questions(0).next().unwrap_or_default();
        let arguments = Map::from_iter([("query".to_owned(), json!(question))]);
        let reply = client.call(RecallBestMatch::NAME, arguments)?;
        ensure!(!reply.is_error, "the first recall failed: {}", reply.text);
        Ok((daemon, client))
    }

    /// Makes a filled store in `state`; returns the seconds that took, unless one was kept.
    fn fill(&self, state: &Path, records: usize) -> anyhow::Result<Option<f64>> {
        let fill = |to: &Path| {
            let started = SystemClock.tick();
            fill::fill(to, self.workload, records, self.config, self.places, &self.interrupt)?;
            Ok(Some(round_to(started.elapsed().as_secs_f64(), 3)))
        };
        let Some(stores) = &self.flags.stores else { return fill(state) };
        let captions = self.flags.captions.as_deref().and_then(Path::file_stem);
        let captions = captions.map_or_else(|| "household".into(), OsStr::to_string_lossy);
        let name = format!("{captions}-{records}");
        let kept = stores.join(&name);
        let seconds = if kept.is_dir() {
            None
        } else {
            // It bears the name of a filled store only when it is one.
            let draft = stores.join(format!("{name}.filling"));
            if draft.is_dir() {
                fs::remove_dir_all(&draft)?;
            }
            fs::create_dir_all(&draft)?;
            let seconds = fill(&draft)?;
            fs::rename(&draft, &kept)?;
            seconds
        };
        let copied = store::copy_tree(&kept, state);
        copied.with_context(|| format!("{} cannot be copied", kept.display()))?;
        // Else the first start waits until the copy is on disk, as sled syncs its file.
        File::open(state).and_then(|it| Ok(rustix::fs::syncfs(it)?))?;
        Ok(seconds)
    }

    /// Shows the name of the next measurement; an error where the user interrupted.
    fn step(&self, bar: &ProgressBar, what: &str) -> anyhow::Result<()> {
        self.interrupt.check()?;
        bar.inc(1);
        bar.set_message(what.to_owned());
        Ok(())
    }

    fn together(&self, asker: &Asker<'_>, bar: &ProgressBar) -> anyhow::Result<Option<Together>> {
        let clients = self.flags.clients;
        if clients == 1 {
            return Ok(None);
        }
        self.step(bar, &format!("{clients} clients"))?;
        let (latencies, took) = asker.ask_together(self.flags.questions, clients)?;
        Ok(Some(Together {
            clients,
            recall: latencies.percentiles(),
            questions_per_second: latencies.len() as f64 / took.as_secs_f64(),
        }))
    }

    /// Measures embedding, search and reading of the same questions, without a daemon.
    fn parts(&self, state: &Path, whole_millis: f64) -> anyhow::Result<RecallParts> {
        let embedder = daemon::open_embedder(self.config, self.places)?;
        let space = embedding_space(&embedder);
        let options = daemon::store_options(self.config, self.places)?;
        let store = Store::open(&store::Options { dir: state.to_owned(), ..options }, &space)?;
        let episodic = Episodic::open(store.clone(), embedder.clone())?;
        let filter = Filter::default();
        let [mut embed, mut recall, mut hydrate] = [(); 3].map(|()| Latencies::default());
        let [mut open, mut seal] = [(); 2].map(|()| Latencies::default());
        for question in self.workload.questions(2).take(self.flags.questions) {
            embed.time(|| embedder.embed(TextRole::Query, &question))?;
            let found = recall.time(|| episodic.recall(&question, &filter, K))?;
            let ids: Vec<_> = found.iter().map(|it| it.record.id).collect();
            hydrate.time(|| episodic.records(&ids))?;
            let records = store.sealed_records(&ids)?;
            open.time(|| records.open());
            if let Some(id) = ids.first() {
                let commit = store.sealed_commit(*id)?;
                let values = commit.open();
                seal.time(|| commit.seal(&values))?;
            }
        }
        let [embed, recall, hydrate, open, seal] =
            [embed, recall, hydrate, open, seal].map(|it| it.percentiles().p50_millis);
        Ok(RecallParts {
            embed_millis: embed,
            search_millis: recall - embed - hydrate,
            hydrate_millis: hydrate,
            open_millis: open,
            seal_millis: seal,
            wire_millis: whole_millis - recall,
        })
    }
}

/// Measures recalls at a pace while captions come in, and the insertions a second.
fn inserting(asker: &Asker<'_>, count: usize) -> anyhow::Result<(Percentiles, f64)> {
    let started = SystemClock.tick();
    thread::scope(|scope| {
        let telling = camera::tell(scope, asker.socket)?;
        let latencies = asker.ask_at_pace(count, 5, PACE);
        let told = telling.finish()? as f64;
        Ok((latencies?.percentiles(), told / started.elapsed().as_secs_f64()))
    })
}

/// Number of measurements of one size, for the progress bar.
const STEPS: u64 = 10;

fn steps(records: usize) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")?;
    let prefix = format!("measuring {records} records");
    Ok(ProgressBar::new(STEPS).with_style(style).with_prefix(prefix))
}

fn number(stats: &Map<String, Value>, key: &str) -> u64 {
    stats.get(key).and_then(Value::as_u64).unwrap_or(0)
}
