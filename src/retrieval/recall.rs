//! Recalls: records by a description, within a filter. What is found becomes the working
//! memory of the session.

use crate::language::fit::Certainty;
use crate::memory::episodic::instance_query::SightingList;
use crate::memory::episodic::last_seen::{Sighting, SightingExplanation, Wording};
use crate::memory::episodic::{MemoryError, Recalled};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::{Explained, Filter};

/// A description, and which records may answer it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecallRequest {
    /// Embedded, and cut into the things that it names.
    pub(crate) query: String,
    pub(crate) filter: Filter,
    /// Most records.
    pub(crate) k: usize,
    /// Whether the reply says how the records were found.
    pub(crate) explain: bool,
}

/// The records of a recall.
#[derive(Debug)]
pub(crate) struct Recall {
    pub(crate) found: Vec<Recalled>,
    pub(crate) order: RecallOrder,
    pub(crate) explanation: Option<Explanation>,
    /// Whether the query's words were matched as written, as nobody here reads their language.
    pub(crate) is_literal: bool,
    /// The query as it was meant, where it was read so.
    pub(crate) read_as: Option<String>,
}

/// The order in which records come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecallOrder {
    BestFirst,
    /// All are equally sure: only the surest come.
    NewestFirst {
        certainty: Option<Certainty>,
    },
    /// Of `total` sightings, the newest; all are equally sure.
    Chronological {
        total: u64,
        certainty: Option<Certainty>,
    },
}

impl RecallOrder {
    /// Whether every sighting was asked for and none is sure.
    pub(crate) fn is_only_possible(self) -> bool {
        let is_all = matches!(self, Self::Chronological { .. });
        is_all && self.certainty().is_some_and(|it| it <= Certainty::Possible)
    }

    /// How surely the records show what is asked for; `None` where they are ranked by scores, or
    /// there are none.
    pub(crate) fn certainty(self) -> Option<Certainty> {
        match self {
            Self::BestFirst => None,
            Self::NewestFirst { certainty } | Self::Chronological { certainty, .. } => certainty,
        }
    }
}

/// How records were found.
#[derive(Debug)]
pub(crate) enum Explanation {
    /// By scores.
    Ranking(Explained),
    /// By the phrases of captions.
    Evidence(SightingExplanation),
}

impl Retrieval {
    /// Records that match a description best.
    pub(crate) fn recall_best_match(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        self.best_match(session, RecallKind::RecallBestMatch, request)
    }

    pub(super) fn best_match(
        &self,
        session: SessionName<'_>,
        kind: RecallKind,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        let RecallRequest { query, filter, k, explain } = request;
        let read_as = self.episodic.unknown_words_as_meant(query);
        let read = read_as.as_deref().unwrap_or(query);
        let (found, explained) = self.episodic.recall_explained(read, filter, *k)?;
        self.remember(session, kind, read, &found)?;
        let explanation = explain.then_some(Explanation::Ranking(explained));
        let is_literal = self.is_literal(read, false);
        Ok(Recall { found, order: RecallOrder::BestFirst, explanation, is_literal, read_as })
    }

    /// The newest records that show an object, in any words, after what was seen since and may show
    /// it.
    pub(crate) fn recall_last_seen(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        let RecallRequest { filter, k, .. } = request;
        self.last_seen_and(session, request, Wording::Any, |query, seen| {
            self.episodic.with_seen_since(query, filter, *k, seen)
        })
    }

    /// The same without that: a search weighs by itself what was seen since (`newer_sighting`).
    pub(super) fn recall_last_seen_for_search(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        self.last_seen_and(session, request, Wording::Own, |_, seen| Ok(seen))
    }

    fn last_seen_and(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
        wording: Wording,
        since: impl Fn(&str, Vec<Sighting>) -> Result<Vec<Sighting>, MemoryError>,
    ) -> Result<Recall, RetrievalError> {
        let RecallRequest { query, filter, k, explain } = request;
        let find = |query: &str| {
            if *explain {
                let (seen, reasons) =
                    self.episodic.last_seen_explained(query, filter, *k, wording)?;
                return Ok((since(query, seen)?, Some(Explanation::Evidence(reasons))));
            }
            let seen = self.episodic.last_seen_in(query, filter, *k, wording)?;
            Ok((since(query, seen)?, None))
        };
        let certainty = |(seen, _): &(Vec<Sighting>, Option<Explanation>)| certainty_of(seen);
        let ((seen, explanation), read_as) = self.episodic.find_as_meant(query, find, certainty)?;
        let order = RecallOrder::NewestFirst { certainty: certainty_of(&seen) };
        let found = into_recalled(seen);
        self.recalled(
            session,
            RecallKind::RecallLastSeen,
            query,
            Recall { found, order, explanation, is_literal: false, read_as },
        )
    }

    /// Every record that shows an object, in the order of time; of more than `k` the newest.
    /// Where none does, those that may.
    pub(crate) fn recall_all(
        &self,
        session: SessionName<'_>,
        request: &RecallRequest,
        wording: Wording,
    ) -> Result<Recall, RetrievalError> {
        let RecallRequest { query, filter, k, explain: _ } = request;
        let find = |query: &str| self.episodic.list_sightings(query, (filter, *k), wording);
        let certainty = |it: &SightingList| certainty_of(&it.sightings);
        let (list, read_as) = self.episodic.find_as_meant(query, find, certainty)?;
        let SightingList { sightings, total } = list;
        let order = RecallOrder::Chronological { total, certainty: certainty_of(&sightings) };
        let found = into_recalled(sightings);
        self.recalled(
            session,
            RecallKind::RecallAll,
            query,
            Recall { found, order, explanation: None, is_literal: false, read_as },
        )
    }

    /// Sets the working memory to what a recall of sightings found by `query`.
    pub(super) fn recalled(
        &self,
        session: SessionName<'_>,
        kind: RecallKind,
        query: &str,
        recall: Recall,
    ) -> Result<Recall, RetrievalError> {
        let read = recall.read_as.as_deref().unwrap_or(query);
        self.remember(session, kind, read, &recall.found)?;
        let is_sure = recall.order.certainty() > Some(Certainty::Possible);
        Ok(Recall { is_literal: self.is_literal(read, is_sure), ..recall })
    }

    /// Whether a query is in a language that nobody here reads.
    fn is_literal(&self, query: &str, is_surely_seen: bool) -> bool {
        !self.episodic.reads(query) || !is_surely_seen && self.episodic.is_foreign_query(query)
    }

    /// Sets the working memory.
    pub(super) fn remember(
        &self,
        session: SessionName<'_>,
        kind: RecallKind,
        query: &str,
        found: &[Recalled],
    ) -> Result<(), RetrievalError> {
        let ids = found.iter().map(|it| it.record.id).collect();
        self.update(session, |it| it.set_working_memory(kind, query, ids))
    }
}

/// How surely all of these show what is asked for.
pub(super) fn certainty_of(sightings: &[Sighting]) -> Option<Certainty> {
    sightings.first().map(|it| it.certainty)
}

pub(super) fn into_recalled(sightings: Vec<Sighting>) -> Vec<Recalled> {
    sightings.into_iter().map(|it| it.recalled).collect()
}
