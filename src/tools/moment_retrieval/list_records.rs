//! `list_records`: records in order and page by page, without a description.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::time::Timestamp;
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::search::listing::{ListOrder, ListPosition};
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::{LAYER, filter};
use crate::tools::recall::{END, MAP, SOURCE, START, why_none};
use crate::tools::record::RecordReply;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct ListRecords;

const ORDERS: [(&str, ListOrder); 4] = [
    ("oldest", ListOrder::Oldest),
    ("newest", ListOrder::Newest),
    ("first_recorded", ListOrder::FirstRecorded),
    ("last_recorded", ListOrder::LastRecorded),
];

/// Which records, in which order, and from where on.
#[derive(Debug)]
pub(crate) struct Request {
    filter: Filter,
    order: ListOrder,
    after: Option<ListPosition>,
    limit: usize,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    records: Vec<RecordReply>,
    /// Of all pages, those before this one included.
    count: usize,
    /// Where this page ends; absent where there is nothing yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// Whether a page follows by now.
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

impl Tool for ListRecords {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "list_records";
    const TITLE: &'static str = "List records in order";
    const DESCRIPTION: &'static str = "Lists records in order, page by page, whatever they show: to look around without knowing what for. To find a thing, recall it.";
    const TOOLSET: Toolset = Toolset::MomentRetrieval;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        START,
        END,
        SOURCE,
        MAP,
        LAYER,
        AREA,
        Param::optional(
            "order",
            Kind::Word { of: &["oldest", "newest", "first_recorded", "last_recorded"] },
            "By time; or by id, as recorded: recordings may come later than what is older.",
        ),
        Param::optional("limit", Kind::Whole { least: 1, most: 500, default: 50 }, "Of a page."),
        Param::optional(
            "cursor",
            Kind::Name { bytes_max: 64 },
            "The reply's, for the next page; or a record's id, for those after it.",
        ),
    ];

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<Request, ToolError> {
        let word = args.word("order")?;
        let order = ORDERS.into_iter().find(|(name, _)| *name == word);
        let order = order.map_or(ListOrder::Oldest, |(_, order)| order);
        let after = args.name_or_number("cursor")?;
        let after = after.map(|cursor| position(context, order, &cursor)).transpose()?;
        let filter = filter(args, context, session)?;
        Ok(Request { filter, order, after, limit: args.count("limit")? })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { filter, order, after, limit } = request;
        let page = context.episodic.list(&filter, order, after, limit);
        let page = page.map_err(|error| ToolError::of_failure(&error))?;
        let count = context.episodic.count(&filter);
        let records = &page.records;
        Ok(Reply {
            records: RecordReply::list(records, context.options.zone),
            count,
            cursor: page.end.map(|it| format!("{}-{}", it.at.micros(), it.id)),
            more: page.has_more,
            why_empty: (count == 0).then(|| why_none(context, &filter)),
        })
    }
}

/// The position that a cursor names: its own, or a record's.
fn position(context: &Context, order: ListOrder, cursor: &str) -> Result<ListPosition, ToolError> {
    let wrong = |what: &str| {
        argument_error(format!(
            "argument \"cursor\" is {cursor:?}{what}; accepted is the cursor of a reply, or a \
             record's id"
        ))
    };
    if let Some((at, id)) = cursor.split_once('-') {
        let at = at.parse().ok().and_then(Timestamp::from_micros);
        let id = id.parse().ok().map(RecordId);
        return at.zip(id).map(|(at, id)| ListPosition { at, id }).ok_or_else(|| wrong(""));
    }
    let id = RecordId(cursor.parse().map_err(|_no_number| wrong(""))?);
    match (context.episodic.list_position(id), order) {
        (Some(found), _) => Ok(found),
        // By id it has its place also when it is gone.
        (None, ListOrder::FirstRecorded | ListOrder::LastRecorded) => Ok(ListPosition::of_id(id)),
        (None, ListOrder::Oldest | ListOrder::Newest) => Err(wrong(", a record that is not there")),
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { records, count, cursor, more, why_empty } = self;
        match why_empty {
            Some(why) => text.line(&format!("Nothing found: {why}.")),
            None => text.line(&format!("{} of {count} records:", records.len())),
        }
        for record in records {
            text.line(record.line());
        }
        if let Some(cursor) = cursor.as_ref().filter(|_| *more) {
            text.whole_line(&format!("More follow: cursor {cursor:?}."));
        }
    }
}
