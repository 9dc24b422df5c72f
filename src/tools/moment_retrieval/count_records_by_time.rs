//! `count_records_by_time`: how many records there are, bucket by bucket of a calendar.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::calendar::BucketWidth;
use crate::base::caller::{Role, Roles};
use crate::base::time::{Timestamp, Window, Zone};
use crate::retrieval::sessions::SessionName;
use crate::search::Filter;
use crate::search::listing::BucketCount;
use crate::tools::area::AREA;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::moment_retrieval::{LAYER, filter};
use crate::tools::recall::{END, MAP, SOURCE, START, why_none};
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct CountRecordsByTime;

/// Names of the widths; the first picks one.
const WIDTHS: &[&str] = &[
    "auto",
    "year",
    "month",
    "week",
    "day",
    "6 hours",
    "hour",
    "10 minutes",
    "minute",
    "10 seconds",
    "second",
];
/// Buckets of a reply where the call does not say, and at most.
const BUCKETS_DEFAULT: i64 = 100;
const BUCKETS_MAX: i64 = 2_000;

/// What to count, and how finely.
#[derive(Debug)]
pub(crate) struct Request {
    filter: Filter,
    /// `None` picks the narrowest that fits.
    width: Option<BucketWidth>,
    buckets_max: usize,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    /// In the order of time; one in which nothing was seen is left out.
    buckets: Vec<BucketReply>,
    /// Width of each.
    bucket: Option<&'static str>,
    /// Records within what was asked for.
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct BucketReply {
    /// When it begins.
    time: String,
    /// Seconds since 1970.
    timestamp: f64,
    /// When the next one begins.
    end_timestamp: f64,
    /// Records that begin in it.
    count: usize,
    /// Records that last into it or begin in it.
    seen: usize,
}

impl Tool for CountRecordsByTime {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "count_records_by_time";
    const TITLE: &'static str = "Count records by time";
    const DESCRIPTION: &'static str =
        "Counts records by year, month, day, hour or less: when much was seen, and when nothing.";
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
            "bucket",
            Kind::Word { of: WIDTHS },
            "Width; auto is the narrowest with at most buckets_max.",
        ),
        Param::optional(
            "buckets_max",
            Kind::Whole { least: 1, most: BUCKETS_MAX, default: BUCKETS_DEFAULT },
            "From the first record to the last.",
        ),
    ];

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<Request, ToolError> {
        let filter = filter(args, context, session)?;
        let width = BucketWidth::from_name(args.word("bucket")?);
        Ok(Request { filter, width, buckets_max: args.count("buckets_max")? })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { filter, width, buckets_max } = request;
        let zone = context.options.zone;
        let count = context.episodic.count(&filter);
        let Some(span) = context.episodic.span_within(&filter) else {
            let why_empty = Some(why_none(context, &filter));
            return Ok(Reply { buckets: Vec::new(), bucket: None, count, why_empty });
        };
        let span = within(span, &filter.window);
        let found = match width {
            Some(width) => width.edges(zone, span, buckets_max).map(|edges| (width, edges)),
            None => BucketWidth::narrowest(zone, span, buckets_max),
        };
        let (width, edges) = found.ok_or_else(|| too_many(width, span, zone, buckets_max))?;
        let counts = context.episodic.count_by_time(&filter, &edges);
        let end = edges.last().map(|last| width.after(zone, *last));
        let ends = edges.iter().skip(1).copied().chain(end);
        let buckets = edges.iter().zip(ends).zip(counts).filter(|(_, count)| count.seen > 0);
        let buckets = buckets.map(|(span, count)| BucketReply::of(span, count, zone)).collect();
        Ok(Reply { buckets, bucket: Some(width.name()), count, why_empty: None })
    }
}

/// What of a span lies within a window.
fn within((first, last): (Timestamp, Timestamp), window: &Window) -> (Timestamp, Timestamp) {
    let first = window.start().map_or(first, |start| first.max(start));
    let last = window.end().map_or(last, |end| last.min(end));
    (first, last.max(first))
}

fn too_many(
    width: Option<BucketWidth>,
    (first, last): (Timestamp, Timestamp),
    zone: Zone,
    most: usize,
) -> ToolError {
    let width = width.unwrap_or(BucketWidth::Year).name();
    argument_error(format!(
        "argument \"bucket\" is {width:?}: from {} to {} those are more than {most}; accepted is a \
         wider one, a narrower window, or \"buckets_max\" up to {BUCKETS_MAX}",
        zone.format(first),
        zone.format(last)
    ))
}

impl BucketReply {
    fn of((start, end): (&Timestamp, Timestamp), count: BucketCount, zone: Zone) -> Self {
        let BucketCount { begun, seen } = count;
        Self {
            time: zone.format(*start),
            timestamp: start.seconds(),
            end_timestamp: end.seconds(),
            count: begun,
            seen,
        }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { buckets, bucket, count, why_empty } = self;
        match (why_empty, bucket) {
            (None, Some(bucket)) => text.line(&format!("{count} records by {bucket}:")),
            (Some(why), _) => text.line(&format!("0 records: {why}.")),
            (None, None) => text.line("0 records."),
        }
        for BucketReply { time, count, seen, .. } in buckets {
            let lasting = if seen > count { format!(", {seen} seen") } else { String::new() };
            text.line(&format!("{time} {count}{lasting}"));
        }
    }
}
