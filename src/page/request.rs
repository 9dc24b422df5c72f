//! A request of a browser, taken apart. Pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    /// As [`Method::Get`], answered without its body.
    Head,
    Post,
}

/// A request whose head and body are here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Without the query, percent signs decoded; begins with `/`.
    pub(crate) path: String,
    pub(crate) query: Fields,
    /// Names in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) form: Fields,
}

impl Request {
    /// The only header of this name; `None` where there are several.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value.as_str())
    }

    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// A cookie's value.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.header("cookie")?.split(';').map(str::trim);
        cookies.filter_map(|it| it.split_once('=')).find(|(known, _)| *known == name).map(|it| it.1)
    }
}

/// Names and values of a query or a form, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// `a=1&b=two+words`; what is no UTF-8 is replaced.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|it| !it.is_empty());
        let decode =
            |it: &str| percent_decode_str(&it.replace('+', " ")).decode_utf8_lossy().into_owned();
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(name), decode(value))
                })
                .collect(),
        )
    }

    /// The first value of this name that is not empty: forms send all their fields.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).find(|it| !it.is_empty())
    }

    /// All of this name that are not empty.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let found = self.0.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|it| !it.is_empty()).collect()
    }
}

/// What a query's value leaves as it is, beside letters and digits.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':').remove(b',');

/// A path of this page with a query; pairs without a value are left out.
pub(crate) fn link<'a>(path: &str, pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut link = path.to_owned();
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    for (number, (name, value)) in pairs.enumerate() {
        link.push(if number == 0 { '?' } else { '&' });
        link.push_str(name);
        link.push('=');
        link.extend(utf8_percent_encode(&value, PLAIN));
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_read_as_browsers_write_it() {
        let fields = Fields::parse("q=a+red%20mug&source=&id=1&id=2&x&=y&bad=%ff");
        assert_eq!(fields.get("q"), Some("a red mug"));
        assert_eq!(fields.get("source"), None, "an empty field is an absent one");
        assert_eq!(fields.all("id"), ["1", "2"]);
        assert_eq!((fields.get("x"), fields.get("bad")), (None, Some("\u{fffd}")));
    }

    #[test]
    fn two_headers_of_a_name_are_none() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = Request {
            method: Method::Get,
            path: "/".to_owned(),
            query: Fields::default(),
            headers: vec![header("host", "a"), header("host", "b"), header("cookie", "a=1; t=2")],
            form: Fields::default(),
        };
        assert!(request.header("host").is_none() && request.has_header("host"));
        assert_eq!((request.cookie("t"), request.cookie("b")), (Some("2"), None));
    }

    proptest! {
        #[test]
        fn a_link_carries_any_text(name in "[a-z]{1,5}", value in "\\PC+") {
            let link = link("/search", [(name.as_str(), value.clone())]);
            let (path, query) = link.split_once('?').unwrap();
            prop_assert_eq!(path, "/search");
            let fields = Fields::parse(query);
            let expect = value.trim();
            prop_assert_eq!(fields.get(&name).unwrap_or_default(), expect);
        }
    }
}
