//! What else everyday things and people are called: a sack barrow is a hand truck, a bellhop a
//! hotel porter; and which things that are near each other are told apart: a stapler and a staple
//! remover.
//!
//! Pure: `data/everyday_names.txt`, compiled in.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::language::british::british_name;
use crate::language::lexicon;
use crate::language::words::{COLLECTIVES, is_people};

/// A name of what another name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherName {
    pub name: &'static str,
    /// Whether both names mean nothing else: a pen may be a ballpoint pen, and one for cattle.
    pub is_sure: bool,
}

/// The other names of what `name` means, which is in lower case and singular.
pub fn other_names(name: &str) -> impl Iterator<Item = OtherName> {
    things(name).flat_map(move |at| {
        let names = THINGS.get(at).into_iter().flat_map(|it| split(it.names));
        let is_sure_itself = is_sure(name, at);
        let others = names.filter(move |it| *it != name);
        others.map(move |it| OtherName { name: it, is_sure: is_sure_itself && is_sure(it, at) })
    })
}

/// Names of what is mostly called by this noun with another word before it, if they mean nothing else:
/// the hard hat, which is a safety, site or work helmet. A television is no box, though it is a goggle
/// box, too.
pub fn called_by(noun: &str) -> impl Iterator<Item = &'static str> {
    let is_by_noun = |it: &str| it.rsplit_once(' ').is_some_and(|(_, last)| last == noun);
    let things = BY_LAST_WORD.get(noun).into_iter().flatten().copied();
    let names = things.flat_map(move |at| {
        let names = || THINGS.get(at).into_iter().flat_map(|it| split(it.names));
        let called = names().filter(|it| is_by_noun(it)).count();
        let is_called = 2 * called > names().count();
        let others = names().filter(|it| is_called && !it.ends_with(noun) && is_sure(it, at));
        others.collect::<Vec<_>>()
    });
    names.collect::<Vec<_>>().into_iter()
}

/// Whether the list has `other` as a name of another thing than WordNet means by `name`: the
/// charger that is no horse. False where it does not tell.
pub fn is_of_another(other: &str, name: &str) -> bool {
    let is_it = |it: &str| {
        it == name
            || lexicon::are_synonyms(it, name)
            || lexicon::descends_from(it, name)
            || lexicon::descends_from(name, it)
    };
    let known = |it: &'static str| {
        let last = it.rsplit(' ').next().unwrap_or_default();
        [it, last].into_iter().find(|it| lexicon::is_name(it)).filter(|it| *it != other)
    };
    let mut listed = things(other).filter_map(|at| THINGS.get(at));
    listed.any(|thing| {
        let mut beside = split(thing.names).filter_map(known).peekable();
        beside.peek().is_some() && !beside.any(is_it)
    })
}

/// The first name of the only person whom the list calls so: "mother" of "mum". `None` for a word
/// that WordNet has for a thing, or that counts things.
pub fn person(word: &str) -> Option<&'static str> {
    let is_person = |it: &str| {
        let last = it.rsplit(' ').next().unwrap_or_default();
        [it, last].iter().any(|it| is_people(it) || lexicon::is_person(it))
    };
    if COLLECTIVES.contains(word) || lexicon::is_name(word) && !is_person(word) {
        return None;
    }
    let mut listed = things(word).filter_map(|at| split(THINGS.get(at)?.names).next());
    let first = listed.next().filter(|it| is_person(it))?;
    listed.next().is_none().then_some(first)
}

/// Whether one thing stands in the list as near to another and yet not the same.
pub fn are_told_apart(a: &str, b: &str) -> bool {
    let is_told = |one: &str, other: &str| {
        let mut of_one = things(one).filter_map(|at| THINGS.get(at));
        of_one.any(|thing| split(thing.different).any(|it| it == other))
    };
    is_told(a, b) || is_told(b, a)
}

/// The words of the names, in the order of the alphabet.
pub fn words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().copied()
}

/// Whether a word is one of [`words`].
pub fn is_word(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// Whether a name means this thing, no kind of it as a bath towel is one of towels, and nothing else
/// that a list or WordNet has.
fn is_sure(name: &str, at: usize) -> bool {
    let is_alone = things(name).count() == 1;
    let mut others = THINGS.get(at).into_iter().flat_map(|it| split(it.names));
    let is_kind =
        others.any(|it| name.strip_suffix(it).is_some_and(|before| before.ends_with(' ')));
    is_alone
        && !is_kind
        && (name.contains(' ') || !lexicon::is_name(name) || is_meant_by_wordnet(name, at))
}

/// Whether the word's sense in WordNet is near what another name of the thing means there.
fn is_meant_by_wordnet(word: &str, at: usize) -> bool {
    let mut names = THINGS.get(at).into_iter().flat_map(|it| split(it.names));
    names.any(|it| {
        it != word
            && lexicon::is_name(it)
            && (lexicon::is_kind_of(it, word)
                || lexicon::is_kind_of(word, it)
                || lexicon::are_near_kinds(it, word))
    })
}

/// The numbers of the things that are called so.
pub fn things(name: &str) -> impl Iterator<Item = usize> {
    let name = british_name(name);
    let from = NAMES.partition_point(|(it, _)| *it < name);
    let to = NAMES.partition_point(|(it, _)| *it <= name);
    NAMES.get(from..to).unwrap_or_default().iter().map(|(_, at)| *at)
}

/// A line of the list.
struct Thing {
    names: &'static str,
    /// Names of what is near it and another thing.
    different: &'static str,
}

fn split(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split(", ").filter(|it| !it.is_empty())
}

static THINGS: LazyLock<Vec<Thing>> = LazyLock::new(|| {
    let lines = include_str!("data/everyday_names.txt").lines().filter(|it| !it.starts_with('#'));
    let things = lines.map(|line| {
        let (names, different) = line.split_once(" | ").unwrap_or((line, ""));
        Thing { names, different }
    });
    things.collect()
});

/// Each name in one spelling with the number of its thing, in the order of the alphabet.
static NAMES: LazyLock<Vec<(String, usize)>> = LazyLock::new(|| {
    let things = THINGS.iter().enumerate();
    let mut names: Vec<_> = things
        .flat_map(|(at, it)| split(it.names).map(move |name| (british_name(name), at)))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
});

/// The things by the last words of their names.
static BY_LAST_WORD: LazyLock<HashMap<&'static str, BTreeSet<usize>>> = LazyLock::new(|| {
    let mut by_last: HashMap<&'static str, BTreeSet<usize>> = HashMap::new();
    for (at, thing) in THINGS.iter().enumerate() {
        for (_, last) in split(thing.names).filter_map(|it| it.rsplit_once(' ')) {
            by_last.entry(last).or_default().insert(at);
        }
    }
    by_last
});

static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let names = THINGS.iter().flat_map(|it| split(it.names));
    let mut words: Vec<_> = names.flat_map(|name| name.split(' ')).collect();
    words.sort_unstable();
    words.dedup();
    words
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_other_names_which_are_sure_where_they_mean_nothing_else() {
        let of = |name: &str, other: &str| {
            other_names(name).find(|it| it.name == other).map(|it| it.is_sure)
        };
        assert_eq!(of("sack barrow", "hand truck"), Some(true));
        assert_eq!(of("hand truck", "sack barrow"), Some(true));
        assert_eq!(of("grand piano", "upright piano"), Some(false), "kinds of one thing");
        assert_eq!(of("grill", "barbecue"), Some(false), "a room, too");
        assert_eq!(of("fire extinguisher", "stapler"), None);
        assert_eq!(other_names("no such thing").count(), 0);
    }

    #[test]
    fn a_name_may_be_of_another_thing_than_the_dictionary_means() {
        assert!(is_of_another("charger", "horse"));
        assert!(is_of_another("notebook", "notebook computer"));
        assert!(!is_of_another("handbag", "bag"));
        assert!(!is_of_another("no such thing", "bag"));
    }

    #[test]
    fn what_is_mostly_called_by_a_noun_is_known_by_it() {
        let called = |noun: &str| called_by(noun).collect::<Vec<_>>();
        assert!(called("helmet").contains(&"hard hat"));
        for (noun, other) in [
            ("box", "television"),
            ("box", "facial tissue"),
            ("can", "dustbin"),
            ("hat", "traffic cone"),
            ("boot", "wheel clamp"),
        ] {
            assert!(!called(noun).contains(&other), "{noun}, {other}");
        }
    }

    #[test]
    fn people_are_known_by_what_they_are_called_at_home() {
        for (word, expect) in [
            ("mum", Some("mother")),
            ("dad", Some("father")),
            ("grandma", Some("grandmother")),
            ("bloke", Some("man")),
            ("carer", Some("care worker")),
            ("pair", None),
            ("pop", None),
            ("mug", None),
        ] {
            assert_eq!(person(word), expect, "{word}");
        }
    }

    #[test]
    fn near_things_are_told_apart_both_ways() {
        assert!(
            are_told_apart("stapler", "staple remover")
                && are_told_apart("staple remover", "stapler")
        );
        assert!(
            !are_told_apart("stapler", "paper stapler") && !are_told_apart("mug", "no such thing")
        );
    }

    #[test]
    fn names_are_singular_and_in_lower_case_and_none_is_its_own_other() {
        let mut wrong = Vec::new();
        for thing in THINGS.iter() {
            let names: Vec<&str> = split(thing.names).collect();
            let is_right = |name: &&str| {
                let last = name.rsplit(' ').next().unwrap_or_default();
                lexicon::singular(last) == last
                    && name.to_lowercase() == **name
                    && names.iter().filter(|it| it == &name).count() == 1
                    && split(thing.different).all(|it| it != *name)
            };
            assert!(names.len() > 1, "{names:?}");
            wrong.extend(names.iter().filter(|it| !is_right(it)).copied());
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
