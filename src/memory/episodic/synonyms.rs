//! What captions may call a thing, by vectors, by WordNet and by the names of household
//! things: a pillow is a cushion, a teddy is a bear; and a bedroom is no living room.
//!
//! Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::LazyLock;

use crate::index::phrases::{ObjectName, Relation};
use crate::language::known_words::is_known_name;
use crate::language::mention::{Attribute, AttributeKind, Mention, mention_of_name};
use crate::language::words::{
    ANYBODY, GENERAL_NAMES, PACKAGING, PEOPLE, is_distinct_room, is_people,
};
use crate::language::{everyday_names, identifier, lexicon, names_by_people};

/// What captions may call the thing: by the nouns of `like`, whose vectors are alike, and
/// by its other names. Rooms are alike and yet not the same, and what stands in a room is
/// alike to it: a bed is no bedroom. Then what is more special and more general, of nouns
/// that `is_known` says stand in captions.
pub(super) fn names(
    mention: &Mention,
    like: Vec<String>,
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<ObjectName> {
    let mut names = alike_names(mention, like);
    let (known, said) = known_name(mention);
    add_same(&mut names, mention, &known, &said);
    if is_meant_in_plural(mention) {
        add_names_of_plural(&mut names, mention);
    }
    let from = names.len();
    add_everyday(&mut names, mention);
    names.extend(soft_toys(mention).into_iter().filter(|it| is_known(&it.stem)));
    add_kinds(&mut names, mention, &known, &said, is_known);
    // A tumbler is a glass, and hardly what is meant by glasses.
    if is_meant_in_plural(mention) {
        let of_one = names.iter_mut().skip(from).filter(|it| it.noun.is_empty());
        of_one.for_each(|it| it.relation = Relation::Alike);
    }
    let (listed, beside) = listed_name(mention);
    if let Some(rest) = without_what_is_meant(&listed, &beside) {
        let names_of_rest = sure_names(&listed)
            .filter_map(|it| object_name(it, &rest, Relation::MoreSpecial))
            .filter(|it| is_known(&it.stem));
        names.extend(names_of_rest);
    }
    if let Some(kind) = kind_before_head(mention) {
        names.extend(object_name(&kind, &said, Relation::Likely));
    }
    names.extend(whoever(mention, &known, &said).into_iter().filter(|it| is_known(&it.stem)));
    for name in possible_names(mention, &known, &said).filter(|it| is_known(&it.stem)) {
        if !names.iter().any(|it| it.covers(&name)) {
            names.push(name);
        }
    }
    names
}

/// The thing's own name, and the nouns whose vectors are alike.
fn alike_names(mention: &Mention, mut like: Vec<String>) -> Vec<ObjectName> {
    let stem = &mention.head_stem;
    like.retain(|it| !is_distinct_room(it) && !is_another_compound(it, stem));
    let stems = if is_distinct_room(stem) { vec![stem.clone()] } else { like };
    let name = |other: String| {
        let is_other = lexicon::is_other_kind(&other, stem) && lexicon::is_other_kind(stem, &other);
        // A vector alone tells that people speak alike of both.
        let relation = match () {
            () if other == *stem => Relation::Same,
            () if is_other => Relation::Alike,
            () => Relation::Likely,
        };
        let attributes = mention.attributes.clone();
        let noun = String::new();
        ObjectName { stem: other, noun, attributes, relation, needed: Vec::new(), kind_of: None }
    };
    stems.into_iter().map(name).collect()
}

/// Adds what means the same as the name `known` by WordNet and the household names, and the same
/// name in one word for two.
fn add_same(names: &mut Vec<ObjectName>, mention: &Mention, known: &str, said: &[Attribute]) {
    let people = PEOPLE.tagged("name").filter(|_| is_person(mention));
    let people = people.chain(PEOPLE.tagged("young").filter(|_| is_child(mention)));
    let table = lexicon::household_names(known).iter().copied().chain(people);
    let by_wordnet = lexicon::synonyms(known).map(|it| {
        let is_another = everyday_names::is_of_another(it, known);
        (it, if is_another { Relation::Likely } else { Relation::Same })
    });
    for (other, relation) in table.map(|it| (it, Relation::Same)).chain(by_wordnet) {
        // A watering can is a watering pot, and no pot.
        let is_of_first = known.contains(' ') && known.split(' ').next() == other.split(' ').next();
        let name = if is_of_first { whole_name } else { object_name };
        names.extend(name(other, said, relation).filter(|it| !names.contains(it)));
    }
    if let Some((other, rest)) = spelled_otherwise(mention) {
        let name = whole_name(&other, &rest, Relation::Same);
        names.extend(name.filter(|it| !names.contains(it)));
    }
}

/// Adds what else the things are called that are named in the plural: spectacles for glasses. Glasses
/// need be no spectacles.
fn add_names_of_plural(names: &mut Vec<ObjectName>, mention: &Mention) {
    let is_of_several = |name: &str| {
        let one = mention_of_name(name).map(|it| it.singular_head()).unwrap_or_default();
        one != name && everyday_names::things(&one).next().is_some()
    };
    let others = lexicon::household_names(&mention.head).iter().filter(|it| !is_of_several(it));
    for other in others {
        let name = object_name(other, &mention.attributes, Relation::Same);
        names.extend(name.filter(|it| !names.contains(it)));
    }
}

/// Adds what is more special and more general than the thing called `known`, and than the class
/// that its longest name tells.
fn add_kinds(
    names: &mut Vec<ObjectName>,
    mention: &Mention,
    known: &str,
    said: &[Attribute],
    is_known: &dyn Fn(&str) -> bool,
) {
    if is_distinct_room(&mention.head_stem) {
        return;
    }
    let known = if is_person(mention) { "person" } else { known };
    let class = GENERAL_NAMES.value(known).or_else(|| GENERAL_NAMES.value(&mention.head));
    let known = class.unwrap_or(known);
    add_related(names, known, said, is_known);
    let has_kinds = |it: &str| it.contains(' ') && lexicon::kinds(it).next().is_some();
    let (class, said) = longest_name(mention, &has_kinds);
    if class != known && has_kinds(&class) {
        add_related(names, &class, &said, is_known);
    }
}

/// The names of people of no particular trade for somebody called by one: whoever is only called a
/// woman may be the nurse, and not the gentleman.
fn whoever(mention: &Mention, known: &str, said: &[Attribute]) -> Vec<ObjectName> {
    let is_compound = mention.attributes.iter().any(|it| it.kind == AttributeKind::Compound);
    let is_anybody = is_person(mention) || is_people(&mention.head_stem);
    if !lexicon::is_person(known) || is_compound || is_anybody {
        return Vec::new();
    }
    let is_of = |name: &str, sex: &str| name == sex || lexicon::is_kind_of(name, sex);
    let may_be = |it: &&str| {
        let is_other = |one, other| is_of(known, one) && is_of(it, other);
        !is_other("man", "woman") && !is_other("woman", "man")
    };
    let anybody = PEOPLE.words().filter(may_be);
    anybody.filter_map(|it| object_name(it, said, Relation::Likely)).collect()
}

/// What may be the thing by a further sense of its name or of another, or of its plural: spectacles
/// are glasses, of which one is something else, and goggles are some. Or as its kinds are called, or as
/// other people call what looks so: a bowl for a dish, a hat for a cap.
fn possible_names<'a>(
    mention: &'a Mention,
    known: &'a str,
    said: &'a [Attribute],
) -> impl Iterator<Item = ObjectName> + 'a {
    let of_several = lexicon::household_names(&mention.head).iter().copied();
    let of_several = of_several.chain(lexicon::kinds(&mention.head));
    let of_several = of_several.filter(move |_| mention.head != known);
    let possible = lexicon::possible_synonyms(known).chain(lexicon::possible_kinds(known));
    let by_people = names_by_people::other_names(known);
    let by_people = by_people.filter(|it| !everyday_names::are_told_apart(known, it));
    let possible = possible.chain(lexicon::heads_of_kinds(known)).chain(by_people);
    of_several.chain(possible).filter_map(|it| object_name(it, said, Relation::Likely))
}

/// Whether two nouns in one word each end alike and begin otherwise: a whiteboard, a skateboard.
pub(super) fn is_another_compound(one: &str, other: &str) -> bool {
    let halves = |stem: &str| {
        let noun = lexicon::noun_of_stem(stem);
        lexicon::halves(noun).map(|(first, last)| (first.to_owned(), last.to_owned()))
    };
    let (Some((first, last)), Some((before, end))) = (halves(one), halves(other)) else {
        return false;
    };
    last == end && first != before && !lexicon::are_synonyms(&first, &before)
}

/// What says which one is meant as a name of its own: a "4471-B" may be the parcel 4471-B.
pub(super) fn literal_name(which: &Attribute) -> Option<ObjectName> {
    identifier::is_identifier(&which.word).then(|| ObjectName {
        stem: lexicon::noun_stem(&which.word),
        noun: String::new(),
        attributes: Vec::new(),
        relation: Relation::Likely,
        needed: Vec::new(),
        kind_of: None,
    })
}

/// Whether a list has the nouns of both as names of one thing, or they are the same.
pub(super) fn are_of_one(asked: &Mention, seen: &Mention) -> bool {
    let (asked, seen) = (listed_name(asked).0, listed_name(seen).0);
    asked == seen || lexicon::are_synonyms(&asked, &seen) || sure_names(&asked).any(|it| it == seen)
}

/// Adds the everyday names of what is mentioned.
fn add_everyday(names: &mut Vec<ObjectName>, mention: &Mention) {
    let (known, said) = everyday_name(mention);
    for other in everyday_names::other_names(&known) {
        // A throw is a throw blanket, and what is only called a blanket may be it.
        let rest = other.name.strip_prefix(&known).and_then(|it| it.strip_prefix(' '));
        let is_sure = other.is_sure || rest.is_some_and(is_worn_or_holds);
        let relation = if is_sure { Relation::Same } else { Relation::Likely };
        let Some(name) = whole_name(other.name, &said, relation) else { continue };
        names.extend(rest.and_then(|it| object_name(it, &said, Relation::Near)));
        let is_as_sure = |it: &&ObjectName| match it.relation {
            Relation::Same => true,
            Relation::Alike | Relation::MoreGeneral | Relation::Near => false,
            Relation::Likely | Relation::MoreSpecial => !is_sure,
        };
        if !names.iter().filter(is_as_sure).any(|it| it.covers(&name)) {
            names.push(name);
        }
    }
}

/// Whether what several of a thing are called names something else here: glasses, reading glasses,
/// and neither two glasses nor wine glasses.
fn is_meant_in_plural(mention: &Mention) -> bool {
    let is_told =
        |it: &Attribute| matches!(it.kind, AttributeKind::Number | AttributeKind::Compound);
    let is_bare = !mention.attributes.iter().any(is_told);
    lexicon::is_name_of_plural(&mention.head, &mention.singular_head())
        && (is_bare || everyday_name(mention).0.ends_with(&format!(" {}", mention.head)))
}

/// Whether a noun says only which kind of garment or container the word before it is: a fleece
/// jacket, a thermos flask.
fn is_worn_or_holds(noun: &str) -> bool {
    ["garment", "container"].iter().any(|it| lexicon::descends_from(noun, it))
}

/// Adds what is more special than the thing called `known`, and more general.
fn add_related(
    names: &mut Vec<ObjectName>,
    known: &str,
    said: &[Attribute],
    is_known: &dyn Fn(&str) -> bool,
) {
    let kinds: Vec<&str> = lexicon::kinds(known).collect();
    // The kinds of a class are what is asked for, unless captions name the class, and a golden
    // retriever is a dog.
    let is_named = is_known(&lexicon::noun_stem(known));
    let is_class = kinds.len() >= lexicon::CLASS_KINDS_MIN && !is_named;
    let of_kinds = if is_class || lexicon::descends_from(known, "animal") {
        Relation::Same
    } else {
        Relation::MoreSpecial
    };
    // A thermos is a thermos flask, and so as good as any flask.
    let is_called_so = |it: &str| {
        let ends = |name: &str| name.strip_suffix(known).is_some_and(|it| it.ends_with(' '));
        let mut others = everyday_names::other_names(it).filter(|it| it.is_sure);
        !it.ends_with(known) && others.any(|it| ends(it.name))
    };
    let of_kind = |it| if is_called_so(it) { Relation::Same } else { of_kinds };
    let kinds = kinds.into_iter().map(|it| (it, of_kind(it)));
    let listed: Vec<&str> = everyday_names::called_by(known).collect();
    // A parcel only may be a box.
    let may_be = |it: &str| lexicon::possible_synonyms(it).any(|other| other == known);
    let by_list = listed.iter().filter(|it| !may_be(it)).map(|it| (*it, Relation::MoreSpecial));
    // A motorcycle may be the motorbike; that a vehicle is seen says little.
    let just_above = lexicon::just_above(known).map(|it| (it, Relation::Likely));
    let general = lexicon::more_general(known).map(|it| (it, Relation::MoreGeneral));
    for (other, relation) in kinds.chain(by_list).chain(just_above).chain(general) {
        let last = other.rsplit(' ').next().unwrap_or_default();
        let is_seen = is_known(&lexicon::noun_stem(last)) && !is_distinct_room(other);
        // Pliers are nobody who plies.
        let is_tool = || lexicon::is_person(last) && lexicon::is_no_person(&format!("{last}s"));
        if !is_seen || is_tool() {
            continue;
        }
        let is_kind = matches!(relation, Relation::Same | Relation::MoreSpecial);
        // Who asks for a plant means no banana.
        let is_meant =
            !is_kind || !everyday_names::is_of_another(other, known) && !lexicon::is_yield(other);
        let relation = if is_meant { relation } else { Relation::Likely };
        let Some(mut name) = whole_name(other, said, relation) else { continue };
        let is_kind = matches!(relation, Relation::Same | Relation::MoreSpecial);
        // What is a kind by the list only is none in the dictionary.
        let is_known_kind = is_kind && !listed.contains(&other);
        name.kind_of = is_known_kind.then(|| known.to_owned());
        // That it is a kind is more than that a vector is alike.
        let is_less = |it: &ObjectName| matches!(it.relation, Relation::Likely | Relation::Alike);
        names.retain(|it| !is_kind || !is_less(it) || !it.covers(&name));
        if !names.iter().any(|it| it.covers(&name)) {
            names.push(name);
        }
    }
    // A parka coat is a parka.
    let above = lexicon::more_general(known).chain(lexicon::just_above(known));
    let above: BTreeSet<&str> = above.filter(|it| !it.contains(' ')).collect();
    for general in above.into_iter().filter(|it| is_known(&lexicon::noun_stem(it))) {
        let name = whole_name(&format!("{known} {general}"), said, Relation::Same);
        names.extend(name.filter(|it| {
            !names.iter().any(|known| known.relation == Relation::Same && known.covers(it))
        }));
    }
    if !lexicon::is_kind_of(known, "person") {
        names.extend(containers(known, said, is_known));
    }
}

impl ObjectName {
    /// Whether what has `other` as its name has this one: a coffee mug is a mug.
    fn covers(&self, other: &Self) -> bool {
        self.stem == other.stem && self.attributes.iter().all(|it| other.attributes.contains(it))
    }
}

const MACHINES: [&str; 2] = ["home appliance", "machine"];

/// What may hold the thing called `known`, by its name: the milk carton of milk.
fn containers<'a>(
    known: &'a str,
    said: &'a [Attribute],
    is_known: &'a dyn Fn(&str) -> bool,
) -> impl Iterator<Item = ObjectName> + 'a {
    // By stem, with whether what it is named for is in it.
    static CONTAINERS: LazyLock<BTreeMap<String, Relation>> = LazyLock::new(|| {
        let names = lexicon::kinds("container").filter(|it| !it.contains(' '));
        let may_hold = names.map(|it| (lexicon::noun_stem(it), Relation::Likely));
        let holds = PACKAGING.words().map(|it| (lexicon::noun_stem(it), Relation::Same));
        may_hold.chain(holds).collect()
    });
    let parts = known.split(' ').map(|word| {
        let word = lexicon::singular(word);
        Attribute { word, kind: AttributeKind::Compound }
    });
    let needed: Vec<Attribute> = parts.collect();
    let attributes = [said, &needed].concat();
    // A dog bowl is for a dog; a salmon tin may have the salmon in it, and a cat tin what cats eat.
    let is_animal = lexicon::is_kind_of(known, "animal");
    // No flask holds the vacuum of a vacuum flask.
    let mut called = iter::once(known).chain(lexicon::household_names(known).iter().copied());
    let is_machine = called.any(|name| MACHINES.iter().any(|it| lexicon::descends_from(name, it)));
    let as_likely = (is_animal || is_machine).then_some(Relation::Likely);
    let known = CONTAINERS.iter().filter(move |(it, relation)| {
        is_known(it) && !(is_animal && **relation == Relation::Likely)
    });
    known.map(move |(stem, relation)| ObjectName {
        stem: stem.clone(),
        noun: String::new(),
        attributes: attributes.clone(),
        relation: as_likely.unwrap_or(*relation),
        needed: needed.clone(),
        kind_of: None,
    })
}

/// A name of which all parts are needed: a tea pot is a pot, and not any pot is the tea pot.
fn whole_name(name: &str, said: &[Attribute], relation: Relation) -> Option<ObjectName> {
    let mut whole = object_name(name, said, relation)?;
    whole.needed = whole.attributes.get(said.len()..).unwrap_or_default().to_vec();
    Some(whole)
}

fn object_name(name: &str, said: &[Attribute], relation: Relation) -> Option<ObjectName> {
    let named = mention_of_name(name)?;
    let attributes = [said, &named.attributes].concat();
    let is_plural = lexicon::is_name_of_plural(&named.head, &named.singular_head());
    Some(ObjectName {
        noun: if is_plural { named.head } else { String::new() },
        stem: named.head_stem,
        attributes,
        relation,
        needed: Vec::new(),
        kind_of: None,
    })
}

/// The longest part of a thing's name that is known to have others: "bedside table" of
/// "white bedside table"; and all else that is said of it.
fn known_name(mention: &Mention) -> (String, Vec<Attribute>) {
    longest_name(mention, &|it| {
        !lexicon::household_names(it).is_empty() || lexicon::synonyms(it).next().is_some()
    })
}

/// The same by the list of everyday names.
fn everyday_name(mention: &Mention) -> (String, Vec<Attribute>) {
    longest_name(mention, &|it| everyday_names::other_names(it).next().is_some())
}

/// The longer one of these two.
fn listed_name(mention: &Mention) -> (String, Vec<Attribute>) {
    let (known, everyday) = (known_name(mention), everyday_name(mention));
    if everyday.0.len() > known.0.len() { everyday } else { known }
}

fn longest_name(mention: &Mention, is_known: &dyn Fn(&str) -> bool) -> (String, Vec<Attribute>) {
    // "plastic" of "plastic wrap" is a material elsewhere.
    let is_part = |it: &&Attribute| {
        matches!(
            it.kind,
            AttributeKind::Compound
                | AttributeKind::Material
                | AttributeKind::Other
                | AttributeKind::Number
        )
    };
    let parts: Vec<&Attribute> = mention.attributes.iter().filter(is_part).collect();
    let head = mention.singular_head();
    // Reading glasses are no reading glass.
    let plural = Some(mention.head.as_str()).filter(|it| lexicon::is_name_of_plural(it, &head));
    for from in 0..parts.len() {
        let of_name = parts.get(from..).unwrap_or_default();
        let words: Vec<&str> = of_name.iter().map(|it| it.word.as_str()).collect();
        let name = [plural, Some(&head)].into_iter().flatten().find_map(|head| {
            let whole = [words.as_slice(), &[head]].concat();
            spellings(&whole).find(|it| is_known(it))
        });
        let by_parts = || of_other_part(&words, &head).find(|it| is_known(it));
        let by_head = || of_other_head(&words, &head).find(|it| is_known(it));
        if let Some(name) = name.or_else(by_parts).or_else(by_head) {
            let rest = mention.attributes.iter().filter(|it| !of_name.contains(it));
            return (name, rest.cloned().collect());
        }
    }
    let known = spellings(&[&head]).find(|it| is_known(it));
    (known.unwrap_or(head), mention.attributes.clone())
}

/// A name in one word each, and with a hyphen in place of one of the blanks, as lists write some:
/// "ping-pong table".
fn spellings<'a>(words: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let whole = words.join(" ");
    let hyphened = (1..words.len()).map(|at| {
        let (before, after) = words.split_at(at);
        format!("{}-{}", before.join(" "), after.join(" "))
    });
    // Ear protection is an ear protector, and a welly a wellie.
    let by_doer = whole.strip_suffix("ion").map(|it| format!("{it}or"));
    let diminutive = whole.strip_suffix('y').map(|it| format!("{it}ie"));
    // No list has the hairdrier in one word.
    let in_two = lexicon::halves(&whole).map(|(first, last)| format!("{first} {last}"));
    let otherwise = hyphened.chain(by_doer).chain(diminutive).chain(in_two);
    iter::once(whole.clone()).chain(otherwise)
}

/// The name in one word for two, or in two for one, and what else is said: "hairbrush" of "hair
/// brush", "walkie-talkie" of "walkie talkie", and the other way round. `None` where no list has the
/// one word.
fn spelled_otherwise(mention: &Mention) -> Option<(String, Vec<Attribute>)> {
    let head = mention.singular_head();
    let (before, rest) = match mention.attributes.split_last() {
        Some((last, rest)) if last.kind == AttributeKind::Compound => (last.word.as_str(), rest),
        _ => ("", mention.attributes.as_slice()),
    };
    let mut joined = ["", "-"].into_iter().map(|it| format!("{before}{it}{head}"));
    if let Some(joined) = joined.find(|it| !before.is_empty() && is_known_name(it)) {
        return Some((joined, rest.to_vec()));
    }
    if !is_known_name(&head) {
        return None;
    }
    let (first, last) = head.split_once('-').or_else(|| lexicon::halves(&head))?;
    Some((format!("{first} {last}"), mention.attributes.clone()))
}

/// The other names that mean what this one does, by WordNet and by the list of everyday names.
fn sure_names(known: &str) -> impl Iterator<Item = &'static str> {
    let everyday = everyday_names::other_names(known).filter(|it| it.is_sure);
    lexicon::synonyms(known).chain(everyday.map(|it| it.name))
}

/// What is said of a thing without the parts of its name that others of its names have, too: that
/// a stroller is for a baby is meant by every stroller, as it is also a baby buggy. `None` where
/// there is no such part.
fn without_what_is_meant(known: &str, said: &[Attribute]) -> Option<Vec<Attribute>> {
    let others: Vec<&str> = sure_names(known).collect();
    let is_meant = |it: &Attribute| {
        let mut before_heads = others.iter().filter_map(|it| it.rsplit_once(' '));
        it.kind == AttributeKind::Compound
            && before_heads.any(|(before, _)| before.split(' ').any(|word| word == it.word))
    };
    let rest: Vec<Attribute> = said.iter().filter(|it| !is_meant(it)).cloned().collect();
    (rest.len() < said.len()).then_some(rest)
}

/// Names of two words in which the first is called otherwise: "telephone box" of "phone box".
fn of_other_part<'a>(parts: &[&'a str], head: &'a str) -> impl Iterator<Item = String> + 'a {
    let only = parts.first().copied().filter(|_| parts.len() == 1).unwrap_or_default();
    let others = lexicon::household_names(only).iter().copied().chain(lexicon::synonyms(only));
    others.map(move |it| format!("{it} {head}"))
}

/// The same of which the head is called otherwise: "stationary bike" of "stationary bicycle".
fn of_other_head<'a>(parts: &[&'a str], head: &'a str) -> impl Iterator<Item = String> + 'a {
    let before = parts.join(" ");
    let others = lexicon::household_names(head).iter().copied().chain(lexicon::synonyms(head));
    others.filter(|it| !it.contains(' ')).map(move |it| format!("{before} {it}"))
}

/// "forklift" of "forklift truck": the part of a name that names the thing without its head.
fn kind_before_head(mention: &Mention) -> Option<String> {
    let mut parts = mention.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
    let last = parts.next_back()?;
    lexicon::are_near_kinds(&last.word, &mention.singular_head()).then(|| last.word.clone())
}

/// The animals for what names any stuffed one.
fn soft_toys(mention: &Mention) -> Vec<ObjectName> {
    let (everyday, beside) = everyday_name(mention);
    if !is_soft_toy(&everyday) {
        return Vec::new();
    }
    let animals = lexicon::kinds("animal").filter(|it| !it.contains(' '));
    let toys = animals.map(|it| format!("toy {it}"));
    toys.filter_map(|it| whole_name(&it, &beside, Relation::Same)).collect()
}

/// Whether stuffed animals are meant, of which each is called by the animal: a toy rabbit.
fn is_soft_toy(known: &str) -> bool {
    known == SOFT_TOY || everyday_names::other_names(known).any(|it| it.name == SOFT_TOY)
}

const SOFT_TOY: &str = "soft toy";

/// Whether any child is meant.
fn is_child(mention: &Mention) -> bool {
    let one = mention.singular_head();
    one == CHILD || lexicon::synonyms(CHILD).any(|it| it == one)
}

const CHILD: &str = "child";

/// Whether anybody is meant.
fn is_person(mention: &Mention) -> bool {
    ANYBODY.contains(&mention.head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::phrases::ObjectQuery;
    use crate::language::fit::Fit;
    use crate::language::mention::mentions;

    /// `expect` are nouns' stems, each with the parts of the name before it.
    fn check(thing: &str, like: &[&str], expect: &[&str]) {
        let mention = mentions(thing).remove(0);
        let like = like.iter().map(|it| (*it).to_owned()).collect();
        let told = |it: ObjectName| {
            let parts = it.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
            let parts: Vec<&str> = parts.map(|it| it.word.as_str()).collect();
            [parts, vec![it.stem.as_str()]].concat().join(" ")
        };
        let found: Vec<String> = names(&mention, like, &|_| false).into_iter().map(told).collect();
        let missing: Vec<&&str> =
            expect.iter().filter(|it| !found.iter().any(|found| found == *it)).collect();
        assert!(missing.is_empty(), "{thing}: {missing:?} not in {found:?}");
    }

    #[test]
    fn what_is_packed_holds_what_it_is_named_for_but_no_machine() {
        let held_in = |thing: &str, stem: &str| {
            let names = names(&mentions(thing).remove(0), vec![], &|it| it == stem);
            names.into_iter().find(|it| it.stem == stem).map(|it| it.relation)
        };
        assert_eq!(held_in("milk", "carton"), Some(Relation::Same));
        assert_eq!(held_in("a hoover", "flask"), Some(Relation::Likely));
    }

    fn refuse(thing: &str, like: &[&str], never: &[&str]) {
        let mention = mentions(thing).remove(0);
        let like = like.iter().map(|it| (*it).to_owned()).collect();
        let found = names(&mention, like, &|_| false);
        for stem in never {
            let bare = |it: &ObjectName| it.stem == *stem && it.attributes.is_empty();
            assert!(!found.iter().any(bare), "{thing}: {stem}");
        }
    }

    #[test]
    fn things_are_found_by_their_other_names() {
        check("a blue pillow", &["pillow"], &["pillow", "cushion"]);
        check("the remote control", &["remot control"], &["remot control", "remot", "clicker"]);
        check("my teddy", &["teddi"], &["teddi", "bear"]);
        check("a coffee cup", &["cup"], &["coffee cup", "coffee mug"]);
        check("a spoon", &["spoon", "fork"], &["spoon", "fork"]);
        check("the cutting board", &["board"], &["chop board"]);
        check("a red phone box", &["box"], &["telephone booth"]);
        check("a skillet", &["skillet"], &["skillet", "frying pan"]);
        check("a rucksack", &["rucksack"], &["backpack", "knapsack"]);
        check("my bike", &["bike"], &["bicycl"]);
        refuse("a stapler", &["stapler"], &["machin"]);
    }

    #[test]
    fn what_only_several_are_called_has_kinds_of_its_own() {
        let kinds_known = |thing: &str| {
            let mention = mentions(thing).remove(0);
            names(&mention, vec![mention.head_stem.clone()], &|_| true)
        };
        let is_goggles = |it: &ObjectName| it.stem == "goggl" && it.relation == Relation::Likely;
        assert!(kinds_known("protective glasses").iter().any(is_goggles));
        assert!(!kinds_known("a glass").iter().any(is_goggles));
    }

    #[test]
    fn what_two_words_name_together_is_not_what_one_names() {
        check("the white bedside table", &["tabl"], &["bedside tabl", "nightstand"]);
        refuse("the bedside table", &["tabl"], &["tabl", "desk"]);
        check("a wooden table", &["tabl", "desk"], &["tabl", "desk"]);
    }

    #[test]
    fn kinds_of_a_thing_and_of_a_class_are_found_and_what_it_is_a_kind_of() {
        let related = |thing: &str, other: &str| {
            let mention = mentions(thing).remove(0);
            let names = names(&mention, vec![mention.head_stem.clone()], &|_| true);
            let name = mention_of_name(other).unwrap();
            let mut of_name = names.iter().filter(|it| {
                it.stem == name.head_stem
                    && it.needed.iter().all(|part| name.attributes.contains(part))
                    && name.attributes.iter().all(|said| it.attributes.contains(said))
            });
            of_name.next().map(|it| it.relation)
        };
        assert_eq!(related("my bag", "backpack"), Some(Relation::MoreSpecial));
        assert_eq!(related("an animal", "dog"), Some(Relation::Same));
        assert_eq!(related("a parrot", "bird"), Some(Relation::Likely));
        assert_eq!(related("a motorbike", "motorcycle"), Some(Relation::Same));
        assert_eq!(related("the charcoal grill", "barbecue"), Some(Relation::Likely));
        assert_eq!(related("a mug", "container"), Some(Relation::MoreGeneral));
        assert_eq!(related("milk", "milk carton"), Some(Relation::Same));
        assert_eq!(related("coffee", "coffee mug"), Some(Relation::Likely));
        assert_eq!(related("a parcel", "package"), Some(Relation::Same));
        assert_eq!(related("a parcel", "box"), Some(Relation::Likely));
        assert_eq!(related("a box", "parcel"), Some(Relation::Likely));
        assert_eq!(related("my spectacles", "glasses"), Some(Relation::Likely));
        assert_eq!(related("a dog", "dog bowl"), None);
        assert_eq!(related("the salmon", "salmon tin"), Some(Relation::Likely));
        assert_eq!(related("the mustard", "mustard jar"), Some(Relation::Same));
        assert_eq!(related("the peaches", "peach tin"), Some(Relation::Same));
        assert_eq!(related("an orange", "orange bottle"), None);
        assert_eq!(related("a mug", "book"), None);
        assert_eq!(related("a horse", "charger"), None);
        assert_eq!(related("a notebook computer", "notebook"), Some(Relation::Likely));
        assert_eq!(related("a sack barrow", "hand truck"), Some(Relation::Same));
        assert_eq!(related("the elevator", "lift"), Some(Relation::Same));
        assert_eq!(related("my scissors", "shears"), Some(Relation::Same));
        let truck = mentions("a truck").remove(0);
        let names = names(&truck, vec![truck.head_stem.clone()], &|_| true);
        let lorry = |it: &&ObjectName| it.stem == "lorri" && it.needed.is_empty();
        assert_eq!(names.iter().find(lorry).map(|it| it.relation), Some(Relation::Same));
    }

    #[test]
    fn what_the_dictionary_has_as_a_whole_is_no_kind_by_its_last_word() {
        let fit = |thing: &str, seen: &str| {
            let mention = mentions(thing).remove(0);
            let names = names(&mention, vec![mention.head_stem.clone()], &|_| true);
            let Mention { attributes, head_stem: said, head: noun, .. } = mention;
            ObjectQuery { attributes, said, noun, names }.fit(&mentions(seen).remove(0))
        };
        assert_eq!(fit("an animal", "a polar bear"), Some(Fit::Full));
        assert_eq!(fit("an animal", "an old bear"), Some(Fit::Full));
        assert_eq!(fit("an animal", "an old teddy bear"), None);
        assert_eq!(fit("a dog", "a golden retriever"), Some(Fit::Full));
        assert_eq!(fit("a teddy bear", "an old teddy bear"), Some(Fit::Full));
        assert_eq!(fit("my glasses", "a glass of water"), Some(Fit::Related));
        assert_eq!(fit("the wine glasses", "a wine glass"), Some(Fit::Full));
        assert_eq!(fit("two glasses", "a glass"), Some(Fit::Full));
        assert_eq!(fit("my reading glasses", "reading glasses"), Some(Fit::Full));
        assert_eq!(fit("a glass", "two glasses"), Some(Fit::Full));
        assert_eq!(fit("two mugs", "a mug"), Some(Fit::Full));
        assert_eq!(fit("a baby stroller", "a folded pushchair"), Some(Fit::Full), "all are");
        assert_eq!(fit("a stationary bicycle", "an exercise bike"), Some(Fit::Possible));
        assert_eq!(fit("a two-way radio", "a walkie-talkie"), Some(Fit::Possible));
        assert_eq!(fit("a stuffed animal", "a plush rabbit"), Some(Fit::Full));
        assert_eq!(fit("a wicker stroller", "a folded pushchair"), Some(Fit::Possible));
        assert_eq!(fit("a sack barrow", "an orange hand truck"), Some(Fit::Full));
        assert_eq!(fit("a sack barrow", "a truck"), None);
        assert_eq!(fit("my reading glasses", "a magnifying glass"), None);
        assert_eq!(fit("the ping-pong table", "a green table tennis table"), Some(Fit::Full));
        assert_eq!(fit("my specs", "reading glasses"), Some(Fit::Full));
        assert_eq!(fit("my specs", "a magnifying glass"), Some(Fit::Related));
        assert_eq!(fit("a blue throw", "a blue blanket"), Some(Fit::Possible));
        assert_eq!(fit("a blue throw", "a red blanket"), None);
        assert_eq!(fit("a throw", "an electric blanket"), None);
        assert_eq!(fit("a blue hair brush", "a blue hairbrush"), Some(Fit::Full));
        assert_eq!(fit("a hairbrush", "a blue hair brush"), Some(Fit::Full));
        assert_eq!(fit("a walkie talkie", "a black walkie-talkie"), Some(Fit::Full));
        assert_eq!(fit("a walkie-talkie", "a black walkie talkie"), Some(Fit::Full));
        assert_eq!(fit("a teapot", "a tea pot"), Some(Fit::Full));
        assert_eq!(fit("the hairdrier", "a pink hair dryer"), Some(Fit::Full));
        assert_eq!(fit("my wellies", "green wellingtons"), Some(Fit::Full));
        assert_eq!(fit("a water bottle", "a hot water bottle"), Some(Fit::Possible));
        assert_eq!(fit("my flask", "a hot water bottle"), Some(Fit::Possible));
        assert_eq!(fit("my flask", "a steel water bottle"), Some(Fit::Full));
        assert_eq!(fit("a hot water bottle", "a hot water bottle"), Some(Fit::Full));
        assert_eq!(fit("the galvanised can", "a galvanised watering can"), Some(Fit::Full));
        assert_eq!(fit("my glasses", "purple spectacles"), Some(Fit::Full));
        assert_eq!(fit("my purple glasses", "purple spectacles"), Some(Fit::Full));
        assert_eq!(fit("my glasses", "a tumbler"), Some(Fit::Related));
        assert_eq!(fit("my reading glasses", "a tumbler"), Some(Fit::Related));
        assert_eq!(fit("two glasses", "a tumbler"), Some(Fit::Full));
        assert_eq!(fit("a cupboard", "a board"), None);
        assert_eq!(fit("a cell", "a blue phone"), Some(Fit::Possible));
        assert_eq!(fit("a lamp", "a red candle"), Some(Fit::Partial));
        assert_eq!(fit("a red table lamp", "a red candle"), Some(Fit::Possible));
        assert_eq!(fit("a red table lamp", "a red lamp"), Some(Fit::Partial));
    }

    #[test]
    fn what_is_called_by_the_noun_with_another_word_is_as_good_as_that() {
        let fit = |thing: &str, seen: &str| {
            let mention = mention_of_name(thing).unwrap();
            let names = names(&mention, vec![mention.head_stem.clone()], &|_| true);
            let Mention { attributes, head_stem: said, head: noun, .. } = mention;
            ObjectQuery { attributes, said, noun, names }.fit(&mentions(seen).remove(0))
        };
        assert_eq!(fit("steel flask", "a stainless steel thermos"), Some(Fit::Full));
        assert_eq!(fit("lamp", "a light bulb"), Some(Fit::Partial));
        assert_eq!(fit("yellow helmet", "a yellow hard hat"), Some(Fit::Partial));
        assert_eq!(fit("yellow helmet", "a bowler hat"), None);
        assert_eq!(fit("navy fleece", "a navy fleece jacket"), Some(Fit::Full));
        assert_eq!(fit("green parka", "a green parka coat"), Some(Fit::Full));
        assert_eq!(fit("lamp", "a lamp table"), None);
        assert_eq!(fit("hearing protection", "orange ear defenders"), Some(Fit::Full));
        assert_eq!(fit("hearing protection", "an umbrella"), None);
        assert_eq!(fit("wheelchair", "a chair"), Some(Fit::Possible));
        assert_eq!(fit("wheelchair", "a wicker chair"), None);
        assert_eq!(fit("wheelchair", "a shower chair"), None);
        assert_eq!(fit("tissues", "a lid"), None);
    }

    #[test]
    fn rooms_that_are_alike_are_not_the_same() {
        refuse("the bedroom", &["bedroom", "live room"], &["live room"]);
        refuse("a bed", &["bed", "bedroom"], &["bedroom"]);
        refuse("the lounge", &["loung", "bedroom"], &["bedroom"]);
        check("the lounge", &["loung", "bedroom"], &["loung", "live room"]);
    }

    #[test]
    fn whoever_asks_for_a_person_finds_men_and_women() {
        check("a person", &["person"], &["person", "man", "woman", "somebodi"]);
        refuse("a woman", &["woman"], &["man", "person"]);
    }
}
