//! Who may have an answer: checks of a request's host, origin and token. Pure.
//!
//! The page has the roles of the user who runs it, so a request is answered only if that
//! user's browser sent it on behalf of this page. Against DNS rebinding stands the `Host`
//! header, against other sites `Sec-Fetch-Site` and `Origin`, against their forms a secret that
//! only this page's own forms hold. Beyond this machine's loopback a token is needed.

use sha2::{Digest as _, Sha256};

use crate::page::request::{Method, Request};

/// Form field of the secret.
pub(crate) const SECRET_FIELD: &str = "secret";
/// Field and query parameter of the token.
pub(crate) const TOKEN_FIELD: &str = "token";

/// What requests are held against.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Accepted values of `Host`, in small letters, with their ports.
    hosts: Vec<String>,
    /// Digest of the operator's token.
    token: Option<[u8; 32]>,
    /// Made for this process: in this page's forms, and in the cookie of who gave the token.
    secret: String,
    cookie: String,
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("this page is not {host:?}; it answers to {accepted}")]
    Host { host: String, accepted: String },
    #[error("this page answers no other site: the request came from {0:?}")]
    Origin(String),
    #[error("the form is not of this page as it runs now; load it again and repeat")]
    Secret,
    #[error("this page wants its token")]
    Token,
}

impl Refusal {
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::Host { .. } => 421,
            Self::Origin(_) | Self::Secret => 403,
            Self::Token => 401,
        }
    }
}

impl Guard {
    /// `hosts` are names with ports; `secret` is random and of this process alone.
    pub(crate) fn new(hosts: Vec<String>, token: Option<&str>, secret: String, port: u16) -> Self {
        let hosts = hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect();
        // Browsers send a host's cookies to all of its ports.
        Self { hosts, token: token.map(digest), secret, cookie: format!("engram_page_{port}") }
    }

    /// For this page's own forms.
    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    /// Whether the request came from this page, or from its user's address bar.
    pub(crate) fn check_origin(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.header("host").unwrap_or_default().to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return Err(Refusal::Host { host, accepted: self.hosts.join(", ") });
        }
        let site = request.header("sec-fetch-site");
        let is_typed = request.method != Method::Post
            && request.header("sec-fetch-mode") == Some("navigate")
            && request.header("sec-fetch-dest") == Some("document");
        let is_own = match site {
            Some("same-origin" | "none") => true,
            // A link on another site leads here, as an address that is typed does.
            Some(_) => is_typed,
            // An old browser, or none.
            None => !request.has_header("sec-fetch-site"),
        };
        if !is_own {
            return Err(Refusal::Origin(site.unwrap_or_default().to_owned()));
        }
        if request.has_header("origin") {
            let origin = request.header("origin").unwrap_or_default();
            if !origin.eq_ignore_ascii_case(&format!("http://{host}")) {
                return Err(Refusal::Origin(origin.to_owned()));
            }
        }
        Ok(())
    }

    /// Whether the request has the token, or none is wanted.
    pub(crate) fn check_token(&self, request: &Request) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = request.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let by_token = bearer.is_some_and(|given| digest(given.trim()) == *token);
        let cookie = request.cookie(&self.cookie);
        let by_cookie = cookie.is_some_and(|it| digest(it) == digest(&self.secret));
        if by_token || by_cookie { Ok(()) } else { Err(Refusal::Token) }
    }

    /// Whether this page made the form.
    pub(crate) fn check_form(&self, request: &Request) -> Result<(), Refusal> {
        let given = request.form.get(SECRET_FIELD).unwrap_or_default();
        if digest(given) == digest(&self.secret) { Ok(()) } else { Err(Refusal::Secret) }
    }

    /// The `Set-Cookie` of who gave the token right.
    pub(crate) fn admit(&self, given: &str) -> Option<String> {
        let is_right = self.token.as_ref().is_some_and(|token| digest(given.trim()) == *token);
        let Self { cookie, secret, .. } = self;
        is_right.then(|| format!("{cookie}={secret}; Path=/; HttpOnly; SameSite=Strict"))
    }
}

/// Compared in place of the texts: how far two digests agree says nothing of these.
fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::request::Fields;

    const HOST: (&str, &str) = ("host", "127.0.0.1:7741");

    fn guard(token: Option<&str>) -> Guard {
        let hosts = vec!["127.0.0.1:7741".to_owned(), "LocalHost:7741".to_owned()];
        Guard::new(hosts, token, "s3cret".to_owned(), 7741)
    }

    fn request(method: Method, headers: &[(&str, &str)]) -> Request {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Request {
            method,
            path: "/".to_owned(),
            query: Fields::default(),
            headers: headers.collect(),
            form: Fields::default(),
        }
    }

    fn check(method: Method, headers: &[(&str, &str)]) -> Option<u16> {
        guard(None).check_origin(&request(method, headers)).err().map(|it| it.status())
    }

    #[test]
    fn only_its_own_names_are_answered() {
        assert_eq!(check(Method::Get, &[HOST]), None);
        assert_eq!(check(Method::Get, &[("host", "LOCALHOST:7741")]), None);
        for host in ["evil.example", "evil.example:7741", "127.0.0.1", "127.0.0.1:80", ""] {
            assert_eq!(check(Method::Get, &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(check(Method::Get, &[]), Some(421));
        assert_eq!(check(Method::Get, &[HOST, HOST]), Some(421), "which of them counts?");
    }

    #[test]
    fn other_sites_get_nothing() {
        let from = |site: &'static str| ("sec-fetch-site", site);
        for method in [Method::Get, Method::Post] {
            assert_eq!(check(method, &[HOST, from("same-origin")]), None);
            assert_eq!(check(method, &[HOST, from("none")]), None);
            assert_eq!(check(method, &[HOST, from("cross-site")]), Some(403));
            assert_eq!(check(method, &[HOST, from("same-site")]), Some(403), "another port");
            assert_eq!(check(method, &[HOST, from("none"), from("none")]), Some(403));
        }
        let link = [from("cross-site"), ("sec-fetch-mode", "navigate"), HOST];
        let opened = [link.as_slice(), &[("sec-fetch-dest", "document")]].concat();
        assert_eq!(check(Method::Get, &opened), None, "a link may lead here");
        assert_eq!(check(Method::Post, &opened), Some(403), "a form may not");
        let framed = [link.as_slice(), &[("sec-fetch-dest", "iframe")]].concat();
        assert_eq!(check(Method::Get, &framed), Some(403));
        let fetched = [from("cross-site"), ("sec-fetch-mode", "no-cors"), HOST];
        let fetched = [fetched.as_slice(), &[("sec-fetch-dest", "document")]].concat();
        assert_eq!(check(Method::Get, &fetched), Some(403), "no link was followed");
    }

    #[test]
    fn an_origin_is_this_pages_own() {
        for method in [Method::Get, Method::Post] {
            assert_eq!(check(method, &[HOST, ("origin", "http://127.0.0.1:7741")]), None);
            for origin in ["http://evil.example", "null", "https://127.0.0.1:7741", ""] {
                assert_eq!(check(method, &[HOST, ("origin", origin)]), Some(403), "{origin}");
            }
            let own = ("origin", "http://127.0.0.1:7741");
            assert_eq!(check(method, &[HOST, own, own]), Some(403), "which of them counts?");
            let other_name = ("origin", "http://localhost:7741");
            assert_eq!(check(method, &[HOST, other_name]), Some(403), "not the one asked");
        }
    }

    #[test]
    fn a_token_is_wanted_where_one_is_set() {
        let closed = guard(Some("open sesame"));
        let admits =
            |headers: &[(&str, &str)]| closed.check_token(&request(Method::Get, headers)).is_ok();
        assert!(admits(&[("authorization", "Bearer open sesame")]));
        assert!(admits(&[("cookie", "a=b; engram_page_7741=s3cret")]));
        for (name, value) in [
            ("authorization", "Bearer open"),
            ("authorization", "Basic open sesame"),
            ("cookie", "engram_page_7741=open sesame"),
            ("cookie", "engram_page_80=s3cret"),
        ] {
            assert!(!admits(&[(name, value)]), "{name}: {value}");
        }
        assert!(!admits(&[]));
        assert_eq!(guard(None).check_token(&request(Method::Get, &[])), Ok(()));
        let cookie = closed.admit(" open sesame ").unwrap();
        assert!(cookie.starts_with("engram_page_7741=s3cret; ") && cookie.contains("HttpOnly"));
        assert_eq!(closed.admit("open"), None);
        assert_eq!(guard(None).admit(""), None);
    }

    #[test]
    fn a_form_holds_this_processes_secret() {
        let mut post = request(Method::Post, &[HOST]);
        assert_eq!(guard(None).check_form(&post), Err(Refusal::Secret));
        post.form = Fields::parse("secret=s3cre");
        assert_eq!(guard(None).check_form(&post), Err(Refusal::Secret));
        post.form = Fields::parse("secret=s3cret");
        assert_eq!(guard(None).check_form(&post), Ok(()));
    }
}
