//! Cache of the vectors of nouns that captions mention, so that no start has to embed
//! them again. A lost one is made anew from the captions.

use crate::base::embedding::Embedding;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records;
use log::warn;

impl Store {
    /// Every noun kept, by its stem; damaged ones are left out. Those of another
    /// embedder are removed.
    pub fn nouns(&self) -> Result<Vec<(String, Embedding)>, StoreError> {
        let (db, dimension) = (&self.0.db, self.0.space.dimension);
        let (mut nouns, mut over) = (Vec::new(), Vec::new());
        for entry in db.entries(keys::NOUNS) {
            let (key, sealed) = entry?;
            let stem = keys::noun_stem(&key, self.0.generation);
            match (stem, records::decode_vector(&key, &sealed, dimension)) {
                (Some(stem), Ok(vector)) => nouns.push((stem.to_owned(), vector)),
                (Some(_), Err(fault)) => warn!(fault:%; "a noun's vector is unreadable"),
                (None, _) => over.push(key),
            }
        }
        for key in over {
            db.remove(&key)?;
        }
        Ok(nouns)
    }

    /// The stems of the nouns kept.
    pub fn noun_stems(&self) -> Vec<String> {
        let generation = self.0.generation;
        let names = self.0.db.names(keys::NOUNS).into_iter();
        names.filter_map(|key| keys::noun_stem(&key, generation).map(str::to_owned)).collect()
    }

    /// Removes the nouns of these stems. Durable when it returns.
    pub fn remove_nouns(&self, stems: &[String]) -> Result<(), StoreError> {
        self.change(|_state, change| {
            for stem in stems {
                change.batch.remove(keys::noun(self.0.generation, stem));
            }
            Ok(())
        })
    }

    /// Keeps nouns by their stems, each with its vector; on disk with the next
    /// record, as a lost one can be made again.
    pub fn keep_nouns(&self, nouns: &[(String, Embedding)]) -> Result<(), StoreError> {
        for (stem, vector) in nouns {
            let (found, expected) = (vector.dimension(), self.0.space.dimension);
            if found != expected {
                return Err(StoreError::Dimension { found, expected });
            }
            let key = keys::noun(self.0.generation, stem);
            self.0.db.put(&key, &records::encode_vector(&key, vector))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::store::StoreError;
    use crate::store::keys;
    use crate::store::tests::{open, tamper, vector};

    #[test]
    fn nouns_are_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        assert_eq!(store.nouns().unwrap(), []);
        let nouns = [("cup".to_owned(), vector(1)), ("live room".to_owned(), vector(2))];
        store.keep_nouns(&nouns).unwrap();
        drop(store);
        let store = open(dir.path());
        assert_eq!(store.nouns().unwrap(), nouns);
        store.remove_nouns(&["cup".to_owned(), "fork".to_owned()]).unwrap();
        assert_eq!(store.noun_stems(), ["live room"]);
        drop(store);
        assert_eq!(open(dir.path()).nouns().unwrap(), nouns[1..]);
    }

    #[test]
    fn a_damaged_noun_is_left_out_and_one_of_another_embedder_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        store.keep_nouns(&[("cup".to_owned(), vector(1)), ("mug".to_owned(), vector(2))]).unwrap();
        store.0.db.put(&keys::noun(7, "sofa"), b"old").unwrap();
        drop(store);
        tamper(dir.path(), &keys::noun(0, "cup"), |bytes| bytes[9] ^= 1);
        let store = open(dir.path());
        assert_eq!(store.nouns().unwrap(), [("mug".to_owned(), vector(2))]);
        assert!(!store.0.db.contains(&keys::noun(7, "sofa")).unwrap());
    }

    #[test]
    fn a_vector_of_another_dimension_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let flat = crate::base::embedding::Embedding::new(vec![1.0], 1).unwrap();
        let refused = open(dir.path()).keep_nouns(&[("cup".to_owned(), flat)]).unwrap_err();
        assert!(matches!(refused, StoreError::Dimension { found: 1, .. }));
    }
}
