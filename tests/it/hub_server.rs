//! A hub of models on the loopback, with the host that its redirects lead to: as the Hugging Face
//! hub answers, and as badly as it is told to.

#![expect(clippy::disallowed_types, reason = "the server that `engram models pull` asks")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// Files from this length on lie elsewhere, under their SHA-256.
const LARGE_BYTES: usize = 4_096;

/// What goes wrong, for the first questions about large files' bytes, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// The connection ends after so many bytes.
    CutAfter(usize),
    /// So many bytes, and then nothing, with the connection open.
    StallAfter(usize),
    /// The link that the hub gave is no longer good.
    Expired,
    /// The whole file, whatever part was asked for.
    Whole,
    /// Bytes of the right number that are not the file's.
    Wrong,
    /// After a while.
    Slow,
}

/// What the hub serves, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Served {
    pub(crate) repository: String,
    pub(crate) commit: String,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) mishaps: Vec<Mishap>,
    /// Every question is answered with this status and `X-Error-Code`.
    pub(crate) refusal: Option<(u16, &'static str)>,
    /// Names that the list has beside those of the files.
    pub(crate) also_listed: Vec<String>,
    /// In the place of every hash, and of the commit.
    pub(crate) false_tag: Option<String>,
    pub(crate) false_commit: Option<String>,
}

/// A question as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Whether it came to the hub, or to the host that it redirects to.
    pub(crate) at_hub: bool,
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: BTreeMap<String, String>,
}

pub(crate) struct HubServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl HubServer {
    pub(crate) fn new(served: Served) -> Self {
        let served = Arc::new(Mutex::new(served));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let store = listen(&served, &asked, None);
        let url = listen(&served, &asked, Some(store));
        Self { url, asked }
    }

    /// Everything that it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Questions for the bytes of large files.
    pub(crate) fn fetched(&self) -> Vec<Asked> {
        self.asked().into_iter().filter(|it| !it.at_hub && it.method == "GET").collect()
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn git_hash(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Listens at an address of its own; a hub knows the `store` that it redirects to.
fn listen(
    served: &Arc<Mutex<Served>>,
    asked: &Arc<Mutex<Vec<Asked>>>,
    store: Option<String>,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (served, asked) = (Arc::clone(served), Arc::clone(asked));
    let listening = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { break };
            let (served, asked) = (Arc::clone(&served), Arc::clone(&asked));
            let store = store.clone();
            let answering = move || answer(stream, &served, &asked, store.as_deref());
            thread::Builder::new().name("one answer".to_owned()).spawn(answering).unwrap();
        }
    };
    thread::Builder::new().name("hub".to_owned()).spawn(listening).unwrap();
    url
}

fn answer(
    stream: TcpStream,
    served: &Mutex<Served>,
    asked: &Mutex<Vec<Asked>>,
    store: Option<&str>,
) {
    let Some(question) = read(&stream, store.is_some()) else { return };
    asked.lock().unwrap().push(question.clone());
    let (state, mishap) = {
        let mut served = served.lock().unwrap();
        let is_bytes = store.is_none() && question.method == "GET";
        let mishap = (is_bytes && !served.mishaps.is_empty()).then(|| served.mishaps.remove(0));
        (served.clone(), mishap)
    };
    match store {
        Some(store) => answer_as_hub(stream, &question, &state, store),
        None => answer_as_store(stream, &question, &state, mishap),
    }
}

fn read(stream: &TcpStream, at_hub: bool) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    for line in lines {
        let line = line.ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Some(Asked { at_hub, method, path, headers })
}

fn send(mut stream: TcpStream, status: &str, headers: &[(&str, String)], body: &[u8]) {
    let mut head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    drop(stream.write_all(head.as_bytes()));
    drop(stream.write_all(body));
}

fn answer_as_hub(stream: TcpStream, question: &Asked, served: &Served, store: &str) {
    let Served { repository, commit, files, .. } = served;
    if let Some((status, code)) = served.refusal {
        let headers = [("x-error-code", code.to_owned()), ("content-length", "0".to_owned())];
        return send(stream, &format!("{status} No"), &headers, b"");
    }
    let told = served.false_commit.clone().unwrap_or_else(|| commit.clone());
    let listing = format!("/api/models/{repository}/revision/");
    if question.path.starts_with(&listing) {
        let names = files.keys().chain(&served.also_listed);
        let siblings: Vec<_> = names.map(|name| json!({"rfilename": name})).collect();
        let body = json!({"sha": told, "siblings": siblings}).to_string();
        let length = ("content-length", body.len().to_string());
        return send(stream, "200 OK", &[length], body.as_bytes());
    }
    let missing = |code: &str| {
        let headers = [("x-error-code", code.to_owned()), ("content-length", "0".to_owned())];
        (headers, "404 Not Found")
    };
    let cached = "/api/resolve-cache/";
    let rest = question
        .path
        .strip_prefix(&format!("/{repository}/resolve/"))
        .or_else(|| question.path.strip_prefix(cached));
    let Some((revision, name)) = rest.and_then(|it| it.split_once('/')) else {
        let (headers, status) = missing("RepoNotFound");
        return send(stream, status, &headers, b"");
    };
    if revision != "main" && revision != commit {
        let (headers, status) = missing("RevisionNotFound");
        return send(stream, status, &headers, b"");
    }
    let Some(bytes) = files.get(name) else {
        let (headers, status) = missing("EntryNotFound");
        return send(stream, status, &headers, b"");
    };
    let tag = |hash: String| format!("\"{}\"", served.false_tag.clone().unwrap_or(hash));
    let mut headers = vec![("x-repo-commit", told)];
    if bytes.len() >= LARGE_BYTES {
        let hash = sha256(bytes);
        headers.push(("x-linked-etag", tag(hash.clone())));
        headers.push(("x-linked-size", bytes.len().to_string()));
        headers.push(("location", format!("{store}/{hash}?Signature=secret")));
        headers.push(("content-length", "0".to_owned()));
        return send(stream, "302 Found", &headers, b"");
    }
    if !question.path.starts_with(cached) {
        // Half of what there is to say of the file; the rest is said where this leads.
        headers.push(("x-linked-etag", tag(git_hash(bytes))));
        headers.push(("location", format!("{cached}{revision}/{name}")));
        headers.push(("content-length", "0".to_owned()));
        return send(stream, "307 Temporary Redirect", &headers, b"");
    }
    headers.push(("etag", tag(git_hash(bytes))));
    headers.push(("content-length", bytes.len().to_string()));
    let body = if question.method == "HEAD" { &[][..] } else { bytes };
    send(stream, "200 OK", &headers, body);
}

fn answer_as_store(
    mut stream: TcpStream,
    question: &Asked,
    served: &Served,
    mishap: Option<Mishap>,
) {
    let hash = question.path.trim_start_matches('/').split('?').next().unwrap();
    let Some(bytes) = served.files.values().find(|bytes| sha256(bytes) == hash) else {
        return send(stream, "404 Not Found", &[("content-length", "0".to_owned())], b"");
    };
    if mishap == Some(Mishap::Expired) {
        return send(stream, "403 Forbidden", &[("content-length", "0".to_owned())], b"");
    }
    let range = question.headers.get("range");
    let start = range.and_then(|it| it.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
    let start: Option<usize> = start.filter(|_| mishap != Some(Mishap::Whole));
    let mut part = bytes[start.unwrap_or(0)..].to_vec();
    let mut headers = vec![("content-length", part.len().to_string())];
    let mut status = "200 OK";
    if let Some(start) = start {
        let range = format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len());
        headers.push(("content-range", range));
        status = "206 Partial Content";
    }
    match mishap {
        Some(Mishap::CutAfter(bytes)) => part.truncate(bytes),
        Some(Mishap::Wrong) => part.fill(7),
        Some(Mishap::Slow) => thread::sleep(Duration::from_secs(1)),
        Some(Mishap::StallAfter(bytes)) => {
            part.truncate(bytes);
            let kept = stream.try_clone().unwrap();
            send(stream, status, &headers, &part);
            stream = kept;
            thread::sleep(Duration::from_secs(20));
            drop(stream);
            return;
        }
        Some(Mishap::Expired | Mishap::Whole) | None => {}
    }
    send(stream, status, &headers, &part);
}
