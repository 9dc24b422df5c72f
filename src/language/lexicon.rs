//! What WordNet knows of English words: which there are, which are adjectives, which
//! names mean one concept, and which concept is more general; and the names of household
//! things, which it lacks.
//!
//! Pure: the files of `data/`, compiled in. WordNet (Miller 1995) 3.1; a name stands
//! for its first sense that a camera can see, and where that is said for others that are used
//! about as often: a lift is an elevator, too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::british::british;
use crate::language::words::{IRREGULAR_PLURALS, OPPOSED};

/// Most steps from a concept to one that is more general and still answers for it: a
/// skillet is a pan, a cooking utensil, a utensil.
const STEPS_MAX: usize = 4;

/// Most steps from two concepts to one above both that makes them near kinds.
const NEAR_STEPS_MAX: usize = 2;

/// Letters of the shortest of [`words`].
pub const WORD_LETTERS_MIN: usize = 4;

/// From so many kinds on a name is that of a class: there are 85 kinds of bags, and a bag may be
/// none of them; who asks for animals means dogs.
pub const CLASS_KINDS_MIN: usize = 150;

/// From so many kinds on two of them are not one by their names alone.
const BESIDE_KINDS_MAX: usize = 140;

/// Most names of kinds; a person has more.
pub const KINDS_MAX: usize = 4_096;

/// Whether a word in lower case says how something is, and names nothing.
pub fn is_adjective(word: &str) -> bool {
    ADJECTIVES.contains(word)
}

/// The adjective of a superlative that is no other word: "small" of "smallest", none of "forest".
pub fn of_superlative(word: &str) -> Option<String> {
    let is_other = is_name(word) || is_word(word);
    compared(word).filter(|_| word.ends_with("est") && !is_other)
}

/// The adjective of which a word says that a thing is more or most so: "big" of "biggest".
pub fn compared(word: &str) -> Option<String> {
    let stem = word.strip_suffix("est").or_else(|| word.strip_suffix("er"))?;
    let undoubled = stem.get(..stem.len().saturating_sub(1)).unwrap_or_default();
    let y = stem.strip_suffix('i').map(|it| format!("{it}y"));
    let forms = [Some(stem.to_owned()), Some(format!("{stem}e")), Some(undoubled.to_owned()), y];
    forms.into_iter().flatten().find(|it| it.len() > 2 && is_adjective(it))
}

/// The adjective for who or what has such a thing: "bearded" of "beard", "striped" of "stripes".
pub fn having(noun: &str) -> Option<&'static str> {
    let one = singular(noun);
    // "spotted", "lidded"
    let doubled = one.chars().next_back().map(|last| format!("{one}{last}ed"));
    let plain = if one.ends_with('e') { format!("{one}d") } else { format!("{one}ed") };
    // Who has a hat is not hated.
    let formed = [doubled, Some(plain)];
    formed.iter().flatten().find_map(|it| ADJECTIVES.get(it.as_str()).copied())
}

/// Whether two words say the same of a thing, as they are made of one noun: "starry", "starred"
/// and "star-patterned", and the noun itself.
pub fn are_of_one_noun(a: &str, b: &str) -> bool {
    let (of_a, of_b) = (base_noun(a), base_noun(b));
    match (of_a, of_b) {
        (None, None) => false,
        (Some(one), None) => one == singular(b),
        (None, Some(other)) => other == singular(a),
        (Some(one), Some(other)) => one == other,
    }
}

/// The noun of which an adjective is made that says that a thing has it or is of it: "stripe" of
/// "stripy", "spot" of "spotted".
pub fn base_noun(adjective: &str) -> Option<String> {
    let is_noun = |it: &str| it.len() > 2 && (is_name(it) || is_word(it)) && !is_adjective(it);
    if let Some((noun, _)) = adjective.rsplit_once('-').filter(|(_, end)| PATTERNED.contains(end)) {
        return Some(singular(noun));
    }
    let stem = ["ey", "y", "ed", "en"].iter().find_map(|end| adjective.strip_suffix(end));
    let stem = stem.filter(|_| is_adjective(adjective))?;
    let doubled = stem.chars().next_back();
    let undoubled =
        doubled.and_then(|it| stem.strip_suffix(it)).filter(|it| it.chars().next_back() == doubled);
    let forms = [Some(stem.to_owned()), undoubled.map(str::to_owned), Some(format!("{stem}e"))];
    forms.into_iter().flatten().find(|it| is_noun(it))
}

/// After a hyphen, what says that a thing has the noun before it on it.
const PATTERNED: &[&str] = &["patterned", "print", "printed", "spangled"];

/// Whether two adjectives exclude each other: left and right, male and female.
pub fn are_opposite(a: &str, b: &str) -> bool {
    OPPOSED.has_tag(a, b) || OPPOSITES.get(a).is_some_and(|it| it.split(' ').any(|it| it == b))
}

/// Whether a word in lower case and uninflected is a verb, if seldom.
pub fn is_verb(word: &str) -> bool {
    VERBS.contains_key(word)
}

/// Whether such a word is oftener, or as often, something else: "phone".
pub fn is_seldom_verb(word: &str) -> bool {
    VERBS.get(word).is_some_and(|it| *it)
}

/// Whether a name in lower case and singular is one that WordNet has for what can be
/// seen: "washing machine".
pub fn is_name(name: &str) -> bool {
    CONCEPTS.by_name.contains_key(name)
}

/// The names of what a camera can see that have one word.
pub fn names_of_one_word() -> impl Iterator<Item = &'static str> {
    CONCEPTS.by_name.keys().copied().filter(|it| !it.contains(' '))
}

/// English words in lower case, uninflected and of [`WORD_LETTERS_MIN`] letters or more, in
/// the order of the alphabet.
pub fn words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied()
}

/// Whether a word is one of [`words`].
pub fn is_word(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// Whether a word is one of [`words`] that no tagged text of WordNet uses: "pone".
pub fn is_seldom(word: &str) -> bool {
    SELDOM_WORDS.binary_search(&word).is_ok()
}

/// Whether texts have a word often that is none of [`words`]: "recipe".
pub fn is_frequent(word: &str) -> bool {
    FREQUENT_WORDS.binary_search(&word).is_ok()
}

/// Whether a plant is called by what grows on it, and means that first in a caption: "banana", which
/// is a banana tree, too.
pub fn is_yield(name: &str) -> bool {
    let is_of_it = |it: &str| it.strip_prefix(name).is_some_and(|end| GROWING.contains(&end));
    synonyms(name).any(is_of_it)
}

const GROWING: &[&str] = &[" tree", " plant", " vine", " bush", " palm"];

/// The other names of what `name` means, in any of its senses: "elevator" of "lift".
pub fn synonyms(name: &str) -> impl Iterator<Item = &'static str> {
    let concepts = CONCEPTS.senses(name).filter_map(|at| CONCEPTS.entries.get(at));
    concepts.flat_map(|it| split(it.names)).filter(move |it| *it != name)
}

/// Whether two names are synonyms of each other, by the concepts or by the household names.
pub fn are_synonyms(a: &str, b: &str) -> bool {
    let is_one = |a: &str, b: &str| synonyms(a).any(|it| it == b);
    household_names(a).contains(&b) || is_one(a, b) || is_one(b, a)
}

/// Names that may mean what `name` does first, in a further sense of theirs: "lift" of
/// "elevator"; and those that the list of household things has for what it may be, "box" of
/// "parcel".
pub fn possible_synonyms(name: &str) -> impl Iterator<Item = &'static str> {
    let concept = CONCEPTS.by_name.get(name).and_then(|at| CONCEPTS.entries.get(*at));
    let household = HOUSEHOLD_NAMES.get(name).into_iter().flat_map(|it| it.possible.clone());
    concept.into_iter().flat_map(|it| split(it.further_names)).chain(household)
}

/// All names of the household thing that is called `name`, itself among them; none where
/// the list does not know it.
pub fn household_names(name: &str) -> &'static [&'static str] {
    HOUSEHOLD_NAMES.get(name).map(|it| it.names.as_slice()).unwrap_or_default()
}

/// Further names of the more special concepts that `name` answers for: a lorry may be a truck.
pub fn possible_kinds(name: &str) -> impl Iterator<Item = &'static str> {
    below(name).flat_map(|it| split(it.further_names)).take(KINDS_MAX)
}

/// Whether two nouns are known by these stems, and what the first one means is no kind of
/// what the second one does: a spoon is no fork, and a chair need be no armchair.
pub fn is_other_kind(stem: &str, general: &str) -> bool {
    let (these, those) = (names_of_stem(stem), names_of_stem(general));
    let is_known = !these.is_empty() && !those.is_empty();
    is_known && these.iter().all(|one| those.iter().all(|general| !is_kind_of(one, general)))
}

/// The two words that are one in a name: "hair" and "brush".
pub fn halves(noun: &str) -> Option<(&str, &str)> {
    let is_known = |it: &str| is_word(it) || is_name(it);
    let mut halves = (HALF_LETTERS_MIN..noun.len()).filter_map(|at| noun.split_at_checked(at));
    halves.find(|(first, last)| last.len() >= HALF_LETTERS_MIN && is_known(first) && is_known(last))
}

/// Letters that either half of a name in one word has at least: "tea" and "pot".
const HALF_LETTERS_MIN: usize = 3;

/// Whether a name in one word ends with a noun of this stem, and the dictionary has it as a thing of
/// its own: a wheelchair.
pub fn is_own_kind(name: &str, stem: &str) -> bool {
    is_name(name) && halves(name).is_some_and(|(_, last)| noun_stem(last) == stem)
}

/// The names of one word that have a stem: "table" and "tabling" of "tabl".
pub fn names_of_stem(stem: &str) -> &'static [&'static str] {
    NAMES_BY_STEM.get(stem).map(Vec::as_slice).unwrap_or_default()
}

/// The noun of a stem, as the dictionary has it; else the stem.
pub fn noun_of_stem(stem: &str) -> &str {
    names_of_stem(stem).first().copied().unwrap_or(stem)
}

/// Whether `name` means something that `general` means, too, in any of their senses: a mug is
/// a vessel.
pub fn is_kind_of(name: &str, general: &str) -> bool {
    is_among_first(name, general, STEPS_MAX + 1)
}

/// The same, however many steps are between: a pug dog is an organism.
pub fn descends_from(name: &str, general: &str) -> bool {
    is_among_first(name, general, usize::MAX)
}

/// Whether a name's first sense is a part of somebody: an ear, a lap.
pub fn is_of_body(name: &str) -> bool {
    let parts = ["external body part", "sense organ", "anatomical structure"];
    let parts: Vec<usize> = parts.iter().flat_map(|it| CONCEPTS.senses(it)).collect();
    let parent = |at: &usize| CONCEPTS.entries.get(*at)?.parent;
    let first = CONCEPTS.by_name.get(name).copied();
    std::iter::successors(first, parent).any(|at| parts.contains(&at))
}

/// Whether a known compound has the name of an animal at its end and means none: a hot dog, a
/// computer mouse. Of things the dictionary's senses are too few to tell.
pub fn is_no_animal(compound: &str, animal: &str) -> bool {
    is_name(compound)
        && descends_from(animal, "animal")
        && !descends_from(compound, "animal")
        && !descends_from(compound, animal)
}

/// Whether `general` is among the first so many concepts from `name` on upwards.
fn is_among_first(name: &str, general: &str, concepts_max: usize) -> bool {
    let wanted: Vec<usize> = CONCEPTS.senses(general).collect();
    CONCEPTS.senses(name).any(|sense| {
        let parent = |at: &usize| CONCEPTS.entries.get(*at)?.parent;
        let mut up = std::iter::successors(Some(sense), parent).take(concepts_max);
        up.any(|at| wanted.contains(&at))
    })
}

/// Whether two names mean things, and neither the same nor near kinds: tea and a kitchen.
pub fn are_known_apart(a: &str, b: &str) -> bool {
    is_name(a) && is_name(b) && a != b && !are_synonyms(a, b) && !are_near_kinds(a, b)
}

/// Whether the first senses of two names are kinds of one thing, a step or two above them: a
/// forklift and a truck.
pub fn are_near_kinds(a: &str, b: &str) -> bool {
    let up = |name: &str| {
        let parent = |at: &usize| CONCEPTS.entries.get(*at)?.parent;
        let first = CONCEPTS.by_name.get(name).copied();
        std::iter::successors(first, parent).take(NEAR_STEPS_MAX + 1).collect::<Vec<_>>()
    };
    let (these, those) = (up(a), up(b));
    these.iter().any(|it| those.contains(it))
}

/// Whether the first senses of two names are one kind of the other, or two of one thing right above
/// both: a paperback and a novel.
pub fn is_kind_beside(kind: &str, name: &str) -> bool {
    let first = |name: &str| CONCEPTS.by_name.get(name).copied();
    let parent = |at: usize| CONCEPTS.entries.get(at)?.parent;
    let (Some(kind), Some(name)) = (first(kind), first(name)) else { return false };
    let above = parent(kind);
    // What is above a key and a hanger, a device, has too many kinds to tell.
    let is_one = || {
        let above = above.and_then(|it| split(CONCEPTS.entries.get(it)?.names).next());
        above.is_some_and(|it| kinds(it).take(BESIDE_KINDS_MAX).count() < BESIDE_KINDS_MAX)
    };
    kind != name && (above == Some(name) || above == parent(name) && is_one())
}

/// Whether all that `name` means is somebody: a nurse, and no pitcher.
pub fn is_person(name: &str) -> bool {
    let person = CONCEPTS.by_name.get("person").copied();
    let is_below = |sense: usize| {
        let parent = |at: &usize| CONCEPTS.entries.get(*at)?.parent;
        std::iter::successors(Some(sense), parent).any(|at| Some(at) == person)
    };
    let mut senses = CONCEPTS.senses(name).peekable();
    senses.peek().is_some() && senses.all(is_below)
}

/// Whether a name is one that means something, and nobody.
pub fn is_no_person(name: &str) -> bool {
    is_name(name) && !is_person(name)
}

/// The names of the more special concepts that `name` answers for, at most
/// [`KINDS_MAX`]: "skillet" of "pan".
pub fn kinds(name: &str) -> impl Iterator<Item = &'static str> {
    below(name).flat_map(|it| split(it.names)).take(KINDS_MAX)
}

/// What several kinds of a thing are called by their last word: a mixing bowl, a punch bowl and a finger
/// bowl are dishes, so that a bowl may be one.
pub fn heads_of_kinds(name: &str) -> impl Iterator<Item = &'static str> {
    const KINDS_MIN: usize = 4;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in below(name) {
        let heads = split(kind.names).filter_map(|it| Some(it.rsplit_once(' ')?.1));
        for head in heads.collect::<BTreeSet<&str>>() {
            *kinds.entry(head).or_default() += 1;
        }
    }
    let own = name.rsplit(' ').next().unwrap_or_default().to_owned();
    let heads = kinds.into_iter().filter(move |(it, count)| *count >= KINDS_MIN && *it != own);
    heads.map(|(it, _)| it)
}

fn below(name: &str) -> impl Iterator<Item = &'static Concept> {
    let mut below: Vec<usize> = Vec::new();
    let mut level: Vec<usize> = CONCEPTS.senses(name).collect();
    for _ in 0..STEPS_MAX {
        let children = level.iter().filter_map(|at| CONCEPTS.children.get(*at)).flatten();
        level = children.copied().collect();
        below.extend(&level);
    }
    below.into_iter().filter_map(|at| CONCEPTS.entries.get(at))
}

/// The names of the more general concepts that `name` is a kind of, the nearest first,
/// but for the most general, which say nothing: "drinking vessel" of "mug".
pub fn more_general(name: &str) -> impl Iterator<Item = &'static str> {
    let concept = |at: usize| CONCEPTS.entries.get(at);
    let start = CONCEPTS.by_name.get(name).copied();
    let up = std::iter::successors(start, move |at| concept(*at)?.parent);
    let concepts = up.skip(1).take(STEPS_MAX).filter_map(concept);
    concepts.filter(|it| it.parent.is_some()).flat_map(|it| split(it.names))
}

/// The names of the concept right above the one called `name`: "motorcycle" of "motorbike", "rope"
/// of "lariat". Of the most general concepts those with many kinds say nothing.
pub fn just_above(name: &str) -> impl Iterator<Item = &'static str> {
    let concept = |at: &usize| CONCEPTS.entries.get(*at);
    let is_telling = |it: &&Concept| {
        let name = split(it.names).next().unwrap_or_default();
        it.parent.is_some() || kinds(name).count() < CLASS_KINDS_MIN
    };
    let above = CONCEPTS.by_name.get(name).and_then(concept).and_then(|it| it.parent);
    let above = above.as_ref().and_then(concept).filter(is_telling);
    above.into_iter().flat_map(|it| split(it.names))
}

/// One of what a word in lower case names: "box" of "boxes". A word that WordNet does not
/// know is as it is, but for a plain "s" at its end.
pub fn singular(word: &str) -> String {
    let candidates = [
        // "cookies" are no "cooky", which WordNet has as well.
        word.strip_suffix("s").filter(|it| it.ends_with("ie")).map(str::to_owned),
        word.strip_suffix("ies").map(|start| format!("{start}y")),
        word.strip_suffix("ves").map(|start| format!("{start}fe")),
        word.strip_suffix("ves").map(|start| format!("{start}f")),
        // "canes" are no cans.
        word.strip_suffix('s').map(str::to_owned),
        word.strip_suffix("es").map(str::to_owned),
    ];
    if is_name(word) {
        return word.to_owned();
    }
    if let Some(one) = irregular_singular(word) {
        return one;
    }
    let known = candidates.iter().flatten().find(|it| is_name(it));
    let plain = word.strip_suffix('s').filter(|it| it.len() > 2 && !it.ends_with(['s', 'u', 'i']));
    known.cloned().unwrap_or_else(|| plain.unwrap_or(word).to_owned())
}

/// One of what a word names that has no "s" for several: "woman" of "women", "postman" of "postmen".
pub fn irregular_singular(word: &str) -> Option<String> {
    let listed = IRREGULAR_PLURALS.value(word).map(str::to_owned);
    // A grandchild, a dormouse.
    let of_compound = || {
        let mut ends = IRREGULAR_PLURALS.words().filter_map(|end| {
            let before = word.strip_suffix(end)?;
            Some(format!("{before}{}", IRREGULAR_PLURALS.value(end)?))
        });
        ends.find(|it| is_name(it))
    };
    listed.or_else(of_compound)
}

/// Stem of a noun in lower case, of several as of one: "tabl" of "tables". Of different things
/// whose names would have one stem only the shortest has it: an officer is no office.
pub fn noun_stem(word: &str) -> String {
    let one = british(&singular(word));
    if APART.contains(one.as_str()) { one } else { shared_stem(&one) }
}

/// Names of one word that are their own stem.
static APART: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let mut by_stem: HashMap<String, Vec<&'static str>> = HashMap::new();
    for name in CONCEPTS.by_name.keys().filter(|it| !it.contains(' ')) {
        by_stem.entry(shared_stem(&british(name))).or_default().push(name);
    }
    // The finish of a guitar is no finisher.
    let does = |it: &&&str| {
        it.ends_with("er") && it.len() > shared_stem(it).len() && is_word(&shared_stem(it))
    };
    let doers: Vec<&str> = by_stem.values().flatten().filter(does).copied().collect();
    let apart = by_stem.into_values().flat_map(|names| {
        let shortest = names.iter().copied().min_by_key(|it| (it.len(), *it)).unwrap_or_default();
        let is_other = move |it: &&str| {
            *it != shortest && !is_plural(it, shortest) && !are_synonyms(it, shortest)
        };
        names.into_iter().filter(is_other)
    });
    apart.chain(doers).collect()
});

fn shared_stem(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// Whether the dictionary has a word for one thing that is how several of `one` are called, too:
/// glasses to see with.
pub fn is_name_of_plural(word: &str, one: &str) -> bool {
    is_name(word) && is_name(one) && is_plural(word, one)
}

/// Whether a word is how several of `one` are called.
fn is_plural(word: &str, one: &str) -> bool {
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| one.ends_with(end));
    word.strip_prefix(one).is_some_and(|end| end == if hisses { "es" } else { "s" })
}

static ADJECTIVES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("data/adjectives.txt").lines().collect());

/// Adjectives, each with those that exclude it.
static OPPOSITES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    include_str!("data/opposites.txt").lines().filter_map(|it| it.split_once('\t')).collect()
});

/// With whether they are oftener something else.
static VERBS: LazyLock<HashMap<&'static str, bool>> = LazyLock::new(|| {
    let lines = include_str!("data/verbs.txt").lines();
    lines.map(|it| (it.trim_end_matches('*'), it.ends_with('*'))).collect()
});

/// By each of the names.
static HOUSEHOLD_NAMES: LazyLock<HashMap<&'static str, Household>> = LazyLock::new(|| {
    let lines = include_str!("data/household_names.txt").lines().filter(|it| !it.starts_with('#'));
    let mut by_name = HashMap::new();
    for line in lines {
        let (these, those) = line.split_once(" / ").unwrap_or((line, ""));
        for (names, possible) in [(these, those), (those, these)] {
            let household =
                Household { names: split(names).collect(), possible: split(possible).collect() };
            by_name.extend(split(names).map(|it| (it, household.clone())));
        }
    }
    by_name
});

/// What a household thing is called.
#[derive(Debug, Clone)]
struct Household {
    names: Vec<&'static str>,
    /// Names of what it may be.
    possible: Vec<&'static str>,
}

/// Sorted.
static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let words = WORD_LINES.lines().filter(|it| !it.starts_with('#'));
    words.map(|it| it.trim_end_matches('*')).collect()
});

/// Sorted.
static SELDOM_WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| WORD_LINES.lines().filter_map(|it| it.strip_suffix('*')).collect());

const WORD_LINES: &str = include_str!("data/english_words.txt");

/// Sorted.
static FREQUENT_WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("data/frequent_words.txt").lines().collect());

/// Names of one word, by stem.
static NAMES_BY_STEM: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
    let mut by_stem: HashMap<String, Vec<&'static str>> = HashMap::new();
    for name in CONCEPTS.by_name.keys().filter(|it| !it.contains(' ')) {
        by_stem.entry(noun_stem(name)).or_default().push(name);
    }
    by_stem
});

static CONCEPTS: LazyLock<Concepts> =
    LazyLock::new(|| Concepts::read(include_str!("data/concepts.txt")));

struct Concepts {
    entries: Vec<Concept>,
    /// By the number of the more general concept.
    children: Vec<Vec<usize>>,
    /// The first sense of each name.
    by_name: HashMap<&'static str, usize>,
    /// Its further ones.
    further: HashMap<&'static str, Vec<usize>>,
}

struct Concept {
    parent: Option<usize>,
    /// Names whose first sense it is, with ", " between them.
    names: &'static str,
    /// Names of which it is a further sense.
    further_names: &'static str,
}

fn split(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split(", ").filter(|it| !it.is_empty())
}

impl Concepts {
    fn read(text: &'static str) -> Self {
        let mut concepts = Self {
            entries: Vec::new(),
            children: Vec::new(),
            by_name: HashMap::new(),
            further: HashMap::new(),
        };
        for line in text.lines() {
            let mut fields = line.split('\t').skip(1);
            let parent = fields.next().and_then(|it| it.parse().ok());
            let mut names = || fields.next().unwrap_or_default();
            let (names, further_names) = (names(), names());
            let at = concepts.entries.len();
            concepts.by_name.extend(split(names).map(|name| (name, at)));
            for name in split(further_names) {
                concepts.further.entry(name).or_default().push(at);
            }
            concepts.entries.push(Concept { parent, names, further_names });
        }
        concepts.children.resize_with(concepts.entries.len(), Vec::new);
        for (at, concept) in concepts.entries.iter().enumerate() {
            let parent = concept.parent.and_then(|it| concepts.children.get_mut(it));
            if let Some(children) = parent {
                children.push(at);
            }
        }
        concepts
    }

    /// The senses of a name, its first one first.
    fn senses(&self, name: &str) -> impl Iterator<Item = usize> {
        let further = self.further.get(name).into_iter().flatten();
        self.by_name.get(name).into_iter().chain(further).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bowl_may_be_a_dish_and_no_bed_is_a_sofa() {
        let may_be = |thing: &str, name: &str| heads_of_kinds(thing).any(|it| it == name);
        assert!(may_be("dish", "bowl") && !may_be("bowl", "dish"));
        assert!(!may_be("sofa", "bed") && !may_be("dish", "dish"));
    }

    #[test]
    fn what_is_made_of_one_noun_says_the_same() {
        for (a, b) in [
            ("starry", "starred"),
            ("star-patterned", "starry"),
            ("star", "starred"),
            ("stars", "starry"),
            ("stripy", "striped"),
            ("spotty", "spotted"),
            ("wood", "wooden"),
        ] {
            assert!(are_of_one_noun(a, b), "{a}, {b}");
        }
        for (a, b) in [("starry", "stripy"), ("red", "read"), ("penny", "pen"), ("dirty", "dusty")]
        {
            assert!(!are_of_one_noun(a, b), "{a}, {b}");
        }
    }

    #[test]
    fn parts_of_somebody_are_told_from_things() {
        assert!(["ear", "lap", "hand", "foot", "mouth"].into_iter().all(is_of_body));
        assert!(!["nail", "drum", "laptop", "earphone", "leg of lamb"].into_iter().any(is_of_body));
    }

    #[test]
    fn what_an_everyday_name_means_first_is_what_else_the_thing_is_called() {
        for (name, general) in [
            ("lid", "body part"),
            ("tunic", "tissue layer"),
            ("skin", "tissue"),
            ("mouse", "animal"),
            ("ruler", "person"),
            ("speaker", "person"),
        ] {
            assert!(!descends_from(name, general), "{name}, {general}");
        }
        assert!(is_kind_of("tumbler", "drinking glass") && is_kind_of("charger", "device"));
        assert!(descends_from("grass", "herb") && descends_from("horse", "animal"));
    }

    #[test]
    fn what_is_compared_is_known_by_its_adjective() {
        for (word, adjective) in
            [("smallest", "small"), ("largest", "large"), ("biggest", "big"), ("heaviest", "heavy")]
        {
            assert_eq!(of_superlative(word).as_deref(), Some(adjective), "{word}");
        }
        for word in ["forest", "chest", "guest", "honest", "best", "west", "smaller", ""] {
            assert_eq!(of_superlative(word), None, "{word}");
        }
        assert_eq!(compared("smaller").as_deref(), Some("small"));
    }

    #[test]
    fn a_kind_before_its_general_name_is_known() {
        assert!(is_kind_beside("paperback", "book"));
        assert!(is_kind_beside("paperback", "novel"));
        for (part, name) in [
            ("desk", "chair"),
            ("key", "hanger"),
            ("bottle", "glass"),
            ("tea", "cup"),
            ("dog", "bowl"),
            ("pot", "lid"),
        ] {
            assert!(!is_kind_beside(part, name), "{part} {name}");
        }
    }

    #[test]
    fn verbs_are_told_from_what_is_oftener_a_noun() {
        assert!(is_verb("bake") && !is_seldom_verb("bake"));
        assert!(is_verb("phone") && is_seldom_verb("phone"));
        assert!(!is_verb("kale"));
    }

    #[test]
    fn names_of_different_things_have_different_stems() {
        let same = |a, b| noun_stem(a) == noun_stem(b);
        for (one, several) in
            [("table", "tables"), ("glass", "glasses"), ("boot", "boots"), ("knife", "knives")]
        {
            assert!(same(one, several), "{one}, {several}");
        }
        for (a, b) in [
            ("bed", "bedding"),
            ("office", "officer"),
            ("skateboard", "skateboarder"),
            ("paint", "painting"),
            ("container", "containment"),
            ("cloth", "clothes"),
            ("stock", "stockings"),
        ] {
            assert!(!same(a, b), "{a}, {b}");
        }
        assert!(same("carpet", "carpeting") && same("annex", "annexe"), "one thing");
    }

    #[test]
    fn adjectives_are_told_from_nouns() {
        for word in ["dirty", "cozy", "electric", "large", "modern"] {
            assert!(is_adjective(word), "{word}");
        }
        for word in ["kitchen", "sunflower", "oil", "towel", "exit"] {
            assert!(!is_adjective(word), "{word}");
        }
    }

    #[test]
    fn names_of_one_concept_are_synonyms() {
        let of = |name: &str| synonyms(name).collect::<Vec<_>>();
        assert_eq!(of("skillet"), ["frying pan", "frypan"]);
        assert!(of("backpack").contains(&"rucksack"));
        assert!(of("laptop").contains(&"laptop computer"));
        assert_eq!(of("no such thing"), [""; 0]);
        assert!(of("bike").contains(&"bicycle") && of("lift").contains(&"elevator"));
        let possible = |name: &str| possible_synonyms(name).collect::<Vec<_>>();
        assert!(possible("elevator").contains(&"lift"));
        for name in ["pot", "can", "stool"] {
            assert!(!of("toilet").contains(&name) && !possible("toilet").contains(&name), "{name}");
        }
    }

    #[test]
    fn the_more_special_is_a_kind_of_the_more_general() {
        assert!(is_kind_of("skillet", "pan"));
        assert!(is_kind_of("coffee mug", "mug"));
        assert!(is_kind_of("woman", "person"));
        assert!(is_kind_of("wine bottle", "container"));
        assert!(!is_kind_of("mug", "coffee mug"));
        assert!(!is_kind_of("mug", "book"));
    }

    #[test]
    fn near_kinds_have_one_more_general_name_close_above_them() {
        assert!(are_near_kinds("forklift", "truck") && are_near_kinds("sofa", "bed"));
        assert!(!are_near_kinds("coffee", "table"));
    }

    #[test]
    fn who_is_called_by_a_trade_or_a_kinship_is_a_person() {
        for name in ["person", "woman", "nurse", "electrician", "firefighter", "sister", "cyclist"]
        {
            assert!(is_person(name), "{name}");
        }
        for name in ["mug", "dog", "vacuum cleaner", "monitor", "zorg"] {
            assert!(!is_person(name), "{name}");
        }
    }

    #[test]
    fn siblings_and_the_more_general_are_other_kinds_and_the_more_special_is_not() {
        assert!(is_other_kind("spoon", "fork") && is_other_kind("rack", "racket"));
        assert!(is_other_kind("pan", "skillet") && !is_other_kind("skillet", "pan"));
        assert!(!is_other_kind("sofa", "couch") && !is_other_kind("zorg", "fork"));
        assert!(!is_other_kind("dog", "anim"));
        assert!(is_no_animal("hot dog", "dog") && is_no_animal("teddy bear", "bear"));
        assert!(!is_no_animal("water buffalo", "buffalo") && !is_no_animal("paper plate", "plate"));
    }

    #[test]
    fn kinds_and_what_is_more_general_are_listed() {
        let kinds_of = |name: &str| kinds(name).collect::<HashSet<_>>();
        assert!(kinds_of("bag").is_superset(&HashSet::from(["backpack", "plastic bag"])));
        assert!(kinds_of("bag").iter().all(|it| is_kind_of(it, "bag")));
        assert!(kinds_of("book").is_superset(&HashSet::from(["cookbook", "dictionary", "novel"])));
        assert!(kinds_of("magazine").contains("comic book"));
        assert!(kinds_of("no such thing").is_empty());
        let above: Vec<&str> = more_general("mug").collect();
        assert_eq!(above.first(), Some(&"drinking vessel"));
        assert!(above.contains(&"container"), "{above:?}");
        assert!(!above.contains(&"instrumentality"), "{above:?}");
        let above = |name| just_above(name).next();
        assert!(above("lariat").is_some() && above("motorbike").is_some());
        assert_eq!(above("somebody no list has"), None);
        assert_eq!(above("woman"), None, "a person is a class");
    }

    #[test]
    fn one_of_several_has_its_name() {
        for (several, one) in [
            ("knives", "knife"),
            ("leaves", "leaf"),
            ("boxes", "box"),
            ("cookies", "cookie"),
            ("berries", "berry"),
            ("canes", "cane"),
            ("tapes", "tape"),
            ("dishes", "dish"),
            ("glasses", "glasses"),
            ("batteries", "battery"),
            ("bottles", "bottle"),
            ("bus", "bus"),
            ("grass", "grass"),
            ("zorgs", "zorg"),
        ] {
            assert_eq!(singular(several), one);
        }
    }

    #[test]
    fn a_name_is_that_of_one_household_thing() {
        let names = HOUSEHOLD_NAMES.values().map(|it| it.names.len());
        let lines = include_str!("data/household_names.txt").lines();
        let listed = lines.filter(|it| !it.starts_with('#')).flat_map(|it| it.split([',', '/']));
        assert_eq!(listed.count(), HOUSEHOLD_NAMES.len());
        assert!(names.max() > Some(3));
        assert_eq!(household_names("settee"), ["sofa", "couch", "settee"]);
        assert_eq!(household_names("no such thing"), [""; 0]);
    }

    #[test]
    fn words_stand_in_order_each_once_and_have_letters_enough() {
        assert!(WORDS.is_sorted_by(|a, b| a < b));
        assert!(words().all(|it| it.len() >= WORD_LETTERS_MIN));
        assert!(WORDS.len() > 20_000);
        assert!(is_word("bottle") && !is_word("botle"));
        assert!(is_seldom("pone") && is_word("pone") && !is_seldom("bottle"));
        assert!(is_frequent("recipe") && !is_word("recipe") && !is_frequent("recip"));
        assert!(FREQUENT_WORDS.is_sorted());
    }

    #[test]
    fn every_concept_stands_at_its_number_and_below_a_known_one() {
        let lines: Vec<&str> = include_str!("data/concepts.txt").lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields[0], at.to_string(), "{line}");
            let parent = fields[1].parse::<usize>().ok();
            assert!(parent.is_none_or(|it| it < lines.len()), "{line}");
            assert!(!fields[2].is_empty(), "{line}");
        }
    }
}
