//! Analyser: cuts a text into terms (lower case, stop words, Snowball's English
//! stemmer).
//!
//! Pure. Captions and queries go through the same analysis, so that "Mugs" finds "mug".

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::words::STOP_WORDS;

/// Terms of one text; further ones are left out. Captions have a few dozen.
pub const TERMS_MAX: usize = 512;
/// Longer words are left out: nobody asks for them by heart.
const TERM_BYTES_MAX: usize = 64;

/// Scripts that do not part words by spaces, or hang endings on them that no stemmer here
/// knows: Thai to Khmer, kana, ideographs, Hangul. First and last of each block.
const UNPARTED: &[(char, char)] = &[
    ('\u{e00}', '\u{eff}'),
    ('\u{1000}', '\u{109f}'),
    ('\u{1780}', '\u{17ff}'),
    ('\u{3040}', '\u{30ff}'),
    ('\u{3400}', '\u{4dbf}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{20000}', '\u{2fa1f}'),
];

/// Lower-case words of `text` but for those that tell nothing apart, English ones
/// without their endings, in order, repeated ones repeated. A run of a script that does
/// not part words gives its pairs of neighbouring letters.
pub fn terms(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.split(|c: char| !c.is_alphanumeric() && !is_unparted(c))
        .flat_map(runs)
        .flat_map(
            |(run, is_parted)| {
                if is_parted { term(&stemmer, run).into_iter().collect() } else { pairs(run) }
            },
        )
        .take(TERMS_MAX)
        .collect()
}

/// The parts of a word, each all of scripts that part words or all of those that do not.
fn runs(word: &str) -> Vec<(&str, bool)> {
    let mut runs = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_unparted(c) != is_unparted(first));
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        runs.push((run, !is_unparted(first)));
        rest = after;
    }
    runs
}

/// Bigrams, which is how search engines index such scripts; a single letter as it is.
fn pairs(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    match letters.as_slice() {
        [one] => vec![one.to_string()],
        several => several.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

fn is_unparted(c: char) -> bool {
    UNPARTED.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

fn term(stemmer: &Stemmer, word: &str) -> Option<String> {
    if word.len() > TERM_BYTES_MAX {
        return None;
    }
    let lower = word.to_lowercase();
    if STOP_WORDS.contains(&lower) {
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
        check("Where is the mug on my desk?", &["mug", "desk"]);
        check("is it on the", &[]);
    }

    #[test]
    fn other_alphabets_are_lowered_and_kept() {
        check("ÄPFEL große ΣΊΣΥΦΟΣ 本", &["äpfel", "große", "σίσυφος", "本"]);
    }

    #[test]
    fn scripts_that_do_not_part_words_give_pairs_of_letters() {
        check("오늘 날씨가 맑다", &["오늘", "날씨", "씨가", "맑다"]);
        check("今天天气", &["今天", "天天", "天气"]);
        check("นี่คือ", &["นี", "ี่", "่ค", "คื", "ือ"]);
        check("QC컵 5층", &["qc", "컵", "5", "층"]);
    }

    #[test]
    fn nothing_gives_nothing() {
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
