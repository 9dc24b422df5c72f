//! Types shared by all layers: ids, time, caller, caption, detection, embedding, pose, area, stop,
//! notify, backoff, shortage, tally, calendar, histogram.
//!
//! Knows no other module, no I/O, and of the outside world only the clock and the priority and
//! limits of a thread or process.

pub mod area;
pub mod backoff;
pub mod calendar;
pub mod caller;
pub mod caption;
pub mod detection;
pub mod embedding;
pub mod failpoint;
pub mod frame;
pub mod histogram;
pub mod notify;
pub mod panic;
pub mod picture;
pub mod plain;
pub mod pose;
pub mod priority;
pub mod score;
pub mod shortage;
pub mod step_back;
pub mod stop;
pub mod tally;
pub mod time;
pub mod wording;

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of a record in the memory: starts at 1, grows in the order in which
/// records are stored, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId(pub u64);

/// Number of a frame that was accepted for captioning: starts at 1, grows in
/// the order of acceptance, never reused. It names the frame's image on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameTicket(pub u64);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for FrameTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
