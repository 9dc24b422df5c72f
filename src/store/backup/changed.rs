//! Keys of the database that changed while it is copied.
//!
//! Pure but for its callers: a set with a bound.

use std::collections::BTreeSet;

/// With more the copy is given up: it would not come to an end in time.
const KEYS_MAX: usize = 1 << 18;

#[derive(Debug, Default)]
pub(in crate::store) struct ChangedKeys {
    keys: BTreeSet<Vec<u8>>,
    /// Why they are no longer noted.
    ended: Option<&'static str>,
}

impl ChangedKeys {
    pub(in crate::store) fn note(&mut self, key: &[u8]) {
        if self.ended.is_some() || self.keys.contains(key) {
            return;
        }
        if self.keys.len() >= KEYS_MAX {
            self.end("the store changed faster than it was copied");
            return;
        }
        self.keys.insert(key.to_vec());
    }

    /// Nobody knows any more what changed.
    pub(in crate::store) fn end(&mut self, why: &'static str) {
        self.keys.clear();
        self.ended.get_or_insert(why);
    }

    pub(in crate::store) fn ended(&self) -> Option<&'static str> {
        self.ended
    }

    pub(in crate::store) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Takes some out: what they stand for is read by the caller from now on.
    pub(in crate::store) fn take(&mut self, most: usize) -> Vec<Vec<u8>> {
        let rest = self.keys.iter().nth(most).cloned();
        let rest = rest.map(|first| self.keys.split_off(&first)).unwrap_or_default();
        std::mem::replace(&mut self.keys, rest).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_once_and_in_parts() {
        let mut changed = ChangedKeys::default();
        for key in ["c", "a", "b", "a"] {
            changed.note(key.as_bytes());
        }
        assert_eq!(changed.take(2), [b"a", b"b"]);
        changed.note(b"a");
        assert_eq!(changed.take(9), [b"a", b"c"]);
        assert_eq!((changed.len(), changed.take(1)), (0, Vec::new()));
    }

    #[test]
    fn too_many_end_it() {
        let mut changed = ChangedKeys::default();
        for n in 0..=KEYS_MAX {
            changed.note(&n.to_be_bytes());
        }
        assert!(changed.ended().is_some());
        changed.note(b"a");
        assert_eq!(changed.len(), 0);
    }
}
