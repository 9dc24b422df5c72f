//! Named sessions on disk: what a caller's calls share, as text.

use bincode::{Decode, Encode};
use log::error;

use crate::base::time::Timestamp;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records::{self, Fault};

/// A session that outlives its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSession {
    pub name: String,
    /// A JSON object as text: the store does not look into it.
    pub content: String,
    /// When a call last changed it.
    pub used_at: Timestamp,
}

/// Under [`keys::session`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct SessionOnDisk {
    content: String,
    used_at: i64,
}

impl Store {
    /// Every kept session, by name. A damaged one is logged and left out.
    pub fn sessions(&self) -> Result<Vec<KeptSession>, StoreError> {
        let mut kept = Vec::new();
        for entry in self.0.db.entries(keys::SESSIONS) {
            let (key, sealed) = entry?;
            let session = records::decode::<SessionOnDisk>(&key, &sealed).and_then(|on_disk| {
                let SessionOnDisk { content, used_at } = on_disk;
                let name = keys::session_name(&key).ok_or(Fault::Missing)?.to_owned();
                Ok(KeptSession { name, content, used_at: records::timestamp(used_at)? })
            });
            match session {
                Ok(session) => kept.push(session),
                Err(fault) => {
                    let error = StoreError::damaged(&key, &fault);
                    error!(error:%; "a session cannot be read and begins anew");
                }
            }
        }
        Ok(kept)
    }

    /// Keeps a session in the place of the one of its name. Durable when it returns.
    pub fn put_session(&self, session: &KeptSession) -> Result<(), StoreError> {
        let KeptSession { name, content, used_at } = session;
        let key = keys::session(name);
        let on_disk = SessionOnDisk { content: content.clone(), used_at: used_at.micros() };
        let sealed = records::encode(&key, &on_disk);
        self.change(|_state, change| {
            change.batch.insert(key.as_slice(), sealed);
            Ok(())
        })
    }

    /// Removes the sessions of these names that exist. Durable when it returns.
    pub fn remove_sessions(&self, names: &[String]) -> Result<(), StoreError> {
        self.change(|_state, change| {
            for name in names {
                change.batch.remove(keys::session(name));
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{at, open, raw, tamper};

    fn session(name: &str, content: &str) -> KeptSession {
        KeptSession { name: name.to_owned(), content: content.to_owned(), used_at: at(7) }
    }

    #[test]
    fn sessions_are_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        assert_eq!(store.sessions().unwrap(), []);
        store.put_session(&session("b", "{}")).unwrap();
        store.put_session(&session("a", "{}")).unwrap();
        store.put_session(&session("b", "{\"task\":1}")).unwrap();
        drop(store);
        let store = open(dir.path());
        assert_eq!(store.sessions().unwrap(), [session("a", "{}"), session("b", "{\"task\":1}")]);
        store.remove_sessions(&["a".to_owned(), "c".to_owned()]).unwrap();
        drop(store);
        assert_eq!(open(dir.path()).sessions().unwrap(), [session("b", "{\"task\":1}")]);
    }

    #[test]
    fn a_damaged_session_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        store.put_session(&session("a", "{}")).unwrap();
        store.put_session(&session("b", "{}")).unwrap();
        drop(store);
        tamper(dir.path(), &keys::session("a"), |bytes| bytes[6] ^= 1);
        assert_eq!(open(dir.path()).sessions().unwrap(), [session("b", "{}")]);
        assert_eq!(raw(dir.path()).scan_prefix(keys::SESSIONS).count(), 2);
    }
}
