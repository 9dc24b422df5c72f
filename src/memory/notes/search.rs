//! Finds notes by meaning and by words.

use uuid::Uuid;

use crate::base::time::Timestamp;
use crate::memory::notes::corpus::IndexedNote;
use crate::memory::notes::filter::NoteFilter;
use crate::memory::notes::{Notes, NotesError, ScoredNote};
use crate::model::ModelError;
use crate::search::prose::{ProseQuery, content_words};

/// What a search found, and what it passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteSearch {
    /// Best first.
    pub found: Vec<ScoredNote>,
    /// Notes that the filter let pass.
    pub passed: usize,
    /// The best score of those.
    pub best: Option<f32>,
    /// Whether the query's words were matched as written, as the embedder does not know
    /// their script.
    pub is_literal: bool,
}

impl Notes {
    /// The notes that `filter` lets pass and that answer `query` at least as well as
    /// `threshold`, best first, at most `limit`.
    ///
    /// A score is the similarity of [`EmbedderHandle::similarity`], less what the query has with
    /// all notes together, lifted by rare words in common (see [`prose`]), of a long note its best
    /// passage's; equal ones come in the
    /// order in which they were saved.
    ///
    /// [`EmbedderHandle::similarity`]: crate::model::embedder::EmbedderHandle::similarity
    /// [`prose`]: crate::search::prose
    pub fn load(
        &self,
        query: &str,
        (threshold, limit): (f32, usize),
        filter: Option<&NoteFilter>,
        now: Timestamp,
    ) -> Result<NoteSearch, NotesError> {
        self.remove_expired(now)?;
        filter.map_or(Ok(()), |it| self.check_kinds(it))?;
        let query = self.query(query)?.beyond(self.read().usual());
        let mut scored = self.score_all(&query, filter);
        let (passed, best) = (scored.len(), scored.first().map(|it| it.0));
        scored.retain(|(score, ..)| *score >= threshold);
        let mut found = Vec::new();
        for (score, _, id) in scored.into_iter().take(limit) {
            // One that was deleted since is not found.
            found.extend(self.store.note(id)?.map(|note| ScoredNote { note, score }));
        }
        Ok(NoteSearch { found, passed, best, is_literal: query.is_literal() })
    }

    pub(super) fn query(&self, text: &str) -> Result<ProseQuery, ModelError> {
        let words = self.read().words().query(&content_words(text));
        ProseQuery::new(&self.embedder, words, text)
    }

    /// Refuses a filter that compares a part of notes with what none of them has there.
    fn check_kinds(&self, filter: &NoteFilter) -> Result<(), NotesError> {
        let corpus = self.read();
        for compared in filter.kinded() {
            let comparable = corpus.iter().filter_map(|(id, entry)| {
                compared.is_comparable(&|name| entry.field(name, *id, self.zone))
            });
            let mut comparable = comparable.peekable();
            if comparable.peek().is_some() && comparable.all(|it| !it) {
                return Err(NotesError::Incomparable(compared.refusal()));
            }
        }
        Ok(())
    }

    /// What the filter lets pass, best first.
    fn score_all(
        &self,
        query: &ProseQuery,
        filter: Option<&NoteFilter>,
    ) -> Vec<(f32, Timestamp, Uuid)> {
        let corpus = self.read();
        let passes = |(id, entry): &(&Uuid, &IndexedNote)| {
            filter.is_none_or(|filter| filter.admits(&|name| entry.field(name, **id, self.zone)))
        };
        let mut scored: Vec<(f32, Timestamp, Uuid)> = corpus
            .iter()
            .filter(passes)
            .map(|(id, entry)| (entry.score(&self.embedder, query), entry.saved_at, *id))
            .collect();
        drop(corpus);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        scored
    }
}
