//! Notes as a whole: all of them, and those that another memory made.

use crate::memory::notes::corpus::Prepared;
use crate::memory::notes::{NOTES_MAX, Notes, NotesError, check_metadata};
use crate::store::notes::Note;

impl Notes {
    /// Every note, in the order of ids, those that expired and were not removed yet included.
    pub fn all(&self) -> Result<Vec<Note>, NotesError> {
        let mut notes = Vec::new();
        for entry in self.store.notes() {
            match entry {
                Ok((note, _vectors)) => notes.push(note),
                // As at the start, where it was logged.
                Err(error) if error.concerns_one_value() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(notes)
    }

    /// Keeps a note with the id and the time that it has; `false`, and nothing changes, where
    /// there is one of its id.
    pub fn import(&self, note: Note) -> Result<bool, NotesError> {
        let metadata = serde_json::from_str(&note.metadata).unwrap_or_default();
        let note = Note { metadata: check_metadata(metadata)?, ..note };
        let prepared = Prepared::of(&self.embedder, &note.text)?;
        let _writing = self.writing();
        if self.read().contains(note.id) {
            return Ok(false);
        }
        if self.len() >= NOTES_MAX {
            return Err(NotesError::Full);
        }
        self.put(note, prepared)?;
        Ok(true)
    }
}
