//! Working state of agents: one JSON object per named agent, rendered into its prompts.
//!
//! Knows nothing of models, tools or files. A change is on disk when the call that made it
//! returns.

pub mod render;
pub mod reply;

use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::base::shortage::Shortage;
use crate::memory::state::render::{Rendered, TooLong};
use crate::memory::state::reply::BadMemoryReply;
use crate::store::state::AgentState;
use crate::store::{Store, StoreError};

/// Most bytes of one agent's state as JSON.
pub const MEMORY_BYTES_MAX: usize = 64 << 10;
/// Agents with a memory at once; an agent goes when its memory is set to `{}`.
pub const AGENTS_MAX: usize = 1_024;

/// Errors of working state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the memory has {bytes} bytes as JSON, accepted are at most {MEMORY_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error(
        "{AGENTS_MAX} agents have a memory, which is the most accepted; set one that is no longer \
         needed to {{}}"
    )]
    TooManyAgents,
    #[error(transparent)]
    Reply(#[from] BadMemoryReply),
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// A fault of the store, not of the caller.
    #[error("the memory of agent {agent:?} is no JSON object: {reason}")]
    Unreadable { agent: String, reason: String },
}

impl Shortage for StateError {
    fn shortage(&self) -> Option<String> {
        if let Self::Store(error) = self { error.shortage() } else { None }
    }
}

/// States by agent.
#[derive(Debug)]
pub struct AgentStates {
    store: Store,
    /// Held from reading a memory to writing it back.
    writing: Mutex<()>,
}

impl AgentStates {
    pub fn new(store: Store) -> Self {
        Self { store, writing: Mutex::new(()) }
    }

    /// The agent's memory; empty before its first one.
    pub fn get(&self, agent: &str) -> Result<Map<String, Value>, StateError> {
        let Some(AgentState { memory }) = self.store.agent_state(agent)? else {
            return Ok(Map::new());
        };
        serde_json::from_str(&memory).map_err(|error| StateError::Unreadable {
            agent: agent.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Names of the agents that have one.
    pub fn agents(&self) -> Result<Vec<String>, StateError> {
        Ok(self.store.agents()?)
    }

    /// Replaces the agent's memory; an empty one removes it.
    pub fn set(&self, agent: &str, memory: &Map<String, Value>) -> Result<(), StateError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.put(agent, memory)
    }

    /// Merges `changes` into the agent's memory and returns the whole: objects are merged key
    /// by key, anything else, null included, replaces the old value.
    pub fn merge(
        &self,
        agent: &str,
        changes: Map<String, Value>,
    ) -> Result<Map<String, Value>, StateError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut memory = self.get(agent)?;
        merge(&mut memory, changes);
        self.put(agent, &memory)?;
        Ok(memory)
    }

    /// Replaces the agent's memory by the `memory` block of a model's reply.
    pub fn update_from_reply(
        &self,
        agent: &str,
        reply: &str,
    ) -> Result<Map<String, Value>, StateError> {
        let memory = reply::memory_of(reply)?;
        self.set(agent, &memory)?;
        Ok(memory)
    }

    /// Renders a template with the agent's memory; missing names are logged.
    pub fn render(
        &self,
        agent: &str,
        template: &str,
        variables: &Map<String, Value>,
    ) -> Result<Rendered, StateError> {
        let rendered = render::render(template, &self.get(agent)?, variables)?;
        for missing in &rendered.missing {
            log::warn!(agent, missing; "a template names a value that is not there");
        }
        Ok(rendered)
    }

    fn put(&self, agent: &str, memory: &Map<String, Value>) -> Result<(), StateError> {
        if memory.is_empty() {
            return Ok(self.store.remove_agent_state(agent)?);
        }
        let memory = Value::Object(memory.clone()).to_string();
        if memory.len() > MEMORY_BYTES_MAX {
            return Err(StateError::TooLarge { bytes: memory.len() });
        }
        let is_new = self.store.agent_state(agent).is_ok_and(|found| found.is_none());
        if is_new && self.store.agent_state_count()? >= AGENTS_MAX {
            return Err(StateError::TooManyAgents);
        }
        Ok(self.store.put_agent_state(agent, &AgentState { memory })?)
    }
}

/// Recursive, to the depth that JSON is parsed: 128 levels.
fn merge(memory: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (key, change) in changes {
        match (memory.get_mut(&key), change) {
            (Some(Value::Object(inner)), Value::Object(changes)) => merge(inner, changes),
            (Some(value), change) => *value = change,
            (None, change) => {
                memory.insert(key, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{EmbeddingSpace, Options};
    use proptest::prelude::{Just, ProptestConfig, Strategy, prop, prop_oneof, proptest};
    use serde_json::json;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn open(dir: &Path) -> AgentStates {
        let (model, fingerprint) = ("m".to_owned(), "f".to_owned());
        let space = EmbeddingSpace { model, fingerprint, dimension: 2 };
        AgentStates::new(Store::open(&Options::at(dir.to_owned()), &space).unwrap())
    }

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("no object: {value}") };
        object
    }

    #[test]
    fn key_order_and_the_spelling_of_numbers_survive_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"z":1.0,"a":1,"m":[{"y":true,"b":null}]}"#;
        open(dir.path()).set("robot", &serde_json::from_str(text).unwrap()).unwrap();
        let state = open(dir.path());
        assert_eq!(Value::Object(state.get("robot").unwrap()).to_string(), text);
        assert_eq!(state.get("another").unwrap(), Map::new());
        let rendered = state.render("robot", "$memory[z] $memory[a]", &Map::new()).unwrap();
        assert_eq!(rendered.text, "1.0 1");
    }

    #[test]
    fn numbers_come_back_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        // Of a generator of its own (Knuth's MMIX): as many exponents as there are.
        let mut bits: u64 = 1;
        let mut next = || {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits)
        };
        let numbers: Vec<f64> =
            std::iter::repeat_with(&mut next).filter(|it| it.is_finite()).take(500).collect();
        let text = format!("{{\"n\":{numbers:?}}}");
        open(dir.path()).set("robot", &serde_json::from_str(&text).unwrap()).unwrap();
        let state = open(dir.path()).get("robot").unwrap();
        let kept = state["n"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap().to_bits());
        let given = numbers.iter().map(|it| it.to_bits());
        let lost = kept.zip(given).filter(|(kept, given)| kept != given).count();
        assert_eq!(lost, 0, "of {}", numbers.len());
    }

    #[test]
    fn merging_goes_into_objects_and_replaces_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let state = open(dir.path());
        let before =
            json!({"task": {"goal": "restroom", "steps": [1, 2]}, "seen": {"a": 1}, "x": 1});
        state.set("", &object(before)).unwrap();
        let changes =
            json!({"task": {"steps": [3], "new": {}}, "seen": null, "x": {"y": 2}, "z": 0});
        let merged = state.merge("", object(changes)).unwrap();
        let expected = json!({
            "task": {"goal": "restroom", "steps": [3], "new": {}}, "seen": null, "x": {"y": 2}, "z": 0
        });
        assert_eq!(Value::Object(merged.clone()).to_string(), expected.to_string());
        assert_eq!(state.get("").unwrap(), merged);
    }

    #[test]
    fn a_reply_replaces_the_memory_and_a_bad_one_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let state = open(dir.path());
        state.update_from_reply("a", r#"{"memory": {"x": 1, "y": 2}}"#).unwrap();
        let memory = state.update_from_reply("a", r#"{"memory": {"x": 3}}"#).unwrap();
        assert_eq!(memory, object(json!({"x": 3})));
        let error = state.update_from_reply("a", "{}").unwrap_err();
        assert!(matches!(error, StateError::Reply(BadMemoryReply::NoMemory(_))), "{error}");
        assert_eq!(state.get("a").unwrap(), memory);
    }

    #[test]
    fn memories_too_large_or_too_many_are_refused_and_an_empty_one_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let state = open(dir.path());
        let large = object(json!({"x": "y".repeat(MEMORY_BYTES_MAX)}));
        let error = state.set("a", &large).unwrap_err();
        assert!(matches!(error, StateError::TooLarge { bytes } if bytes > MEMORY_BYTES_MAX));
        let small = object(json!({"x": 1}));
        for agent in 0..AGENTS_MAX {
            state.set(&agent.to_string(), &small).unwrap();
        }
        let error = state.set("one more", &small).unwrap_err();
        assert!(matches!(error, StateError::TooManyAgents), "{error}");
        state.set("7", &object(json!({"x": 2}))).unwrap();
        state.set("7", &Map::new()).unwrap();
        state.set("one more", &small).unwrap();
    }

    #[derive(Debug, Clone)]
    enum Operation {
        Set(usize, Value),
        Merge(usize, Value),
        Reopen,
    }

    fn calls() -> impl Strategy<Value = Vec<Operation>> {
        let memory = || {
            let leaf = (0..3_u8).prop_map(|n| json!(n));
            let inner = prop::collection::btree_map("[ab]", leaf.clone(), 0..3);
            let value = prop_oneof![leaf, inner.prop_map(|map| json!(map))];
            prop::collection::btree_map("[ab]", value, 0..3).prop_map(|map| json!(map))
        };
        let call = prop_oneof![
            2 => (0..3_usize, memory()).prop_map(|(agent, it)| Operation::Set(agent, it)),
            3 => (0..3_usize, memory()).prop_map(|(agent, it)| Operation::Merge(agent, it)),
            1 => Just(Operation::Reopen),
        ];
        prop::collection::vec(call, 1..20)
    }

    /// Merging as flat paths do it: an object's leaves are laid one by one.
    fn lay(flat: &mut BTreeMap<Vec<String>, Value>, path: &[String], value: &Value) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                // Into an object, or in the place of something else.
                flat.remove(path);
                for (key, value) in members {
                    lay(flat, &[path, std::slice::from_ref(key)].concat(), value);
                }
            }
            Value::Object(_) if flat.keys().any(|key| key.starts_with(path)) => {
                if flat.get(path).is_some_and(|it| !it.is_object()) {
                    flat.insert(path.to_vec(), json!({}));
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => {
                flat.retain(|key, _| !key.starts_with(path));
                flat.insert(path.to_vec(), value.clone());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn the_states_are_what_maps_would_be(calls in calls()) {
            let dir = tempfile::tempdir().unwrap();
            let mut state = open(dir.path());
            let mut model: BTreeMap<usize, BTreeMap<Vec<String>, Value>> = BTreeMap::new();
            for call in calls {
                match call {
                    Operation::Set(agent, memory) => {
                        state.set(&agent.to_string(), &object(memory.clone())).unwrap();
                        let flat = model.entry(agent).or_default();
                        flat.clear();
                        memory.as_object().unwrap().iter().for_each(|(key, value)| {
                            lay(flat, std::slice::from_ref(key), value);
                        });
                    }
                    Operation::Merge(agent, memory) => {
                        state.merge(&agent.to_string(), object(memory.clone())).unwrap();
                        let flat = model.entry(agent).or_default();
                        memory.as_object().unwrap().iter().for_each(|(key, value)| {
                            lay(flat, std::slice::from_ref(key), value);
                        });
                    }
                    Operation::Reopen => {
                        drop(state);
                        state = open(dir.path());
                    }
                }
                for agent in 0..3 {
                    let mut found = BTreeMap::new();
                    for (key, value) in state.get(&agent.to_string()).unwrap() {
                        lay(&mut found, &[key], &value);
                    }
                    assert_eq!(&found, model.get(&agent).unwrap_or(&BTreeMap::new()));
                }
            }
        }
    }
}
