//! What the store acknowledged is there after `kill -9`, whole, and nothing twice.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of a test stop it where something is wrong"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engram::base::FrameTicket;
use engram::base::RecordId;
use engram::base::caption::Caption;
use engram::base::embedding::Embedding;
use engram::base::frame::FrameMeta;
use engram::base::time::Timestamp;
use engram::language::caption::ParsedCaption;
use engram::store::EmbeddingSpace;
use engram::store::NewObservation;
use engram::store::Options;
use engram::store::PendingFrame;
use engram::store::Record;
use engram::store::Store;
use engram::store::StoreError;

use crate::killed_writer::{KilledWriter, parse};

const DIR: &str = "ENGRAM_TEST_CRASH_DIR";
const KILLS: usize = 12;
const DIMENSION: usize = 64;

#[test]
fn acknowledged_writes_outlive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = Acknowledged::default();
    for kill in 0..KILLS {
        write_until_killed(dir.path(), &mut acknowledged);
        check(&open(dir.path()), &acknowledged, kill);
    }
    assert!(!acknowledged.records.is_empty() && !acknowledged.frames.is_empty());
}

/// The child's part: does nothing unless started by the test above.
#[test]
fn crash_writer() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = open(&PathBuf::from(dir));
    for turn in 0_u32.. {
        take_turn(&store, turn).unwrap();
    }
}

fn take_turn(store: &Store, turn: u32) -> Result<(), StoreError> {
    let next = store.counters().seen - store.counters().merged + 1;
    let ticket = match store.accept_frame(&meta(turn), &image(next), vec![7; 32]) {
        Ok(ticket) => ticket,
        Err(StoreError::SpoolFull { .. }) => return commit_oldest(store),
        Err(error) => return Err(error),
    };
    println!("ACK frame {ticket}");
    let last_at = at(turn + 1);
    let merged = store.merge_frame("front", last_at)?;
    println!("ACK merged {} {}", merged.ticket, last_at.micros());
    if turn.is_multiple_of(3) {
        let first = store.record_count() + 1;
        let observations: Vec<_> = (first..first + 5).map(observation).collect();
        for record in store.commit_observations(&parse(&observations))? {
            println!("ACK record {}", record.id);
        }
    }
    if turn.is_multiple_of(4) { Ok(()) } else { commit_oldest(store) }
}

fn commit_oldest(store: &Store) -> Result<(), StoreError> {
    let Some(PendingFrame { ticket, .. }) = store.next_pending(None)? else { return Ok(()) };
    if store.count_attempt(ticket)? > 1 {
        // The attempt before this one was killed.
        store.set_aside(ticket, "killed")?;
        println!("ACK aside {ticket}");
        return Ok(());
    }
    let id = store.record_count() + 1;
    let record = store.commit_frame(
        ticket,
        &Caption::without_confidence(&frame_caption(ticket)),
        &ParsedCaption::by_rules(&frame_caption(ticket)),
        &vector(id),
    )?;
    println!("ACK record {}", record.id);
    Ok(())
}

#[derive(Debug, Default)]
struct Acknowledged {
    frames: BTreeSet<u64>,
    records: BTreeSet<u64>,
    asides: BTreeSet<u64>,
    /// Frame that was merged into last, and until when it lasts.
    merged: Option<(u64, i64)>,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().unwrap();
        match words[0] {
            "frame" => assert!(self.frames.insert(number(1)), "ticket given out twice: {line}"),
            "record" => assert!(self.records.insert(number(1)), "id given out twice: {line}"),
            "aside" => assert!(self.asides.insert(number(1)), "{line}"),
            "merged" => self.merged = Some((number(1), words[2].parse().unwrap())),
            other => panic!("{other}"),
        }
    }
}

/// Runs the writer and kills it some moments after it started to write.
fn write_until_killed(dir: &Path, acknowledged: &mut Acknowledged) {
    let writer = KilledWriter {
        test: "crash::crash_writer",
        variable: DIR,
        dir,
        acknowledgements: 1,
        delay_max: Duration::from_millis(60),
    };
    writer.run(|said| acknowledged.note(said));
}

fn check(store: &Store, acknowledged: &Acknowledged, kill: usize) {
    let scanned: Vec<(Record, Embedding)> = store.scan().map(Result::unwrap).collect();
    let mut tickets = BTreeSet::new();
    for (place, (record, stored)) in (1..).zip(&scanned) {
        assert_eq!(record.id, RecordId(place), "ids without gaps, kill {kill}");
        assert_eq!(*stored, vector(place));
        match record.image {
            Some(ticket) => {
                assert!(tickets.insert(ticket.0), "frame {ticket} is two records");
                assert_eq!(record.caption, frame_caption(ticket));
            }
            None => assert_eq!(record.caption, observation(place).0.caption),
        }
    }
    assert!(acknowledged.records.iter().all(|id| *id <= scanned.len() as u64), "a record is lost");

    let pending = std::iter::successors(store.next_pending(None).unwrap(), |last| {
        store.next_pending(Some(last.ticket)).unwrap()
    });
    let pending: Vec<PendingFrame> = pending.collect();
    let asides: BTreeSet<u64> =
        store.set_asides(None, usize::MAX).unwrap().iter().map(|frame| frame.ticket.0).collect();
    assert!(acknowledged.asides.is_subset(&asides));
    for ticket in pending.iter().map(|frame| frame.ticket.0).chain(asides.iter().copied()) {
        assert!(tickets.insert(ticket), "frame {ticket} is in two places");
    }
    assert!(acknowledged.frames.is_subset(&tickets), "a frame is lost, kill {kill}");
    for ticket in &tickets {
        assert_eq!(store.image(FrameTicket(*ticket)).unwrap(), Some(image(*ticket)));
    }
    assert_eq!(store.image(FrameTicket(tickets.len() as u64 + 1)).unwrap(), None, "an orphan");

    let counters = store.counters();
    assert_eq!(counters.seen - counters.merged, tickets.len() as u64);
    assert_eq!(counters.captioned + counters.observed, scanned.len() as u64);
    if let Some((ticket, end)) = acknowledged.merged {
        let ends = scanned.iter().map(|(record, _)| (record.image, record.end_at));
        let mut ends = ends.chain(pending.iter().map(|frame| (Some(frame.ticket), frame.end_at)));
        let found = ends.find(|(image, _)| *image == Some(FrameTicket(ticket)));
        assert!(
            asides.contains(&ticket) || found.is_some_and(|(_, at)| at.micros() >= end),
            "a merge is lost, kill {kill}"
        );
    }
}

fn open(dir: &Path) -> Store {
    let options = Options { spool_frames_max: 8, ..Options::at(dir.to_owned()) };
    let (model, fingerprint) = ("test".to_owned(), "0".to_owned());
    Store::open(&options, &EmbeddingSpace { model, fingerprint, dimension: DIMENSION }).unwrap()
}

fn at(seconds: u32) -> Timestamp {
    Timestamp::from_seconds(f64::from(seconds)).unwrap()
}

fn meta(turn: u32) -> FrameMeta {
    FrameMeta {
        taken_at: at(turn),
        pose: None,
        frame_id: "map".to_owned(),
        map_id: "home".to_owned(),
        source: "front".to_owned(),
    }
}

fn frame_caption(ticket: FrameTicket) -> String {
    format!("what frame {ticket} shows")
}

fn observation(id: u64) -> (NewObservation, Embedding) {
    let caption = format!("observation {id}");
    (NewObservation { meta: meta(1), caption, confidence: None, layer: None }, vector(id))
}

/// Large enough to be written in pieces.
fn image(ticket: u64) -> Vec<u8> {
    [&[0xFF, 0xD8, 0xFF], ticket.to_le_bytes().repeat(2_000).as_slice()].concat()
}

fn vector(id: u64) -> Embedding {
    let raw = (0_u8..).take(DIMENSION).map(|i| f32::from(i) + 1.0 + (id % 97) as f32).collect();
    Embedding::new(raw, DIMENSION).unwrap()
}
