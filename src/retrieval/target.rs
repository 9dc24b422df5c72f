//! The memory-search instance: which object is searched for.

use crate::base::RecordId;
use crate::language::reference::Reference;
use crate::memory::episodic::MemoryError;
use crate::memory::episodic::instances::Instance;
use crate::memory::episodic::noun_phrases::bare_name;
use crate::retrieval::session::{FoundInMemory, Session, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::task_phrase::target_phrase;
use crate::retrieval::{ParsedRequest, Retrieval, RetrievalError};
use crate::search::Filter;
use crate::store::Record;

/// Records that a reply shows of one object; of more the newest.
pub(super) const OBSERVATIONS_MAX: usize = 8;

/// What decides on the target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetChoice {
    /// The newest working memory and the task.
    Implied,
    Described(Box<ParsedRequest>),
    Record(RecordId),
    /// Position among the session's candidates, from 0.
    Candidate(usize),
}

/// The target with the newest records that show it, newest first.
#[derive(Debug)]
pub(crate) struct ChosenTarget {
    pub(crate) target: Target,
    pub(crate) observations: Vec<Record>,
}

impl Retrieval {
    /// A description of a target: a bare name as it stands, any other as a request.
    pub(crate) fn parse_description(&self, text: &str) -> Result<ParsedRequest, RetrievalError> {
        match bare_name(text) {
            Some(thing) => Ok(ParsedRequest::of_thing(text, thing)),
            None => self.parse(text),
        }
    }

    /// Decides on the target; a search for another one begins anew.
    pub(crate) fn choose_target(
        &self,
        session: SessionName<'_>,
        choice: &TargetChoice,
    ) -> Result<ChosenTarget, RetrievalError> {
        let target = self.resolve(&self.session(session), choice)?;
        let newest: Vec<RecordId> =
            target.records.iter().rev().take(OBSERVATIONS_MAX).copied().collect();
        let observations = self.records(&newest)?;
        self.update(session, |it| {
            if it.target.as_ref().is_none_or(|before| before.desc != target.desc) {
                it.searched_places.clear();
            }
            it.set_aside_search();
            it.target = Some(target.clone());
        })?;
        Ok(ChosenTarget { target, observations })
    }

    fn resolve(&self, session: &Session, choice: &TargetChoice) -> Result<Target, RetrievalError> {
        match choice {
            TargetChoice::Candidate(at) => match session.candidates.get(*at) {
                Some(it) => Ok(target_in_memory(it.desc.clone(), it.records.clone())),
                None => Err(RetrievalError::NoCandidate {
                    number: at + 1,
                    candidates: session.candidates.len(),
                }),
            },
            TargetChoice::Record(id) => self.target_of_record(session, *id),
            TargetChoice::Described(description) => {
                self.target_of_description(session, description)
            }
            TargetChoice::Implied => self.implied_target(session),
        }
    }

    fn target_of_record(&self, session: &Session, id: RecordId) -> Result<Target, RetrievalError> {
        let mut ids = session.working_memory.clone();
        if !ids.contains(&id) {
            ids.push(id);
        }
        let records = self.records(&ids)?;
        let record = records.iter().find(|it| it.id == id).ok_or(RetrievalError::NoRecord(id))?;
        if let Some(known) = session.candidates.iter().find(|it| it.records.contains(&id)) {
            return Ok(target_in_memory(known.desc.clone(), known.records.clone()));
        }
        let reference = self.implied_reference(session)?;
        // Where the record shows nothing of what was asked for, what it names first counts.
        let asked = Some(reference.thing).filter(|it| !it.is_empty());
        let is_it = |it: &Instance| it.records.contains(&id);
        for thing in asked.into_iter().chain(record.parsed.object_phrases()) {
            let recalled = self.episodic.instances(&thing, &records, self.zone)?;
            let Some(object) = recalled.into_iter().find(is_it) else { continue };
            // Two that look alike and were recalled for one are told apart by all their sightings.
            let (mut alike, _) = self.sightings_of(&object.desc)?;
            alike.extend(&ids);
            let alike = self.records(&alike.into_iter().collect::<Vec<RecordId>>())?;
            let known = self.episodic.instances(&thing, &alike, self.zone)?;
            let object = known.into_iter().find(is_it).unwrap_or(object);
            return Ok(target_in_memory(object.desc, object.records));
        }
        Ok(target_in_memory(record.caption.clone(), vec![id]))
    }

    fn target_of_description(
        &self,
        session: &Session,
        description: &ParsedRequest,
    ) -> Result<Target, RetrievalError> {
        let ParsedRequest { text: desc, reference } = description;
        if reference.thing.is_empty() {
            let is_recalled = session.recalled.is_some();
            return Ok(target_in_words(
                desc,
                if is_recalled { FoundInMemory::No } else { FoundInMemory::Unknown },
            ));
        }
        let known = session.candidates.iter().find(|it| it.desc == reference.thing);
        if let Some(known) = known {
            return Ok(target_in_memory(desc.clone(), known.records.clone()));
        }
        if let Some(records) = self.first_instance(session, reference)?.map(|(_, records)| records)
        {
            return Ok(target_in_memory(desc.clone(), records));
        }
        let is_seen = match self.episodic.last_seen(&reference.thing, &Filter::default(), 1) {
            Ok(seen) => !seen.is_empty(),
            Err(MemoryError::NamesNothing(_)) => false,
            Err(error) => return Err(error.into()),
        };
        Ok(target_in_words(desc, if is_seen { FoundInMemory::Yes } else { FoundInMemory::No }))
    }

    /// The target that the newest working memory and the task tell of.
    pub(super) fn implied_target(&self, session: &Session) -> Result<Target, RetrievalError> {
        let reference = self.implied_reference(session)?;
        let task = session.task.as_ref().map(|task| target_phrase(&task.text, &reference));
        let recalled = session.recalled.as_ref().map(|it| it.query.clone());
        let desc = task.or(recalled).ok_or(RetrievalError::NothingToSearchFor)?;
        if session.recalled.is_none() {
            return Ok(target_in_words(&desc, FoundInMemory::Unknown));
        }
        if let Some(first) = session.candidates.first() {
            return Ok(target_in_memory(first.desc.clone(), first.records.clone()));
        }
        Ok(match self.first_instance(session, &reference)? {
            Some((desc, records)) => target_in_memory(desc, records),
            None => target_in_words(&desc, FoundInMemory::No),
        })
    }

    /// The object of the working memory that a reference means most likely.
    fn first_instance(
        &self,
        session: &Session,
        reference: &Reference,
    ) -> Result<Option<(String, Vec<RecordId>)>, RetrievalError> {
        let records = self.records(&session.working_memory)?;
        let now = self.now(session);
        let ranked = self.episodic.rank_instances(reference, &records, now, self.zone)?;
        Ok(ranked.into_iter().next().map(|it| (it.desc, it.records)))
    }
}

impl ParsedRequest {
    /// The name of a thing, and nothing but the name.
    pub(crate) fn of_thing(text: &str, thing: String) -> Self {
        let reference = Reference { thing, ..Reference::default() };
        Self { text: text.to_owned(), reference }
    }
}

fn target_in_memory(desc: String, records: Vec<RecordId>) -> Target {
    Target { desc, found_in_memory: FoundInMemory::Yes, records }
}

fn target_in_words(desc: &str, found_in_memory: FoundInMemory) -> Target {
    Target { desc: desc.to_owned(), found_in_memory, records: Vec::new() }
}
