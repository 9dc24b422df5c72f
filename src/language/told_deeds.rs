//! What a description that is searched for names, with what somebody does by it: "a man cooking", "a
//! book the user was reading".
//!
//! Pure.

use crate::language::deeds::{SIGN, deed_mention, deed_stem, deed_word, is_animal};
use crate::language::everyday_deeds::with_own_verb;
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention, mention_of_name, mentions};
use crate::language::person::is_person;
use crate::language::sentence::is_verb;
use crate::language::verbs;
use crate::language::words::{ANYBODY, BEFORE_OBJECTS, DETERMINERS, DOERS, MERE_USE, PEOPLE};

/// The things that a description names, the wanted one first. Where it tells what somebody
/// does, that stands in the place of the person.
pub fn query_mentions(description: &str) -> Vec<Mention> {
    let description = with_relative(&with_own_verb(&description.to_lowercase()));
    let told = ToldDeeds::of(&description);
    let mut named = mentions(&told.rest);
    let at = named.iter().position(is_person);
    let is_by_nobody = at.is_none() && !told.has_doer;
    if told.deeds.is_empty() || is_by_nobody {
        named = mentions(&with_first_verb_as_name(&description));
        if is_by_nobody {
            told.bind_animal(&mut named);
        } else {
            told.bind_objects(&mut named);
        }
        if named.is_empty() {
            named.extend(named_alone(&description));
        }
        return named;
    }
    told.bind_objects(&mut named);
    let is_first = description.split(' ').next().is_some_and(|it| DOERS.contains(it));
    if at != Some(0) && !is_first {
        told.bind_thing(&mut named);
    }
    let person = at.map(|at| named.remove(at));
    let deeds = told.deeds.iter().map(|deed| deed_mention(person.as_ref(), deed));
    let at = at.unwrap_or(if is_first { 0 } else { named.len() });
    named.splice(at..at, deeds);
    named
}

/// The thing that is all that a description says, by a word that is a verb or a measure elsewhere: a
/// saw, a can, a tile.
fn named_alone(description: &str) -> Option<Mention> {
    let mut words = description.split_whitespace().filter(|it| !DETERMINERS.contains(it));
    let is_several = |it: &str, one: &str| it != one && lexicon::is_word(one);
    let is_named = |it: &&str| {
        let one = lexicon::singular(it);
        lexicon::is_name(&one) || is_several(it, &one)
    };
    let word = words.next().filter(is_named)?;
    if words.next().is_some() { None } else { mention_of_name(word) }
}

/// Who does something by a description, and the things that it names besides; `None` where it
/// tells no deed of a person, or names nothing besides.
pub fn doer_and_things(description: &str) -> Option<Vec<Mention>> {
    let description = with_own_verb(&description.to_lowercase());
    let told = ToldDeeds::of(&with_relative(&description));
    let mut named = mentions(&told.rest);
    let doer = named.iter().position(is_person).filter(|_| !told.deeds.is_empty())?;
    let doer = named.remove(doer);
    named.insert(0, doer);
    (named.len() > 1).then_some(named)
}

/// What a description tells of deeds.
#[derive(Default)]
struct ToldDeeds {
    /// In -ing, without those that say nothing of the person.
    deeds: Vec<String>,
    /// Phrases of what is named right after a deed, with the deed's word.
    objects: Vec<(String, String)>,
    /// The word of the last deed after which nothing is named: the one that "a book I was reading" tells.
    open: Option<String>,
    /// Whether a pronoun says that somebody does them.
    has_doer: bool,
    /// The description without their verbs.
    rest: String,
}

impl ToldDeeds {
    fn of(description: &str) -> Self {
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let words: Vec<String> = description.split_whitespace().map(bare).collect();
        let mut told = Self::default();
        let (mut is_after_who, mut is_after_person, mut has_somebody) = (false, false, false);
        for (at, (word, said)) in words.iter().zip(description.split_whitespace()).enumerate() {
            let next = words.get(at + 1).map(String::as_str);
            let is_auxiliary =
                matches!(word.as_str(), "is" | "are" | "was" | "were" | "has" | "had" | "been");
            // "A cleaning lady" is one who cleans for a living.
            let is_trade =
                told.deeds.is_empty() && word.ends_with("ing") && next.is_some_and(is_somebody);
            has_somebody |= is_somebody(word);
            let is_told = (has_somebody || !is_trade) && is_verb(word, next)
                || is_after_person && word.ends_with("ing")
                || is_after_who && !is_auxiliary;
            let deed = Some(word.as_str()).filter(|_| is_told).and_then(verbs::activity);
            let object = deed
                .as_deref()
                .and_then(|deed| Some((object(words.get(at + 1..)?)?, deed_word(deed))));
            if deed.is_some() {
                let word = deed.as_deref().filter(|_| object.is_none()).map(deed_word);
                told.open = word.filter(|it| *it != SIGN.to_string());
            }
            let from = object
                .as_ref()
                .and_then(|(_, deed)| Some((object_from(words.get(at + 1..)?)?, deed.clone())));
            told.objects.extend(object.into_iter().chain(from));
            let deed = deed.or_else(|| verbs::activity_of_state(word));
            let deed = deed.filter(|it| !MERE_USE.contains(it));
            told.rest.push_str(if deed.is_some() { "that" } else { said });
            told.rest.push(' ');
            told.deeds.extend(deed);
            told.has_doer |= DOERS.contains(word);
            is_after_who = word == "who" || is_after_who && is_auxiliary;
            is_after_person = is_somebody(word);
        }
        // "the mug he was drinking his coffee from"
        let is_left_open = words.last().is_some_and(|it| is_source(it));
        if let Some((_, word)) = told.objects.last().filter(|_| is_left_open) {
            told.open = Some(word.clone());
        }
        told
    }

    /// Says of the thing of which a clause tells a deed that this is done to it.
    fn bind_thing(&self, named: &mut [Mention]) {
        let thing = named.first_mut().zip(self.open.clone());
        if let Some((thing, word)) = thing {
            let kind = AttributeKind::Other;
            thing.attributes.push(Attribute { word, kind });
        }
    }

    /// Says of an animal that is named first what it does.
    fn bind_animal(&self, named: &mut [Mention]) {
        let animal = named.first_mut().filter(|it| is_animal(it));
        if let Some((animal, deed)) = animal.zip(self.deeds.first()) {
            let (word, kind) = (deed_stem(deed), AttributeKind::Other);
            animal.attributes.push(Attribute { word, kind });
        }
    }

    /// Says of what is named right after a deed that it is done to it.
    fn bind_objects(&self, named: &mut [Mention]) {
        for (phrase, word) in &self.objects {
            if let Some(object) = named.iter_mut().find(|it| it.phrase == *phrase) {
                let (word, kind) = (word.clone(), AttributeKind::Other);
                object.attributes.push(Attribute { word, kind });
            }
        }
    }
}

/// The phrase of what is named right after a verb, as what it is done to or with: "bread" of
/// "cutting up the bread", nothing of "eating at a table".
fn object(after: &[String]) -> Option<String> {
    let is_passed = |it: &&String| BEFORE_OBJECTS.contains(it.as_str());
    let named = after.iter().skip_while(is_passed);
    let named: Vec<&str> =
        named.map(String::as_str).skip_while(|it| DETERMINERS.contains(it)).collect();
    let named = named.join(" ");
    let first = mentions(&format!("a {named}")).into_iter().next()?;
    named.starts_with(&first.phrase).then_some(first.phrase)
}

/// The same of what stands after "from" behind the first thing: the mug of "drinking coffee from a mug".
fn object_from(after: &[String]) -> Option<String> {
    let from = after.iter().position(|it| is_source(it))?;
    object(after.get(from + 1..)?)
}

/// Whether a word stands before what something is taken out of by a deed.
fn is_source(word: &str) -> bool {
    matches!(word, "from" | "out" | "off")
}

/// "smoking-sign" of "no smoking sign": before anything is named a word in -ing is no deed.
fn with_first_verb_as_name(description: &str) -> String {
    let words: Vec<&str> = description.split_whitespace().collect();
    let names = |it: &str| !mentions(&format!("a {it}")).is_empty();
    let is_first = |at: &usize| {
        let (before, rest) = words.split_at(*at);
        let [word, next, ..] = rest else { return false };
        word.ends_with("ing") && names(next) && !names(&before.join(" "))
    };
    let Some(at) = (0..words.len()).find(is_first) else { return description.to_owned() };
    let (before, rest) = words.split_at(at);
    let joined = rest.get(..2).unwrap_or_default().join("-");
    let after = rest.get(2..).unwrap_or_default();
    [before, &[joined.as_str()], after].concat().join(" ")
}

fn is_somebody(word: &str) -> bool {
    PEOPLE.contains(word) || mentions(&format!("a {word}")).first().is_some_and(is_person)
}

/// "a book that user was reading" of "a book user was reading": nothing is called by a word
/// for anybody.
fn with_relative(description: &str) -> String {
    let mut whole = String::with_capacity(description.len() + 8);
    let mut before = "";
    for word in description.split_whitespace() {
        let is_anybody = ANYBODY.has_tag(word, "bare");
        let is_free = before.is_empty()
            || before.ends_with(',')
            || mentions(&format!("a {before}")).is_empty();
        if is_anybody && !is_free {
            whole.push_str(" that");
        }
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(word);
        before = word;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::deeds::is_deed_word;

    /// Phrases of a description.
    fn asked(description: &str) -> Vec<String> {
        query_mentions(description).into_iter().map(|it| it.phrase).collect()
    }

    #[test]
    fn what_is_called_as_a_verb_is_a_name_where_nothing_else_is_said() {
        assert_eq!(asked("presents"), ["presents"]);
        assert_eq!(asked("the presents"), ["presents"]);
    }

    #[test]
    fn what_a_deed_is_done_with_may_stand_behind_another_thing() {
        let done = |description: &str, thing: &str| {
            let named = query_mentions(description);
            let said = named.iter().find(|it| it.phrase == thing).map(|it| &it.attributes);
            said.is_some_and(|it| it.iter().any(|it| is_deed_word(&it.word)))
        };
        assert!(done("a woman drinking coffee from a mug", "mug"));
        assert!(done("a woman drinking coffee from a mug", "coffee"));
        assert!(done("the mug a woman was drinking her coffee from", "mug"));
        assert!(!done("a woman drinking coffee at a table", "table"));
    }

    #[test]
    fn a_description_of_somebody_asks_for_the_deed() {
        for (description, expect) in [
            ("a person cooking", &["person, cooking"][..]),
            ("somebody sleeping in a bed", &["somebody, sleeping", "bed"]),
            ("a man asleep at a desk", &["man, sleeping", "desk"]),
            ("user watching TV", &["user, watching", "tv"]),
            ("a woman who was ironing a shirt", &["woman, ironing", "shirt"]),
            ("a man who repairs a bike", &["man, repairing", "bike"]),
            ("a child drawing pictures", &["child, drawing", "pictures"]),
            ("someone lighting candles", &["somebody, lighting", "candles"]),
            ("a cleaning lady wiping a door", &["lady, wiping", "door"]),
            ("someone brushing her teeth", &["somebody, brushing", "teeth"]),
            ("a book the user was reading", &["book", "user, reading"]),
            ("a book user was reading", &["book", "user, reading"]),
            ("the guitar I was playing", &["guitar", "somebody, playing"]),
            ("a man in a blue sweater", &["man", "blue sweater"]),
            ("a mug the user is using", &["mug", "user"]),
            ("reading glasses", &["reading glasses"]),
            ("the sleeping bag", &["sleeping bag"]),
            ("mum drinking tea", &["mum, drinking", "tea"]),
            ("no smoking sign", &["smoking sign"]),
            ("a person next to an ironing board", &["person", "ironing board"]),
            ("a user manual", &["user manual"]),
            ("a dog sleeping on a rug", &["dog", "rug"]),
        ] {
            assert_eq!(asked(description), expect, "{description}");
        }
    }
}
