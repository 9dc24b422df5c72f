//! One session: what the calls of a caller share, from the task in words to the goals of
//! the search.
//!
//! Plain data, kept on disk as serde derives it: names and variants stay as they are, or
//! keep their old names by `rename`. A field that is missing counts as empty, so that a
//! session of an earlier build goes on. Knows neither the memory nor where it is kept.

use serde::{Deserialize, Serialize};

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::language::reference::Reference;

/// Shared state of a caller's calls: each session its own, the memory common to all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Session {
    /// The user's request.
    pub(crate) task: Option<Task>,
    /// Records of the newest recall, in the order of its result.
    pub(crate) working_memory: Vec<RecordId>,
    /// The newest recall; `None` before the first.
    pub(crate) recalled: Option<LatestRecall>,
    /// Distinct objects that the working memory was last divided into, in the order of
    /// that reply; none once another recall has changed it.
    pub(crate) candidates: Vec<Candidate>,
    /// The memory-search instance: what is searched for.
    pub(crate) target: Option<Target>,
    /// The real-world-search instance: where it is searched for.
    pub(crate) search: Option<Search>,
    /// Goals that were planned for targets before this one, to be visited first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier_goals: Vec<Goal>,
    /// Goals that the robot was given last and has not reported on: planned again, they are no news.
    #[serde(rename = "given", skip_serializing_if = "Vec::is_empty")]
    pub(crate) given_goals: Vec<Goal>,
    /// Places that were searched for this target in vain, oldest first; see
    /// [`SEARCHED_PLACES_MAX`].
    #[serde(rename = "looked")]
    pub(crate) searched_places: Vec<SearchedPlace>,
    /// Answers to calls that are answered in full only once, oldest first; see
    /// [`ANSWERS_MAX`].
    #[serde(rename = "asked")]
    pub(crate) answers: Vec<AnsweredCall>,
    /// Calls of an agent's language model, oldest first; see [`STEPS_MAX`].
    pub(crate) steps: Vec<ModelStep>,
    #[serde(rename = "carried")]
    pub(crate) scratchpad: Scratchpad,
}

/// Answers that a session remembers; beyond it the oldest goes.
pub(crate) const ANSWERS_MAX: usize = 256;
/// Searched places that a session remembers; beyond it the oldest goes.
pub(crate) const SEARCHED_PLACES_MAX: usize = 64;
/// Steps of an agent's model that a session remembers; beyond it the oldest goes.
pub(crate) const STEPS_MAX: usize = 24;
/// Characters that are kept of a step's result once the next is taken.
pub(crate) const OLD_RESULT_CHARS_MAX: usize = 600;

/// The user's request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) text: String,
    /// What counts as now for it; the clock's time where absent.
    pub(crate) now: Option<Timestamp>,
    /// What the text refers to; `None` of a session that was read from disk.
    #[serde(skip)]
    pub(crate) reference: Option<Reference>,
}

/// A recall that set the working memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LatestRecall {
    #[serde(rename = "tool")]
    pub(crate) kind: RecallKind,
    pub(crate) query: String,
}

/// Which recall it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecallKind {
    RecallBestMatch,
    RecallLastSeen,
    RecallAll,
    RetrieveFromTextWithTime,
    RecallObservationOfInstance,
}

/// One of the objects that the working memory may be about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub(crate) desc: String,
    /// Its records, in the order of time.
    pub(crate) records: Vec<RecordId>,
}

/// The object that is searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) desc: String,
    #[serde(rename = "found")]
    pub(crate) found_in_memory: FoundInMemory,
    /// Records that show it, in the order of time; none where it was described only.
    pub(crate) records: Vec<RecordId>,
}

/// Whether the memory shows the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FoundInMemory {
    Yes,
    No,
    /// Nothing was recalled yet.
    Unknown,
}

/// The search for the target: its goals and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Search {
    pub(crate) state: SearchState,
    /// In the order to visit.
    pub(crate) goals: Vec<Goal>,
    /// Number of goals that were reported on.
    pub(crate) visited: usize,
}

/// Progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SearchState {
    /// Decided, and not yet given out.
    Planned,
    /// The robot is under way.
    Dispatched,
    /// The robot found the target.
    Found,
    /// All goals were visited in vain.
    Reopened,
}

/// A place to go to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Goal {
    /// The sighting that it is grounded in.
    pub(crate) record: Option<RecordId>,
    pub(crate) position: [f64; 3],
    pub(crate) theta: Option<f64>,
    pub(crate) frame_id: String,
    pub(crate) map_id: String,
    pub(crate) reason: String,
    /// Probability that the target is there.
    pub(crate) probability: f32,
    /// Commonsense rather than a sighting.
    pub(crate) is_guess: bool,
    /// What is searched for there; empty of a session of an earlier build.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) target: String,
}

/// A place that was searched in vain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchedPlace {
    pub(crate) position: [f64; 3],
    pub(crate) map_id: String,
    pub(crate) at: Timestamp,
}

/// A call and the records that answered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnsweredCall {
    /// One spelling of all calls that ask the same.
    pub(crate) call: String,
    pub(crate) records: Vec<RecordId>,
}

/// A call that an agent's model made, and its result in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModelStep {
    pub(crate) call: String,
    pub(crate) result: String,
}

/// A language model's own notes, carried from one of its replies to the next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scratchpad {
    pub(crate) history_summary: String,
    pub(crate) current_task: String,
}

impl Session {
    /// Records a model's calls; of the steps before, only the beginnings stay.
    pub(crate) fn record_steps(&mut self, steps: Vec<ModelStep>, scratchpad: Scratchpad) {
        for step in &mut self.steps {
            if let Some((end, _)) = step.result.char_indices().nth(OLD_RESULT_CHARS_MAX) {
                step.result.truncate(end);
                step.result.push('…');
            }
        }
        self.steps.extend(steps);
        keep_newest(&mut self.steps, STEPS_MAX);
        self.scratchpad = scratchpad;
    }

    /// Ends the search; of one that was not given out, the goals stay for a search that
    /// follows it.
    pub(crate) fn set_aside_search(&mut self) {
        if let Some(search) = self.search.take()
            && search.state == SearchState::Planned
        {
            self.earlier_goals = search.goals;
        }
    }

    /// Whether a recall of this session returned the record.
    pub(crate) fn was_returned(&self, id: RecordId) -> bool {
        self.working_memory.contains(&id) || self.answers.iter().any(|it| it.records.contains(&id))
    }

    /// Drops what shows or tells of these records. A model's steps and notes go in any case:
    /// they may quote what was forgotten, also of notes.
    pub(crate) fn forget(&mut self, gone: &[RecordId]) {
        let mut gone = gone.to_vec();
        gone.sort_unstable();
        self.drop_shown(&gone);
        self.steps.clear();
        self.scratchpad = Scratchpad::default();
    }

    /// As [`Session::forget`], of ascending ids; where none is shown, all stays.
    pub(crate) fn let_go(&mut self, gone: &[RecordId]) {
        let before = self.clone();
        self.drop_shown(gone);
        if *self != before {
            self.steps.clear();
            self.scratchpad = Scratchpad::default();
        }
    }

    fn drop_shown(&mut self, gone: &[RecordId]) {
        let is_gone = |id: &RecordId| gone.binary_search(id).is_ok();
        let shows = |records: &[RecordId]| records.iter().any(is_gone);
        let is_grounded = |goal: &Goal| goal.record.as_ref().is_some_and(is_gone);
        self.working_memory.retain(|id| !is_gone(id));
        self.candidates.retain(|it| !shows(&it.records));
        self.answers.retain(|it| !shows(&it.records));
        self.earlier_goals.retain(|goal| !is_grounded(goal));
        self.given_goals.retain(|goal| !is_grounded(goal));
        let target_goes = self.target.as_ref().is_some_and(|it| shows(&it.records));
        if target_goes || self.search.as_ref().is_some_and(|it| it.goals.iter().any(is_grounded)) {
            self.search = None;
        }
        if target_goes {
            self.target = None;
        }
    }

    /// Replaces the working memory.
    pub(crate) fn set_working_memory(
        &mut self,
        kind: RecallKind,
        query: &str,
        records: Vec<RecordId>,
    ) {
        self.working_memory = records;
        self.recalled = Some(LatestRecall { kind, query: query.to_owned() });
        self.candidates.clear();
    }

    /// The records that answered a call before.
    pub(crate) fn answer_to(&self, call: &str) -> Option<&[RecordId]> {
        let answer = self.answers.iter().find(|answer| answer.call == call);
        answer.map(|answer| answer.records.as_slice())
    }

    /// Records a call's answer.
    pub(crate) fn record_answer(&mut self, call: String, records: Vec<RecordId>) {
        self.answers.retain(|answer| answer.call != call);
        self.answers.push(AnsweredCall { call, records });
        keep_newest(&mut self.answers, ANSWERS_MAX);
    }

    /// Records a place that was searched in vain.
    pub(crate) fn record_searched_place(&mut self, place: SearchedPlace) {
        self.searched_places.push(place);
        keep_newest(&mut self.searched_places, SEARCHED_PLACES_MAX);
    }

    /// A session as the store keeps it.
    pub(crate) fn to_json(&self) -> String {
        #[expect(clippy::expect_used, reason = "structs with text keys: nothing that could fail")]
        serde_json::to_string(self).expect("writes into memory")
    }

    /// The session that [`Session::to_json`] wrote.
    pub(crate) fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

impl RecallKind {
    /// The name of its tool; the same as on disk.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::RecallBestMatch => "recall_best_match",
            Self::RecallLastSeen => "recall_last_seen",
            Self::RecallAll => "recall_all",
            Self::RetrieveFromTextWithTime => "retrieve_from_text_with_time",
            Self::RecallObservationOfInstance => "recall_observation_of_instance",
        }
    }
}

/// Drops the oldest, which come first.
fn keep_newest<T>(items: &mut Vec<T>, most: usize) {
    let over = items.len().saturating_sub(most);
    items.drain(..over);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As builds up to November 2026 wrote it, by hand-made mirror types.
    const STORED: &str = concat!(
        r#"{"task":{"text":"bring me a book","now":1735905600000001},"working_memory":[3,1],"#,
        r#""recalled":{"tool":"recall_all","query":"a"},"#,
        r#""candidates":[{"desc":"book","records":[1]}],"#,
        r#""target":{"desc":"red book","found":"Yes","records":[1,3]},"#,
        r#""search":{"state":"Dispatched","goals":[{"record":3,"position":[1.0,-2.5,0.1],"#,
        r#""theta":0.3,"frame_id":"map","map_id":"home","reason":"last seen here","#,
        r#""probability":0.7,"is_guess":false},{"record":null,"position":[1.0,-2.5,0.1],"#,
        r#""theta":null,"frame_id":"map","map_id":"home","reason":"last seen here","#,
        r#""probability":0.7,"is_guess":true}],"visited":1},"#,
        r#""looked":[{"position":[0.0,0.0,0.0],"map_id":"home","at":0}],"#,
        r#""asked":[{"call":"x","records":[9]}],"#,
        r##""steps":[{"call":"recall_all","result":"#1"}],"##,
        r#""carried":{"history_summary":"looked","current_task":"where"}}"#,
    );

    fn full() -> Session {
        let now = Timestamp::from_micros(1_735_905_600_000_001);
        let goal = Goal {
            record: Some(RecordId(3)),
            position: [1.0, -2.5, 0.1],
            theta: Some(0.3),
            frame_id: "map".to_owned(),
            map_id: "home".to_owned(),
            reason: "last seen here".to_owned(),
            probability: 0.7,
            is_guess: false,
            target: String::new(),
        };
        let guess = Goal { record: None, theta: None, is_guess: true, ..goal.clone() };
        Session {
            task: Some(Task { text: "bring me a book".to_owned(), now, reference: None }),
            working_memory: vec![RecordId(3), RecordId(1)],
            recalled: Some(LatestRecall { kind: RecallKind::RecallAll, query: "a".to_owned() }),
            candidates: vec![Candidate { desc: "book".to_owned(), records: vec![RecordId(1)] }],
            target: Some(Target {
                desc: "red book".to_owned(),
                found_in_memory: FoundInMemory::Yes,
                records: vec![RecordId(1), RecordId(3)],
            }),
            search: Some(Search {
                state: SearchState::Dispatched,
                goals: vec![goal, guess],
                visited: 1,
            }),
            earlier_goals: Vec::new(),
            given_goals: Vec::new(),
            searched_places: vec![SearchedPlace {
                position: [0.0; 3],
                map_id: "home".to_owned(),
                at: Timestamp::EPOCH,
            }],
            answers: vec![AnsweredCall { call: "x".to_owned(), records: vec![RecordId(9)] }],
            steps: vec![ModelStep { call: "recall_all".to_owned(), result: "#1".to_owned() }],
            scratchpad: Scratchpad {
                history_summary: "looked".to_owned(),
                current_task: "where".to_owned(),
            },
        }
    }

    #[test]
    fn a_session_has_the_form_on_disk_that_it_always_had() {
        assert_eq!(full().to_json(), STORED);
        assert_eq!(Session::from_json(STORED).unwrap(), full());
        let empty = Session::default();
        assert_eq!(Session::from_json(&empty.to_json()).unwrap(), empty);
    }

    #[test]
    fn fields_that_an_earlier_build_did_not_write_are_empty() {
        let session = Session::from_json("{\"working_memory\":[4],\"unheard_of\":1}").unwrap();
        let expected = Session { working_memory: vec![RecordId(4)], ..Session::default() };
        assert_eq!(session, expected);
        Session::from_json("7").unwrap_err();
    }

    #[test]
    fn a_recall_is_called_the_same_on_disk_and_in_calls() {
        for kind in [
            RecallKind::RecallBestMatch,
            RecallKind::RecallLastSeen,
            RecallKind::RecallAll,
            RecallKind::RetrieveFromTextWithTime,
            RecallKind::RecallObservationOfInstance,
        ] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
