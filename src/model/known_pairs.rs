//! Log-odds of the pairs that a matcher has read, remembered: agents ask the same again, a plan asks it
//! several times, and captions of one spot repeat their sentences.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// Most pairs that are remembered, half a mebibyte; then they are read anew.
const PAIRS_MAX: usize = 16_384;

/// By the pairs' hashes under a key of this process, 64 bits: nothing of a caption stays here that has
/// been forgotten.
#[derive(Default)]
pub(super) struct KnownPairs {
    hasher: RandomState,
    log_odds: Mutex<HashMap<u64, f32>>,
}

impl KnownPairs {
    /// Log-odds of each sentence with the query, in their order; those of pairs that are not known come
    /// from `read`, which is given each sentence once.
    pub(super) fn log_odds<E>(
        &self,
        query: &str,
        sentences: &[&str],
        read: impl FnOnce(&[&str]) -> Result<Vec<f32>, E>,
    ) -> Result<Vec<f32>, E> {
        let pairs: Vec<u64> =
            sentences.iter().map(|it| self.hasher.hash_one((query, it))).collect();
        let mut found = self.known(&pairs);
        let mut new: Vec<(u64, &str)> = Vec::new();
        for (pair, sentence) in pairs.iter().zip(sentences) {
            if !found.contains_key(pair) && !new.iter().any(|(it, _)| it == pair) {
                new.push((*pair, sentence));
            }
        }
        if !new.is_empty() {
            let (new, sentences): (Vec<u64>, Vec<&str>) = new.into_iter().unzip();
            // Nobody waits for the lock while the network reads.
            let read: HashMap<u64, f32> = new.into_iter().zip(read(&sentences)?).collect();
            self.remember(&read);
            found.extend(read);
        }
        Ok(pairs.iter().filter_map(|it| found.get(it)).copied().collect())
    }

    fn known(&self, pairs: &[u64]) -> HashMap<u64, f32> {
        let known = self.log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.iter().filter_map(|it| Some((*it, *known.get(it)?))).collect()
    }

    fn remember(&self, read: &HashMap<u64, f32>) {
        let mut known = self.log_odds.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + read.len() > PAIRS_MAX {
            known.clear();
        }
        known.extend(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Log-odds are the lengths of the sentences; with those that were read, in their order.
    fn ask(pairs: &KnownPairs, query: &str, sentences: &[&str]) -> (Vec<f32>, Vec<String>) {
        let mut read = Vec::new();
        let found = pairs.log_odds(query, sentences, |new| {
            read = new.iter().map(|it| (*it).to_owned()).collect();
            Ok::<_, Infallible>(
                new.iter().map(|it| f32::from(u8::try_from(it.len()).unwrap())).collect(),
            )
        });
        (found.unwrap(), read)
    }

    #[test]
    fn a_pair_is_read_once_and_answers_keep_the_order_of_the_sentences() {
        let pairs = KnownPairs::default();
        let (found, read) = ask(&pairs, "mug", &["a cup", "a dog", "a cup", "a red mug"]);
        assert_eq!(
            (found, read.join(", ").as_str()),
            (vec![5.0, 5.0, 5.0, 9.0], "a cup, a dog, a red mug")
        );
        let (found, read) = ask(&pairs, "mug", &["a red mug", "a kettle", "a cup"]);
        assert_eq!((found, read.as_slice()), (vec![9.0, 8.0, 5.0], &["a kettle".to_owned()][..]));
        let (found, read) = ask(&pairs, "dog", &["a cup"]);
        assert_eq!(
            (found, read.as_slice()),
            (vec![5.0], &["a cup".to_owned()][..]),
            "another query"
        );
    }

    #[test]
    fn what_could_not_be_read_is_an_error_and_is_asked_again() {
        let pairs = KnownPairs::default();
        assert_eq!(pairs.log_odds("mug", &["a cup"], |_| Err("no weights")), Err("no weights"));
        assert_eq!(ask(&pairs, "mug", &["a cup"]), (vec![5.0], vec!["a cup".to_owned()]));
    }

    #[test]
    fn no_more_pairs_are_remembered_than_the_bound() {
        let pairs = KnownPairs::default();
        for number in 0..=PAIRS_MAX {
            ask(&pairs, &number.to_string(), &["a cup"]);
        }
        assert_eq!(pairs.log_odds.lock().unwrap().len(), 1);
    }
}
