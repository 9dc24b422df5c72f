//! What the rows of one part of the index mention: every distinct phrase once,
//! with the rows that hold it, ascending, in compressed bitmaps.
//!
//! A robot's world repeats itself: there are thousands of phrases where there are
//! millions of rows, so what a phrase finds is known without a look at a row.
//! Knows no vectors: which nouns mean the same is the caller's to say.

mod codec;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::slice;

use roaring::{MultiOps as _, RoaringBitmap};

use crate::language::deeds::is_plain;
use crate::language::depicted::is_depicted;
use crate::language::everyday_names;
use crate::language::fit::{Fit, fit, has_part, says};
use crate::language::identifier;
use crate::language::known_words::is_known_name;
use crate::language::lexicon;
use crate::language::likeness::is_likeness;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming::{attribute, singular_part};
use crate::language::part_attribute::is_part;
use crate::language::words::is_room;

/// Most distinct phrases of a part: a home has some thousands. Beyond them a new
/// phrase counts as its bare noun where that is known; else it is left out here,
/// and its rows are found by their vectors and words.
pub const PHRASES_MAX: usize = 65_536;

/// A thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectQuery {
    /// As the question says them.
    pub attributes: Vec<Attribute>,
    /// Stem of the noun as the question says it.
    pub said: String,
    /// The noun itself, as the question says it; empty where that is no matter.
    pub noun: String,
    /// What captions may call it.
    pub names: Vec<ObjectName>,
}

/// One of the names of a thing that is asked for: "cell phone" of a mobile phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// Of the noun.
    pub stem: String,
    /// The noun itself, where it names something else than its singular: glasses. Else empty.
    pub noun: String,
    /// All that a caption should say of it under this name.
    pub attributes: Vec<Attribute>,
    pub relation: Relation,
    /// Those of them without which it is the name of another thing: "drafting" of the
    /// drafting table that is a kind of desk.
    pub needed: Vec<Attribute>,
    /// Where it is one of its kinds, what is asked for: a bear of the animals.
    pub kind_of: Option<String>,
}

/// What a name means beside the one that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same.
    Same,
    /// A kind of it: a backpack is a bag.
    MoreSpecial,
    /// What it is a kind of: a vessel may be a mug.
    MoreGeneral,
    /// What may be it or hold it: a chair for an armchair, a milk carton for milk.
    Likely,
    /// What no dictionary tells from it and vectors have as alike: a wheelie bin for a garbage bin.
    Near,
    /// Another thing by the dictionary, of which people speak alike: a fork for a spoon.
    Alike,
}

impl ObjectQuery {
    /// A thing by the stems of nouns that all go with the same attributes.
    pub fn of_stems(attributes: Vec<Attribute>, stems: Vec<String>) -> Self {
        let said = stems.first().cloned().unwrap_or_default();
        let names = stems.into_iter();
        let relation = Relation::Same;
        let names = names.map(|stem| ObjectName {
            stem,
            noun: String::new(),
            attributes: attributes.clone(),
            relation,
            needed: Vec::new(),
            kind_of: None,
        });
        Self { names: names.collect(), attributes, said, noun: String::new() }
    }

    /// From now on a kind of it that `is_taken` is as much as the thing itself.
    pub fn take_kinds_for_it(&mut self, is_taken: &dyn Fn(&ObjectName) -> bool) {
        let kinds = self.names.iter_mut().filter(|it| it.relation == Relation::MoreSpecial);
        kinds.filter(|it| is_taken(it)).for_each(|it| it.relation = Relation::Same);
    }

    /// Whether a mention has the very words that were asked for, and perhaps more.
    pub fn is_said_by(&self, mention: &Mention) -> bool {
        let is_said = |it: &Attribute| mention.attributes.iter().any(|said| said.word == it.word);
        mention.head_stem == self.said && self.attributes.iter().all(is_said)
    }

    /// Whether what is said of another thing tells of this one: a striped towel has stripes, and a
    /// pot lid is the lid of a pot.
    pub fn is_told_by(&self, attributes: &[Attribute]) -> bool {
        let having = lexicon::having(&self.noun).filter(|_| self.attributes.is_empty());
        let is_having =
            having.is_some_and(|it| attributes.iter().any(|said| says(said, &attribute(it).word)));
        is_having || self.is_part_of_name(attributes)
    }

    fn is_part_of_name(&self, attributes: &[Attribute]) -> bool {
        let parts = |of: &[Attribute]| -> Vec<String> {
            let parts = of.iter().filter(|it| it.kind == AttributeKind::Compound);
            parts.map(|it| it.word.clone()).collect()
        };
        let said = parts(attributes);
        // Most have no such part, and to know one of several costs look-ups.
        !said.is_empty()
            && parts(&self.attributes).iter().all(|it| said.contains(it))
            && said.contains(&singular_part(&self.noun))
    }

    /// Whether a mention is of this thing, whatever its attributes.
    pub fn is_named_by(&self, mention: &Mention) -> bool {
        self.names.iter().any(|name| name.is_of(mention))
    }

    /// Whether a mention is called as this thing is, or as a kind of it: no cover is a blanket.
    pub fn is_surely_named_by(&self, mention: &Mention) -> bool {
        let is_sure =
            |it: &&ObjectName| matches!(it.relation, Relation::Same | Relation::MoreSpecial);
        let mut names = self.names.iter().filter(is_sure);
        names.any(|name| name.is_of(mention) && self.fit_by(name, mention) > Some(Fit::Related))
    }

    /// Whether a mention is called as this thing is, and what is said of it excludes that: a white mug
    /// for the blue one.
    pub fn is_another_by_attributes(&self, mention: &Mention) -> bool {
        let is_same = |it: &&ObjectName| it.relation == Relation::Same;
        self.names.iter().filter(is_same).any(|it| it.is_of(mention)) && self.fit(mention).is_none()
    }

    /// Whether a mention surely is of this thing or of a kind of it, and has all that is asked for.
    pub fn is_shown_by(&self, mention: &Mention) -> bool {
        let is_sure = |name: &&ObjectName| {
            let least = match name.relation {
                Relation::Same => Fit::Full,
                Relation::MoreSpecial => Fit::Partial,
                Relation::MoreGeneral | Relation::Likely | Relation::Near | Relation::Alike => {
                    return false;
                }
            };
            let is_told = fit(&mention.attributes, &name.attributes) == Some(Fit::Full);
            name.is_of(mention) && is_told && self.fit_by(name, mention) >= Some(least)
        };
        // One person is not two people.
        let is_number = |it: &&Attribute| it.kind == AttributeKind::Number;
        let mut numbers = self.attributes.iter().filter(is_number);
        numbers.all(|it| mention.attributes.contains(it))
            && self.names.iter().any(|name| is_sure(&name))
    }

    /// How well a mention fits; `None` where it names something else, or what it says
    /// excludes what is asked for.
    pub fn fit(&self, mention: &Mention) -> Option<Fit> {
        let names = self.names.iter().filter(|name| name.is_of(mention));
        names.filter_map(|name| self.fit_by(name, mention)).max()
    }

    /// The same under one of its names. Glasses without a number or another word of their name
    /// are those to see with, and a glass is none: what is called so in the plural is not what
    /// its singular names.
    fn fit_by(&self, name: &ObjectName, mention: &Mention) -> Option<Fit> {
        let fit = name.fit(mention)?;
        if self.is_told_apart(name, mention) {
            return None;
        }
        let is_told =
            |it: &Attribute| matches!(it.kind, AttributeKind::Number | AttributeKind::Compound);
        let is_bare = !self.attributes.iter().any(is_told);
        let mut nouns = [&self.noun, &name.noun].into_iter();
        let is_other = is_bare && nouns.any(|it| lexicon::is_name_of_plural(it, &mention.head));
        Some(if is_other { Fit::Related } else { fit })
    }

    /// Whether a name is only the noun of what is asked for, which is told by more than that, and the
    /// mention is by something else: a bottle opener for a can opener.
    fn is_told_apart(&self, name: &ObjectName, mention: &Mention) -> bool {
        let part = |of: &[Attribute]| {
            let last = of.iter().rfind(|it| it.kind == AttributeKind::Compound);
            last.map(|it| it.word.clone())
        };
        let is_bare = name.relation == Relation::Likely && name.needed.is_empty();
        let is_kind_told = || {
            let mut said = mention.attributes.iter();
            said.any(|it| matches!(it.kind, AttributeKind::Compound | AttributeKind::Material))
        };
        // Any chair may be the wheelchair, but no wicker chair.
        if is_bare
            && lexicon::is_own_kind(&lexicon::singular(&self.noun), &name.stem)
            && is_kind_told()
        {
            return true;
        }
        let parts = part(&self.attributes).zip(part(&mention.attributes));
        is_bare
            && name.stem == self.said
            && parts.is_some_and(|(asked, seen)| {
                let is_known = asked != seen && mention.known_name().is_some();
                is_known || lexicon::are_known_apart(&asked, &seen)
            })
    }
}

impl ObjectName {
    fn is_of(&self, mention: &Mention) -> bool {
        mention.head_stem == self.stem
            || mention.bare_stem() == Some(self.stem.as_str())
            || identifier::has_digit(&self.stem)
                && identifier::stems(mention).any(|it| it == self.stem)
    }

    /// How well a mention under this name fits. "A toilet seat" is no chair, though a chair
    /// is a seat: what has a name of its own is not only more general. Nor is a teddy bear an
    /// animal, as a bear is, and a hot dog is at most what somebody may mean by a dog.
    fn fit(&self, mention: &Mention) -> Option<Fit> {
        if !self.needed.iter().all(|it| has_part(&mention.attributes, it)) {
            return None;
        }
        let is_other = |general: &String| {
            let name = mention.known_name();
            name.is_some_and(|name| !lexicon::descends_from(&name, general))
        };
        if self.kind_of.as_ref().is_some_and(is_other)
            || self.is_part_of_another(mention)
            || self.is_end_of_another_name(mention)
        {
            return None;
        }
        let is_told = |it: &&Attribute| !self.needed.contains(it);
        let told: Vec<Attribute> = self.attributes.iter().filter(is_told).cloned().collect();
        // A toy rabbit is what it is asked for as.
        let is_asked =
            |it: &Attribute| self.needed.contains(it) && is_likeness(slice::from_ref(it));
        let seen: Vec<Attribute> =
            mention.attributes.iter().filter(|it| !is_asked(it)).cloned().collect();
        let fit = fit(&seen, &told)?;
        let has_own_name = || {
            let mut words = mention.attributes.iter();
            words.any(|it| it.kind == AttributeKind::Compound)
        };
        // A candle is a kind of lamp, and need be no table lamp.
        let is_part_of_name = |it: &&Attribute| it.kind == AttributeKind::Compound;
        let is_left_out = |it: &Attribute| !mention.attributes.contains(it);
        let is_bare = told.iter().filter(is_part_of_name).any(is_left_out);
        match self.relation {
            Relation::Same if self.is_namesake(mention) => Some(fit.min(Fit::Possible)),
            Relation::Same => Some(fit),
            Relation::MoreSpecial if is_bare => Some(fit.min(Fit::Possible)),
            Relation::MoreSpecial => Some(fit.min(Fit::Partial)),
            Relation::MoreGeneral => (!has_own_name()).then_some(Fit::Related),
            // A machine may be the vending machine, and a washing machine is none.
            Relation::Near if self.needed.is_empty() && has_own_name() => None,
            Relation::Near | Relation::Likely => Some(fit.min(Fit::Possible)),
            Relation::Alike => Some(Fit::Related),
        }
    }

    /// Whether a part of things is called so, and the mention's is of another thing: the lid of a
    /// yogurt pot for that of a saucepan, which is a pot lid, too.
    fn is_part_of_another(&self, mention: &Mention) -> bool {
        let mut parts = mention.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
        !self.needed.is_empty()
            && is_part(&mention.head)
            && parts.any(|it| !self.attributes.contains(it))
    }

    /// Whether a mention has this name of two words at the end of its own, of three, which is another
    /// thing's: a hot water bottle is no water bottle.
    fn is_end_of_another_name(&self, mention: &Mention) -> bool {
        // Of most names at once, as each phrase of all captions is asked.
        if self.attributes.is_empty() {
            return false;
        }
        let name = mention.phrase.split(',').next().unwrap_or_default();
        let words: Vec<&str> = name.split(' ').collect();
        let [.., first, second, last] = words.as_slice() else { return false };
        let is_asked = |word: &str| self.attributes.iter().any(|it| it.word == word);
        let last = lexicon::singular(last);
        if !is_asked(second) || is_asked(first) || lexicon::noun_stem(&last) != self.stem {
            return false;
        }
        let end = format!("{second} {last}");
        let whole = [format!("{first} {end}"), format!("{first}-{end}")];
        let is_kind = |whole: &String| lexicon::descends_from(whole, &end);
        let is_same = |whole: &String| everyday_names::other_names(whole).any(|it| it.name == end);
        let is_known = |it: &&String| is_known_name(it);
        is_known_name(&end) && whole.iter().filter(is_known).any(|it| !is_kind(it) && !is_same(it))
    }

    /// Whether a mention has the name of an animal at its end and is none, where the animal is
    /// asked for.
    fn is_namesake(&self, mention: &Mention) -> bool {
        // As it stands in the caption, since "hot" is an adjective elsewhere; after a comma
        // comes what is done with it.
        let mut words = mention.phrase.split(',').next().unwrap_or_default().rsplit(' ');
        let head = lexicon::singular(words.next().unwrap_or_default());
        let is_compound = self.attributes.iter().any(|it| it.kind == AttributeKind::Compound);
        let mut before = words.next().filter(|_| !is_compound).into_iter();
        before.any(|it| lexicon::is_no_animal(&format!("{it} {head}"), &head))
    }
}

/// A thing that is asked for, and what the question names around it: "the red mug"
/// and "the desk" of "the red mug on the desk".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SceneQuery {
    pub target: ObjectQuery,
    pub around: Vec<ObjectQuery>,
    /// Whether the target is told by what is around it, and by no name of its own: "a man with
    /// a ladder", "somebody lighting candles". Elsewhere a question says more than a caption
    /// does.
    pub is_told_by_around: bool,
    /// Whether it is about a deed of the target that was left out: whoever is beside the same
    /// things only may do it.
    pub is_deed_left_out: bool,
}

impl SceneQuery {
    /// A thing, wherever it is.
    pub fn of_thing(target: ObjectQuery) -> Self {
        Self::of(target, Vec::new())
    }

    /// A thing, and what may be around it.
    pub fn of(target: ObjectQuery, around: Vec<ObjectQuery>) -> Self {
        Self { target, around, is_told_by_around: false, is_deed_left_out: false }
    }

    /// Whether without a thing around it may be another target. Captions leave rooms out; who says
    /// "shelf A3" means no other shelf.
    pub fn needs(&self, around: &ObjectQuery) -> bool {
        let is_room = || around.names.iter().any(|it| is_room(&it.stem));
        let mut parts = around.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
        self.is_told_by_around && !is_room() || parts.any(|it| identifier::is_identifier(&it.word))
    }
}

/// Rows that show a thing; no row is in both.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhraseMatches {
    /// With all its attributes.
    pub full: RoaringBitmap,
    /// With some of them, or a kind of it.
    pub partial: RoaringBitmap,
    /// With nothing against it.
    pub possible: RoaringBitmap,
    /// With what it is a kind of.
    pub related: RoaringBitmap,
}

impl PhraseMatches {
    /// All that name the thing.
    pub fn union_named(&self) -> RoaringBitmap {
        &self.full | &self.partial | &self.possible
    }
}

/// A phrase that names a thing, how well it fits, and the rows that hold it.
#[derive(Debug, Clone, Copy)]
pub struct PhraseMatch<'a> {
    pub phrase: &'a str,
    /// What it says of the thing.
    pub attributes: &'a [Attribute],
    /// `None` where one of its attributes excludes a wanted one.
    pub fit: Option<Fit>,
    /// Whether it has the very noun that is asked for, and the thing is there.
    pub is_own: bool,
    /// Whether it names several and one is asked for.
    pub is_of_several: bool,
    pub rows: &'a RoaringBitmap,
}

/// Whether several are called by a word, and nothing is that is one.
fn is_several(noun: &str) -> bool {
    !lexicon::is_name(noun) && lexicon::singular(noun) != noun
}

/// The phrases of a part's rows.
#[derive(Debug, Default, Clone)]
pub struct Phrases {
    entries: Vec<Entry>,
    by_text: HashMap<Box<str>, u32>,
    by_stem: HashMap<Box<str>, Vec<u32>>,
    /// Of the names of things, in lower case.
    words: HashSet<Box<str>>,
    rows: u32,
    left_out: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    mention: Mention,
    rows: RoaringBitmap,
}

impl Phrases {
    /// Appends a row that mentions these things.
    pub fn push(&mut self, mentions: Vec<Mention>) {
        let row = self.rows;
        for mention in mentions {
            if let Some(entry) = self.intern(mention) {
                entry.rows.insert(row);
            }
        }
        self.rows += 1;
    }

    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Distinct phrases.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Mentions that found no room; see [`PHRASES_MAX`].
    pub fn left_out_count(&self) -> u64 {
        self.left_out
    }

    /// The rows that show a thing, its attributes bound to it.
    pub fn matches(&self, sought: &ObjectQuery) -> PhraseMatches {
        let (mut full, mut partial) = (Vec::new(), Vec::new());
        let (mut possible, mut related) = (Vec::new(), Vec::new());
        for of_thing in self.naming(sought) {
            match of_thing.fit {
                Some(Fit::Full) => full.push(of_thing.rows),
                Some(Fit::Partial) => partial.push(of_thing.rows),
                Some(Fit::Possible) => possible.push(of_thing.rows),
                Some(Fit::Related) => related.push(of_thing.rows),
                None => {}
            }
        }
        let full = full.union();
        let partial = partial.union() - &full;
        let possible = possible.union() - &full - &partial;
        let related = related.union() - &full - &partial - &possible;
        PhraseMatches { full, partial, possible, related }
    }

    /// The phrases that name a thing, whether or not their attributes fit.
    pub fn naming<'a>(&'a self, sought: &'a ObjectQuery) -> impl Iterator<Item = PhraseMatch<'a>> {
        let called = |(number, name): (usize, &'a ObjectName)| {
            let entries = self.by_stem.get(name.stem.as_str()).into_iter().flatten();
            entries.map(move |at| (*at, name, number == 0))
        };
        sought.names.iter().enumerate().flat_map(called).filter_map(|(at, name, is_own)| {
            let Entry { mention, rows } = self.entries.get(at as usize)?;
            let fit = sought.fit_by(name, mention);
            // What is neither the same nor related says nothing against it.
            let is_named = name.relation == Relation::Same && name.needed.is_empty();
            let Mention { phrase, attributes, .. } = mention;
            let is_it = fit != Some(Fit::Related);
            let is_own = is_own && is_it && !is_depicted(attributes) && !name.is_namesake(mention);
            let is_of_several = is_own && is_several(&mention.head) && !is_several(&sought.noun);
            let found = PhraseMatch { phrase, attributes, fit, is_own, is_of_several, rows };
            (fit.is_some() || is_named).then_some(found)
        })
    }

    /// Whether a phrase has `word` as a part of the name of a thing with this noun: "liquid"
    /// of "washing up liquid bottle".
    pub fn is_part_of_name(&self, stem: &str, word: &str) -> bool {
        let entries = self.by_stem.get(stem).into_iter().flatten();
        let mut entries = entries.filter_map(|at| self.entries.get(*at as usize));
        entries.any(|entry| {
            let mut attributes = entry.mention.attributes.iter();
            attributes.any(|it| it.kind == AttributeKind::Compound && it.word == word)
        })
    }

    /// Each noun's stem once, ascending, with the noun as one of them is called.
    pub fn nouns(&self, deleted: &RoaringBitmap) -> Vec<(&str, String)> {
        let is_live = |it: &&Entry| !it.rows.is_subset(deleted);
        let live = self.entries.iter().filter(is_live).map(|it| &it.mention);
        let things = live.filter(|it| is_plain(it));
        let mut nouns: Vec<(&str, &Mention)> =
            things.map(|it| (it.head_stem.as_str(), it)).collect();
        nouns.sort_by_key(|(stem, _)| *stem);
        nouns.dedup_by_key(|(stem, _)| *stem);
        nouns.into_iter().map(|(stem, mention)| (stem, mention.singular_head())).collect()
    }

    /// The names of more than one word, each once, ascending: "vending machine".
    pub fn compound_names(&self, deleted: &RoaringBitmap) -> BTreeSet<String> {
        let is_live = |it: &&Entry| !it.rows.is_subset(deleted);
        let live = self.entries.iter().filter(is_live).map(|it| &it.mention);
        live.filter(|it| is_plain(it)).filter_map(Mention::compound_name).collect()
    }

    /// The words of all phrases but deeds, each once, in lower case.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(AsRef::as_ref)
    }

    /// Whether a word is one of [`Phrases::words`].
    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// The rows of all parts, one part after the other, but for those that each
    /// part's bitmap names.
    pub fn merge(parts: &[(&Self, &RoaringBitmap)]) -> Self {
        let mut merged = Self::default();
        for (part, deleted) in parts {
            let start = merged.rows;
            for Entry { mention, rows } in &part.entries {
                let kept = rows - *deleted;
                if kept.is_empty() {
                    continue;
                }
                if let Some(entry) = merged.intern(mention.clone()) {
                    let moved = kept.iter().map(|row| start + row - below(deleted, row));
                    entry.rows.extend(moved);
                }
            }
            let lost = deleted.range_cardinality(..part.rows);
            merged.rows += part.rows - u32::try_from(lost).unwrap_or(part.rows);
            merged.left_out += part.left_out;
        }
        merged.compact();
        merged
    }

    /// Stores runs of rows as runs; for a part that grows no more.
    pub fn compact(&mut self) {
        for entry in &mut self.entries {
            entry.rows.optimize();
        }
        self.entries.shrink_to_fit();
    }

    /// Bytes of memory held, about.
    pub fn memory_bytes(&self) -> usize {
        let of = |Entry { mention, rows }: &Entry| {
            let Mention { phrase, head, head_stem, attributes } = mention;
            let words: usize =
                attributes.iter().map(|it| it.word.len() + size_of::<Attribute>()).sum();
            // The phrase and the stem once more as keys.
            2 * (phrase.len() + head_stem.len() + 32)
                + head.len()
                + words
                + size_of::<Entry>()
                + rows.serialized_size()
        };
        let words = self.words.iter().map(|it| it.len() + size_of::<Box<str>>());
        self.entries.iter().map(of).sum::<usize>() + words.sum::<usize>()
    }

    fn intern(&mut self, mention: Mention) -> Option<&mut Entry> {
        let known = self.by_text.get(mention.phrase.as_str()).copied();
        let at = if let Some(at) = known {
            at
        } else if self.entries.len() < PHRASES_MAX {
            self.add(mention)?
        } else if let Some(bare) = self.by_text.get(mention.head.as_str()) {
            *bare
        } else {
            self.left_out += 1;
            return None;
        };
        self.entries.get_mut(at as usize)
    }

    fn add(&mut self, mention: Mention) -> Option<u32> {
        let at = u32::try_from(self.entries.len()).ok()?;
        self.by_text.insert(mention.phrase.as_str().into(), at);
        let stems = [Some(mention.head_stem.as_str()), mention.bare_stem()];
        for stem in stems.into_iter().flatten() {
            self.by_stem.entry(stem.into()).or_default().push(at);
        }
        for stem in identifier::stems(&mention) {
            self.by_stem.entry(stem.into()).or_default().push(at);
        }
        if is_plain(&mention) {
            let lower = mention.phrase.to_lowercase();
            self.words.extend(lower.split(' ').map(Into::into));
        }
        self.entries.push(Entry { mention, rows: RoaringBitmap::new() });
        Some(at)
    }
}

/// How many of a set lie below a row.
fn below(set: &RoaringBitmap, row: u32) -> u32 {
    if set.is_empty() {
        return 0;
    }
    u32::try_from(set.range_cardinality(..row)).unwrap_or(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bytes::tests::{check_damage, check_nonsense};
    use crate::language::mention::mentions;
    use proptest::prelude::{Strategy, any, prop, proptest};

    fn fill(captions: &[String]) -> Phrases {
        let mut phrases = Phrases::default();
        for caption in captions {
            phrases.push(mentions(caption));
        }
        phrases
    }

    fn captions() -> impl Strategy<Value = Vec<String>> {
        let thing = "a (red |blue |small red |closed )?(mug|cup|book|living room|door)";
        let caption = format!("{thing}( (on|next to|and) {thing})?( is red)?");
        prop::collection::vec(prop::string::string_regex(&caption).unwrap(), 0..40)
    }

    fn sought(query: &str, stems: &[&str]) -> ObjectQuery {
        let attributes = mentions(query).remove(0).attributes;
        ObjectQuery::of_stems(attributes, stems.iter().map(|it| (*it).to_owned()).collect())
    }

    #[test]
    fn the_words_of_all_phrases_are_known_in_lower_case() {
        let phrases = fill(&["a Red mug on a desk".to_owned(), "a red book".to_owned()]);
        let words: BTreeSet<&str> = phrases.words().collect();
        assert_eq!(words, BTreeSet::from(["red", "mug", "desk", "book"]));
        assert!(phrases.has_word("red") && !phrases.has_word("Red") && !phrases.has_word("a"));
        let read = Phrases::from_bytes(&phrases.to_bytes()).unwrap();
        assert!(read.has_word("desk"));
    }

    #[test]
    fn what_ends_with_the_name_of_an_animal_and_is_none_is_only_possible() {
        let check = |asked: &str, stem: &str, seen: &str, expect: Fit| {
            let mention = mentions(seen).remove(0);
            assert_eq!(sought(asked, &[stem]).fit(&mention), Some(expect), "{asked} in {seen}");
        };
        check("a dog", "dog", "a hot dog", Fit::Possible);
        check("a dog", "dog", "two hot dogs", Fit::Possible);
        check("a horse", "hors", "a rocking horse", Fit::Possible);
        check("a rocking horse", "hors", "a rocking horse", Fit::Full);
        check("a buffalo", "buffalo", "a black water buffalo", Fit::Full);
        check("a plate", "plate", "a paper plate", Fit::Full);
    }

    /// What a look at each caption finds: by row, the best fit of its mentions.
    fn by_hand(captions: &[String], sought: &ObjectQuery) -> PhraseMatches {
        let mut seen = PhraseMatches::default();
        for (row, caption) in (0..).zip(captions) {
            let fits = mentions(caption).into_iter().filter_map(|it| {
                let is_called = |stem: &str| it.head_stem == stem || it.bare_stem() == Some(stem);
                let is_named = sought.names.iter().any(|name| is_called(&name.stem));
                fit(&it.attributes, &sought.attributes).filter(|_| is_named)
            });
            match fits.max() {
                Some(Fit::Full) => drop(seen.full.insert(row)),
                Some(Fit::Partial) => drop(seen.partial.insert(row)),
                Some(Fit::Possible) => drop(seen.possible.insert(row)),
                Some(Fit::Related) => drop(seen.related.insert(row)),
                None => {}
            }
        }
        seen
    }

    fn asked() -> impl Strategy<Value = ObjectQuery> {
        let thing = "a (red |blue |closed )?(mug|door)";
        let stems = prop::collection::vec(
            prop::sample::select(vec!["mug", "cup", "door", "room", "live room", "lamp"]),
            1..3,
        );
        (thing, stems).prop_map(|(thing, stems)| sought(&thing, &stems))
    }

    proptest! {
        #[test]
        fn sees_what_a_look_at_each_caption_sees(captions in captions(), asked in asked()) {
            let phrases = fill(&captions);
            let expected = by_hand(&captions, &asked);
            assert_eq!(phrases.matches(&asked), expected);
            let read = Phrases::from_bytes(&phrases.to_bytes()).unwrap();
            assert_eq!(read.matches(&asked), expected);
            assert_eq!(read.rows(), captions.len());
        }

        #[test]
        fn merged_parts_are_their_captions_but_those_that_are_gone(
            parts in prop::collection::vec((captions(), prop::collection::btree_set(0_u32..50, 0..30)), 0..4),
            asked in asked(),
        ) {
            let held: Vec<(Phrases, RoaringBitmap)> = parts.iter()
                .map(|(captions, deleted)| (fill(captions), deleted.iter().copied().collect())).collect();
            let borrowed: Vec<_> = held.iter().map(|(phrases, deleted)| (phrases, deleted)).collect();
            let kept: Vec<String> = parts.iter().flat_map(|(captions, deleted)| {
                let kept = (0..).zip(captions).filter(|(row, _)| !deleted.contains(row));
                kept.map(|(_, caption)| caption.clone())
            }).collect();
            let merged = Phrases::merge(&borrowed);
            assert_eq!((merged.rows(), merged.matches(&asked)), (kept.len(), by_hand(&kept, &asked)));
        }

        #[test]
        fn nonsense_is_an_error_or_other_phrases(
            captions in captions(),
            flips in prop::collection::vec((any::<usize>(), 1_u8..), 1..4),
            asked in asked(),
        ) {
            let bytes = fill(&captions).to_bytes();
            if let Some(read) = check_nonsense(&bytes, &flips, Phrases::from_bytes) {
                assert!(read.matches(&asked).union_named().max() < Some(u32::MAX));
                Phrases::merge(&[(&read, &RoaringBitmap::new())]);
            }
        }
    }

    #[test]
    fn a_red_mug_is_no_blue_mug_beside_a_red_book() {
        let captions =
            ["a blue mug next to a red book", "a mug", "a red mug", "a red cup and a blue mug"];
        let phrases = fill(&captions.map(str::to_owned));
        let seen = phrases.matches(&sought("red mug", &["mug"]));
        assert_eq!((seen.full, seen.possible), ([2].into(), [1].into()));
        let seen = phrases.matches(&sought("red mug", &["mug", "cup"]));
        assert_eq!((seen.full, seen.possible), ([2, 3].into(), [1].into()));
    }

    #[test]
    fn a_word_is_part_of_a_name_where_a_phrase_has_it_so() {
        let phrases = fill(&["a soup pot beside a red mug".to_owned()]);
        assert!(phrases.is_part_of_name("pot", "soup"));
        assert!(!phrases.is_part_of_name("mug", "red") && !phrases.is_part_of_name("mug", "soup"));
    }

    #[test]
    fn nouns_come_once_and_as_one_of_them() {
        let phrases = fill(&["two red mugs on a mug".to_owned(), "glasses".to_owned()]);
        let all = [("glass", "glass".to_owned()), ("mug", "mug".to_owned())];
        assert_eq!(phrases.nouns(&RoaringBitmap::new()), all);
        assert_eq!(phrases.nouns(&[1].into()), all[1..]);
    }

    #[test]
    fn beyond_the_bound_a_phrase_counts_as_its_noun() {
        let mut phrases = Phrases::default();
        phrases.push(mentions("a mug"));
        for at in 1..PHRASES_MAX {
            phrases.push(mentions(&format!("a x{at}y thing")));
        }
        assert_eq!(phrases.len(), PHRASES_MAX);
        phrases.push(mentions("a red mug beside a lamp"));
        let row = u32::try_from(PHRASES_MAX).unwrap();
        let seen = phrases.matches(&sought("red mug", &["mug"]));
        assert_eq!((seen.full, seen.possible), (RoaringBitmap::new(), [0, row].into()));
        assert_eq!((phrases.len(), phrases.left_out_count()), (PHRASES_MAX, 1));
    }

    #[test]
    fn damage_is_noticed() {
        let captions = ["a red mug", "a red mug on a desk that is wooden"].map(str::to_owned);
        check_damage(&fill(&captions).to_bytes(), Phrases::from_bytes);
    }
}
