//! What is kept, page by page, as items of an export.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::time::Timestamp;
use crate::memory::memos::ListedMemo;
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::search::listing::{ListOrder, ListPosition};
use crate::store::Record;
use crate::store::notes::Note;
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::{LAYER, filter};
use crate::tools::recall::{END, MAP, SOURCE, START};
use crate::tools::resources::{ParsedReply, image_of};
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::transfer::{
    DetectionItem, FrameItem, Item, MemoItem, NoteItem, RecordItem, StateItem,
};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct Export;

/// Kinds of items; the first where the call does not say.
pub(crate) const KINDS: &[&str] = &["records", "notes", "memos", "states"];

/// Whether items of a kind have what an argument asks for: a note was kept and a memo was added
/// at a time, where the robot then was nobody noted; of a state it is known whose it is.
pub(crate) fn concerns(argument: &str, kind: &str) -> bool {
    match argument {
        "start_time" | "end_time" => kind != "states",
        "agent" => kind == "states",
        _ => kind == "records",
    }
}
/// Bytes of frames after which a page ends.
const FRAMES_BYTES_MAX: usize = 4 << 20;

/// What of which kind, and from where on.
#[derive(Debug)]
pub(crate) struct Request {
    kind: &'static str,
    filter: Filter,
    agent: Option<String>,
    after: Option<u64>,
    limit: usize,
    with_frames: bool,
    with_vectors: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    items: Vec<Value>,
    /// Of the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
}

impl Tool for Export {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "export";
    const TITLE: &'static str = "Export";
    const DESCRIPTION: &'static str = "Items of an export, page by page.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional("kind", Kind::Word { of: KINDS }, "What is exported."),
        START,
        END,
        SOURCE,
        MAP,
        LAYER,
        AREA,
        Param::optional("agent", Kind::Name { bytes_max: 128 }, "Only the state of this agent."),
        Param::optional(
            "cursor",
            Kind::Whole { least: 0, most: i64::MAX, default: 0 },
            "The reply's cursor, for the page after it.",
        ),
        Param::optional(
            "limit",
            Kind::Whole { least: 1, most: 500, default: 200 },
            "Items of a page at most.",
        ),
        Param::optional("frames", Kind::Flag, "Whether records bring their frames."),
        Param::optional("vectors", Kind::Flag, "Whether records bring their vectors."),
    ];

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<Request, ToolError> {
        let after = u64::try_from(args.whole("cursor")?).unwrap_or(0);
        let kind = args.word("kind")?;
        let filters = [START.name, END.name, SOURCE.name, MAP.name, LAYER.name, AREA.name, "agent"];
        if let Some(of_others) = filters.iter().find(|it| args.has(it) && !concerns(it, kind)) {
            let accepted = KINDS.iter().copied().filter(|it| concerns(of_others, it));
            let accepted: Vec<&str> = accepted.collect();
            return Err(argument_error(format!(
                "argument {of_others:?} says nothing of {kind}; accepted is it with {}",
                accepted.join(", ")
            )));
        }
        Ok(Request {
            kind,
            filter: filter(args, context, session)?,
            agent: args.text("agent")?.map(str::to_owned),
            after: (after > 0).then_some(after),
            limit: args.count("limit")?,
            with_frames: args.flag("frames")?,
            with_vectors: args.flag("vectors")?,
        })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let (items, cursor) = match request.kind {
            "records" => records(context, &request)?,
            "notes" => notes(context, &request)?,
            "memos" => memos(context, &request)?,
            "states" => states(context, &request)?,
            other => return Err(argument_error(format!("there are no items {other:?}"))),
        };
        let items: Result<Vec<Value>, _> = items.iter().map(serde_json::to_value).collect();
        Ok(Reply { items: items.map_err(|error| fault(&error))?, cursor })
    }
}

fn fault(error: &dyn std::fmt::Display) -> ToolError {
    ToolError::Fault(error.to_string())
}

/// Some items, and the cursor of the next ones.
type ItemPage = (Vec<Item>, Option<u64>);

fn records(context: &Context, request: &Request) -> Result<ItemPage, ToolError> {
    let Request { filter, after, limit, .. } = request;
    let after = after.map(|id| ListPosition::of_id(RecordId(id)));
    let page = context
        .episodic
        .list(filter, ListOrder::FirstRecorded, after, *limit)
        .map_err(|error| fault(&error))?;
    let (mut items, mut bytes) = (Vec::new(), 0);
    for record in &page.records {
        let item = record_item(context, record, request)?;
        bytes += item.frame.as_ref().map_or(0, |frame| frame.data.len());
        items.push(Item::Record(Box::new(item)));
        if bytes >= FRAMES_BYTES_MAX && items.len() < page.records.len() {
            return Ok((items, Some(record.id.0)));
        }
    }
    Ok((items, page.end.filter(|_| page.has_more).map(|it| it.id.0)))
}

fn record_item(
    context: &Context,
    record: &Record,
    request: &Request,
) -> Result<RecordItem, ToolError> {
    let image = if request.with_frames { image_of(context, record)? } else { None };
    let vector = if request.with_vectors {
        let vector = context.episodic.vector(record.id).map_err(|error| fault(&error))?;
        vector.map(|it| it.as_slice().to_vec()).unwrap_or_default()
    } else {
        Vec::new()
    };
    let Record { id, meta, end_at, caption, parsed, confidence, detections, layer, image: _ } =
        record;
    Ok(RecordItem {
        id: id.0,
        time: meta.taken_at.rfc3339(),
        end_time: end_at.rfc3339(),
        caption: caption.clone(),
        confidence: *confidence,
        position: meta.pose.map(|pose| pose.position),
        theta: meta.pose.and_then(|pose| pose.heading),
        frame_id: meta.frame_id.clone(),
        map_id: meta.map_id.clone(),
        source: meta.source.clone(),
        layer: layer.clone(),
        detections: detections.iter().map(DetectionItem::of).collect(),
        parsed: serde_json::to_value(ParsedReply::of(parsed)).map_err(|error| fault(&error))?,
        vector,
        frame: image.map(|image| FrameItem {
            mime: image.mime.to_owned(),
            data: BASE64.encode(&image.bytes),
        }),
    })
}

fn notes(context: &Context, request: &Request) -> Result<ItemPage, ToolError> {
    let mut notes = context.notes.all().map_err(|error| fault(&error))?;
    notes.retain(|it| request.filter.window.touches(it.saved_at, it.saved_at));
    // They come by ids that are random: the cursor counts.
    let from = usize::try_from(request.after.unwrap_or(0)).unwrap_or(usize::MAX);
    let to = from.saturating_add(request.limit);
    let cursor = (to < notes.len()).then_some(to as u64);
    let item = |note: Note| {
        let Note { id, text, area, metadata, saved_at, expires_at } = note;
        Item::Note(NoteItem {
            id: id.to_string(),
            text,
            area,
            metadata: serde_json::from_str(&metadata).unwrap_or_default(),
            time: saved_at.rfc3339(),
            expires: expires_at.map(Timestamp::rfc3339),
        })
    };
    Ok((notes.into_iter().skip(from).take(request.limit).map(item).collect(), cursor))
}

fn memos(context: &Context, request: &Request) -> Result<ItemPage, ToolError> {
    let listed = context.memos.list(request.after, request.limit);
    let listed = listed.map_err(|error| fault(&error))?;
    let last = listed.last().map(|it| it.memo.id);
    let cursor = last.filter(|id| listed.len() == request.limit && *id > 1);
    let item = |ListedMemo { memo, .. }: ListedMemo| {
        Item::Memo(MemoItem {
            id: memo.id,
            memo: memo.content,
            user_message: memo.user_message,
            message_ids: memo.message_ids,
            source: memo.source,
            time: memo.created_at.rfc3339(),
        })
    };
    let window = request.filter.window;
    let is_meant = |it: &ListedMemo| window.touches(it.memo.created_at, it.memo.created_at);
    Ok((listed.into_iter().filter(is_meant).map(item).collect(), cursor))
}

fn states(context: &Context, request: &Request) -> Result<ItemPage, ToolError> {
    let mut items = Vec::new();
    let agents = context.state.agents().map_err(|error| fault(&error))?;
    let is_meant = |it: &String| request.agent.as_ref().is_none_or(|agent| agent == it);
    for agent in agents.into_iter().filter(is_meant) {
        let memory = context.state.get(&agent).map_err(|error| fault(&error))?;
        items.push(Item::State(StateItem { agent, memory }));
    }
    Ok((items, None))
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&format!("{} items", self.items.len()));
    }
}
