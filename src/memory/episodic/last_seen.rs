//! The newest records that really show a thing: decided record by record from
//! the caption, never the newest of the most similar.

use std::collections::BTreeMap;

use crate::base::RecordId;
use crate::index::mention::{Mention, mentions};
use crate::memory::episodic::shows::{Certainty, Evidence, shows};
use crate::memory::episodic::{Episodic, MemoryError, Recalled};
use crate::model::TextRole;
use crate::search::{Filter, Query};
use crate::store::Record;

/// Newest records looked at whose caption holds the wanted word.
const SAME_WORD_MAX: usize = 4096;

/// Most similar records looked at for other words with the same meaning.
const SIMILAR_MAX: usize = 200;

/// Records read from the store at a time, newest first.
const READ_AT_ONCE: usize = 64;

/// A record that shows the wanted thing, and how surely.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    pub recalled: Recalled,
    pub certainty: Certainty,
}

impl Episodic {
    /// The `k` newest records within `filter` that show what `query` describes,
    /// newest first.
    ///
    /// Only the surest are returned: records that show the thing in its named
    /// surroundings where there are any, else those that show it with all its
    /// attributes, else those that show it with nothing against it. Synonyms
    /// are found among the [`SIMILAR_MAX`] most similar captions.
    pub fn last_seen(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let wanted = mentions(query);
        let Some(target) = wanted.first() else {
            return Err(MemoryError::NamesNothing(query.to_owned()));
        };
        let vector = self.embedder.embed(TextRole::Query, query)?;
        let asked = Query { text: query, vector: &vector, filter, accepts: None, k: SIMILAR_MAX };
        let similar = self.corpus.search(&asked);

        let mut gathered = Gathered::default();
        let terms = [target.head.clone()];
        let same_word = self.corpus.newest(filter, SAME_WORD_MAX, &terms);
        for ids in same_word.chunks(READ_AT_ONCE) {
            self.judge(ids, &wanted, &mut gathered)?;
            // Newest first: what comes later is older than what is there.
            if gathered.of(Certainty::InPlace) >= k {
                break;
            }
        }
        let others: Vec<RecordId> =
            similar.iter().map(|hit| hit.id).filter(|id| !same_word.contains(id)).collect();
        self.judge(&others, &wanted, &mut gathered)?;
        let newest = gathered.newest(k);
        let ids: Vec<RecordId> = newest.iter().map(|(record, _)| record.id).collect();
        let scores = self.corpus.score(&asked, &ids);
        let scores = scores.into_iter().map(|hit| (hit.id, hit.score)).collect();
        Ok(newest.into_iter().map(|found| sighting(found, &scores)).collect())
    }

    fn judge(
        &self,
        ids: &[RecordId],
        wanted: &[Mention],
        gathered: &mut Gathered,
    ) -> Result<(), MemoryError> {
        for record in self.store.records(ids)? {
            let caption = mentions(&record.caption);
            let same = |a: &Mention, b: &Mention| self.things.same(a, b);
            if let Some(evidence) = shows(&caption, wanted, &same) {
                gathered.0.push((record, evidence));
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Gathered(Vec<(Record, Evidence)>);

impl Gathered {
    fn of(&self, certainty: Certainty) -> usize {
        self.0.iter().filter(|(_, evidence)| evidence.certainty == certainty).count()
    }

    fn newest(self, k: usize) -> Vec<(Record, Evidence)> {
        let surest = self.0.iter().map(|(_, evidence)| evidence.certainty).max();
        let mut kept: Vec<(Record, Evidence)> =
            self.0.into_iter().filter(|(_, evidence)| Some(evidence.certainty) == surest).collect();
        kept.sort_by(|(a, _), (b, _)| b.end_at.cmp(&a.end_at).then(b.id.cmp(&a.id)));
        kept.truncate(k);
        kept
    }
}

fn sighting(found: (Record, Evidence), scores: &BTreeMap<RecordId, f32>) -> Sighting {
    let (record, Evidence { certainty, matched }) = found;
    let score = scores.get(&record.id).copied().unwrap_or(0.0);
    Sighting { recalled: Recalled { record, score, matched }, certainty }
}
