//! `determine_unique_instances_from_latest_working_memory`: the distinct objects that the
//! newest recall shows.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::score::Score;
use crate::base::time::Zone;
use crate::language::reference::{Order, Reference};
use crate::memory::episodic::instances::{Instance, Place};
use crate::retrieval::InstanceList;
use crate::retrieval::sessions::SessionName;
use crate::tools::action::{Action, TextInput};
use crate::tools::args::{Args, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::{TEXT, quantity};
use crate::tools::recall::QUERY;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct DetermineUniqueInstances;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    instances: Vec<InstanceReply>,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
    #[serde(skip)]
    headline: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct InstanceReply {
    instance_desc: String,
    record_ids: Vec<u64>,
    /// Occasions on which it was seen.
    count: usize,
    days_seen: usize,
    first_seen: String,
    last_seen: String,
    places: Vec<PlaceReply>,
    seen_with: Vec<String>,
    confidence: Score,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceReply {
    position: Option<[f64; 3]>,
    count: usize,
    place: String,
}

impl Tool for DetermineUniqueInstances {
    type Context = Context;
    type Request = Option<String>;
    type Reply = Reply;

    const NAME: &'static str = "determine_unique_instances_from_latest_working_memory";
    const ALIASES: &'static [&'static str] = &["determine_unique_instances"];
    const TITLE: &'static str = "Tell the objects in working memory apart";
    const DESCRIPTION: &'static str = "Divides the records of the newest recall into distinct physical objects, by attributes, places, times and what was seen with them, in the order that the query asks for. Knows these only: for how often, first recall with a large k or recall_all. The objects become the working memory; where there are none it stays.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::SETS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[Param::optional(
        QUERY,
        TEXT,
        "Which things, in which order: 'find most frequently used mug'. The task where absent.",
    )];
    const ACTION: Option<Action> = Some(Action::object(TextInput::Argument(QUERY)));

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Option<String>, ToolError> {
        Ok(args.text(QUERY)?.map(str::to_owned))
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        query: Option<String>,
    ) -> Result<Reply, ToolError> {
        let retrieval = &context.retrieval;
        let request = query.map(|query| retrieval.parse(&query)).transpose();
        let found =
            request.and_then(|request| retrieval.determine_instances(session, request.as_ref()));
        let found = found.map_err(|error| refusal(context, error))?;
        Ok(Reply::of(&found, session.name, context.options.zone))
    }
}

impl Reply {
    pub(super) fn of(found: &InstanceList, session: &str, zone: Zone) -> Self {
        let InstanceList { instances, total, records, reference } = found;
        let thing = &reference.thing;
        let thing = if thing.is_empty() { "a thing" } else { thing };
        let why_empty = instances.is_empty().then(|| {
            format!(
                "none of the {records} records of the working memory shows {thing:?}; it stays \
                 as it was"
            )
        });
        let headline = if let Some(why) = &why_empty {
            format!("Nothing found: {why}.")
        } else {
            let order = order_words(reference);
            format!("{total} distinct objects in {records} records, {order}:")
        };
        let instances = instances.iter().map(|it| InstanceReply::of(it, zone)).collect();
        Self { instances, session: session.to_owned(), why_empty, headline }
    }
}

impl InstanceReply {
    fn of(instance: &Instance, zone: Zone) -> Self {
        let place = |it: &Place| PlaceReply {
            position: it.position,
            count: it.count,
            place: it.words.clone(),
        };
        Self {
            instance_desc: instance.desc.clone(),
            record_ids: instance.records.iter().map(|id| id.0).collect(),
            count: instance.visits.len(),
            days_seen: instance.days_seen,
            first_seen: zone.format(instance.first_seen),
            last_seen: zone.format(instance.last_seen),
            places: instance.places.iter().map(place).collect(),
            seen_with: instance.seen_with.clone(),
            confidence: Score(instance.confidence),
        }
    }

    /// `red mug: 12 times on 4 days, last 2025-01-03 09:14:07; 8 at wooden desk in the
    /// office, 4 at sofa; with laptop; newest #9 #7 #3 [.95]`
    fn line(&self) -> String {
        let mut line = format!(
            "{}: {} on {}, last {}",
            self.instance_desc,
            quantity(self.count, "time"),
            quantity(self.days_seen, "day"),
            self.last_seen
        );
        let places = self.places.iter().filter(|it| !it.place.is_empty()).take(3);
        let places: Vec<String> =
            places.map(|it| format!("{} at {}", it.count, it.place)).collect();
        if !places.is_empty() {
            line.push_str(&format!("; {}", places.join(", ")));
        }
        if !self.seen_with.is_empty() {
            line.push_str(&format!("; with {}", self.seen_with.join(", ")));
        }
        let newest = self.record_ids.iter().rev().take(3).map(|id| format!("#{id}"));
        let newest: Vec<String> = newest.collect();
        let Score(confidence) = self.confidence;
        line.push_str(&format!("; newest {} [{confidence:.2}]", newest.join(" ")));
        line
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&self.headline);
        for (number, instance) in (1..).zip(&self.instances) {
            text.line(&format!("{number}. {}", instance.line()));
        }
    }
}

fn order_words(reference: &Reference) -> String {
    match &reference.order {
        None | Some(Order::MostOften) => "most frequent first".to_owned(),
        Some(Order::LeastOften) => "least frequent first".to_owned(),
        Some(Order::Latest) => "latest first".to_owned(),
        Some(Order::Earliest) => "earliest first".to_owned(),
        Some(Order::LongestAgo) => "the longest ago first".to_owned(),
        Some(Order::NearestTo(what)) => format!("nearest to {what} first"),
    }
}
