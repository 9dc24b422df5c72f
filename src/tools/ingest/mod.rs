//! Ingestion: observations go in, and what became of them.

pub(crate) mod ingest_status;
pub(crate) mod observe;
pub(crate) mod observe_pose;
