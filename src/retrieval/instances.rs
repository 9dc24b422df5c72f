//! Distinct physical objects in the working memory, in the order that a request asks for.

use std::collections::BTreeSet;

use crate::base::RecordId;
use crate::language::lexicon;
use crate::language::reference::Reference;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::noun_phrases::bare_name;
use crate::retrieval::session::{Candidate, Session};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{ParsedRequest, Retrieval, RetrievalError};

/// Objects that are listed and that the session remembers.
const CANDIDATES_MAX: usize = 32;

/// The objects that the working memory shows.
#[derive(Debug)]
pub(crate) struct InstanceList {
    /// Those that the request means most likely first.
    pub(crate) instances: Vec<Instance>,
    /// Number of objects, those left out among them.
    pub(crate) total: usize,
    /// Number of records that were divided.
    pub(crate) records: usize,
    /// What the request refers to.
    pub(crate) reference: Reference,
}

impl Retrieval {
    /// Divides the working memory into distinct objects, which become the working memory.
    /// The request is the task where absent. Where it names what the working memory does not
    /// show, that stays as it was.
    pub(crate) fn determine_instances(
        &self,
        session: SessionName<'_>,
        request: Option<&ParsedRequest>,
    ) -> Result<InstanceList, RetrievalError> {
        let held = self.session(session);
        if held.recalled.is_none() {
            return Err(RetrievalError::NoWorkingMemory);
        }
        let mut reference = match request {
            Some(request) => self.complete_reference(request, &held)?,
            None => self.implied_reference(&held)?,
        };
        let records = self.records(&held.working_memory)?;
        let now = self.now(&held);
        let ranked = |of: &Reference| self.episodic.rank_instances(of, &records, now, self.zone);
        let mut instances = ranked(&reference)?;
        if let Some(request) = request.filter(|_| instances.is_empty())
            && let Some(other) = self.without_order_as_thing(request, &held)?
        {
            instances = ranked(&other)?;
            reference = other;
        }
        let total = instances.len();
        instances.truncate(CANDIDATES_MAX);
        if !instances.is_empty() {
            self.update(session, |it| set_candidates(it, &instances))?;
        }
        Ok(InstanceList { instances, total, records: records.len(), reference })
    }

    /// A request that tells only an order, which was taken for a thing, with the thing that was
    /// recalled: "the earliest" of mugs. `None` where a word of it may be a thing's name.
    fn without_order_as_thing(
        &self,
        request: &ParsedRequest,
        session: &Session,
    ) -> Result<Option<Reference>, RetrievalError> {
        let thing = &request.reference.thing;
        let names = |word: &str| {
            let says_order = lexicon::is_adjective(word) || word.ends_with("est");
            lexicon::is_name(&lexicon::singular(word)) || !says_order
        };
        let thing_is_told = thing.is_empty() || thing.split(' ').any(names);
        let Some(recalled) = session.recalled.as_ref().filter(|_| !thing_is_told) else {
            return Ok(None);
        };
        let recalled = bare_name(&recalled.query).unwrap_or_else(|| recalled.query.clone());
        let read = self.read(&format!("{} {recalled}", request.text))?;
        let read = self.with_recalled_thing(read, session)?;
        Ok(Some(read).filter(|it| it.thing != *thing))
    }

    /// What a request refers to; the task, then the newest recall, name the thing where it
    /// names none.
    fn complete_reference(
        &self,
        request: &ParsedRequest,
        session: &Session,
    ) -> Result<Reference, RetrievalError> {
        let mut reference = request.reference.clone();
        if let (true, Some(task)) = (reference.thing.is_empty(), &session.task) {
            reference.thing = match bare_name(&task.text) {
                Some(thing) => thing,
                None => self.reference_of(task)?.thing,
            };
        }
        self.with_recalled_thing(reference, session)
    }

    /// What the session's task refers to; the newest recall names the thing where it names
    /// none. Without a task, the thing of the newest recall: a recall has no order of its
    /// own.
    pub(super) fn implied_reference(&self, session: &Session) -> Result<Reference, RetrievalError> {
        let reference = match &session.task {
            Some(task) => self.reference_of(task)?,
            None => Reference::default(),
        };
        self.with_recalled_thing(reference, session)
    }

    fn with_recalled_thing(
        &self,
        mut reference: Reference,
        session: &Session,
    ) -> Result<Reference, RetrievalError> {
        if let (true, Some(recalled)) = (reference.thing.is_empty(), &session.recalled) {
            reference.thing = match bare_name(&recalled.query) {
                Some(thing) => thing,
                None => self.read(&recalled.query)?.thing,
            };
        }
        Ok(reference)
    }
}

fn set_candidates(session: &mut Session, instances: &[Instance]) {
    let mut seen = BTreeSet::new();
    // In the order of the objects, each record once.
    let records = instances.iter().flat_map(|it| &it.records).copied();
    session.working_memory = records.filter(|id: &RecordId| seen.insert(*id)).collect();
    let candidates =
        instances.iter().map(|it| Candidate { desc: it.desc.clone(), records: it.records.clone() });
    session.candidates = candidates.collect();
}
