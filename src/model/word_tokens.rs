//! Token ids of words, remembered: the same few thousand words stand in all captions, and to split
//! one into tokens takes far longer than to look it up.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokenizers::Tokenizer;

/// Most words that are remembered, about a mebibyte; then they are learnt anew.
const WORDS_MAX: usize = 8_192;

/// Words of up to so many bytes are remembered.
const WORD_BYTES_MAX: usize = 32;

#[derive(Default)]
pub(super) struct WordTokens {
    known: Mutex<HashMap<Box<str>, Box<[u32]>>>,
}

impl WordTokens {
    /// Token ids of `text` without special ones, word by word: what the tokenizer gives for the whole,
    /// where it splits at blanks.
    pub(super) fn of(&self, tokenizer: &Tokenizer, text: &str) -> tokenizers::Result<Vec<u32>> {
        let mut ids = Vec::new();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for word in text.split_whitespace() {
            if let Some(of_word) = known.get(word) {
                ids.extend_from_slice(of_word);
                continue;
            }
            let encoding = tokenizer.encode_fast(word, false)?;
            ids.extend_from_slice(encoding.get_ids());
            if word.len() <= WORD_BYTES_MAX {
                if known.len() >= WORDS_MAX {
                    known.clear();
                }
                known.insert(word.into(), encoding.get_ids().into());
            }
        }
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn tokenizer() -> Tokenizer {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        Tokenizer::from_file(models.join("caption-embedder/tokenizer.json")).unwrap()
    }

    #[test]
    fn words_give_the_tokens_of_the_whole_text_the_first_time_and_again() {
        let (tokenizer, words) = (tokenizer(), WordTokens::default());
        let texts = [
            "A red mug, half-full, on  Dad's desk.",
            "an antidisestablishmentarianist's electroencephalographs\tcaf\u{e9} \u{6771}",
            "",
        ];
        for text in texts.iter().chain(&texts) {
            let whole = tokenizer.encode_fast(*text, false).unwrap();
            assert_eq!(words.of(&tokenizer, text).unwrap(), whole.get_ids(), "{text}");
        }
        let known = words.known.lock().unwrap();
        assert!(known.contains_key("mug,") && known.keys().all(|it| it.len() <= WORD_BYTES_MAX));
    }

    #[test]
    fn no_more_words_are_remembered_than_the_bound() {
        let (tokenizer, words) = (tokenizer(), WordTokens::default());
        for number in 0..=WORDS_MAX {
            words.of(&tokenizer, &number.to_string()).unwrap();
        }
        assert_eq!(words.known.lock().unwrap().len(), 1);
    }
}
