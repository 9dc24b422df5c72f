//! Reader of requests: a tagging model labels the words, and [`Reference`] puts them together.

use std::sync::Arc;

use crate::language::time;
use crate::memory::episodic::reference::{Reference, conditions};
use crate::model::tagged::{Role, TaggedRequest};
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

    /// Reference of a request. What it depends on is kept apart and is no part of what is
    /// read, unless it alone names the thing: "if you see the mug that is clean, bring it".
    pub fn read(&self, request: &str) -> Result<Reference, ModelError> {
        let end = request.char_indices().nth(REQUEST_CHARS_MAX).map_or(request.len(), |(at, _)| at);
        let request = request.get(..end).unwrap_or_default();
        let (whole, tagged) = self.read_all(request)?;
        let describes =
            |at: usize| tagged.spans.iter().any(|it| it.role == Role::Deed && it.at.start < at);
        let conditions = conditions::find(request, &describes);
        if conditions.is_empty() {
            return Ok(whole);
        }
        let (rest, _) = self.read_all(&conditions::without(request, &conditions))?;
        let read = if rest.thing.is_empty() { whole } else { rest };
        let said = conditions.into_iter().filter_map(|at| request.get(at));
        let bare = |it: &str| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        Ok(Reference { conditions: said.map(bare).collect(), ..read })
    }

    fn read_all(&self, request: &str) -> Result<(Reference, TaggedRequest), ModelError> {
        let tagged = self.tagger.tag(request)?;
        Ok((Reference::of(request, &tagged, &time::find(request)), tagged))
    }
}
