//! `report_search_result`: what the robot saw at its goal.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::retrieval::goal_board::SearchStatus;
use crate::retrieval::search::{GoalReport, SearchUpdate};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::goal::GoalReply;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct ReportSearchResult;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reply {
    status: ReportStatus,
    target: String,
    next: Option<GoalReply>,
    remaining: usize,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReportStatus {
    Found,
    Next,
    Reopened,
}

impl Tool for ReportSearchResult {
    type Context = Context;
    type Request = GoalReport;
    type Reply = Reply;

    const NAME: &'static str = "report_search_result";
    const TITLE: &'static str = "Report what the robot found";
    const DESCRIPTION: &'static str = "Says whether the robot found the target at the goal; returns the next goal, or that the search is open again.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::ACTS;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required("found", Kind::Flag, ""),
        Param::optional("record_id", Kind::RecordIds { most: 1 }, "Of what the robot saw there."),
        Param::optional("position", Kind::Position, "Where it looked; the goal where absent."),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<GoalReport, ToolError> {
        Ok(GoalReport {
            is_found: args.flag("found")?,
            record: args.record_ids("record_id")?.first().copied(),
            position: args.position("position")?,
        })
    }

    fn run(
        context: &Context,
        session: SessionName<'_>,
        report: GoalReport,
    ) -> Result<Reply, ToolError> {
        let update = context.retrieval.report(session, &report);
        let update = update.map_err(|error| refusal(context, error))?;
        Ok(Reply::of(update))
    }
}

impl Reply {
    fn of(SearchUpdate { status, target, goals }: SearchUpdate) -> Self {
        let status = match status {
            SearchStatus::Found => ReportStatus::Found,
            SearchStatus::Dispatched | SearchStatus::Next => ReportStatus::Next,
            SearchStatus::Reopened => ReportStatus::Reopened,
        };
        Self { status, target, next: goals.first().map(GoalReply::of), remaining: goals.len() }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let target = &self.target;
        text.whole_line(&match (self.status, &self.next) {
            (ReportStatus::Found, _) => format!("found {target:?}; the search has ended."),
            (_, Some(goal)) => format!("not there; next: {}", goal.line()),
            (_, None) => format!(
                "not there, and no goal is left: the search for {target:?} is open again. \
                 create_or_update_real_world_search_instance leaves out the places looked at."
            ),
        });
    }
}
