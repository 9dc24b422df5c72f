//! `prompt_render`: a template is filled with an agent's memory and with variables.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::caller::{Role, Roles};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::state::template::{self, TEMPLATE_BYTES_MAX};
use crate::tools::state::{AGENT, agent, refusal_of};
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct PromptRender;

/// What is rendered, with what.
pub(crate) struct Request {
    agent: String,
    template: Template,
    variables: Map<String, Value>,
    strict: bool,
}

enum Template {
    Text(String),
    File(String),
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    text: String,
    /// Names that neither the memory nor the variables hold.
    missing: Vec<String>,
}

impl Tool for PromptRender {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "prompt_render";
    const TITLE: &'static str = "Render a prompt";
    const DESCRIPTION: &'static str = "Fills a prompt template with the agent's memory and with variables. What is missing reads None and is listed.";
    const TOOLSET: Toolset = Toolset::State;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional(
            "template",
            Kind::Text { bytes_max: TEMPLATE_BYTES_MAX },
            "With $memory[key], $memory[key][inner], $name, ${name} and $$.",
        ),
        Param::optional(
            "file",
            Kind::Text { bytes_max: 256 },
            "Instead: name of one in the prompts directory.",
        ),
        Param::optional("variables", Kind::Object, "Of $name and ${name}."),
        Param::optional("strict", Kind::Flag, "Refuse one that names what is missing."),
        AGENT,
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        Ok(Request {
            template: template_of(args)?,
            variables: args.object("variables")?.unwrap_or_default(),
            strict: args.flag("strict")?,
            agent: agent(args)?,
        })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { agent, template, variables, strict } = request;
        let template = match template {
            Template::Text(text) => text,
            Template::File(name) => template::read(&context.options.prompts_dirs, &name)?,
        };
        let rendered = context.state.render(&agent, &template, &variables);
        let rendered = rendered.map_err(refusal_of("template"))?;
        if strict && !rendered.missing.is_empty() {
            return Err(incomplete(&agent, &rendered.missing));
        }
        Ok(Reply { text: rendered.text, missing: rendered.missing })
    }
}

fn template_of(args: &Args) -> Result<Template, ToolError> {
    match (args.text("template")?, args.text("file")?) {
        (Some(template), None) => Ok(Template::Text(template.to_owned())),
        (None, Some(file)) => Ok(Template::File(file.to_owned())),
        (template, _) => {
            let came = if template.is_some() { "both" } else { "none" };
            Err(argument_error(format!(
                "one of the arguments \"template\" and \"file\" is accepted; {came} came"
            )))
        }
    }
}

fn incomplete(agent: &str, missing: &[String]) -> ToolError {
    ToolError::Refused(format!(
        "the template names what agent {agent:?} and the variables do not hold: {}; nothing was \
         rendered, as \"strict\" is true",
        missing.join(", ")
    ))
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        self.text.lines().for_each(|line| text.line(line));
        if !self.missing.is_empty() {
            text.line("");
            text.line(&format!("(missing: {})", self.missing.join(", ")));
        }
    }
}
