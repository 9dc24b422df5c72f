//! Threads of the live cameras that the settings name.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use log::warn;

use crate::base::frame::FrameMeta;
use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::capture::live::command::SourceCommand;
use crate::capture::live::{LiveSource, Origin};
use crate::config::{CameraOptions, CameraOrigin, Places};
use crate::ingest::Ingest;
use crate::ingest::cameras::Camera;

/// A thread a camera, which takes its frames in.
#[derive(Debug, Default)]
pub(super) struct CameraThreads {
    stop: Stop,
    cameras: Vec<(Arc<Camera>, JoinHandle<()>)>,
}

impl CameraThreads {
    pub(super) fn start(
        options: Vec<CameraOptions>,
        places: &Places,
        ingest: &Arc<Ingest>,
        clock: &Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let mut threads = Self::default();
        for CameraOptions { origin, memory_bytes_max, live, meta } in options {
            let FrameMeta { taken_at: _, pose, frame_id, map_id, source: name } = meta;
            let origin = match origin {
                CameraOrigin::Command(line) => {
                    Origin::Command(SourceCommand::engram(&places.program, &line, memory_bytes_max))
                }
                CameraOrigin::Ros2(ros2) => {
                    Origin::Located(ros2.command(&places.program, memory_bytes_max))
                }
            };
            let source = LiveSource::start(&name, origin, live, Arc::clone(clock))?;
            let camera = Arc::new(Camera { source, name, frame_id, map_id, pose });
            ingest.tell_of(Arc::clone(&camera));
            let (stop, ingest, fed) =
                (threads.stop.clone(), Arc::clone(ingest), Arc::clone(&camera));
            let feed = move || fed.feed(&ingest, &stop);
            let thread = Builder::new().name("camera-ingest".to_owned()).spawn(feed)?;
            threads.cameras.push((camera, thread));
        }
        Ok(threads)
    }

    /// Ends the commands. Frames that were not taken in are gone.
    pub(super) fn stop(self) {
        self.stop.ask();
        for (camera, _) in &self.cameras {
            camera.source.end();
        }
        for (camera, thread) in self.cameras {
            if thread.join().is_err() {
                warn!(source = camera.name.as_str(); "a camera's thread ended in a panic");
            }
        }
    }
}
