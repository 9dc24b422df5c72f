//! Domains of the memory: what the robot saw (`episodic`).
//!
//! The domains do not know each other.

pub mod episodic;
