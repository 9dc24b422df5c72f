//! Moments: recalls that notice when a session asks the same again, so that a language
//! model sees that it goes in circles.
//!
//! The answer is the memory's of now: where records came in between that change it, it
//! counts as new.

use crate::base::RecordId;
use crate::retrieval::recall::{Recall, RecallOrder, RecallRequest, certainty_of, into_recalled};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};

/// Newest sightings of an object that are ranked.
pub(crate) const SIGHTINGS_MAX: usize = 50;

/// The moments of a recall.
#[derive(Debug)]
pub(crate) struct Moments {
    pub(crate) recall: Recall,
    /// Whether the session was given this answer to this request before.
    pub(crate) is_repeated: bool,
}

impl Retrieval {
    /// Moments that match a description best.
    pub(crate) fn moments_by_text(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Moments, RetrievalError> {
        let kind = RecallKind::RetrieveFromTextWithTime;
        let recall = self.best_match(session, kind, request)?;
        self.answer(session, kind, request, recall)
    }

    /// Moments that really show an object, best first.
    pub(crate) fn moments_of_instance(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Moments, RetrievalError> {
        let RecallRequest { query, filter, k, explain: _ } = request;
        let find = |query: &str| self.episodic.last_seen(query, filter, SIGHTINGS_MAX);
        let (seen, read_as) = self.episodic.find_as_meant(query, find, |it| certainty_of(it))?;
        let certainty = certainty_of(&seen);
        let mut found = into_recalled(seen);
        // Stable: the newer of equals comes first.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(*k);
        let kind = RecallKind::RecallObservationOfInstance;
        let order = RecallOrder::NewestFirst { certainty };
        let recall = Recall { found, order, explanation: None, is_literal: false, read_as };
        let recall = Recall {
            order: RecallOrder::BestFirst,
            ..self.recalled(session, kind, query, recall)?
        };
        self.answer(session, kind, request, recall)
    }

    fn answer(
        &self,
        session: SessionName<'_>,
        kind: RecallKind,
        request: &RecallRequest,
        recall: Recall,
    ) -> Result<Moments, RetrievalError> {
        let ids: Vec<RecordId> = recall.found.iter().map(|it| it.record.id).collect();
        let call = normal_form(kind, request);
        let is_repeated = self.update(session, |it| {
            let is_repeated = it.answer_to(&call) == Some(ids.as_slice());
            it.record_answer(call, ids);
            is_repeated
        })?;
        Ok(Moments { recall, is_repeated })
    }
}

/// One spelling of all calls that ask the same.
fn normal_form(kind: RecallKind, request: &RecallRequest) -> String {
    let RecallRequest { query, filter, k, explain: _ } = request;
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    // Every part of the filter counts, also those that later builds add.
    format!("{} {:?} {k} {filter:?}", kind.name(), words.join(" "))
}
