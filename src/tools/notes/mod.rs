//! Notes: what an agent wants to keep, in words.

pub(super) mod delete;
mod expiry;
pub(crate) mod forget;
mod forget_window;
pub(crate) mod load;
pub(super) mod save;
pub(super) mod update;

use uuid::Uuid;

use crate::memory::notes::NotesError;
use crate::tools::ToolError;
use crate::tools::args::{Kind, argument_error};

/// A query, which is embedded whole, up to the model's own length.
const QUERY: Kind = Kind::Text { bytes_max: 2_000 };

fn texts(ids: &[Uuid]) -> Vec<String> {
    ids.iter().map(Uuid::to_string).collect()
}

pub(super) fn refusal(error: &NotesError) -> ToolError {
    match error {
        NotesError::MetadataTooLarge { .. } | NotesError::OwnName(_) => {
            argument_error(format!("argument \"metadata\": {error}"))
        }
        NotesError::ExpiresInThePast => argument_error(format!("argument \"expires\": {error}")),
        NotesError::Incomparable(_) => argument_error(format!("argument \"filter\": {error}")),
        NotesError::Full => ToolError::Refused(error.to_string()),
        NotesError::Store(_) | NotesError::Model(_) => ToolError::of_failure(error),
    }
}
