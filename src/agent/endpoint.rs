//! A language model behind an OpenAI-compatible server on this machine or its own
//! network: llama.cpp, Ollama and the like.
//!
//! The one file that opens a connection, and only to the address that the operator
//! set. Plain HTTP without proxies and redirects, so that nothing leads elsewhere; a
//! public address is refused, since captions would cross the internet readable by
//! all. Every answer has a bound in time and in bytes.

use std::fmt;
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
    #[error("the model's server at {url} cannot be asked: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the model's server at {url} did not finish its answer within {seconds} s")]
    Slow { url: String, seconds: u64 },
    #[error("the model's server at {url} answered {status}: {body}")]
    Status { url: String, status: u16, body: String },
    #[error("the model's server at {url} answered more than {ANSWER_BYTES_MAX} bytes")]
    TooLong { url: String },
    #[error("the model's server at {url} answered without choices[0].message.content: {body}")]
    NoContent { url: String, body: String },
}

/// Largest answer of a server.
const ANSWER_BYTES_MAX: u64 = 512 << 10;
/// Tokens that a model may write: a reply takes a few hundred, thoughts before it more.
const TOKENS_MAX: u32 = 2_048;
const SHOWN_CHARS_MAX: usize = 200;

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub system: Option<&'a str>,
    pub user: &'a str,
    /// Type and bytes of an encoded image.
    pub image: Option<(&'a str, &'a [u8])>,
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
    pub fn ask(&self, question: Question<'_>, within: Duration) -> Result<String, EndpointError> {
        let timeout = self.options.timeout.min(within);
        let url = self.options.address.to_string();
        let body = self.body(question).to_string();
        let failed = |error: ureq::Error| failure(&url, timeout, &error);
        let request = self.agent.post(&url).content_type("application/json");
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut answer = request.send(body.as_bytes()).map_err(failed)?;
        let status = answer.status().as_u16();
        let read = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let read = String::from_utf8_lossy(&read.map_err(failed)?).into_owned();
        if !(200..300).contains(&status) {
            return Err(EndpointError::Status { url, status, body: excerpt(&read) });
        }
        content(&read).ok_or_else(|| EndpointError::NoContent { url, body: excerpt(&read) })
    }

    fn body(&self, question: Question<'_>) -> Value {
        let Question { system, user, image } = question;
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
            "messages": messages, "temperature": 0, "seed": 0, "max_tokens": TOKENS_MAX,
            "stream": false,
        });
        if let Some(fields) = body.as_object_mut()
            && !self.options.model.is_empty()
        {
            fields.insert("model".to_owned(), json!(self.options.model));
        }
        body
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("options", &self.options).finish_non_exhaustive()
    }
}

fn failure(url: &str, timeout: Duration, error: &ureq::Error) -> EndpointError {
    let url = url.to_owned();
    if matches!(error, ureq::Error::Timeout(_)) {
        return EndpointError::Slow { url, seconds: timeout.as_secs() };
    }
    if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
        return EndpointError::TooLong { url };
    }
    EndpointError::Unreachable { url, reason: excerpt(&error.to_string()) }
}

/// The text of the first choice.
fn content(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    match answer.pointer("/choices/0/message/content")? {
        Value::String(text) => Some(text.clone()),
        // Some servers answer in parts.
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            Some(texts.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
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
    fn an_answer_in_parts_is_one_text() {
        let answer = |content: Value| json!({"choices": [{"message": {"content": content}}]});
        let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        assert_eq!(content(&answer(parts).to_string()), Some("ab".to_owned()));
        assert_eq!(content(&answer(json!("x")).to_string()), Some("x".to_owned()));
        assert_eq!(content(&answer(Value::Null).to_string()), None);
        assert_eq!(content("{\"choices\": []}"), None);
        assert_eq!(content("<html>"), None);
    }
}
