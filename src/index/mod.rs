//! Indexes over the records.

pub mod mention;
