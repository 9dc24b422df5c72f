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
}

/// Answers one connection after the other, and hangs up when the script is over.
pub(crate) struct ScriptedModel {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedModel {
    pub(crate) fn new(script: Vec<Answers>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let mut script: VecDeque<Answers> = script.into();
        thread::Builder::new()
            .name("scripted model".to_owned())
            .spawn(move || {
                for stream in listener.incoming() {
                    let (Ok(stream), Some(answers)) = (stream, script.pop_front()) else { break };
                    let noted = Arc::clone(&noted);
                    let serve = move || serve(stream, &answers, &noted);
                    thread::Builder::new().name("one answer".to_owned()).spawn(serve).unwrap();
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

fn serve(mut stream: TcpStream, answers: &Answers, asked: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    asked.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
    match answers {
        Answers::With(text) => {
            let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
            drop(stream.write_all(answer("200 OK", &body.to_string()).as_bytes()));
        }
        Answers::Raw(bytes) => drop(stream.write_all(bytes.as_bytes())),
        // Until the other side hangs up.
        Answers::Never => drop(reader.read(&mut [0])),
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
    }
}

/// An HTTP answer with this body.
pub(crate) fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}
