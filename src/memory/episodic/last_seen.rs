//! Last sightings of a thing. Decided from the noun phrases of all captions, never the newest
//! of the most similar; only the records returned are read.

use std::collections::BTreeMap;

use crate::base::RecordId;
use crate::index::phrases::{Relation, SceneQuery};
use crate::language::deeds::is_deed;
use crate::language::everyday_deeds::in_other_words;
use crate::language::fit::{Certainty, Fit};
use crate::language::lexicon::singular;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::person::is_person;
use crate::language::reference::purpose::purpose_at;
use crate::language::told_deeds::{doer_and_things, query_mentions};
use crate::memory::episodic::caption_match::match_caption;
use crate::memory::episodic::{Episodic, MemoryError, Recalled};
use crate::search::evidence::SightingEvidence;
use crate::search::sightings::ObjectSightings;
use crate::search::{Filter, Query};
use crate::store::Record;

/// Record that shows the target, with its certainty.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    pub recalled: Recalled,
    pub certainty: Certainty,
    /// Probability that it shows the target if its caption is true.
    pub match_probability: f32,
    /// Stem of the noun that its caption has for the target; `None` where it only tells of it.
    pub noun: Option<String>,
}

/// Explanation of the sightings found, or of their absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SightingExplanation {
    /// Query as noun phrases, each with the stems of its synonyms.
    pub wanted: SceneQuery,
    pub evidence: SightingEvidence,
}

/// In which words what is found shows what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// In the query's, and in those that mean the same.
    Own,
    /// Or in any that a model finds to say so.
    Any,
}

/// Newest of those that only may show the thing, which are compared with the query.
const POSSIBLE_MAX: usize = 256;

/// Sightings read beyond `k`, to replace misdetections.
const MISDETECTION_SPARE: usize = 16;

impl Episodic {
    /// The `k` newest sightings within `filter` of what `query` describes, newest first.
    ///
    /// Only those of the best certainty: records that show the thing in its named surroundings
    /// where there are any, else those that show it with all its attributes, else those without
    /// a contradiction, the most alike to the query of them. Misdetections are passed over unless
    /// all may be some.
    pub fn last_seen(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
    ) -> Result<Vec<Sighting>, MemoryError> {
        self.last_seen_in(query, filter, k, Wording::Own)
    }

    /// The same, in the query's words or in any.
    pub fn last_seen_in(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
        wording: Wording,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let find =
            |wanted: &SceneQuery, most| (self.corpus.last_sightings(wanted, filter, most), ());
        Ok(self.last_seen_by(query, (filter, k), wording, find)?.0)
    }

    /// As [`Episodic::last_seen_in`], with the query as it was read and the evidence of the index.
    pub fn last_seen_explained(
        &self,
        query: &str,
        filter: &Filter,
        k: usize,
        wording: Wording,
    ) -> Result<(Vec<Sighting>, SightingExplanation), MemoryError> {
        let find = |wanted: &SceneQuery, most| {
            let (seen, evidence) = self.corpus.explain_last_sightings(wanted, filter, most);
            (seen, SightingExplanation { wanted: wanted.clone(), evidence })
        };
        self.last_seen_by(query, (filter, k), wording, find)
    }

    /// The sightings of what `find` gives, of at most so many, and what it tells besides: to
    /// explain costs more than to find.
    fn last_seen_by<T>(
        &self,
        query: &str,
        (filter, k): (&Filter, usize),
        wording: Wording,
        find: impl FnOnce(&SceneQuery, usize) -> (Option<ObjectSightings>, T),
    ) -> Result<(Vec<Sighting>, T), MemoryError> {
        let wanted = self.scene_query(query)?;
        let (seen, told) = find(&wanted, POSSIBLE_MAX.max(k.saturating_add(MISDETECTION_SPARE)));
        if seen.is_none() && wording == Wording::Own {
            return Ok((Vec::new(), told));
        }
        let vector = self.query_vector(query)?;
        let asked = Query { text: query, vector: vector.as_ref(), filter, accepts: None, k };
        let mut sightings = match seen {
            Some(seen) => self.of_seen(&asked, &wanted, seen)?,
            None => Vec::new(),
        };
        if wording == Wording::Any {
            sightings = self.after_other_words(&asked, &wanted, sightings)?;
        }
        Ok((sightings, told))
    }

    /// The sightings of the surest that the index has.
    fn of_seen(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        mut seen: ObjectSightings,
    ) -> Result<Vec<Sighting>, MemoryError> {
        if seen.certainty == Certainty::Possible {
            seen = self.most_alike(asked, wanted, seen)?;
        }
        seen.records.truncate(asked.k.saturating_add(MISDETECTION_SPARE));
        let sightings = self.sightings(asked, wanted, seen)?;
        self.without_misdetections(sightings, wanted, asked.k)
    }

    /// First `k` sightings without misdetections; all where all may be some.
    fn without_misdetections(
        &self,
        mut sightings: Vec<Sighting>,
        wanted: &SceneQuery,
        k: usize,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let records: Vec<Record> = sightings.iter().map(|it| it.recalled.record.clone()).collect();
        let misdetected =
            self.place_history(&records, &wanted.target)?.find_misdetections(&records);
        if misdetected.len() < sightings.len() {
            sightings.retain(|it| !misdetected.contains(&it.recalled.record.id));
        }
        sightings.truncate(k);
        Ok(sightings)
    }

    pub(super) fn scene_query(&self, query: &str) -> Result<SceneQuery, MemoryError> {
        let wanted = self.read_query(query)?;
        wanted.ok_or_else(|| MemoryError::NamesNothing(query.to_owned()))
    }

    /// What captions within `filter` name that `query` names a kind of; most frequent first.
    pub(super) fn related_phrases(&self, query: &str, filter: &Filter) -> Vec<String> {
        let Some(wanted) = self.read_literally(query) else { return Vec::new() };
        let (_, evidence) = self.corpus.explain_last_sightings(&wanted, filter, 0);
        let phrases = evidence.things.into_iter().next().map(|it| it.phrases).unwrap_or_default();
        let related = phrases.into_iter().filter(|it| it.fit == Some(Fit::Related));
        related.map(|it| it.phrase).collect()
    }

    /// Query as noun phrases; `None` where it has none. Where nothing surely shows what it names,
    /// also with the names near that.
    pub(super) fn read_query(&self, query: &str) -> Result<Option<SceneQuery>, MemoryError> {
        let named = self.query_mentions(query);
        let Some(mut wanted) = self.scene_query_of(query, named.clone()) else { return Ok(None) };
        let seen = self.corpus.last_sightings(&wanted, &Filter::default(), 1);
        let certainty = seen.map(|it| it.certainty);
        let is_sure = certainty.is_some_and(|it| it > Certainty::Possible);
        // A sleeping bag tells no deed.
        let is_of_somebody = named.iter().any(|it| is_deed(it) || is_person(it));
        if !is_sure
            && is_of_somebody
            && let Some(other) = self.deed_in_other_words(query, certainty)
        {
            return Ok(Some(other));
        }
        if certainty.is_none()
            && let Some(beside) = self.doer_beside_things(query)
        {
            return Ok(Some(beside));
        }
        if let Some(target) = named.first().filter(|_| !is_sure) {
            let near = self.vocabulary.near_names(target)?;
            wanted.target.names.extend(near.into_iter().map(|it| it.into_name(target)));
        }
        Ok(Some(wanted))
    }

    /// A query with its deed said otherwise, where captions show that more surely than `certainty`.
    fn deed_in_other_words(&self, query: &str, certainty: Option<Certainty>) -> Option<SceneQuery> {
        let others = in_other_words(&query.to_lowercase()).into_iter();
        let found = others.filter_map(|it| {
            let wanted = self.read_literally(&it)?;
            let seen = self.corpus.last_sightings(&wanted, &Filter::default(), 1)?;
            Some((seen.certainty, wanted)).filter(|(it, _)| Some(*it) > certainty)
        });
        Some(found.max_by_key(|(certainty, _)| *certainty)?.1)
    }

    /// Whom a query tells a deed of, beside all else that it names, where captions have them so:
    /// "a girl plays the piano" may be one who practises it, as captions put deeds in other words.
    fn doer_beside_things(&self, query: &str) -> Option<SceneQuery> {
        let mut wanted = self.vocabulary.scene_query(doer_and_things(query)?)?;
        wanted.is_told_by_around = true;
        for name in &mut wanted.target.names {
            let is_general = matches!(name.relation, Relation::MoreGeneral | Relation::Alike);
            name.relation = if is_general { name.relation } else { Relation::Likely };
        }
        let seen = self.corpus.last_sightings(&wanted, &Filter::default(), 1)?;
        wanted.is_deed_left_out = true;
        (seen.certainty > Certainty::Possible).then_some(wanted)
    }

    /// As [`Episodic::read_query`], by the names that are known to be the thing's alone.
    pub(super) fn read_literally(&self, query: &str) -> Option<SceneQuery> {
        self.scene_query_of(query, self.query_mentions(query))
    }

    /// The things that a query names. What captions have as a part of a thing's name is one in the
    /// query: "liquid" of a bottle. It may lack its first article. What the first is for is said of it,
    /// and by no caption.
    pub(super) fn query_mentions(&self, query: &str) -> Vec<Mention> {
        let words: Vec<&str> = query.split_whitespace().collect();
        let purpose = purpose_at(&words).filter(|it| *it > 0);
        let (name, purpose) = words.split_at(purpose.unwrap_or(words.len()));
        let query = name.join(" ");
        let mut named = query_mentions(&query);
        let with_article = query_mentions(&format!("a {query}"));
        if with_article.len() > named.len() {
            named = with_article;
        }
        if let Some(first) = named.first_mut().filter(|_| !purpose.is_empty()) {
            let word = purpose.join(" ");
            first.attributes.push(Attribute { word, kind: AttributeKind::Other });
        }
        for mention in &mut named {
            for attribute in &mut mention.attributes {
                let word = singular(&attribute.word);
                if attribute.kind == AttributeKind::Other
                    && self.corpus.is_part_of_name(&mention.head_stem, &word)
                {
                    *attribute = Attribute { word, kind: AttributeKind::Compound };
                }
            }
        }
        named
    }

    fn scene_query_of(&self, query: &str, named: Vec<Mention>) -> Option<SceneQuery> {
        let words = query.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let tells = |link: &str| {
            named.first().is_some_and(|it| words.contains(&format!("{} {link} ", it.head)))
        };
        // "a bowl of oranges" is no bowl of soup, "a bag with dinosaurs on it" not any bag.
        let is_told = tells("of") || tells("with");
        let mut wanted = self.vocabulary.scene_query(named)?;
        wanted.is_told_by_around |= is_told;
        Some(wanted)
    }

    /// The records as sightings, with how alike their captions are to what was asked.
    pub(super) fn sightings(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        seen: ObjectSightings,
    ) -> Result<Vec<Sighting>, MemoryError> {
        let ObjectSightings { certainty, records: ids } = seen;
        let hits = self.corpus.score(&Query { k: ids.len(), ..*asked }, &ids).into_iter();
        let scores: BTreeMap<RecordId, f32> = hits.map(|hit| (hit.id, hit.score)).collect();
        let sighting = |record: Record| {
            let score = scores.get(&record.id).copied().unwrap_or(0.0);
            let evidence = match_caption(&record.parsed, wanted);
            let is_verbatim = evidence.as_ref().is_some_and(|it| it.is_verbatim);
            let match_probability = certainty.probability(is_verbatim);
            let probability = Some(match_probability * record.confidence.unwrap_or(1.0));
            let (matched, noun) = evidence.map(|it| (it.matched, it.target.head_stem)).unzip();
            let matched = matched.unwrap_or_default();
            let recalled = Recalled { record, score, matched, probability };
            Sighting { recalled, certainty, match_probability, noun }
        };
        Ok(self.store.records(&ids)?.into_iter().map(sighting).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::embedding::Embedding;
    use crate::base::frame::FrameMeta;
    use crate::base::time::{Timestamp, Window};
    use crate::model::embedder::EmbedderHandle;
    use crate::model::scripted::ScriptedEmbedder;
    use crate::model::{Embedder, ModelError, ModelIdentity, TextRole};
    use crate::store::{EmbeddingSpace, NewObservation, Options, Store};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Embedder to which a cup is a mug; counts the passages embedded.
    #[derive(Debug)]
    struct Synonyms(ScriptedEmbedder, Arc<AtomicUsize>);

    impl Embedder for Synonyms {
        fn identity(&self) -> &ModelIdentity {
            self.0.identity()
        }

        fn dimension(&self) -> usize {
            self.0.dimension()
        }

        fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            if role == TextRole::Passage {
                self.1.fetch_add(texts.len(), Ordering::Relaxed);
            }
            let texts: Vec<String> = texts.iter().map(|text| text.replace("cup", "mug")).collect();
            self.0.embed(role, &texts.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }

    pub(in crate::memory::episodic) fn open(dir: &Path) -> (Episodic, Arc<AtomicUsize>) {
        let (model, passages) = (ScriptedEmbedder::new(64), Arc::new(AtomicUsize::new(0)));
        let ModelIdentity { name, fingerprint } = model.identity().clone();
        let space = EmbeddingSpace { model: name, fingerprint: fingerprint.0, dimension: 64 };
        let store = Store::open(&Options::at(dir.to_owned()), &space).unwrap();
        let embedder = EmbedderHandle::new(Box::new(Synonyms(model, Arc::clone(&passages))));
        (Episodic::open(store, embedder).unwrap(), passages)
    }

    pub(in crate::memory::episodic) fn at(minutes: u32) -> Timestamp {
        Timestamp::from_seconds(f64::from(minutes) * 60.0).unwrap()
    }

    pub(in crate::memory::episodic) fn observation(minutes: u32, caption: &str) -> NewObservation {
        let meta = FrameMeta {
            taken_at: at(minutes),
            pose: None,
            frame_id: "map".to_owned(),
            map_id: String::new(),
            source: "front".to_owned(),
        };
        NewObservation { meta, caption: caption.to_owned(), confidence: None, layer: None }
    }

    /// Captions of a small world, not in the order of time.
    fn household() -> Vec<NewObservation> {
        let colours = ["red ", "blue ", "", "maroon "];
        let things = ["mug", "cup", "book", "lamp"];
        let places = ["on a desk", "on a wooden shelf", "next to a red book", "in the living room"];
        (0_u32..240)
            .map(|n| {
                let pick = |shift: u32| ((n.wrapping_mul(2_654_435_761) >> shift) % 4) as usize;
                let caption =
                    format!("a {}{} {}", colours[pick(8)], things[pick(14)], places[pick(20)]);
                observation(n * 37 % 3_000, &caption)
            })
            .collect()
    }

    fn caption(sighting: &Sighting) -> &str {
        &sighting.recalled.record.caption
    }

    #[test]
    fn sightings_equal_those_of_a_scan_of_all_records() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let records = memory.remember_observations(household()).unwrap();
        let window = Window::new(Some(at(500)), Some(at(2_000))).unwrap();
        let filters = [Filter::default(), Filter { window, ..Filter::default() }];
        let queries =
            ["red mug", "the red mug on the desk", "cup", "book in the living room", "green lamp"];
        for (query, filter) in
            queries.iter().flat_map(|query| filters.iter().map(move |it| (query, it)))
        {
            let wanted = memory.scene_query(query).unwrap();
            let mut seen: Vec<_> = records
                .iter()
                .filter(|it| filter.window.touches(it.meta.taken_at, it.end_at))
                .filter_map(|it| Some((match_caption(&it.parsed, &wanted)?.certainty, it)))
                .collect();
            let surest = seen.iter().map(|(certainty, _)| *certainty).max();
            seen.retain(|(certainty, _)| Some(*certainty) == surest);
            let found = memory.last_seen(query, filter, 7).unwrap();
            assert!(found.iter().all(|it| Some(it.certainty) == surest), "{query}");
            let ids = |found: &[Sighting]| -> Vec<RecordId> {
                found.iter().map(|it| it.recalled.record.id).collect()
            };
            seen.sort_by_key(|(_, it)| std::cmp::Reverse((it.end_at, it.id)));
            let newest: Vec<RecordId> = seen.iter().map(|(_, it)| it.id).collect();
            if surest == Some(Certainty::Possible) {
                let mut newest = newest.iter();
                assert!(
                    !found.is_empty() && ids(&found).iter().all(|it| newest.any(|of| of == it))
                );
            } else {
                assert!(newest.iter().take(7).eq(&ids(&found)), "{query}");
            }
            let total = memory.list_sightings(query, (filter, 7), Wording::Own).unwrap().total;
            assert_eq!(total, seen.len() as u64, "{query}");
        }
    }

    #[test]
    fn similar_records_of_other_things_are_never_sightings() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions =
            ["a red mug on a desk", "a blue mug beside a red book", "a red cup", "a mug"];
        let observations =
            (0..).zip(captions).map(|(n, caption)| observation(n, caption)).collect();
        memory.remember_observations(observations).unwrap();
        let last = |query: &str| -> Vec<String> {
            let found = memory.last_seen(query, &Filter::default(), 9).unwrap();
            found.iter().map(|it| caption(it).to_owned()).collect()
        };
        assert_eq!(last("red mug"), ["a red cup", "a red mug on a desk"]);
        assert_eq!(last("the red mug on the desk"), ["a red mug on a desk"]);
        assert_eq!(last("green mug"), ["a mug"]);
        assert_eq!(last("sofa"), [""; 0]);
        let refused = memory.last_seen("something red", &Filter::default(), 1).unwrap_err();
        assert!(matches!(refused, MemoryError::NamesNothing(_)), "{refused}");
        let found = memory.last_seen("red mug beside a book", &Filter::default(), 1).unwrap();
        assert_eq!(found[0].recalled.matched, ["red cup"]);
    }

    #[test]
    fn what_is_written_on_a_thing_tells_it_from_others() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions = [
            "a couch. a sign that reads Kitchen Room 214",
            "a person next to a yellow sign that says wet floor",
            "a green exit sign above a door",
            "a sign that reads Office 12",
            "a box marked fragile on a shelf",
            "a box marked toys in the hall",
            "a box on a table",
        ];
        let observations =
            (0..).zip(captions).map(|(n, caption)| observation(n, caption)).collect();
        memory.remember_observations(observations).unwrap();
        let check = |query: &str, expect: usize| {
            let found = memory.last_seen(query, &Filter::default(), 1).unwrap();
            let found = found.first().map(caption);
            assert_eq!(found, captions.get(expect).copied(), "{query}");
        };
        for wet in ["where is the sign that says wet floor", "the wet floor sign"] {
            check(wet, 1);
        }
        for exit in ["the EXIT sign", "a sign that reads exit", "the sign with the word \"Exit\""] {
            check(exit, 2);
        }
        check("the sign that reads Kitchen Room 214", 0);
        for kitchen in
            ["the sign saying Room 214", "where is the sign that says Kitchen", "the Room 214 sign"]
        {
            check(kitchen, 0);
        }
        check("sign", 3);
        for fragile in ["the box marked fragile", "box that says fragile", "the fragile box"] {
            check(fragile, 4);
        }
        check("the box labelled plates", 6);
    }

    #[test]
    fn of_what_only_may_be_it_the_most_alike_counts_and_of_those_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions = [
            "a mug, again",
            "a mug, as ever",
            "a mug in a picture of the harbour on the wall of the stairs",
        ];
        let observations =
            (0..).zip(captions).map(|(n, caption)| observation(n, caption)).collect();
        memory.remember_observations(observations).unwrap();
        let found = memory.last_seen("green mug by a sofa", &Filter::default(), 9).unwrap();
        assert!(found.iter().all(|it| it.certainty == Certainty::Possible));
        assert_eq!(found.iter().map(caption).collect::<Vec<_>>(), [captions[1], captions[0]]);
        let sure = memory.last_seen("mug", &Filter::default(), 1).unwrap();
        assert_eq!(caption(&sure[0]), captions[2], "the newest of what surely is it");
    }

    #[test]
    fn what_a_thing_is_for_makes_no_other_of_its_kind_sure() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions = ["a drill press on a floor", "a bread knife on a board"];
        let observations = (0..).zip(captions).map(|(n, it)| observation(n, it)).collect();
        memory.remember_observations(observations).unwrap();
        let certainty = |query: &str| {
            let found = memory.last_seen(query, &Filter::default(), 9).unwrap();
            found.first().map(|it| (caption(it).to_owned(), it.certainty))
        };
        let seen = |at: usize, how| captions.get(at).map(|it| ((*it).to_owned(), how));
        let press = seen(0, Certainty::Possible);
        assert_eq!(certainty("a machine for polishing floors"), press);
        let knife = seen(1, Certainty::Possible);
        assert_eq!(certainty("a knife for cutting cheese"), knife);
        assert_eq!(certainty("a machine"), seen(0, Certainty::InPlace));
    }

    #[test]
    fn what_lies_around_tells_nothing_of_a_thing_that_is_named_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions = ["a remote and a tv in a hall", "a picture of a boat above a remote"];
        let observations =
            (0..).zip(captions).map(|(n, caption)| observation(n, caption)).collect();
        memory.remember_observations(observations).unwrap();
        let found = memory.last_seen("tv remote", &Filter::default(), 1).unwrap();
        assert_eq!(found[0].certainty, Certainty::Possible);
        assert_eq!(caption(&found[0]), captions[1]);
    }

    #[test]
    fn what_is_called_as_the_most_alike_may_be_it_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, _) = open(dir.path());
        let captions = [
            "a paperback",
            "a red book in a hall",
            "a red book in a picture of the harbour on the wall of the stairs",
        ];
        let observations =
            (0..).zip(&captions[1..]).map(|(n, caption)| observation(n, caption)).collect();
        memory.remember_observations(observations).unwrap();
        let found = memory.last_seen(captions[0], &Filter::default(), 1).unwrap();
        assert_eq!(found[0].certainty, Certainty::Possible);
        assert_eq!(caption(&found[0]), captions[2]);
    }

    #[test]
    fn misdetections_are_passed_over_where_there_is_a_real_sighting() {
        let last = |seen: &[(&str, f32)]| {
            let dir = tempfile::tempdir().unwrap();
            let (memory, _) = open(dir.path());
            let seen = (0..).zip(seen).map(|(n, (caption, confidence))| NewObservation {
                confidence: Some(*confidence),
                ..observation(n, caption)
            });
            memory.remember_observations(seen.collect()).unwrap();
            let found = memory.last_seen("red mug", &Filter::default(), 1).unwrap();
            let (explained, _) =
                memory.last_seen_explained("red mug", &Filter::default(), 1, Wording::Own).unwrap();
            assert_eq!(found, explained);
            caption(&found[0]).to_owned()
        };
        let (desk, sofa) = ("a red mug on a desk", "a red mug on a sofa");
        assert_eq!(last(&[(desk, 0.9), (sofa, 0.2)]), desk);
        assert_eq!(last(&[(desk, 0.9), (sofa, 0.8)]), sofa);
        assert_eq!(last(&[(desk, 0.2), (sofa, 0.2)]), sofa, "all may be slips");
    }

    #[test]
    fn known_nouns_are_not_embedded_again_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, passages) = open(dir.path());
        memory.remember_observations(vec![observation(1, "a red cup on a desk")]).unwrap();
        assert_eq!(passages.load(Ordering::Relaxed), 3, "a caption and two nouns");
        drop(memory);
        let (memory, passages) = open(dir.path());
        let found = memory.last_seen("cup", &Filter::default(), 1).unwrap();
        assert_eq!(caption(&found[0]), "a red cup on a desk");
        assert_eq!(passages.load(Ordering::Relaxed), 0);
        let found = memory.last_seen("mug", &Filter::default(), 1).unwrap();
        assert_eq!(caption(&found[0]), "a red cup on a desk");
        assert_eq!(passages.load(Ordering::Relaxed), 1, "a noun that no caption has");
    }
}
