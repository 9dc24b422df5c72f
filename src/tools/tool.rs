//! What a tool is: the trait that each implements, and its form without types, in
//! which the lists hold it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::{Deed, Outcome, Urgency};
use crate::base::caller::{Caller, Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::access;
use crate::tools::action::Action;
use crate::tools::args::{self, Args, Param, SESSION};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::{Hints, Image, ToolError, ToolReply, ToolSpec, Toolset, schema};

/// A tool: one file of this folder, one type without fields.
///
/// All that is known of a tool stands in its implementation, and all else is made of
/// it: the listing and both schemas, the form for OpenAI's API, the dispatch, whether
/// the server may answer on the thread that read the call, and what an agent's reply
/// may name. A tool is there once it stands in the list of its layer:
/// `tools::catalog::TOOLS`, in the order of listing.
///
/// A call takes this way: JSON → [`Args`] (checked against `PARAMS`) → `parse` →
/// `Request` → `run` → `Reply` → JSON and text, both made here, once. The reply's
/// `Serialize` gives the keys in the order of its fields, its `JsonSchema` the output
/// schema; a key that may be absent is an `Option` with `skip_serializing_if`. What only
/// the text says is a field with `#[serde(skip)]`.
///
/// `Context` is what the tool works on: the memory's `context::Context` here, the
/// agent with its planner one layer up.
pub(crate) trait Tool: Sync + 'static {
    type Context: ToolContext;
    /// A call that passed the checks of its arguments.
    type Request;
    type Reply: Reply;

    const NAME: &'static str;
    /// Other names under which it can be called; not listed.
    const ALIASES: &'static [&'static str] = &[];
    const TITLE: &'static str;
    /// For the language model that chooses among the tools.
    const DESCRIPTION: &'static str;
    const TOOLSET: Toolset;
    const HINTS: Hints;
    /// A caller needs one of them. A tool that no reader may call is audited.
    const ROLES: Roles;
    /// Whether it is called many times a second, and its entries in the audit log are summed
    /// up.
    const IS_FREQUENT: bool = false;
    const PARAMS: &'static [Param];
    /// Whether a call takes about a millisecond: it computes and reads memory, writes
    /// nothing and waits for nothing.
    const IS_BRIEF: bool = false;
    /// How an agent's reply names it; `None` where it may not.
    const ACTION: Option<Action> = None;

    /// Checks what the types of the arguments cannot say. Changes nothing.
    fn parse(
        args: &Args,
        context: &Self::Context,
        session: SessionName<'_>,
    ) -> Result<Self::Request, ToolError>;

    /// Carries the call out; a change is on disk when it returns.
    fn run(
        context: &Self::Context,
        session: SessionName<'_>,
        request: Self::Request,
    ) -> Result<Self::Reply, ToolError>;
}

/// What a tool answers.
pub(crate) trait Reply: Serialize + JsonSchema {
    /// The same for a language model: short lines, no repeated keys.
    fn write(&self, text: &mut Text);

    /// What the call changed or erased, for the audit log; `None` where nothing.
    fn changed(&self) -> Option<Changed> {
        Some(Changed { count: 1, ids: Vec::new() })
    }

    /// Encoded images that go with it.
    fn take_images(&mut self) -> Vec<Image> {
        Vec::new()
    }
}

/// What a call changed or erased.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) count: usize,
    /// Which; they say nothing of the content.
    pub(crate) ids: Vec<String>,
}

impl Changed {
    pub(crate) fn of(ids: Vec<String>) -> Self {
        Self { count: ids.len(), ids }
    }
}

/// What tools work on.
pub(crate) trait ToolContext: 'static {
    /// Characters of a reply's text, at most.
    fn text_max_chars(&self) -> usize;

    /// The memory that it works on in the end.
    fn memory(&self) -> &Context;
}

impl ToolContext for Context {
    fn text_max_chars(&self) -> usize {
        self.options.text_max_chars
    }

    fn memory(&self) -> &Context {
        self
    }
}

/// A [`Tool`] without its types.
pub(crate) trait AnyTool<C>: Sync {
    fn name(&self) -> &'static str;

    fn aliases(&self) -> &'static [&'static str];

    /// As clients see it listed.
    fn spec(&self) -> ToolSpec;

    fn is_brief(&self) -> bool;

    fn action(&self) -> Option<Action>;

    /// Whether the caller may make this call and the arguments pass their checks; carries
    /// nothing out. With the caller comes the name of its own session, which an argument
    /// overrides.
    fn check(&self, context: &C, own: OwnSession<'_>, values: Arguments) -> Result<(), ToolError>;

    /// Carries a call out, in the session that [`AnyTool::check`] speaks of.
    fn call(
        &self,
        context: &C,
        own: OwnSession<'_>,
        values: Arguments,
    ) -> Result<ToolReply, ToolError>;
}

/// Who calls, and the name of its connection's session.
pub(crate) type OwnSession<'a> = (&'a Caller, &'a str);

/// The arguments of a call as they came.
pub(crate) type Arguments = Map<String, Value>;

impl<T: Tool> AnyTool<T::Context> for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        T::ALIASES
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME,
            aliases: T::ALIASES,
            title: T::TITLE,
            description: T::DESCRIPTION,
            input_schema: args::schema(T::PARAMS),
            output_schema: schema::of::<T::Reply>(),
            hints: T::HINTS,
            toolset: T::TOOLSET,
            roles: T::ROLES,
        }
    }

    fn is_brief(&self) -> bool {
        T::IS_BRIEF
    }

    fn action(&self) -> Option<Action> {
        T::ACTION
    }

    fn check(
        &self,
        context: &T::Context,
        own: OwnSession<'_>,
        values: Arguments,
    ) -> Result<(), ToolError> {
        access::permit(context.memory(), own.0, T::NAME, T::ROLES)?;
        let args = Args::new(T::PARAMS, values)?;
        let session = args.session(own)?;
        T::parse(&args, context, session).map(drop)
    }

    fn call(
        &self,
        context: &T::Context,
        own: OwnSession<'_>,
        values: Arguments,
    ) -> Result<ToolReply, ToolError> {
        let memory = context.memory();
        let begun = memory.clock.tick();
        let asked_by =
            if T::ROLES.meet(Roles::of(&[Role::Erase])) { names(&values) } else { vec![] };
        let made = || {
            access::permit(memory, own.0, T::NAME, T::ROLES)?;
            let args = Args::new(T::PARAMS, values)?;
            let session = args.session(own)?;
            let request = T::parse(&args, context, session)?;
            let outcome = T::run(context, session, request);
            note::<T>(memory, own.0, asked_by, outcome.as_ref());
            render(outcome?, context.text_max_chars())
        };
        let result = made();
        memory.calls.note(T::NAME, &result, begun.elapsed());
        result
    }
}

/// In the details of an erasure: which arguments said what was to be erased. Not their values,
/// which may say what that was.
pub(crate) const ASKED_BY: &str = "asked_by";

fn names(values: &Arguments) -> Vec<Value> {
    values.keys().map(|name| Value::from(name.as_str())).collect()
}

/// Writes what a call changed to the audit log, and that one failed on the way.
fn note<T: Tool>(
    memory: &Context,
    caller: &Caller,
    asked_by: Vec<Value>,
    outcome: Result<&T::Reply, &ToolError>,
) {
    if T::ROLES.meet(Roles::of(&[Role::Read])) {
        return;
    }
    // Nothing to tell of, unless it was said that it begins.
    let (outcome, changed, is_told) = match outcome {
        Ok(reply) => match reply.changed() {
            Some(changed) => (Outcome::Done, changed, true),
            None => (Outcome::Done, Changed::default(), false),
        },
        Err(ToolError::Fault(_)) => (Outcome::Failed, Changed::default(), true),
        Err(
            ToolError::UnknownTool(_)
            | ToolError::Argument(_)
            | ToolError::Refused(_)
            | ToolError::Forbidden(_),
        ) => (Outcome::Failed, Changed::default(), false),
    };
    let Changed { count, ids } = changed;
    let mut deed = Deed { outcome, ..Deed::done(caller, T::NAME, count as u64, ids) };
    if !asked_by.is_empty() {
        deed.details.insert(ASKED_BY.to_owned(), Value::Array(asked_by));
    }
    let is_erasure = T::ROLES.meet(Roles::of(&[Role::Erase]));
    if (is_erasure && memory.audit.end_own(deed.clone())) || !is_told {
        return;
    }
    let urgency = match (is_erasure, T::IS_FREQUENT) {
        (true, _) => Urgency::OnDisk,
        (false, true) => Urgency::Summed,
        (false, false) => Urgency::Written,
    };
    memory.audit.write(&deed, urgency);
}

/// A reply as JSON and as text.
fn render(mut reply: impl Reply, text_max_chars: usize) -> Result<ToolReply, ToolError> {
    let mut text = Text::new(text_max_chars);
    reply.write(&mut text);
    let images = reply.take_images();
    let json = serde_json::to_value(&reply).map_err(|error| ToolError::Fault(error.to_string()))?;
    let Value::Object(structured) = json else {
        return Err(ToolError::Fault(format!("a reply is no object: {json}")));
    };
    Ok(ToolReply { structured, text: text.finish(), images })
}

/// The tool of this name in a list.
pub(crate) fn find<C>(
    tools: &'static [&'static dyn AnyTool<C>],
    name: &str,
) -> Option<&'static dyn AnyTool<C>> {
    let is_meant = |it: &&&dyn AnyTool<C>| it.name() == name || it.aliases().contains(&name);
    tools.iter().find(is_meant).copied()
}

/// Whether a call of a tool is brief: a session that the call names is written.
pub(crate) fn is_brief_call<C>(tool: &dyn AnyTool<C>, values: &Arguments) -> bool {
    tool.is_brief() && !values.contains_key(SESSION.name)
}
