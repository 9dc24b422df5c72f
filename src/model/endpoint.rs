//! A model behind an OpenAI-compatible server on this machine or its own network:
//! llama.cpp, Ollama, vLLM and the like. Knows neither captions nor plans.
//!
//! The one file by which the daemon opens a connection, and only to the address that the operator
//! set. Plain HTTP without proxies and redirects, so that nothing leads elsewhere; a
//! public address is refused, since captions would cross the internet readable by
//! all. Every answer has a bound in time and in bytes.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// Where the server is, what to ask for, and how long to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub address: Address,
    /// As the server names it; empty where it has only one.
    pub model: String,
    /// From a question to the end of its answer.
    pub timeout: Duration,
}

/// The URL to which questions go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// The text is no address that this program connects to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; accepted is http://HOST:PORT or http://HOST:PORT/v1 with localhost, a loopback or a \
     private address as HOST, such as http://127.0.0.1:8080"
)]
pub struct BadAddress(&'static str);

/// Why a model gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Nobody took the question.
    #[error("the model's server at {url} cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    /// Somebody took the question, and what came back was no whole HTTP answer.
    #[error("the model's server at {url} broke off: {reason}")]
    Cut { url: String, reason: String },
    #[error("the model's server at {url} did not finish its answer within {seconds} s")]
    Slow { url: String, seconds: u64 },
    #[error("the model's server at {url} answered {status}: {body}")]
    Status { url: String, status: u16, body: String },
    #[error("the model's server at {url} answered more than {ANSWER_BYTES_MAX} bytes")]
    TooLong { url: String },
    #[error("the model's server at {url} answered without {missing}: {body}")]
    NoContent { url: String, missing: &'static str, body: String },
}

/// Largest answer of a server.
const ANSWER_BYTES_MAX: u64 = 512 << 10;
const SHOWN_CHARS_MAX: usize = 200;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub system: Option<&'a str>,
    pub user: &'a str,
    /// Type and bytes of an encoded image. It comes after the text, which a server that is asked
    /// the same of many images then reads once.
    pub image: Option<(&'a str, &'a [u8])>,
    pub form: Form<'a>,
}

/// What an answer should look like.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// Tokens that the model may write.
    pub tokens_max: u32,
    /// Name of a JSON schema and the schema, which the server holds the model to.
    pub schema: Option<(&'a str, &'a Value)>,
    /// Whether the answer should tell how likely each of its tokens was.
    pub log_probs: bool,
}

impl Default for Form<'_> {
    /// Text: a plan's reply takes a few hundred tokens, thoughts before it more.
    fn default() -> Self {
        Self { tokens_max: 2_048, schema: None, log_probs: false }
    }
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    /// The tokens of the answer with their log probabilities; empty where the server does not
    /// tell them.
    pub tokens: Vec<(String, f32)>,
    /// Whether it ended because it may not be longer.
    pub is_cut: bool,
}

/// A model that a server lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    pub name: String,
    /// What else tells it from others of its name, as far as the server says: where it was
    /// loaded from, its parameters, its bytes.
    pub details: String,
}

/// Asks one model, one question at a time on the calling thread.
pub struct Endpoint {
    options: Options,
    agent: ureq::Agent,
}

impl Address {
    /// Reads an address; a path is completed to the one of chat completions.
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        let text = text.trim().trim_end_matches('/');
        if text.starts_with("https://") {
            return Err(BadAddress("https needs TLS, which this program leaves out"));
        }
        let Some(rest) = text.strip_prefix("http://") else {
            return Err(BadAddress("the address does not begin with http://"));
        };
        if rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace) {
            return Err(BadAddress("the address holds a user, a query, a fragment or a blank"));
        }
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, path),
            None => (rest, ""),
        };
        let host = host_of(authority).ok_or(BadAddress("the host or the port cannot be read"))?;
        if !is_near(host) {
            return Err(BadAddress("the host is neither this machine nor a private address"));
        }
        let path = match path {
            "" => "v1/chat/completions".to_owned(),
            path if path.ends_with("chat/completions") => path.to_owned(),
            path => format!("{path}/chat/completions"),
        };
        Ok(Self(format!("http://{authority}/{path}")))
    }

    /// The server alone, for people: `http://127.0.0.1:8080`.
    pub fn server(&self) -> &str {
        let path = self.0.match_indices('/').nth(2).map_or(self.0.len(), |(at, _)| at);
        self.0.get(..path).unwrap_or(&self.0)
    }

    /// Where the server lists its models.
    fn models(&self) -> String {
        format!("{}models", self.0.strip_suffix("chat/completions").unwrap_or(&self.0))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The host of `host`, `host:port` or `[v6]:port`.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    (is_port && !host.is_empty()).then_some(host)
}

/// Names are not looked up: who answers for them is decided elsewhere.
fn is_near(host: &str) -> bool {
    if host == "localhost" {
        return true;
    }
    match host.parse() {
        Ok(IpAddr::V4(it)) => it.is_loopback() || it.is_private() || it.is_link_local(),
        Ok(IpAddr::V6(it)) => {
            it.is_loopback() || it.is_unique_local() || it.is_unicast_link_local()
        }
        Err(_no_address) => false,
    }
}

impl Endpoint {
    /// Connects to nothing yet.
    pub fn new(options: Options) -> Self {
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            // A connection is not kept: between two questions there is none.
            .max_idle_connections(0)
            .user_agent("engram")
            .build();
        Self { options, agent: config.into() }
    }

    pub fn timeout(&self) -> Duration {
        self.options.timeout
    }

    /// The model's answer, which comes within the timeout and `within`.
    pub fn ask(&self, question: Question<'_>, within: Duration) -> Result<Answer, EndpointError> {
        let timeout = self.options.timeout.min(within);
        let url = self.options.address.to_string();
        let body = self.body(question).to_string();
        let request = self.agent.post(&url).content_type("application/json");
        let request = request.config().timeout_global(Some(timeout)).build();
        let read = read(&url, timeout, request.send(body.as_bytes()))?;
        let missing = "choices[0].message.content";
        let none = || EndpointError::NoContent { url, missing, body: excerpt(&read) };
        answer(&read).ok_or_else(none)
    }

    /// The models that the server has, within the timeout and `within`.
    pub fn models(&self, within: Duration) -> Result<Vec<ListedModel>, EndpointError> {
        let timeout = self.options.timeout.min(within);
        let url = self.options.address.models();
        let request = self.agent.get(&url).config().timeout_global(Some(timeout)).build();
        let read = read(&url, timeout, request.call())?;
        let none = || EndpointError::NoContent { url, missing: "data[].id", body: excerpt(&read) };
        listed_models(&read).ok_or_else(none)
    }

    fn body(&self, question: Question<'_>) -> Value {
        let Question { system, user, image, form } = question;
        let content = match image {
            None => json!(user),
            Some((mime, bytes)) => {
                let url = format!("data:{mime};base64,{}", BASE64.encode(bytes));
                json!([
                    {"type": "text", "text": user},
                    {"type": "image_url", "image_url": {"url": url}},
                ])
            }
        };
        let mut messages = Vec::new();
        if let Some(system) = system {
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.push(json!({"role": "user", "content": content}));
        // As repeatable as the server can be.
        let mut body = json!({
            "messages": messages, "temperature": 0, "seed": 0, "max_tokens": form.tokens_max,
            "stream": false,
        });
        let Some(fields) = body.as_object_mut() else { return body };
        if !self.options.model.is_empty() {
            fields.insert("model".to_owned(), json!(self.options.model));
        }
        if let Some((name, schema)) = form.schema {
            let schema = json!({"name": name, "strict": true, "schema": schema});
            let format = json!({"type": "json_schema", "json_schema": schema});
            fields.insert("response_format".to_owned(), format);
        }
        if form.log_probs {
            fields.insert("logprobs".to_owned(), json!(true));
        }
        body
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The body of an answer of status 200 to 299.
fn read(
    url: &str,
    timeout: Duration,
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<String, EndpointError> {
    let failed = |error: ureq::Error| failure(url, timeout, &error);
    let mut answer = answer.map_err(failed)?;
    let status = answer.status().as_u16();
    let read = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
    let read = String::from_utf8_lossy(&read.map_err(failed)?).into_owned();
    if !(200..300).contains(&status) {
        let body = excerpt(error_message(&read).as_deref().unwrap_or(&read));
        return Err(EndpointError::Status { url: url.to_owned(), status, body });
    }
    Ok(read)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other errors come of what was answered")]
fn failure(url: &str, timeout: Duration, error: &ureq::Error) -> EndpointError {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable,
        PermissionDenied,
    };
    const NOBODY: [io::ErrorKind; 6] = [
        AddrNotAvailable,
        ConnectionRefused,
        HostUnreachable,
        NetworkDown,
        NetworkUnreachable,
        PermissionDenied,
    ];
    let url = url.to_owned();
    let reason = excerpt(&error.to_string());
    match error {
        ureq::Error::Timeout(_) => EndpointError::Slow { url, seconds: timeout.as_secs() },
        ureq::Error::BodyExceedsLimit(_) => EndpointError::TooLong { url },
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => {
            EndpointError::Unreachable { url, reason }
        }
        ureq::Error::Io(error) if NOBODY.contains(&error.kind()) => {
            EndpointError::Unreachable { url, reason }
        }
        _ => EndpointError::Cut { url, reason },
    }
}

/// What an error's body says in words, as all of these servers wrap it.
fn error_message(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let error = body.get("error")?;
    Some(error.get("message").unwrap_or(error).as_str()?.to_owned())
}

/// The first choice.
fn answer(body: &str) -> Option<Answer> {
    let body: Value = serde_json::from_str(body).ok()?;
    let choice = body.pointer("/choices/0")?;
    let text = match choice.pointer("/message/content")? {
        Value::String(text) => text.clone(),
        // Some servers answer in parts.
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        // All was thought, and nothing said.
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let tokens = choice.pointer("/logprobs/content").and_then(Value::as_array);
    let tokens = tokens.into_iter().flatten().map(token).collect::<Option<_>>();
    let is_cut = choice.get("finish_reason").and_then(Value::as_str) == Some("length");
    Some(Answer { text, tokens: tokens.unwrap_or_default(), is_cut })
}

fn token(token: &Value) -> Option<(String, f32)> {
    #[expect(clippy::cast_possible_truncation, reason = "a logarithm, of which few digits count")]
    let log_prob = token.get("logprob")?.as_f64()? as f32;
    Some((token.get("token")?.as_str()?.to_owned(), log_prob))
}

fn listed_models(body: &str) -> Option<Vec<ListedModel>> {
    let body: Value = serde_json::from_str(body).ok()?;
    let models = body.get("data")?;
    // Ollama writes null for none.
    let models = models.as_array().map_or(&[] as &[Value], Vec::as_slice);
    let listed = |model: &Value| {
        let name = model.get("id")?.as_str()?.to_owned();
        let details = ["/root", "/meta/n_params", "/meta/size"];
        let details =
            details.map(|it| model.pointer(it).map_or_else(String::new, Value::to_string));
        Some(ListedModel { name, details: details.join(" ") })
    };
    models.iter().map(listed).collect()
}

/// What a server sent, as far as an error shows it.
fn excerpt(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_nearby_are_completed() {
        for (written, url) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
            (" http://localhost:11434/v1/ ", "http://localhost:11434/v1/chat/completions"),
            ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
            ("http://[fd00::7]", "http://[fd00::7]/v1/chat/completions"),
            ("http://192.168.4.2/llm/v1", "http://192.168.4.2/llm/v1/chat/completions"),
            ("http://10.0.0.9:1/chat/completions", "http://10.0.0.9:1/chat/completions"),
        ] {
            assert_eq!(Address::parse(written).unwrap().to_string(), url);
        }
    }

    #[test]
    fn other_addresses_are_refused_with_the_reason() {
        for (written, reason) in [
            ("https://127.0.0.1", "https needs TLS"),
            ("127.0.0.1:8080", "does not begin with http://"),
            ("http://8.8.8.8", "neither this machine nor a private address"),
            ("http://[2001:4860:4860::8888]", "neither this machine nor a private address"),
            ("http://example.org", "neither this machine nor a private address"),
            ("http://localhost.example.org", "neither this machine nor a private address"),
            ("http://0.0.0.0:8080", "neither this machine nor a private address"),
            ("http://127.0.0.1@example.org", "holds a user"),
            ("http://127.0.0.1/v1?x=1", "holds a user, a query"),
            ("http://127.0.0.1:99999", "the host or the port cannot be read"),
            ("http://127.0.0.1:0", "the host or the port cannot be read"),
            ("http://[::1", "the host or the port cannot be read"),
            ("http://:80", "the host or the port cannot be read"),
        ] {
            let error = Address::parse(written).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("accepted is http://"), "{error}");
        }
    }

    #[test]
    fn models_are_listed_beside_the_completions() {
        for (written, url) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/models"),
            ("http://192.168.4.2/llm/v1", "http://192.168.4.2/llm/v1/models"),
        ] {
            assert_eq!(Address::parse(written).unwrap().models(), url);
        }
        let address = Address::parse("http://[::1]:8080/llm/v1").unwrap();
        assert_eq!(address.server(), "http://[::1]:8080");
    }

    fn text_of(content: &Value) -> Option<String> {
        let body = json!({"choices": [{"message": {"content": content}}]});
        answer(&body.to_string()).map(|it| it.text)
    }

    #[test]
    fn an_answer_in_parts_is_one_text() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        assert_eq!(text_of(&parts), Some("ab".to_owned()));
        assert_eq!(text_of(&json!("x")), Some("x".to_owned()));
        assert_eq!(text_of(&Value::Null), Some(String::new()));
        assert_eq!(text_of(&json!(7)), None);
        assert_eq!(answer("{\"choices\": []}"), None);
        assert_eq!(answer("<html>"), None);
    }

    #[test]
    fn tokens_come_all_or_not_at_all() {
        let tokens = |content: Value| {
            let choice = json!({"message": {"content": "a mug"}, "finish_reason": "length",
                "logprobs": {"content": content}});
            answer(&json!({"choices": [choice]}).to_string()).unwrap()
        };
        let whole =
            tokens(json!([{"token": "a", "logprob": -0.5}, {"token": " mug", "logprob": 0}]));
        assert_eq!(whole.tokens, [("a".to_owned(), -0.5), (" mug".to_owned(), 0.0)]);
        assert!(whole.is_cut);
        let half = tokens(json!([{"token": "a", "logprob": -0.5}, {"token": " mug"}]));
        assert_eq!(half.tokens, []);
    }

    #[test]
    fn models_without_a_name_are_no_list() {
        let list = listed_models(r#"{"data": [{"id": "m", "meta": {"size": 7}}]}"#).unwrap();
        assert_eq!(list, [ListedModel { name: "m".to_owned(), details: "  7".to_owned() }]);
        assert_eq!(listed_models(r#"{"data": null}"#), Some(Vec::new()));
        assert_eq!(listed_models(r#"{"data": [{}]}"#), None);
        assert_eq!(listed_models(r#"{"models": []}"#), None);
    }
}
