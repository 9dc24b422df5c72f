//! Reader of requests: a tagging model labels the words, and [`Reference`] puts them together.

use std::sync::Arc;

use crate::language::time;
use crate::memory::episodic::reference::Reference;
use crate::model::{ModelError, RequestTagger};

/// Longest request read; the rest is cut off.
const REQUEST_CHARS_MAX: usize = 1_000;

/// Clones share the model.
#[derive(Debug, Clone)]
pub struct Requests {
    tagger: Arc<dyn RequestTagger>,
}

impl Requests {
    pub fn new(tagger: Box<dyn RequestTagger>) -> Self {
        Self { tagger: tagger.into() }
    }

    /// Reference of a request.
    pub fn read(&self, request: &str) -> Result<Reference, ModelError> {
        let end = request.char_indices().nth(REQUEST_CHARS_MAX).map_or(request.len(), |(at, _)| at);
        let request = request.get(..end).unwrap_or_default();
        let tagged = self.tagger.tag(request)?;
        Ok(Reference::of(request, &tagged, &time::find(request)))
    }
}
