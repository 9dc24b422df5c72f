//! A language model's server on the loopback, which answers as it is told.

#![expect(clippy::disallowed_types, reason = "the server that the daemon is configured to ask")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with a question.
#[derive(Debug, Clone)]
pub(crate) enum Answers {
    /// The model says this.
    With(String),
    /// These bytes, whatever they are.
    Raw(String),
    /// Nothing, and keeps the connection.
    Never,
    /// A body without an end, as fast as it is taken.
    Endlessly,
    /// A byte at a time.
    Slowly,
    /// Nothing, as the connection and then the server are gone.
    GoesDown,
}

/// Answers one question after the other, and goes down when the script is over. Asked for its
/// models, it always lists them.
pub(crate) struct ScriptedModel {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedModel {
    /// Lists one model, `small`.
    pub(crate) fn new(script: Vec<Answers>) -> Self {
        Self::with_models(script, &json!({"object": "list", "data": [{"id": "small"}]}))
    }

    pub(crate) fn with_models(script: Vec<Answers>, models: &Value) -> Self {
        Self::at("127.0.0.1:0", script, models)
    }

    pub(crate) fn at(address: &str, script: Vec<Answers>, models: &Value) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let mut script: VecDeque<Answers> = script.into();
        let models = answer("200 OK", &models.to_string());
        thread::Builder::new()
            .name("scripted model".to_owned())
            .spawn(move || {
                for stream in listener.incoming() {
                    let Ok(mut stream) = stream else { break };
                    match read_request(&mut stream) {
                        None => {}
                        Some(Request::Models) => drop(stream.write_all(models.as_bytes())),
                        Some(Request::Question(question)) => {
                            noted.lock().unwrap().push(question);
                            let answers = script.pop_front().unwrap_or(Answers::GoesDown);
                            if matches!(answers, Answers::GoesDown) {
                                break;
                            }
                            let serve = move || serve(stream, &answers);
                            let name = "one answer".to_owned();
                            thread::Builder::new().name(name).spawn(serve).unwrap();
                        }
                    }
                }
            })
            .unwrap();
        Self { url, asked }
    }

    /// What it was asked so far: the bodies of the requests.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

enum Request {
    Models,
    Question(Value),
}

/// `None` where the other side hung up.
fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let (mut length, mut line, mut first) = (0, String::new(), String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if first.is_empty() {
            first.clone_from(&line);
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    if first.starts_with("GET /v1/models ") {
        return Some(Request::Models);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request::Question(serde_json::from_slice(&body).unwrap()))
}

fn serve(mut stream: TcpStream, answers: &Answers) {
    match answers {
        Answers::With(text) => {
            let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
            drop(stream.write_all(answer("200 OK", &body.to_string()).as_bytes()));
        }
        Answers::Raw(bytes) => drop(stream.write_all(bytes.as_bytes())),
        // Until the other side hangs up.
        Answers::Never => drop(stream.read(&mut [0])),
        Answers::Endlessly | Answers::Slowly => {
            let is_slow = matches!(answers, Answers::Slowly);
            let chunk = if is_slow { vec![b' '; 1] } else { vec![b' '; 4_096] };
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"));
            while stream.write_all(&chunk).is_ok() {
                if is_slow {
                    thread::sleep(Duration::from_millis(20));
                }
            }
        }
        Answers::GoesDown => {}
    }
}

/// An HTTP answer with this body.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}
