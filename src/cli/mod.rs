//! (being written)

pub mod client;
pub mod mcp;
