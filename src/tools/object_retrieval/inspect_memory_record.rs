//! `inspect_memory_record`: the stored frames of records, as images.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::memory::episodic::MemoryError;
use crate::retrieval::sessions::SessionName;
use crate::store::Record;
use crate::tools::action::{Action, TextInput};
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::record::RecordReply;
use crate::tools::reply::holdings;
use crate::tools::resources::image_of;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, Image, ToolError, Toolset};

pub(crate) struct InspectMemoryRecord;

/// Images are large: more at once than a model can look at help nobody.
const RECORDS_MAX: usize = 8;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    records: Vec<RecordReply>,
    not_found: Vec<u64>,
    #[serde(skip)]
    images: Vec<Image>,
}

impl Tool for InspectMemoryRecord {
    type Context = Context;
    /// None for the first of the session's working memory.
    type Request = Vec<RecordId>;
    type Reply = Reply;

    const NAME: &'static str = "inspect_memory_record";
    const TITLE: &'static str = "Look at stored frames";
    const DESCRIPTION: &'static str = "Returns the stored camera frames of records as images, with the boxes of what was found in them, to check what a caption says.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[Param::optional(
        "record_ids",
        Kind::RecordIds { most: RECORDS_MAX },
        "The first of the working memory where absent.",
    )];
    const ACTION: Option<Action> = Some(Action::object(TextInput::RecordIds));

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Vec<RecordId>, ToolError> {
        args.record_ids("record_ids")
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        ids: Vec<RecordId>,
    ) -> Result<Reply, ToolError> {
        let ids = if ids.is_empty() { of_working_memory(context, session)? } else { ids };
        let fault = |error: MemoryError| ToolError::of_failure(&error);
        let records = context.episodic.records(&ids).map_err(fault)?;
        let is_found = |id: &RecordId| records.iter().any(|record| record.id == *id);
        let not_found: Vec<u64> = ids.iter().filter(|id| !is_found(id)).map(|id| id.0).collect();
        if records.is_empty() {
            return Err(argument_error(format!(
                "argument \"record_ids\" is {not_found:?}, none of which exists; {}",
                holdings(context)
            )));
        }
        let mut reply = Reply { records: Vec::new(), not_found, images: Vec::new() };
        for record in &records {
            reply.show(context, record)?;
        }
        Ok(reply)
    }
}

fn of_working_memory(
    context: &Context,
    session: SessionName<'_>,
) -> Result<Vec<RecordId>, ToolError> {
    let mut ids = context.retrieval.session(session).working_memory;
    ids.truncate(RECORDS_MAX);
    if ids.is_empty() {
        return Err(argument_error(format!(
            "argument \"record_ids\" is missing and the working memory of this session is empty; \
             accepted are 1 to {RECORDS_MAX} record ids, or none after a recall in the same \
             session: on one connection, or each with the same \"session\""
        )));
    }
    Ok(ids)
}

impl Reply {
    fn show(&mut self, context: &Context, record: &Record) -> Result<(), ToolError> {
        let shown = RecordReply::of(record, context.options.zone).with_detections(record);
        let image = image_of(context, record)?;
        self.records.push(if image.is_some() { shown } else { shown.without_image() });
        self.images.extend(image);
        Ok(())
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        self.records.iter().for_each(|record| text.line(record.line()));
        if !self.not_found.is_empty() {
            text.line(&format!("no such records: {:?}", self.not_found));
        }
    }

    fn take_images(&mut self) -> Vec<Image> {
        std::mem::take(&mut self.images)
    }
}
