//! `memory_update`: a kept text is changed in its place.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::base::caller::{Role, Roles};
use crate::memory::notes::{Expiry, NoteChange};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::notes::expiry::{EXPIRES, EXPIRES_IN_DAYS, expiry};
use crate::tools::notes::refusal;
use crate::tools::notes::save::{AREA, METADATA, TEXT_BYTES_MAX};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoryUpdate;

/// Which note, and what to change of it.
pub(crate) struct Request {
    id: Uuid,
    change: NoteChange,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    id: String,
    /// Names of what was changed.
    changed: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

impl Tool for MemoryUpdate {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memory_update";
    const TITLE: &'static str = "Change a kept text";
    const DESCRIPTION: &'static str = "Changes the text, area, metadata or expiry of the saved text with this id; what is not named stays.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::REPLACES;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required("id", Kind::Text { bytes_max: 64 }, "From memory_load."),
        Param::optional("text", Kind::Text { bytes_max: TEXT_BYTES_MAX }, ""),
        Param { about: "Part of the memory that it goes to.", ..AREA },
        METADATA,
        EXPIRES,
        EXPIRES_IN_DAYS,
        Param::optional("keep_forever", Kind::Flag, "Takes the expiry away."),
    ];

    fn parse(args: &Args, context: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let id = args.required_text("id")?;
        let id = Uuid::parse_str(id.trim()).map_err(|_bad| {
            argument_error(format!("argument \"id\" is {id:?}; accepted is a note's id, a UUID"))
        })?;
        let expiry = match (expiry(args, context)?, args.flag("keep_forever")?) {
            (Some(_), true) => {
                let sentence = "argument \"keep_forever\" is true and an expiry came; accepted is \
                    one of them";
                return Err(argument_error(sentence.to_owned()));
            }
            (Some(at), false) => Some(Expiry::At(at)),
            (None, is_kept) => is_kept.then_some(Expiry::Never),
        };
        let change = NoteChange {
            text: args.text("text")?.map(str::to_owned),
            area: args.text(AREA.name)?.map(str::to_owned),
            metadata: args.object(METADATA.name)?,
            expiry,
        };
        if change == NoteChange::default() {
            let sentence = "nothing to change came; accepted is at least one of text, area, \
                metadata, expires, expires_in_days and keep_forever";
            return Err(argument_error(sentence.to_owned()));
        }
        Ok(Request { id, change })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { id, change } = request;
        let named = [
            ("text", change.text.is_some()),
            (AREA.name, change.area.is_some()),
            (METADATA.name, change.metadata.is_some()),
            (EXPIRES.name, change.expiry.is_some()),
        ];
        let changed = named.into_iter().filter(|(_, is_named)| *is_named).map(|(name, _)| name);
        let changed: Vec<&'static str> = changed.collect();
        let updated = context.notes.update(id, change, context.clock.now());
        let updated = updated.map_err(|error| refusal(&error))?;
        let why_empty = updated.is_none().then(|| format!("there is no note {id}"));
        let expires_at = updated.as_ref().and_then(|note| note.expires_at);
        Ok(Reply {
            id: id.to_string(),
            changed: if updated.is_some() { changed } else { Vec::new() },
            expires: expires_at.map(|at| context.options.zone.format(at)),
            why_empty,
        })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { id, changed, expires, why_empty } = self;
        if let Some(why) = why_empty {
            return text.line(&format!("Nothing changed: {why}."));
        }
        let expires = expires.as_ref().map_or_else(String::new, |at| format!("; it expires {at}"));
        text.line(&format!("changed {} of {id}{expires}", changed.join(", ")));
    }

    fn changed(&self) -> Option<Changed> {
        self.why_empty.is_none().then(|| Changed::of(vec![self.id.clone()]))
    }
}
