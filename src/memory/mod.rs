//! Domains of the memory: what the robot saw (`episodic`), and what an agent
//! carries from step to step (`state`).
//!
//! The domains do not know each other.

pub mod episodic;
pub mod state;
