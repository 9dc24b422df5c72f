//! Live cameras of the daemon: their frames go the way of every other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::stop::Stop;
use crate::capture::live::{LiveFrame, LiveSource, LiveStatus, NextFrame};
use crate::capture::recording::LocatedPose;
use crate::ingest::{FrameImage, Ingest, ObserveError};

/// How long a wait for a frame lasts until the stop is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Longest pause of a camera whose frame did not fit into the spool.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// Live camera, and what holds for its frames.
#[derive(Debug)]
pub struct Camera {
    pub source: LiveSource,
    pub name: String,
    pub frame_id: String,
    pub map_id: String,
    /// Of one that does not move.
    pub pose: Option<Pose>,
}

/// What became of a live camera so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CameraState {
    pub source: String,
    pub status: LiveStatus,
}

/// Cameras that are told of.
#[derive(Debug, Default)]
pub(super) struct Cameras(Mutex<Vec<Arc<Camera>>>);

impl Cameras {
    pub(super) fn add(&self, camera: Arc<Camera>) {
        self.lock().push(camera);
    }

    pub(super) fn states(&self) -> Vec<CameraState> {
        let state =
            |it: &Arc<Camera>| CameraState { source: it.name.clone(), status: it.source.status() };
        self.lock().iter().map(state).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Camera>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Camera {
    /// Takes its frames in until the stop. While the spool is full its newest frames wait, and
    /// the oldest of them are dropped and counted.
    pub fn feed(&self, ingest: &Ingest, stop: &Stop) {
        while !stop.is_asked() {
            match self.source.next_frame(LOOK) {
                NextFrame::Nothing => {}
                NextFrame::Ended => return,
                NextFrame::Frame { frame, lost } => {
                    ingest.note_overrun(&self.name, lost);
                    self.take_in(ingest, stop, frame);
                }
            }
        }
    }

    fn take_in(&self, ingest: &Ingest, stop: &Stop, frame: LiveFrame) {
        let (pose, frame_id) = match &frame.located {
            Some(LocatedPose { pose, frame_id }) => (Some(*pose), frame_id),
            None => (self.pose, &self.frame_id),
        };
        let meta = FrameMeta {
            taken_at: frame.taken_at,
            pose,
            frame_id: frame_id.clone(),
            map_id: self.map_id.clone(),
            source: self.name.clone(),
        };
        let observed = ingest.observe_frame(&meta, FrameImage::File(&frame.image));
        if let Err(ObserveError::SpoolFull { .. } | ObserveError::ImagesFull { .. }) = observed {
            let pending = ingest.pending();
            self.source.give_back(frame, 0);
            let mut left = FULL_PAUSE;
            while ingest.pending() >= pending && !left.is_zero() && !stop.sleep(LOOK) {
                left = left.saturating_sub(LOOK);
            }
        }
    }
}
