//! What captions have that is nearest to a description of a thing that no caption names: the
//! sunglasses for "shades", the bubble wrap for "the plastic with the air bubbles".
//!
//! By the vectors of whole phrases: what is said of a thing tells as much of it as its noun does.

use std::collections::BTreeMap;

use crate::language::fit::Certainty;
use crate::language::lexicon;
use crate::language::mention::Mention;
use crate::memory::episodic::vocabulary::is_furniture_of_name;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::Record;

/// Likeness from which a phrase is near a description: a cosine of .45. Of the 1,200 requests of
/// eight households (`benches/language/README.md`) some 50 are for what no caption names; 18 more of
/// them go to the right place by this.
const NEAR_DESCRIPTION_LEAST: f32 = 0.725;

/// Phrases that are embedded for a description: those whose names are nearest to it.
const PHRASES_MAX: usize = 128;

/// Newest sightings of it among which one has a position.
const SIGHTINGS_MAX: usize = 16;

/// A thing as a caption has it, and the newest record of it.
#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    mention: &'a Mention,
    record: &'a Record,
}

impl Episodic {
    /// The phrase of the records that is nearest to one of the descriptions, with the last sighting
    /// of that which has a position; `None` where none is near.
    pub(super) fn nearest_description(
        &self,
        thing: &Mention,
        descriptions: &[&str],
        records: &[Record],
    ) -> Result<Option<(String, Record)>, MemoryError> {
        let described = self.embedder.embed_batch(TextRole::Passage, descriptions)?;
        let mut candidates: Vec<(f32, Candidate<'_>)> = Vec::new();
        let things = things_of(records);
        for candidate in things.filter(|it| !is_furniture_of_name(thing, &it.mention.head_stem)) {
            if let Some(likeness) = self.vocabulary.likeness_of(candidate.mention, &described) {
                candidates.push((likeness, candidate));
            }
        }
        candidates.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        candidates.truncate(PHRASES_MAX);
        let phrases = candidates.iter().map(|(_, it)| format!("a {}", it.mention.phrase));
        let phrases: Vec<String> = phrases.collect();
        let phrases: Vec<&str> = phrases.iter().map(String::as_str).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &phrases)?;
        let likeness = vectors.iter().map(|vector| {
            let all = described.iter().map(|it| self.embedder.similarity(it, vector));
            all.fold(0.0, f32::max)
        });
        let near = likeness.zip(candidates).filter(|(it, _)| *it >= NEAR_DESCRIPTION_LEAST);
        let nearest = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((_, (_, Candidate { mention, record }))) = nearest else { return Ok(None) };
        // By other words, too: a brown wallet is the brown leather wallet.
        let seen = match self.last_seen(&mention.phrase, &Filter::default(), SIGHTINGS_MAX) {
            // What a caption calls something need not be a name to who asks.
            Err(MemoryError::NamesNothing(_)) => Vec::new(),
            seen => seen?,
        };
        let sure = seen.into_iter().filter(|it| it.certainty > Certainty::Possible);
        let mut records = sure.map(|it| it.recalled.record).filter(|it| it.meta.pose.is_some());
        let newest = records.next().unwrap_or_else(|| record.clone());
        Ok(Some((mention.phrase.clone(), newest)))
    }
}

/// The things that records with a position show, each phrase once, in the order of the alphabet;
/// nobody, and nothing that is a part of somebody.
fn things_of(records: &[Record]) -> impl Iterator<Item = Candidate<'_>> {
    let mut newest: BTreeMap<&str, Candidate<'_>> = BTreeMap::new();
    for record in records.iter().filter(|it| it.meta.pose.is_some()) {
        let things = record.parsed.there().filter(|it| !it.is_person);
        for mention in things.map(|it| &it.mention) {
            let candidate = Candidate { mention, record };
            let known = newest.entry(&mention.phrase).or_insert(candidate);
            if (known.record.end_at, known.record.id) < (record.end_at, record.id) {
                *known = candidate;
            }
        }
    }
    newest.into_values().filter(|it| !lexicon::is_of_body(&it.mention.singular_head()))
}
