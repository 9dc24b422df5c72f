//! `engram purge`: forgets by what an operator names, after it has shown what that is.
//!
//! All of it is the tool `memory_forget` of the daemon: who may, what goes and its receipt are
//! decided there.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::audit::receipts;
use crate::base::wording::quantity;
use crate::cli::client::{Client, ClientOptions};
use crate::cli::output::say;
use crate::cli::record_scope::RecordScope;
use crate::tools::notes::forget::MemoryForget;
use crate::tools::tool::Tool as _;

/// What goes. All that is given must hold of a record.
#[derive(Debug, Args)]
#[command(
    after_help = "A topic (--about) and ids name notes, too, unless a window, a source, a map \
    or an area is given: those are of observations alone. Frames of these that wait for a caption \
    go as well. Memos and sessions: engram call memo_delete, engram call session_delete."
)]
pub(super) struct Flags {
    /// Records (12, #12 or 12-40) and notes (their UUIDs)
    ids: Vec<String>,
    /// Notes about this topic, records that show this
    #[arg(long, value_name = "TOPIC")]
    about: Option<String>,
    #[command(flatten)]
    scope: RecordScope,
    /// Only list what would go
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Remove it without being asked
    #[arg(long)]
    yes: bool,
}

/// As many ids as one call takes.
const IDS_MAX: u64 = 1_000;
/// Things that are listed before somebody is asked; with `--dry-run` all are.
const LISTED_MAX: usize = 20;

/// Lists, asks and removes exactly what it listed, for good.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let wanted = arguments(flags)?;
    let mut client = Client::connect(socket, options)?;
    let named = Named::of(&forget(&mut client, &wanted, ("dry_run", json!(true)))?.0);
    let listed = if flags.dry_run { usize::MAX } else { LISTED_MAX };
    named.lines.iter().take(listed).try_for_each(|line| say(line))?;
    if named.lines.len() > listed {
        say(&format!("and {} more, which --dry-run lists", named.lines.len() - listed))?;
    }
    if named.is_nothing() || flags.dry_run {
        say(&format!("{}; nothing was removed", named.counts()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !flags.yes && !agrees(&named)? {
        say("nothing was removed")?;
        return Ok(ExitCode::FAILURE);
    }
    let mut wanted = wanted;
    wanted.insert("confirm".to_owned(), json!(named.lines.len()));
    let (_, said) = forget(&mut client, &wanted, ("token", json!(named.token)))?;
    say(said.lines().next().unwrap_or_default())?;
    Ok(ExitCode::SUCCESS)
}

/// Asks whoever sits there for the number: a yes is typed too easily.
fn agrees(named: &Named) -> anyhow::Result<bool> {
    anyhow::ensure!(
        io::stdin().is_terminal(),
        "{} would be removed, and nobody can be asked: give --yes, or --dry-run to list them \
         all; nothing was removed",
        named.counts()
    );
    let number = named.lines.len() + named.frames;
    let mut out = io::stdout().lock();
    write!(out, "{} would be removed for good. Type {number} to do it: ", named.counts())?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == number.to_string())
}

/// One call; its reply, and that as text.
fn forget(
    client: &mut Client,
    wanted: &Map<String, Value>,
    (name, value): (&str, Value),
) -> anyhow::Result<(Map<String, Value>, String)> {
    let mut arguments = wanted.clone();
    arguments.insert(name.to_owned(), value);
    let reply = client.call(MemoryForget::NAME, arguments)?;
    anyhow::ensure!(!reply.is_error, "{}", reply.text);
    Ok((reply.structured, reply.text))
}

/// The arguments that say what goes.
fn arguments(flags: &Flags) -> anyhow::Result<Map<String, Value>> {
    let mut arguments = flags.scope.arguments()?;
    let is_of_records = !arguments.is_empty();
    anyhow::ensure!(
        is_of_records || flags.about.is_some() || !flags.ids.is_empty(),
        "there is nothing to go by; accepted are ids, --about, --since, --until, --source, \
         --map-id and --area"
    );
    let scope = if is_of_records { "episodic" } else { "all" };
    arguments.insert("scope".to_owned(), json!(scope));
    if let Some(topic) = &flags.about {
        arguments.insert("query".to_owned(), json!(topic));
    }
    if !flags.ids.is_empty() {
        arguments.insert("ids".to_owned(), json!(each_id(&flags.ids)?));
    }
    Ok(arguments)
}

/// The ids with those of ranges one by one.
fn each_id(ids: &[String]) -> anyhow::Result<BTreeSet<String>> {
    let mut each = BTreeSet::new();
    for id in ids {
        match receipts::range(id) {
            Some((first, last)) if last.0 - first.0 < IDS_MAX => {
                each.extend((first.0..=last.0).map(|number| number.to_string()));
            }
            Some(_) => anyhow::bail!(
                "{id:?} has more than {IDS_MAX} records; accepted are as many, or --since and --until"
            ),
            None => drop(each.insert(id.clone())),
        }
    }
    Ok(each)
}

/// What a dry run named.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    /// A line each.
    lines: Vec<String>,
    records: usize,
    /// Without a caption.
    frames: usize,
    token: String,
}

impl Named {
    fn of(reply: &Map<String, Value>) -> Self {
        let mut named = Self::default();
        for item in reply.get("items").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
            let id = match item.get("id").and_then(Value::as_u64) {
                Some(record) => {
                    named.records += 1;
                    format!("#{record}")
                }
                None => text("id").to_owned(),
            };
            named.lines.push(format!("{id} {} {}", text("time"), text("text").replace('\n', " ")));
        }
        let frames = reply.get("frames").and_then(Value::as_u64).unwrap_or(0);
        named.frames = usize::try_from(frames).unwrap_or(usize::MAX);
        let token = reply.get("token").and_then(Value::as_str);
        token.unwrap_or_default().clone_into(&mut named.token);
        named
    }

    fn is_nothing(&self) -> bool {
        self.lines.is_empty() && self.frames == 0
    }

    /// `1 note, 12 records and 2 frames without a caption`
    fn counts(&self) -> String {
        let notes = quantity(self.lines.len() - self.records, "note");
        let records = quantity(self.records, "record");
        let frames = quantity(self.frames, "frame");
        format!("{notes}, {records} and {frames} without a caption")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn arguments_of(line: &[&str]) -> Result<Value, String> {
        let line = Line::try_parse_from(["purge"].iter().chain(line));
        let line = line.map_err(|error| error.to_string())?;
        arguments(&line.flags).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn notes_go_by_topic_and_id_and_observations_by_when_and_where() {
        let all = json!({"scope": "all", "query": "the door"});
        assert_eq!(arguments_of(&["--about", "the door"]), Ok(all));
        let ids = json!({"scope": "all", "ids": ["12", "7", "8", "a"]});
        assert_eq!(arguments_of(&["7-8", "#12", "a"]), Ok(ids));
        let place = json!({"scope": "episodic", "source": "front", "start_time": "-2h",
            "area": {"x": 1.5, "y": -3.0, "radius": 2.0}});
        let line = ["--source", "front", "--since", "-2h", "--area", "1.5,-3,2"];
        assert_eq!(arguments_of(&line), Ok(place));
    }

    #[test]
    fn what_names_nothing_or_too_much_is_refused() {
        for (line, why) in [
            (&[][..], "nothing to go by"),
            (&["--area", "1,2"], "three numbers"),
            (&["1-1001"], "more than 1000"),
            (&["7", "--yes", "--dry-run"], "cannot be used with"),
        ] {
            let error = arguments_of(line).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        arguments_of(&["1-1000"]).unwrap();
    }
}
