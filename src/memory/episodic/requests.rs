//! Reader of requests: a tagging model labels the words, and [`Reference`] puts them together.

use std::ops::Range;
use std::sync::Arc;

use crate::language::identifier;
use crate::language::reference::{Reference, conditions, courtesy};
use crate::language::request_tags::{Role, TaggedRequest};
use crate::language::time;
use crate::model::{LikelyThing, ModelError, RequestTagger, UseReader};

/// Longest request read; the rest is cut off.
const REQUEST_CHARS_MAX: usize = 1_000;

/// Clones share the model.
#[derive(Debug, Clone)]
pub struct Requests {
    tagger: Arc<dyn RequestTagger>,
    uses: Option<Arc<dyn UseReader>>,
}

impl Requests {
    pub fn new(tagger: Box<dyn RequestTagger>) -> Self {
        Self { tagger: tagger.into(), uses: None }
    }

    /// With what knows which things are told by what they are for.
    #[must_use]
    pub fn with_uses(self, uses: Option<Box<dyn UseReader>>) -> Self {
        Self { uses: uses.map(Arc::from), ..self }
    }

    /// Reference of a request. What it depends on is kept apart and is no part of what is
    /// read, unless it alone names the thing: "if you see the mug that is clean, bring it"; or it
    /// tells what the robot does on its way: "if you go to the hall, bring me the mug", or is pointed at:
    /// "before it falls off the shelf, take the mug there".
    pub fn read(&self, request: &str) -> Result<Reference, ModelError> {
        let end = request.char_indices().nth(REQUEST_CHARS_MAX).map_or(request.len(), |(at, _)| at);
        let request = request.get(..end).unwrap_or_default();
        let uncalled = conditions::without(request, courtesy::find_call(request).as_slice());
        let suggestion = courtesy::find_suggestion(&uncalled);
        let uncalled = conditions::without(&uncalled, suggestion.as_slice());
        let tail = courtesy::find_tail(&uncalled);
        let request = &*conditions::without(&uncalled, tail.as_slice());
        let (whole, tagged) = self.read_all(request)?;
        let describes =
            |at: usize| tagged.spans.iter().any(|it| it.role == Role::Deed && it.at.start < at);
        let conditions = conditions::find(request, &describes);
        if conditions.is_empty() {
            return Ok(whole);
        }
        let is_pointed_at = conditions::is_pointed_at(&conditions::without(request, &conditions));
        let is_apart = |at: &&Range<usize>| {
            let said = request.get((*at).clone());
            said.is_some_and(|it| !is_pointed_at && !conditions::is_on_the_way(it))
        };
        let apart: Vec<Range<usize>> = conditions.iter().filter(is_apart).cloned().collect();
        let (rest, _) = self.read_all(&conditions::without(request, &apart))?;
        let read = if rest.thing.is_empty() { whole } else { rest };
        let said = conditions.into_iter().filter_map(|at| request.get(at));
        let bare = |it: &str| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        Ok(Reference { conditions: said.map(bare).collect(), ..read })
    }

    /// What a use may tell of, the likeliest first; nothing where no model knows uses.
    pub fn things_for(&self, told: &str) -> Result<Vec<LikelyThing<'_>>, ModelError> {
        self.uses.as_ref().map_or_else(|| Ok(Vec::new()), |it| it.things_for(told))
    }

    fn read_all(&self, request: &str) -> Result<(Reference, TaggedRequest), ModelError> {
        let tagged = self.tagger.tag(request)?.with_whole_compounds(request);
        let tagged = identifier::with_whole_identifiers(request, tagged);
        Ok((Reference::of(request, &tagged, &time::find(request)), tagged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::path::Path;

    use crate::language::reference::tests::shown;
    use crate::model::request_reader;

    /// A line a request: thing, around, doing, order, when.
    const REQUESTS: &str = include_str!("requests.txt");

    /// Requests of [`REQUESTS`] that the shipped model reads right, at least.
    const RIGHT_LEAST: usize = 185;

    fn shipped() -> Requests {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/request-reader");
        Requests::new(request_reader::load(&dir).unwrap())
    }

    #[test]
    fn requests_are_read_in_many_wordings() {
        let requests = shipped();
        let mut wrong = Vec::new();
        let mut count = 0;
        for line in REQUESTS.lines().filter(|line| !line.starts_with('#')) {
            let mut columns = line.split('|').map(str::trim);
            let request = columns.next().unwrap();
            let expect: Vec<&str> = columns.collect();
            let found = shown(&requests.read(request).unwrap());
            count += 1;
            if found != expect {
                let (found, expect) = (found.join(" | "), expect.join(" | "));
                wrong.push(format!("{request}\n     is {found}\n not to {expect}"));
            }
        }
        let said = format!("{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
        eprintln!("{said}");
        assert!(count >= 180 && count - wrong.len() >= RIGHT_LEAST, "{said}");
    }
    #[test]
    fn what_a_request_depends_on_is_kept_apart_from_what_it_names() {
        let requests = shipped();
        let read = |text: &str| {
            let read = requests.read(text).unwrap();
            (read.thing, read.conditions)
        };
        let said = |thing: &str, condition: &str| (thing.to_owned(), vec![condition.to_owned()]);
        assert_eq!(read("bring me the mug if it is clean"), said("mug", "if it is clean"));
        assert_eq!(
            read("fetch the keys once the door is open"),
            said("keys", "once the door is open")
        );
        assert_eq!(
            read("If you see more than one cushion, bring the white one"),
            said("white cushion", "If you see more than one cushion"),
        );
        assert_eq!(read("If you find no mug, bring me the cup"), said("cup", "If you find no mug"),);
        assert_eq!(read("get the hammer if you have time"), ("hammer".to_owned(), Vec::new()));
        let around = |text: &str| requests.read(text).unwrap().around;
        let there = "Before it is knocked off the shelf, could you rescue the vase there?";
        assert_eq!(around(there), ["shelf"]);
    }
}
