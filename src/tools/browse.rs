//! What an operator looks at and no model is offered: sessions, frames that wait for their caption
//! and frames that got none, page by page. Called like a tool and listed nowhere.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::FrameTicket;
use crate::base::caller::{Role, Roles};
use crate::base::frame::FrameMeta;
use crate::base::time::Zone;
use crate::retrieval::sessions::{ListedSession, SessionName};
use crate::store::{PendingFrame, SetAside, StoreError};
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct Browse;

/// Kinds of items; the first where the call does not say.
const KINDS: &[&str] = &["sessions", "waiting", "set_aside"];

/// What of which kind, and from where on.
#[derive(Debug)]
pub(crate) struct Request {
    kind: &'static str,
    after: Option<u64>,
    limit: usize,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    items: Vec<Value>,
    /// Of the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
}

/// A session, as far as somebody wants to see what an agent is at.
#[derive(Serialize)]
struct SessionItem {
    name: String,
    /// User that owns it; null of the daemon's own.
    user: Option<u32>,
    used: String,
    /// Named by its caller, and so kept beyond its connection.
    is_kept: bool,
    task: Option<String>,
    recalled: Option<String>,
    /// Records of the working memory.
    records: usize,
    target: Option<String>,
    /// Goals of its search, and how many were visited.
    goals: usize,
    visited: usize,
    /// Calls of its model that are remembered.
    steps: usize,
}

/// A frame that is no record.
#[derive(Serialize)]
struct FrameItem {
    frame: u64,
    time: String,
    source: String,
    map_id: String,
    position: Option<[f64; 3]>,
    /// How often the captioner had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    /// Why it got no caption.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Tool for Browse {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "browse";
    const TITLE: &'static str = "Browse";
    const DESCRIPTION: &'static str = "Sessions and frames without a caption, page by page.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional("kind", Kind::Word { of: KINDS }, "What is looked at."),
        Param::optional(
            "cursor",
            Kind::Whole { least: 0, most: i64::MAX, default: 0 },
            "The reply's cursor, for the page after it.",
        ),
        Param::optional(
            "limit",
            Kind::Whole { least: 1, most: 500, default: 100 },
            "Items of a page at most.",
        ),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let after = u64::try_from(args.whole("cursor")?).unwrap_or(0);
        let after = (after > 0).then_some(after);
        Ok(Request { kind: args.word("kind")?, after, limit: args.count("limit")? })
    }

    fn run(context: &Context, own: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { kind, after, limit } = request;
        let zone = context.options.zone;
        let failed = |error: StoreError| ToolError::of_failure(&error);
        let after_frame = after.map(FrameTicket);
        if kind == "sessions" {
            let sessions = context.retrieval.sessions_of(own.caller);
            let start = usize::try_from(after.unwrap_or(0)).unwrap_or(usize::MAX);
            let shown = sessions.iter().skip(start).take(limit);
            let end = start.saturating_add(limit);
            let cursor = (sessions.len() > end).then_some(end as u64);
            return page(shown.map(|it| SessionItem::of(it, zone)), cursor);
        }
        // One more than is shown: whether there is a next page.
        if kind == "waiting" {
            let frames = context.ingest.waiting(after_frame, limit + 1).map_err(failed)?;
            let cursor = last_of(&frames, limit, |it| it.ticket);
            return page(frames.iter().take(limit).map(|it| FrameItem::waiting(it, zone)), cursor);
        }
        let frames = context.ingest.set_aside(after_frame, limit + 1).map_err(failed)?;
        let cursor = last_of(&frames, limit, |it| it.ticket);
        page(frames.iter().take(limit).map(|it| FrameItem::set_aside(it, zone)), cursor)
    }
}

fn page(
    items: impl Iterator<Item = impl Serialize>,
    cursor: Option<u64>,
) -> Result<Reply, ToolError> {
    let items: Result<Vec<Value>, _> = items.map(serde_json::to_value).collect();
    Ok(Reply { items: items.map_err(|error| ToolError::Fault(error.to_string()))?, cursor })
}

/// The last that is shown, where there are more.
fn last_of<T>(frames: &[T], limit: usize, ticket: impl Fn(&T) -> FrameTicket) -> Option<u64> {
    frames.get(limit)?;
    frames.get(limit - 1).map(|it| ticket(it).0)
}

impl SessionItem {
    fn of(listed: &ListedSession, zone: Zone) -> Self {
        let ListedSession { name, user, used_at, is_kept, session } = listed;
        let search = session.search.as_ref();
        Self {
            name: name.clone(),
            user: *user,
            used: zone.format(*used_at),
            is_kept: *is_kept,
            task: session.task.as_ref().map(|it| it.text.clone()),
            recalled: session.recalled.as_ref().map(|it| it.query.clone()),
            records: session.working_memory.len(),
            target: session.target.as_ref().map(|it| it.desc.clone()),
            goals: search.map_or(0, |it| it.goals.len()),
            visited: search.map_or(0, |it| it.visited),
            steps: session.steps.len(),
        }
    }
}

impl FrameItem {
    fn of(ticket: FrameTicket, meta: &FrameMeta, zone: Zone) -> Self {
        Self {
            frame: ticket.0,
            time: zone.format(meta.taken_at),
            source: meta.source.clone(),
            map_id: meta.map_id.clone(),
            position: meta.pose.map(|it| it.position),
            attempts: None,
            reason: None,
        }
    }

    fn waiting(frame: &PendingFrame, zone: Zone) -> Self {
        Self { attempts: Some(frame.attempts), ..Self::of(frame.ticket, &frame.meta, zone) }
    }

    fn set_aside(frame: &SetAside, zone: Zone) -> Self {
        let reason = Some(frame.reason.clone());
        Self { reason, ..Self::of(frame.ticket, &frame.meta, zone) }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        for item in &self.items {
            text.line(&item.to_string());
        }
    }
}
