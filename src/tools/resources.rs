//! The resources: each record with all that is kept of it, and its frame.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::picture::thumbnail::shrink;
use crate::base::picture::{BadImage, Encoding};
use crate::language::caption::{ParsedCaption, ParsedThing, Presence};
use crate::language::place::Spot;
use crate::search::Filter;
use crate::search::listing::{ListOrder, ListPosition};
use crate::store::Record;
use crate::tools::context::Context;
use crate::tools::record::RecordReply;
use crate::tools::reply::{FRAME_URI, RECORD_URI, SPOOL_URI};
use crate::tools::{Image, Resource, ResourcePage, ResourceSpec, ToolError};

/// They show what the memory holds.
pub(crate) const ROLES: Roles = Roles::of(&[Role::Read]);

/// Records of a page; each has its frame beside it.
const PAGE_RECORDS: usize = 100;
/// Completions of an id, as MCP bounds them.
const COMPLETIONS_MAX: usize = 100;
/// Longest edge that a frame may be asked for in, in pixels.
const EDGES: std::ops::RangeInclusive<u32> = 16..=4_096;

/// The resource of this address; `None` where there is none.
pub(crate) fn read(context: &Context, uri: &str) -> Result<Option<Resource>, ToolError> {
    let (path, query) = uri.split_once('?').map_or((uri, None), |(path, it)| (path, Some(it)));
    if let Some(id) = path.strip_prefix(FRAME_URI) {
        let edge = query.map(max_edge).transpose()?;
        return Ok(frame(context, id, edge)?.map(Resource::Image));
    }
    if let Some(number) = path.strip_prefix(SPOOL_URI) {
        let edge = query.map(max_edge).transpose()?;
        return Ok(spooled_frame(context, number, edge)?.map(Resource::Image));
    }
    match path.strip_prefix(RECORD_URI) {
        Some(id) if query.is_none() => Ok(find(context, id)?.map(|it| whole(context, &it))),
        Some(_) | None => Ok(None),
    }
}

/// `max_edge=320`
fn max_edge(query: &str) -> Result<u32, ToolError> {
    let edge = query.strip_prefix("max_edge=").and_then(|edge| edge.parse().ok());
    edge.filter(|edge| EDGES.contains(edge)).ok_or_else(|| {
        ToolError::Argument(format!(
            "the query of the address is {query:?}; accepted is max_edge, the longest edge in \
             pixels, from {} to {}: {FRAME_URI}42?max_edge=320",
            EDGES.start(),
            EDGES.end()
        ))
    })
}

fn find(context: &Context, id: &str) -> Result<Option<Record>, ToolError> {
    let Ok(id) = id.parse().map(RecordId) else { return Ok(None) };
    let records = context.episodic.records(&[id]);
    Ok(records.map_err(|error| ToolError::of_failure(&error))?.into_iter().next())
}

fn frame(context: &Context, id: &str, edge: Option<u32>) -> Result<Option<Image>, ToolError> {
    let Some(record) = find(context, id)? else { return Ok(None) };
    let Some(image) = image_of(context, &record)? else { return Ok(None) };
    let fault = |error: BadImage| ToolError::Fault(format!("the frame of #{id}: {error}"));
    within(context, image, edge).map(Some).map_err(fault)
}

/// The image with its longest edge no longer than that.
fn within(context: &Context, image: Image, edge: Option<u32>) -> Result<Image, BadImage> {
    let Some(edge) = edge else { return Ok(image) };
    let shrunk = shrink(&image.bytes, edge, context.options.image_limits)?;
    Ok(shrunk.map_or(image, |bytes| Image { mime: Encoding::Jpeg.mime(), bytes }))
}

/// A frame that waits for its caption or got none. A broken one is shown as it came.
fn spooled_frame(
    context: &Context,
    number: &str,
    edge: Option<u32>,
) -> Result<Option<Image>, ToolError> {
    let Ok(ticket) = number.parse().map(FrameTicket) else { return Ok(None) };
    let is_spooled = context.ingest.is_without_caption(ticket);
    if !is_spooled.map_err(|error| ToolError::of_failure(&error))? {
        return Ok(None);
    }
    let bytes = context.episodic.image(ticket).map_err(|error| ToolError::of_failure(&error))?;
    Ok(bytes.and_then(|bytes| {
        let mime = Encoding::of(&bytes)?.mime();
        let image = Image { mime, bytes };
        Some(within(context, image.clone(), edge).unwrap_or(image))
    }))
}

/// A record's frame as it was kept; `None` where none is.
pub(crate) fn image_of(context: &Context, record: &Record) -> Result<Option<Image>, ToolError> {
    let Some(ticket) = record.image else { return Ok(None) };
    let bytes = context.episodic.image(ticket).map_err(|error| ToolError::of_failure(&error))?;
    Ok(bytes.and_then(|bytes| Encoding::of(&bytes).map(|it| Image { mime: it.mime(), bytes })))
}

/// A record with what the captioner found and what was read out of the caption.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WholeRecord {
    #[serde(flatten)]
    record: RecordReply,
    parsed: ParsedReply,
}

/// What a caption says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ParsedReply {
    things: Vec<ThingReply>,
    /// What somebody does: "reading".
    deeds: Vec<String>,
    /// What things stand on or lie in.
    surface: Option<String>,
    room: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ThingReply {
    /// As written, without article.
    phrase: String,
    head: String,
    attributes: Vec<String>,
    presence: &'static str,
    is_person: bool,
}

impl WholeRecord {
    pub(crate) fn of(context: &Context, record: &Record) -> Self {
        let reply = RecordReply::of(record, context.options.zone).with_detections(record);
        Self { record: reply, parsed: ParsedReply::of(&record.parsed) }
    }
}

impl ParsedReply {
    pub(crate) fn of(parsed: &ParsedCaption) -> Self {
        let place = parsed.place.as_ref();
        let phrase = |spot: &Spot| spot.phrase.clone();
        Self {
            things: parsed.things.iter().map(ThingReply::of).collect(),
            deeds: parsed.deeds.iter().map(|it| it.verb.clone()).collect(),
            surface: place.and_then(|it| it.surface.as_ref()).map(phrase),
            room: place.and_then(|it| it.room.as_ref()).map(phrase),
        }
    }
}

impl ThingReply {
    fn of(thing: &ParsedThing) -> Self {
        let ParsedThing { mention, sentence: _, presence, is_person, inside: _ } = thing;
        Self {
            phrase: mention.phrase.clone(),
            head: mention.head.clone(),
            attributes: mention.attributes.iter().map(|it| it.word.clone()).collect(),
            presence: match presence {
                Presence::Shown => "shown",
                Presence::Landmark => "landmark",
                Presence::Guessed => "guessed",
                Presence::Depicted => "depicted",
                Presence::Absent => "absent",
            },
            is_person: *is_person,
        }
    }
}

fn whole(context: &Context, record: &Record) -> Resource {
    // Plain data: maps with keys of text, and no number that JSON has not.
    let json = serde_json::to_string(&WholeRecord::of(context, record));
    Resource::Json(json.unwrap_or_default())
}

/// Records and their frames, newest record first; the cursor is the page's before.
pub(crate) fn list(context: &Context, cursor: Option<&str>) -> Result<ResourcePage, ToolError> {
    let after = cursor.map(|cursor| {
        let position = cursor.parse().ok().map(RecordId);
        position.ok_or_else(|| ToolError::Argument(format!("params.cursor {cursor:?} is unknown")))
    });
    // By id: a record that is gone since keeps its place.
    let after = after.transpose()?.map(ListPosition::of_id);
    let page = context
        .episodic
        .list(&Filter::default(), ListOrder::LastRecorded, after, PAGE_RECORDS)
        .map_err(|error| ToolError::of_failure(&error))?;
    let next = page.end.filter(|_| page.has_more).map(|it| it.id.to_string());
    Ok(ResourcePage { resources: page.records.iter().flat_map(specs_of).collect(), next })
}

fn specs_of(record: &Record) -> impl Iterator<Item = ResourceSpec> {
    let id = record.id;
    let spec = |uri: String, name: String, mime| ResourceSpec {
        uri,
        name,
        description: record.caption.clone(),
        mime,
    };
    let frame = record.image.map(|_| {
        // Its kind is known when it is read.
        spec(format!("{FRAME_URI}{id}"), format!("frame {id}"), None)
    });
    let record =
        spec(format!("{RECORD_URI}{id}"), format!("record {id}"), Some("application/json"));
    [record].into_iter().chain(frame)
}

/// The newest ids of records that begin like this.
pub(crate) fn complete(
    context: &Context,
    template: &str,
    prefix: &str,
) -> Result<Vec<String>, ToolError> {
    if ![FRAME_URI, RECORD_URI].iter().any(|it| template.starts_with(it)) {
        return Err(ToolError::Argument(format!(
            "there is no resource template {template:?}; accepted are {FRAME_URI}{{id}} and \
             {RECORD_URI}{{id}}"
        )));
    }
    if !prefix.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(Vec::new());
    }
    let found = context.episodic.newest_ids_like(prefix, COMPLETIONS_MAX);
    Ok(found.into_iter().map(|id| id.to_string()).collect())
}
