//! HTML in which everything is escaped that is not the program's own.
//!
//! [`html!`] takes its markup as a literal, and what it is filled in with is escaped by its
//! type: text is, finished [`Html`] is not. There is no other way to make an [`Html`], so no
//! text of a caption, a note or a query can become markup.

use std::fmt::{self, Write as _};

use crate::base::plain::is_hidden;

/// Finished markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

impl Html {
    /// For [`html!`], which passes nothing but literals with their values escaped.
    pub(crate) fn of(arguments: fmt::Arguments<'_>) -> Self {
        Self(arguments.to_string())
    }

    pub(crate) fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Html>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.push(&part));
        all
    }
}

/// Markup by a literal in which each `{}` takes a [`Piece`].
///
/// `concat!` makes the literal one that cannot name variables itself: `{caption}` in it, which
/// would pass by the escaping, does not compile.
macro_rules! html {
    ($template:literal $(, $value:expr)* $(,)?) => {
        $crate::page::html::Html::of(format_args!(
            concat!($template) $(, $crate::page::html::Shown(&$value))*
        ))
    };
}
pub(crate) use html;

/// What a `{}` of [`html!`] takes.
pub(crate) trait Piece {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A [`Piece`] as the formatter takes it.
#[derive(Debug)]
pub(crate) struct Shown<'a, T: ?Sized>(pub(crate) &'a T);

impl<T: Piece + ?Sized> fmt::Display for Shown<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(out)
    }
}

impl Piece for Html {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Piece for str {
    /// For content and for attributes in double quotes alike. What is not seen is written out:
    /// it would turn the direction of what stands behind it.
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\n' | '\t' => out.write_char(c)?,
                _ if is_hidden(c) => write!(out, "\\u{:04x}", u32::from(c))?,
                _ => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl Piece for String {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().write(out)
    }
}

impl<T: Piece + ?Sized> Piece for &T {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self).write(out)
    }
}

/// Nothing where there is none.
impl<T: Piece> Piece for Option<T> {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |it| it.write(out))
    }
}

macro_rules! number_is_a_piece {
    ($($number:ty),*) => {
        $(impl Piece for $number {
            fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{self}")
            }
        })*
    };
}
number_is_a_piece!(u16, u32, u64, usize, i64, f64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_never_becomes_markup() {
        let caption = "<script>alert('1')</script> \"a\" & b\u{202e}c";
        let shown = html!("<p title=\"{}\">{}</p>", caption, caption.to_owned()).into_string();
        let escaped =
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;a&quot; &amp; b\\u202ec";
        assert_eq!(shown, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }

    #[test]
    fn finished_markup_stays_as_it_is() {
        let inner: Html = ["a", "<"].iter().map(|it| html!("<b>{}</b>", it)).collect();
        let outer = html!("<i>{}{}{}</i>", inner, Some(7_u64), None::<String>);
        assert_eq!(outer.into_string(), "<i><b>a</b><b>&lt;</b>7</i>");
    }

    proptest! {
        #[test]
        fn no_text_ends_an_attribute_or_opens_a_tag(text in any::<String>()) {
            let shown = html!("{}", text).into_string();
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            // Read back by the rules of HTML it is the text again, but for what is not seen.
            let back = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"")
                .replace("&#39;", "'").replace("&amp;", "&");
            if !text.chars().any(is_hidden) {
                prop_assert_eq!(back, text);
            }
        }
    }
}
