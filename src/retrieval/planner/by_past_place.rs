//! "Go to where the cat slept on Sunday": the place of then, whatever has become of the cat since.

use crate::base::RecordId;
use crate::base::time::Window;
use crate::language::lexicon;
use crate::language::words::MERE_USE;
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::query::{widen, with_article};
use crate::retrieval::planner::{MATCHES, Plan, recall};

impl Plan<'_> {
    /// The record at whose place the robot is wanted; `None` where nothing of it was seen then.
    pub(super) fn past_place(&mut self) -> Result<Option<RecordId>, RetrievalError> {
        let windows =
            self.window().map_or_else(|| vec![None], |it| vec![Some(it), Some(widen(it))]);
        for window in windows {
            for query in self.ways_to_tell() {
                if let Some(record) = self.place_within(query, window)? {
                    return Ok(Some(record));
                }
            }
            if let Some(record) = self.place_of_deed(window)? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// The best match within a window of which a caption tells the deed, whoever does it: an animal is
    /// nobody.
    fn place_of_deed(
        &mut self,
        window: Option<Window>,
    ) -> Result<Option<RecordId>, RetrievalError> {
        let Some(deed) = self.asked_deed() else { return Ok(None) };
        let request = recall(self.description(), window, MATCHES);
        let found = self.trace.recall_best_match(request, "Recall where that was done then.")?;
        let is_placed = |it: &&Recalled| it.record.meta.pose.is_some();
        let mut placed = found.iter().filter(is_placed);
        Ok(placed.find(|it| deed.is_done_in(&it.record.parsed)).map(|it| it.record.id))
    }

    /// What somebody did there with what, then that alone, then what was there.
    pub(super) fn ways_to_tell(&self) -> Vec<String> {
        let thing = Some(self.reference.thing.as_str()).filter(|it| !it.is_empty());
        let head = thing.and_then(|it| it.rsplit(' ').next()).map(lexicon::singular);
        let is_doer =
            head.is_some_and(|it| lexicon::is_person(&it) || lexicon::descends_from(&it, "animal"));
        let doing = self.reference.doing.as_deref().filter(|it| !MERE_USE.contains(it));
        let doers = self.doers().into_iter();
        let told = doers.filter(|_| !is_doer).flat_map(|doer| {
            let alone = doing.map(|deed| format!("{doer} {deed}"));
            let with_thing = alone
                .as_ref()
                .zip(thing)
                .map(|(it, thing)| format!("{it} {}", with_article(thing)));
            [with_thing, alone].into_iter().flatten()
        });
        let beside = |thing: &str| {
            let around = self.reference.around.iter().map(|it| format!(" by the {it}"));
            with_article(thing) + &around.collect::<String>()
        };
        told.chain(thing.map(beside)).collect()
    }

    /// Who did it, then anybody: captions may know no grandmother.
    pub(super) fn doers(&self) -> Vec<String> {
        let doer = self.reference.doer.as_deref().map(with_article);
        doer.into_iter().chain(["somebody".to_owned()]).collect()
    }

    /// The newest record within a window that tells this, of the deed where one does.
    fn place_within(
        &mut self,
        query: String,
        window: Option<Window>,
    ) -> Result<Option<RecordId>, RetrievalError> {
        let request = recall(query, window, MATCHES);
        let found = self.trace.recall_last_seen(request, "Find where it was then.")?;
        let deed = self.asked_deed();
        let is_done =
            |it: &&Recalled| deed.as_ref().is_some_and(|deed| deed.is_done_in(&it.record.parsed));
        let placed = || found.iter().filter(|it| it.record.meta.pose.is_some());
        let told = placed().find(is_done).or_else(|| placed().next());
        Ok(told.map(|it| it.record.id))
    }
}
