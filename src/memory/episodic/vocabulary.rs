//! Vocabulary of all captions: which nouns name the same kind of thing, as forms of one word or
//! as synonyms by their vectors ("mug" and "cup", "sofa" and "couch"), and which names of more
//! than one word are near each other ("garbage bin" and "wheelie bin").
//!
//! A noun and a name are embedded once, when a caption first mentions them, and their vectors kept
//! in the store: a query embeds no more than its own words.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use log::warn;

use crate::base::embedding::Embedding;
use crate::index::nouns::{NOUNS_MAX, Nouns};
use crate::index::phrases::{ObjectName, ObjectQuery, Relation, SceneQuery};
use crate::language::caption::ParsedCaption;
use crate::language::deeds::{is_deed, other_stems};
use crate::language::mention::{Attribute, AttributeKind, Mention, mention_of_name};
use crate::language::part_attribute::is_part;
use crate::language::person::is_person;
use crate::language::{everyday_names, identifier, lexicon};
use crate::memory::episodic::synonyms;
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};
use crate::search::Corpus;
use crate::store::Store;

/// Similarity threshold of synonyms, on the scale common to all embedders: a cosine of .65 in
/// all-MiniLM-L6-v2's space, above which of 30 pairs of synonyms and 33 of different household
/// things lie 15 and none.
const SYNONYMS_LEAST: f32 = 0.825;

/// Likeness from which a name that the dictionary does not have is near another: a cosine of .5.
const NEAR_LEAST: f32 = 0.75;

/// The same of a name that it has, to one that it does not: a cosine of .58.
const NEAR_KNOWN_LEAST: f32 = 0.79;

/// How much less near a name may be than the nearest.
const ABOUT_AS_NEAR: f32 = 0.03;

/// A name that captions have, near to one that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NearName {
    noun: String,
    /// Of its noun.
    stem: String,
    /// The words before that.
    parts: Vec<Attribute>,
    likeness: f32,
}

impl NearName {
    /// In the singular: "wheelie bin".
    fn name(&self) -> String {
        let parts = self.parts.iter().map(|it| it.word.as_str());
        parts.chain([self.noun.as_str()]).collect::<Vec<_>>().join(" ")
    }

    /// As what captions may call `asked`, whose attributes it should have.
    pub(super) fn into_name(self, asked: &Mention) -> ObjectName {
        let Self { noun: _, stem, parts: needed, likeness: _ } = self;
        let is_said = |it: &&Attribute| it.kind != AttributeKind::Compound;
        let said = asked.attributes.iter().filter(is_said);
        let attributes = said.chain(&needed).cloned().collect();
        ObjectName {
            stem,
            noun: String::new(),
            attributes,
            relation: Relation::Near,
            needed,
            kind_of: None,
        }
    }
}

/// Likeness from which who asks for a thing is told of its kind beside it: of a novel (.87) and a
/// laptop (.83) for a book and a computer, and of no desk (.77) and hedge (.76) for a table and a fence.
const KIND_LEAST: f32 = 0.8;

/// Likeness from which two names with the same noun are near: what they share is alike.
const NEAR_OF_KIND_LEAST: f32 = 0.79;

/// Whether a name that has the same noun says by another word which one it is: a yogurt pot lid for
/// a Tupperware lid, an oven door for the front door.
fn is_another_of_its_kind(asked: &Mention, near: &NearName) -> bool {
    let part = |of: &[Attribute]| {
        let last = of.iter().rfind(|it| it.kind == AttributeKind::Compound);
        last.map(|it| it.word.clone())
    };
    let (Some(one), Some(other)) = (part(&asked.attributes), part(&near.parts)) else {
        return false;
    };
    let is_foreign = |it: &Attribute| it.word != one && !lexicon::are_synonyms(&it.word, &one);
    if is_part(&asked.head) && asked.head_stem == near.stem && near.parts.iter().any(is_foreign) {
        return true;
    }
    asked.head_stem == near.stem
        && one != other
        && (near.likeness < NEAR_OF_KIND_LEAST || lexicon::are_known_apart(&one, &other))
}

/// Nouns embedded at a time.
const AT_ONCE: usize = 32;

/// Noun phrases of `caption` whose noun is also one of `wanted`, each once.
pub(super) fn same_noun_phrases(caption: &ParsedCaption, wanted: &[Mention]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for mention in caption.shown_mentions() {
        let named = wanted.iter().any(|it| mention.is_named_as(it));
        if named && !found.contains(&mention.phrase) {
            found.push(mention.phrase.clone());
        }
    }
    found
}

/// Before a name of more than one word, in the key that it is kept under; no stem has it.
const NAME_SIGN: char = '=';

/// Nouns and names of all captions, with their vectors.
#[derive(Debug)]
pub(super) struct Vocabulary {
    embedder: EmbedderHandle,
    store: Store,
    held: RwLock<Held>,
}

#[derive(Debug)]
struct Held {
    /// By stem.
    nouns: Nouns,
    /// Of more than one word, by their keys.
    names: Nouns,
}

impl Held {
    fn of(&self, key: &str) -> &Nouns {
        if key.starts_with(NAME_SIGN) { &self.names } else { &self.nouns }
    }

    fn insert(&mut self, key: &str, vector: Embedding) {
        let into = if key.starts_with(NAME_SIGN) { &mut self.names } else { &mut self.nouns };
        into.insert(key, vector);
    }
}

/// What captions mention, by the key that its vector is kept under: nouns by stem, names of more
/// than one word.
pub(super) fn mentioned_in(corpus: &Corpus) -> BTreeMap<String, String> {
    let names = corpus.compound_names().into_iter().map(keyed_name);
    corpus.nouns().into_iter().chain(names).collect()
}

fn keyed_name(name: String) -> (String, String) {
    (format!("{NAME_SIGN}{name}"), name)
}

impl Vocabulary {
    /// Reads what is kept, and embeds what of `mentioned` (by key) is new.
    pub(super) fn open(
        embedder: EmbedderHandle,
        store: Store,
        mentioned: BTreeMap<String, String>,
    ) -> Self {
        let (nouns, names) = (Nouns::new(SYNONYMS_LEAST), Nouns::new(SYNONYMS_LEAST));
        let mut held = Held { nouns, names };
        let mut over = Vec::new();
        match store.nouns() {
            Ok(kept) => {
                for (stem, vector) in kept {
                    if mentioned.contains_key(&stem) {
                        held.insert(&stem, vector);
                    } else {
                        over.push(stem);
                    }
                }
            }
            Err(error) => warn!(error:%; "the kept nouns cannot be read and are made anew"),
        }
        let vocabulary = Self { embedder, store, held: RwLock::new(held) };
        vocabulary.remove(&over);
        vocabulary.learn(mentioned);
        vocabulary
    }

    /// Removes the kept nouns that are not `mentioned` any more. In memory they stay until the
    /// process ends: one that is mentioned again is embedded by the next.
    pub(super) fn forget_all_but(&self, mentioned: &BTreeMap<String, String>) {
        let kept = self.store.noun_stems().into_iter();
        let over: Vec<String> = kept.filter(|it| !mentioned.contains_key(it)).collect();
        self.remove(&over);
    }

    fn remove(&self, stems: &[String]) {
        if stems.is_empty() {
            return;
        }
        if let Err(error) = self.store.remove_nouns(stems) {
            warn!(error:%; "nouns that nothing mentions are kept");
        }
    }

    /// Embeds and keeps the new nouns of captions.
    pub(super) fn learn_from<'a>(&self, captions: impl IntoIterator<Item = &'a ParsedCaption>) {
        let mut mentioned = BTreeMap::new();
        for mention in captions.into_iter().flat_map(ParsedCaption::shown_mentions) {
            if !self.read().nouns.knows(&mention.head_stem) {
                mentioned.insert(mention.head_stem.clone(), mention.singular_head());
            }
            mentioned.extend(mention.compound_name().map(keyed_name));
        }
        self.learn(mentioned);
    }

    /// Query for these things: the first as the target, the others around it. `None` where there
    /// is none.
    pub(super) fn scene_query(&self, named: Vec<Mention>) -> Option<SceneQuery> {
        let is_told_by_around = named.first().is_some_and(|it| is_deed(it) || is_person(it));
        let mut things = named.into_iter().map(|mention| self.object_query(mention));
        let wanted = SceneQuery::of(things.next()?, things.collect());
        Some(SceneQuery { is_told_by_around, ..wanted })
    }

    /// Stems of the nouns that are alike to a noun of this vector by `least` or more, and how
    /// alike they are; the most alike first.
    pub(super) fn alike(&self, vector: &Embedding, least: f32) -> Vec<(String, f32)> {
        self.read().nouns.alike(vector, least, &|a, b| self.embedder.similarity(a, b))
    }

    /// What captions call by a name near this one, the nearest first; none where the dictionary
    /// has both names, and so tells them apart. A machine for snacks is no snack, what a football
    /// is kicked on no football, and somebody's ear no earbud.
    pub(super) fn near_names(&self, mention: &Mention) -> Result<Vec<NearName>, ModelError> {
        let Some(vector) = self.name_vector(mention)? else { return Ok(Vec::new()) };
        let name = mention.name();
        let likeness = |a: &Embedding, b: &Embedding| self.embedder.similarity(a, b);
        let is_known = lexicon::is_name(&name);
        let least = if is_known { NEAR_KNOWN_LEAST } else { NEAR_LEAST };
        let held = self.read();
        let compounds = held.names.alike(&vector, least, &likeness).into_iter();
        let compounds = compounds.filter_map(|(key, it)| {
            let name = key.trim_start_matches(NAME_SIGN);
            let Mention { head, head_stem, attributes, .. } =
                mention_of_name(name).filter(|_| !(is_known && lexicon::is_name(name)))?;
            Some(NearName { noun: head, stem: head_stem, parts: attributes, likeness: it })
        });
        let nouns = if is_known { Vec::new() } else { held.nouns.alike(&vector, least, &likeness) };
        let is_other = |stem: &str| {
            stem != mention.head_stem && !synonyms::is_another_compound(&mention.head_stem, stem)
        };
        let nouns = nouns.into_iter().filter(|(stem, _)| is_other(stem));
        let nouns = nouns.map(|(stem, it)| {
            let noun = lexicon::noun_of_stem(&stem).to_owned();
            NearName { noun, stem, parts: Vec::new(), likeness: it }
        });
        let mut near: Vec<NearName> = compounds.chain(nouns).collect();
        drop(held);
        let is_among = |parts: &[Attribute], stem: &str| {
            let head = stem.rsplit(' ').next().unwrap_or_default();
            parts.iter().any(|it| lexicon::noun_stem(&it.word) == head)
        };
        let names_somebody =
            |it: &NearName| mention_of_name(&it.name()).is_some_and(|it| is_person(&it));
        let is_other_kind = |it: &NearName| {
            let noun = mention.singular_head();
            !it.parts.is_empty() && lexicon::is_own_kind(&noun, &it.stem)
        };
        let is_of_body = lexicon::is_of_body(&mention.singular_head());
        near.retain(|it| {
            names_somebody(it) == is_person(mention)
                && (is_of_body || !lexicon::is_of_body(&it.noun))
                && !is_other_kind(it)
                && !everyday_names::are_told_apart(&name, &it.name())
                && !is_among(&mention.attributes, &it.stem)
                && !is_among(&it.parts, &mention.head_stem)
                && !is_another_of_its_kind(mention, it)
        });
        near.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
        let nearest = near.first().map_or(0.0, |it| it.likeness);
        near.retain(|it| it.likeness >= nearest - ABOUT_AS_NEAR);
        Ok(near)
    }

    /// The nouns of captions that are near a name by their vectors, the nearest first: of what the
    /// dictionary has at some distance only the very near. For somebody people only.
    pub(super) fn nearest_nouns(&self, mention: &Mention) -> Result<Vec<String>, ModelError> {
        let Some(vector) = self.name_vector(mention)? else { return Ok(Vec::new()) };
        let (asked, is_somebody) = (mention.singular_head(), is_person(mention));
        let is_close = |noun: &str| {
            lexicon::are_near_kinds(noun, &asked)
                || lexicon::descends_from(noun, &asked)
                || lexicon::descends_from(&asked, noun)
        };
        let near = self.alike(&vector, NEAR_LEAST).into_iter();
        let near = near
            .filter(|(stem, _)| *stem != mention.head_stem && !is_furniture_of_name(mention, stem))
            .map(|(stem, likeness)| (lexicon::noun_of_stem(&stem).to_owned(), likeness));
        let near = near.filter(|(noun, likeness)| {
            lexicon::is_person(noun) == is_somebody
                && (is_close(noun) || *likeness >= NEAR_KNOWN_LEAST)
        });
        Ok(near.map(|(noun, _)| noun).collect())
    }

    /// How alike a thing's noun, or its whole name, is to one of these vectors; `None` where neither
    /// has a vector.
    pub(super) fn likeness_of(&self, mention: &Mention, vectors: &[Embedding]) -> Option<f32> {
        let held = self.read();
        let noun = held.nouns.vector(&mention.head_stem);
        let name = mention.compound_name().map(keyed_name);
        let name = name.and_then(|(key, _)| held.names.vector(&key));
        let known = noun.into_iter().chain(name);
        let pairs = known.flat_map(|it| vectors.iter().map(move |other| (it, other)));
        pairs.map(|(a, b)| self.embedder.similarity(a, b)).max_by(f32::total_cmp)
    }

    /// `None` of what no vector tells of: a deed, a name with digits, a name in another script.
    fn name_vector(&self, mention: &Mention) -> Result<Option<Embedding>, ModelError> {
        let name = mention.name();
        if is_deed(mention) || identifier::has_digit(&name) || !self.embedder.reads(&name) {
            return Ok(None);
        }
        self.embedder.embed(TextRole::Passage, &name).map(Some)
    }

    /// Takes kinds of a thing for it where people speak alike of both, or the kind is called by it: a
    /// novel, a cookbook for a book, and no desk for a table.
    pub(super) fn take_kinds(&self, thing: &mut ObjectQuery) {
        let said = thing.said.clone();
        let held = self.read();
        let vector = held.nouns.vector(&said).cloned();
        let vector = vector.or_else(|| self.embedder.embed(TextRole::Passage, &said).ok());
        let is_alike = |name: &ObjectName| {
            let both = held.nouns.vector(&name.stem).zip(vector.as_ref());
            both.is_some_and(|(kind, asked)| self.embedder.similarity(kind, asked) >= KIND_LEAST)
        };
        thing.take_kinds_for_it(&|it| it.stem.ends_with(&said) || is_alike(it));
    }

    /// How alike the names of two things are; `None` where one of them has no vector.
    pub(super) fn name_likeness(&self, asked: &Mention, seen: &Mention) -> Option<f32> {
        if synonyms::are_of_one(asked, seen) {
            return Some(1.0);
        }
        let key =
            seen.compound_name().map_or_else(|| seen.head_stem.clone(), |it| keyed_name(it).0);
        let asked = self.embedder.embed(TextRole::Passage, &asked.name()).ok()?;
        let held = self.read();
        held.of(&key).vector(&key).map(|seen| self.embedder.similarity(&asked, seen))
    }

    fn object_query(&self, mention: Mention) -> ObjectQuery {
        if is_deed(&mention) {
            let stems = [vec![mention.head_stem], other_stems(&mention.head)].concat();
            return ObjectQuery::of_stems(mention.attributes, stems);
        }
        let stem = mention.head_stem.as_str();
        let likeness = |a: &Embedding, b: &Embedding| self.embedder.similarity(a, b);
        let known = self.read().nouns.knows(stem);
        let stems = if !self.embedder.reads(stem) || identifier::has_digit(stem) {
            // All nouns of a script that the model does not know are alike to it, and names with
            // digits are literal.
            vec![stem.to_owned()]
        } else if known {
            self.read().nouns.meaning(stem, &likeness)
        } else {
            // A noun that no caption has. Where it cannot be embedded it has no
            // synonyms; what else the model is asked for reports its failure.
            match self.embedder.embed(TextRole::Passage, &mention.singular_head()) {
                Ok(vector) => self.read().nouns.meaning_of(stem, &vector, &likeness),
                Err(_failure) => vec![stem.to_owned()],
            }
        };
        let is_known = |stem: &str| self.read().nouns.knows(stem);
        let mut names = synonyms::names(&mention, stems, &is_known);
        let which: Vec<Attribute> = identifier::which(&mention).cloned().collect();
        for name in names.iter_mut().filter(|_| !which.is_empty()) {
            let missing = which.iter().filter(|it| !name.needed.contains(it));
            let needed = missing.cloned().collect::<Vec<_>>();
            name.needed.extend(needed);
        }
        names.extend(which.iter().filter_map(synonyms::literal_name));
        let Mention { attributes, head_stem: said, head: noun, .. } = mention;
        ObjectQuery { attributes, said, noun, names }
    }

    fn learn(&self, mentioned: BTreeMap<String, String>) {
        let unknown: Vec<(String, String)> =
            mentioned.into_iter().filter(|(key, _)| self.is_new(key)).collect();
        for some in unknown.chunks(AT_ONCE) {
            // A noun without a vector is found by its own name, and is tried again
            // when it is mentioned again.
            if let Err(error) = self.learn_some(some) {
                warn!(error:%; "nouns are left without their synonyms");
                return;
            }
        }
    }

    /// A name with a digit in it (`person_7`, a plate) means nothing but itself; and beyond
    /// [`NOUNS_MAX`] none is kept.
    fn is_new(&self, key: &str) -> bool {
        let held = self.read();
        let kept = held.of(key);
        !key.contains(|c: char| c.is_ascii_digit()) && !kept.knows(key) && kept.len() < NOUNS_MAX
    }

    fn learn_some(&self, nouns: &[(String, String)]) -> Result<(), ModelError> {
        let texts: Vec<&str> = nouns.iter().map(|(_, noun)| noun.as_str()).collect();
        let vectors = self.embedder.embed_batch(TextRole::Passage, &texts)?;
        let stems = nouns.iter().map(|(stem, _)| stem.clone());
        let learned: Vec<(String, Embedding)> = stems.zip(vectors).collect();
        if let Err(error) = self.store.keep_nouns(&learned) {
            warn!(error:%; "nouns cannot be kept and are made anew at the next start");
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        for (stem, vector) in learned {
            held.insert(&stem, vector);
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Held> {
        // An insertion does not panic halfway: it appends to vectors and maps.
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a noun before the head of a name tells where such things stand: a table is no table lamp,
/// and there are tables everywhere. A mug tree is near mugs.
pub(super) fn is_furniture_of_name(mention: &Mention, stem: &str) -> bool {
    let mut parts = mention.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
    parts.any(|it| {
        lexicon::noun_stem(&it.word) == stem && lexicon::descends_from(&it.word, "furniture")
    })
}
