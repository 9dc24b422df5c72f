//! The `<memo>` block: built from an assistant's messages, and found again for each `<recall>`.
//!
//! Pure. A memo is text that a model wrote and a model will read: anything in it that looks
//! like one of the delimiters is escaped, so that no memo can end its own block, open another,
//! or ask for a recall.

use std::ops::Range;

/// Sections that a memo keeps.
const KEPT: [&str; 3] = ["reasoning", SQL, "chart"];
const SQL: &str = "sql";
/// Between which a delimiter is spoken of.
const MARKS: [char; 3] = ['\'', '"', '`'];
/// Left out: made when the message was shown, and of no use later.
const LEFT_OUT: &str = "dataframe";
const MEMO: &str = "memo";
const RECALL: &str = "recall";

/// A kept section of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// `reasoning`, `sql` or `chart`.
    pub tag: &'static str,
    pub text: &'a str,
}

/// Messages without a section to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "holds none of <reasoning>…</reasoning>, <sql>…</sql> and <chart>…</chart>; accepted is a \
     message with at least one of them"
)]
pub struct NothingToKeep;

/// Block of these messages: their kept sections in order.
pub fn block(messages: &[String]) -> Result<String, NothingToKeep> {
    let lines: Vec<String> = messages
        .iter()
        .flat_map(|message| sections(message))
        .map(|Section { tag, text }| format!("<{tag}>{}</{tag}>\n", escape(text)))
        .collect();
    if lines.is_empty() {
        return Err(NothingToKeep);
    }
    Ok(format!("<{MEMO}>\n{}</{MEMO}>", lines.concat()))
}

/// Kept sections of a message or a block, in order, without blank ones. A tag that is not
/// closed opens nothing; the content of a `<dataframe>` is skipped with it.
pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = Vec::new();
    let mut rest = text;
    while let Some((at, tag)) = first_opening(rest) {
        let inner = rest.get(at + tag.len() + 2..).unwrap_or_default();
        let Some((inside, after)) = split_at_close(inner, tag) else {
            rest = inner;
            continue;
        };
        let inside = inside.trim();
        if let Some(tag) = KEPT.into_iter().find(|kept| *kept == tag)
            && !inside.is_empty()
        {
            sections.push(Section { tag, text: inside });
        }
        rest = after;
    }
    sections
}

/// What stands before the tag that closes a section, and what comes after it: the last
/// one before another section opens, as a closing tag may stand in the text itself, such
/// as in a query for tags. The first one where none stands before. Of those that are quoted
/// none, where another is.
fn split_at_close<'a>(inner: &'a str, tag: &str) -> Option<(&'a str, &'a str)> {
    let close = format!("</{tag}>");
    let is_own = |at: &usize| !is_quoted(inner, *at..at + close.len(), tag);
    let closes = || inner.match_indices(&close).map(|(at, _)| at);
    let opens = openings(inner).filter(|(at, it)| !is_quoted(inner, *at..at + it.len() + 2, tag));
    let next = opens.map(|(at, _)| at).min().unwrap_or(inner.len());
    let last = closes().filter(is_own).take_while(|at| *at < next).last();
    let at = last.or_else(|| closes().find(is_own)).or_else(|| closes().next())?;
    Some((inner.get(..at)?, inner.get(at + close.len()..)?))
}

/// Whether a delimiter in a section is only spoken of: it stands between marks, or in a literal of
/// a query.
fn is_quoted(inner: &str, at: Range<usize>, tag: &str) -> bool {
    let before = inner.get(..at.start).unwrap_or_default();
    let after = inner.get(at.end..).unwrap_or_default();
    let mark = before.chars().next_back().filter(|it| MARKS.contains(it));
    let is_between = mark.is_some() && after.chars().next() == mark;
    is_between || tag == SQL && before.matches('\'').count() % 2 == 1
}

fn first_opening(text: &str) -> Option<(usize, &'static str)> {
    openings(text).min()
}

/// All that open a section, in no order.
fn openings(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let tags = KEPT.into_iter().chain([LEFT_OUT]);
    tags.flat_map(move |tag| {
        let open = format!("<{tag}>");
        let places: Vec<usize> = text.match_indices(&open).map(|(at, _)| at).collect();
        places.into_iter().map(move |at| (at, tag))
    })
}

/// Queries in a model's output, in order: the content of each `<recall>…</recall>`. A tag that
/// is not closed, and a blank query, are none.
pub fn recalls(text: &str) -> Vec<&str> {
    let (open, close) = (format!("<{RECALL}>"), format!("</{RECALL}>"));
    let closed = text.split(&close);
    // What follows the last closing tag closes nothing.
    let count = text.matches(&close).count();
    closed
        .take(count)
        .filter_map(|before| Some(before.rsplit_once(&open)?.1.trim()))
        .filter(|query| !query.is_empty())
        .collect()
}

/// `text` with the `<` of everything that looks like a delimiter as `&lt;`.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        escaped.push_str(before);
        escaped.push_str(if begins_delimiter(after) { "&lt;" } else { "<" });
        rest = after;
    }
    escaped.push_str(rest);
    escaped
}

/// Whether a `<` before this begins a delimiter, spelled as loosely as models
/// read: `</memo>`, `< / SQL >`, `<recall query="…">`.
fn begins_delimiter(after: &str) -> bool {
    let name = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
    let name = name.get(..end).unwrap_or(name);
    KEPT.into_iter().chain([LEFT_OUT, MEMO, RECALL]).any(|tag| tag.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};

    fn block_of(message: &str) -> Result<String, NothingToKeep> {
        block(&[message.to_owned()])
    }

    #[test]
    fn sections_of_the_documents_example_are_read() {
        let message = "<reasoning>Show recent sequencing runs with QC status and reportable \
            calls</reasoning>\n<sql>SELECT ... FROM dim_sequencing_runs ...</sql>\n\
            <dataframe>run | status</dataframe>";
        assert_eq!(
            block_of(message).unwrap(),
            "<memo>\n<reasoning>Show recent sequencing runs with QC status and reportable \
             calls</reasoning>\n<sql>SELECT ... FROM dim_sequencing_runs ...</sql>\n</memo>"
        );
        let output = "<recall>examples of run-level QC summary queries</recall>";
        assert_eq!(recalls(output), ["examples of run-level QC summary queries"]);
    }

    #[test]
    fn sections_come_in_order_from_all_messages() {
        let messages = [
            "Sure! <sql> SELECT 1 </sql> and <chart>bar</chart>".to_owned(),
            "nothing".to_owned(),
            "<reasoning>why</reasoning><sql>SELECT 2</sql>".to_owned(),
        ];
        assert_eq!(
            block(&messages).unwrap(),
            "<memo>\n<sql>SELECT 1</sql>\n<chart>bar</chart>\n<reasoning>why</reasoning>\n\
             <sql>SELECT 2</sql>\n</memo>"
        );
    }

    #[test]
    fn a_memo_needs_a_section_that_it_keeps() {
        for nothing in [
            "",
            "just words",
            "<dataframe>a <sql>SELECT 1</sql> b</dataframe>",
            "<sql>SELECT 1",
            "<sql>  </sql>",
            "</sql><sql>",
        ] {
            assert_eq!(block_of(nothing), Err(NothingToKeep), "{nothing}");
        }
        assert_eq!(
            block_of("<sql><chart>bar</chart>").unwrap(),
            "<memo>\n<chart>bar</chart>\n</memo>"
        );
    }

    #[test]
    fn delimiters_in_the_text_are_escaped_and_other_signs_are_not() {
        let message = "<sql>SELECT a<b, '</memo><recall>x</recall>' FROM t WHERE c <> '< / MEMO >' \
            AND d = '<sqlite> <Reasoning why=1>' AND e < 5</sql>";
        assert_eq!(
            block_of(message).unwrap(),
            "<memo>\n<sql>SELECT a<b, '&lt;/memo>&lt;recall>x&lt;/recall>' FROM t WHERE c <> \
             '&lt; / MEMO >' AND d = '<sqlite> &lt;Reasoning why=1>' AND e < 5</sql>\n</memo>"
        );
    }

    #[test]
    fn a_delimiter_in_a_section_does_not_cut_it() {
        for (message, expected) in [
            ("<sql>SELECT '</sql>' FROM t</sql> done", vec!["SELECT '</sql>' FROM t"]),
            ("<sql>SELECT '<reasoning>' FROM t</sql>", vec!["SELECT '<reasoning>' FROM t"]),
            (
                "<sql>SELECT '</sql><chart>' FROM t</sql><chart>bar</chart>",
                vec!["SELECT '</sql><chart>' FROM t", "bar"],
            ),
            (
                "<reasoning>between \"</reasoning>\" and `<sql>` it is</reasoning><sql>a</sql>",
                vec!["between \"</reasoning>\" and `<sql>` it is", "a"],
            ),
            (
                "<sql>SELECT 1 -- don't</sql><sql>SELECT 2</sql>",
                vec!["SELECT 1 -- don't", "SELECT 2"],
            ),
            (
                "<reasoning>ends with </reasoning> they say</reasoning><sql>a</sql> <sql>b</sql>",
                vec!["ends with </reasoning> they say", "a", "b"],
            ),
        ] {
            let found: Vec<&str> = sections(message).iter().map(|it| it.text).collect();
            assert_eq!(found, expected, "{message}");
            let block = block_of(message).unwrap();
            let kept: Vec<String> =
                sections(&block).iter().map(|it| it.text.replace("&lt;", "<")).collect();
            assert_eq!(kept, expected, "{block}");
        }
    }

    #[test]
    fn only_closed_tags_are_recalls() {
        for (text, expected) in [
            ("", vec![]),
            ("a <recall>one</recall> b <recall>\ntwo </recall>", vec!["one", "two"]),
            ("<recall>never closed", vec![]),
            ("closed only</recall>", vec![]),
            ("<recall>lost <recall>kept</recall></recall>", vec!["kept"]),
            ("<recall> </recall><recall>x</recall> <recall>", vec!["x"]),
            ("<Recall>no</Recall>", vec![]),
        ] {
            assert_eq!(recalls(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_block_gives_its_sections_back_and_holds_no_other_delimiter(
            inside in "[a-z<>/ ]{0,12}(memo|recall|sql|chart|dataframe|</memo>|<recall>|< )[a-z<>/ ]{0,12}",
        ) {
            if let Ok(block) = block_of(&format!("<reasoning>{inside}</reasoning>")) {
                let found = sections(&block);
                assert_eq!(found.len(), 1, "{block}");
                assert_eq!(found[0].text.replace("&lt;", "<"), inside.trim());
                assert_eq!(block.matches("</memo>").count(), 1, "{block}");
                assert!(recalls(&block).is_empty(), "{block}");
            }
        }

        #[test]
        fn any_text_is_read(text in any::<String>(), tags in "(<|>|/|sql|recall|memo|dataframe| ){0,40}") {
            for text in [text, tags] {
                drop(block_of(&text));
                recalls(&text);
            }
        }
    }
}
