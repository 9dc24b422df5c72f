//! Reads what people ask for: the model of requests tells what each word says, and
//! [`Reference`] puts it together.

use std::sync::Arc;

use crate::base::phrase_time;
use crate::memory::episodic::reference::Reference;
use crate::model::{ModelError, RequestTagger};

/// Longest request that is read; what is beyond is left out.
const REQUEST_CHARS_MAX: usize = 1_000;

/// The reader of requests; clones ask the same model.
#[derive(Debug, Clone)]
pub struct Requests {
    tagger: Arc<dyn RequestTagger>,
}

impl Requests {
    pub fn new(tagger: Box<dyn RequestTagger>) -> Self {
        Self { tagger: tagger.into() }
    }

    /// What a request refers to.
    pub fn read(&self, request: &str) -> Result<Reference, ModelError> {
        let end = request.char_indices().nth(REQUEST_CHARS_MAX).map_or(request.len(), |(at, _)| at);
        let request = request.get(..end).unwrap_or_default();
        let tagged = self.tagger.tag(request)?;
        Ok(Reference::of(request, &tagged, &phrase_time::find(request)))
    }
}
