//! The pipeline over a real store, with scripted models.

use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use image::{ImageFormat, Rgb, RgbImage};
use tempfile::TempDir;

use super::*;
use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::pose::Pose;
use crate::base::time::StandingClock;
use crate::model::embedder::EmbedderHandle;
use crate::model::scripted::{ScriptedCaptioner, ScriptedEmbedder};
use crate::model::{CaptionError, Embedder, ModelError, TextRole};
use crate::store::{EmbeddingSpace, Options as StoreOptions, Record};

const RED: [u8; 3] = [220, 30, 30];
const BLUE: [u8; 3] = [30, 30, 220];
const GREEN: [u8; 3] = [30, 180, 30];
const NOW: f64 = 1_735_900_000.0;

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(NOW - 10_000.0 + seconds).unwrap()
}

fn meta(seconds: f64) -> FrameMeta {
    FrameMeta {
        taken_at: at(seconds),
        pose: Some(Pose::new([1.0, 2.0, 0.0], Some(0.5)).unwrap()),
        frame_id: "map".to_owned(),
        map_id: "home".to_owned(),
        source: "front".to_owned(),
    }
}

fn png(colour: [u8; 3]) -> Vec<u8> {
    let image = RgbImage::from_pixel(32, 32, Rgb(colour));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// A running pipeline.
struct Rig {
    ingest: Ingest,
    store: Store,
}

impl Rig {
    fn start<C: Captioner + 'static>(dir: &Path, captioner: C) -> Self {
        Self::with(dir, captioner, Box::new(ScriptedEmbedder::new(32)), Stop::default(), 100)
    }

    fn with<C: Captioner + 'static>(
        dir: &Path,
        captioner: C,
        embedder: Box<dyn Embedder>,
        stop: Stop,
        spool_frames_max: usize,
    ) -> Self {
        let store = Store::open(
            &StoreOptions { spool_frames_max, ..StoreOptions::at(dir.to_owned()) },
            &space(),
        )
        .unwrap();
        let episodic =
            Arc::new(Episodic::open(store.clone(), EmbedderHandle::new(embedder)).unwrap());
        let clock = Arc::new(StandingClock::at(Timestamp::from_seconds(NOW).unwrap()));
        let options = Options {
            zone: Zone::from_name("UTC").unwrap(),
            retry_pause_min: Duration::from_millis(1),
            retry_pause_max: Duration::from_millis(4),
            ..Options::default()
        };
        let parts = IngestParts { store: store.clone(), episodic, captioner, clock, stop };
        let ingest = Ingest::start(parts, options).unwrap();
        Self { ingest, store }
    }

    fn see(&self, colour: [u8; 3], seconds: f64) -> Result<Observed, ObserveError> {
        self.ingest.observe_frame(&meta(seconds), FrameImage::File(&png(colour)))
    }

    /// Waits until nothing is pending, for a while.
    fn settle(&self) {
        self.wait_until(|status| status.pending == 0);
    }

    fn wait_until(&self, reached: impl Fn(&IngestState) -> bool) {
        for _ in 0..2_000 {
            if reached(&self.ingest.status()) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("not reached: {:#?}", self.ingest.status());
    }

    fn records(&self) -> Vec<Record> {
        self.store.scan().map(|entry| entry.unwrap().0).collect()
    }

    fn captions(&self) -> Vec<String> {
        self.records().into_iter().map(|record| record.caption).collect()
    }
}

fn space() -> EmbeddingSpace {
    let embedder = ScriptedEmbedder::new(32);
    EmbeddingSpace {
        model: embedder.identity().name.clone(),
        fingerprint: embedder.identity().fingerprint.0.clone(),
        dimension: 32,
    }
}

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn worker_death() -> CaptionError {
    CaptionError::Died("signal 9".to_owned())
}

fn away() -> CaptionError {
    CaptionError::Unavailable("no weights".to_owned())
}

#[test]
fn frames_become_records_in_the_order_in_which_they_came() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    for (colour, seconds) in [(RED, 0.0), (BLUE, 1.0), (GREEN, 2.0)] {
        let observed = rig.see(colour, seconds).unwrap();
        assert_eq!(observed.state, ObservedState::Pending);
    }
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture", "a blue picture", "a green picture"]);
    let record = &rig.records()[1];
    assert_eq!((record.id, &record.meta, record.end_at), (RecordId(2), &meta(1.0), at(1.0)));
    let status = rig.ingest.status();
    assert_eq!((status.seen, status.captioned, status.failed, status.refused), (3, 3, 0, 0));
    assert_eq!(status.sources, [("front".to_owned(), at(2.0))]);
    assert!(status.captioning);
    assert_eq!(status.last_error, None);
}

#[test]
fn a_repeated_view_lengthens_its_record() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.see(RED, 0.0).unwrap();
    rig.settle();
    let merged = rig.see(RED, 5.0).unwrap();
    assert_eq!(merged.state, ObservedState::Merged { record: Some(RecordId(1)) });
    assert_eq!(merged.ticket, Some(FrameTicket(1)));
    let [record] = rig.records().try_into().unwrap();
    assert_eq!((record.meta.taken_at, record.end_at), (at(0.0), at(5.0)));
    // The corpus knows it too: the record lies in a window after its start.
    let status = rig.ingest.status();
    assert_eq!((status.seen, status.merged, status.captioned), (2, 1, 1));
}

#[test]
fn a_frame_with_its_caption_passes_the_gate_and_no_captioner() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Err(away())));
    let caption =
        |text: &str| Caption { confidence: Some(0.5), ..Caption::without_confidence(text) };
    let observe = |colour, seconds, text| {
        rig.ingest
            .observe_captioned_frame(&meta(seconds), FrameImage::File(&png(colour)), &caption(text))
            .unwrap()
    };
    // One that waits for the captioner does not hold it up.
    rig.see(BLUE, 0.0).unwrap();
    let stored = observe(RED, 1.0, "a red mug");
    assert_eq!(stored.state, ObservedState::Stored { record: RecordId(1) });
    let merged = observe(RED, 5.0, "a red mug, again");
    assert_eq!(merged.state, ObservedState::Merged { record: Some(RecordId(1)) });
    assert_eq!(merged.ticket, stored.ticket);
    let [record] = rig.records().try_into().unwrap();
    assert_eq!((record.caption.as_str(), record.confidence), ("a red mug", Some(0.5)));
    assert_eq!((record.meta.taken_at, record.end_at), (at(1.0), at(5.0)));
    assert_eq!(rig.store.image(record.image.unwrap()).unwrap(), Some(png(RED)));
    let status = rig.ingest.status();
    assert_eq!((status.seen, status.merged, status.captioned, status.pending), (3, 1, 1, 1));
    let past = rig.ingest.observe_captioned_frame(
        &meta(2.0),
        FrameImage::File(&png(BLUE)),
        &caption("a book"),
    );
    assert!(matches!(past, Err(ObserveError::Past { .. })), "{past:?}");
    drop(rig);
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.settle();
    assert_eq!(rig.records().len(), 2);
}

#[test]
fn a_view_repeated_before_its_caption_is_one_record_as_well() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Err(away())));
    rig.see(RED, 0.0).unwrap();
    let merged = rig.see(RED, 5.0).unwrap();
    assert_eq!(merged.state, ObservedState::Merged { record: None });
    drop(rig);
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.settle();
    let [record] = rig.records().try_into().unwrap();
    assert_eq!((record.meta.taken_at, record.end_at), (at(0.0), at(5.0)));
}

#[test]
fn a_webp_is_captioned_and_kept_as_it_came() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    let (mut webp, picture) = (Cursor::new(Vec::new()), RgbImage::from_pixel(32, 32, Rgb(RED)));
    picture.write_to(&mut webp, ImageFormat::WebP).unwrap();
    let webp = webp.into_inner();
    rig.ingest.observe_frame(&meta(0.0), FrameImage::File(&webp)).unwrap();
    // The same view by another encoder.
    let merged = rig.see(RED, 1.0).unwrap();
    assert!(matches!(merged.state, ObservedState::Merged { .. }), "{merged:?}");
    rig.settle();
    let [record] = rig.records().try_into().unwrap();
    assert_eq!(rig.store.image(record.image.unwrap()).unwrap(), Some(webp));
}

#[test]
fn another_map_is_another_view_whatever_the_picture() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.see(RED, 0.0).unwrap();
    let moved = FrameMeta { map_id: "office".to_owned(), ..meta(1.0) };
    let observed = rig.ingest.observe_frame(&moved, FrameImage::File(&png(RED))).unwrap();
    assert_eq!(observed.state, ObservedState::Pending);
}

#[test]
fn refusals_at_admission_name_what_is_wrong() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.see(RED, 10.0).unwrap();
    let refused = |meta: FrameMeta, image: Vec<u8>| {
        rig.ingest.observe_frame(&meta, FrameImage::File(&image)).unwrap_err().to_string()
    };
    let mut bomb = png(RED);
    bomb[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    let crc = crc32fast::hash(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    let half = png(RED)[..60].to_vec();
    let nameless = FrameMeta { source: String::new(), ..meta(11.0) };
    let cases = [
        (refused(meta(11.0), Vec::new()), "\"image\": the image is empty"),
        (
            refused(meta(11.0), b"GIF89a".to_vec()),
            "\"image\": the image is neither JPEG nor PNG nor WebP",
        ),
        (refused(meta(11.0), half), "\"image\": the image is damaged"),
        (refused(meta(11.0), bomb), "\"image\": the image is 60000x60000 pixels"),
        (refused(nameless, png(RED)), "source is empty"),
        (
            refused(meta(10.0), png(BLUE)),
            "\"time\" is 2025-01-03 07:40:10.000000; accepted is a time after \
             2025-01-03 07:40:10.000000, of the last frame of source \"front\"",
        ),
        (
            refused(meta(13_600.5), png(BLUE)),
            "\"time\" is 2025-01-03 11:26:40.500000; accepted is a time up to \
             2025-01-03 11:26:40.000000, by the daemon's clock",
        ),
    ];
    for (text, expect) in &cases {
        assert!(text.starts_with(expect), "{text}\n{expect}");
    }
    rig.see(BLUE, 13_600.0).unwrap();
    let status = rig.ingest.status();
    assert_eq!((status.refused, status.seen), (7, 2));
}

#[test]
fn a_full_spool_says_how_many_wait() {
    let dir = dir();
    let captioner = ScriptedCaptioner::new(|_| Err(away()));
    let embedder = Box::new(ScriptedEmbedder::new(32));
    let rig = Rig::with(dir.path(), captioner, embedder, Stop::default(), 2);
    rig.see(RED, 0.0).unwrap();
    rig.see(BLUE, 1.0).unwrap();
    let waiting = |after, limit| rig.ingest.waiting(after, limit).unwrap();
    let tickets: Vec<FrameTicket> = waiting(None, 9).iter().map(|it| it.ticket).collect();
    assert_eq!(tickets.len(), 2);
    assert_eq!(waiting(None, 1)[0].ticket, tickets[0]);
    assert_eq!(waiting(Some(tickets[0]), 9)[0].ticket, tickets[1]);
    assert_eq!(waiting(Some(tickets[1]), 9), []);
    let full = rig.see(GREEN, 2.0).unwrap_err();
    assert_eq!(full, ObserveError::SpoolFull { pending: 2, max: 2 });
    assert_eq!(rig.ingest.status().refused, 1);
    // What only lengthens a frame takes no room.
    rig.see(BLUE, 2.0).unwrap();
}

#[test]
fn a_frame_over_which_the_captioner_dies_twice_is_set_aside_and_the_rest_goes_on() {
    let dir = dir();
    let poison = png(BLUE);
    let mut colours = ScriptedCaptioner::by_colour();
    let captioner = ScriptedCaptioner::new(move |image| {
        if image == poison { Err(worker_death()) } else { Ok(colours.caption(image)?.text) }
    });
    let rig = Rig::start(dir.path(), captioner);
    for (colour, seconds) in [(RED, 0.0), (BLUE, 1.0), (GREEN, 2.0)] {
        rig.see(colour, seconds).unwrap();
    }
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture", "a green picture"]);
    let status = rig.ingest.status();
    assert_eq!((status.failed, status.captioned), (1, 2));
    let [aside] = status.set_aside.as_slice() else { panic!("{status:?}") };
    assert_eq!((aside.ticket, &aside.meta), (FrameTicket(2), &meta(1.0)));
    assert!(aside.reason.contains("signal 9") && aside.reason.contains("2 times"), "{aside:?}");
    assert!(status.last_error.unwrap().1.contains("frame 2 was set aside"));
    assert!(rig.store.image(FrameTicket(2)).unwrap().is_some());
}

#[test]
fn a_single_death_or_hang_is_forgiven() {
    let dir = dir();
    let captioner =
        ScriptedCaptioner::by_colour().failing_first([CaptionError::Hung(Duration::from_secs(30))]);
    let rig = Rig::start(dir.path(), captioner);
    rig.see(RED, 0.0).unwrap();
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture"]);
    let status = rig.ingest.status();
    assert_eq!((status.failed, status.captioner_restarts), (0, 1));
}

#[test]
fn an_image_that_the_captioner_cannot_read_is_not_tried_twice() {
    let dir = dir();
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let captioner = ScriptedCaptioner::new(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(CaptionError::BadImage("no such tint".to_owned()))
    });
    let rig = Rig::start(dir.path(), captioner);
    rig.see(RED, 0.0).unwrap();
    rig.settle();
    assert_eq!(tries.load(Ordering::SeqCst), 1);
    assert!(rig.ingest.status().set_aside[0].reason.contains("no such tint"));
}

#[test]
fn a_captioner_that_says_nothing_leaves_no_empty_record() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Ok(" \n".to_owned())));
    rig.see(RED, 0.0).unwrap();
    rig.settle();
    assert_eq!((rig.records().len(), rig.ingest.status().failed), (0, 1));
}

#[test]
fn a_captioner_that_does_not_start_is_waited_for_and_no_frame_is_charged() {
    let dir = dir();
    let captioner = ScriptedCaptioner::by_colour().failing_first(vec![away(); 12]);
    let rig = Rig::start(dir.path(), captioner);
    rig.see(RED, 0.0).unwrap();
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture"]);
    let status = rig.ingest.status();
    assert!(status.last_error.unwrap().1.contains("no weights"));
    assert_eq!(status.failed, 0);
}

#[test]
fn the_status_says_while_no_frame_makes_progress() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Err(away())));
    rig.see(RED, 0.0).unwrap();
    rig.wait_until(|status| !status.captioning && status.last_error.is_some());
}

#[test]
fn pending_frames_are_captioned_after_a_restart() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Err(away())));
    for (colour, seconds) in [(RED, 0.0), (BLUE, 1.0), (GREEN, 2.0)] {
        rig.see(colour, seconds).unwrap();
    }
    drop(rig);
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture", "a blue picture", "a green picture"]);
}

#[test]
fn a_frame_that_ends_the_process_does_not_come_back_for_ever() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::new(|_| Err(away())));
    let ticket = rig.see(RED, 0.0).unwrap().ticket.unwrap();
    rig.see(BLUE, 1.0).unwrap();
    rig.ingest.stop();
    // As five processes leave it that died in mid-caption.
    for _ in 0..5 {
        rig.store.count_attempt(ticket).unwrap();
    }
    drop(rig);
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.settle();
    assert_eq!(rig.captions(), ["a blue picture"]);
    assert!(rig.ingest.status().set_aside[0].reason.contains("5 times"));
}

#[test]
fn a_panic_in_the_captioner_costs_the_frame_and_not_the_thread() {
    let dir = dir();
    let poison = png(RED);
    let mut colours = ScriptedCaptioner::by_colour();
    let captioner = ScriptedCaptioner::new(move |image| {
        assert!(image != poison, "scripted panic");
        Ok(colours.caption(image)?.text)
    });
    let rig = Rig::start(dir.path(), captioner);
    rig.see(RED, 0.0).unwrap();
    rig.see(BLUE, 1.0).unwrap();
    rig.settle();
    assert_eq!(rig.captions(), ["a blue picture"]);
    assert_eq!(rig.ingest.status().failed, 1);
}

#[test]
fn stopping_does_not_wait_for_a_captioner_that_watches_the_same_stop() {
    let dir = dir();
    let stop = Stop::default();
    let watched = stop.clone();
    let captioner = ScriptedCaptioner::new(move |_| {
        watched.sleep(Duration::from_hours(1));
        Err(CaptionError::Died("killed at the end".to_owned()))
    });
    let embedder = Box::new(ScriptedEmbedder::new(32));
    let rig = Rig::with(dir.path(), captioner, embedder, stop, 100);
    rig.see(RED, 0.0).unwrap();
    while rig.store.next_pending(None).unwrap().unwrap().attempts == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    rig.ingest.stop();
    let frame = rig.store.next_pending(None).unwrap().unwrap();
    assert_eq!(frame.attempts, 0, "a stopped worker is no evidence against the frame");
    assert!(!rig.ingest.status().captioning);
    // A frame that comes now is kept for the next start.
    rig.see(BLUE, 1.0).unwrap();
    drop(rig);
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.settle();
    assert_eq!(rig.captions(), ["a red picture", "a blue picture"]);
}

#[test]
fn an_idle_pipeline_stops_and_a_second_stop_changes_nothing() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    rig.ingest.stop();
    rig.ingest.stop();
}

/// Fails as often as told, then embeds.
#[derive(Debug)]
struct Stubborn {
    embedder: ScriptedEmbedder,
    failures: AtomicU32,
}

impl Embedder for Stubborn {
    fn identity(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    fn dimension(&self) -> usize {
        self.embedder.dimension()
    }

    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        let left = self.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.failures.store(left - 1, Ordering::Relaxed);
            return Err(ModelError::Failed("not today".to_owned()));
        }
        self.embedder.embed(role, texts)
    }
}

#[test]
fn a_memory_that_fails_is_tried_again_without_captioning_twice() {
    let dir = dir();
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let captioner = ScriptedCaptioner::new(move |_| {
        Ok(format!("try {}", counted.fetch_add(1, Ordering::SeqCst)))
    });
    let embedder = Box::new(Stubborn { embedder: ScriptedEmbedder::new(32), failures: 9.into() });
    let rig = Rig::with(dir.path(), captioner, embedder, Stop::default(), 100);
    rig.see(RED, 0.0).unwrap();
    rig.see(BLUE, 1.0).unwrap();
    rig.settle();
    assert_eq!(rig.captions(), ["try 0", "try 1"]);
    assert!(rig.ingest.status().last_error.unwrap().1.contains("not today"));
}

#[test]
fn the_same_frames_give_the_same_memory() {
    let memory = || {
        let dir = dir();
        let rig =
            Rig::start(dir.path(), ScriptedCaptioner::by_colour().failing_first([worker_death()]));
        for n in 0..30_u8 {
            let colour = [RED, RED, BLUE, GREEN][usize::from(n) % 4];
            rig.see(colour, f64::from(n)).unwrap();
        }
        rig.settle();
        rig.records()
    };
    let once = memory();
    assert_eq!(once.len(), 22);
    assert_eq!(once, memory());
}

#[test]
fn frames_that_come_at_once_are_admitted_one_after_the_other() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour());
    let admitted = AtomicU32::new(0);
    thread::scope(|scope| {
        for worker in 0..4_u8 {
            let (rig, admitted) = (&rig, &admitted);
            Builder::new()
                .spawn_scoped(scope, move || {
                    for n in 0..10_u8 {
                        let seconds = f64::from(n * 4 + worker);
                        let colour = if n % 2 == 0 { RED } else { BLUE };
                        if rig.see(colour, seconds).is_ok() {
                            admitted.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                })
                .unwrap();
        }
    });
    rig.settle();
    let status = rig.ingest.status();
    let admitted = u64::from(admitted.load(Ordering::SeqCst));
    assert_eq!(status.seen, admitted);
    assert_eq!(status.seen + status.refused, 40);
    assert_eq!(status.captioned + status.merged, admitted);
    let records = rig.records();
    assert!(records.windows(2).all(|pair| pair[0].end_at < pair[1].meta.taken_at));
}

#[test]
fn a_captioner_that_is_never_sure_is_doubted() {
    let dir = dir();
    let rig = Rig::start(dir.path(), ScriptedCaptioner::by_colour().with_confidence(0.1));
    let colours = [RED, BLUE, GREEN];
    for frame in 0..50 {
        if frame == 40 {
            rig.settle();
            assert_eq!(rig.ingest.status().doubt, None, "of few captions");
        }
        rig.see(colours[frame % 3], frame as f64).unwrap();
    }
    rig.settle();
    let doubt = rig.ingest.status().doubt.unwrap();
    assert!(doubt.contains("seems not to know what it sees"), "{doubt}");
    assert!(doubt.contains("engram caption --model DIR"), "{doubt}");
}
