//! `inspect_memory_record` and `get_record_count_within_time_range`: the stored
//! frames themselves, and how many records a window holds.

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::picture::Encoding;
use crate::base::time::Window;
use crate::search::Filter;
use crate::store::Record;
use crate::tools::args::{Args, Kind, Param, TimeReading, refused};
use crate::tools::context::Context;
use crate::tools::reply::{self, Text};
use crate::tools::{Image, ToolError, ToolReply};

/// Images are large: more at once than a model can look at help nobody.
const RECORDS_MAX: usize = 8;

pub(crate) const INSPECT: &[Param] = &[Param::optional(
    "record_ids",
    Kind::RecordIds { most: RECORDS_MAX },
    "Ids of the records to look at; the first of the working memory where absent.",
)];

pub(crate) const COUNT: &[Param] = &[
    Param::optional("search_start_time", Kind::Time, "Start of the window, inclusive."),
    Param::optional("search_end_time", Kind::Time, "End of the window, inclusive."),
];

/// The records' frames as images, in the order asked for. Without ids these are
/// the first of the session's working memory.
pub(crate) fn inspect(
    context: &Context,
    session: &str,
    mut ids: Vec<RecordId>,
) -> Result<ToolReply, ToolError> {
    if ids.is_empty() {
        ids = context.retrieval.session(session).working_memory;
        ids.truncate(RECORDS_MAX);
    }
    if ids.is_empty() {
        return Err(refused(format!(
            "argument \"record_ids\" is missing and the working memory of this session is empty; \
             accepted are 1 to {RECORDS_MAX} record ids, or none after a recall"
        )));
    }
    let fault = |error: crate::memory::episodic::MemoryError| ToolError::Fault(error.to_string());
    let records = context.episodic.records(&ids).map_err(fault)?;
    let known = |id: &RecordId| records.iter().any(|record| record.id == *id);
    let missing: Vec<u64> = ids.iter().filter(|id| !known(id)).map(|id| id.0).collect();
    if records.is_empty() {
        return Err(refused(format!(
            "argument \"record_ids\" is {missing:?}, none of which exists; {}",
            reply::holdings(context)
        )));
    }
    let zone = context.options.zone;
    let mut text = Text::new(context.options.text_max_chars);
    let mut images = Vec::new();
    let mut shown = Vec::new();
    for record in &records {
        let image = image_of(context, record)?;
        let note = if image.is_some() { "" } else { " (no image kept)" };
        text.line(&format!("{}{note}", reply::line(record, None, zone)));
        let mut json = reply::record_json(record, zone);
        if image.is_none() {
            json.insert("image".to_owned(), Value::Null);
        }
        shown.push(Value::Object(json));
        images.extend(image);
    }
    if !missing.is_empty() {
        text.line(&format!("no such records: {missing:?}"));
    }
    let mut structured = Map::new();
    structured.insert("records".to_owned(), Value::Array(shown));
    structured.insert("not_found".to_owned(), json!(missing));
    Ok(ToolReply { structured, text: text.finish(), images })
}

/// The frame behind `engram://frames/ID`, where ID is a record's id.
pub(crate) fn resource(context: &Context, uri: &str) -> Result<Option<Image>, ToolError> {
    let id = uri.strip_prefix(reply::FRAME_URI).and_then(|id| id.parse().ok()).map(RecordId);
    let Some(id) = id else { return Ok(None) };
    let records =
        context.episodic.records(&[id]).map_err(|error| ToolError::Fault(error.to_string()))?;
    match records.first() {
        Some(record) => image_of(context, record),
        None => Ok(None),
    }
}

fn image_of(context: &Context, record: &Record) -> Result<Option<Image>, ToolError> {
    let Some(ticket) = record.image else { return Ok(None) };
    let bytes =
        context.episodic.image(ticket).map_err(|error| ToolError::Fault(error.to_string()))?;
    Ok(bytes.and_then(|bytes| Encoding::of(&bytes).map(|it| Image { mime: it.mime(), bytes })))
}

pub(crate) fn window(args: &Args, reading: TimeReading) -> Result<Window, ToolError> {
    args.window("search_start_time", "search_end_time", reading)
}

/// How many records touch the window.
pub(crate) fn count(context: &Context, window: Window) -> ToolReply {
    let count = context.episodic.count(&Filter { window, ..Filter::default() });
    let mut structured = Map::new();
    structured.insert("count".to_owned(), json!(count));
    let text = if count == 0 {
        let reason = reply::nothing_within(context, &window);
        structured.insert("why_empty".to_owned(), json!(reason));
        format!("0 records: {reason}.")
    } else {
        format!("{count} records.")
    };
    ToolReply { structured, text, images: Vec::new() }
}
