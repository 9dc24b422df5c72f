//! The tools as an agent uses them: every tool of the memory, and those that take
//! a whole task and make the calls themselves.
//!
//! Whatever is done here is done by calls that any client could make, so that the trace
//! of a plan can be replayed.

mod agent_step;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod json;
pub mod model;
mod prompt;
mod prompts;
mod reply;
pub mod retrieve_object;
mod understood;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::agent_step::AgentStep;
use crate::agent::model::ModelPlanner;
use crate::agent::retrieve_object::RetrieveObject;
use crate::base::caller::Caller;
use crate::retrieval::sessions::SessionName;
use crate::tools::context::Context;
use crate::tools::dispatch::Tools;
use crate::tools::tool::{AnyTool, ToolContext, find};
use crate::tools::{
    self, CallMetrics, PromptSpec, Resource, ResourcePage, ToolBox, ToolError, ToolReply, ToolSpec,
    Toolset,
};

/// The memory's tools and the planners over them.
#[derive(Debug)]
pub struct Agent {
    tools: Tools,
    catalog: Vec<ToolSpec>,
    prompts: Vec<PromptSpec>,
    /// The language model that plans, where one is configured.
    model: Option<ModelPlanner>,
}

impl Agent {
    pub fn new(tools: Tools) -> Self {
        Self { tools, catalog: specs(&Toolset::ALL), prompts: prompts::specs(), model: None }
    }

    /// Lets a language model plan, too.
    #[must_use]
    pub fn with_model(self, options: Option<model::Options>) -> Self {
        Self { model: options.map(ModelPlanner::new), ..self }
    }

    /// Shows clients the tools of these toolsets only. Every tool can be called.
    #[must_use]
    pub fn listing(self, toolsets: &[Toolset]) -> Self {
        Self { catalog: specs(toolsets), ..self }
    }
}

/// The tools that are added to the memory's.
const TOOLS: &[&dyn AnyTool<Agent>] = &[&AgentStep, &RetrieveObject];

/// The tools of these toolsets, in the order in which clients see them listed.
pub fn specs(toolsets: &[Toolset]) -> Vec<ToolSpec> {
    let mut specs = tools::specs(toolsets);
    let own = TOOLS.iter().map(|tool| tool.spec());
    specs.extend(own.filter(|spec| toolsets.contains(&spec.toolset)));
    specs.sort_by_key(|spec| spec.toolset);
    specs
}

impl ToolContext for Agent {
    fn text_max_chars(&self) -> usize {
        self.tools.context().text_max_chars()
    }

    fn memory(&self) -> &Context {
        self.tools.context()
    }
}

impl ToolBox for Agent {
    fn catalog(&self) -> &[ToolSpec] {
        &self.catalog
    }

    fn specs_of(&self, toolsets: &[Toolset]) -> Vec<ToolSpec> {
        specs(toolsets)
    }

    fn call_metrics(&self) -> Arc<CallMetrics> {
        self.tools.call_metrics()
    }

    fn is_brief(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        self.tools.is_brief(tool, arguments)
    }

    fn call(
        &self,
        caller: &Caller,
        session: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        match find(TOOLS, tool) {
            Some(own) => own.call(self, (caller, session), arguments),
            None => self.tools.call(caller, session, tool, arguments),
        }
    }

    fn prompts(&self) -> &[PromptSpec] {
        &self.prompts
    }

    fn prompt(
        &self,
        caller: &Caller,
        session: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<String, ToolError> {
        let own = SessionName { caller, name: session, is_kept: false };
        let get = || prompts::get(&self.tools, own, name, &arguments);
        self.tools.counted("prompts/get", get)
    }

    fn resource(&self, caller: &Caller, uri: &str) -> Result<Option<Resource>, ToolError> {
        self.tools.resource(caller, uri)
    }

    fn resources(&self, caller: &Caller, cursor: Option<&str>) -> Result<ResourcePage, ToolError> {
        self.tools.resources(caller, cursor)
    }

    fn complete(
        &self,
        caller: &Caller,
        template: &str,
        prefix: &str,
    ) -> Result<Vec<String>, ToolError> {
        self.tools.complete(caller, template, prefix)
    }

    fn backup(
        &self,
        caller: &Caller,
        session: &str,
        question: &[u8],
    ) -> Result<Vec<u8>, ToolError> {
        self.tools.backup(caller, session, question)
    }

    fn transfer(
        &self,
        caller: &Caller,
        session: &str,
        step: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolReply, ToolError> {
        self.tools.transfer(caller, session, step, arguments)
    }

    fn close_session(&self, caller: &Caller, session: &str) {
        self.tools.close_session(caller, session);
    }
}
