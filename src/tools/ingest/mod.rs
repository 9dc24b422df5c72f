//! Ingestion: observations go in, and what became of them.

pub(super) mod ingest_status;
pub(super) mod observe;
