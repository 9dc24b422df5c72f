//! The head of an HTTP/1.1 request, read with httparse. Pure.

use percent_encoding::percent_decode_str;

use crate::page::request::{Fields, Method, Request};

/// Longest head, and most headers in it.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// Longest body: a form with a thousand ids.
pub(super) const BODY_BYTES_MAX: usize = 64 << 10;

/// A request whose body is still to be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// With an empty form.
    pub(super) request: Request,
    /// Of the head itself, with the empty line at its end.
    pub(super) bytes: usize,
    pub(super) body_bytes: usize,
    /// Whether the connection serves another request after this one.
    pub(super) is_kept: bool,
}

/// Why a head is not served; the connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadHead {
    #[error("the request is not HTTP/1.1")]
    Unreadable,
    #[error("the head of the request is longer than {HEAD_BYTES_MAX} bytes")]
    TooLong,
    #[error("the method is none of GET, HEAD and POST")]
    Method,
    #[error("a body is accepted with its Content-Length, of at most {BODY_BYTES_MAX} bytes")]
    Body,
}

impl BadHead {
    pub(super) fn status(self) -> u16 {
        match self {
            Self::Unreadable => 400,
            Self::TooLong => 431,
            Self::Method => 405,
            Self::Body => 413,
        }
    }
}

/// The head at the beginning of `bytes`; `None` as long as it is not all there.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Head>, BadHead> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES_MAX => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(BadHead::TooLong),
        Err(_) => return Err(BadHead::Unreadable),
    };
    let method = match parsed.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => return Err(BadHead::Method),
    };
    let (path, query) = target(parsed.path.unwrap_or_default())?;
    let headers = parsed.headers.iter().map(|header| {
        let value = String::from_utf8_lossy(header.value).trim().to_owned();
        (header.name.to_ascii_lowercase(), value)
    });
    let request =
        Request { method, path, query, headers: headers.collect(), form: Fields::default() };
    let body_bytes = body_bytes(&request)?;
    let is_closed = request.header("connection").is_some_and(|it| it.eq_ignore_ascii_case("close"));
    let is_kept = parsed.version == Some(1) && !is_closed;
    Ok(Some(Head { request, bytes: length, body_bytes, is_kept }))
}

/// Path and query of a request's target, which is an address on this page.
fn target(target: &str) -> Result<(String, Fields), BadHead> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = percent_decode_str(path).decode_utf8().map_err(|_invalid| BadHead::Unreadable)?;
    if !path.starts_with('/') {
        return Err(BadHead::Unreadable);
    }
    Ok((path.into_owned(), Fields::parse(query)))
}

/// Where a body ends must be beyond doubt, or part of it would be read as a request.
fn body_bytes(request: &Request) -> Result<usize, BadHead> {
    if request.has_header("transfer-encoding") {
        return Err(BadHead::Body);
    }
    if !request.has_header("content-length") {
        return Ok(0);
    }
    let length =
        request.header("content-length").filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
    let length = length.and_then(|it| it.parse().ok()).filter(|it| *it <= BODY_BYTES_MAX);
    length.ok_or(BadHead::Body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_browsers_send() {
        let bytes = b"POST /forget/now?scope=episodic HTTP/1.1\r\nHost: localhost:7741\r\n\
            Content-Length: 3\r\nX-A: \xff\r\n\r\na=1GET";
        let head = parse(bytes).unwrap().unwrap();
        assert_eq!(
            (head.request.method, head.request.path.as_str()),
            (Method::Post, "/forget/now")
        );
        assert_eq!(head.request.query.get("scope"), Some("episodic"));
        assert_eq!(head.request.header("host"), Some("localhost:7741"));
        assert_eq!((head.bytes, head.body_bytes, head.is_kept), (bytes.len() - 6, 3, true));
        for part in 0..head.bytes {
            assert_eq!(parse(&bytes[..part]), Ok(None), "{part} bytes");
        }
        let old = parse(b"GET / HTTP/1.0\r\n\r\n").unwrap().unwrap();
        let closed = parse(b"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").unwrap().unwrap();
        assert!(!old.is_kept && !closed.is_kept);
    }

    #[test]
    fn doubtful_requests_are_refused() {
        let refuse = |head: &str| parse(format!("{head}\r\n\r\n").as_bytes()).unwrap_err();
        for (head, expect) in [
            ("DELETE / HTTP/1.1", BadHead::Method),
            ("GET http://evil.example/ HTTP/1.1", BadHead::Unreadable),
            ("GET /%ff HTTP/1.1", BadHead::Unreadable),
            ("\x16\x03\x01 TLS", BadHead::Unreadable),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked", BadHead::Body),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", BadHead::Body),
            ("POST / HTTP/1.1\r\nContent-Length: +1", BadHead::Body),
            ("POST / HTTP/1.1\r\nContent-Length: 65537", BadHead::Body),
        ] {
            assert_eq!(refuse(head), expect, "{head}");
        }
        let long = vec![b'a'; HEAD_BYTES_MAX];
        assert_eq!(parse(&[b"GET /".as_slice(), &long].concat()), Err(BadHead::TooLong));
        let many = "A: b\r\n".repeat(HEADERS_MAX + 1);
        assert_eq!(refuse(&format!("GET / HTTP/1.1\r\n{many}")), BadHead::TooLong);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(Some(head)) = parse(&bytes) {
                prop_assert!(head.bytes <= bytes.len() && head.body_bytes <= BODY_BYTES_MAX);
            }
        }
    }
}
