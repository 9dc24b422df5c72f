//! "The mug I use the most", "the book usually on the nightstand": the object that is seen
//! so most often.

use std::cmp::Reverse;

use crate::base::time::Window;
use crate::language::mention::mentions;
use crate::language::reference::{Order, Reference};
use crate::memory::episodic::Recalled;
use crate::memory::episodic::instances::Instance;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::{MATCHES, Plan, SIGHTINGS, recall};
use crate::retrieval::target::TargetChoice;

impl Plan<'_> {
    pub(super) fn by_habit(&mut self) -> Result<Option<String>, RetrievalError> {
        let window = self.window();
        let mut found = self.recall_habit(window)?;
        if found.is_empty() && window.is_some_and(|it| it.start().is_some()) {
            self.tell_unseen_then();
            let why = "Nothing was seen at that time: recall every time that one was seen.";
            let all = recall(self.reference.thing.clone(), None, SIGHTINGS);
            found = self.trace.recall_all(all, why)?;
        }
        if found.is_empty() {
            return Ok(None);
        }
        self.tell_unseen_deed(&found);
        self.first_instance(&found)
    }

    pub(super) fn recall_habit(
        &mut self,
        window: Option<Window>,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        let is_near = matches!(self.reference.order, Some(Order::NearestTo(_)));
        let description = self.description();
        if self.reference.around.is_empty() && !is_near {
            let why = "Recall everything that could tell which one is meant.";
            let found = self.trace.recall_best_match(recall(description, window, MATCHES), why)?;
            return self.complete(found, window);
        }
        let why = "Recall every time that one was seen there.";
        self.trace.recall_all(recall(description, window, SIGHTINGS), why)
    }

    /// The object that the reference means, the first or the how manieth.
    fn first_instance(&mut self, recalled: &[Recalled]) -> Result<Option<String>, RetrievalError> {
        let why = "Tell the objects apart, those first that are meant most likely.";
        let instances = self.trace.determine_instances(self.parsed_task(), why)?;
        let wanted = self.choose(&instances, recalled);
        let rank = self.reference.rank;
        if wanted.len() <= rank {
            self.unmet.push(too_few(wanted.len(), instances.len(), &self.reference));
        }
        let Some(&chosen) = wanted.get(rank).or_else(|| wanted.last()) else { return Ok(None) };
        let choice = TargetChoice::Candidate(chosen);
        let target = self.trace.choose_target(choice, "Decide on the one that is meant.")?;
        Ok(Some(target.desc))
    }

    /// Positions of the objects that the reference does not exclude; where it says nothing else of
    /// them, that first which was seen last, of those that are said to look as they are asked for:
    /// "any mug but the red one", "the striped mug, not the red one".
    pub(super) fn choose(&self, instances: &[Instance], recalled: &[Recalled]) -> Vec<usize> {
        let is_wanted = |it: &(usize, &Instance)| !self.is_excluded(it.1, recalled);
        let mut wanted: Vec<(usize, &Instance)> =
            instances.iter().enumerate().filter(is_wanted).collect();
        let Reference { order, without, rank, doing, around, when, .. } = &self.reference;
        let is_open = order.is_none() && *rank == 0 && doing.is_none() && when.is_empty();
        if is_open && around.is_empty() && !without.is_empty() {
            let looks_so = |it: &Instance| {
                let mut told = self.reference.thing.split(' ').rev().skip(1);
                told.all(|word| it.desc.split(' ').any(|said| said == word))
            };
            wanted
                .sort_by_key(|(_, it)| Reverse((it.is_likely_real(), looks_so(it), it.last_seen)));
        }
        wanted.into_iter().map(|(at, _)| at).collect()
    }

    /// "Other than the red one", "not the one on the desk", where the object was last.
    fn is_excluded(&self, instance: &Instance, recalled: &[Recalled]) -> bool {
        // What has a yellow handle, "yellow-handled", is the yellow one.
        let said: Vec<&str> =
            instance.desc.split(' ').chain(instance.desc.split([' ', '-'])).collect();
        let own: Vec<&str> = self.reference.thing.split(' ').collect();
        let newest = instance.records.last();
        let newest = newest.and_then(|id| recalled.iter().find(|it| it.record.id == *id));
        let around = newest.map(|it| &it.record.parsed);
        let excludes = |without: &String| {
            let mut words = without.split(' ').filter(|it| !own.contains(it)).peekable();
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

/// Why there is no such object.
fn too_few(wanted: usize, seen: usize, reference: &Reference) -> String {
    let Reference { thing, without, .. } = reference;
    let excluded = without.join(", ");
    match (wanted, excluded.as_str()) {
        (0, "") => format!("no {thing:?} was told apart"),
        (0, _) => format!("every {thing:?} that was seen, {seen}, is excluded by {excluded:?}"),
        (_, "") => format!("only {wanted} different {thing:?} were seen"),
        _ => format!(
            "only {wanted} different {thing:?} were seen that {excluded:?} does not exclude"
        ),
    }
}
