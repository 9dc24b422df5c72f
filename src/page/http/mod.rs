//! HTTP/1.1 over TCP: a thread for each connection, as many as a few browsers need.
//!
//! httparse reads the heads; what is left is small enough to be here, and brings no crate, for
//! a page that a person looks at. Knows nothing of what is answered.

#![expect(clippy::disallowed_types, reason = "the page's socket; the daemon has none")]

mod head;
mod peer;

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use log::{debug, warn};

use crate::base::caller::Caller;
use crate::base::time::{Clock as _, SystemClock};
use crate::page::http::head::{BadHead, Head};
use crate::page::request::{Fields, Method, Request};
use crate::page::response::Response;

/// Connections at once; one more is told so and closed. A browser opens six.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection may be silent between two requests, and how long one request may take
/// to come and its answer to be taken.
const IDLE: Duration = Duration::from_mins(1);
const TRANSFER: Duration = Duration::from_secs(10);
/// Of a request that is refused: how long its rest may take to come, and how much of it is taken.
const READ_AWAY: Duration = Duration::from_millis(500);
const READ_AWAY_BYTES: u64 = 1 << 20;

/// What answers requests.
pub(crate) trait Site: Send + Sync + 'static {
    fn respond(&self, request: &Request) -> Response;
}

/// Answers connections until the listener fails.
pub(crate) fn serve(
    listener: &TcpListener,
    is_for_all_users: bool,
    site: &Arc<impl Site>,
) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let stream = match stream {
            Ok(stream) => stream,
            // The client is gone, or there are too many files for the moment.
            Err(error) => {
                warn!("a connection was not taken: {error}");
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        let place = Place::take(&open);
        let site = Arc::clone(site);
        let work = move || {
            let served = match place {
                Some(_place) => Connection::open(stream, is_for_all_users)
                    .and_then(|it| it.map_or(Ok(()), |mut it| it.run(&*site))),
                None => turn_away(stream),
            };
            if let Err(error) = served {
                debug!("a connection ended: {error}");
            }
        };
        Builder::new().name("page-connection".to_owned()).spawn(work)?;
    }
    Ok(())
}

/// One of the connections that may be open.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(open));
        (open.fetch_add(1, Ordering::Relaxed) < CONNECTIONS_MAX).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(TRANSFER))?;
    let full = format!("all {CONNECTIONS_MAX} connections of this page are in use");
    stream.write_all(&written(&Response::text(503, &full), Method::Get, false))
}

struct Connection {
    stream: TcpStream,
    /// Read and not yet used.
    unread: Vec<u8>,
}

impl Connection {
    /// `None` where another user of this machine is at the other end, who is told so.
    fn open(mut stream: TcpStream, is_for_all_users: bool) -> io::Result<Option<Self>> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(TRANSFER))?;
        let (peer, own): (SocketAddr, SocketAddr) = (stream.peer_addr()?, stream.local_addr()?);
        if !is_for_all_users && peer::user(peer, own) != Some(Caller::this_process().uid) {
            warn!(
                "another user of this machine was refused, at {peer}; --token-file admits others"
            );
            let refused = Response::text(403, "this page is another user's of this machine");
            stream.write_all(&written(&refused, Method::Get, false))?;
            return Ok(None);
        }
        Ok(Some(Self { stream, unread: Vec::new() }))
    }

    /// Answers its requests one after the other.
    fn run(&mut self, site: &impl Site) -> io::Result<()> {
        loop {
            let Head { mut request, bytes, body_bytes, is_kept } = match self.read_head()? {
                Ok(Some(head)) => head,
                Ok(None) => return Ok(()),
                Err(bad) => {
                    let refused = Response::text(bad.status(), &bad.to_string());
                    self.stream.write_all(&written(&refused, Method::Get, false))?;
                    return self.read_away();
                }
            };
            self.read_until(bytes + body_bytes, SystemClock.tick() + TRANSFER)?;
            let rest = self.unread.split_off(bytes + body_bytes);
            let body = self.unread.split_off(bytes);
            self.unread = rest;
            request.form = Fields::parse(&String::from_utf8_lossy(&body));
            let response = site.respond(&request);
            self.stream.write_all(&written(&response, request.method, is_kept))?;
            if !is_kept {
                return Ok(());
            }
        }
    }

    /// `None` where the other end has no more to ask.
    fn read_head(&mut self) -> io::Result<Result<Option<Head>, BadHead>> {
        let mut deadline = SystemClock.tick() + IDLE;
        loop {
            match head::parse(&self.unread) {
                Ok(None) => {}
                done => return Ok(done),
            }
            let before = self.unread.len();
            match self.read_until(before + 1, deadline) {
                Ok(()) => {}
                Err(error) if before == 0 && error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Ok(None));
                }
                Err(error) => return Err(error),
            }
            if before == 0 {
                deadline = SystemClock.tick() + TRANSFER;
            }
        }
    }

    /// Takes what still comes: a connection that is closed on unread bytes is reset, and the
    /// other end may not get the answer.
    fn read_away(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        self.stream.set_read_timeout(Some(READ_AWAY))?;
        io::copy(&mut self.stream.try_clone()?.take(READ_AWAY_BYTES), &mut io::sink()).map(drop)
    }

    /// Reads until so many bytes are there.
    fn read_until(&mut self, bytes: usize, deadline: Instant) -> io::Result<()> {
        while self.unread.len() < bytes {
            let left = deadline.saturating_duration_since(SystemClock.tick());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut chunk = [0; 8 << 10];
            let read = match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.unread.extend(chunk.iter().take(read));
        }
        Ok(())
    }
}

/// A response as it goes over the wire.
fn written(response: &Response, method: Method, is_kept: bool) -> Vec<u8> {
    let Response { status, headers, body } = response;
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(*status));
    for (name, value) in headers {
        // A line's end in a value would begin a header of its own.
        let value = value.replace(['\r', '\n'], " ");
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let connection = if is_kept { "keep-alive" } else { "close" };
    text.push_str(&format!("connection: {connection}\r\ncontent-length: {}\r\n\r\n", body.len()));
    let mut bytes = text.into_bytes();
    if method != Method::Head {
        bytes.extend_from_slice(body);
    }
    bytes
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_header_begins_another_one() {
        let mut response = Response::text(200, "body");
        response.set("location", "/a\r\nset-cookie: b".to_owned());
        let bytes = written(&response, Method::Head, true);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("\r\nlocation: /a  set-cookie: b\r\n"), "{text}");
        assert!(text.ends_with("connection: keep-alive\r\ncontent-length: 4\r\n\r\n"), "{text}");
    }
}
