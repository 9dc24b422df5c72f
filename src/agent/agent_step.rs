//! `agent_step`: makes the calls that a language model's reply asks for, and says
//! what to ask it next.
//!
//! A reply that asks for what cannot be done changes nothing: everything that can be
//! checked is checked before the first call is made.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::agent::prompt::{PromptTemplate, Scene};
use crate::agent::reply::{self, Call, LAST_STEP, MomentAnswer, PlannerReply};
use crate::base::RecordId;
use crate::base::caller::{Role, Roles};
use crate::base::time::Timestamp;
use crate::retrieval::session::{ModelStep, Scratchpad, Session};
use crate::retrieval::sessions::SessionName;
use crate::tools::action::AgentRole;
use crate::tools::args::{self, Args, Kind, Param, argument_error};
use crate::tools::dispatch::Tools;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, Image, ToolBox as _, ToolError, ToolReply, Toolset};

pub(super) struct AgentStep;

/// Longest reply of a model.
pub(super) const REPLY_BYTES_MAX: usize = 256 << 10;
/// Ids that a refusal names.
const IDS_SHOWN_MAX: usize = 20;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentStepReply {
    status: StepStatus,
    calls: Vec<CallReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerReply>,
    prompt: Option<String>,
    session: String,
    #[serde(skip)]
    images: Vec<Image>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StepStatus {
    Continue,
    Finished,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CallReply {
    tool: &'static str,
    arguments: Map<String, Value>,
    result: Option<Map<String, Value>>,
    error: Option<String>,
    // The result in words.
    #[serde(skip)]
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AnswerReply {
    reasoning: String,
    moment_ids: Vec<String>,
}

impl Tool for AgentStep {
    type Context = Agent;
    type Request = String;
    type Reply = AgentStepReply;

    const NAME: &'static str = "agent_step";
    const TITLE: &'static str = "Carry out a language model's reply";
    const DESCRIPTION: &'static str = "For a program that runs a language model with the prompts \
        object-retrieval or moment-retrieval: takes the model's raw reply, makes the calls that \
        it asks for, and returns their results and the next prompt.";
    const TOOLSET: Toolset = Toolset::ObjectRetrieval;
    // Its calls recall, and one of them sends the robot off.
    const HINTS: Hints = Hints::ACTS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[Param::required(
        "reply",
        Kind::Text { bytes_max: REPLY_BYTES_MAX },
        "As it is: JSON, also in a code fence or with doubled braces.",
    )];

    fn parse(args: &Args, _: &Agent, _: SessionName<'_>) -> Result<String, ToolError> {
        Ok(args.required_text("reply")?.to_owned())
    }

    fn run(
        agent: &Agent,
        session: SessionName<'_>,
        reply: String,
    ) -> Result<AgentStepReply, ToolError> {
        let Stepped { made, answer, is_finished, role } = take(&agent.tools, session, &reply)?;
        let prompt = (!is_finished).then(|| prompt(&agent.tools, session, role)).transpose()?;
        let mut images = Vec::new();
        Ok(AgentStepReply {
            status: if is_finished { StepStatus::Finished } else { StepStatus::Continue },
            calls: made.into_iter().map(|made| CallReply::of(made, &mut images)).collect(),
            answer: answer.map(AnswerReply::of),
            prompt,
            session: session.name.to_owned(),
            images,
        })
    }
}

impl CallReply {
    /// Puts the images of the call's reply to `images`.
    fn of(made: Made, images: &mut Vec<Image>) -> Self {
        let Made { tool, arguments, why: _, outcome } = made;
        match outcome {
            Ok(ToolReply { structured, text, images: seen }) => {
                images.extend(seen);
                Self { tool, arguments, result: Some(structured), error: None, text }
            }
            Err(error) => {
                let text = error.clone();
                Self { tool, arguments, result: None, error: Some(error), text }
            }
        }
    }
}

impl AnswerReply {
    fn of(MomentAnswer { reasoning, moment_ids }: MomentAnswer) -> Self {
        Self { reasoning, moment_ids: moment_ids.iter().map(u64::to_string).collect() }
    }
}

impl tool::Reply for AgentStepReply {
    fn write(&self, text: &mut Text) {
        for CallReply { tool, arguments, error, text: result, .. } in &self.calls {
            text.line(&format!("{}:", format_call(tool, arguments)));
            match error {
                Some(error) => text.line(error),
                None => result.lines().for_each(|line| text.line(line)),
            }
        }
        if let Some(AnswerReply { moment_ids, .. }) = &self.answer {
            let ids = if moment_ids.is_empty() { "none".to_owned() } else { moment_ids.join(", ") };
            text.line(&format!("Answer: moments {ids}."));
        }
    }

    fn take_images(&mut self) -> Vec<Image> {
        std::mem::take(&mut self.images)
    }
}

/// What became of a reply.
#[derive(Debug)]
pub(super) struct Stepped {
    pub(super) made: Vec<Made>,
    /// Set where the reply was the closing answer about moments.
    pub(super) answer: Option<MomentAnswer>,
    pub(super) is_finished: bool,
    role: AgentRole,
}

/// A call that was made.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) tool: &'static str,
    pub(super) arguments: Map<String, Value>,
    /// What the model said that it was for; may be empty.
    pub(super) why: String,
    /// An error is in words for the model.
    pub(super) outcome: Result<ToolReply, String>,
}

/// Carries a reply out and notes it in the session.
pub(super) fn take(
    tools: &Tools,
    session: SessionName<'_>,
    reply: &str,
) -> Result<Stepped, ToolError> {
    match reply::parse(reply).map_err(|error| argument_error(error.to_string()))? {
        PlannerReply::Answer(answer) => {
            refuse_unknown_ids(&tools.context().retrieval.session(session), &answer)?;
            let role = AgentRole::MomentRetrieval;
            Ok(Stepped { made: Vec::new(), answer: Some(answer), is_finished: true, role })
        }
        PlannerReply::Calls(calls) => carry(tools, session, calls),
    }
}

/// Refuses ids that no recall of the session returned: a model that makes up an id
/// would point the user to a moment that shows something else.
fn refuse_unknown_ids(session: &Session, answer: &MomentAnswer) -> Result<(), ToolError> {
    let is_known = |id: u64| session.was_returned(RecordId(id));
    let unknown: Vec<u64> = answer.moment_ids.iter().copied().filter(|id| !is_known(*id)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let listed = |ids: &mut dyn Iterator<Item = u64>| {
        ids.take(IDS_SHOWN_MAX).map(|id| id.to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut returned: Vec<u64> =
        session.answers.iter().flat_map(|it| &it.records).map(|id| id.0).collect();
    returned.extend(session.working_memory.iter().map(|id| id.0));
    returned.sort_unstable();
    returned.dedup();
    let accepted = if returned.is_empty() {
        "[], as nothing was retrieved yet".to_owned()
    } else {
        format!("those that were, such as {}", listed(&mut returned.into_iter()))
    };
    Err(argument_error(format!(
        "the reply's \"moment_ids\" has {}, which no call of this session returned; accepted are {accepted}",
        listed(&mut unknown.into_iter())
    )))
}

fn carry(tools: &Tools, session: SessionName<'_>, calls: Vec<Call>) -> Result<Stepped, ToolError> {
    for call in &calls {
        tools.check(session.caller, session.name, call.tool, call.arguments.clone())?;
    }
    let is_alone = calls.len() == 1;
    let role = calls.last().map_or(AgentRole::ObjectRetrieval, Call::role);
    let (mut made, mut steps, mut scratchpad) = (Vec::new(), Vec::new(), Scratchpad::default());
    for Call { tool, arguments, history_summary, current_task } in calls {
        let outcome = match call(tools, session, tool, arguments.clone()) {
            Ok(reply) => Ok(reply),
            Err(error @ ToolError::Fault(_)) => return Err(error),
            Err(error) if is_alone => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        let result = outcome.as_ref().map_or_else(Clone::clone, |reply| reply.text.clone());
        steps.push(ModelStep { call: format_call(tool, &arguments), result });
        made.push(Made { tool, arguments, why: current_task.clone(), outcome });
        scratchpad = Scratchpad { history_summary, current_task };
    }
    let context = tools.context();
    let noted = context.retrieval.update(session, |it| it.record_steps(steps, scratchpad));
    noted.map_err(|error| refusal(context, error))?;
    let is_finished = made.iter().any(|made| made.tool == LAST_STEP);
    Ok(Stepped { made, answer: None, is_finished, role })
}

/// A call as any client could make it in this session.
pub(super) fn call(
    tools: &Tools,
    session: SessionName<'_>,
    tool: &str,
    mut arguments: Map<String, Value>,
) -> Result<ToolReply, ToolError> {
    if session.is_kept {
        arguments.insert(args::SESSION.name.to_owned(), json!(session.name));
    }
    tools.call(session.caller, session.name, tool, arguments)
}

/// `recall_all {"query":"a mug"}`
pub(super) fn format_call(tool: &str, arguments: &Map<String, Value>) -> String {
    if arguments.is_empty() { tool.to_owned() } else { format!("{tool} {}", json!(arguments)) }
}

/// The prompt for the step that a session is at.
pub(super) fn prompt(
    tools: &Tools,
    session: SessionName<'_>,
    role: AgentRole,
) -> Result<String, ToolError> {
    let state = tools.context().retrieval.session(session);
    let task = state.task.as_ref().map_or("(not told; start_task tells it)", |task| &task.text);
    fill(tools, session, task, None, &state, role)
}

/// A prompt about this task, as of `now` or of what counts as now in the session.
pub(super) fn fill(
    tools: &Tools,
    session: SessionName<'_>,
    task: &str,
    now: Option<Timestamp>,
    state: &Session,
    role: AgentRole,
) -> Result<String, ToolError> {
    let context = tools.context();
    let reading = context.reading(session);
    let now = reading.zone.format(now.unwrap_or(reading.now));
    let holdings = format!("The {}.", crate::tools::reply::holdings(context));
    let scene = Scene { task, now: &now, holdings: &holdings, session: state };
    PromptTemplate::of(role).fill(&context.options.prompts_dirs, &scene)
}
