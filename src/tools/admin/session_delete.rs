//! `session_delete`: a session with its name, its task and all that its calls shared is
//! removed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct SessionDelete;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    /// Whether there was such a session.
    deleted: bool,
}

impl Tool for SessionDelete {
    type Context = Context;
    type Request = ();
    type Reply = Reply;

    const NAME: &'static str = "session_delete";
    const TITLE: &'static str = "Delete a session";
    const DESCRIPTION: &'static str = "Permanently removes the session that the call names, or its own: its name, task, and what was recalled and searched for in it.";
    const TOOLSET: Toolset = Toolset::Admin;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Erase]);
    const PARAMS: &'static [Param] = &[];

    fn parse(_: &Args, _: &Context, _: SessionName<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    fn run(context: &Context, session: SessionName<'_>, (): ()) -> Result<Reply, ToolError> {
        context.audit.begin(session.caller, Self::NAME, vec!["session".to_owned()]);
        let deleted = context.retrieval.delete_session(session);
        let deleted = deleted.map_err(|error| ToolError::of_failure(&error))?;
        Ok(Reply { deleted })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(if self.deleted { "deleted" } else { "there is no such session" });
    }

    fn changed(&self) -> Option<Changed> {
        self.deleted.then(|| Changed::of(vec!["session".to_owned()]))
    }
}
