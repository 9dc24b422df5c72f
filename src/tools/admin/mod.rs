//! Administration: what the memory holds, and whether it is well.

pub(crate) mod health;
pub(crate) mod memory_stats;
pub(crate) mod session_delete;
