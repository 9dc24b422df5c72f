//! The stored frames: as images, and as resources.

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::picture::Encoding;
use crate::store::Record;
use crate::tools::context::Context;
use crate::tools::{Image, ToolError, reply};

/// Frames show what the memory holds.
pub(crate) const ROLES: Roles = Roles::of(&[Role::Read]);

/// The frame behind `engram://frames/ID`, where ID is a record's id.
pub(crate) fn resource(context: &Context, uri: &str) -> Result<Option<Image>, ToolError> {
    let id = uri.strip_prefix(reply::FRAME_URI).and_then(|id| id.parse().ok()).map(RecordId);
    let Some(id) = id else { return Ok(None) };
    let records = context.episodic.records(&[id]).map_err(|error| ToolError::of_failure(&error))?;
    match records.first() {
        Some(record) => image_of(context, record),
        None => Ok(None),
    }
}

/// A record's frame; `None` where none is kept.
pub(crate) fn image_of(context: &Context, record: &Record) -> Result<Option<Image>, ToolError> {
    let Some(ticket) = record.image else { return Ok(None) };
    let bytes = context.episodic.image(ticket).map_err(|error| ToolError::of_failure(&error))?;
    Ok(bytes.and_then(|bytes| Encoding::of(&bytes).map(|it| Image { mime: it.mime(), bytes })))
}
