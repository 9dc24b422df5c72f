//! What the page answers, with the headers that every answer has.

use crate::page::html::Html;

/// What a browser may load for a page: this page's own files, by their addresses. No script,
/// style or picture of a stored text can run or be fetched, and nobody may frame it.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
    base-uri 'none'";

/// Headers of every answer. A policy of no referrer at all would have browsers send this page's own
/// forms with an origin of `null`. `no-store`: a browser's cache on disk would keep pictures that the
/// memory has forgotten.
const HEADERS: [(&str, &str); 8] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
    ("vary", "cookie, authorization"),
];

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        let mut headers: Vec<(&'static str, String)> =
            HEADERS.map(|(name, value)| (name, value.to_owned())).into();
        headers.push(("content-type", content_type.to_owned()));
        headers.push(("cache-control", "no-store".to_owned()));
        Self { status, headers, body }
    }

    pub(crate) fn html(status: u16, page: Html) -> Self {
        Self::new(status, "text/html; charset=utf-8", page.into_string().into_bytes())
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
    }

    /// Something that is no text, such as a picture.
    pub(crate) fn bytes(content_type: &str, body: Vec<u8>) -> Self {
        Self::new(200, content_type, body)
    }

    /// A file of the program, which never changes under its address.
    pub(crate) fn asset(content_type: &str, body: &'static [u8]) -> Self {
        let mut response = Self::new(200, content_type, body.to_vec());
        response.set("cache-control", "public, max-age=31536000, immutable".to_owned());
        response
    }

    /// Sends the browser to another address of this page, to be asked for by GET.
    pub(crate) fn see(link: &str) -> Self {
        let mut response = Self::text(303, "");
        response.set("location", link.to_owned());
        response
    }

    pub(crate) fn set(&mut self, name: &'static str, value: String) {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value));
    }
}
