//! Tests of the whole: real processes, sockets, disks and models. One binary,
//! because each one links candle.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that does not get what it needs should stop"
)]

mod bench;
mod caption;
mod caption_worker;
mod crash;
mod crash_segments;
mod daemon;
mod fusion;
mod last_seen;
mod models;
mod running;
mod sdk;
mod tools;
mod transcripts;
