//! From a name and its arguments to the tool, and from its reply to the caller.

use std::sync::Arc;

use crate::base::caller::Caller;
use crate::retrieval::sessions::SessionName;
use crate::tools::browse::Browse;
use crate::tools::context::Context;
use crate::tools::metrics::{CallMetrics, Reason};
use crate::tools::tool::{AnyTool, Arguments, find, is_brief_call};
use crate::tools::transfer::export::Export;
use crate::tools::transfer::import::Import;
use crate::tools::{
    Resource, ResourcePage, ToolBox, ToolError, ToolReply, ToolSpec, access, backup, catalog,
    metrics, resources,
};

/// The memory's tools over a running memory.
#[derive(Debug)]
pub struct Tools {
    context: Context,
    catalog: Vec<ToolSpec>,
}

impl Tools {
    pub fn new(context: Context) -> Self {
        Self { context, catalog: catalog::all() }
    }

    /// What the tools work on, for the layer that makes calls on behalf of an agent.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Does what is no tool, and counts a refusal as a tool's are.
    pub(crate) fn counted<T>(
        &self,
        what: &'static str,
        work: impl FnOnce() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        work().inspect_err(|error| self.context.calls.refused_by(what, error))
    }

    /// Whether a call's arguments pass their checks; makes no call.
    pub(crate) fn check(
        &self,
        caller: &Caller,
        session: &str,
        tool: &str,
        arguments: Arguments,
    ) -> Result<(), ToolError> {
        tool_named(tool)?.check(&self.context, (caller, session), arguments)
    }
}

/// Called like tools, and listed nowhere.
const UNLISTED: &[&dyn AnyTool<Context>] = &[&Export, &Import, &Browse];

fn tool_named(name: &str) -> Result<&'static dyn AnyTool<Context>, ToolError> {
    find(catalog::TOOLS, name).ok_or_else(|| ToolError::UnknownTool(name.to_owned()))
}

impl ToolBox for Tools {
    fn catalog(&self) -> &[ToolSpec] {
        &self.catalog
    }

    fn call_metrics(&self) -> Arc<CallMetrics> {
        Arc::clone(&self.context.calls)
    }

    fn is_brief(&self, tool: &str, arguments: &Arguments) -> bool {
        find(catalog::TOOLS, tool).is_some_and(|tool| is_brief_call(tool, arguments))
    }

    fn call(
        &self,
        caller: &Caller,
        session: &str,
        tool: &str,
        arguments: Arguments,
    ) -> Result<ToolReply, ToolError> {
        let found = tool_named(tool).inspect_err(|_unknown| {
            // Not under its name, of which there are as many as clients think of.
            self.context.calls.refused(Reason::UnknownTool);
        })?;
        found.call(&self.context, (caller, session), arguments)
    }

    fn resource(&self, caller: &Caller, uri: &str) -> Result<Option<Resource>, ToolError> {
        self.counted("resources/read", || {
            if uri == metrics::URI {
                access::permit(&self.context, caller, uri, metrics::ROLES)?;
                let text = metrics::write(&self.context)?;
                return Ok(Some(Resource::Text { mime: metrics::MIME, text }));
            }
            access::permit(&self.context, caller, "resources/read", resources::ROLES)?;
            resources::read(&self.context, uri)
        })
    }

    fn resources(&self, caller: &Caller, cursor: Option<&str>) -> Result<ResourcePage, ToolError> {
        self.counted("resources/list", || {
            access::permit(&self.context, caller, "resources/list", resources::ROLES)?;
            resources::list(&self.context, cursor)
        })
    }

    fn complete(
        &self,
        caller: &Caller,
        template: &str,
        prefix: &str,
    ) -> Result<Vec<String>, ToolError> {
        self.counted("completion/complete", || {
            access::permit(&self.context, caller, "completion/complete", resources::ROLES)?;
            resources::complete(&self.context, template, prefix)
        })
    }

    fn backup(
        &self,
        caller: &Caller,
        session: &str,
        question: &[u8],
    ) -> Result<Vec<u8>, ToolError> {
        self.counted(backup::NAME, || backup::answer(&self.context, caller, session, question))
    }

    fn transfer(
        &self,
        caller: &Caller,
        session: &str,
        step: &str,
        arguments: Arguments,
    ) -> Result<ToolReply, ToolError> {
        let step = find(UNLISTED, step).ok_or_else(|| ToolError::UnknownTool(step.to_owned()))?;
        step.call(&self.context, (caller, session), arguments)
    }

    fn close_session(&self, caller: &Caller, session: &str) {
        self.context.backups.end_of(session);
        let own = SessionName { caller, name: session, is_kept: false };
        self.context.retrieval.close_session(own);
    }
}
