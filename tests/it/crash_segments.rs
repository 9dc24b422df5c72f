//! Killed while segments are sealed, merged or dropped: the next start finds every
//! record that was acknowledged, none that was forgotten, and nothing twice.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of a test stop it where something is wrong"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engram::base::RecordId;
use engram::base::embedding::Embedding;
use engram::base::frame::FrameMeta;
use engram::base::time::Timestamp;
use engram::search::compaction::{Compaction, Options};
use engram::search::retention::Unwitnessed;
use engram::search::{Corpus, Filter, Query};
use engram::store::{EmbeddingSpace, NewObservation, Store};

use crate::killed_writer::{KilledWriter, parse};

const DIR: &str = "ENGRAM_TEST_SEGMENTS_DIR";
const KILLS: u64 = 8;
const DIMENSION: usize = 16;
/// Small, so that the writer does hardly anything but seal and merge.
const OPEN_ROWS: usize = 16;
/// Records beyond which the oldest are dropped.
const RECORDS_MAX: u64 = 600;

#[test]
fn every_record_is_found_after_a_kill_while_segments_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let mut said = Said::default();
    for kill in 0..KILLS {
        write_until_killed(dir.path(), &mut said);
        check(dir.path(), &mut said, kill);
    }
    assert!(said.sealed > 0 && said.merged > 0 && said.dropped > 0, "{said:?}");
}

/// The child's part: does nothing unless started by the test above.
#[test]
fn segments_writer() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let store = open(&PathBuf::from(dir));
    let corpus = Corpus::open_with(&store, OPEN_ROWS).unwrap();
    let options = Options { records_max: Some(RECORDS_MAX), ..Options::default() };
    // Until it is killed.
    for _ in 0_u64.. {
        let first = newest(&store) + 1;
        let all: Vec<_> = (first..first + 24).map(observation).collect();
        let mut changes = corpus.changes();
        let records = store.commit_observations(&parse(&all)).unwrap();
        for (record, (_, vector)) in records.iter().zip(&all) {
            changes.insert(record, vector).unwrap();
        }
        println!("ACK record {}", records.last().unwrap().id);
        let gone = store.delete_records(&[RecordId(first + 5), RecordId(first - 1)]).unwrap();
        changes.forget(&gone);
        for id in gone {
            println!("ACK gone {id}");
        }
        drop(changes);
        for _ in 0..3 {
            let kept = corpus.compact(&store, &options, at(0), &Unwitnessed, &|| false).unwrap();
            match kept {
                Compaction::Nothing | Compaction::Stopped => break,
                Compaction::Sealed { .. } => println!("ACK sealed 1"),
                Compaction::Merged { .. } => println!("ACK merged 1"),
                Compaction::Dropped { .. } => println!("ACK dropped 1"),
            }
        }
    }
}

/// What the writers acknowledged.
#[derive(Debug, Default)]
struct Said {
    newest: u64,
    gone: BTreeSet<u64>,
    sealed: u64,
    merged: u64,
    dropped: u64,
}

impl Said {
    fn note(&mut self, line: &str) {
        let (what, number) = line.trim().split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        match what {
            "record" => self.newest = self.newest.max(number),
            "gone" => assert!(self.gone.insert(number), "forgotten twice: {line}"),
            "sealed" => self.sealed += 1,
            "merged" => self.merged += 1,
            "dropped" => self.dropped += 1,
            other => panic!("{other}"),
        }
    }
}

fn write_until_killed(dir: &Path, said: &mut Said) {
    let writer = KilledWriter {
        test: "crash_segments::segments_writer",
        variable: DIR,
        dir,
        acknowledgements: 40,
        delay_max: Duration::from_millis(80),
    };
    writer.run(|line| said.note(line));
}

fn check(dir: &Path, said: &mut Said, kill: u64) {
    let store = open(dir);
    let corpus = Corpus::open_with(&store, OPEN_ROWS).unwrap();
    let there: Vec<u64> = store.scan().map(|it| it.unwrap().0.id.0).collect();
    assert_eq!(corpus.len(), there.len(), "kill {kill}");
    assert_eq!(store.record_count(), there.len() as u64);
    assert!(said.gone.iter().all(|id| there.binary_search(id).is_err()), "kill {kill}");
    assert!(newest(&store) >= said.newest, "a record is lost, kill {kill}");
    // All of the newest, but for what was forgotten, acknowledged or just about to be.
    let mut kept: Vec<u64> = (1..=newest(&store)).filter(|id| !said.gone.contains(id)).collect();
    kept.sort_by_key(|id| (seen_at(*id), *id));
    let newest_kept = &kept[kept.len().saturating_sub(usize::try_from(RECORDS_MAX).unwrap())..];
    let missing = newest_kept.iter().filter(|id| there.binary_search(id).is_err());
    let unsaid: Vec<u64> = missing.copied().collect();
    assert!(unsaid.len() <= 2, "kill {kill}: {unsaid:?}");
    // Gone before the kill and told by nobody: they stay so, and each kill may have its own.
    said.gone.extend(unsaid);
    let filter = Filter::default();
    // Each by its own words: the newest, and of the others some, each time others.
    let is_asked = |id: &&u64| **id + 40 > newest(&store) || **id % 16 == kill % 16;
    for id in there.iter().filter(is_asked) {
        let (NewObservation { caption, .. }, vector) = observation(*id);
        let query =
            Query { text: &caption, vector: Some(&vector), filter: &filter, accepts: None, k: 1 };
        let found = corpus.search(&query);
        assert_eq!(found.first().map(|hit| hit.id.0), Some(*id), "kill {kill}");
    }
    let query =
        Query { text: "seen", vector: Some(&vector(1)), filter: &filter, accepts: None, k: 5_000 };
    let mut all: Vec<u64> = corpus.search(&query).iter().map(|hit| hit.id.0).collect();
    all.sort_unstable();
    assert_eq!(all, there, "kill {kill}");
}

fn newest(store: &Store) -> u64 {
    // Ids are not used twice, so that they say how many records were ever stored.
    let counters = store.counters();
    counters.observed
}

fn open(dir: &Path) -> Store {
    let space = EmbeddingSpace {
        model: "test".to_owned(),
        fingerprint: "0".to_owned(),
        dimension: DIMENSION,
    };
    Store::open(&engram::store::Options::at(dir.to_owned()), &space).unwrap()
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::from_secs(seconds))
}

fn observation(id: u64) -> (NewObservation, Embedding) {
    let meta = FrameMeta {
        taken_at: seen_at(id),
        pose: None,
        frame_id: "map".to_owned(),
        map_id: "home".to_owned(),
        source: "front".to_owned(),
    };
    let caption = format!("thing{id} seen");
    (NewObservation { meta, caption, confidence: None, layer: None }, vector(id))
}

/// Near to the order of ids, as several cameras have it.
fn seen_at(id: u64) -> Timestamp {
    at(id / 64 * 64 + id * 37 % 64)
}

/// Each id points its own way.
fn vector(id: u64) -> Embedding {
    let raw = (0..DIMENSION).map(|bit| if id >> bit & 1 == 1 { 1.0 } else { -1.0 }).collect();
    Embedding::new(raw, DIMENSION).unwrap()
}
