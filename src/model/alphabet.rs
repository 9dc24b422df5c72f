//! Tells from a tokenizer's vocabulary which letters its model reads.
//!
//! A model learnt a script where its vocabulary spells words with it. What else it is
//! given falls into single letters or unknown tokens, and all such texts get nearly the
//! same vector, whatever they say.

use std::collections::{BTreeMap, BTreeSet};

use tokenizers::{NormalizedString, Normalizer as _, Tokenizer};

/// Tokens of several letters that a letter of a learnt script is in: a stray one such as
/// a name in Cyrillic, of which the default embedder has four, teaches no script.
const TOKENS_MIN: usize = 8;
/// Ideographs are tokens of their own in every vocabulary of this family. A reader of a
/// newspaper knows as many as this; the default embedder has about 500.
const IDEOGRAPHS_MIN: usize = 3_000;
/// What the pieces of a word begin with.
const CONTINUES: &str = "##";

/// Letters of the scripts that a model reads.
#[derive(Debug)]
pub(super) struct Alphabet {
    letters: BTreeSet<char>,
}

impl Alphabet {
    pub(super) fn of(tokenizer: &Tokenizer) -> Self {
        let vocabulary = tokenizer.get_vocab(false);
        Self::of_tokens(vocabulary.keys().map(String::as_str))
    }

    fn of_tokens<'a>(tokens: impl Iterator<Item = &'a str>) -> Self {
        let mut times: BTreeMap<char, usize> = BTreeMap::new();
        let mut ideographs = BTreeSet::new();
        for token in tokens {
            let token = token.strip_prefix(CONTINUES).unwrap_or(token);
            ideographs.extend(token.chars().filter(|c| is_ideograph(*c)));
            if token.chars().nth(1).is_some() {
                let distinct: BTreeSet<char> = token.chars().collect();
                for c in distinct {
                    *times.entry(c).or_default() += 1;
                }
            }
        }
        let spelt =
            times.into_iter().filter(|(c, times)| c.is_alphabetic() && *times >= TOKENS_MIN);
        let mut letters: BTreeSet<char> = spelt.map(|(c, _)| c).collect();
        if ideographs.len() >= IDEOGRAPHS_MIN {
            letters.extend(ideographs);
        }
        Self { letters }
    }

    /// Share of the letters of a text that the model reads; 1 where it has none, as in
    /// "6:30".
    pub(super) fn share_read(&self, tokenizer: &Tokenizer, text: &str) -> f32 {
        let mut normalized = NormalizedString::from(text);
        let plain = tokenizer.get_normalizer().map(|it| it.normalize(&mut normalized));
        // What cannot be normalised is looked at as it came.
        let plain = if matches!(plain, Some(Ok(()))) { normalized.get() } else { text };
        self.share(plain)
    }

    fn share(&self, text: &str) -> f32 {
        let letters = text.chars().filter(|c| c.is_alphabetic());
        let (all, read) = letters.fold((0_usize, 0_usize), |(all, read), letter| {
            (all + 1, read + usize::from(self.letters.contains(&letter)))
        });
        if all == 0 { 1.0 } else { read as f32 / all as f32 }
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(of: &str, times: usize) -> Vec<String> {
        (0..times).map(|_| of.to_owned()).collect()
    }

    fn alphabet(tokens: &[String]) -> Alphabet {
        Alphabet::of_tokens(tokens.iter().map(String::as_str))
    }

    #[test]
    fn letters_that_spell_words_are_read_and_single_ones_are_not() {
        let english =
            [tokens("mug", 8), tokens("##cup", 8), tokens("ᄀ", 1), tokens("ви", 4)].concat();
        let english = alphabet(&english);
        assert!((english.share("mug cup") - 1.0).abs() < 1e-6);
        assert!(english.share("вив ᄀ").abs() < 1e-6);
        assert!((english.share("mug и") - 0.75).abs() < 1e-6);
    }

    #[test]
    fn a_text_without_letters_is_read() {
        assert!((alphabet(&[]).share("6:30 ?!") - 1.0).abs() < 1e-6);
    }

    #[test]
    fn ideographs_are_read_by_a_vocabulary_with_thousands_of_them() {
        let some = |count: u32| -> Vec<String> {
            (0..count).filter_map(|n| char::from_u32(0x4e00 + n)).map(String::from).collect()
        };
        assert!(alphabet(&some(500)).share("丁七").abs() < 1e-6);
        assert!((alphabet(&some(4_000)).share("丁七") - 1.0).abs() < 1e-6);
    }
}
