//! "The mug I use the most", "the book usually on the nightstand": the object that is seen
//! so most often.

use crate::base::time::Window;
use crate::language::reference::{Order, Reference};
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::with_article;
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
            // Whatever is used least is as much so where nobody uses it.
            let is_least = self.reference.order == Some(Order::LeastOften);
            let thing = with_article(&self.reference.thing);
            let query = if is_least { thing } else { description };
            let found = self.trace.recall_best_match(recall(query, window, MATCHES), why)?;
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
