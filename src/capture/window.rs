//! Of each short window the sharpest frame of a source: a camera that moves blurs some of them.
//!
//! [`SharpestOfWindow`] selects and is pure; [`SharpestFrames`] is a [`FrameSource`] that selects
//! among the frames of another one. Frames that come seldom pass without a look at their pixels.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use crate::base::picture::{self, ImageLimits};
use crate::base::time::Timestamp;
use crate::capture::sharpness::Quality;
use crate::capture::{FrameFault, FrameSource, SourceFrame};

/// Selector for the frames of one source, which come in the order of time. A window starts with
/// the first frame after the window before. Holds one frame.
#[derive(Debug)]
pub struct SharpestOfWindow<T> {
    length: Duration,
    held: Option<Held<T>>,
}

#[derive(Debug)]
struct Held<T> {
    started_at: Timestamp,
    frame: T,
    /// Once there is another one to compare with.
    sharpness: Option<f32>,
}

/// What becomes of the frames so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Selection<T> {
    /// The first frame of all: it is held.
    Held,
    /// The sharpest of a window that is over.
    Selected(T),
    /// Not the sharpest of its window.
    PassedOver(T),
}

impl<T> SharpestOfWindow<T> {
    pub fn new(length: Duration) -> Self {
        Self { length, held: None }
    }

    /// Takes the next frame. Of two that are equally sharp the first is selected; `sharpness` is
    /// asked of those alone that share a window.
    pub fn offer(
        &mut self,
        taken_at: Timestamp,
        frame: T,
        sharpness: impl Fn(&T) -> f32,
    ) -> Selection<T> {
        let Some(held) = self.held.take() else {
            self.held = Some(Held { started_at: taken_at, frame, sharpness: None });
            return Selection::Held;
        };
        if taken_at.since(held.started_at) >= self.length {
            self.held = Some(Held { started_at: taken_at, frame, sharpness: None });
            return Selection::Selected(held.frame);
        }
        let before = held.sharpness.unwrap_or_else(|| sharpness(&held.frame));
        let now = sharpness(&frame);
        let started_at = held.started_at;
        let (kept, sharpness, other) =
            if now > before { (frame, now, held.frame) } else { (held.frame, before, frame) };
        self.held = Some(Held { started_at, frame: kept, sharpness: Some(sharpness) });
        Selection::PassedOver(other)
    }

    /// Ends the window.
    pub fn finish(&mut self) -> Option<T> {
        self.held.take().map(|it| it.frame)
    }
}

/// Sources that are selected from at once; one more ends the window of another early.
const SOURCES_MAX: usize = 64;

/// The frames of another source, of each window and source the sharpest. One with a caption is passed on in
/// any case; one that cannot be decoded, where no other is in its window.
pub struct SharpestFrames {
    source: Box<dyn FrameSource>,
    length: Duration,
    limits: ImageLimits,
    windows: BTreeMap<String, SharpestOfWindow<SourceFrame>>,
    ready: VecDeque<SourceFrame>,
    /// The newest frame that was there before, of each source.
    known: BTreeMap<String, Timestamp>,
    passed_over: u64,
}

impl fmt::Debug for SharpestFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, passed_over, .. } = self;
        f.debug_struct("SharpestFrames")
            .field("length", length)
            .field("passed_over", passed_over)
            .finish_non_exhaustive()
    }
}

impl SharpestFrames {
    /// A length of zero passes on every frame.
    pub fn new(source: Box<dyn FrameSource>, length: Duration, limits: ImageLimits) -> Self {
        let (windows, ready, known) = (BTreeMap::new(), VecDeque::new(), BTreeMap::new());
        Self { source, length, limits, windows, ready, known, passed_over: 0 }
    }

    /// Frames that were not the sharpest of their window.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    fn take(&mut self, frame: SourceFrame) {
        let name = frame.meta.source.as_str();
        if frame.caption.is_some() {
            self.ready.extend(self.windows.remove(name).and_then(|mut it| it.finish()));
            self.ready.push_back(frame);
            return;
        }
        // Of the window that the newest known one was chosen from.
        if self.known.get(name).is_some_and(|it| frame.meta.taken_at.since(*it) < self.length) {
            self.passed_over += 1;
            return;
        }
        if !self.windows.contains_key(name) && self.windows.len() >= SOURCES_MAX {
            self.ready.extend(self.windows.pop_first().and_then(|(_, mut it)| it.finish()));
        }
        let (length, limits) = (self.length, self.limits);
        let window =
            self.windows.entry(name.to_owned()).or_insert_with(|| SharpestOfWindow::new(length));
        match window.offer(frame.meta.taken_at, frame, |frame| sharpness(frame, limits)) {
            Selection::Held => {}
            Selection::Selected(frame) => self.ready.push_back(frame),
            Selection::PassedOver(_) => self.passed_over += 1,
        }
    }
}

/// Below that of any picture where it cannot be decoded.
fn sharpness(frame: &SourceFrame, limits: ImageLimits) -> f32 {
    picture::decode(&frame.image, limits).map_or(-1.0, |it| Quality::of(&it).sharpness)
}

impl FrameSource for SharpestFrames {
    fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(Ok(frame));
            }
            match self.source.next_frame() {
                Some(Ok(frame)) => self.take(frame),
                Some(Err(fault)) => return Some(Err(fault)),
                None => {
                    let (_, mut window) = self.windows.pop_first()?;
                    self.ready.extend(window.finish());
                }
            }
        }
    }

    /// At most so many: it is not known yet which are passed over.
    fn remaining(&self) -> Option<usize> {
        Some(self.source.remaining()? + self.windows.len() + self.ready.len())
    }

    fn skip_known(&mut self, newest: &BTreeMap<String, Timestamp>) {
        self.known.clone_from(newest);
        self.source.skip_known(newest);
    }

    fn known(&self) -> usize {
        self.source.known()
    }

    fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    use image::imageops::blur;
    use image::{ImageFormat, Rgb, RgbImage};
    use proptest::prelude::*;

    use crate::base::caption::Caption;
    use crate::base::frame::FrameMeta;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(1_000.0 + seconds).unwrap()
    }

    /// What is selected of frames at these times with this sharpness, each named by its place.
    fn select(frames: &[(f64, f32)]) -> Vec<usize> {
        let mut selector = SharpestOfWindow::new(Duration::from_millis(500));
        let mut selected = Vec::new();
        for (place, (seconds, _)) in frames.iter().enumerate() {
            let sharpness = |it: &usize| frames[*it].1;
            if let Selection::Selected(frame) = selector.offer(at(*seconds), place, sharpness) {
                selected.push(frame);
            }
        }
        selected.extend(selector.finish());
        selected
    }

    #[test]
    fn the_sharpest_of_each_window_is_selected() {
        let frames = [(0.0, 1.0), (0.2, 3.0), (0.49, 2.0), (0.5, 1.0), (0.9, 1.0), (1.1, 9.0)];
        assert_eq!(select(&frames), [1, 3, 5]);
        assert_eq!(select(&[]), [0; 0]);
    }

    proptest! {
        /// Held against windows that are made of all frames at once.
        #[test]
        fn windows_are_those_of_a_plain_grouping(
            frames in prop::collection::vec((0.01..0.4_f64, 0..5_u8), 0..60),
        ) {
            let mut time = 0.0;
            let frames: Vec<(f64, f32)> = frames
                .into_iter()
                .map(|(pause, sharpness)| {
                    time += pause;
                    (time, f32::from(sharpness))
                })
                .collect();
            let mut windows: Vec<Vec<usize>> = Vec::new();
            for (place, (seconds, _)) in frames.iter().enumerate() {
                match windows.last_mut() {
                    Some(window) if at(*seconds).since(at(frames[window[0]].0)) < Duration::from_millis(500) => {
                        window.push(place);
                    }
                    _ => windows.push(vec![place]),
                }
            }
            let best = |window: &Vec<usize>| {
                window.iter().copied().rev().max_by(|a, b| frames[*a].1.total_cmp(&frames[*b].1)).unwrap()
            };
            prop_assert_eq!(select(&frames), windows.iter().map(best).collect::<Vec<_>>());
        }
    }

    /// A list as a source.
    struct Listed(VecDeque<SourceFrame>);

    impl FrameSource for Listed {
        fn next_frame(&mut self) -> Option<Result<SourceFrame, FrameFault>> {
            self.0.pop_front().map(Ok)
        }

        fn remaining(&self) -> Option<usize> {
            Some(self.0.len())
        }

        fn skip_known(&mut self, _: &BTreeMap<String, Timestamp>) {}

        fn known(&self) -> usize {
            0
        }
    }

    fn frame(name: &str, source: &str, seconds: f64, sigma: f32) -> SourceFrame {
        let board = RgbImage::from_fn(64, 64, |x, y| {
            Rgb([if (x / 8 + y / 8) % 2 == 0 { 220 } else { 20 }; 3])
        });
        let mut image = Vec::new();
        let blurred = blur(&board, sigma);
        blurred.write_to(&mut Cursor::new(&mut image), ImageFormat::Png).unwrap();
        let meta = FrameMeta {
            taken_at: at(seconds),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: String::new(),
            source: source.to_owned(),
        };
        SourceFrame { name: name.to_owned(), meta, image, caption: None }
    }

    #[test]
    fn each_source_has_its_windows_and_captions_pass() {
        let captioned = |name: &str, seconds: f64| {
            let text = "a mug".to_owned();
            let caption = Some(Caption { text, confidence: None, detections: Vec::new() });
            SourceFrame { caption, ..frame(name, "left", seconds, 4.0) }
        };
        let broken = SourceFrame { image: b"broken".to_vec(), ..frame("broken", "left", 0.2, 1.0) };
        let frames = vec![
            frame("blurred", "left", 0.0, 4.0),
            frame("other", "right", 0.1, 4.0),
            broken,
            frame("sharp", "left", 0.3, 0.5),
            frame("late", "left", 0.6, 4.0),
            captioned("told", 0.7),
            frame("last", "left", 0.8, 4.0),
        ];
        let limits = ImageLimits::default();
        let of =
            |length| SharpestFrames::new(Box::new(Listed(frames.clone().into())), length, limits);
        let mut sharpest = of(Duration::from_millis(500));
        assert_eq!(sharpest.remaining(), Some(7));
        let mut names = Vec::new();
        while let Some(frame) = sharpest.next_frame() {
            names.push(frame.unwrap().name);
        }
        assert_eq!(names, ["sharp", "late", "told", "last", "other"]);
        assert_eq!((sharpest.passed_over(), sharpest.remaining()), (2, Some(0)));
        let mut all = of(Duration::ZERO);
        assert_eq!(std::iter::from_fn(|| all.next_frame()).count(), 7);
    }
}
