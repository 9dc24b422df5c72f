//! `memory_save`: a text is kept.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::memory::notes::NewNote;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::notes::expiry::{EXPIRES, EXPIRES_IN_DAYS, expiry};
use crate::tools::notes::refusal;
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemorySave;

/// Longest note.
pub(super) const TEXT_BYTES_MAX: usize = 16 << 10;

pub(super) const AREA: Param = Param::optional(
    "area",
    Kind::Name { bytes_max: 128 },
    "Part of the memory; 'main' where absent.",
);
pub(super) const METADATA: Param = Param::optional(
    "metadata",
    Kind::Object,
    "To filter by: {\"year\": 2024, \"tags\": [\"lab\"]}.",
);

/// Where a note goes whose saver names no area.
const DEFAULT_AREA: &str = "main";

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    id: String,
}

impl Tool for MemorySave {
    type Context = Context;
    type Request = NewNote;
    type Reply = Reply;

    const NAME: &'static str = "memory_save";
    const TITLE: &'static str = "Keep a piece of information";
    const DESCRIPTION: &'static str = "Keeps a text in long-term memory, where memory_load finds it by meaning and words. For what has a clear, long-term purpose. Returns its id.";
    const TOOLSET: Toolset = Toolset::Notes;
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required(
            "text",
            Kind::Text { bytes_max: TEXT_BYTES_MAX },
            "Descriptive and rich in keywords, to be found again.",
        ),
        AREA,
        METADATA,
        EXPIRES,
        EXPIRES_IN_DAYS,
    ];

    fn parse(args: &Args, context: &Context, _: SessionName<'_>) -> Result<NewNote, ToolError> {
        Ok(NewNote {
            text: args.required_text("text")?.to_owned(),
            area: args.text(AREA.name)?.unwrap_or(DEFAULT_AREA).to_owned(),
            metadata: args.object(METADATA.name)?.unwrap_or_default(),
            expires_at: expiry(args, context)?,
        })
    }

    fn run(context: &Context, _: SessionName<'_>, note: NewNote) -> Result<Reply, ToolError> {
        let id = context.notes.save(note, context.clock.now()).map_err(|error| refusal(&error))?;
        Ok(Reply { id: id.to_string() })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&format!("saved as {}", self.id));
    }

    fn changed(&self) -> Option<Changed> {
        Some(Changed::of(vec![self.id.clone()]))
    }
}
