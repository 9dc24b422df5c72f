//! Splits a text into passages that fit an embedder's window.
//!
//! Pure. An embedder ignores text beyond its length, and such text would never be found; each
//! passage has a vector of its own.

/// Most bytes of a passage: the 256 tokens of a common text model are about as
/// many characters of English as this.
const PASSAGE_BYTES_MAX: usize = 1_000;

/// Passages in order; one where the text is short. They end with a line, a sentence or a word
/// where there is one.
pub(crate) fn passages(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    while rest.len() > PASSAGE_BYTES_MAX {
        let (passage, after) = rest.split_at(end_of_passage(rest));
        passages.push(passage.trim_end());
        rest = after.trim_start();
    }
    if !rest.is_empty() || passages.is_empty() {
        passages.push(rest);
    }
    passages
}

fn end_of_passage(text: &str) -> usize {
    let most = (0..=PASSAGE_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let window = text.get(..most).unwrap_or(text);
    // Not in the first half: a short passage says little.
    let late = |end: &usize| *end > most / 2;
    let after = |mark: &str| window.rfind(mark).map(|at| at + mark.len()).filter(late);
    after("\n")
        .or_else(|| [". ", "! ", "? "].into_iter().filter_map(after).max())
        .or_else(|| after(" "))
        .unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(passages("The door code is 4711."), ["The door code is 4711."]);
        assert_eq!(passages(""), [""]);
    }

    #[test]
    fn passages_end_with_lines_sentences_or_words() {
        let line = "x".repeat(600);
        assert_eq!(passages(&format!("{line}\n{line}")), [line.as_str(), &line]);
        let sentence = format!("{}.", "word ".repeat(110).trim_end());
        let found: Vec<usize> =
            passages(&[sentence.as_str(); 3].join(" ")).iter().map(|it| it.len()).collect();
        assert_eq!(found, [sentence.len(); 3]);
        let words = "word ".repeat(300);
        assert!(passages(&words).iter().all(|it| it.ends_with("word")));
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_lost_and_all_are_short(
            text in any::<String>(), words in prop::collection::vec("[a-zä.€]{0,12}[ .\n]", 0..600),
        ) {
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            for text in [text, words.concat()] {
                let passages = passages(&text);
                assert!(passages.iter().all(|it| it.len() <= PASSAGE_BYTES_MAX));
                assert_eq!(solid(&passages.concat()), solid(&text));
            }
        }
    }
}
