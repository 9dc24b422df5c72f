//! Domains of the memory: what the robot saw (`episodic`), what an agent wants to
//! keep (`notes`), what users rated up (`memos`), and what an agent carries from
//! step to step (`state`).
//!
//! The domains do not know each other.

pub mod episodic;
pub mod memos;
pub mod notes;
pub mod state;
