//! Analyser: cuts a text into terms (lower case, stop words, Snowball's English
//! stemmer).
//!
//! Pure. Captions and queries go through the same analysis, so that "Mugs" finds "mug".

use rust_stemmers::{Algorithm, Stemmer};

/// Terms of one text; further ones are left out. Captions have a few dozen.
pub const TERMS_MAX: usize = 512;
/// Longer words are left out: nobody asks for them by heart.
const TERM_BYTES_MAX: usize = 64;

/// Words that stand in most captions and tell none apart, sorted. Their posting
/// lists would be the longest of all, and most of the work of a search by words.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "did", "do", "does", "for",
    "from", "had", "has", "have", "he", "her", "him", "his", "i", "if", "in", "into", "is", "it",
    "its", "me", "my", "of", "on", "or", "our", "she", "so", "some", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "with", "you", "your",
];

/// Lower-case words of `text` but for those that tell nothing apart, English ones
/// without their endings, in order, repeated ones repeated.
pub fn terms(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.len() <= TERM_BYTES_MAX)
        .filter_map(|word| term(&stemmer, word))
        .take(TERMS_MAX)
        .collect()
}

fn term(stemmer: &Stemmer, word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    if STOP_WORDS.binary_search(&lower.as_str()).is_ok() {
        return None;
    }
    // The English rules say nothing about other alphabets.
    let is_english = lower.bytes().all(|byte| byte.is_ascii_alphabetic());
    Some(if is_english { stemmer.stem(&lower).into_owned() } else { lower })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::proptest;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(terms(text), expect, "{text:?}");
    }

    #[test]
    fn words_meet_their_other_forms() {
        check("Two red Mugs, shelved.", &["two", "red", "mug", "shelv"]);
        check("shelving", &["shelv"]);
        check("USB-3 cable", &["usb", "3", "cabl"]);
    }

    #[test]
    fn stop_words_are_left_out() {
        assert!(STOP_WORDS.is_sorted());
        check("Where is the mug on my desk?", &["mug", "desk"]);
        check("is it on the", &[]);
    }

    #[test]
    fn other_alphabets_are_lowered_and_kept() {
        check("ÄPFEL große ΣΊΣΥΦΟΣ 本", &["äpfel", "große", "σίσυφος", "本"]);
    }

    #[test]
    fn an_empty_text_has_no_terms() {
        check("", &[]);
        check(" -- ,", &[]);
    }

    #[test]
    fn length_and_number_are_bounded() {
        assert_eq!(terms(&"x".repeat(65)), Vec::<String>::new());
        assert_eq!(terms(&"x".repeat(64)).len(), 1);
        assert_eq!(terms(&"mug ".repeat(600)).len(), TERMS_MAX);
    }

    proptest! {
        #[test]
        fn any_text_is_cut(text: String) {
            assert!(terms(&text).iter().all(|term| !term.is_empty()));
        }

        #[test]
        fn any_english_letters_are_cut(text in "[a-zA-Z' ]{0,80}") {
            terms(&text);
        }
    }
}
