//! Domains of the memory: what the robot saw (`episodic`), what an agent wants
//! to keep (`notes`), and what it carries from step to step (`state`).
//!
//! The domains do not know each other.

pub mod episodic;
pub mod notes;
pub mod state;
