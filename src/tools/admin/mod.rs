//! Administration: what the memory holds, and whether it is well.

pub(super) mod health;
pub(super) mod memory_stats;
