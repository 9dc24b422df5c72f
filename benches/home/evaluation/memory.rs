//! Gives a daemon what the robot saw, and finds out which record holds which frames.
//! The daemon is never told what a frame truly shows.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};

use super::household::{Frame, Household, Position};
use engram::base::caption::Caption;
use engram::cli::client::Client;
use engram::cli::ingest;
use engram::cli::interrupt::Interrupt;

/// A record of the daemon and the frames that it stands for.
#[derive(Debug)]
pub(super) struct Remembered {
    pub(super) id: u64,
    pub(super) caption: String,
    pub(super) position: Option<Position>,
    /// Indexes among the household's frames.
    pub(super) frames: Vec<usize>,
}

/// All records, oldest first.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) records: Vec<Remembered>,
    of_frame: BTreeMap<usize, usize>,
}

impl Memory {
    /// Hands the household's frames in, with `captions` or as images, and waits until
    /// they are remembered.
    pub(super) fn fill(
        client: &mut Client,
        household: &Household,
        captions: Option<&[Caption]>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        match captions {
            Some(captions) => tell(client, household, captions, interrupt)?,
            None => show(client, household)?,
        }
        Self::recount(client, household)
    }

    /// Asks for the record of each frame's moment.
    fn recount(client: &mut Client, household: &Household) -> anyhow::Result<Self> {
        let mut records: BTreeMap<u64, Remembered> = BTreeMap::new();
        for (index, frame) in household.frames.iter().enumerate() {
            let record = record_at(client, frame)?;
            let id = record.get("id").and_then(Value::as_u64).unwrap_or_default();
            let remembered = records.entry(id).or_insert_with(|| Remembered {
                id,
                caption: text(&record, "caption"),
                position: position(&record),
                frames: Vec::new(),
            });
            remembered.frames.push(index);
        }
        Ok(Self::of(records.into_values().collect()))
    }

    pub(super) fn of(records: Vec<Remembered>) -> Self {
        let frames = records.iter().enumerate();
        let of_frame = frames.flat_map(|(at, it)| it.frames.iter().map(move |frame| (*frame, at)));
        let of_frame = of_frame.collect();
        Self { records, of_frame }
    }

    pub(super) fn get(&self, id: u64) -> Option<&Remembered> {
        self.records.iter().find(|it| it.id == id)
    }

    /// The record that stands for a frame.
    pub(super) fn of_frame(&self, frame: usize) -> Option<&Remembered> {
        self.records.get(*self.of_frame.get(&frame)?)
    }
}

/// Half the time between two pictures of a robot that stands still.
const BESIDE_SECONDS: f64 = 0.5;

fn record_at(client: &mut Client, frame: &Frame) -> anyhow::Result<Map<String, Value>> {
    let seconds = frame.time.seconds();
    let (start, end) = (seconds - BESIDE_SECONDS, seconds + BESIDE_SECONDS);
    let arguments =
        json!({"x": "anything", "k": 1, "start_time": start, "end_time": end}).as_object().cloned();
    let reply = client.call("retrieve_from_text_with_time", arguments.unwrap_or_default())?;
    ensure!(!reply.is_error, "the record of {} cannot be read: {}", frame.file, reply.text);
    let records = reply.structured.get("records").and_then(Value::as_array);
    let record = records.and_then(|records| records.first()?.as_object());
    record
        .cloned()
        .with_context(|| format!("the daemon has no record of {}, which was handed in", frame.file))
}

fn tell(
    client: &mut Client,
    household: &Household,
    captions: &[Caption],
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    for (frame, Caption { text, confidence, detections: _ }) in
        household.frames.iter().zip(captions)
    {
        interrupt.check()?;
        let Frame { stamp, position, theta, frame_id, map_id, source, .. } = frame;
        let arguments = json!({
            "caption": text, "confidence": confidence, "time": stamp, "position": position,
            "theta": theta,
            "frame_id": frame_id, "map_id": map_id, "source": source,
        });
        let reply = client.call("observe", arguments.as_object().cloned().unwrap_or_default())?;
        ensure!(!reply.is_error, "{} is refused: {}", frame.file, reply.text);
    }
    Ok(())
}

fn show(client: &mut Client, household: &Household) -> anyhow::Result<()> {
    let first = household.frames.first().map(|frame| household.dir.join(&frame.file));
    ensure!(
        first.as_ref().is_some_and(|it| it.is_file()),
        "{} has no images; simulate it with --images",
        household.dir.display()
    );
    let report = ingest::send(client, &ingest::Flags::of(household.dir.clone()))?;
    ensure!(
        report.refused.total() == 0 && report.failed == 0 && report.pending == 0,
        "not all frames were captioned:\n{report}"
    );
    Ok(())
}

fn text(record: &Map<String, Value>, key: &str) -> String {
    record.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// `position` of a record or a goal.
pub(super) fn position(record: &Map<String, Value>) -> Option<Position> {
    serde_json::from_value(record.get("position")?.clone()).ok()
}
