//! Whether a request or a recall's query is in a language that this memory does not read.
//!
//! Knows no records; the words of their captions come from the corpus.

use crate::language::known_words::{Familiarity, familiarity, is_english};
use crate::language::lexicon::{self, WORD_LETTERS_MIN};
use crate::language::words::{DETERMINERS, FOREIGN_WORDS, PREPOSITIONS};
use crate::memory::episodic::Episodic;
use crate::memory::episodic::query_as_meant::{bare_words, read_surely};

impl Episodic {
    /// Whether a request is in a language that this memory reads: in a script that its models
    /// know, and neither wholly of words that neither English nor a caption has, nor for a good part
    /// of words that English has not and other languages have in every sentence.
    pub fn reads_request(&self, request: &str) -> bool {
        if !self.reads(request) {
            return false;
        }
        let words = request_words(request);
        let is_strange = !may_be_english(&words);
        if !is_strange && !words.iter().any(|it| FOREIGN_WORDS.contains(it)) {
            return true;
        }
        let is_captioned = |it: &String| self.is_captioned(it);
        !is_foreign(&words, is_captioned)
            && (!is_strange || words.iter().any(is_captioned) || self.are_slips(&words))
    }

    /// Whether all that says anything is a slip away from a word of the captions: "wodden baromter".
    fn are_slips(&self, words: &[String]) -> bool {
        let captioned = self.corpus.phrase_words();
        let long = |it: &&String| it.chars().count() >= WORD_LETTERS_MIN;
        words
            .iter()
            .filter(long)
            .all(|it| read_surely(it, &captioned).is_some_and(|it| captioned.contains(&it)))
    }

    /// Whether a query of which nothing is surely seen is in a language that this memory does not
    /// read: half of what it says or more are words that neither English nor a caption has.
    pub fn is_foreign_query(&self, query: &str) -> bool {
        let lower = query.to_lowercase();
        let is_small = |word: &str| DETERMINERS.contains(word) || PREPOSITIONS.contains(word);
        let words: Vec<&str> = bare_words(&lower).filter(|it| !is_small(it)).collect();
        let is_strange = |it: &&&str| {
            FOREIGN_WORDS.contains(it) || !it.is_ascii() && !lexicon::is_name(it) || !is_english(it)
        };
        let strange = words.iter().filter(is_strange).count();
        let is_seldom = |it: &&&str| familiarity(it) == Familiarity::Seldom;
        let seldom = words.iter().filter(is_seldom).count();
        if strange == 0 || (strange + seldom) * 2 < words.len() {
            return false;
        }
        if words.iter().any(|it| self.is_captioned(it)) {
            return false;
        }
        let captioned = self.corpus.phrase_words();
        let is_seen = |it: &String| it.split(' ').all(|it| self.is_captioned(it));
        let is_slip = |it: &str| {
            let read = read_surely(it, &captioned).filter(|_| !is_english(it));
            read.is_some_and(|it| words.len() == 1 || is_seen(&it))
        };
        !words.iter().any(|it| is_slip(it))
    }
}

/// The words of a request in lower case.
fn request_words(request: &str) -> Vec<String> {
    let lower = request.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| c.is_whitespace() || c == '-');
    let bare = words.map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
    bare.filter(|it| !it.is_empty()).collect()
}

/// Whether most words are no English ones, or half of them, where other languages have several of
/// these in every sentence: "bring mir die rote Tasse".
fn is_foreign(words: &[String], is_captioned: impl Fn(&String) -> bool) -> bool {
    let is_english_article =
        |it: &&String| !matches!(it.as_str(), "a" | "an" | "no") && DETERMINERS.contains(it);
    if words.len() < 3 || words.iter().any(|it| is_english_article(&it)) {
        return false;
    }
    let known = words.iter().filter(|it| FOREIGN_WORDS.contains(it)).count();
    let is_unknown = |it: &&String| {
        !(FOREIGN_WORDS.contains(it) || is_captioned(it) || it.is_ascii() && is_english(it))
    };
    let strange = known + words.iter().filter(is_unknown).count();
    known > 0 && 2 * strange > words.len() || known > 1 && 2 * strange >= words.len()
}

/// Whether a request has an English word, or too few words to say that it has none.
fn may_be_english(words: &[String]) -> bool {
    let long = words.iter().filter(|it| it.chars().count() >= WORD_LETTERS_MIN);
    let is_known = |it: &String| it.is_ascii() && is_english(it);
    words.len() < 3
        || long.clone().count() < 2
        || long.clone().any(is_known)
        || words.iter().any(|it| DETERMINERS.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::episodic::last_seen::tests::{observation, open};

    #[test]
    fn a_request_of_nothing_but_slips_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let caption = "a wooden barometer on a shelf";
        memory.remember_observations(vec![observation(0, caption)]).unwrap();
        assert!(memory.reads_request("wodden baromter pls"));
        for request in ["wodden paraguas pls", "donde esta mi paraguas"] {
            assert!(!memory.reads_request(request), "{request}");
        }
    }

    #[test]
    fn a_request_without_an_english_word_is_not_read() {
        for request in ["donde esta mi paraguas", "où est mon téléphone doré"] {
            assert!(!may_be_english(&request_words(request)), "{request}");
        }
        for request in ["where r my kees", "bring botle", "the zorg plumbus", "moblie pls", ""] {
            assert!(may_be_english(&request_words(request)), "{request}");
        }
    }

    #[test]
    fn a_request_with_two_english_words_by_chance_is_foreign_all_the_same() {
        let foreign = |request: &str| is_foreign(&request_words(request), |_| false);
        for request in [
            "bring mir die rote Tasse",
            "apporte moi la tasse rouge",
            "gib mir den Hammer",
            "dame las llaves",
            "dove sono le chiavi",
            "waar is mijn telefoon",
            "breng me de rode mok",
        ] {
            assert!(foreign(request), "{request}");
        }
        for request in [
            "bring me la croix",
            "bring de mug",
            "die hard dvd please",
            "bring the crème brûlée from la cucina",
            "get el red mug",
            "bring me a du pont lighter",
        ] {
            assert!(!foreign(request), "{request}");
        }
    }
}
