//! What an agent can call: the catalogue, and what each call does.
//!
//! Everything that an agent sees of the memory is decided here: the socket, the
//! bridge, the command line and the tests only carry calls to [`ToolBox`].

pub(crate) mod access;
pub(crate) mod action;
pub(crate) mod admin;
mod area;
pub(crate) mod args;
mod backup;
pub(crate) mod browse;
pub(crate) mod catalog;
pub mod context;
pub mod dispatch;
mod explain;
pub(crate) mod ingest;
pub(crate) mod memos;
pub(crate) mod metrics;
pub(crate) mod moment_retrieval;
pub(crate) mod notes;
pub(crate) mod object_retrieval;
pub(crate) mod recall;
mod record;
pub(crate) mod reply;
mod resources;
mod rooted;
mod schema;
pub(crate) mod state;
pub(crate) mod text;
pub(crate) mod tool;
pub(crate) mod transfer;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::caller::{Caller, Roles};
use crate::base::shortage::Shortage;

pub use metrics::{CallMetrics, Reason};

/// A tool as clients see it listed.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    pub name: &'static str,
    /// Other names under which it can be called, which clients do not see.
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// For the language model that chooses among the tools.
    pub description: &'static str,
    /// JSON Schema of the arguments: an object.
    pub input_schema: Map<String, Value>,
    /// JSON Schema of [`ToolReply::structured`].
    pub output_schema: Map<String, Value>,
    pub hints: Hints,
    pub toolset: Toolset,
    /// Any of them lets a caller call it.
    pub roles: Roles,
}

/// MCP annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
}

impl Hints {
    /// Changes nothing.
    pub(crate) const READS: Self = Self { read_only: true, destructive: false, idempotent: true };
    /// Sets what belongs to the session, which repeating it sets again.
    pub(crate) const SETS: Self = Self::READS;
    /// Once more is once more.
    pub(crate) const ADDS: Self = Self { read_only: false, destructive: false, idempotent: false };
    /// The robot drives.
    pub(crate) const ACTS: Self = Self::ADDS;
    /// What was there is gone; the same once more changes nothing.
    pub(crate) const REPLACES: Self =
        Self { read_only: false, destructive: true, idempotent: true };
}

/// Group of tools that a client or the configuration picks as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    ObjectRetrieval,
    MomentRetrieval,
    Notes,
    Memos,
    State,
    Ingest,
    Admin,
}

impl Toolset {
    /// All of them, in the order of listing.
    pub const ALL: [Self; 7] = [
        Self::ObjectRetrieval,
        Self::MomentRetrieval,
        Self::Notes,
        Self::Memos,
        Self::State,
        Self::Ingest,
        Self::Admin,
    ];

    /// As settings and the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ObjectRetrieval => "object-retrieval",
            Self::MomentRetrieval => "moment-retrieval",
            Self::Notes => "notes",
            Self::Memos => "memos",
            Self::State => "state",
            Self::Ingest => "ingest",
            Self::Admin => "admin",
        }
    }

    /// The toolset of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|toolset| toolset.name() == name)
    }
}

/// The tools of these toolsets, in the order in which clients see them listed.
pub fn specs(toolsets: &[Toolset]) -> Vec<ToolSpec> {
    catalog::all().into_iter().filter(|spec| toolsets.contains(&spec.toolset)).collect()
}

/// Who has one letter in three wrong meant another name.
const MISTYPED_SHARE: usize = 3;

/// The tool whose name was meant, where one is near: `; did you mean health?`.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let distance = |it: &&str| strsim::damerau_levenshtein(name, it);
    let nearest = known.into_iter().min_by_key(distance);
    let is_near = |it: &&str| distance(it) * MISTYPED_SHARE <= name.chars().count();
    nearest.filter(is_near).map(|it| format!("; did you mean {it}?")).unwrap_or_default()
}

/// A prompt that clients can ask for, filled in.
#[derive(Debug, Clone)]
pub struct PromptSpec {
    pub name: &'static str,
    pub title: &'static str,
    /// For the person who chooses among the prompts.
    pub description: &'static str,
    pub arguments: &'static [PromptArgument],
}

/// A text that a prompt is filled in with.
#[derive(Debug, Clone, Copy)]
pub struct PromptArgument {
    pub name: &'static str,
    pub about: &'static str,
    pub is_required: bool,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolReply {
    /// An object that fits the tool's output schema.
    pub structured: Map<String, Value>,
    /// The same for a language model: short, bounded, no repeated keys.
    pub text: String,
    pub images: Vec<Image>,
}

/// An encoded image, as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

/// What a resource's address leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    Image(Image),
    /// A JSON object.
    Json(String),
    /// Text of some other kind.
    Text {
        mime: &'static str,
        text: String,
    },
}

/// A resource as clients see it listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceSpec {
    pub uri: String,
    pub name: String,
    pub description: String,
    pub mime: Option<&'static str>,
}

/// Some of the resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourcePage {
    pub resources: Vec<ResourceSpec>,
    /// Cursor of the next page, where there is one.
    pub next: Option<String>,
}

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// On the wire: JSON-RPC error −32602.
    #[error("no tool {0:?}")]
    UnknownTool(String),
    /// One sentence naming the argument, what came and what is accepted. On the
    /// wire: a result with `isError: true`.
    #[error("{0}")]
    Argument(String),
    /// The call was right and cannot be carried out now (a full spool, say). On
    /// the wire: a result with `isError: true`.
    #[error("{0}")]
    Refused(String),
    /// The caller has none of the roles for it. On the wire: a result with `isError: true`.
    #[error("{0}")]
    Forbidden(String),
    /// Our fault; the text is for the log. On the wire: JSON-RPC error −32603
    /// with an id that stands in the log.
    #[error("{0}")]
    Fault(String),
}

impl ToolError {
    /// A call that failed though it was right: refused with the reason where the machine lacks
    /// something, else our fault.
    pub(crate) fn of_failure(error: &impl Shortage) -> Self {
        error.shortage().map_or_else(|| Self::Fault(error.to_string()), Self::Refused)
    }
}

/// What a server carries calls to.
///
/// Calls come from many threads at once and may panic: the server answers a
/// panic as a [`ToolError::Fault`] and goes on.
pub trait ToolBox: Send + Sync + 'static {
    /// In the order in which clients see them listed.
    fn catalog(&self) -> &[ToolSpec];

    /// The tools of the toolsets that a client picked, whether or not the catalogue
    /// lists them.
    fn specs_of(&self, toolsets: &[Toolset]) -> Vec<ToolSpec> {
        let of_them = |spec: &&ToolSpec| toolsets.contains(&spec.toolset);
        self.catalog().iter().filter(of_them).cloned().collect()
    }

    /// Where a server counts the calls that it refuses by itself.
    fn call_metrics(&self) -> Arc<CallMetrics> {
        Arc::default()
    }

    /// Whether this call takes about a millisecond: it computes and reads memory,
    /// and waits for nothing. A server may answer such a call on the thread that
    /// read it.
    fn is_brief(&self, tool: &str, arguments: &Map<String, Value>) -> bool;

    /// Runs one call to its end, if the caller may make it. `session` is the connection's
    /// own session; a `session` argument of the call overrides it. A session named by an
    /// argument outlives the connection, the connection's own does not.
    fn call(
        &self,
        caller: &Caller,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError>;

    /// In the order in which clients see them listed.
    fn prompts(&self) -> &[PromptSpec] {
        &[]
    }

    /// A prompt filled in, for a language model to read. Whatever it refuses is the
    /// caller's mistake: an unknown name or a wrong argument.
    fn prompt(
        &self,
        _caller: &Caller,
        _session: &str,
        name: &str,
        _arguments: Map<String, Value>,
    ) -> Result<String, ToolError> {
        Err(ToolError::Argument(format!("there is no prompt {name:?}")))
    }

    /// What is behind a resource URI such as `engram://frames/1042`; `None`
    /// where there is no such resource.
    fn resource(&self, caller: &Caller, uri: &str) -> Result<Option<Resource>, ToolError>;

    /// A page of the resources: the first, or the one after a cursor.
    fn resources(
        &self,
        _caller: &Caller,
        _cursor: Option<&str>,
    ) -> Result<ResourcePage, ToolError> {
        Ok(ResourcePage::default())
    }

    /// Values of the `id` of a resource template that begin like this, likeliest first.
    fn complete(
        &self,
        _caller: &Caller,
        template: &str,
        _prefix: &str,
    ) -> Result<Vec<String>, ToolError> {
        Err(ToolError::Argument(format!("there is no resource template {template:?}")))
    }

    /// Answers a question of a backup (`store::backup`), if the caller may make one. No tool:
    /// no model is offered the memory as a whole.
    fn backup(
        &self,
        _caller: &Caller,
        _session: &str,
        _question: &[u8],
    ) -> Result<Vec<u8>, ToolError> {
        Err(ToolError::Refused("there is nothing to back up".to_owned()))
    }

    /// Carries out a step of an export or an import. No tool, as no model is offered the memory
    /// as a whole.
    fn transfer(
        &self,
        _caller: &Caller,
        _session: &str,
        step: &str,
        _arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        Err(ToolError::UnknownTool(step.to_owned()))
    }

    /// The connection that owned this session is gone.
    fn close_session(&self, caller: &Caller, session: &str);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolsets_have_names_and_hold_every_tool() {
        for toolset in Toolset::ALL {
            assert_eq!(Toolset::from_name(toolset.name()), Some(toolset));
            assert!(!specs(&[toolset]).is_empty(), "{toolset:?}");
        }
        assert_eq!(Toolset::from_name("Notes"), None);
        assert_eq!(specs(&Toolset::ALL).len(), catalog::all().len());
        let names = |toolsets: &[Toolset]| -> Vec<&str> {
            specs(toolsets).iter().map(|spec| spec.name).collect()
        };
        let notes =
            ["memory_save", "memory_load", "memory_update", "memory_delete", "memory_forget"];
        assert_eq!(names(&[Toolset::Notes]), notes);
        assert_eq!(names(&[]), Vec::<&str>::new());
    }
}
