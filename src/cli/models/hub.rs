//! The hub over HTTPS: what it says of a model's files, and their bytes from anywhere on.
//!
//! The one file that speaks TLS, and of the command line: no part of the daemon names it. What
//! the hub answers is data: hashes and commits are taken as such and nothing else, redirects are
//! followed by hand, and the token goes to the hub alone, never where it redirects to.

use std::fs;
use std::io::Read;
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::cli::models::blob::BlobName;
use crate::cli::models::hub_settings::HubSettings;
use crate::model::hub_cache::{Commit, Repository, Revision, is_file_name};

/// Redirects from the question to its answer: the hub needs one or two.
const REDIRECTS_MAX: usize = 5;
/// Largest list of files that is read.
const LISTING_BYTES_MAX: u64 = 8 << 20;
/// Files of a repository; those of models are tens.
const FILES_MAX: usize = 10_000;
const CONNECT_MAX: Duration = Duration::from_secs(15);

/// Asks one hub, one question after the other on the calling thread.
pub(super) struct Hub {
    agent: Agent,
    endpoint: String,
    token: Option<String>,
}

/// What the hub says of a file, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemoteFile {
    pub(super) commit: Commit,
    pub(super) blob: BlobName,
    pub(super) bytes: u64,
}

/// A repository at one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    pub(super) commit: Commit,
    pub(super) files: Vec<String>,
}

/// Bytes of a file, from `start` to its end.
pub(super) struct Download {
    pub(super) start: u64,
    pub(super) body: Box<dyn Read>,
}

/// Why the hub gave no answer, by what to do about it.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubError {
    /// Asked again it may be better.
    #[error("{0}")]
    Passing(String),
    /// Asked again it will be the same.
    #[error("{0}")]
    Final(String),
}

/// A file of a repository, as a question names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileAt<'a> {
    pub(super) repository: &'a Repository,
    pub(super) revision: &'a Revision,
    pub(super) path: &'a str,
}

/// Whom to believe that a hub is the one it says: Mozilla's list, or the operator's own.
fn roots(settings: &HubSettings) -> anyhow::Result<RootCerts> {
    let Some(path) = &settings.certificates else { return Ok(RootCerts::WebPki) };
    let file = path.display();
    let pem = fs::read(path).with_context(|| format!("SSL_CERT_FILE {file} cannot be read"))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        let item = item.with_context(|| format!("SSL_CERT_FILE {file} is no PEM file"))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    anyhow::ensure!(!certificates.is_empty(), "SSL_CERT_FILE {file} has no certificate in PEM");
    Ok(RootCerts::new_with_certs(&certificates))
}

impl Hub {
    /// Connects to nothing yet.
    pub(super) fn new(settings: &HubSettings, token: Option<String>) -> anyhow::Result<Self> {
        let endpoint = settings.endpoint.clone();
        let origin = Origin::of(&endpoint).with_context(|| {
            format!(
                "HF_ENDPOINT is {endpoint:?}; accepted is https://HOST, or http:// for a mirror"
            )
        })?;
        // In plain HTTP anybody on the way reads it.
        let token = token.filter(|_| origin.is_https || origin.is_loopback());
        let config = Agent::config_builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_recv_response(Some(settings.stall))
            .timeout_per_read(Some(settings.stall))
            .max_response_header_size(64 << 10)
            .accept_encoding("identity")
            .user_agent(concat!("engram/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots(settings)?).build())
            .build();
        Ok(Self { agent: config.into(), endpoint, token })
    }

    /// The files of a repository.
    pub(super) fn list(
        &self,
        repository: &Repository,
        revision: &Revision,
    ) -> Result<Listing, HubError> {
        #[derive(Deserialize)]
        struct Model {
            sha: String,
            siblings: Vec<Sibling>,
        }
        #[derive(Deserialize)]
        struct Sibling {
            rfilename: String,
        }
        let quoted = encoded(revision.as_str(), "");
        let url = format!("{}/api/models/{repository}/revision/{quoted}", self.endpoint);
        let mut answer = self.ask(Method::Get, &url, None)?;
        self.check(&answer, &FileAt { repository, revision, path: "" })?;
        let body = answer.body_mut().with_config().limit(LISTING_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| passing(&url, &error))?;
        let model: Model = serde_json::from_slice(&body)
            .map_err(|error| HubError::Final(format!("{url} answered no list: {error}")))?;
        let commit = Commit::parse(&model.sha)
            .ok_or_else(|| HubError::Final(format!("{url} names no commit: {:?}", model.sha)))?;
        if model.siblings.len() > FILES_MAX {
            let found = model.siblings.len();
            let text = format!("{repository} has {found} files; accepted are {FILES_MAX}");
            return Err(HubError::Final(text));
        }
        let files: Vec<String> = model.siblings.into_iter().map(|it| it.rfilename).collect();
        if let Some(bad) = files.iter().find(|name| !is_file_name(name)) {
            let text = format!("{repository} names a file {bad:?}, which leads out of a directory");
            return Err(HubError::Final(text));
        }
        Ok(Listing { commit, files })
    }

    /// Commit, hash and length of a file.
    pub(super) fn describe(&self, file: FileAt<'_>) -> Result<RemoteFile, HubError> {
        let mut url = self.url(&file);
        let (mut commit, mut linked_blob, mut linked_bytes) = (None, None, None);
        for _ in 0..REDIRECTS_MAX {
            let answer = self.ask(Method::Head, &url, None)?;
            commit = header(&answer, "x-repo-commit").or(commit);
            linked_blob = header(&answer, "x-linked-etag").or(linked_blob);
            linked_bytes = header(&answer, "x-linked-size").or(linked_bytes);
            let next = next(&url, &answer)?;
            // What lies elsewhere is described by the hub itself.
            let is_described = linked_blob.is_some() && linked_bytes.is_some();
            if let Some(next) = next.as_ref().filter(|it| !is_described && self.is_own(it)) {
                url.clone_from(next);
                continue;
            }
            if next.is_none() {
                self.check(&answer, &file)?;
            }
            let blob = linked_blob.or_else(|| header(&answer, "etag").filter(|_| next.is_none()));
            let bytes = linked_bytes
                .or_else(|| header(&answer, "content-length").filter(|_| next.is_none()));
            return described(&file, commit.as_deref(), blob.as_deref(), bytes.as_deref());
        }
        Err(HubError::Final(format!("{url} redirects more than {REDIRECTS_MAX} times")))
    }

    /// The bytes of a file from `start` on, or from its beginning where the server has it so.
    ///
    /// Without `If-Range`: what was fetched before lies under the hub's own hash of the file, and
    /// the host that sends the bytes tags them otherwise.
    pub(super) fn open(&self, file: FileAt<'_>, start: u64) -> Result<Download, HubError> {
        let mut url = self.url(&file);
        for _ in 0..REDIRECTS_MAX {
            let answer = self.ask(Method::Get, &url, (start > 0).then_some(start))?;
            if let Some(next) = next(&url, &answer)? {
                url = next;
                continue;
            }
            let status = answer.status().as_u16();
            // A link that has expired; the hub gives another.
            if !self.is_own(&url) && (400..500).contains(&status) && status != 416 {
                let host = host_of(&url);
                return Err(HubError::Passing(format!("{host} answered {status}")));
            }
            if status == 416 {
                let text = format!("{} has no byte {start}", file.path);
                return Err(HubError::Passing(text));
            }
            self.check(&answer, &file)?;
            let start = match (status, content_start(&answer)) {
                (206, Some(from)) if from == start => start,
                (206, from) => {
                    let text = format!("bytes from {start} on were asked for, {from:?} came");
                    return Err(HubError::Passing(text));
                }
                // Not a part: the whole of it.
                _ => 0,
            };
            let body = Box::new(answer.into_body().into_reader());
            return Ok(Download { start, body });
        }
        Err(HubError::Final(format!("{url} redirects more than {REDIRECTS_MAX} times")))
    }

    fn url(&self, file: &FileAt<'_>) -> String {
        let FileAt { repository, revision, path } = file;
        let revision = encoded(revision.as_str(), "");
        let path = encoded(path, "/");
        format!("{}/{repository}/resolve/{revision}/{path}", self.endpoint)
    }

    fn is_own(&self, url: &str) -> bool {
        Origin::of(url).is_some_and(|it| Some(it) == Origin::of(&self.endpoint))
    }

    fn ask(
        &self,
        method: Method,
        url: &str,
        start: Option<u64>,
    ) -> Result<Response<Body>, HubError> {
        let mut question = match method {
            Method::Get => self.agent.get(url),
            Method::Head => self.agent.head(url),
        };
        if let Some(token) = self.token.as_ref().filter(|_| self.is_own(url)) {
            question = question.header("authorization", format!("Bearer {token}"));
        }
        if let Some(start) = start {
            question = question.header("range", format!("bytes={start}-"));
        }
        question.call().map_err(|error| passing(url, &error))
    }

    /// Says in words what a status means for this file.
    fn check(&self, answer: &Response<Body>, file: &FileAt<'_>) -> Result<(), HubError> {
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(());
        }
        let FileAt { repository, revision, path } = file;
        let code = header(answer, "x-error-code").unwrap_or_default();
        let page = format!("{}/{repository}", self.endpoint);
        let tokens = format!("{}/settings/tokens", self.endpoint);
        let token = match self.token {
            Some(_) => "the token that is set does not open it",
            None => "no token is set",
        };
        let text = match (status, code.as_str()) {
            (401 | 403, "GatedRepo") => format!(
                "{repository} is gated ({status}), and {token}: log in and accept its licence on \
                 {page}, make a token on {tokens}, and set HF_TOKEN to it"
            ),
            (401 | 404, "RepoNotFound") | (401, _) => format!(
                "the hub knows no {repository}, or it is private ({status}), and {token}: see \
                 {page}, or set HF_TOKEN to a token that may read it ({tokens})"
            ),
            (403, _) => format!(
                "the hub refuses {repository} ({status}), and {token}: see {page} for what it \
                 asks for, and set HF_TOKEN to a token that may read it ({tokens})"
            ),
            (404, "RevisionNotFound") => {
                format!("{repository} has no revision {:?}: see {page}/commits", revision.as_str())
            }
            (404, _) if path.is_empty() => format!("the hub knows no {repository}: see {page}"),
            (404, _) => format!("{repository} has no file {path:?} at {}", revision.as_str()),
            (429 | 500..=599, _) => {
                return Err(HubError::Passing(format!("the hub answered {status}")));
            }
            _ => format!("the hub answered {status} to {path:?} of {repository}"),
        };
        Err(HubError::Final(text))
    }
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Get,
    Head,
}

/// Scheme, host and port of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    text: String,
    is_https: bool,
}

impl Origin {
    /// `None` where it is no HTTP, or names a user.
    fn of(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
        let is_one = ["http", "https"].contains(&scheme.as_str())
            && !authority.is_empty()
            && !authority.contains(['@', '\\'])
            && !authority.contains(char::is_whitespace);
        let default = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(default).unwrap_or(&authority);
        is_one
            .then(|| Self { text: format!("{scheme}://{authority}"), is_https: scheme == "https" })
    }

    fn is_loopback(&self) -> bool {
        let authority = self.text.split_once("://").map_or("", |(_, it)| it);
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        ["localhost", "127.0.0.1", "[::1]"].contains(&host)
    }
}

/// Where an answer redirects to, if it may.
fn next(url: &str, answer: &Response<Body>) -> Result<Option<String>, HubError> {
    if !answer.status().is_redirection() {
        return Ok(None);
    }
    let refused = |reason: &str| HubError::Final(format!("{} redirects {reason}", host_of(url)));
    let location = header(answer, "location").ok_or_else(|| refused("to nowhere"))?;
    let here = Origin::of(url).ok_or_else(|| refused("from nowhere"))?;
    let next = if location.starts_with('/') && !location.starts_with("//") {
        format!("{}{location}", here.text)
    } else {
        location
    };
    let there = Origin::of(&next).ok_or_else(|| refused("to what is no HTTP"))?;
    if here.is_https && !there.is_https {
        return Err(refused("from HTTPS to plain HTTP"));
    }
    Ok(Some(next))
}

fn host_of(url: &str) -> String {
    Origin::of(url).map_or_else(|| "a server".to_owned(), |it| it.text)
}

fn passing(url: &str, error: &ureq::Error) -> HubError {
    HubError::Passing(format!("{} cannot be asked: {error}", host_of(url)))
}

fn header(answer: &Response<Body>, name: &str) -> Option<String> {
    let value = answer.headers().get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn described(
    file: &FileAt<'_>,
    commit: Option<&str>,
    blob: Option<&str>,
    bytes: Option<&str>,
) -> Result<RemoteFile, HubError> {
    let missing = |what: &str, found: Option<&str>| {
        let found = found.unwrap_or("nothing");
        HubError::Final(format!("of {:?} the hub gives no {what}, but {found:?}", file.path))
    };
    let tag = blob.map(|it| it.trim_start_matches("W/").trim_matches('"'));
    Ok(RemoteFile {
        blob: tag.and_then(BlobName::parse).ok_or_else(|| missing("hash", blob))?,
        bytes: bytes.and_then(|it| it.parse().ok()).ok_or_else(|| missing("length", bytes))?,
        commit: commit.and_then(Commit::parse).ok_or_else(|| missing("commit", commit))?,
    })
}

/// First byte of `Content-Range: bytes 100-199/200`.
fn content_start(answer: &Response<Body>) -> Option<u64> {
    header(answer, "content-range")?.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}

/// Percent-encoded but for what URLs spell plainly, and `also`.
fn encoded(text: &str, also: &str) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        let letter = char::from(byte);
        if letter.is_ascii_alphanumeric() || "-._~".contains(letter) || also.contains(letter) {
            url.push(letter);
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_tell_hosts_schemes_and_ports_apart() {
        let origin = |url: &str| Origin::of(url).map(|it| it.text);
        assert_eq!(origin("https://Hub.co/a?b").as_deref(), Some("https://hub.co"));
        assert_eq!(origin("https://hub.co:443"), origin("https://hub.co/x"));
        assert_ne!(origin("https://hub.co:444"), origin("https://hub.co"));
        assert_ne!(origin("http://hub.co"), origin("https://hub.co"));
        assert_ne!(origin("https://hub.co.evil.org/"), origin("https://hub.co/"));
        for url in ["hub.co", "file:///etc/passwd", "https://hub.co@evil.org/", "https:///x"] {
            assert_eq!(origin(url), None, "{url}");
        }
        assert!(Origin::of("http://127.0.0.1:8080/x").unwrap().is_loopback());
        assert!(!Origin::of("http://127.0.0.1.evil.org/x").unwrap().is_loopback());
    }

    #[test]
    fn certificates_are_those_of_the_file_that_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.pem");
        let variable = ("SSL_CERT_FILE".to_owned(), file.display().to_string());
        let settings = HubSettings::from_environment(&[variable]);
        let refused = || roots(&settings).err().unwrap().to_string();
        assert!(refused().contains("cannot be read"));
        fs::write(&file, "nothing of the kind").unwrap();
        assert!(refused().contains("has no certificate"));
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        fs::write(&file, pem.repeat(2)).unwrap();
        let RootCerts::Specific(own) = roots(&settings).unwrap() else { panic!("not its own") };
        assert_eq!(own.len(), 2);
        let none = HubSettings::from_environment(&[]);
        assert!(matches!(roots(&none).unwrap(), RootCerts::WebPki));
    }

    #[test]
    fn parts_of_a_url_are_spelt_out() {
        assert_eq!(encoded("refs/pr/1", ""), "refs%2Fpr%2F1");
        assert_eq!(encoded("1_Pooling/config.json", "/"), "1_Pooling/config.json");
        assert_eq!(encoded("a b#?%é", "/"), "a%20b%23%3F%25%C3%A9");
    }
}
