//! Between bytes on the wire, rmcp's types and the domain's.
//!
//! A line is parsed once; what is wrong with it is decided here, so that every
//! line gets the answer that JSON-RPC and MCP give it. Depends on its arguments
//! only.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, ClientRequest,
    CompleteRequest, ContentBlock, CustomRequest, CustomResult, DiscoverRequest, ErrorCode,
    GetPromptRequest, InitializeRequest, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, MetaObject, PingRequest, Prompt,
    PromptArgument as ArgumentOfPrompt, ReadResourceRequest, ReadResourceResult, RequestId,
    RequestMetaObject, ResourceContents, Tool, ToolAnnotations,
};
use serde_json::{Map, Value, json};

use crate::server::message::{self, BadMessage, TakenArguments, VALUES_MAX};
use crate::server::wide_integer::WideInteger;
use crate::tools::{
    Hints, Image, PromptArgument, PromptSpec, Reason, Resource, ResourceSpec, ToolReply, ToolSpec,
    Toolset,
};

/// Far beyond any tool's name; errors and the log repeat it.
const NAME_BYTES_MAX: usize = 256;

const SHOWN_CHARS_MAX: usize = 200;

/// What a line asks for.
#[derive(Debug)]
pub(super) enum Incoming {
    Request(RequestId, Box<ClientRequest>),
    /// The client no longer wants the answer to this request.
    Cancel(RequestId, CancelledNotification),
    /// A notification that asks for nothing, or a response to nothing.
    Nothing,
}

/// A line that is answered with an error and goes no further.
#[derive(Debug)]
pub(super) struct Refusal {
    /// `None` where the id could not be read: `null` on the wire.
    pub(super) id: Option<RequestId>,
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) reason: Reason,
}

impl Refusal {
    pub(super) fn nameless(reason: Reason, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id: None, code, message: message.into(), reason }
    }

    /// The answer as one line, line feed included. Written by hand, because
    /// JSON-RPC wants `"id": null` where rmcp leaves the id out.
    pub(super) fn line(&self) -> Vec<u8> {
        let id = self.id.clone().map_or(Value::Null, RequestId::into_json_value);
        let error = json!({ "code": self.code.0, "message": self.message });
        let mut line = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        line.push('\n');
        line.into_bytes()
    }
}

/// Reads one line.
///
/// Members of the message that JSON-RPC does not define are ignored, as MCP
/// lets later revisions add some; what a message needs must be there and right.
pub(super) fn parse(line: &[u8], taken: &TakenArguments) -> Result<Incoming, Refusal> {
    let value = message::read(line, taken).map_err(|error| match error {
        BadMessage::NoJson(error) => {
            Refusal::nameless(Reason::Malformed, ErrorCode::PARSE_ERROR, format!("the line is not JSON: {error}"))
        }
        BadMessage::TooMany(id) => Refusal {
            reason: Reason::TooLarge,
            id: id.and_then(request_id),
            code: ErrorCode::INVALID_REQUEST,
            message: format!(
                "the message holds too many values; accepted are at most {VALUES_MAX}, those of \
                 arguments that the tool does not take left out"
            ),
        },
        BadMessage::TooWide(id, WideInteger { field, digits }) => Refusal {
            reason: Reason::Malformed,
            id: id.and_then(request_id),
            code: ErrorCode::INVALID_PARAMS,
            message: format!(
                "{} is {digits}, which no 64 bits hold; accepted are whole numbers from {} to {}, and \
                 others as a text: \"{digits}\"",
                field.map_or_else(|| "a value".to_owned(), |field| format!("{field:?}")),
                i64::MIN,
                u64::MAX
            ),
        },
    })?;
    let invalid =
        |message| Refusal::nameless(Reason::Malformed, ErrorCode::INVALID_REQUEST, message);
    let mut message = match value {
        Value::Object(message) => message,
        Value::Array(_) => {
            return Err(invalid("batches are not accepted: send one message a line"));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(invalid("the message is no JSON object"));
        }
    };
    let id = match message.remove("id") {
        None => None,
        Some(id) => Some(
            request_id(id).ok_or_else(|| invalid("the id is neither a string nor an integer"))?,
        ),
    };
    classify(id.clone(), message).map_err(|error| {
        let ErrorData { code, message, data: _ } = error;
        Refusal { id, code, message: message.into_owned(), reason: Reason::Malformed }
    })
}

fn request_id(id: Value) -> Option<RequestId> {
    match id {
        Value::String(id) => Some(RequestId::String(id.into())),
        Value::Number(id) => id.as_i64().map(RequestId::Number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn classify(id: Option<RequestId>, mut message: Map<String, Value>) -> Result<Incoming, ErrorData> {
    let invalid = |message| ErrorData::new(ErrorCode::INVALID_REQUEST, message, None);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid("the member \"jsonrpc\" is not \"2.0\""));
    }
    let is_answer = message.contains_key("result") || message.contains_key("error");
    let method = match message.remove("method") {
        Some(Value::String(_)) if is_answer => {
            return Err(invalid("the message is both a request and a response"));
        }
        Some(Value::String(method)) => method,
        Some(_) => return Err(invalid("the method is no string")),
        None if is_answer => return Ok(Incoming::Nothing),
        None => return Err(invalid("the message has no method")),
    };
    let params = message.remove("params");
    match id {
        Some(id) => Ok(Incoming::Request(id, Box::new(request(method, params)?))),
        None => Ok(notification(method, params)),
    }
}

/// JSON-RPC answers no notification, so a malformed one is passed over.
fn notification(method: String, params: Option<Value>) -> Incoming {
    if method != "notifications/cancelled" {
        return Incoming::Nothing;
    }
    let cancelled = serde_json::from_value::<CancelledNotification>(message(method, params));
    match cancelled {
        Ok(cancelled) => match cancelled.params.request_id.clone() {
            Some(id) => Incoming::Cancel(id, cancelled),
            None => Incoming::Nothing,
        },
        Err(_) => Incoming::Nothing,
    }
}

fn request(method: String, params: Option<Value>) -> Result<ClientRequest, ErrorData> {
    match &params {
        None | Some(Value::Object(_)) => {}
        Some(_) => return Err(invalid_params("params is no object")),
    }
    let meta = params.as_ref().and_then(|params| params.get("_meta"));
    if meta.is_some_and(|meta| !meta.is_object()) {
        return Err(invalid_params("params._meta is no object"));
    }
    match method.as_str() {
        "tools/call" => tool_call(params),
        "tools/list" => to_typed::<ListToolsRequest>(method, params),
        "resources/list" => to_typed::<ListResourcesRequest>(method, params),
        "resources/templates/list" => to_typed::<ListResourceTemplatesRequest>(method, params),
        "resources/read" => to_typed::<ReadResourceRequest>(method, params),
        "completion/complete" => to_typed::<CompleteRequest>(method, params),
        "prompts/list" => to_typed::<ListPromptsRequest>(method, params),
        "prompts/get" => to_typed::<GetPromptRequest>(method, params),
        "server/discover" => to_typed::<DiscoverRequest>(method, params),
        "initialize" => to_typed::<InitializeRequest>(method, params),
        "ping" => to_typed::<PingRequest>(method, params),
        _ => to_typed::<CustomRequest>(method, params),
    }
}

/// By hand, because this is the hot path and may carry an image of many
/// megabytes: rmcp's own reading of a message copies it several times.
fn tool_call(params: Option<Value>) -> Result<ClientRequest, ErrorData> {
    let Some(Value::Object(mut params)) = params else {
        return Err(invalid_params("tools/call needs params"));
    };
    let name = match params.remove("name") {
        Some(Value::String(name)) if name.len() <= NAME_BYTES_MAX => name,
        Some(Value::String(name)) => {
            let text = format!("there is no tool with a name of {} bytes", name.len());
            return Err(invalid_params(text));
        }
        Some(_) => return Err(invalid_params("params.name is no string")),
        None => return Err(invalid_params("params.name, the tool to call, is missing")),
    };
    let arguments = match params.remove("arguments") {
        Some(Value::Object(arguments)) => arguments,
        None | Some(Value::Null) => Map::new(),
        Some(_) => return Err(invalid_params("params.arguments is no object")),
    };
    let call = CallToolRequestParams::new(name).with_arguments(arguments);
    let mut request = CallToolRequest::new(call);
    if let Some(Value::Object(meta)) = params.remove("_meta") {
        request.extensions.insert(RequestMetaObject(MetaObject(meta)));
    }
    Ok(ClientRequest::CallToolRequest(request))
}

fn to_typed<R>(method: String, params: Option<Value>) -> Result<ClientRequest, ErrorData>
where
    R: serde::de::DeserializeOwned + Into<ClientRequest>,
{
    match serde_json::from_value::<R>(message(method, params)) {
        Ok(request) => Ok(request.into()),
        Err(error) => Err(invalid_params(format!("params: {}", shorten(&error.to_string())))),
    }
}

fn message(method: String, params: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("method".to_owned(), Value::String(method));
    // An empty object where there are none: rmcp insists on one in places.
    message.insert("params".to_owned(), params.unwrap_or_else(|| Value::Object(Map::new())));
    Value::Object(message)
}

/// What a client sent, as far as an error message shows it.
pub(super) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

fn invalid_params(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

/// Method of ours beside MCP's: a question of a backup in base64, answered likewise.
pub(super) const BACKUP: &str = "engram/backup";

/// The step of an export or an import, or a look, that a method of ours names.
pub(super) fn transfer(method: &str) -> Option<&'static str> {
    match method {
        "engram/export" => Some("export"),
        "engram/import" => Some("import"),
        "engram/browse" => Some("browse"),
        _ => None,
    }
}

/// The arguments of a method of ours.
pub(super) fn arguments(params: Option<Value>) -> Result<Map<String, Value>, ErrorData> {
    match params {
        Some(Value::Object(mut params)) => {
            params.remove("_meta");
            Ok(params)
        }
        None => Ok(Map::new()),
        Some(_) => Err(invalid_params("params is no object")),
    }
}

/// The bytes of a backup's question.
pub(super) fn question(params: Option<&Value>) -> Result<Vec<u8>, ErrorData> {
    let question = params.and_then(|params| params.get("question")?.as_str());
    let question = question.ok_or_else(|| invalid_params("params.question is no string"))?;
    BASE64
        .decode(question)
        .map_err(|error| invalid_params(format!("params.question is no base64: {error}")))
}

/// A backup's answer on the wire.
pub(super) fn answer(bytes: &[u8]) -> CustomResult {
    CustomResult::new(json!({ "answer": BASE64.encode(bytes) }))
}

/// A tool as it is listed.
pub(super) fn tool(spec: &ToolSpec) -> Tool {
    let ToolSpec {
        name,
        aliases: _,
        title,
        description,
        input_schema,
        output_schema: _,
        hints,
        toolset,
        roles: _,
    } = spec;
    let Hints { read_only, destructive, idempotent } = *hints;
    let mut meta = Map::new();
    meta.insert(TOOLSET_KEY.to_owned(), json!(toolset.name()));
    let meta = MetaObject(meta);
    // The title stands beside them already.
    let annotations = ToolAnnotations::default()
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        // A memory is a closed world: no tool reaches beyond it.
        .open_world(false);
    let mut input_schema = input_schema.clone();
    // A client that checks calls would refuse the documents' own names of arguments, which we take.
    input_schema.shift_remove("additionalProperties");
    Tool::new(*name, *description, Arc::new(input_schema))
        .with_title(*title)
        .with_raw_output_schema(Arc::new(outline()))
        .with_annotations(annotations)
        .with_meta(meta)
}

/// Of each reply, as it is listed: models read its text, and what programs read of it has its keys
/// beside it. The whole schemas were half of all that is listed; `engram tools NAME` tells them.
fn outline() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!("object"))])
}

/// Where the `_meta` of a listed tool names its toolset.
const TOOLSET_KEY: &str = "engram/toolset";
/// Where the `_meta` of `tools/list` names the toolsets to list.
const TOOLSETS_KEY: &str = "engram/toolsets";

/// The toolsets that a client wants listed; `None` where it leaves that to us.
///
/// A list of names, or one text with commas between them. The choice is in each
/// request, so that it works without a session, in both eras of MCP.
pub(super) fn toolsets(meta: &Map<String, Value>) -> Result<Option<Vec<Toolset>>, ErrorData> {
    let refusal = || {
        let known = Toolset::ALL.map(Toolset::name).join(", ");
        invalid_params(format!("params._meta[{TOOLSETS_KEY:?}] accepts a list of {known}"))
    };
    let names: Vec<&str> = match meta.get(TOOLSETS_KEY) {
        None => return Ok(None),
        Some(Value::String(text)) => {
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
        }
        Some(Value::Array(items)) => {
            let names: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            names.ok_or_else(refusal)?
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            return Err(refusal());
        }
    };
    let toolsets: Option<Vec<Toolset>> = names.into_iter().map(Toolset::from_name).collect();
    toolsets.map(Some).ok_or_else(refusal)
}

/// A prompt as it is listed.
pub(super) fn prompt(spec: &PromptSpec) -> Prompt {
    let PromptSpec { name, title, description, arguments } = spec;
    let argument = |it: &PromptArgument| {
        let PromptArgument { name, about, is_required } = it;
        ArgumentOfPrompt::new(*name).with_description(*about).with_required(*is_required)
    };
    let arguments = arguments.iter().map(argument).collect();
    Prompt::new(*name, Some(*description), Some(arguments)).with_title(*title)
}

/// A tool's answer: the text first, as it is what a language model reads.
pub(super) fn result(reply: ToolReply) -> CallToolResult {
    let ToolReply { structured, text, images } = reply;
    let mut content = Vec::with_capacity(1 + images.len());
    content.push(ContentBlock::text(text));
    content.extend(
        images
            .into_iter()
            .map(|Image { mime, bytes }| ContentBlock::image(BASE64.encode(bytes), mime)),
    );
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(Value::Object(structured));
    result
}

/// What is behind a resource's address.
pub(super) fn contents(uri: String, resource: Resource) -> ReadResourceResult {
    let contents = match resource {
        Resource::Image(Image { mime, bytes }) => {
            ResourceContents::blob(BASE64.encode(bytes), uri).with_mime_type(mime)
        }
        Resource::Text { mime, text } => ResourceContents::text(text, uri).with_mime_type(mime),
        Resource::Json(json) => {
            ResourceContents::text(json, uri).with_mime_type("application/json")
        }
    };
    ReadResourceResult::new(vec![contents])
}

/// A resource as it is listed.
pub(super) fn resource(spec: ResourceSpec) -> rmcp::model::Resource {
    let ResourceSpec { uri, name, description, mime } = spec;
    let listed = rmcp::model::Resource::new(uri, name).with_description(description);
    match mime {
        Some(mime) => listed.with_mime_type(mime),
        None => listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &[u8]) -> Result<Incoming, Refusal> {
        parse(line, &TakenArguments::default())
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z/_]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((member(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn member() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("name".to_owned()),
            Just("arguments".to_owned()),
            Just("_meta".to_owned()),
            Just("uri".to_owned()),
            "[a-z]{1,4}",
        ]
    }

    fn method() -> impl Strategy<Value = Value> {
        let known = prop::sample::select(vec![
            "tools/call",
            "tools/list",
            "resources/read",
            "initialize",
            "server/discover",
            "ping",
            "notifications/cancelled",
            "made/up",
        ]);
        prop_oneof![4 => known.prop_map(Value::from), 1 => value()]
    }

    proptest! {
        #[test]
        fn any_bytes_get_one_answer(line in prop::collection::vec(any::<u8>(), 0..200)) {
            // Not JSON but for the odd number: never more than a refusal.
            if let Err(refusal) = read(&line) {
                prop_assert!(serde_json::from_slice::<Value>(&refusal.line()).is_ok());
            }
        }

        /// JSON-RPC: an error for a message whose id is known carries that id.
        #[test]
        fn any_message_is_admitted_or_refused_under_its_id(
            id in any::<i64>(),
            method in method(),
            params in value(),
        ) {
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            let given = RequestId::Number(id);
            match read(message.to_string().as_bytes()) {
                Ok(Incoming::Request(found, _)) => prop_assert_eq!(found, given),
                Ok(other) => prop_assert!(false, "{other:?}"),
                Err(refusal) => prop_assert_eq!(refusal.id, Some(given)),
            }
        }
    }

    #[test]
    fn an_error_does_not_repeat_megabytes() {
        let long = "\u{e9}".repeat(1 << 20);
        for (method, params) in [
            ("tools/call", json!({ "name": long })),
            ("initialize", json!({ "protocolVersion": "1", "capabilities": long })),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let refusal = read(message.to_string().as_bytes()).unwrap_err();
            assert!(refusal.line().len() < 1000, "{method}: {} bytes", refusal.line().len());
        }
    }

    #[test]
    fn arguments_arrive_as_they_were_written() {
        let line = br#"{"jsonrpc":"2.0","id":"x","method":"tools/call",
            "params":{"name":"t","arguments":{"z":1.0,"a":1,"m":"\u00e9"}}}"#;
        let Ok(Incoming::Request(_, request)) = read(line) else { panic!("not a request") };
        let ClientRequest::CallToolRequest(call) = *request else { panic!("not a call") };
        let arguments = Value::Object(call.params.arguments.unwrap()).to_string();
        assert_eq!(arguments, "{\"z\":1.0,\"a\":1,\"m\":\"\u{e9}\"}");
    }
}
