//! A session as the JSON text that the store keeps, and back.
//!
//! A field that is missing counts as empty, so that a session of an earlier build
//! goes on; what cannot be read at all begins anew.

use serde::{Deserialize, Serialize};

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::tools::session::{
    Asked, Candidate, Carried, Found, Goal, Looked, Recalled, Search, SearchState, Session, Step,
    Target, Task,
};

/// A session as text.
pub(crate) fn written(session: &Session) -> String {
    #[expect(clippy::expect_used, reason = "plain structs with text keys: nothing that could fail")]
    serde_json::to_string(&SessionText::of(session)).expect("writes into memory")
}

/// The session that [`written`] wrote.
pub(crate) fn read(text: &str) -> Result<Session, serde_json::Error> {
    serde_json::from_str::<SessionText>(text).map(SessionText::into_session)
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
struct SessionText {
    task: Option<TaskText>,
    working_memory: Vec<u64>,
    recalled: Option<RecalledText>,
    candidates: Vec<CandidateText>,
    target: Option<TargetText>,
    search: Option<SearchText>,
    looked: Vec<LookedText>,
    asked: Vec<AskedText>,
    steps: Vec<StepText>,
    carried: CarriedText,
}

#[derive(Serialize, Deserialize)]
struct TaskText {
    text: String,
    now: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct RecalledText {
    tool: String,
    query: String,
}

#[derive(Serialize, Deserialize)]
struct CandidateText {
    desc: String,
    records: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct TargetText {
    desc: String,
    found: FoundText,
    records: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
enum FoundText {
    Yes,
    No,
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct SearchText {
    state: StateText,
    goals: Vec<GoalText>,
    visited: usize,
}

#[derive(Serialize, Deserialize)]
enum StateText {
    Planned,
    Dispatched,
    Found,
    Reopened,
}

#[derive(Serialize, Deserialize)]
struct GoalText {
    record: Option<u64>,
    position: [f64; 3],
    theta: Option<f64>,
    frame_id: String,
    map_id: String,
    reason: String,
    probability: f32,
    is_guess: bool,
}

#[derive(Serialize, Deserialize)]
struct LookedText {
    position: [f64; 3],
    map_id: String,
    at: i64,
}

#[derive(Serialize, Deserialize)]
struct AskedText {
    call: String,
    records: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct StepText {
    call: String,
    result: String,
}

#[derive(Serialize, Deserialize, Default)]
struct CarriedText {
    history_summary: String,
    current_task: String,
}

fn numbers(ids: &[RecordId]) -> Vec<u64> {
    ids.iter().map(|id| id.0).collect()
}

fn ids(numbers: Vec<u64>) -> Vec<RecordId> {
    numbers.into_iter().map(RecordId).collect()
}

impl SessionText {
    fn of(session: &Session) -> Self {
        let Session {
            task,
            working_memory,
            recalled,
            candidates,
            target,
            search,
            looked,
            asked,
            steps,
            carried,
        } = session;
        Self {
            task: task.as_ref().map(|Task { text, now }| TaskText {
                text: text.clone(),
                now: now.map(Timestamp::micros),
            }),
            working_memory: numbers(working_memory),
            recalled: recalled.as_ref().map(|Recalled { tool, query }| RecalledText {
                tool: tool.clone(),
                query: query.clone(),
            }),
            candidates: candidates.iter().map(CandidateText::of).collect(),
            target: target.as_ref().map(TargetText::of),
            search: search.as_ref().map(SearchText::of),
            looked: looked.iter().map(LookedText::of).collect(),
            asked: asked.iter().map(AskedText::of).collect(),
            steps: steps.iter().map(StepText::of).collect(),
            carried: CarriedText::of(carried),
        }
    }

    fn into_session(self) -> Session {
        let Self {
            task,
            working_memory,
            recalled,
            candidates,
            target,
            search,
            looked,
            asked,
            steps,
            carried,
        } = self;
        Session {
            task: task.map(|TaskText { text, now }| Task {
                text,
                now: now.and_then(Timestamp::from_micros),
            }),
            working_memory: ids(working_memory),
            recalled: recalled.map(|RecalledText { tool, query }| Recalled { tool, query }),
            candidates: candidates.into_iter().map(CandidateText::into_candidate).collect(),
            target: target.map(TargetText::into_target),
            search: search.map(SearchText::into_search),
            looked: looked.into_iter().map(LookedText::into_looked).collect(),
            asked: asked.into_iter().map(AskedText::into_asked).collect(),
            steps: steps.into_iter().map(StepText::into_step).collect(),
            carried: carried.into_carried(),
        }
    }
}

impl StepText {
    fn of(Step { call, result }: &Step) -> Self {
        Self { call: call.clone(), result: result.clone() }
    }

    fn into_step(self) -> Step {
        let Self { call, result } = self;
        Step { call, result }
    }
}

impl CarriedText {
    fn of(Carried { history_summary, current_task }: &Carried) -> Self {
        let (history_summary, current_task) = (history_summary.clone(), current_task.clone());
        Self { history_summary, current_task }
    }

    fn into_carried(self) -> Carried {
        let Self { history_summary, current_task } = self;
        Carried { history_summary, current_task }
    }
}

impl CandidateText {
    fn of(Candidate { desc, records }: &Candidate) -> Self {
        Self { desc: desc.clone(), records: numbers(records) }
    }

    fn into_candidate(self) -> Candidate {
        let Self { desc, records } = self;
        Candidate { desc, records: ids(records) }
    }
}

impl TargetText {
    fn of(Target { desc, found, records }: &Target) -> Self {
        let found = match found {
            Found::Yes => FoundText::Yes,
            Found::No => FoundText::No,
            Found::Unknown => FoundText::Unknown,
        };
        Self { desc: desc.clone(), found, records: numbers(records) }
    }

    fn into_target(self) -> Target {
        let Self { desc, found, records } = self;
        let found = match found {
            FoundText::Yes => Found::Yes,
            FoundText::No => Found::No,
            FoundText::Unknown => Found::Unknown,
        };
        Target { desc, found, records: ids(records) }
    }
}

impl SearchText {
    fn of(Search { state, goals, visited }: &Search) -> Self {
        let state = match state {
            SearchState::Planned => StateText::Planned,
            SearchState::Dispatched => StateText::Dispatched,
            SearchState::Found => StateText::Found,
            SearchState::Reopened => StateText::Reopened,
        };
        Self { state, goals: goals.iter().map(GoalText::of).collect(), visited: *visited }
    }

    fn into_search(self) -> Search {
        let Self { state, goals, visited } = self;
        let state = match state {
            StateText::Planned => SearchState::Planned,
            StateText::Dispatched => SearchState::Dispatched,
            StateText::Found => SearchState::Found,
            StateText::Reopened => SearchState::Reopened,
        };
        Search { state, goals: goals.into_iter().map(GoalText::into_goal).collect(), visited }
    }
}

impl GoalText {
    fn of(goal: &Goal) -> Self {
        let Goal { record, position, theta, frame_id, map_id, reason, probability, is_guess } =
            goal.clone();
        let record = record.map(|id| id.0);
        Self { record, position, theta, frame_id, map_id, reason, probability, is_guess }
    }

    fn into_goal(self) -> Goal {
        let Self { record, position, theta, frame_id, map_id, reason, probability, is_guess } =
            self;
        let record = record.map(RecordId);
        Goal { record, position, theta, frame_id, map_id, reason, probability, is_guess }
    }
}

impl LookedText {
    fn of(Looked { position, map_id, at }: &Looked) -> Self {
        Self { position: *position, map_id: map_id.clone(), at: at.micros() }
    }

    fn into_looked(self) -> Looked {
        let Self { position, map_id, at } = self;
        let at = Timestamp::from_micros(at).unwrap_or(Timestamp::EPOCH);
        Looked { position, map_id, at }
    }
}

impl AskedText {
    fn of(Asked { call, records }: &Asked) -> Self {
        Self { call: call.clone(), records: numbers(records) }
    }

    fn into_asked(self) -> Asked {
        let Self { call, records } = self;
        Asked { call, records: ids(records) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        };
        let guess = Goal { record: None, theta: None, is_guess: true, ..goal.clone() };
        Session {
            task: Some(Task { text: "bring me a book".to_owned(), now }),
            working_memory: vec![RecordId(3), RecordId(1)],
            recalled: Some(Recalled { tool: "recall_all".to_owned(), query: "a".to_owned() }),
            candidates: vec![Candidate { desc: "book".to_owned(), records: vec![RecordId(1)] }],
            target: Some(Target {
                desc: "red book".to_owned(),
                found: Found::Yes,
                records: vec![RecordId(1), RecordId(3)],
            }),
            search: Some(Search {
                state: SearchState::Dispatched,
                goals: vec![goal, guess],
                visited: 1,
            }),
            looked: vec![Looked {
                position: [0.0; 3],
                map_id: "home".to_owned(),
                at: Timestamp::EPOCH,
            }],
            asked: vec![Asked { call: "x".to_owned(), records: vec![RecordId(9)] }],
            steps: vec![Step { call: "recall_all".to_owned(), result: "#1".to_owned() }],
            carried: Carried {
                history_summary: "looked".to_owned(),
                current_task: "where".to_owned(),
            },
        }
    }

    #[test]
    fn a_session_comes_back_as_it_was_written() {
        for session in [Session::default(), full()] {
            assert_eq!(read(&written(&session)).unwrap(), session);
        }
    }

    #[test]
    fn what_an_earlier_build_did_not_write_is_empty() {
        let session = read("{\"working_memory\":[4],\"unheard_of\":1}").unwrap();
        let expected = Session { working_memory: vec![RecordId(4)], ..Session::default() };
        assert_eq!(session, expected);
        read("7").unwrap_err();
    }
}
