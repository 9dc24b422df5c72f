//! "Both mugs", "the mug and then the book": several targets, whose goals come one after the
//! other.

use crate::language::request_tags::Count;
use crate::retrieval::planner::query::with_article;
use crate::retrieval::planner::{Plan, recall};
use crate::retrieval::target::TargetChoice;
use crate::retrieval::{ParsedRequest, RetrievalError};

/// Most objects of one kind, and most things after the first, that are searched for.
const TARGETS_MAX: usize = 8;

impl Plan<'_> {
    /// Plans the search for as many objects of the kind as are wanted; `false` where one is
    /// wanted, or none can be told apart.
    pub(super) fn plan_all_of_kind(&mut self) -> Result<bool, RetrievalError> {
        let most = match self.reference.count {
            Count::One => return Ok(false),
            Count::Two => 2,
            Count::Three => 3,
            Count::All => TARGETS_MAX,
        };
        if self.reference.thing.is_empty() {
            return Ok(false);
        }
        let found = self.recall_habit(self.window())?;
        if found.is_empty() {
            return Ok(false);
        }
        let why = "Tell the objects apart: several are wanted.";
        let instances = self.trace.determine_instances(self.parsed_task(), why)?;
        let wanted = self.choose(&instances, &found);
        for (number, at) in wanted.iter().take(most).enumerate() {
            let choice = TargetChoice::Candidate(*at);
            self.trace.choose_target(choice, "Decide on the next one that is wanted.")?;
            self.trace.plan_search(None, number > 0, "Decide where to search for it.")?;
        }
        self.tell_of_count(most, wanted.len());
        Ok(!wanted.is_empty())
    }

    fn tell_of_count(&mut self, most: usize, seen: usize) {
        let thing = &self.reference.thing;
        let is_all = self.reference.count == Count::All;
        if seen < most && !is_all {
            self.unmet.push(format!("{most} {thing:?} are wanted, {seen} were told apart"));
        } else if seen > most && is_all {
            self.unmet.push(format!("of {seen} different {thing:?} only {most} are searched for"));
        }
    }

    /// Plans the searches for what is wanted after the first thing, each after the one before.
    pub(super) fn plan_further_targets(&mut self) -> Result<(), RetrievalError> {
        let also = self.reference.also.clone();
        for thing in also.iter().take(TARGETS_MAX) {
            // First the recall: what was recalled of the thing before may be this one, too.
            let query = recall(with_article(thing), None, 1);
            self.trace.recall_last_seen(query, "Find where what is wanted next was seen last.")?;
            let described = ParsedRequest::of_thing(thing, thing.clone());
            let choice = TargetChoice::Described(Box::new(described));
            self.trace.choose_target(choice, "Go on to that.")?;
            self.trace.plan_search(None, true, "Decide where to search for it.")?;
        }
        for thing in also.iter().skip(TARGETS_MAX) {
            self.unmet.push(format!("{thing:?} is left out: a task has {TARGETS_MAX} more things"));
        }
        Ok(())
    }
}
