//! Verification of the records after a start: there are too many to count them before.

use crate::base::RecordId;
use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::sealed_database::Batch;

/// Ids named of what is missing; of more, how many.
const IDS_NAMED: usize = 100;

impl Store {
    /// Counts the records, and their vectors, and notes what differs from what
    /// was acknowledged. Others may read and write meanwhile; `pause` is called every few
    /// hundred entries and ends it where it returns true.
    pub fn verify(&self, mut pause: impl FnMut() -> bool) -> Result<(), StoreError> {
        let mut is_any_lost = false;
        for kind in [keys::RECORDS, keys::VECTORS] {
            let Some(letter) = kind.first() else { continue };
            let lost = match self.0.db.raw().recount(*letter, &mut pause) {
                Ok(loss) => loss.map(|loss| loss.to_string()),
                Err(error) => {
                    Some(format!("{} cannot all be read: {error}", keys::kind_name(*letter)))
                }
            };
            let Some(mut lost) = lost else { continue };
            if kind == keys::RECORDS {
                lost.push_str(&self.describe_vectors_alone()?);
            }
            self.0.losses.note(&lost)?;
            is_any_lost = true;
        }
        // The witness says from now on what was found.
        if is_any_lost { self.0.db.commit(Batch::default()) } else { Ok(()) }
    }

    /// Names the records that are gone and left their vectors: the two lie apart.
    fn describe_vectors_alone(&self) -> Result<String, StoreError> {
        let mut alone = Vec::new();
        for entry in self.0.db.entries(&keys::vectors(self.0.generation)) {
            let Some(id) = keys::number(&entry?.0) else { continue };
            if id >= self.0.floor() && !self.0.db.contains(&keys::record(RecordId(id)))? {
                alone.push(id);
            }
        }
        let named: Vec<String> = alone.iter().take(IDS_NAMED).map(u64::to_string).collect();
        let others = alone.len() - named.len();
        Ok(match (named.is_empty(), others) {
            (true, _) => String::new(),
            (false, 0) => format!("; among them {}", named.join(", ")),
            (false, _) => format!("; among them {} and {others} more", named.join(", ")),
        })
    }
}
