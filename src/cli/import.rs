//! `engram import`: what `engram export` wrote as lines, kept in another memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::cli::client::{Client, ClientOptions};
use crate::cli::export::{HEADER_KIND, VERSION};
use crate::cli::output::say;
use crate::tools::transfer::import::LINES_MAX;

/// What to read.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// File that `engram export` wrote as jsonl, or - for standard input
    file: PathBuf,
}

/// Bytes of lines that are sent at once.
const BATCH_BYTES: usize = 8 << 20;
/// Longest line; more than an image may have in base64.
const LINE_BYTES_MAX: usize = 23 << 20;

/// Sends the items in their order. Run again, it passes over what is there.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = Client::connect(socket, options)?;
    let shown = flags.file.display().to_string();
    let counts = if flags.file.as_os_str() == "-" {
        import(&mut client, io::stdin().lock(), "standard input")?
    } else {
        let file = File::open(&flags.file).with_context(|| format!("cannot read {shown}"))?;
        import(&mut client, BufReader::new(file), &shown)?
    };
    let count = |kind: &str| counts.get(kind).copied().unwrap_or(0);
    say(&format!(
        "imported {} records, {} notes, {} memos, {} states of agents; {} were there",
        count("records"),
        count("notes"),
        count("memos"),
        count("states"),
        count("known"),
    ))?;
    Ok(ExitCode::SUCCESS)
}

type Counts = std::collections::BTreeMap<String, u64>;

fn import(client: &mut Client, mut lines: impl BufRead, from: &str) -> anyhow::Result<Counts> {
    let mut number = 1;
    let header = read_line(&mut lines, from, number)?.unwrap_or_default();
    check_header(&header).with_context(|| format!("{from} is no export of engram"))?;
    let mut counts = Counts::new();
    let mut batch = Vec::new();
    let mut bytes = 0;
    while let Some(line) = read_line(&mut lines, from, number + 1)? {
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        if batch.len() == LINES_MAX || bytes + line.len() > BATCH_BYTES {
            send(client, std::mem::take(&mut batch), &mut counts, from)?;
            bytes = 0;
        }
        bytes += line.len();
        batch.push((number, line));
    }
    send(client, batch, &mut counts, from)?;
    Ok(counts)
}

fn read_line(
    lines: &mut impl BufRead,
    from: &str,
    number: usize,
) -> anyhow::Result<Option<String>> {
    let mut line = Vec::new();
    let limit = LINE_BYTES_MAX as u64 + 1;
    let read = io::Read::take(&mut *lines, limit).read_until(b'\n', &mut line);
    let place = || format!("{from}, line {number}");
    if read.with_context(place)? == 0 {
        return Ok(None);
    }
    anyhow::ensure!(
        line.len() <= LINE_BYTES_MAX,
        "{}: it is longer than {LINE_BYTES_MAX} bytes",
        place()
    );
    let line = String::from_utf8(line).with_context(place)?;
    Ok(Some(line.trim_end().to_owned()))
}

fn check_header(line: &str) -> anyhow::Result<()> {
    let header: Value = serde_json::from_str(line).unwrap_or_default();
    anyhow::ensure!(
        header.get("kind").and_then(Value::as_str) == Some(HEADER_KIND),
        "its first line does not say {HEADER_KIND:?}"
    );
    let version = header.get("version").and_then(Value::as_u64).unwrap_or(0);
    anyhow::ensure!(
        version == VERSION,
        "it is of version {version}, this program reads version {VERSION}"
    );
    Ok(())
}

fn send(
    client: &mut Client,
    batch: Vec<(usize, String)>,
    counts: &mut Counts,
    from: &str,
) -> anyhow::Result<()> {
    let Some((first, _)) = batch.first() else { return Ok(()) };
    let place = format!("{from}, items from line {first} on");
    let lines: Vec<Value> = batch.into_iter().map(|(_, line)| json!(line)).collect();
    let arguments = Map::from_iter([("lines".to_owned(), Value::Array(lines))]);
    let reply = client.transfer("engram/import", arguments).context(place)?;
    for (kind, count) in reply {
        *counts.entry(kind).or_insert(0) += count.as_u64().unwrap_or(0);
    }
    Ok(())
}
