//! `engram demo`: a simulated flat's three days captioned, remembered and asked
//! about, by a real daemon over its real socket; leaves nothing behind.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::client::{Client, ClientReply};
use crate::cli::output::say;
use crate::cli::own_daemon::OwnDaemon;
use crate::cli::{Common, ingest, places};
use crate::config::{Config, Places};
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::ingest::observe::Observe;
use crate::tools::moment_retrieval::retrieve_from_text_with_time::RetrieveFromTextWithTime;
use crate::tools::object_retrieval::get_record_count::GetRecordCount;
use crate::tools::object_retrieval::recall_best_match::RecallBestMatch;
use crate::tools::object_retrieval::recall_last_seen::RecallLastSeen;
use crate::tools::tool::Tool as _;

/// The frames, under the captioner that was trained for such scenes.
const FRAMES: &str = "household-captioner/flat";

/// A question in a person's words, and the call that an agent makes of it.
struct DemoQuestion {
    words: &'static str,
    tool: &'static str,
    arguments: fn() -> Value,
}

const QUESTIONS: &[DemoQuestion] = &[
    DemoQuestion {
        words: "Where are my keys?",
        tool: RecallLastSeen::NAME,
        arguments: || json!({"query": "a set of keys"}),
    },
    DemoQuestion {
        words: "Where did I leave the red mug?",
        tool: RecallLastSeen::NAME,
        arguments: || json!({"query": "red mug"}),
    },
    DemoQuestion {
        words: "What lay on the desk on the morning of the second day?",
        tool: RecallBestMatch::NAME,
        arguments: || {
            json!({"query": "things on the desk in the office", "k": 3,
                "search_start_time": "2025-01-02 06:00:00", "search_end_time": "2025-01-02 12:00:00"})
        },
    },
    DemoQuestion {
        words: "When was somebody cooking?",
        tool: RetrieveFromTextWithTime::NAME,
        arguments: || {
            json!({"x": "a person cooking in the kitchen", "k": 2,
                "start_time": "2025-01-01 00:00:00", "end_time": "2025-01-03 23:59:59"})
        },
    },
    DemoQuestion {
        words: "How often did you look around on the third day?",
        tool: GetRecordCount::NAME,
        arguments: || json!({"search_start_time": "2025-01-03 00:00:00", "search_end_time": "2025-01-03 23:59:59"}),
    },
    DemoQuestion {
        words: "Remember: the door code changed to 4711.",
        tool: Observe::NAME,
        arguments: || {
            json!({"caption": "the door code changed to 4711", "time": "2025-01-03 21:30:00",
                "source": "owner"})
        },
    },
    DemoQuestion {
        words: "What is the code of the door?",
        tool: RecallBestMatch::NAME,
        arguments: || json!({"query": "what is the door code", "k": 1}),
    },
    DemoQuestion {
        words: "Where is my umbrella?",
        tool: RecallLastSeen::NAME,
        arguments: || json!({"query": "an umbrella"}),
    },
];

/// Runs the demonstration; fails when any part of it does.
pub(super) fn run(common: &Common) -> anyhow::Result<ExitCode> {
    let places = places()?;
    let config = common.load()?;
    let frames = frames_dir(&config, &places)?;
    let state = tempfile::tempdir().context("no temporary directory")?;
    say("engram demo: three days in a simulated flat, on this machine alone\n")?;
    let started = SystemClock.tick();
    let daemon = OwnDaemon::start(common, &places.program, state.path())?;
    let mut client = daemon.connect()?;
    let seconds = started.elapsed().as_secs_f64();
    say(&format!("  daemon     answered after {seconds:.2} s"))?;
    show_models(&mut client)?;
    say(&format!("\nIngesting {}", frames.display()))?;
    let report = ingest::send(&mut client, &ingest::Flags::of(frames))?;
    say(report.to_string().trim_end())?;
    for question in QUESTIONS {
        ask(&mut client, question)?;
    }
    drop(client);
    daemon.stop()?;
    let left = state.path().to_owned();
    state.close().context("the temporary directory was not removed")?;
    say(&format!("\nThe daemon has stopped, and {} is gone.", left.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn frames_dir(config: &Config, places: &Places) -> anyhow::Result<PathBuf> {
    let looked = config.models_dirs(places);
    let found = looked.iter().map(|dir| dir.join(FRAMES)).find(|dir| dir.is_dir());
    found.with_context(|| format!("the frames of the demonstration are in none of {looked:?}"))
}

fn show_models(client: &mut Client) -> anyhow::Result<()> {
    let stats = client.call(MemoryStats::NAME, Map::new())?.structured;
    for model in ["captioner", "embedder"] {
        let name = stats.get(model).and_then(|it| it.get("name")).and_then(Value::as_str);
        say(&format!("  {model:10} {}", name.unwrap_or("-")))?;
    }
    Ok(())
}

fn ask(client: &mut Client, question: &DemoQuestion) -> anyhow::Result<()> {
    let DemoQuestion { words, tool, arguments } = question;
    let Value::Object(arguments) = arguments() else { bail!("{tool} takes an object") };
    let started = SystemClock.tick();
    let reply = client.call(tool, arguments)?;
    let millis = started.elapsed().as_secs_f64() * 1e3;
    if reply.is_error {
        bail!("{tool} failed: {}", reply.text);
    }
    say(&format!("\n{words}  ({tool}, {millis:.1} ms)"))?;
    for line in answer(&reply) {
        say(&format!("  {line}"))?;
    }
    Ok(())
}

/// The records of a reply with time, place and caption, or its text.
fn answer(reply: &ClientReply) -> Vec<String> {
    let records = reply.structured.get("records").and_then(Value::as_array);
    match records.map(Vec::as_slice) {
        None | Some([]) => vec![reply.text.clone()],
        Some(records) => records.iter().map(record_line).collect(),
    }
}

fn record_line(record: &Value) -> String {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let coordinate =
        |axis: usize| record.get("position").and_then(|it| it.get(axis)).and_then(Value::as_f64);
    let place = match (coordinate(0), coordinate(1)) {
        (Some(x), Some(y)) => format!("at ({x:.1}, {y:.1})"),
        _ => "no place".to_owned(),
    };
    format!("{}  {place:14}  {}", text("time"), text("caption"))
}
