//! What a tool is: the trait that each implements, and its form without types, in
//! which the lists hold it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::retrieval::sessions::SessionName;
use crate::tools::action::Action;
use crate::tools::args::{self, Args, Param, SESSION};
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

    /// Encoded images that go with it.
    fn take_images(&mut self) -> Vec<Image> {
        Vec::new()
    }
}

/// What tools work on.
pub(crate) trait ToolContext: 'static {
    /// Characters of a reply's text, at most.
    fn text_max_chars(&self) -> usize;
}

/// A [`Tool`] without its types.
pub(crate) trait AnyTool<C>: Sync {
    fn name(&self) -> &'static str;

    fn aliases(&self) -> &'static [&'static str];

    /// As clients see it listed.
    fn spec(&self) -> ToolSpec;

    fn is_brief(&self) -> bool;

    fn action(&self) -> Option<Action>;

    /// Whether the arguments pass their checks; carries nothing out. `session` is the
    /// caller's own, which an argument overrides.
    fn check(&self, context: &C, session: &str, values: Arguments) -> Result<(), ToolError>;

    /// Carries a call out, in the session that [`AnyTool::check`] speaks of.
    fn call(&self, context: &C, session: &str, values: Arguments) -> Result<ToolReply, ToolError>;
}

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
        }
    }

    fn is_brief(&self) -> bool {
        T::IS_BRIEF
    }

    fn action(&self) -> Option<Action> {
        T::ACTION
    }

    fn check(&self, context: &T::Context, own: &str, values: Arguments) -> Result<(), ToolError> {
        let args = Args::new(T::PARAMS, values)?;
        let session = args.session(own)?;
        T::parse(&args, context, session).map(drop)
    }

    fn call(
        &self,
        context: &T::Context,
        own: &str,
        values: Arguments,
    ) -> Result<ToolReply, ToolError> {
        let args = Args::new(T::PARAMS, values)?;
        let session = args.session(own)?;
        let request = T::parse(&args, context, session)?;
        render(T::run(context, session, request)?, context.text_max_chars())
    }
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
