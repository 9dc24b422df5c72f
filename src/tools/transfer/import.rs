//! Items of an export, kept in this memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::base::caller::{Role, Roles};
use crate::base::caption::Caption;
use crate::base::frame::FrameMeta;
use crate::base::picture;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::memory::episodic::MemoryError;
use crate::retrieval::sessions::SessionName;
use crate::store::StoreError;
use crate::store::import::ImportedRecord;
use crate::store::memos::Memo;
use crate::store::notes::Note;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::transfer::{Item, MemoItem, NoteItem, RecordItem, StateItem};
use crate::tools::{Hints, ToolError, Toolset, memos, notes, state};

pub(crate) struct Import;

/// Lines of one call, and their bytes together: they come in one line of the socket.
pub(crate) const LINES_MAX: usize = 200;
pub(crate) const BYTES_MAX: usize = 24 << 20;

/// What is to be kept, checked.
#[derive(Debug)]
pub(crate) enum Checked {
    Record(Box<ImportedRecord>),
    Other(Other),
}

/// What is kept one by one.
#[derive(Debug)]
pub(crate) enum Other {
    Note(Note),
    Memo(Memo),
    State(StateItem),
}

#[derive(Serialize, JsonSchema, Default)]
pub(crate) struct Reply {
    records: usize,
    notes: usize,
    memos: usize,
    states: usize,
    /// What was there already.
    known: usize,
}

impl Tool for Import {
    type Context = Context;
    type Request = Vec<Checked>;
    type Reply = Reply;

    const NAME: &'static str = "import";
    const TITLE: &'static str = "Import";
    const DESCRIPTION: &'static str = "Keeps items of an export.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::ADDS;
    // What comes claims when it was seen, and replaces states.
    const ROLES: Roles = Roles::of(&[Role::Admin]);
    const PARAMS: &'static [Param] = &[Param::required(
        "lines",
        Kind::Texts { most: LINES_MAX, bytes_max: BYTES_MAX },
        "Items, each a text of JSON.",
    )];

    fn parse(
        args: &Args,
        context: &Context,
        _: SessionName<'_>,
    ) -> Result<Vec<Checked>, ToolError> {
        let lines = args.texts("lines")?;
        let checked = lines.iter().enumerate().map(|(at, line)| {
            check(context, line)
                .map_err(|wrong| argument_error(format!("item {}: {wrong}", at + 1)))
        });
        checked.collect()
    }

    fn run(context: &Context, _: SessionName<'_>, items: Vec<Checked>) -> Result<Reply, ToolError> {
        let (mut records, mut others) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Checked::Record(record) => records.push(*record),
                Checked::Other(other) => others.push(other),
            }
        }
        let mut reply = Reply::default();
        // In one commit: each waits for the disk.
        let kept = context.episodic.import(&records).map_err(|error| record_refusal(&error))?;
        reply.records = kept.len();
        reply.known = records.len() - kept.len();
        for other in others {
            reply.keep(context, other)?;
        }
        Ok(reply)
    }
}

/// An item that can be kept, or what is wrong with it in one sentence.
fn check(context: &Context, line: &str) -> Result<Checked, String> {
    let item = serde_json::from_str(line).map_err(|error| {
        format!("it is no item of an export: {error}; accepted are lines of `engram export`")
    })?;
    Ok(match item {
        Item::Record(record) => Checked::Record(Box::new(record_of(context, *record)?)),
        Item::Note(note) => Checked::Other(Other::Note(note_of(note)?)),
        Item::Memo(memo) => Checked::Other(Other::Memo(memo_of(memo)?)),
        Item::State(state) => Checked::Other(Other::State(state)),
    })
}

fn time(field: &str, text: &str) -> Result<Timestamp, String> {
    Timestamp::from_rfc3339(text).ok_or_else(|| {
        format!("{field:?} is {text:?}; accepted is RFC 3339 such as \"2025-01-03T09:14:07Z\"")
    })
}

fn record_of(context: &Context, item: RecordItem) -> Result<ImportedRecord, String> {
    let taken_at = time("time", &item.time)?;
    let pose = item.position.map(|position| Pose::new(position, item.theta));
    let pose = pose.transpose().map_err(|error| error.to_string())?;
    let RecordItem { frame_id, map_id, source, caption, confidence, layer, .. } = item;
    let meta = FrameMeta { taken_at, pose, frame_id, map_id, source };
    meta.check().map_err(|error| error.to_string())?;
    if caption.trim().is_empty() {
        return Err("\"caption\" is empty; accepted is a text".to_owned());
    }
    let confidence_range = confidence.filter(|it| !(0.0..=1.0).contains(it));
    if let Some(wrong) = confidence_range {
        return Err(format!("\"confidence\" is {wrong}; accepted is a number from 0 to 1"));
    }
    let image = match item.frame {
        None => None,
        Some(frame) => {
            let bytes = BASE64.decode(&frame.data);
            let bytes = bytes.map_err(|error| format!("\"frame\" is no base64: {error}"))?;
            picture::check(&bytes, context.options.image_limits)
                .map_err(|error| format!("\"frame\": {error}"))?;
            Some(bytes)
        }
    };
    let detections = item.detections.iter().map(super::DetectionItem::to_found).collect();
    Ok(ImportedRecord {
        meta,
        end_at: time("end_time", &item.end_time)?,
        caption: Caption { text: caption, confidence, detections },
        layer,
        image,
    })
}

fn note_of(item: NoteItem) -> Result<Note, String> {
    let NoteItem { id, text, area, metadata, time: saved, expires } = item;
    Ok(Note {
        id: Uuid::parse_str(&id)
            .map_err(|_no_id| format!("\"id\" is {id:?}; accepted is a UUID"))?,
        text,
        area,
        metadata: serde_json::Value::Object(metadata).to_string(),
        saved_at: time("time", &saved)?,
        expires_at: expires.map(|at| time("expires", &at)).transpose()?,
    })
}

fn memo_of(item: MemoItem) -> Result<Memo, String> {
    let MemoItem { id, memo, user_message, message_ids, source, time: made } = item;
    let created_at = time("time", &made)?;
    Ok(Memo { id, content: memo, created_at, source, user_message, message_ids })
}

/// What of an item is beyond a bound is the caller's, and no room is nobody's fault.
fn record_refusal(error: &MemoryError) -> ToolError {
    let is_refusal = matches!(
        error,
        MemoryError::Store(StoreError::TooLong { .. } | StoreError::ImagesFull { .. })
    );
    if is_refusal { ToolError::Refused(error.to_string()) } else { ToolError::of_failure(error) }
}

impl Reply {
    fn keep(&mut self, context: &Context, item: Other) -> Result<(), ToolError> {
        let (count, is_new) = match item {
            Other::Note(note) => {
                let is_new = context.notes.import(note);
                (&mut self.notes, is_new.map_err(|error| notes::refusal(&error))?)
            }
            Other::Memo(memo) => {
                let kept = context.memos.import(memo);
                (&mut self.memos, kept.map_err(|error| memos::refusal(&error))?.is_some())
            }
            Other::State(StateItem { agent, memory }) => {
                let refusal = state::refusal_of("lines");
                let held = context.state.get(&agent).map_err(&refusal)?;
                let is_new = held != memory;
                if is_new {
                    context.state.set(&agent, &memory).map_err(&refusal)?;
                }
                (&mut self.states, is_new)
            }
        };
        if is_new {
            *count += 1;
        } else {
            self.known += 1;
        }
        Ok(())
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { records, notes, memos, states, known } = self;
        text.line(&format!(
            "{records} records, {notes} notes, {memos} memos and {states} states; {known} were there"
        ));
    }

    fn changed(&self) -> Option<Changed> {
        let Self { records, notes, memos, states, known: _ } = self;
        Some(Changed { count: records + notes + memos + states, ids: Vec::new() })
    }
}
