//! "Any mug but the red one", "not the one on the desk": the objects that a reference excludes.

use std::cmp::Reverse;

use crate::language::mention::mentions;
use crate::language::reference::Reference;
use crate::language::words::{PLACEHOLDERS, STOP_WORDS};
use crate::memory::episodic::Recalled;
use crate::memory::episodic::instances::Instance;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::with_article;
use crate::retrieval::planner::{Plan, recall};
use crate::store::Record;

impl Plan<'_> {
    /// Positions of the objects that the reference does not exclude; where it says nothing else of
    /// them, that first which was seen last, of those that are said to look as they are asked for:
    /// "any mug but the red one", "the striped mug, not the red one".
    pub(super) fn choose(&self, instances: &[Instance], recalled: &[Recalled]) -> Vec<usize> {
        let is_wanted = |it: &(usize, &Instance)| !self.is_excluded(it.1, recalled);
        let mut wanted: Vec<(usize, &Instance)> =
            instances.iter().enumerate().filter(is_wanted).collect();
        let Reference { around, without, .. } = &self.reference;
        if !self.is_told_by_order_deed_or_time() && around.is_empty() && !without.is_empty() {
            let looks_so = |it: &Instance| {
                let mut told = self.reference.thing.split(' ').rev().skip(1);
                told.all(|word| it.desc.split(' ').any(|said| said == word))
            };
            wanted
                .sort_by_key(|(_, it)| Reverse((it.is_likely_real(), looks_so(it), it.last_seen)));
        }
        wanted.into_iter().map(|(at, _)| at).collect()
    }

    /// Where the look of the thing tells which one is meant, and what it is not says no more, the last
    /// record that shows that look, or may: "the black one, no, not the dotted one".
    pub(super) fn told_by_look(&mut self) -> Result<Option<Record>, RetrievalError> {
        let Reference { thing, around, without, .. } = &self.reference;
        if self.is_told_by_order_deed_or_time()
            || !around.is_empty()
            || without.is_empty()
            || !thing.contains(' ')
        {
            return Ok(None);
        }
        let request = recall(with_article(thing), None, 1);
        let why = "Find where the one that looks as it is said to was seen last.";
        let found = self.trace.recall_last_seen(request, why)?;
        let newest = found.into_iter().next().filter(|it| {
            let desc = it.matched.first().map(String::as_str).unwrap_or_default();
            !self.excludes(desc, Some(it))
        });
        Ok(newest.map(|it| it.record))
    }

    /// Whether an order, a deed or a time tells which one is meant.
    pub(super) fn is_told_by_order_deed_or_time(&self) -> bool {
        let Reference { order, rank, doing, when, .. } = &self.reference;
        order.is_some() || *rank > 0 || doing.is_some() || !when.is_empty()
    }

    /// "Other than the red one", "not the one on the desk", where the object was last.
    fn is_excluded(&self, instance: &Instance, recalled: &[Recalled]) -> bool {
        let newest = instance.records.last();
        let newest = newest.and_then(|id| recalled.iter().find(|it| it.record.id == *id));
        self.excludes(&instance.desc, newest)
    }

    /// Whether the reference excludes what is called so and was seen last with this around it.
    pub(super) fn excludes(&self, desc: &str, newest: Option<&Recalled>) -> bool {
        // What has a yellow handle, "yellow-handled", is the yellow one.
        let said: Vec<&str> = desc.split(' ').chain(desc.split([' ', '-'])).collect();
        let own: Vec<&str> = self.reference.thing.split(' ').collect();
        let around = newest.map(|it| &it.record.parsed);
        let excludes = |without: &String| {
            // "The one with the cat" is told by the cat.
            let is_told = |it: &&str| {
                !own.contains(it) && !STOP_WORDS.contains(it) && !PLACEHOLDERS.contains(it)
            };
            let mut words = without.split(' ').filter(is_told).peekable();
            let is_like = words.peek().is_some() && words.all(|word| said.contains(&word));
            let place = mentions(&format!("a {without}")).into_iter().next();
            let place = place.filter(|it| !own.contains(&it.head.as_str()));
            is_like
                || place.is_some_and(|place| {
                    around.is_some_and(|it| it.shown_mentions().any(|it| it.is_named_as(&place)))
                })
        };
        self.reference.without.iter().any(excludes)
    }
}
