//! Text of others as it is shown: what a terminal, a log or a reader would take for more than
//! text is written out as `\u001b`, as JSON writes it, so that JSON stays the same.

use std::borrow::Cow;

/// Whether a character is not seen but does something: control characters, those that turn
/// the direction of writing, and line ends of Unicode.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}')
}

/// The text on one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// The text with its lines and its tabs.
pub fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' if is_escaped(c) => shown.push_str("\\n"),
            '\t' if is_escaped(c) => shown.push_str("\\t"),
            '\r' if is_escaped(c) => shown.push_str("\\r"),
            _ if is_escaped(c) => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_hidden_is_written_out() {
        let hostile = "a\u{1b}[31m\u{7}\u{9b}2J\u{202e}b\r\n\tc\u{2066}\u{2028}";
        assert_eq!(
            one_line(hostile),
            "a\\u001b[31m\\u0007\\u009b2J\\u202eb\\r\\n\\tc\\u2066\\u2028"
        );
        assert_eq!(lines("a\r\n\tb\u{1b}c"), "a\\r\n\tb\\u001bc");
        assert_eq!(one_line("Tür 내일 «x» 🤖"), "Tür 내일 «x» 🤖");
    }

    proptest! {
        #[test]
        fn json_stays_the_same(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = one_line(&json);
            prop_assert!(!shown.chars().any(is_hidden));
            let read: String = serde_json::from_str(&shown).unwrap();
            prop_assert_eq!(read, text);
        }
    }
}
