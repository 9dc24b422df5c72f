//! `memory_delete`: kept texts are removed by their ids.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::notes::{refusal, texts};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryDelete;

/// Notes that one call may delete.
const IDS_MAX: usize = 100;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    deleted: Vec<String>,
    not_found: Vec<String>,
}

impl Tool for MemoryDelete {
    type Context = Context;
    /// Ids as the caller wrote them.
    type Request = Vec<String>;
    type Reply = Reply;

    const NAME: &'static str = "memory_delete";
    const TITLE: &'static str = "Delete kept texts by id";
    const DESCRIPTION: &'static str = "Permanently removes the saved texts with these ids.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Erase]);
    const PARAMS: &'static [Param] = &[Param::required(
        "ids",
        Kind::Names { most: IDS_MAX },
        "From memory_load, with commas between.",
    )];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Vec<String>, ToolError> {
        args.names("ids")
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        ids: Vec<String>,
    ) -> Result<Reply, ToolError> {
        let known: Vec<Uuid> = ids.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect();
        let there = context.notes.of_ids(&known).map_err(|error| refusal(&error))?;
        let there: Vec<Uuid> = there.into_iter().map(|note| note.id).collect();
        context.audit.begin(session.caller, Self::NAME, texts(&there));
        let deleted = context.notes.delete(&known).map_err(|error| refusal(&error))?;
        // Of a note that is gone no model's step may tell either.
        let forgotten = context.retrieval.forget_in_sessions(&[]);
        forgotten.map_err(|error| ToolError::of_failure(&error))?;
        let is_deleted = |id: &str| Uuid::parse_str(id).is_ok_and(|id| deleted.contains(&id));
        let not_found = ids.into_iter().filter(|id| !is_deleted(id)).collect();
        Ok(Reply { deleted: texts(&deleted), not_found })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        for (what, ids) in [("deleted", &self.deleted), ("not found", &self.not_found)] {
            if !ids.is_empty() {
                text.line(&format!("{what}: {}", ids.join(", ")));
            }
        }
    }

    fn changed(&self) -> Option<Changed> {
        Some(Changed::of(self.deleted.clone()))
    }
}
