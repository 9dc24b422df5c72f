//! `engram export`: the memory, or part of it, as a file that other programs read.
//!
//! It is a copy outside: what is forgotten here later stays in it.

mod foxglove;
mod mcap;
mod parquet;
mod recording;
mod table;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::client::{Client, ClientOptions};
use crate::cli::export::recording::RecordingSink;
use crate::cli::export::table::TableSink;
use crate::cli::output::complain;
use crate::cli::record_scope::RecordScope;
use crate::tools::transfer::export::{KINDS, concerns};
use crate::tools::transfer::{Item, RecordItem};

/// What to export, and as what.
#[derive(Debug, Args)]
#[command(
    after_help = "A filter leaves out what it says nothing of: a note or a memo has a time and no \
                  place, the state of an agent has neither.",
    mut_arg("since", |it| it.help(
        "Only records, notes and memos since a time: \"2025-01-03 09:00:00\", -2h, -1d; no states"
    )),
    mut_arg("until", |it| it.help("Only records, notes and memos until a time; no states")),
    mut_arg("source", |it| it.help("Only records, those of this camera or other origin")),
    mut_arg("map_id", |it| it.help("Only records, those made in this map")),
    mut_arg("area", |it| it.help(
        "Only records, those made within metres of a place: \"1.5,-3,2\" for 2 m around (1.5, -3)"
    )),
)]
pub(super) struct Flags {
    /// jsonl: all of it, a line each, which `engram import` reads; parquet: a table of records
    /// with their vectors; mcap: a recording for Foxglove, Lichtblick and rerun
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// File to write; standard output where it is - (jsonl alone)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Include the frames
    #[arg(long)]
    frames: bool,
    /// Export these kinds alone [default: all that the filters concern]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = KINDS.to_vec())]
    only: Vec<String>,
    #[command(flatten)]
    scope: RecordScope,
    /// Only the state of this agent, and nothing else
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Parquet,
    Mcap,
}

impl Flags {
    fn filter(&self) -> anyhow::Result<Map<String, Value>> {
        let mut filter = self.scope.arguments()?;
        filter.extend(self.agent.as_ref().map(|it| ("agent".to_owned(), json!(it))));
        Ok(filter)
    }

    /// What the format can hold and the filter says something of; that, where it was asked for.
    fn kinds(&self, filter: &Map<String, Value>) -> anyhow::Result<Vec<&'static str>> {
        let is_asked_for = |kind: &str| match self.only.as_slice() {
            [] => self.format == Format::Jsonl || kind == "records",
            only => only.iter().any(|it| it == kind),
        };
        let asked: Vec<&str> = KINDS.iter().copied().filter(|it| is_asked_for(it)).collect();
        let is_meant = |kind: &&str| filter.keys().all(|it| concerns(it, kind));
        let meant: Vec<&str> = asked.iter().copied().filter(is_meant).collect();
        anyhow::ensure!(
            !meant.is_empty() && (self.only.is_empty() || meant.len() == asked.len()),
            "nothing among {} has all that the filters ask for: --since and --until are of records, \
             notes and memos, --source, --map-id and --area of records, --agent of states",
            asked.join(", ")
        );
        Ok(meant)
    }
}

/// Version of the lines.
pub(super) const VERSION: u64 = 1;
/// What the first line says that it is.
pub(super) const HEADER_KIND: &str = "engram_export";

/// Takes items in the order of export.
trait Sink {
    fn record(&mut self, record: &RecordItem) -> anyhow::Result<()>;

    /// The file as a whole.
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

/// What was exported.
#[derive(Debug, Default)]
struct Counts {
    records: usize,
    frames: usize,
    notes: usize,
    memos: usize,
    states: usize,
}

/// Writes the file as a whole or not at all, and says on standard error what is in it.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(socket, options)?;
    let is_piped = flags.output.as_os_str() == "-";
    let mut counts = Counts::default();
    if is_piped {
        anyhow::ensure!(
            flags.format == Format::Jsonl,
            "this format is a file; name one with -o FILE"
        );
        let out = BufWriter::new(io::stdout().lock());
        write(&mut client, flags, out, &mut counts)?;
    } else {
        anyhow::ensure!(
            flags.force || !flags.output.exists(),
            "{} is there already; --force replaces it",
            flags.output.display()
        );
        let dir = flags.output.parent().filter(|dir| !dir.as_os_str().is_empty());
        let draft = NamedTempFile::new_in(dir.unwrap_or_else(|| Path::new(".")))
            .with_context(|| format!("cannot write beside {}", flags.output.display()))?;
        write(&mut client, flags, BufWriter::new(draft.reopen()?), &mut counts)?;
        draft.as_file().sync_all()?;
        let named = if flags.force {
            draft.persist(&flags.output)
        } else {
            draft.persist_noclobber(&flags.output)
        };
        named.with_context(|| format!("cannot write {}", flags.output.display()))?;
    }
    let Counts { records, frames, notes, memos, states } = counts;
    complain(&format!(
        "exported {records} records with {frames} frames, {notes} notes, {memos} memos, {states} \
         states of agents; what is forgotten later stays in this copy"
    ));
    Ok(ExitCode::SUCCESS)
}

fn write(
    client: &mut Client,
    flags: &Flags,
    out: impl Write,
    counts: &mut Counts,
) -> anyhow::Result<()> {
    match flags.format {
        Format::Jsonl => write_lines(client, flags, out, counts),
        Format::Parquet => write_records(client, flags, Box::new(TableSink::new(out)?), counts),
        Format::Mcap => write_records(client, flags, Box::new(RecordingSink::new(out)?), counts),
    }
}

fn write_lines(
    client: &mut Client,
    flags: &Flags,
    mut out: impl Write,
    counts: &mut Counts,
) -> anyhow::Result<()> {
    let header = json!({
        "kind": HEADER_KIND,
        "version": VERSION,
        "engram": env!("CARGO_PKG_VERSION"),
        "time": SystemClock.now().rfc3339(),
    });
    writeln!(out, "{header}")?;
    let filter = flags.filter()?;
    for kind in flags.kinds(&filter)? {
        let mut write = |item: Value| -> anyhow::Result<()> {
            match kind {
                "records" => {
                    counts.records += 1;
                    counts.frames += usize::from(item.get("frame").is_some());
                }
                "notes" => counts.notes += 1,
                "memos" => counts.memos += 1,
                _ => counts.states += 1,
            }
            Ok(writeln!(out, "{item}")?)
        };
        let with = Wanted { kind, filter: &filter, frames: flags.frames, vectors: false };
        each(client, &with, &mut write)?;
    }
    Ok(out.flush()?)
}

fn write_records(
    client: &mut Client,
    flags: &Flags,
    mut sink: Box<dyn Sink + '_>,
    counts: &mut Counts,
) -> anyhow::Result<()> {
    let mut write = |item: Value| -> anyhow::Result<()> {
        if let Item::Record(record) = serde_json::from_value(item)? {
            counts.records += 1;
            counts.frames += usize::from(record.frame.is_some());
            sink.record(&record)?;
        }
        Ok(())
    };
    let filter = flags.filter()?;
    anyhow::ensure!(
        flags.kinds(&filter)? == ["records"],
        "this format holds records alone; accepted is --only records, and no --agent"
    );
    let vectors = flags.format == Format::Parquet;
    let with = Wanted { kind: "records", filter: &filter, frames: flags.frames, vectors };
    each(client, &with, &mut write)?;
    sink.finish()
}

/// What is asked of the daemon.
struct Wanted<'a> {
    kind: &'a str,
    filter: &'a Map<String, Value>,
    frames: bool,
    vectors: bool,
}

/// Every item, page by page.
fn each(
    client: &mut Client,
    wanted: &Wanted<'_>,
    take: &mut dyn FnMut(Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut arguments = wanted.filter.clone();
    arguments.insert("kind".to_owned(), json!(wanted.kind));
    arguments.insert("frames".to_owned(), json!(wanted.frames));
    arguments.insert("vectors".to_owned(), json!(wanted.vectors));
    loop {
        let mut page = client.transfer("engram/export", arguments.clone())?;
        let Some(Value::Array(items)) = page.remove("items") else {
            anyhow::bail!("the daemon's answer has no items");
        };
        items.into_iter().try_for_each(&mut *take)?;
        match page.remove("cursor") {
            Some(cursor) => arguments.insert("cursor".to_owned(), cursor),
            None => return Ok(()),
        };
    }
}

/// Microseconds since 1970 of a time in an export.
fn micros(time: &str) -> anyhow::Result<i64> {
    let read = crate::base::time::Timestamp::from_rfc3339(time);
    Ok(read.with_context(|| format!("{time:?} is no time"))?.micros())
}
