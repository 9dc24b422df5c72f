//! `memo_delete`: memos are removed, by their id or their message's.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::memory::memos::{DeletedMemos, MemoSelector};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::memos::{id_list, refusal};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoDelete;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    deleted: Vec<u64>,
    /// Whose creation was queued.
    cancelled: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

impl Tool for MemoDelete {
    type Context = Context;
    type Request = MemoSelector;
    type Reply = Reply;

    const NAME: &'static str = "memo_delete";
    const TITLE: &'static str = "Delete a memo";
    const DESCRIPTION: &'static str = "Removes a memo by its id, or those of a message, on downvote or undo; one whose creation is still queued is cancelled.";
    const TOOLSET: Toolset = Toolset::Memos;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Erase]);
    const PARAMS: &'static [Param] = &[
        Param::optional("id", Kind::Whole { least: 0, most: i64::MAX, default: 0 }, "The memo's."),
        Param::optional("message_id", Kind::Text { bytes_max: 256 }, "Instead of id."),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<MemoSelector, ToolError> {
        match (u64::try_from(args.whole("id")?).unwrap_or(0), args.text("message_id")?) {
            (0, Some(message)) => Ok(MemoSelector::Message(message.to_owned())),
            (id, None) if id > 0 => Ok(MemoSelector::Id(id)),
            (id, _) => {
                let came = if id > 0 { "both" } else { "none" };
                Err(argument_error(format!(
                    "one of the arguments \"id\" (from 1) and \"message_id\" is accepted; {came} \
                     came"
                )))
            }
        }
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        which: MemoSelector,
    ) -> Result<Reply, ToolError> {
        let going = match &which {
            MemoSelector::Id(id) => format!("memo {id}"),
            // Whose id may say what it was about.
            MemoSelector::Message(_) => "memos of a message".to_owned(),
        };
        context.audit.begin(session.caller, Self::NAME, vec![going]);
        let deleted = context.memos.delete(&which).map_err(|error| refusal(&error))?;
        let DeletedMemos { stored: deleted, queued: cancelled } = deleted;
        let is_empty = deleted.is_empty() && cancelled.is_empty();
        Ok(Reply { deleted, cancelled, why_empty: is_empty.then(|| why_none(&which)) })
    }
}

fn why_none(which: &MemoSelector) -> String {
    match which {
        MemoSelector::Id(id) => format!("there is no memo #{id}"),
        MemoSelector::Message(message) => format!("there is no memo of message {message:?}"),
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { deleted, cancelled, why_empty } = self;
        if !deleted.is_empty() {
            text.line(&format!("deleted {}", id_list(deleted)));
        }
        if !cancelled.is_empty() {
            text.line(&format!("cancelled {}, whose creation was queued", id_list(cancelled)));
        }
        if let Some(why) = why_empty {
            text.line(&format!("Nothing deleted: {why}."));
        }
    }

    fn changed(&self) -> Option<Changed> {
        let ids = self.deleted.iter().chain(&self.cancelled);
        Some(Changed::of(ids.map(|id| format!("memo {id}")).collect()))
    }
}
