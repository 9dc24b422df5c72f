//! What a live camera gives, drops and says, from pipes and from commands of the shell.

use super::*;
use std::fs;
use std::path::Path;

use crossbeam::channel::{Receiver, Sender, bounded};

use crate::base::time::SystemClock;

const PATIENCE: Duration = Duration::from_mins(1);

/// Pipe that is written to by hand.
struct HandPipe(Receiver<Vec<u8>>);

impl Read for HandPipe {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Ok(bytes) = self.0.recv() else { return Ok(0) };
        to[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

fn jpeg(seed: u64, is_sharp: bool) -> Vec<u8> {
    let picture = image::RgbImage::from_fn(64, 48, |x, y| {
        let step = if is_sharp { 4 } else { 64 };
        let level = if (x / step + y / step).is_multiple_of(2) { 240 } else { 10 };
        image::Rgb([level, u8::try_from(seed).unwrap(), 90])
    });
    let mut file = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 90);
    picture.write_with_encoder(encoder).unwrap();
    file
}

fn options(window: Duration) -> Options {
    Options { window, ..Options::default() }
}

fn by_hand(window: Duration) -> (Sender<Vec<u8>>, LiveSource) {
    let (hand, pipe) = bounded(1_000);
    let pipe = Origin::Pipe(Box::new(HandPipe(pipe)));
    let source = LiveSource::start("test", pipe, options(window), Arc::new(SystemClock)).unwrap();
    (hand, source)
}

fn by_shell(line: &str, options: Options) -> LiveSource {
    let args = vec!["-c".into(), line.into()];
    let command = SourceCommand { program: "/bin/sh".into(), args };
    let clock = Arc::new(SystemClock);
    LiveSource::start("test", Origin::Command(command), options, clock).unwrap()
}

/// The next frame, or `None` at the end.
fn next(source: &LiveSource) -> Option<(LiveFrame, u64)> {
    match source.next_frame(PATIENCE) {
        NextFrame::Frame { frame, lost } => Some((frame, lost)),
        NextFrame::Ended => None,
        NextFrame::Nothing => panic!("nothing came: {:?}", source.status()),
    }
}

fn wait_for(source: &LiveSource, is_so: impl Fn(&LiveStatus) -> bool) {
    let end = SystemClock.tick() + PATIENCE;
    while !is_so(&source.status()) {
        assert!(SystemClock.tick() < end, "{:?}", source.status());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn shown(dir: &Path, name: &str, bytes: &[u8]) -> String {
    fs::write(dir.join(name), bytes).unwrap();
    dir.join(name).display().to_string()
}

#[test]
fn frames_get_the_time_of_their_arrival_in_order() {
    let before = SystemClock.now();
    let (hand, source) = by_hand(Duration::ZERO);
    let images = [jpeg(1, true), jpeg(2, true), jpeg(3, true)];
    hand.send(images.concat()).unwrap();
    drop(hand);
    let frames: Vec<LiveFrame> = std::iter::from_fn(|| next(&source)).map(|it| it.0).collect();
    assert_eq!(
        frames.iter().map(|it| &it.image).collect::<Vec<_>>(),
        images.iter().collect::<Vec<_>>()
    );
    assert!(frames.is_sorted_by(|a, b| a.taken_at < b.taken_at));
    assert!(frames[0].taken_at >= before && frames[2].taken_at <= SystemClock.now());
    assert_eq!(source.status(), LiveStatus { frames: 3, ..LiveStatus::default() });
}

#[test]
fn of_a_window_the_sharpest_is_selected_also_when_no_more_comes() {
    let (hand, source) = by_hand(Duration::from_secs(2));
    hand.send([jpeg(1, false), jpeg(2, true), jpeg(3, false)].concat()).unwrap();
    // The camera is quiet, and its pipe open.
    assert_eq!(next(&source).unwrap().0.image, jpeg(2, true));
    assert_eq!(source.status().passed_over, 2);
    drop(hand);
    assert_eq!(next(&source), None);
}

#[test]
fn what_nobody_takes_is_dropped_oldest_first_and_told_with_the_next() {
    let (hand, source) = by_hand(Duration::ZERO);
    let count = 3 * SELECTED_MAX as u64;
    for n in 0..count {
        hand.send(jpeg(n, true)).unwrap();
        wait_for(&source, |status| {
            status.frames == n + 1 && status.lost == (n + 1).saturating_sub(SELECTED_MAX as u64)
        });
    }
    let (frame, lost) = next(&source).unwrap();
    assert_eq!(lost, count - SELECTED_MAX as u64);
    assert_eq!(frame.image, jpeg(lost, true), "the oldest that is left");
    // It does not fit in: newer ones came meanwhile.
    hand.send(jpeg(200, true)).unwrap();
    wait_for(&source, |status| status.frames == count + 1);
    source.give_back(frame, 0);
    wait_for(&source, |status| status.lost == lost + 1);
    let (frame, lost_now) = next(&source).unwrap();
    assert_eq!((&frame.image, lost_now), (&jpeg(lost + 1, true), 1));
    // It fits: nothing is lost.
    source.give_back(frame, 7);
    assert_eq!(next(&source).map(|it| it.1), Some(7));
}

/// What comes faster than one thread hands it to the next.
#[test]
fn frames_of_a_flood_are_lost_where_all_are_selected_and_else_not_compared() {
    let flooded = |window| {
        let (_hand, source) = by_hand(window);
        let mut reader = Reader {
            images: Mailbox::new(2, WAITING_BYTES_MAX),
            shared: Arc::clone(&source.shared),
            clock: Arc::new(SystemClock),
            stop: Stop::default(),
            running: Running::default(),
            bytes_max: ImageLimits::default().bytes_max,
            is_all_selected: window.is_zero(),
            newest: Timestamp::EPOCH,
            has_image: false,
        };
        (0..5).for_each(|n| reader.take_arrived(jpeg(n, true)));
        let untold = *lock(&source.shared.untold);
        (source.status(), untold)
    };
    let came = LiveStatus { frames: 5, ..LiveStatus::default() };
    assert_eq!(flooded(Duration::ZERO), (LiveStatus { lost: 3, ..came.clone() }, 3));
    assert_eq!(flooded(Duration::from_secs(1)), (LiveStatus { uncompared: 3, ..came }, 0));
}

#[test]
fn a_stream_that_ends_in_an_image_or_holds_none_is_told() {
    let (hand, source) = by_hand(Duration::ZERO);
    let image = jpeg(1, true);
    hand.send([&image, &image[..300]].concat()).unwrap();
    drop(hand);
    assert_eq!(next(&source).map(|it| it.0.image), Some(image));
    assert_eq!(next(&source), None);
    let status = source.status();
    assert_eq!(status.faults, 1);
    assert!(status.last_fault.unwrap().contains("300 bytes, in the middle"));

    let (hand, pipe) = bounded(10);
    let options = Options {
        limits: ImageLimits { bytes_max: 1_000, ..ImageLimits::default() },
        ..Options::default()
    };
    let pipe = Origin::Pipe(Box::new(HandPipe(pipe)));
    let source = LiveSource::start("test", pipe, options, Arc::new(SystemClock)).unwrap();
    hand.send(vec![7; 2_000]).unwrap();
    wait_for(&source, |status| {
        status.last_fault.as_deref().is_some_and(|it| it.contains("no JPEG, PNG or WebP"))
    });
    drop(hand);
}

#[test]
fn a_command_is_started_again_and_says_why_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let image = jpeg(1, true);
    let file = shown(dir.path(), "image.jpg", &image);
    let line = format!("head -c 400 {file}; cat {file}; echo 'camera gone' >&2; exit 3");
    let source = by_shell(&line, options(Duration::ZERO));
    for _ in 0..2 {
        assert_eq!(next(&source).unwrap().0.image, image);
    }
    wait_for(&source, |status| status.restarts >= 1 && status.down.is_some());
    let status = source.status();
    assert_eq!(status.down.unwrap(), "exit code 3: camera gone");
    assert!(status.faults >= 2, "each run began with half an image");
}

#[test]
fn a_command_that_gives_nothing_is_ended_with_all_that_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let file = shown(dir.path(), "image.jpg", &jpeg(1, true));
    let pids = dir.path().join("pids");
    let line = format!("cat {file}; sleep 1000 & echo $! >> {}; wait", pids.display());
    let options = Options {
        stalled_after: Duration::from_millis(300),
        window: Duration::from_millis(50),
        ..Options::default()
    };
    let source = by_shell(&line, options);
    assert!(next(&source).is_some());
    // It hangs, and is started again.
    assert!(next(&source).is_some());
    assert!(source.status().restarts >= 1);
    drop(source);
    for pid in fs::read_to_string(&pids).unwrap().lines() {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = status.is_empty() || status.contains(") Z ");
        assert!(is_gone, "{pid} lives: {status}");
    }
}

#[test]
fn a_command_that_does_not_start_is_told() {
    let command = SourceCommand { program: "/nowhere/camera".into(), args: Vec::new() };
    let (origin, clock) = (Origin::Command(command), Arc::new(SystemClock));
    let source = LiveSource::start("test", origin, Options::default(), clock).unwrap();
    wait_for(&source, |status| {
        status.down.as_deref().is_some_and(|it| it.contains("/nowhere/camera"))
    });
    let begun = SystemClock.tick();
    drop(source);
    assert!(begun.elapsed() < PATIENCE / 2, "it does not wait for the next start");
}
