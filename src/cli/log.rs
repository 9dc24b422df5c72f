//! `engram log`: records, line by line, and others as they come.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::base::plain;
use crate::base::time::{Clock as _, SystemClock};
use crate::cli::client::{Client, ClientError, ClientOptions, ClientReply};
use crate::cli::output::complain;
use crate::tools::moment_retrieval::list_records::ListRecords;
use crate::tools::tool::Tool as _;

/// Which records, and how they are printed.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Go on with records as they come
    #[arg(short, long)]
    follow: bool,
    /// The last so many records [default: 10, all with --since]
    #[arg(short = 'n', long, value_name = "RECORDS")]
    lines: Option<usize>,
    /// Only records since a time: "2025-01-03 09:00:00", -2h, -1d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only records of this camera or other origin
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Print each record as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Records at the beginning where nothing is said.
const LINES: usize = 10;
/// Records of one call, at most.
const PAGE: usize = 500;
/// Between two looks for new records: a call takes a tenth of a millisecond.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two attempts to reach a daemon that went away.
const RETRY: Duration = Duration::from_secs(1);

/// Prints the records; with `--follow` until nobody reads, or the daemon stays away.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut log = Log { flags, socket: socket.to_owned(), options, client: None };
    match log.print() {
        // As it is with `head`: who asked has seen enough.
        Err(LogError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitCode::SUCCESS)
        }
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}

#[derive(Debug, thiserror::Error)]
enum LogError {
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The tool's own words.
    #[error("{0}")]
    Refused(String),
    #[error("cannot print")]
    Write(#[source] io::Error),
}

struct Log<'a> {
    flags: &'a Flags,
    socket: PathBuf,
    options: ClientOptions,
    client: Option<Client>,
}

impl Log<'_> {
    fn print(&mut self) -> Result<(), LogError> {
        let mut cursor = self.begin()?;
        while self.flags.follow {
            let page = self.page_patiently(cursor.as_ref())?;
            for record in records(&page) {
                self.write(record)?;
            }
            cursor = page.structured.get("cursor").cloned().or(cursor);
            if page.structured.get("more") != Some(&json!(true)) {
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Prints what is there already; where the rest goes on.
    fn begin(&mut self) -> Result<Option<Value>, LogError> {
        let lines = match (self.flags.lines, &self.flags.since) {
            (None, Some(_)) => return self.all(),
            (lines, _) => lines.unwrap_or(LINES),
        };
        let mut found = Vec::new();
        let mut newest = None;
        let mut cursor = None;
        loop {
            // Also of no line at all: where the new ones begin is known by the last old one.
            let limit = (lines - found.len().min(lines)).clamp(1, PAGE);
            let page = self.call("last_recorded", cursor.as_ref(), limit)?;
            found.extend(records(&page).cloned());
            newest = newest.or_else(|| found.first().and_then(|it| it.get("id").cloned()));
            cursor = page.structured.get("cursor").cloned();
            if found.len() >= lines || page.structured.get("more") != Some(&json!(true)) {
                break;
            }
        }
        found.truncate(lines);
        for record in found.iter().rev() {
            self.write(record)?;
        }
        Ok(newest)
    }

    fn all(&mut self) -> Result<Option<Value>, LogError> {
        let mut cursor = None;
        loop {
            let page = self.call("first_recorded", cursor.as_ref(), PAGE)?;
            for record in records(&page) {
                self.write(record)?;
            }
            cursor = page.structured.get("cursor").cloned().or(cursor);
            if page.structured.get("more") != Some(&json!(true)) {
                return Ok(cursor);
            }
        }
    }

    /// The records after a cursor; waits for a daemon that restarts.
    fn page_patiently(&mut self, cursor: Option<&Value>) -> Result<ClientReply, LogError> {
        let deadline = SystemClock.tick() + self.options.call_deadline;
        let mut is_told = false;
        loop {
            match self.call("first_recorded", cursor, PAGE) {
                Err(LogError::Client(error)) if is_absence(&error) => {
                    if SystemClock.tick() >= deadline {
                        return Err(error.into());
                    }
                    if !is_told {
                        complain(&format!("engram: {error}; waiting for it"));
                        is_told = true;
                    }
                    self.client = None;
                    thread::sleep(RETRY);
                }
                other => return other,
            }
        }
    }

    fn call(
        &mut self,
        order: &str,
        cursor: Option<&Value>,
        limit: usize,
    ) -> Result<ClientReply, LogError> {
        let mut arguments = Map::new();
        arguments.insert("order".to_owned(), json!(order));
        arguments.insert("limit".to_owned(), json!(limit));
        if let Some(cursor) = cursor {
            arguments.insert("cursor".to_owned(), cursor.clone());
        }
        let texts = [("start_time", &self.flags.since), ("source", &self.flags.source)];
        for (name, value) in texts {
            if let Some(value) = value {
                arguments.insert(name.to_owned(), json!(value));
            }
        }
        let client = match &mut self.client {
            Some(client) => client,
            none => none.insert(Client::connect(&self.socket, self.options)?),
        };
        let reply = client.call(ListRecords::NAME, arguments)?;
        if reply.is_error { Err(LogError::Refused(reply.text)) } else { Ok(reply) }
    }

    fn write(&self, record: &Value) -> Result<(), LogError> {
        let text = if self.flags.json { record.to_string() } else { line(record) };
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{}", plain::one_line(&text)).and_then(|()| out.flush());
        written.map_err(LogError::Write)
    }
}

/// Whether a daemon may come back after this.
fn is_absence(error: &ClientError) -> bool {
    match error {
        ClientError::NotRunning { .. } | ClientError::Closed | ClientError::Broken(_) => true,
        ClientError::Connect { .. }
        | ClientError::Late(_)
        | ClientError::Hung(_)
        | ClientError::TooLong(_)
        | ClientError::Unreadable(_)
        | ClientError::Refused { .. } => false,
    }
}

fn records(page: &ClientReply) -> impl Iterator<Item = &Value> {
    page.structured.get("records").and_then(Value::as_array).into_iter().flatten()
}

/// `2025-01-03 17:51:24 front_camera #168 (8.3, 2.4) a red mug on a shelf`
fn line(record: &Value) -> String {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("-");
    let id = record.get("id").and_then(Value::as_u64).unwrap_or(0);
    let axis = |axis: usize| record.get("position")?.get(axis)?.as_f64();
    let place = match (axis(0), axis(1)) {
        (Some(x), Some(y)) => format!(" ({x:.1}, {y:.1})"),
        _ => String::new(),
    };
    let layer = record.get("layer").and_then(Value::as_str);
    let layer = layer.map_or_else(String::new, |layer| format!(" [{layer}]"));
    format!("{} {} #{id}{place}{layer} {}", text("time"), text("source"), text("caption"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_plain_text() {
        let record = json!({
            "id": 7, "time": "2025-01-03 12:00:00", "source": "front", "layer": "battery",
            "position": [4.0, 1.25, 0.0], "caption": "half\nempty \u{1b}[2J",
        });
        let shown = line(&record);
        assert_eq!(
            plain::one_line(&shown),
            "2025-01-03 12:00:00 front #7 (4.0, 1.2) [battery] half\\nempty \\u001b[2J"
        );
        let bare = json!({"id": 8, "time": "t", "source": "", "position": null, "caption": "x"});
        assert_eq!(line(&bare), "t  #8 x");
    }
}
