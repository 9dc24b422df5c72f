//! The planner that is a language model: asked with the project's prompt, its replies
//! carried out one by one, until it sends the robot off or a bound is reached.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::agent::agent_step::{self, Made};
use crate::agent::prompt;
use crate::agent::reply::LAST_STEP;
use crate::model::endpoint::{self, Endpoint, Form, Question};
use crate::retrieval::search::Dispatch;
use crate::retrieval::sessions::SessionName;
use crate::tools::ToolError;
use crate::tools::action::AgentRole;
use crate::tools::dispatch::Tools;
use crate::tools::object_retrieval::refusal::refusal;
use crate::tools::object_retrieval::trace::{StepReply, headline};

/// Which model plans, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub endpoint: endpoint::Options,
    /// Replies that are asked for, those that cannot be used among them.
    pub steps_max: usize,
    /// All replies together, so that the call that waits for them has its answer in
    /// time.
    pub time_max: Duration,
}

/// Tasks that are planned at once. A model's server answers one after the other, and
/// each task holds one of the few threads on which calls run.
const AT_ONCE_MAX: usize = 2;

/// Characters of what was wrong that the model is told.
const FAULT_CHARS_MAX: usize = 1_500;

/// A language model that plans.
#[derive(Debug)]
pub(super) struct ModelPlanner {
    endpoint: Endpoint,
    steps_max: usize,
    time_max: Duration,
    at_work: AtomicUsize,
}

impl ModelPlanner {
    pub(super) fn new(options: Options) -> Self {
        let Options { endpoint, steps_max, time_max } = options;
        let endpoint = Endpoint::new(endpoint);
        Self { endpoint, steps_max, time_max, at_work: AtomicUsize::new(0) }
    }

    /// Has the model work on the session's task until it has sent the robot off; its calls
    /// and the goals.
    pub(super) fn plan(
        &self,
        tools: &Tools,
        session: SessionName<'_>,
    ) -> Result<(Vec<StepReply>, Dispatch), ToolError> {
        let _place = self.place()?;
        let mut trace: Vec<StepReply> = Vec::new();
        let started = tools.context().clock.tick();
        let mut fault: Option<String> = None;
        for _ in 0..self.steps_max {
            let left = self.time_max.saturating_sub(started.elapsed());
            if left.is_zero() {
                let why = format!("did not get done within {} s", self.time_max.as_secs());
                return Err(gave_up(&trace, &why, fault.as_deref()));
            }
            let question = question(tools, session, fault.as_deref())?;
            let question =
                Question { system: None, user: &question, image: None, form: Form::default() };
            let reply = self.endpoint.ask(question, left);
            let reply = reply.map_err(|error| ToolError::Refused(error.to_string()))?;
            match agent_step::take(tools, session, &reply.text) {
                Ok(stepped) if stepped.answer.is_some() => {
                    fault =
                        Some("the task is to find a thing, and is answered by calls".to_owned());
                }
                Ok(stepped) => {
                    fault = None;
                    trace.extend(stepped.made.into_iter().map(step_reply));
                    if stepped.is_finished {
                        return Ok((trace, current_dispatch(tools, session)?));
                    }
                }
                Err(fault @ ToolError::Fault(_)) => return Err(fault),
                Err(error) => fault = Some(error.to_string()),
            }
        }
        let why = format!("did not get done in {} replies", self.steps_max);
        Err(gave_up(&trace, &why, fault.as_deref()))
    }

    fn place(&self) -> Result<WorkPermit<'_>, ToolError> {
        let place = WorkPermit(&self.at_work);
        if self.at_work.fetch_add(1, Ordering::AcqRel) >= AT_ONCE_MAX {
            return Err(ToolError::Refused(format!(
                "the model plans {AT_ONCE_MAX} other tasks; ask again later, or use planner \"rules\""
            )));
        }
        Ok(place)
    }
}

/// Given back when dropped.
struct WorkPermit<'a>(&'a AtomicUsize);

impl Drop for WorkPermit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A call as the trace has it.
fn step_reply(made: Made) -> StepReply {
    let Made { tool, arguments, why, outcome } = made;
    let text = outcome.map_or_else(|error| error, |reply| reply.text);
    StepReply { tool: tool.to_owned(), arguments, why, result: headline(&text).to_owned() }
}

/// The goals that the model's last call gave to the robot.
fn current_dispatch(tools: &Tools, session: SessionName<'_>) -> Result<Dispatch, ToolError> {
    let context = tools.context();
    context.retrieval.current_dispatch(session).map_err(|error| refusal(context, error))
}

fn question(
    tools: &Tools,
    session: SessionName<'_>,
    fault: Option<&str>,
) -> Result<String, ToolError> {
    let mut question = agent_step::prompt(tools, session, AgentRole::ObjectRetrieval)?;
    if let Some(fault) = fault {
        let fault = prompt::data(fault, FAULT_CHARS_MAX);
        question.push_str(&format!(
            "\nYour last reply could not be used and changed nothing: {fault}\nReply again.\n"
        ));
    }
    Ok(question)
}

fn gave_up(trace: &[StepReply], why: &str, fault: Option<&str>) -> ToolError {
    let calls: Vec<&str> = trace.iter().map(|step| step.tool.as_str()).collect();
    let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(", ") };
    let fault = fault.map_or_else(String::new, |fault| {
        format!("; its last reply could not be used: {}", prompt::data(fault, 300))
    });
    ToolError::Refused(format!(
        "the model {why} with {LAST_STEP} (its calls: {calls}){fault}; planner \"rules\" needs no model"
    ))
}
