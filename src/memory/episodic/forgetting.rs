//! Chooses the records that are to be forgotten: by their ids, by when, where and by what
//! they were made, and by what they show.

use std::cmp::Reverse;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::frame::FrameMeta;
use crate::base::time::Timestamp;
use crate::memory::episodic::forgotten_topic::Standing;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::Filter;
use crate::store::{PendingFrame, Record, SET_ASIDE_MAX, SetAside, StoreError};

/// What to forget. All that is named must hold of a record.
#[derive(Debug, Clone, Copy)]
pub struct ForgetScope<'a> {
    /// What records show, or tell in these words; with the least likeness of what is listed as near
    /// where it names nothing that can be shown.
    pub query: Option<(&'a str, f32)>,
    pub filter: &'a Filter,
    /// `None` for all records.
    pub ids: Option<&'a [RecordId]>,
}

/// Records that are to be forgotten, in their order.
#[derive(Debug, Default)]
pub struct ToForget {
    pub records: Vec<Record>,
    /// Those that only may show what the query names, and stay: the nearest first, at most some.
    pub near: Vec<Record>,
}

/// Records that are listed as near.
const NEAR_MAX: usize = 20;

impl Episodic {
    /// The records that `scope` names; nothing is forgotten yet.
    ///
    /// Exact: reads every record in the store, which a large memory takes seconds for.
    pub fn to_forget(&self, scope: ForgetScope<'_>) -> Result<ToForget, MemoryError> {
        let topic =
            scope.query.map(|(text, least)| self.forgotten_topic(text, least)).transpose()?;
        let (mut records, mut near) = (Vec::new(), Near::default());
        for entry in self.store.scan_between(RecordId(0), RecordId(u64::MAX)) {
            match entry {
                Ok((record, vector)) => {
                    let is_listed = scope.ids.is_none_or(|ids| ids.contains(&record.id));
                    if !is_listed || !is_within(&record, scope.filter) {
                        continue;
                    }
                    let standing = topic.as_ref().map(|it| self.standing(it, &record, &vector));
                    match standing {
                        None | Some(Standing::Meant) => records.push(record),
                        Some(Standing::Apart) => {}
                        Some(standing) => near.push(standing, record),
                    }
                }
                // What cannot be read cannot be recalled either.
                Err(error) if error.concerns_one_value() => {
                    log::error!(error:%; "a record cannot be read and is passed over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(ToForget { records, near: near.into_records() })
    }

    /// The frames within a filter that have no caption, yet or for good, in their order.
    pub fn frames_to_forget(&self, filter: &Filter) -> Result<Vec<FrameTicket>, MemoryError> {
        let mut named = Vec::new();
        let mut after = None;
        loop {
            match self.store.next_pending(after) {
                Ok(Some(PendingFrame { ticket, meta, end_at, attempts: _ })) => {
                    if is_meta_within(&meta, end_at, None, filter) {
                        named.push(ticket);
                    }
                    after = Some(ticket);
                }
                Ok(None) => break,
                Err(StoreError::DamagedFrame { ticket, .. }) => after = Some(ticket),
                Err(error) => return Err(error.into()),
            }
        }
        for SetAside { ticket, meta, reason: _ } in self.store.set_asides(None, SET_ASIDE_MAX)? {
            if is_meta_within(&meta, meta.taken_at, None, filter) {
                named.push(ticket);
            }
        }
        named.sort_unstable();
        Ok(named)
    }

    /// Removes frames without a caption for good, with their images; returns those that
    /// were there.
    pub fn forget_frames(&self, tickets: &[FrameTicket]) -> Result<Vec<FrameTicket>, MemoryError> {
        Ok(self.store.delete_frames(tickets)?)
    }

    /// Whether the embedder knows the script of a text.
    pub fn reads(&self, text: &str) -> bool {
        self.embedder.reads(text)
    }
}

/// Records that may show what is named, the likeliest of them and of these the newest.
#[derive(Default)]
struct Near(Vec<(Standing, Record)>);

impl Near {
    fn push(&mut self, standing: Standing, record: Record) {
        self.0.push((standing, record));
        if self.0.len() >= 2 * NEAR_MAX {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.0.sort_by_key(|(standing, it)| Reverse((*standing, it.end_at, it.id)));
        self.0.truncate(NEAR_MAX);
    }

    fn into_records(mut self) -> Vec<Record> {
        self.cut();
        self.0.into_iter().map(|(_, record)| record).collect()
    }
}

fn is_within(record: &Record, filter: &Filter) -> bool {
    is_meta_within(&record.meta, record.end_at, record.layer.as_deref(), filter)
}

fn is_meta_within(
    meta: &FrameMeta,
    end_at: Timestamp,
    of_layer: Option<&str>,
    filter: &Filter,
) -> bool {
    let Filter { window, source, map_id, layer, area } = filter;
    let is_in_area = area.as_ref().is_none_or(|area| {
        let is_of_map = meta.frame_id == area.frame_id() && meta.map_id == area.map_id();
        is_of_map && meta.pose.is_some_and(|pose| area.contains(pose.position))
    });
    window.touches(meta.taken_at, end_at)
        && source.as_ref().is_none_or(|source| *source == meta.source)
        && map_id.as_ref().is_none_or(|map_id| *map_id == meta.map_id)
        && layer.as_ref().is_none_or(|layer| Some(layer.as_str()) == of_layer)
        && is_in_area
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Window;
    use crate::memory::embedding_space;
    use crate::model::embedder::EmbedderHandle;
    use crate::model::scripted::ScriptedEmbedder;
    use crate::store::{NewObservation, Options, Store};

    const CAPTIONS: [(&str, &str); 4] = [
        ("front", "a red mug on a desk"),
        ("rear", "a red mug on a shelf"),
        ("front", "탁자 위의 빨간 컵"),
        ("front", "창가의 파란 의자"),
    ];

    /// Ids of the records that a scope names, made a minute apart, and of those that are near.
    fn named_and_near(
        captions: &[(&str, &str)],
        query: Option<&str>,
        filter: &Filter,
        ids: Option<&[RecordId]>,
    ) -> (Vec<u64>, Vec<u64>) {
        let dir = tempfile::tempdir().unwrap();
        let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)));
        let options = Options::at(dir.path().to_owned());
        let store = Store::open(&options, &embedding_space(&embedder)).unwrap();
        let memory = Episodic::open(store, embedder).unwrap();
        for (minute, (source, caption)) in (0_u32..).zip(captions) {
            let meta = FrameMeta {
                taken_at: at(minute),
                pose: None,
                frame_id: "map".to_owned(),
                map_id: String::new(),
                source: (*source).to_owned(),
            };
            let caption = (*caption).to_owned();
            let (confidence, layer) = (None, None);
            let observation = NewObservation { meta, caption, confidence, layer };
            memory.remember_observations(vec![observation]).unwrap();
        }
        let query = query.map(|query| (query, 0.75));
        let found = memory.to_forget(ForgetScope { query, filter, ids }).unwrap();
        let ids = |of: &[Record]| of.iter().map(|record| record.id.0).collect();
        (ids(&found.records), ids(&found.near))
    }

    fn named(query: Option<&str>, filter: &Filter, ids: Option<&[RecordId]>) -> Vec<u64> {
        named_and_near(&CAPTIONS, query, filter, ids).0
    }

    fn at(minute: u32) -> Timestamp {
        Timestamp::from_seconds(f64::from(minute) * 60.0).unwrap()
    }

    #[test]
    fn all_that_is_named_must_hold_of_a_record() {
        let all = Filter::default();
        let window = Window::new(Some(at(1)), Some(at(2))).unwrap();
        let visit = Filter { window, ..Filter::default() };
        let front = Filter { source: Some("front".to_owned()), ..visit.clone() };
        assert_eq!(named(None, &all, None), [1, 2, 3, 4]);
        assert_eq!(named(None, &visit, None), [2, 3]);
        assert_eq!(named(None, &front, None), [3]);
        assert_eq!(named(None, &visit, Some(&[RecordId(1), RecordId(2)])), [2]);
        assert_eq!(named(Some("a red mug"), &visit, None), [2]);
    }

    #[test]
    fn records_are_forgotten_by_what_they_show() {
        let captions = [
            "a red mug on a desk",
            "a blue mug next to a red book",
            "a mug on a shelf",
            "a phone and a red book on a desk",
            "somebody cooking in the kitchen",
            "the alarm rang twice at noon",
            "a table without a lamp",
        ]
        .map(|it| ("front", it));
        for (query, meant, near) in [
            ("all records of a red mug", &[1][..], &[3][..]),
            ("mug", &[1, 2, 3], &[]),
            ("a red mug on the shelf", &[], &[1, 3]),
            ("mugs and phones", &[1, 2, 3, 4], &[]),
            ("mugs but not the red one", &[2], &[3, 1]),
            ("red or blue mugs", &[1, 2], &[3]),
            ("two mugs", &[], &[3, 2, 1]),
            ("mug_7", &[], &[]),
            ("a phone and a red book", &[4], &[]),
            ("a green sofa", &[], &[]),
            ("cooking", &[5], &[]),
            ("me cooking", &[5], &[]),
            ("rang twice", &[6], &[]),
            ("something blue", &[2], &[]),
        ] {
            let found = named_and_near(&captions, Some(query), &Filter::default(), None);
            assert_eq!(found, (meant.to_vec(), near.to_vec()), "{query}");
        }
    }

    #[test]
    fn what_only_may_be_meant_is_listed_to_a_bound() {
        let captions = vec![("front", "a mug"); 3 * NEAR_MAX];
        let (meant, near) = named_and_near(&captions, Some("a red mug"), &Filter::default(), None);
        assert_eq!((meant.len(), near.len()), (0, NEAR_MAX));
        assert_eq!(near.first(), Some(&u64::try_from(captions.len()).unwrap()), "the newest first");
    }

    #[test]
    fn captions_and_queries_that_are_not_read_are_compared_as_written() {
        let all = Filter::default();
        assert_eq!(named(Some("빨간 컵"), &all, None), [3]);
        assert!(named(Some("고양이"), &all, None).is_empty());
    }
}
