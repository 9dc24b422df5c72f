//! `engram bench ann`: recall and latency of the vector index on a user's own
//! vectors.
//!
//! Builds a segment as the daemon does, of vectors that are read from the file as
//! they are needed, so that the memory reported is the engine's.

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Serialize;

use crate::base::embedding::Embedding;
use crate::base::score::round_to;
use crate::base::time::{Clock as _, SystemClock};
use crate::cli::bench::plot::{Axis, Curve, Panel, Plot, PlotFlag, Scale};
use crate::cli::bench::vectors::{Neighbours, Vectors};
use crate::cli::output::say;
use crate::index::Row;
use crate::index::hnsw::HnswIndex;
use crate::index::hnsw::build;
use crate::index::hnsw::options::Options;
use crate::index::hnsw::search::Scratch;
use crate::index::quantization::sq12::Sq12Query;
use crate::index::strategy::{Strategy, expands_two_hops, search_width, strategy};
use crate::index::top_k::{Scored, TopK};

/// Most neighbours asked for.
const K_MAX: usize = 1_000;
/// Tolerance of a true neighbour's similarity: the rounding of a sum of floats.
const TIE: f32 = 1e-6;

/// Flags of the measurement.
#[derive(Debug, Args)]
pub(in crate::cli) struct Flags {
    /// Vectors to search among: .fvecs, or any other file of raw f32 with --dim
    #[arg(long, value_name = "FILE")]
    base: PathBuf,
    /// Vectors to search for, in the same form
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// True neighbours of each query (.ivecs); otherwise they are computed
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Components of a vector, where the files hold nothing but components
    #[arg(long, value_name = "N")]
    dim: Option<usize>,
    /// Take this many vectors of the base only
    #[arg(long, value_name = "N")]
    records: Option<usize>,
    /// Neighbours to find
    #[arg(long, value_name = "N", default_value_t = 10)]
    k: usize,
    /// Rows kept in view by a walk, such as 16,64,256 [default: 16,24,32,48,64,96,128,192,256]
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_default_value = true,
          default_values_t = [16, 24, 32, 48, 64, 96, 128, 192, 256])]
    ef: Vec<usize>,
    /// Measure windows of the rows as well, of these shares of them
    #[arg(long)]
    windows: bool,
    /// Shares of the rows that windows hold, in percent
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [50.0, 10.0, 1.0, 0.1])]
    shares: Vec<f64>,
    /// Search windows in the ways that were not chosen, too
    #[arg(long, requires = "windows")]
    every_way: bool,
    /// Threads that build
    #[arg(long, value_name = "N", default_value = "2")]
    threads: std::num::NonZeroUsize,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plot: PlotFlag,
}

/// Figures of all searches. Times of one search in microseconds, its query's encoding
/// included; recall is the share of found neighbours that are as near as true ones.
#[derive(Debug, Serialize)]
struct AnnReport {
    records: usize,
    dimension: usize,
    k: usize,
    build_seconds: f64,
    /// Peak memory of the process while it built.
    build_peak_bytes: Option<u64>,
    /// Memory of the segment.
    bytes_per_record: f64,
    encode_seconds: f64,
    /// Time from bytes to a segment that can be searched.
    open_seconds: f64,
    unfiltered: Vec<Point>,
    windows: Vec<WindowFigures>,
}

#[derive(Debug, Serialize)]
struct Point {
    ef: usize,
    #[serde(flatten)]
    figures: SearchFigures,
}

#[derive(Debug, Serialize)]
struct WindowFigures {
    share: f64,
    #[serde(flatten)]
    figures: SearchFigures,
    plan: String,
    /// Whether the engine itself would search it so.
    chosen: bool,
}

/// Ways to search a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Scan,
    WalkThrough { ef: usize },
    StepOver { ef: usize },
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scan => f.write_str("scan"),
            Self::WalkThrough { ef } => write!(f, "walk, ef {ef}"),
            Self::StepOver { ef } => write!(f, "stepping over, ef {ef}"),
        }
    }
}

#[derive(Debug, Serialize)]
struct SearchFigures {
    recall: f64,
    p50_micros: f64,
    p99_micros: f64,
}

pub(super) fn run(flags: &Flags) -> anyhow::Result<ExitCode> {
    ensure!((1..=K_MAX).contains(&flags.k), "--k is {}, accepted is 1 to {K_MAX}", flags.k);
    ensure!(flags.ef.iter().all(|ef| *ef > 0), "--ef has a 0, accepted is 1 and more");
    let wrong = flags.shares.iter().find(|share| !(0.0..=100.0).contains(*share));
    if let Some(share) = wrong {
        anyhow::bail!("--shares has {share}, accepted are percents from 0 to 100");
    }
    flags.plot.check()?;
    let base = Vectors::open(&flags.base, flags.dim, flags.records)?;
    let queries = Vectors::open(&flags.queries, flags.dim, None)?;
    ensure!(
        base.dimension() == queries.dimension(),
        "the queries of {} have {} components, the vectors of {} have {}",
        flags.queries.display(),
        queries.dimension(),
        flags.base.display(),
        base.dimension(),
    );
    let queries: Vec<Embedding> = queries.read()?.collect::<Result<_, _>>()?;
    ensure!(!queries.is_empty(), "{} holds no query", flags.queries.display());
    let bench = AnnBench { base: &base, queries: &queries, k: flags.k.min(base.len()) };
    let report = bench.run(flags)?;
    if flags.json {
        say(&serde_json::to_string_pretty(&report)?)?;
    } else {
        say(&table(&report))?;
    }
    flags.plot.write(|| curves(&report))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug)]
struct AnnBench<'a> {
    base: &'a Vectors,
    queries: &'a [Embedding],
    k: usize,
}

/// True neighbours of a query, and the similarity of the last of them.
type Bars = Vec<f32>;

impl AnnBench<'_> {
    fn run(&self, flags: &Flags) -> anyhow::Result<AnnReport> {
        let dimension = self.base.dimension();
        let options = Options { threads: flags.threads, ..Options::default() };
        let started = SystemClock.tick();
        let mut failed = None;
        // A vector that cannot be read ends the file; the segment is thrown away.
        let vectors =
            Sized { rows: self.base.len(), vectors: self.base.read()?, failed: &mut failed };
        let segment = build::build(dimension, vectors, &options, &|| ControlFlow::Continue(()));
        if let Some(error) = failed {
            return Err(error);
        }
        let segment = segment?;
        let build_seconds = started.elapsed().as_secs_f64();
        let build_peak_bytes = peak_bytes();

        let (bytes, encode) = time(|| segment.to_bytes());
        let bytes_per_record = segment.memory_bytes() as f64 / segment.len() as f64;
        drop(segment);
        let (segment, open) = time(|| HnswIndex::from_bytes(&bytes));
        let segment = segment.context("what was written cannot be read")?;
        drop(bytes);

        let all = vec![0..row_count(&segment); self.queries.len()];
        let bars = match &flags.truth {
            Some(path) => self.bars_of_truth(&Neighbours::read(path)?, path)?,
            None => self.scan(&all)?,
        };
        let mut scratch = Scratch::default();
        let mut unfiltered = Vec::new();
        for ef in flags.ef.iter().copied() {
            let figures = self.measure(&bars, |_, query| {
                segment.search_graph(&Sq12Query::new(query), self.k, ef, &mut scratch)
            })?;
            unfiltered.push(Point { ef, figures });
        }
        let mut windows = Vec::new();
        for percent in flags.shares.iter().copied().filter(|_| flags.windows) {
            windows.extend(self.window(&segment, percent, flags.every_way)?);
        }
        Ok(AnnReport {
            records: segment.len(),
            dimension,
            k: self.k,
            build_seconds,
            build_peak_bytes,
            bytes_per_record,
            encode_seconds: encode.as_secs_f64(),
            open_seconds: open.as_secs_f64(),
            unfiltered,
            windows,
        })
    }

    /// Measures windows of a share, as the engine searches them and in every other way.
    fn window(
        &self,
        segment: &HnswIndex,
        percent: f64,
        every_way: bool,
    ) -> anyhow::Result<Vec<WindowFigures>> {
        let ranges = self.ranges(percent / 100.0);
        let bars = self.scan(&ranges)?;
        let (rows, k) = (segment.len(), self.k);
        let allowed = ranges.first().map_or(0, ExactSizeIterator::len);
        let chosen = match strategy(rows, allowed, k) {
            Strategy::Scan => Way::Scan,
            Strategy::Graph { ef } if expands_two_hops(rows, allowed) => Way::StepOver { ef },
            Strategy::Graph { ef } => Way::WalkThrough { ef },
        };
        let ef = search_width(k);
        let mut ways = vec![chosen];
        let others = [Way::Scan, Way::WalkThrough { ef }, Way::StepOver { ef }];
        ways.extend(others.into_iter().filter(|way| every_way && *way != chosen));
        let mut scratch = Scratch::default();
        let mut found = Vec::with_capacity(ways.len());
        for way in ways {
            let figures = self.measure(&bars, |at, query| {
                let range = ranges.get(at).cloned().unwrap_or_default();
                let (query, within) = (Sq12Query::new(query), |row: Row| range.contains(&row.0));
                match way {
                    Way::Scan => segment.scan(&query, k, range.clone().map(Row), &mut scratch),
                    // As if every row were let through, then as if hardly one were.
                    Way::WalkThrough { ef } => {
                        segment.search_graph_filtered(&query, k, (ef, rows), within, &mut scratch)
                    }
                    Way::StepOver { ef } => {
                        segment.search_graph_filtered(&query, k, (ef, 0), within, &mut scratch)
                    }
                }
            })?;
            let (share, is_chosen) = (percent / 100.0, way == chosen);
            found.push(WindowFigures { share, figures, plan: way.to_string(), chosen: is_chosen });
        }
        Ok(found)
    }

    /// Windows, one for each query, all of one length, evenly spread over the rows.
    fn ranges(&self, share: f64) -> Vec<Range<u32>> {
        let rows = self.base.len();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the rows"
        )]
        let len = ((rows as f64 * share) as usize).max(self.k).min(rows);
        (0..self.queries.len())
            .map(|at| {
                // The golden ratio's multiples fall everywhere, and never in step.
                let place = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                let start = (place * (rows - len + 1) as u64) >> 32;
                let start = u32::try_from(start).unwrap_or_default();
                start..start.saturating_add(u32::try_from(len).unwrap_or_default())
            })
            .collect()
    }

    /// Similarity of the last given neighbour of each query.
    fn bars_of_truth(&self, truth: &Neighbours, path: &std::path::Path) -> anyhow::Result<Bars> {
        ensure!(
            truth.len() >= self.queries.len() && truth.each() >= self.k,
            "{} has {} neighbours of {} queries, needed are {} of {}",
            path.display(),
            truth.each(),
            truth.len(),
            self.k,
            self.queries.len(),
        );
        let wanted: Vec<&[i32]> = (0..self.queries.len()).map(|at| truth.of(at, self.k)).collect();
        let rows: Vec<Vec<u32>> = wanted
            .iter()
            .map(|ids| ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect())
            .collect();
        let beyond = wanted
            .iter()
            .copied()
            .flatten()
            .find(|id| usize::try_from(**id).map_or(true, |id| id >= self.base.len()));
        if let Some(id) = beyond {
            anyhow::bail!(
                "{} names neighbour {id}, {} has {} vectors",
                path.display(),
                self.base.path().display(),
                self.base.len(),
            );
        }
        let mut bars = vec![f32::INFINITY; rows.len()];
        self.compare(&rows, |query, cosine| {
            if let Some(bar) = bars.get_mut(query) {
                *bar = bar.min(cosine);
            }
        })?;
        Ok(bars)
    }

    /// Similarity of the last true neighbour of each query in its range, by comparing
    /// all.
    fn scan(&self, ranges: &[Range<u32>]) -> anyhow::Result<Bars> {
        let mut tops: Vec<TopK> = ranges.iter().map(|_| TopK::new(self.k)).collect();
        for (row, vector) in (0_u32..).zip(self.base.read()?) {
            let vector = vector?;
            for ((range, query), top) in ranges.iter().zip(self.queries).zip(&mut tops) {
                if range.contains(&row) {
                    top.offer(Row(row), product(&vector, query));
                }
            }
        }
        let last = |top: TopK| top.into_sorted().last().map_or(f32::INFINITY, |it| it.score);
        Ok(tops.into_iter().map(last).collect())
    }

    /// Calls `take` with each query and its cosine with each of its rows.
    fn compare(&self, rows: &[Vec<u32>], mut take: impl FnMut(usize, f32)) -> anyhow::Result<()> {
        let each = rows.iter().enumerate();
        let mut wanted: Vec<(u32, usize)> =
            each.flat_map(|(query, rows)| rows.iter().map(move |row| (*row, query))).collect();
        wanted.sort_unstable();
        let mut wanted = wanted.into_iter().peekable();
        for (row, vector) in (0_u32..).zip(self.base.read()?) {
            let vector = vector?;
            while let Some((_, query)) = wanted.next_if(|(wanted, _)| *wanted == row) {
                if let Some(it) = self.queries.get(query) {
                    take(query, product(&vector, it));
                }
            }
        }
        Ok(())
    }

    /// Runs each query once to warm up and to count hits, then again for the time.
    fn measure(
        &self,
        bars: &[f32],
        mut search: impl FnMut(usize, &Embedding) -> Vec<Scored>,
    ) -> anyhow::Result<SearchFigures> {
        let each = || self.queries.iter().enumerate();
        let found: Vec<Vec<u32>> = each()
            .map(|(at, query)| search(at, query).into_iter().map(|it| it.row.0).collect())
            .collect();
        let mut times: Vec<Duration> =
            each().map(|(at, query)| time(|| search(at, query)).1).collect();
        let mut hits = 0_usize;
        self.compare(&found, |query, cosine| {
            hits += usize::from(bars.get(query).is_some_and(|bar| cosine >= bar - TIE));
        })?;
        times.sort_unstable();
        // By nearest rank.
        let at = |percent: usize| {
            let rank = (percent * times.len()).div_ceil(100).saturating_sub(1);
            times.get(rank).map_or(f64::NAN, |it| round_to(it.as_secs_f64() * 1e6, 2))
        };
        let recall = hits as f64 / (self.k * self.queries.len()) as f64;
        Ok(SearchFigures { recall: round_to(recall, 5), p50_micros: at(50), p99_micros: at(99) })
    }
}

/// Vectors of a file as an iterator of known length that ends at an error.
struct Sized<'a, I> {
    rows: usize,
    vectors: I,
    failed: &'a mut Option<anyhow::Error>,
}

impl<I: Iterator<Item = anyhow::Result<Embedding>>> Iterator for Sized<'_, I> {
    type Item = Embedding;

    fn next(&mut self) -> Option<Embedding> {
        match self.vectors.next()? {
            Ok(vector) => {
                self.rows = self.rows.saturating_sub(1);
                Some(vector)
            }
            Err(error) => {
                self.rows = 0;
                *self.failed = Some(error);
                None
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rows, Some(self.rows))
    }
}

impl<I: Iterator<Item = anyhow::Result<Embedding>>> ExactSizeIterator for Sized<'_, I> {}

/// Cosine, summed side by side: a sum in order would take most of the time of the whole
/// measurement.
fn product(a: &Embedding, b: &Embedding) -> f32 {
    let (a, b) = (a.as_slice(), b.as_slice());
    let ((a_chunks, a_rest), (b_chunks, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

fn row_count(segment: &HnswIndex) -> u32 {
    u32::try_from(segment.len()).unwrap_or(u32::MAX)
}

fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = SystemClock.tick();
    let result = work();
    (result, started.elapsed())
}

/// Peak memory of this process; `None` where the system does not say.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

fn table(report: &AnnReport) -> String {
    let AnnReport {
        records, dimension, k, build_seconds, build_peak_bytes, bytes_per_record, ..
    } = report;
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let peak = build_peak_bytes
        .map_or_else(String::new, |it| format!(", {:.0} MiB at most", mebibytes(it)));
    let mut lines = vec![
        format!("{records} vectors of {dimension} components, k = {k}"),
        format!(
            "built in {build_seconds:.1} s ({:.0} a second{peak}), {bytes_per_record:.0} bytes a record, opened in {:.3} s",
            *records as f64 / build_seconds,
            report.open_seconds,
        ),
        format!("{:>40} {:>8} {:>10} {:>10}", "", format!("recall@{k}"), "p50 µs", "p99 µs"),
    ];
    let mut line = |name: String, figures: &SearchFigures| {
        let SearchFigures { recall, p50_micros, p99_micros } = figures;
        lines.push(format!("{name:>40} {recall:>9.4} {p50_micros:>10.1} {p99_micros:>10.1}"));
    };
    for Point { ef, figures } in &report.unfiltered {
        line(format!("ef {ef}"), figures);
    }
    for WindowFigures { share, figures, plan, chosen } in &report.windows {
        let aside = if *chosen { "" } else { " (not chosen)" };
        line(format!("{} %, {plan}{aside}", round_to(share * 100.0, 3)), figures);
    }
    lines.join("\n")
}

/// What a wider view costs and finds, and the one over the other; windows are in the table.
fn curves(report: &AnnReport) -> Plot {
    let AnnReport { records, dimension, k, unfiltered, .. } = report;
    let curve = |name: &str, point: &dyn Fn(&Point) -> (f64, f64)| Curve {
        name: name.to_owned(),
        points: unfiltered.iter().map(point).collect(),
    };
    let recall = Axis { name: "recall", scale: Scale::Linear };
    let [ef, micros] = ["ef", "microseconds"].map(|name| Axis { name, scale: Scale::Logarithmic });
    let panel = |title: &str, x, y, curves| Panel { title: title.to_owned(), x, y, curves };
    Plot {
        caption: format!("{records} vectors of {dimension} components, k = {k}"),
        panels: vec![
            panel(
                "how much is found",
                ef,
                recall,
                vec![curve("recall", &|it| (it.ef as f64, it.figures.recall))],
            ),
            panel(
                "how long it takes",
                ef,
                micros,
                vec![
                    curve("p50", &|it| (it.ef as f64, it.figures.p50_micros)),
                    curve("p99", &|it| (it.ef as f64, it.figures.p99_micros)),
                ],
            ),
            panel(
                "one for the other",
                recall,
                micros,
                vec![
                    curve("p50", &|it| (it.figures.recall, it.figures.p50_micros)),
                    curve("p99", &|it| (it.figures.recall, it.figures.p99_micros)),
                ],
            ),
        ],
    }
}
