//! The agents' states on disk: one value a named agent.

use bincode::{Decode, Encode};

use crate::store::Store;
use crate::store::StoreError;
use crate::store::keys;
use crate::store::records;

/// State of an agent between steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentState {
    /// A JSON object as text, so that its keys keep their order.
    pub memory: String,
}

/// Under [`keys::agent_state`].
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct AgentStateOnDisk {
    memory: String,
}

impl Store {
    /// The agent's state; `None` where it has none.
    pub fn agent_state(&self, agent: &str) -> Result<Option<AgentState>, StoreError> {
        let on_disk = self.0.db.read::<AgentStateOnDisk>(&keys::agent_state(agent))?;
        Ok(on_disk.map(|AgentStateOnDisk { memory }| AgentState { memory }))
    }

    /// Names of the agents that have a state.
    pub fn agents(&self) -> Result<Vec<String>, StoreError> {
        let mut agents = Vec::new();
        for entry in self.0.db.entries(keys::AGENT_STATES) {
            let (key, _sealed) = entry?;
            agents.extend(keys::agent_name(&key).map(str::to_owned));
        }
        Ok(agents)
    }

    /// Agents that have a state.
    pub fn agent_state_count(&self) -> Result<usize, StoreError> {
        self.0.db.count(keys::AGENT_STATES)
    }

    /// Replaces the agent's state. Durable when it returns.
    pub fn put_agent_state(&self, agent: &str, state: &AgentState) -> Result<(), StoreError> {
        let AgentState { memory } = state;
        let key = keys::agent_state(agent);
        let sealed = records::encode(&key, &AgentStateOnDisk { memory: memory.clone() });
        self.change(|_state, change| {
            change.batch.insert(key.as_slice(), sealed);
            Ok(())
        })
    }

    /// Removes the agent's state, if there is one. Durable when it returns.
    pub fn remove_agent_state(&self, agent: &str) -> Result<(), StoreError> {
        self.change(|_state, change| {
            change.batch.remove(keys::agent_state(agent));
            Ok(())
        })
    }
}
