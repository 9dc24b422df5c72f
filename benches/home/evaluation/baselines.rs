//! What simpler ways of asking would answer: the words of the task as they are,
//! one recall, no planner.

use anyhow::ensure;
use serde_json::{Map, Value, json};

use super::gold::Answer;
use super::memory::{Memory, Remembered};
use engram::cli::client::Client;
use engram::index::Row;
use engram::index::lexical::AnalysedText;
use engram::index::lexical::mutable::MutablePostings;
use engram::index::lexical::query::Bm25Query;

/// Their names, in the order of [`Baselines::answers`].
pub(super) const NAMES: [&str; 3] = ["newest of top 8", "best dense match", "BM25"];

/// Records of which the newest is one baseline's answer: as many as
/// `recall_best_match` gives unless told otherwise.
const TOP: usize = 8;
/// As many as `recall_best_match` gives at most; the one of the nearest vector is
/// among them, as words weigh a fifth of meaning.
const MOST: usize = 50;

#[derive(Debug)]
pub(super) struct Baselines<'a> {
    memory: &'a Memory,
    words: MutablePostings,
}

impl<'a> Baselines<'a> {
    pub(super) fn new(memory: &'a Memory) -> Self {
        let mut words = MutablePostings::default();
        for record in &memory.records {
            words.push(AnalysedText::new(&record.caption));
        }
        Self { memory, words }
    }

    /// Each baseline's answer to a task.
    pub(super) fn answers(&self, client: &mut Client, task: &str) -> anyhow::Result<[Answer; 3]> {
        let found = recall(client, task)?;
        let newest = found.iter().take(TOP).map(|hit| hit.id).max();
        let dense = best(found.iter().map(|hit| (hit.id, hit.dense)));
        let bm25 = self.bm25(task);
        Ok([newest, dense, bm25].map(|id| self.answer(id)))
    }

    fn answer(&self, id: Option<u64>) -> Answer {
        let record = id.and_then(|id| self.memory.get(id));
        record.map_or_else(Answer::default, |Remembered { id, position, .. }| Answer {
            record: Some(*id),
            position: *position,
            ..Answer::default()
        })
    }

    /// The record whose caption has the best BM25, if any has a word of the task.
    fn bm25(&self, task: &str) -> Option<u64> {
        let query = Bm25Query::new(task, &[&self.words]);
        let rows = self.memory.records.iter().zip(0_u32..);
        let scored = rows.map(|(record, row)| (record.id, query.score(&self.words, Row(row))));
        best(scored.filter(|(_, score)| *score > 0.0).map(|(id, score)| (id, f64::from(score))))
    }
}

struct Hit {
    id: u64,
    dense: f64,
}

fn recall(client: &mut Client, task: &str) -> anyhow::Result<Vec<Hit>> {
    let arguments = json!({"query": task, "k": MOST, "explain": true}).as_object().cloned();
    let reply = client.call("recall_best_match", arguments.unwrap_or_default())?;
    ensure!(!reply.is_error, "recall_best_match {task:?}: {}", reply.text);
    let scores = |structured: &Map<String, Value>| -> Option<Vec<Hit>> {
        let scores = structured.get("explanation")?.get("scores")?.as_array()?;
        let hit = |it: &Value| {
            Some(Hit { id: it.get("id")?.as_u64()?, dense: it.get("dense")?.as_f64()? })
        };
        scores.iter().map(hit).collect()
    };
    Ok(scores(&reply.structured).unwrap_or_default())
}

/// The newest of the best: a robot sees the same caption again and again.
fn best(scored: impl Iterator<Item = (u64, f64)>) -> Option<u64> {
    scored.max_by(|(a, x), (b, y)| x.total_cmp(y).then(a.cmp(b))).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equals_the_newest_is_best() {
        assert_eq!(best([(1, 0.5), (2, 0.9), (3, 0.9), (4, 0.1)].into_iter()), Some(3));
        assert_eq!(best([].into_iter()), None);
    }
}
