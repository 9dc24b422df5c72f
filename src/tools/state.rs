//! `state_set`, `state_merge`, `state_get`, `state_update_from_reply` and
//! `prompt_render`: what an agent carries from step to step, and prompts with it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::memory::state::StateError;
use crate::memory::state::render::{self, Path as MemoryPath};
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::reply::Text;
use crate::tools::{ToolError, ToolReply};

/// Longest template.
const TEMPLATE_BYTES_MAX: usize = 64 << 10;
/// Longest reply of a model.
const REPLY_BYTES_MAX: usize = 256 << 10;

/// Whose state it is where the caller names nobody.
const DEFAULT_AGENT: &str = "default";

const AGENT: Param = Param::optional(
    "agent",
    Kind::Text { bytes_max: 128 },
    "Whose memory; \"default\" where absent.",
);

pub(crate) const SET: &[Param] = &[
    Param::required("memory", Kind::Object, "The whole memory from now on; {} removes it."),
    AGENT,
];

pub(crate) const MERGE: &[Param] =
    &[Param::required("memory", Kind::Object, "What to lay over the memory, key by key."), AGENT];

pub(crate) const GET: &[Param] = &[
    Param::optional(
        "path",
        Kind::Text { bytes_max: 1_024 },
        "Part of the memory, such as [task_process][goal]; all of it where absent.",
    ),
    AGENT,
];

pub(crate) const UPDATE: &[Param] = &[
    Param::required(
        "reply",
        Kind::Text { bytes_max: REPLY_BYTES_MAX },
        "What the model answered: JSON with a \"memory\" object, also in a code fence.",
    ),
    AGENT,
];

pub(crate) const RENDER: &[Param] = &[
    Param::optional(
        "template",
        Kind::Text { bytes_max: TEMPLATE_BYTES_MAX },
        "Text with $memory[key], $memory[key][inner], $name, ${name} and $$.",
    ),
    Param::optional(
        "file",
        Kind::Text { bytes_max: 256 },
        "Name of a template in the prompts directory, instead of template.",
    ),
    Param::optional("variables", Kind::Object, "Values of $name and ${name}."),
    Param::optional("strict", Kind::Flag, "Refuse a template that names what is missing."),
    AGENT,
];

/// A checked call of one of the tools here.
#[derive(Debug)]
pub(crate) struct Request {
    agent: String,
    what: What,
}

#[derive(Debug)]
enum What {
    Set(Map<String, Value>),
    Merge(Map<String, Value>),
    Get { path: Option<String> },
    Update { reply: String },
    Render { template: Template, variables: Map<String, Value>, strict: bool },
}

#[derive(Debug)]
enum Template {
    Text(String),
    File(String),
}

impl Request {
    pub(crate) fn set(args: &Args) -> Result<Self, ToolError> {
        Self::of(args, What::Set(args.object("memory")?.unwrap_or_default()))
    }

    pub(crate) fn merge(args: &Args) -> Result<Self, ToolError> {
        Self::of(args, What::Merge(args.object("memory")?.unwrap_or_default()))
    }

    pub(crate) fn get(args: &Args) -> Result<Self, ToolError> {
        let path = args.text("path")?;
        if let Some(Err(error)) = path.map(MemoryPath::parse) {
            let path = path.unwrap_or_default();
            return Err(refused(format!("argument \"path\" is {path:?}: {error}")));
        }
        Self::of(args, What::Get { path: path.map(str::to_owned) })
    }

    pub(crate) fn update(args: &Args) -> Result<Self, ToolError> {
        Self::of(args, What::Update { reply: args.required_text("reply")?.to_owned() })
    }

    pub(crate) fn render(args: &Args) -> Result<Self, ToolError> {
        let template = match (args.text("template")?, args.text("file")?) {
            (Some(template), None) => Template::Text(template.to_owned()),
            (None, Some(file)) => Template::File(file.to_owned()),
            (found, _) => {
                let came = if found.is_some() { "both" } else { "none" };
                return Err(refused(format!(
                    "one of the arguments \"template\" and \"file\" is accepted; {came} came"
                )));
            }
        };
        let variables = args.object("variables")?.unwrap_or_default();
        Self::of(args, What::Render { template, variables, strict: args.flag("strict")? })
    }

    fn of(args: &Args, what: What) -> Result<Self, ToolError> {
        let agent = args.text(AGENT.name)?.unwrap_or(DEFAULT_AGENT).to_owned();
        Ok(Self { agent, what })
    }
}

/// Carries a request out; a change is on disk when it returns.
pub(crate) fn run(context: &Context, request: Request) -> Result<ToolReply, ToolError> {
    let Request { agent, what } = request;
    let state = &context.state;
    match what {
        What::Set(memory) => {
            state.set(&agent, &memory).map_err(refusal_of("memory"))?;
            Ok(whole(context, &agent, memory))
        }
        What::Merge(changes) => {
            let memory = state.merge(&agent, changes).map_err(refusal_of("memory"))?;
            Ok(whole(context, &agent, memory))
        }
        What::Get { path } => get(context, &agent, path.as_deref()),
        What::Update { reply } => {
            let memory = state.update_from_reply(&agent, &reply).map_err(refusal_of("reply"))?;
            Ok(whole(context, &agent, memory))
        }
        What::Render { template, variables, strict } => {
            let template = match template {
                Template::Text(text) => text,
                Template::File(name) => read(&context.options.prompts_dirs, &name)?,
            };
            rendered(context, &agent, &template, &variables, strict)
        }
    }
}

fn whole(context: &Context, agent: &str, memory: Map<String, Value>) -> ToolReply {
    told(context, agent, Value::Object(memory), None)
}

fn get(context: &Context, agent: &str, path: Option<&str>) -> Result<ToolReply, ToolError> {
    let memory = context.state.get(agent).map_err(refusal_of("path"))?;
    let Some(path) = path.and_then(|path| MemoryPath::parse(path).ok()) else {
        let why = memory.is_empty().then(|| format!("agent {agent:?} has no memory yet"));
        return Ok(told(context, agent, Value::Object(memory), why));
    };
    let (value, why) = match path.look_up(&memory) {
        Some(value) => (value.clone(), None),
        None if memory.is_empty() => {
            (Value::Null, Some(format!("agent {agent:?} has no memory yet")))
        }
        None => {
            let keys: Vec<String> = memory.keys().map(|key| format!("[{key}]")).collect();
            let why =
                format!("the memory of agent {agent:?} has no {path}; it has {}", keys.join(", "));
            (Value::Null, Some(why))
        }
    };
    Ok(told(context, agent, value, why))
}

/// A memory, or part of one, as templates render it.
fn told(context: &Context, agent: &str, memory: Value, why_empty: Option<String>) -> ToolReply {
    let mut text = Text::new(context.options.text_max_chars);
    match &why_empty {
        Some(why) => text.line(&format!("None: {why}.")),
        None => render::value(&memory).lines().for_each(|line| text.line(line)),
    }
    let mut structured = Map::new();
    structured.insert("agent".to_owned(), json!(agent));
    structured.insert("memory".to_owned(), memory);
    if let Some(why) = why_empty {
        structured.insert("why_empty".to_owned(), json!(why));
    }
    ToolReply { structured, text: text.finish(), images: Vec::new() }
}

fn rendered(
    context: &Context,
    agent: &str,
    template: &str,
    variables: &Map<String, Value>,
    strict: bool,
) -> Result<ToolReply, ToolError> {
    let rendered =
        context.state.render(agent, template, variables).map_err(refusal_of("template"))?;
    let missing = rendered.missing.join(", ");
    if strict && !rendered.missing.is_empty() {
        return Err(ToolError::Refused(format!(
            "the template names what agent {agent:?} and the variables do not hold: {missing}; \
             nothing was rendered, as \"strict\" is true"
        )));
    }
    let mut text = Text::new(context.options.text_max_chars);
    rendered.text.lines().for_each(|line| text.line(line));
    if !missing.is_empty() {
        text.line("");
        text.line(&format!("(missing: {missing})"));
    }
    let mut structured = Map::new();
    structured.insert("text".to_owned(), json!(rendered.text));
    structured.insert("missing".to_owned(), json!(rendered.missing));
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

/// The template of this name in the first directory that has it.
pub(crate) fn read(dirs: &[PathBuf], name: &str) -> Result<String, ToolError> {
    let refusal = |reason: String| {
        refused(format!(
            "argument \"file\" is {name:?}: {reason}; accepted is the name of a text file of at \
             most {TEMPLATE_BYTES_MAX} bytes in the prompts directory"
        ))
    };
    // Whoever may call is not thereby allowed to read the daemon's whole disk.
    let is_plain = |part| matches!(part, Component::Normal(_));
    if !Path::new(name).components().all(is_plain) {
        return Err(refusal("a path that leads elsewhere".to_owned()));
    }
    let paths: Vec<PathBuf> = dirs.iter().map(|dir| dir.join(name)).collect();
    let Some(path) = paths.iter().find(|path| path.is_file()) else {
        let looked: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        return Err(refusal(format!("no such file in {}", looked.join(", "))));
    };
    let mut bytes = Vec::new();
    let limit = TEMPLATE_BYTES_MAX as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(|error| refusal(error.to_string()))?;
    if bytes.len() > TEMPLATE_BYTES_MAX {
        return Err(refusal("the file is larger".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| refusal(format!("no UTF-8 text ({error})")))
}

/// What the caller can mend names the argument that it came from.
fn refusal_of(argument: &'static str) -> impl Fn(StateError) -> ToolError {
    move |error| match error {
        StateError::TooLarge { .. } | StateError::Reply(_) | StateError::TooLong(_) => {
            refused(format!("argument {argument:?}: {error}"))
        }
        StateError::TooManyAgents => ToolError::Refused(error.to_string()),
        StateError::Store(_) | StateError::Unreadable { .. } => ToolError::Fault(error.to_string()),
    }
}
