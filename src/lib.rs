//! engram: a robot's memory as one offline process.
//!
//! Frames come in, a local vision-language model captions them, a local text
//! model embeds the captions, and any agent asks over a Unix socket what the
//! robot saw. `ARCHITECTURE.md` explains how the parts fit; the modules below
//! stand in layer order, and each names lower ones only.
//!
//! Stable for users: the wire (MCP tools), the configuration file, the command
//! line, and what lies on disk. The Rust interface is for this binary, its
//! tests and its benchmarks, and changes without notice.

pub mod base;

pub mod language;

pub mod audit;
pub mod capture;
pub mod index;
pub mod model;
pub mod store;

pub mod search;

pub mod memory;

pub mod ingest;

pub mod retrieval;

pub mod tools;

pub mod agent;

pub mod server;

pub mod config;

pub mod daemon;
pub mod page;

pub mod cli;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
