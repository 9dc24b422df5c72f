//! Chooses the records that are to be forgotten: by their ids, by when, where and by what
//! they were made, and by how similar their captions are to a query.

use std::collections::BTreeSet;

use crate::base::FrameTicket;
use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::frame::FrameMeta;
use crate::base::time::Timestamp;
use crate::index::terms::terms;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::{PendingFrame, Record, SET_ASIDE_MAX, SetAside, StoreError};

/// What to forget. All that is named must hold of a record.
#[derive(Debug, Clone, Copy)]
pub struct ForgetScope<'a> {
    /// A query with the least similarity of a caption.
    pub query: Option<(&'a str, f32)>,
    pub filter: &'a Filter,
    /// `None` for all records.
    pub ids: Option<&'a [RecordId]>,
}

impl Episodic {
    /// The records that `scope` names, in their order; nothing is forgotten yet.
    ///
    /// Exact: reads every record in the store, which a large memory takes seconds for.
    pub fn to_forget(&self, scope: ForgetScope<'_>) -> Result<Vec<Record>, MemoryError> {
        let topic = scope.query.map(|(text, least)| self.topic(text, least)).transpose()?;
        let mut named = Vec::new();
        for entry in self.store.scan_between(RecordId(0), RecordId(u64::MAX)) {
            match entry {
                Ok((record, vector)) => {
                    let is_meant = topic
                        .as_ref()
                        .is_none_or(|topic| self.is_about(topic, &record.caption, &vector));
                    let is_listed = scope.ids.is_none_or(|ids| ids.contains(&record.id));
                    if is_meant && is_listed && is_within(&record, scope.filter) {
                        named.push(record);
                    }
                }
                // What cannot be read cannot be recalled either.
                Err(error) if error.concerns_one_value() => {
                    log::error!(error:%; "a record cannot be read and is passed over");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(named)
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

    fn topic(&self, text: &str, least: f32) -> Result<Topic, MemoryError> {
        let is_read = self.reads(text);
        let vector = is_read.then(|| self.embedder.embed(TextRole::Query, text)).transpose()?;
        Ok(Topic { vector, least, terms: terms(text).into_iter().collect() })
    }

    /// By meaning; where the embedder reads one of both not, by all of the words.
    fn is_about(&self, topic: &Topic, caption: &str, vector: &Embedding) -> bool {
        match &topic.vector {
            Some(query) if self.reads(caption) => {
                self.embedder.similarity(vector, query) >= topic.least
            }
            _ => {
                let held: BTreeSet<String> = terms(caption).into_iter().collect();
                !topic.terms.is_empty() && topic.terms.is_subset(&held)
            }
        }
    }
}

/// What the captions of forgotten records are about.
struct Topic {
    /// `None` where the embedder does not know the script.
    vector: Option<Embedding>,
    least: f32,
    terms: BTreeSet<String>,
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

    /// Ids of the records that a scope names, made a minute apart.
    fn named(query: Option<&str>, filter: &Filter, ids: Option<&[RecordId]>) -> Vec<u64> {
        let dir = tempfile::tempdir().unwrap();
        let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)));
        let options = Options::at(dir.path().to_owned());
        let store = Store::open(&options, &embedding_space(&embedder)).unwrap();
        let memory = Episodic::open(store, embedder).unwrap();
        for (minute, (source, caption)) in (0_u32..).zip(CAPTIONS) {
            let meta = FrameMeta {
                taken_at: at(minute),
                pose: None,
                frame_id: "map".to_owned(),
                map_id: String::new(),
                source: source.to_owned(),
            };
            let caption = caption.to_owned();
            let (confidence, layer) = (None, None);
            let observation = NewObservation { meta, caption, confidence, layer };
            memory.remember_observations(vec![observation]).unwrap();
        }
        let query = query.map(|query| (query, 0.75));
        let records = memory.to_forget(ForgetScope { query, filter, ids }).unwrap();
        records.iter().map(|record| record.id.0).collect()
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
    fn captions_and_queries_that_are_not_read_are_compared_as_written() {
        let all = Filter::default();
        assert_eq!(named(Some("빨간 컵"), &all, None), [3]);
        assert!(named(Some("고양이"), &all, None).is_empty());
    }
}
