//! Live cameras: frames as they arrive, from a pipe or from a command that writes one.
//!
//! [`splitter`] finds the images in the stream, [`located`] those of a child that knows when and
//! where they were taken; [`command`] runs what writes it. Two threads a
//! camera: one reads, stamps and restarts the command, the other selects the sharpest of each
//! window; neither waits for whoever takes the frames, and what does not fit is dropped, the
//! oldest first, and counted. Knows nothing of what becomes of a frame.

pub mod command;
pub(in crate::capture) mod located;
mod mailbox;
pub mod splitter;

use std::fmt;
use std::io::{self, BufReader, Read};
use std::process::ChildStdout;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use log::{info, warn};

use crate::base::backoff::Backoff;
use crate::base::picture::{self, ImageLimits};
use crate::base::stop::Stop;
use crate::base::time::{Clock, Timestamp};
use crate::capture::live::command::{CommandRun, Running, SourceCommand};
use crate::capture::live::located::Said;
use crate::capture::live::mailbox::{Mailbox, Taken};
use crate::capture::live::splitter::ImageSplitter;
use crate::capture::recording::LocatedPose;
use crate::capture::sharpness::Quality;
use crate::capture::window::{Selection, SharpestOfWindow};

/// Bytes read at a time.
const READ_BYTES: usize = 64 << 10;
/// Frames that wait to be compared: half a second at 30 a second.
const UNCOMPARED_MAX: usize = 16;
/// Selected frames that wait to be taken: half a second of all where none is selected among.
const SELECTED_MAX: usize = 32;
/// Bytes of either.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// How long a frame waits for poses that are newer than it: at 10 a second there are three.
const SETTLE: Duration = Duration::from_millis(300);
/// How often a quiet camera is looked after.
const LOOK: Duration = Duration::from_secs(1);
/// Pause before a restart; doubled with every start without an image, up to the longest.
const RESTART_PAUSE_MIN: Duration = Duration::from_secs(1);
const RESTART_PAUSE_MAX: Duration = Duration::from_secs(30);

/// Where a camera's stream comes from.
pub enum Origin {
    /// Once; the camera ends with it.
    Pipe(Box<dyn Read + Send>),
    /// As often as it ends.
    Command(SourceCommand),
    /// The same of a child of this program, which says when and where each frame was taken.
    Located(SourceCommand),
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipe(_) => f.write_str("Pipe"),
            Self::Command(command) => f.debug_tuple("Command").field(command).finish(),
            Self::Located(command) => f.debug_tuple("Located").field(command).finish(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Of frames within so long only the sharpest is selected; zero selects all.
    pub window: Duration,
    /// After so long without an image a command is ended and started anew; zero waits for ever.
    pub stalled_after: Duration,
    pub limits: ImageLimits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            window: Duration::from_millis(500),
            stalled_after: Duration::from_secs(30),
            limits: ImageLimits::default(),
        }
    }
}

/// Image of a live camera.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveFrame {
    /// What its source says; where that says nothing, when its last byte came. Strictly growing
    /// while the clock is.
    pub taken_at: Timestamp,
    /// As it was encoded; it may be damaged.
    pub image: Vec<u8>,
    /// Where its source says so.
    pub located: Option<LocatedPose>,
}

/// What waiting for a frame gave.
#[derive(Debug, PartialEq)]
pub enum NextFrame {
    Frame {
        frame: LiveFrame,
        /// Selected frames that were dropped before this one, since the one given out last.
        lost: u64,
    },
    /// Not yet.
    Nothing,
    /// Nothing more comes.
    Ended,
}

/// What became of a camera so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveStatus {
    /// Whole images that came.
    pub frames: u64,
    /// Not the sharpest of their window.
    pub passed_over: u64,
    /// Dropped before they were compared, as more came than can be.
    pub uncompared: u64,
    /// Selected, and dropped as nobody took them in time.
    pub lost: u64,
    /// Images that were cut or damaged, by the stream alone.
    pub faults: u64,
    pub last_fault: Option<String>,
    /// Frames of which a source that knows poses knew none, and why the last of them.
    pub unlocated: u64,
    pub unlocated_reason: Option<String>,
    /// Starts of the command after the first.
    pub restarts: u64,
    /// Why there is no stream at the moment.
    pub down: Option<String>,
}

/// Live camera. Dropping it ends the command and its threads; a thread that waits for a pipe ends
/// with the pipe.
#[derive(Debug)]
pub struct LiveSource {
    selected: Mailbox,
    shared: Arc<Shared>,
    stop: Stop,
    running: Running,
    clock: Arc<dyn Clock>,
    reader: Option<JoinHandle<()>>,
    selector: Option<JoinHandle<()>>,
    is_command: bool,
}

#[derive(Debug)]
struct Shared {
    name: String,
    status: Mutex<LiveStatus>,
    /// Selected frames that were dropped and not told yet.
    untold: Mutex<u64>,
    last_image: Mutex<Instant>,
}

impl Shared {
    fn lose(&self, count: u64) {
        lock(&self.status).lost += count;
        *lock(&self.untold) += count;
    }
}

impl LiveSource {
    /// Starts to read; `name` is for the log and the threads.
    pub fn start(
        name: &str,
        origin: Origin,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> io::Result<Self> {
        let (compared, selected) = (
            Mailbox::new(UNCOMPARED_MAX, WAITING_BYTES_MAX),
            Mailbox::new(SELECTED_MAX, WAITING_BYTES_MAX),
        );
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            status: Mutex::default(),
            untold: Mutex::default(),
            last_image: Mutex::new(clock.tick()),
        });
        let (stop, running) = (Stop::default(), Running::default());
        let is_command = !matches!(origin, Origin::Pipe(_));
        let reader = Reader {
            images: compared.clone(),
            shared: Arc::clone(&shared),
            clock: Arc::clone(&clock),
            stop: stop.clone(),
            running: running.clone(),
            bytes_max: options.limits.bytes_max,
            is_all_selected: options.window.is_zero(),
            newest: Timestamp::EPOCH,
            has_image: false,
        };
        let selector = Selector {
            images: compared,
            selected: selected.clone(),
            shared: Arc::clone(&shared),
            clock: Arc::clone(&clock),
            running: running.clone(),
            options,
            is_command,
        };
        let mut source = Self {
            selected,
            shared,
            stop,
            running,
            clock,
            reader: None,
            selector: None,
            is_command,
        };
        let read = Builder::new().name("camera-read".to_owned()).spawn(move || reader.run(origin));
        source.reader = Some(read?);
        let select = Builder::new().name("camera-select".to_owned()).spawn(move || selector.run());
        source.selector = Some(select?);
        Ok(source)
    }

    /// The oldest selected frame, old enough that poses of its time have come; waits for one as
    /// long as `patience`, and a little longer for its poses.
    pub fn next_frame(&self, patience: Duration) -> NextFrame {
        match self.selected.take(patience) {
            Taken::Nothing => NextFrame::Nothing,
            Taken::Closed => NextFrame::Ended,
            Taken::Frame(frame) => {
                let age = self.clock.now().since(frame.taken_at);
                // The stop is for the threads; whoever takes frames stops asking.
                self.stop.sleep(SETTLE.saturating_sub(age));
                let lost = std::mem::take(&mut *lock(&self.shared.untold));
                NextFrame::Frame { frame, lost }
            }
        }
    }

    /// Gives a frame back that could not be taken in now. It is the oldest: where newer ones need
    /// its room it is dropped.
    pub fn give_back(&self, frame: LiveFrame, lost: u64) {
        let is_dropped = !self.selected.put_back(frame);
        *lock(&self.shared.untold) += lost;
        self.shared.lose(u64::from(is_dropped));
    }

    /// Ends the command; no frame comes after it.
    pub fn end(&self) {
        self.stop.ask();
        self.running.kill();
        self.selected.close();
    }

    pub fn status(&self) -> LiveStatus {
        lock(&self.shared.status).clone()
    }
}

impl Drop for LiveSource {
    fn drop(&mut self) {
        self.end();
        if !self.is_command {
            return;
        }
        for thread in [self.reader.take(), self.selector.take()].into_iter().flatten() {
            if thread.join().is_err() {
                log::error!("a thread of camera {:?} panicked", self.shared.name);
            }
        }
    }
}

/// Thread that reads the stream.
struct Reader {
    images: Mailbox,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    stop: Stop,
    running: Running,
    bytes_max: usize,
    /// Without a window there is nothing to compare with.
    is_all_selected: bool,
    newest: Timestamp,
    /// Whether an image came since the command was started.
    has_image: bool,
}

impl Reader {
    fn run(mut self, origin: Origin) {
        match origin {
            Origin::Pipe(pipe) => {
                let end = self.read(pipe);
                self.note_down(end);
            }
            Origin::Command(command) => self.run_command(&command, Self::read),
            Origin::Located(command) => self.run_command(&command, Self::read_located),
        }
        self.images.close();
    }

    fn run_command(
        &mut self,
        command: &SourceCommand,
        read: impl Fn(&mut Self, ChildStdout) -> String,
    ) {
        let mut backoff = Backoff::new(RESTART_PAUSE_MIN, RESTART_PAUSE_MAX);
        loop {
            *lock(&self.shared.last_image) = self.clock.tick();
            self.has_image = false;
            let how = match CommandRun::start(command, &self.running) {
                // Asked to stop before there was anything to kill.
                Ok((run, _)) if self.stop.is_asked() => return drop(run),
                Ok((run, output)) => {
                    let end = read(self, output);
                    let how = run.end();
                    if end.is_empty() { how } else { format!("{end}; {how}") }
                }
                Err(error) => format!("{error}: {}", command.program.display()),
            };
            if self.has_image {
                backoff.reset();
            }
            let pause = backoff.next_pause();
            if !self.stop.is_asked() {
                let (source, seconds) = (self.shared.name.as_str(), pause.as_secs());
                warn!(source, seconds; "the camera's command ended and is started again: {how}");
                self.note_down(how);
            }
            if self.stop.sleep(pause) {
                return;
            }
            lock(&self.shared.status).restarts += 1;
        }
    }

    /// Reads to the end; what is to be said of it.
    fn read(&mut self, mut stream: impl Read) -> String {
        let mut splitter = ImageSplitter::new(self.bytes_max);
        let mut bytes = vec![0; READ_BYTES];
        let mut is_said = false;
        let end = loop {
            let read = match stream.read(&mut bytes) {
                Ok(0) => break String::new(),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break error.to_string(),
            };
            splitter.push(bytes.get(..read).unwrap_or_default());
            while let Some(image) = splitter.next_image() {
                match image {
                    Ok(image) => self.take_arrived(image),
                    Err(bad) => self.note_fault(bad.to_string()),
                }
            }
            if !is_said && !self.has_image && splitter.junk() >= self.bytes_max as u64 {
                is_said = true;
                self.note_fault(format!(
                    "{} bytes came and no JPEG, PNG or WebP among them; accepted are such files \
                     one after the other, or as parts of multipart/x-mixed-replace",
                    splitter.junk()
                ));
            }
        };
        if let Some(bad) = splitter.finish() {
            self.note_fault(bad.to_string());
        }
        end
    }

    /// The same of a stream that says more of its frames than they do.
    fn read_located(&mut self, stream: ChildStdout) -> String {
        let mut stream = BufReader::new(stream);
        loop {
            match located::read(&mut stream, self.bytes_max) {
                Ok(None) => return String::new(),
                Ok(Some(Said::Frame(frame))) => self.take(frame),
                Ok(Some(Said::Unlocated(frame, reason))) => {
                    let mut status = lock(&self.shared.status);
                    status.unlocated += 1;
                    status.unlocated_reason = Some(reason);
                    drop(status);
                    self.take(frame);
                }
                Ok(Some(Said::Fault(fault))) => self.note_fault(fault),
                Err(error) => return error.to_string(),
            }
        }
    }

    fn take_arrived(&mut self, image: Vec<u8>) {
        const STEP: Duration = Duration::from_micros(1);
        let now = self.clock.now();
        // Two of one microsecond; a clock that was set back stays back.
        let is_tie = now <= self.newest && self.newest.since(now) < Duration::from_millis(1);
        let taken_at = if is_tie { self.newest.plus(STEP) } else { now };
        self.newest = taken_at;
        self.take(LiveFrame { taken_at, image, located: None });
    }

    fn take(&mut self, frame: LiveFrame) {
        *lock(&self.shared.last_image) = self.clock.tick();
        let dropped = self.images.push(frame);
        let mut status = lock(&self.shared.status);
        status.frames += 1;
        status.uncompared += if self.is_all_selected { 0 } else { dropped };
        let was_down = status.down.take().is_some();
        drop(status);
        if self.is_all_selected {
            self.shared.lose(dropped);
        }
        if was_down && !self.has_image {
            info!(source = self.shared.name.as_str(); "the camera is back");
        }
        self.has_image = true;
    }

    fn note_fault(&self, fault: String) {
        let mut status = lock(&self.shared.status);
        status.faults += 1;
        status.last_fault = Some(fault);
    }

    fn note_down(&self, how: String) {
        if !how.is_empty() {
            lock(&self.shared.status).down = Some(how);
        }
    }
}

/// Thread that selects the sharpest of each window and looks after a quiet command.
struct Selector {
    images: Mailbox,
    selected: Mailbox,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    running: Running,
    options: Options,
    is_command: bool,
}

impl Selector {
    fn run(self) {
        let Options { window: length, stalled_after: _, limits } = self.options;
        let mut window = SharpestOfWindow::new(length);
        let look = if length.is_zero() { LOOK } else { length.min(LOOK) };
        let mut began = None;
        loop {
            let is_over = |began: Option<Instant>| {
                began.is_some_and(|began| self.clock.tick().duration_since(began) >= length)
            };
            match self.images.take(look) {
                Taken::Frame(frame) if length.is_zero() => self.select(frame),
                Taken::Frame(frame) => {
                    let chosen = window.offer(frame.taken_at, frame, |it| sharpness(it, limits));
                    match chosen {
                        Selection::Held => began = Some(self.clock.tick()),
                        Selection::PassedOver(_) => lock(&self.shared.status).passed_over += 1,
                        Selection::Selected(frame) => {
                            began = Some(self.clock.tick());
                            self.select(frame);
                        }
                    }
                }
                Taken::Nothing if is_over(began) => {
                    began = None;
                    window.finish().into_iter().for_each(|frame| self.select(frame));
                }
                Taken::Nothing => {}
                Taken::Closed => break,
            }
            self.look_after();
        }
        window.finish().into_iter().for_each(|frame| self.select(frame));
        self.selected.close();
    }

    fn select(&self, frame: LiveFrame) {
        self.shared.lose(self.selected.push(frame));
    }

    /// Ends a command that gives no images, which starts it anew.
    fn look_after(&self) {
        let after = self.options.stalled_after;
        if !self.is_command || after.is_zero() {
            return;
        }
        let mut last = lock(&self.shared.last_image);
        if self.clock.tick().duration_since(*last) >= after {
            *last = self.clock.tick();
            drop(last);
            let (source, seconds) = (self.shared.name.as_str(), after.as_secs());
            warn!(source, seconds; "no image came from the camera's command, it is ended");
            self.running.kill();
        }
    }
}

/// Below that of any picture where it cannot be decoded.
fn sharpness(frame: &LiveFrame, limits: ImageLimits) -> f32 {
    picture::decode(&frame.image, limits).map_or(-1.0, |it| Quality::of(&it).sharpness)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counters: nothing panics between two changes.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
