//! "What I left on the sofa before lunch": the object that lay there, whatever it is; "what dad was
//! fixing the drawer with": what that was done with; and "go to the desk by the window": the place
//! itself, where nothing else is known of it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::language::deeds::AskedDeed;
use crate::language::lexicon::singular;
use crate::language::mention::Mention;
use crate::language::reference::Reference;
use crate::memory::episodic::Recalled;
use crate::retrieval::planner::{MATCHES, Plan, recall};
use crate::retrieval::target::TargetChoice;
use crate::retrieval::{ParsedRequest, RetrievalError};
use crate::store::Record;

impl Plan<'_> {
    pub(super) fn by_place_alone(&mut self) -> Result<Option<Record>, RetrievalError> {
        let request = recall(self.description(), self.window(), MATCHES);
        let found = self.trace.recall_best_match(request, "Recall what was seen there.")?;
        let deed = self.asked_deed();
        let newest = deed.as_ref().and_then(|deed| newest_object(&found, deed, &self.task.text));
        let newest = newest.or_else(|| newest_thing(&found, &self.reference, deed.as_ref()));
        let Some(thing) = newest else { return self.by_place_itself() };
        self.describe_target(&thing, "Decide on what lay there.")?;
        self.last_seen(&thing)
    }

    /// The first place that is named is what is asked for, at the others.
    fn by_place_itself(&mut self) -> Result<Option<Record>, RetrievalError> {
        if self.reference.around.is_empty() {
            return self.last_seen(&self.task.text);
        }
        let thing = self.reference.around.remove(0);
        self.reference.thing.clone_from(&thing);
        self.describe_target(&thing, "Nothing is known to lie there: decide on the place itself.")?;
        let target = if self.reference.around.is_empty() { None } else { self.by_place()? };
        self.last_seen(&target.unwrap_or(thing))
    }

    fn describe_target(&mut self, thing: &str, why: &'static str) -> Result<(), RetrievalError> {
        let described = ParsedRequest::of_thing(thing, thing.to_owned());
        self.trace.choose_target(TargetChoice::Described(Box::new(described)), why)?;
        Ok(())
    }
}

/// What a deed was done with or to last, of what the request does not name itself: the drill of
/// "what dad was fixing the drawer with", the radio of "what she was listening to".
fn newest_object(found: &[Recalled], deed: &AskedDeed, request: &str) -> Option<String> {
    let request = request.to_lowercase();
    let words = request.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words: BTreeSet<String> = words.map(singular).collect();
    let is_said = |name: &str| name.split(' ').all(|word| words.contains(&singular(word)));
    let is_new = |it: &&Mention| !is_said(&it.head);
    let is_instrument = is_said("with");
    newest_first(found).into_iter().find_map(|it| {
        let mut objects = deed.objects(&it.record.parsed).filter(is_new);
        let object = if is_instrument { objects.last() } else { objects.next() };
        object.map(|it| it.phrase.clone())
    })
}

/// The thing at the place that was seen last, by records of the deed where there are any.
fn newest_thing(
    found: &[Recalled],
    reference: &Reference,
    deed: Option<&AskedDeed>,
) -> Option<String> {
    let Reference { around, when, .. } = reference;
    let is_done = |it: &&Recalled| deed.is_some_and(|deed| deed.is_done_in(&it.record.parsed));
    let was_done = found.iter().any(|it| is_done(&it));
    // What lies anywhere tells nothing of a deed that nobody was seen at.
    if deed.is_some() && !was_done && around.is_empty() && when.is_empty() {
        return None;
    }
    let is_there = |it: &&Recalled| around.is_empty() || !it.matched.is_empty();
    let is_place = |thing: &str| around.iter().any(|it| thing.ends_with(it.as_str()));
    let there = newest_first(found).into_iter().filter(is_there);
    there
        .filter(|it| !was_done || is_done(it))
        .find_map(|it| it.record.parsed.object_phrases().into_iter().find(|thing| !is_place(thing)))
}

/// What was imported late is not what was seen last.
fn newest_first(found: &[Recalled]) -> Vec<&Recalled> {
    let mut found: Vec<&Recalled> = found.iter().collect();
    found.sort_by_key(|it| Reverse((it.record.end_at, it.record.id)));
    found
}
