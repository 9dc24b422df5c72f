//! Of sightings that only may show what is asked for, those that are most alike to the query: by
//! the name that the caption has for it, by the whole caption, and, word by word, by the sentence
//! that says most of the query.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::base::RecordId;
use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::caption::{ParsedCaption, sentences};
use crate::language::deeds::is_deed;
use crate::language::fit::fit;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::words::STOP_WORDS;
use crate::memory::episodic::caption_match::{CaptionMatch, match_caption};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::Query;
use crate::search::sightings::ObjectSightings;
use crate::store::Record;

/// Score below that of the most alike at which a caption is about as alike: the newest of these
/// counts. Of .04 to .06 the one that finds most in `benches/language`.
const ABOUT_AS_ALIKE: f32 = 0.04;

/// The same for one that calls the thing as the most alike does.
const CALLED_AS_ALIKE: f32 = 0.12;

/// Most records that are compared with the query for their likeness alone. Four times as many find
/// nothing more in `benches/language`.
const ALIKE_RECORDS_MAX: usize = 8;

/// Most records whose sentences are read: those that are the most alike by caption and name. Four
/// times as many find nothing more in `benches/language`.
const SENTENCES_OF_MAX: usize = 16;

/// Likeness of a name that has no vector.
const UNKNOWN_LIKENESS: f32 = 0.75;

impl Episodic {
    /// Of sightings that only may show what is asked for, and of records that say it in words of
    /// which no dictionary knows, those that are about as alike to the query as the most alike, and
    /// where that calls it by another noun, those that do so, too; newest first.
    pub(super) fn most_alike(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        seen: ObjectSightings,
    ) -> Result<ObjectSightings, MemoryError> {
        let ObjectSightings { certainty, records: may_show } = seen;
        let mut records = self.store.records(&may_show)?;
        let matches =
            records.iter().filter_map(|it| Some((it.id, match_caption(&it.parsed, wanted)?)));
        let matches: BTreeMap<RecordId, CaptionMatch> = matches.collect();
        records.extend(self.said_otherwise(asked, wanted, &may_show)?);
        let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
        let mut alike = self.likeness(asked, &matches, &ids);
        let score = |alike: &BTreeMap<RecordId, Likeness>, id: &RecordId| {
            alike.get(id).copied().unwrap_or_default().score()
        };
        let mut likely: Vec<&Record> = records.iter().collect();
        likely.sort_by(|a, b| score(&alike, &b.id).total_cmp(&score(&alike, &a.id)));
        likely.truncate(SENTENCES_OF_MAX);
        for (id, sentence) in self.sentence_likeness(asked.text, &likely)? {
            alike.entry(id).or_default().sentence = Some(sentence);
        }
        if wanted.around.is_empty() {
            make_equal(&mut alike, |id| Some(matches.get(id)?.target.phrase.as_str()));
        }
        let score = |id: &RecordId| score(&alike, id);
        let most = ids.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
        let best = most.map_or(0.0, |id| score(&id));
        let name = |id: &RecordId| matches.get(id).and_then(|it| it.other_name.as_ref());
        let called = most.as_ref().and_then(name);
        let is_called = |id: &RecordId| called.is_some() && name(id) == called;
        let is_near = |id: &RecordId, by: f32| score(id) >= best - by;
        records.retain(|it| {
            is_near(&it.id, ABOUT_AS_ALIKE) || is_called(&it.id) && is_near(&it.id, CALLED_AS_ALIKE)
        });
        records.sort_by_key(|it| Reverse((it.end_at, it.id)));
        Ok(ObjectSightings { certainty, records: records.into_iter().map(|it| it.id).collect() })
    }

    /// Records that are alike to the query and name nothing that is called so: what does and is not
    /// among `may_show` says that it is another or not there.
    fn said_otherwise(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        may_show: &[RecordId],
    ) -> Result<Vec<Record>, MemoryError> {
        if asked.vector.is_none() {
            return Ok(Vec::new());
        }
        let alike = self.corpus.search(&Query { k: ALIKE_RECORDS_MAX, ..*asked });
        let hits = alike.into_iter().map(|it| it.id);
        let others: Vec<RecordId> = hits.filter(|it| !may_show.contains(it)).collect();
        let mut records = self.store.records(&others)?;
        records.retain(|it| !denies(&it.parsed, &wanted.target));
        Ok(records)
    }

    /// How alike records are to a query by their captions and by what these call the thing.
    fn likeness(
        &self,
        asked: &Query<'_>,
        matches: &BTreeMap<RecordId, CaptionMatch>,
        ids: &[RecordId],
    ) -> BTreeMap<RecordId, Likeness> {
        let hits = self.corpus.score(&Query { k: ids.len(), ..*asked }, ids).into_iter();
        let of_caption: BTreeMap<RecordId, f32> = hits.map(|hit| (hit.id, hit.score)).collect();
        let of_name = self.name_likeness(asked.text, matches);
        let likeness = |id: &RecordId| {
            let is_named = !of_name.is_empty() && matches.contains_key(id);
            let name = is_named.then(|| of_name.get(id).copied().unwrap_or(UNKNOWN_LIKENESS));
            let caption = of_caption.get(id).copied().unwrap_or(0.0);
            (*id, Likeness { caption, name, sentence: None })
        };
        ids.iter().map(likeness).collect()
    }

    /// How alike the names are that captions have for what a query asks for, where both have
    /// vectors.
    fn name_likeness(
        &self,
        query: &str,
        matches: &BTreeMap<RecordId, CaptionMatch>,
    ) -> BTreeMap<RecordId, f32> {
        let asked = self.query_mentions(query).into_iter().next();
        let Some(asked) = asked.filter(|it| !is_deed(it)) else { return BTreeMap::new() };
        let mut by_name: BTreeMap<String, Option<f32>> = BTreeMap::new();
        let mut likeness = |seen: &Mention| {
            let likeness = || self.vocabulary.name_likeness(&asked, seen);
            *by_name.entry(seen.name()).or_insert_with(likeness)
        };
        matches.iter().filter_map(|(id, it)| Some((*id, likeness(&it.target)?))).collect()
    }

    /// How much of a query's words the sentence says that says most of it; of no record where no
    /// word tells anything, or the embedder has no vectors of words or does not read these.
    fn sentence_likeness(
        &self,
        query: &str,
        records: &[&Record],
    ) -> Result<BTreeMap<RecordId, f32>, MemoryError> {
        let asked = telling_words(query);
        let said: Vec<(RecordId, &str)> = records
            .iter()
            .flat_map(|it| sentences(&it.caption).map(|sentence| (it.id, sentence)))
            .collect();
        let passages: Vec<&str> = said.iter().map(|(_, sentence)| *sentence).collect();
        let mut of_record = BTreeMap::new();
        if asked.is_empty() || !self.reads(query) {
            return Ok(of_record);
        }
        let found = self.embedder.max_similarity(&asked, &passages)?.unwrap_or_default();
        for ((id, _), similarity) in said.into_iter().zip(found) {
            let best = of_record.entry(id).or_insert(similarity);
            *best = similarity.max(*best);
        }
        Ok(of_record)
    }
}

/// The words of a query that tell anything.
pub(super) fn telling_words(query: &str) -> String {
    let telling = |word: &&str| !STOP_WORDS.contains(&word.to_lowercase());
    query.split_whitespace().filter(telling).collect::<Vec<_>>().join(" ")
}

/// How alike a record is to a query, in 0..=1 each.
#[derive(Debug, Clone, Copy, Default)]
struct Likeness {
    caption: f32,
    /// Of what the caption calls the thing; `None` where it names nothing that may be it.
    name: Option<f32>,
    /// Of the sentence that says most of the query; `None` where none was read.
    sentence: Option<f32>,
}

impl Likeness {
    fn score(self) -> f32 {
        let sentence = self.sentence.unwrap_or(self.caption);
        match self.name {
            Some(name) => (self.caption + sentence + name) / 3.0,
            None => f32::midpoint(self.caption, sentence),
        }
    }
}

/// Gives all records that call the thing the same the most that any of their captions has. A query
/// that names a thing alone says nothing of what is around it: with "the TV remote" no remote is meant
/// that lies near a TV.
fn make_equal<'a>(
    alike: &mut BTreeMap<RecordId, Likeness>,
    called: impl Fn(&RecordId) -> Option<&'a str>,
) {
    let mut by_name: BTreeMap<&str, Likeness> = BTreeMap::new();
    for (name, it) in alike.iter().filter_map(|(id, it)| Some((called(id)?, it))) {
        let most = by_name.entry(name).or_insert(*it);
        most.caption = most.caption.max(it.caption);
        most.sentence = most.sentence.into_iter().chain(it.sentence).reduce(f32::max);
    }
    for (id, it) in alike.iter_mut() {
        *it = called(id).and_then(|name| by_name.get(name)).copied().unwrap_or(*it);
    }
}

/// Whether a caption says of what is called as what is asked for that it is not there, or that it
/// looks otherwise.
fn denies(caption: &ParsedCaption, asked: &ObjectQuery) -> bool {
    let looks = |of: &[Attribute]| -> Vec<Attribute> {
        let looks = of.iter().filter(|it| it.kind != AttributeKind::Compound);
        looks.cloned().collect()
    };
    let wanted = looks(&asked.attributes);
    // An elevator door is called a door, and is no front door.
    let mut called = caption.things.iter().filter(|it| asked.is_named_by(&it.mention)).peekable();
    if called.peek().is_some() && called.all(|it| asked.fit(&it.mention).is_none()) {
        return true;
    }
    let mut named = caption.things.iter().filter(|it| asked.is_named_by(&it.mention));
    named
        .any(|it| !it.presence.is_there() || fit(&looks(&it.mention.attributes), &wanted).is_none())
}
