//! `retrieve_object`: a whole task, from the request in words to the places where the
//! robot is sent, with the calls that led there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::agent::understood::Understood;
use crate::base::caller::{Role, Roles};
use crate::base::score::Score;
use crate::base::time::Timestamp;
use crate::retrieval::search::{Dispatch, Offer};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{self, ExecutedPlan, Outcome, RetrievalError};
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::TEXT;
use crate::tools::object_retrieval::goal::GoalReply;
use crate::tools::object_retrieval::memory_search_instance::DESCRIPTION;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::search_current_target::SearchCurrentTarget;
use crate::tools::object_retrieval::trace::{StepReply, step_reply};
use crate::tools::recall::QUERY;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct RetrieveObject;

const RULES: &str = "rules";
const MODEL: &str = "model";

/// A task in words, and who plans it.
#[derive(Debug)]
pub(crate) struct Request {
    task: String,
    now: Option<Timestamp>,
    planner: &'static str,
}

// What came of a request: whether the robot is sent off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskStatus {
    Dispatched,
    // Its goals are only offered: none is likely enough.
    Unsure,
    Answered,
    NotDispatched,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Reply {
    status: TaskStatus,
    task: String,
    now: String,
    planner: String,
    target: String,
    goals: Vec<GoalReply>,
    trace: Vec<StepReply>,
    session: String,
    // What the rules on board read the request as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    understood: Option<Understood>,
    // To a question, and where a thing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    // Of the first goal, for the robot to be sent; where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probability_needed: Option<Score>,
}

impl Tool for RetrieveObject {
    type Context = Agent;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "retrieve_object";
    const TITLE: &'static str = "Find the object of a request";
    const DESCRIPTION: &'static str = "Carries out a whole request such as 'bring me the book I was reading yesterday': finds which object is meant and where it was last seen, and sends the robot there. Returns the goals in order and the calls made. A question is answered; neither it nor what asks for nothing sends a robot.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    const HINTS: Hints = Hints::ACTS;
    const ROLES: Roles = Roles::of(&[Role::Write]);
    const PARAMS: &'static [Param] = &[
        Param::required("task", TEXT, "In words: 'bring me the mug I use most'."),
        Param::optional(
            "now",
            Kind::Time,
            "When it was said; 'yesterday' counts from it. Without it from the clock.",
        ),
        Param::optional(
            "planner",
            Kind::Word { of: &[RULES, MODEL] },
            "Who decides: the rules on board, or the language model of agent.endpoint.",
        ),
    ];

    fn parse(args: &Args, agent: &Agent, _: SessionName<'_>) -> Result<Request, ToolError> {
        let task = args.required_text("task")?.to_owned();
        let planner = args.word("planner")?;
        if planner == MODEL && agent.model.is_none() {
            return Err(ToolError::Refused(format!(
                "no language model is configured (agent.endpoint is empty); planner {RULES:?} \
                 needs none"
            )));
        }
        // An earlier task's time does not count.
        let now = args.time("now", agent.tools.context().clock_reading())?;
        Ok(Request { task, now, planner })
    }

    fn run(agent: &Agent, session: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { task, now, planner } = request;
        let context = agent.tools.context();
        let refused = |error| refusal(context, error);
        let now = context.retrieval.start_task(session, &task, now).map_err(refused)?;
        let told = match &agent.model {
            Some(model) if planner == MODEL => {
                let (trace, dispatch) = model.plan(&agent.tools, session)?;
                PlanReport { trace, ..PlanReport::of_dispatch(dispatch) }
            }
            Some(_) | None => by_rules(context, session).map_err(refused)?,
        };
        let PlanReport { status, target, goals, trace, understood, answer, needed } = told;
        Ok(Reply {
            status,
            task,
            now: context.options.zone.format(now),
            planner: planner.to_owned(),
            target,
            goals,
            trace,
            session: session.name.to_owned(),
            understood,
            answer,
            probability_needed: needed.map(Score),
        })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        for line in lines(self) {
            text.line(&line);
        }
    }
}

/// What a plan has for the reply.
struct PlanReport {
    status: TaskStatus,
    target: String,
    goals: Vec<GoalReply>,
    trace: Vec<StepReply>,
    understood: Option<Understood>,
    answer: Option<String>,
    needed: Option<f32>,
}

impl PlanReport {
    fn of_dispatch(dispatch: Dispatch) -> Self {
        let goals = GoalReply::list(&dispatch.goals);
        Self { status: TaskStatus::Dispatched, goals, ..Self::of(dispatch.target) }
    }

    fn of(target: String) -> Self {
        let (status, goals, trace) = (TaskStatus::NotDispatched, Vec::new(), Vec::new());
        Self { status, target, goals, trace, understood: None, answer: None, needed: None }
    }
}

fn by_rules(context: &Context, session: SessionName<'_>) -> Result<PlanReport, RetrievalError> {
    let plan = retrieval::plan(&context.retrieval, session)?;
    let ExecutedPlan { trace, outcome, reference, unmet, whereabouts } = plan;
    let understood = Some(Understood::of(&reference, unmet));
    let told = match outcome {
        Outcome::Dispatched(dispatch) => PlanReport::of_dispatch(dispatch),
        Outcome::Unsure(Offer { planned, needed }) => {
            let told = PlanReport::of_dispatch(planned);
            PlanReport { status: TaskStatus::Unsure, needed: Some(needed), ..told }
        }
        Outcome::Answered(answer) => {
            let told = PlanReport::of(reference.thing);
            PlanReport { status: TaskStatus::Answered, answer: Some(answer), ..told }
        }
        Outcome::NotDispatched => PlanReport::of(reference.thing),
    };
    let trace = trace.iter().map(|step| step_reply(context, session.name, step)).collect();
    let answer = told.answer.or(whereabouts);
    Ok(PlanReport { trace, understood, answer, ..told })
}

/// A reply that came over the socket, in words.
pub fn describe(reply: Map<String, Value>) -> Result<Vec<String>, serde_json::Error> {
    Ok(lines(&serde_json::from_value(Value::Object(reply))?))
}

/// A reply in words: the goals, then the calls that led to them.
fn lines(reply: &Reply) -> Vec<String> {
    let mut lines = vec![headline(reply)];
    lines.extend(reply.understood.iter().flat_map(Understood::lines));
    for (number, GoalReply { position: [x, y, _], probability, reason, .. }) in
        (1..).zip(&reply.goals)
    {
        let percent = 100.0 * probability.round();
        let percent = if percent < 0.5 { "under 1".to_owned() } else { format!("{percent:.0}") };
        lines.push(format!("  go to {number}. ({x:.1}, {y:.1}), {percent} %: {reason}"));
    }
    if reply.trace.is_empty() {
        return lines;
    }
    lines.push("how it was found:".to_owned());
    for (number, step) in (1..).zip(&reply.trace) {
        lines.push(format!("  {number}. {}: {}", call_line(step), step.why));
        lines.push(format!("     → {}", step.result));
    }
    lines
}

/// The task with its target, its answer, or what it was taken for.
fn headline(reply: &Reply) -> String {
    let Reply { status, task, target, understood, answer, probability_needed, .. } = reply;
    if let Some(needed) = probability_needed {
        return format!("{task}: {target}; no robot is sent: {}", explain_unsure(reply, *needed));
    }
    let outcome = match (status, answer, understood) {
        (TaskStatus::Dispatched, ..) | (_, None, None) => target.clone(),
        (_, Some(answer), _) => answer.clone(),
        (_, None, Some(understood)) => format!("no robot is sent: {}", understood.explain_intent()),
    };
    format!("{task}: {outcome}")
}

/// What it would need, and how the robot is sent all the same.
fn explain_unsure(reply: &Reply, needed: Score) -> String {
    let percent = |it: Score| 100.0 * it.round();
    let likeliest = reply.goals.first().map_or(Score(0.0), |it| it.probability);
    format!(
        "the first place has {:.0} %, {:.0} % is needed (retrieval.probability_min); {} sends it \
         all the same",
        percent(likeliest),
        percent(needed),
        SearchCurrentTarget::NAME
    )
}

/// `recall_last_seen("a purple book")`
fn call_line(step: &StepReply) -> String {
    let argument = |(name, value): (&String, &Value)| match name.as_str() {
        QUERY | DESCRIPTION => value.to_string(),
        _ => format!("{name} {}", value.to_string().trim_matches('"')),
    };
    let arguments: Vec<String> = step.arguments.iter().map(argument).collect();
    format!("{}({})", step.tool, arguments.join(", "))
}
