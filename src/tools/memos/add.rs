//! `memo_add`: an answer that a user rated up is kept.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::memory::memos::{Added, NewMemo};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::memos::{MESSAGE_BYTES_MAX, PROMPT, StatusReply, refusal};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoAdd;

/// Messages of one memo.
const MESSAGES_MAX: usize = 16;

/// Where a memo comes from where its adder says nothing.
const DEFAULT_SOURCE: &str = "uprated_by_user";

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    id: u64,
    status: StatusReply,
    #[serde(skip)]
    is_known: bool,
}

impl Tool for MemoAdd {
    type Context = Context;
    type Request = NewMemo;
    type Reply = Reply;

    const NAME: &'static str = "memo_add";
    const TITLE: &'static str = "Keep an answer that was rated up";
    const DESCRIPTION: &'static str = "Keeps the <reasoning>, <sql> and <chart> of messages that a user rated up, as a <memo> for later prompts; a <dataframe> is left out. Found a moment later.";
    const TOOLSET: Toolset = Toolset::Memos;
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required("user_message", PROMPT, "The prompt that was answered."),
        Param::optional(
            "message",
            Kind::Text { bytes_max: MESSAGE_BYTES_MAX },
            "The one rated up.",
        ),
        Param::optional(
            "messages",
            Kind::Texts { most: MESSAGES_MAX, bytes_max: MESSAGE_BYTES_MAX },
            "Or several together.",
        ),
        Param::optional(
            "message_ids",
            Kind::Names { most: MESSAGES_MAX },
            "For memo_delete, with commas between.",
        ),
        Param::optional("source", Kind::Name { bytes_max: 128 }, "'uprated_by_user' where absent."),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<NewMemo, ToolError> {
        let messages = messages(args)?;
        Ok(NewMemo {
            user_message: args.required_text("user_message")?.to_owned(),
            messages,
            message_ids: args.names("message_ids")?,
            source: args.text("source")?.unwrap_or(DEFAULT_SOURCE).to_owned(),
        })
    }

    fn run(context: &Context, _: SessionName<'_>, memo: NewMemo) -> Result<Reply, ToolError> {
        let added =
            context.memos.add(memo, context.clock.now()).map_err(|error| refusal(&error))?;
        let Added { id, status, is_known } = added;
        Ok(Reply { id, status: StatusReply::of(status), is_known })
    }
}

fn messages(args: &Args) -> Result<Vec<String>, ToolError> {
    match (args.text("message")?, args.texts("messages")?) {
        (Some(message), messages) if messages.is_empty() => Ok(vec![message.to_owned()]),
        (None, messages) if !messages.is_empty() => Ok(messages),
        (message, _) => {
            let came = if message.is_some() { "both" } else { "none" };
            Err(argument_error(format!(
                "one of the arguments \"message\" and \"messages\" is accepted; {came} came"
            )))
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let known = if self.is_known { ", as the message was rated before" } else { "" };
        text.line(&format!("memo #{} is {}{known}", self.id, self.status.word()));
    }

    fn changed(&self) -> Option<Changed> {
        Some(Changed::of(vec![format!("memo {}", self.id)]))
    }
}
