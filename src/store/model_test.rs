//! The store against plain maps, through random calls and restarts.

use crate::language::caption::ParsedCaption;
use crate::store::tests::parse;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::{ProptestConfig, Strategy, prop, prop_oneof, proptest};

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::caption::Caption;
use crate::base::detection::{BoundingBox, DetectedObject};
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::time::Timestamp;
use crate::store::Counters;
use crate::store::EmbeddingSpace;
use crate::store::Keyframe;
use crate::store::NewObservation;
use crate::store::Options;
use crate::store::PendingFrame;
use crate::store::Record;
use crate::store::SetAside;
use crate::store::Store;
use crate::store::StoreError;

const SPOOL_MAX: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Call {
    Accept {
        source: usize,
        seconds: u16,
    },
    Merge {
        source: usize,
        seconds: u16,
    },
    /// The next three take the n-th pending frame.
    Attempt(usize),
    Commit(usize),
    SetAside(usize),
    Observe {
        count: u64,
        seconds: u16,
    },
    Reopen,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let nth = || 0..SPOOL_MAX;
    let call = prop_oneof![
        4 => (0_usize..3, 0_u16..100).prop_map(|(source, seconds)| Call::Accept { source, seconds }),
        3 => (0_usize..3, 0_u16..100).prop_map(|(source, seconds)| Call::Merge { source, seconds }),
        1 => nth().prop_map(Call::Attempt),
        4 => nth().prop_map(Call::Commit),
        1 => nth().prop_map(Call::SetAside),
        1 => (0_u64..4, 0_u16..100).prop_map(|(count, seconds)| Call::Observe { count, seconds }),
        2 => prop::strategy::Just(Call::Reopen),
    ];
    prop::collection::vec(call, 1..30)
}

#[derive(Debug, Default)]
struct Model {
    records: BTreeMap<u64, Record>,
    pending: BTreeMap<u64, PendingFrame>,
    set_aside: BTreeMap<u64, SetAside>,
    keyframes: BTreeMap<String, Keyframe>,
    tickets: u64,
    counters: Counters,
}

fn at(seconds: u16) -> Timestamp {
    Timestamp::from_seconds(f64::from(seconds)).unwrap()
}

fn meta(source: usize, seconds: u16) -> FrameMeta {
    FrameMeta {
        taken_at: at(seconds),
        pose: None,
        frame_id: "map".to_owned(),
        map_id: String::new(),
        source: ["front", "rear", ""][source].to_owned(),
    }
}

fn image(ticket: u64) -> Vec<u8> {
    [&[0xFF, 0xD8, 0xFF], ticket.to_le_bytes().as_slice()].concat()
}

fn vector(id: u64) -> Embedding {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let raw = vec![1.0, id as f32];
    Embedding::new(raw, 2).unwrap()
}

fn open(dir: &Path) -> Store {
    let options = Options { spool_frames_max: SPOOL_MAX, ..Options::at(dir.to_owned()) };
    let space = EmbeddingSpace { model: "m".to_owned(), fingerprint: "f".to_owned(), dimension: 2 };
    Store::open(&options, &space).unwrap()
}

impl Model {
    fn nth_pending(&self, n: usize) -> Option<FrameTicket> {
        self.pending.keys().nth(n).map(|ticket| FrameTicket(*ticket))
    }

    fn next_id(&self) -> RecordId {
        RecordId(self.records.len() as u64 + 1)
    }

    fn accept(&mut self, store: &Store, meta: FrameMeta) {
        let ticket = FrameTicket(self.tickets + 1);
        let answer = store.accept_frame(&meta, &image(ticket.0), vec![7]);
        if self.pending.len() >= SPOOL_MAX {
            let refused = StoreError::SpoolFull { pending: SPOOL_MAX, max: SPOOL_MAX };
            return assert_eq!(answer, Err(refused));
        }
        assert_eq!(answer, Ok(ticket));
        let taken_at = meta.taken_at;
        let keyframe = Keyframe {
            ticket,
            record: None,
            meta: meta.clone(),
            last_at: taken_at,
            signature: vec![7],
        };
        self.keyframes.insert(meta.source.clone(), keyframe);
        self.pending.insert(ticket.0, PendingFrame { ticket, meta, end_at: taken_at, attempts: 0 });
        self.tickets += 1;
        self.counters.seen += 1;
    }

    fn merge(&mut self, store: &Store, source: &str, last_at: Timestamp) {
        let answer = store.merge_frame(source, last_at);
        let Some(keyframe) = self.keyframes.get_mut(source) else {
            let source_name = source.to_owned();
            return assert_eq!(answer, Err(StoreError::NoKeyframe { source_name }));
        };
        keyframe.last_at = keyframe.last_at.max(last_at);
        if let Some(frame) = self.pending.get_mut(&keyframe.ticket.0) {
            frame.end_at = frame.end_at.max(last_at);
        }
        if let Some(id) = keyframe.record {
            let record = self.records.get_mut(&id.0).unwrap();
            record.end_at = record.end_at.max(last_at);
        }
        let merged = answer.unwrap();
        assert_eq!((merged.ticket, merged.record), (keyframe.ticket, keyframe.record));
        assert_eq!(merged.end_at, keyframe.last_at);
        self.counters.seen += 1;
        self.counters.merged += 1;
    }

    fn commit(&mut self, store: &Store, ticket: FrameTicket) {
        let id = self.next_id();
        let found = |nth: u64| DetectedObject {
            name: format!("thing {nth}"),
            score: 0.25 * (nth + 1) as f32,
            place: BoundingBox { left: 0.0, top: 0.25, right: 0.5, bottom: 1.0 },
        };
        let confidence = (!ticket.0.is_multiple_of(3)).then(|| 1.0 / ticket.0 as f32);
        let caption = Caption {
            text: format!("frame {ticket}"),
            confidence,
            detections: (0..ticket.0 % 3).map(found).collect(),
        };
        let record = store
            .commit_frame(ticket, &caption, &ParsedCaption::by_rules(&caption.text), &vector(id.0))
            .unwrap();
        let PendingFrame { meta, end_at, .. } = self.pending.remove(&ticket.0).unwrap();
        for keyframe in self.keyframes.values_mut().filter(|it| it.ticket == ticket) {
            keyframe.record = Some(id);
        }
        let Caption { text: caption, confidence, detections } = caption;
        let image = Some(ticket);
        let parsed = ParsedCaption::by_rules(&caption);
        let expected = Record {
            id,
            meta,
            end_at,
            caption,
            parsed,
            confidence,
            detections,
            layer: None,
            image,
        };
        assert_eq!(record, expected);
        self.records.insert(id.0, expected);
        self.counters.captioned += 1;
    }

    fn set_aside(&mut self, store: &Store, ticket: FrameTicket) {
        store.set_aside(ticket, "broken").unwrap();
        let meta = self.pending.remove(&ticket.0).unwrap().meta;
        let reason = "broken".to_owned();
        self.set_aside.insert(ticket.0, SetAside { ticket, meta, reason });
        self.counters.failed += 1;
    }

    fn observe(&mut self, store: &Store, count: u64, meta: &FrameMeta) {
        let first = self.next_id().0;
        let observations: Vec<_> = (first..first + count)
            .map(|id| {
                let (caption, layer) = (format!("battery {id}"), Some("battery".to_owned()));
                (
                    NewObservation { meta: meta.clone(), caption, confidence: None, layer },
                    vector(id),
                )
            })
            .collect();
        let stored = store.commit_observations(&parse(&observations)).unwrap();
        assert_eq!(stored.len() as u64, count);
        for record in stored {
            assert_eq!(record.id, self.next_id());
            self.records.insert(record.id.0, record);
        }
        self.counters.observed += count;
    }

    fn check(&self, store: &Store) {
        let scanned: Vec<_> = store.scan().map(Result::unwrap).collect();
        let expected: Vec<_> =
            self.records.values().map(|it| (it.clone(), vector(it.id.0))).collect();
        assert_eq!(scanned, expected);
        let frames = std::iter::successors(store.next_pending(None).unwrap(), |last| {
            store.next_pending(Some(last.ticket)).unwrap()
        });
        let frames: Vec<_> = frames.collect();
        assert_eq!(frames, self.pending.values().cloned().collect::<Vec<_>>());
        let asides: Vec<_> = self.set_aside.values().rev().cloned().collect();
        assert_eq!(store.set_asides(None, 99).unwrap(), asides);
        for source in ["front", "rear", ""] {
            assert_eq!(store.keyframe(source).unwrap(), self.keyframes.get(source).cloned());
        }
        for ticket in 1..=self.tickets {
            assert_eq!(store.image(FrameTicket(ticket)).unwrap(), Some(image(ticket)));
        }
        assert_eq!(store.counters(), self.counters);
        assert_eq!(store.record_count(), self.records.len() as u64);
        assert_eq!(store.pending_count(), self.pending.len());
        assert_eq!(store.set_aside_count(), self.set_aside.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_what_maps_would_be(calls in calls()) {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, mut model) = (open(dir.path()), Model::default());
        for call in calls {
            match call {
                Call::Accept { source, seconds } => model.accept(&store, meta(source, seconds)),
                Call::Merge { source, seconds } => {
                    model.merge(&store, &meta(source, 0).source, at(seconds));
                }
                Call::Attempt(nth) => if let Some(ticket) = model.nth_pending(nth) {
                    let frame = model.pending.get_mut(&ticket.0).unwrap();
                    frame.attempts += 1;
                    assert_eq!(store.count_attempt(ticket), Ok(frame.attempts));
                },
                Call::Commit(nth) => if let Some(ticket) = model.nth_pending(nth) {
                    model.commit(&store, ticket);
                },
                Call::SetAside(nth) => if let Some(ticket) = model.nth_pending(nth) {
                    model.set_aside(&store, ticket);
                },
                Call::Observe { count, seconds } => {
                    model.observe(&store, count, &meta(0, seconds));
                }
                Call::Reopen => {
                    drop(store);
                    store = open(dir.path());
                }
            }
            model.check(&store);
        }
        drop(store);
        model.check(&open(dir.path()));
    }
}
