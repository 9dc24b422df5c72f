//! Who does what, in captions and in descriptions that are searched for: "a man cooking",
//! "a book the user was reading".
//!
//! Pure. A deed stands among the mentions as one under a stem that no noun has, so that it is
//! indexed and matched as they are, and who does it are its attributes: "a man cooking" is
//! no woman who cooks, and "somebody cooking" may be him. What it is done to stands there once
//! more with the deed among its attributes: the bread of "cutting bread" is cut.

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::caption::{ParsedCaption, ParsedDeed, ParsedThing, Presence, is_person};
use crate::language::depicted::{as_depicted, is_depicted};
use crate::language::everyday_deeds;
use crate::language::fit::fit;
use crate::language::mention::{Attribute, AttributeKind, Mention, mention_of_name, mentions};
use crate::language::sentence::is_verb;
use crate::language::verbs;
use crate::language::words::{DETERMINERS, MERE_USE, PEOPLE, is_people};
use crate::language::{everyday_names, lexicon};

/// Before the stem of a deed; no word has it.
const SIGN: char = '~';

/// What a caption shows with what somebody does in it: all that is indexed of it.
pub fn index_mentions(caption: &ParsedCaption) -> Vec<Mention> {
    let mut indexed: Vec<Mention> = caption.shown_mentions().cloned().collect();
    let only_depicted = caption.things.iter().filter(|it| it.presence == Presence::Depicted);
    indexed.extend(only_depicted.map(|it| as_depicted(&it.mention)));
    let is_there = |it: &&ParsedThing| it.presence.is_there() && is_somebody_there(it);
    let mut people = caption.things.iter().filter(is_there).map(|it| &it.mention);
    let Some(first) = people.next() else { return indexed };
    // Where it is not said, of several who are not alike it is not known who does it.
    let is_one = people.all(|it| attributes(it) == attributes(first));
    let anybody = is_one.then_some(first);
    for ParsedDeed { verb, who, what } in &caption.deeds {
        let doers: Vec<&ParsedThing> =
            who.iter().filter_map(|it| caption.things.get(*it)).collect();
        let (there, others): (Vec<&ParsedThing>, Vec<&ParsedThing>) =
            doers.into_iter().partition(is_there);
        indexed.extend(there.iter().map(|it| deed_mention(Some(&it.mention), verb)));
        // "a dog sleeping", "no man sleeping", "a cable running from it"
        let is_no_person = |it: &&ParsedThing| {
            !it.presence.is_there() || is_animal(&it.mention) || does_by_itself(&it.mention)
        };
        if there.is_empty() {
            if others.iter().any(is_no_person) {
                continue;
            }
            indexed.push(deed_mention(anybody, verb));
        }
        let objects = what.iter().filter_map(|it| caption.things.get(*it));
        let objects = objects.filter(|it| it.presence.is_there());
        indexed.extend(objects.map(|it| done_to(&it.mention, verb)));
    }
    indexed
}

/// A thing that a deed is done to, with the deed and that there is one.
fn done_to(thing: &Mention, verb: &str) -> Mention {
    let mut done = thing.clone();
    done.phrase = format!("{}, {verb}", done.phrase);
    let words = [deed_word(verb), SIGN.to_string()].into_iter();
    done.attributes.extend(words.map(|word| Attribute { word, kind: AttributeKind::Other }));
    done
}

/// The word by which a thing is known to be what a deed is done to; of having or using it, that
/// any deed is: who drinks from a mug holds it.
fn deed_word(verb: &str) -> String {
    if MERE_USE.contains(verb) { SIGN.to_string() } else { deed_stem(verb) }
}

fn deed_stem(verb: &str) -> String {
    format!("{SIGN}{}", Stemmer::create(Algorithm::English).stem(verb))
}

/// The stems of the other verbs for a deed.
pub fn other_stems(verb: &str) -> Vec<String> {
    everyday_deeds::other_verbs(verb).map(deed_stem).collect()
}

/// Whether an attribute's word is that of a deed.
pub fn is_deed_word(word: &str) -> bool {
    word.starts_with(SIGN)
}

/// A deed that is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedDeed {
    /// Of its verb, and of the other ones for the same.
    stems: Vec<String>,
    who: Vec<Attribute>,
    /// Of using a thing, which any deed does that is done to or with it: who drinks from a mug uses it.
    is_use: bool,
}

/// How a caption tells of a deed that is asked about with a thing; later is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Done {
    Not,
    /// To or with another thing.
    WithAnother,
    /// Nobody says with what.
    WithAnything,
    WithIt,
}

impl AskedDeed {
    /// A verb in -ing, and who does it as far as that is said.
    pub fn new(verb: &str, doer: Option<&str>) -> Self {
        let doer = doer.and_then(|it| mentions(&format!("a {it}")).into_iter().next());
        let who = doer.as_ref().map(attributes).unwrap_or_default();
        let is_use = MERE_USE.contains(verb);
        Self { stems: [vec![deed_stem(verb)], other_stems(verb)].concat(), who, is_use }
    }

    /// Whether a caption tells of it, whatever it is done with.
    pub fn is_done_in(&self, caption: &ParsedCaption) -> bool {
        self.told(caption, false).next().is_some()
    }

    /// To what it is done by a caption, and with what: the drawer and the drill.
    pub fn objects<'a>(&self, caption: &'a ParsedCaption) -> impl Iterator<Item = &'a Mention> {
        let objects = self.told(caption, self.is_use).flat_map(|it| it.what.iter());
        objects.filter_map(|at| caption.things.get(*at)).map(|it| &it.mention)
    }

    /// The deeds of a caption that are this one; of use, also what else is done with things.
    fn told<'a>(
        &self,
        caption: &'a ParsedCaption,
        is_use: bool,
    ) -> impl Iterator<Item = &'a ParsedDeed> {
        let thing = |at: &usize| caption.things.get(*at);
        let is_doer = move |it: &ParsedThing| fit(&attributes(&it.mention), &self.who).is_some();
        let is_by = move |deed: &ParsedDeed| {
            let mut doers = deed.who.iter().filter_map(thing).peekable();
            doers.peek().is_none() || doers.any(is_doer)
        };
        let is_same = move |deed: &ParsedDeed| {
            is_use && !deed.what.is_empty() || self.stems.contains(&deed_stem(&deed.verb))
        };
        caption.deeds.iter().filter(move |it| is_same(it) && is_by(it))
    }

    /// How a caption tells of it with what `is_it` names.
    pub fn done(&self, caption: &ParsedCaption, is_it: &dyn Fn(&Mention) -> bool) -> Done {
        let with = |deed: &ParsedDeed| {
            let mut what = deed.what.iter().filter_map(|at| caption.things.get(*at));
            match () {
                () if deed.what.is_empty() => Done::WithAnything,
                () if what.any(|it| is_it(&it.mention)) => Done::WithIt,
                () => Done::WithAnother,
            }
        };
        self.told(caption, self.is_use).map(with).max().unwrap_or(Done::Not)
    }
}

fn is_somebody_there(thing: &ParsedThing) -> bool {
    thing.is_person || is_person(&thing.mention)
}

fn is_animal(mention: &Mention) -> bool {
    lexicon::descends_from(&lexicon::singular(&mention.head), "animal")
}

/// Whether a thing is known to be no person: what it does nobody does.
fn does_by_itself(mention: &Mention) -> bool {
    let head = lexicon::singular(&mention.head);
    lexicon::is_name(&head) && !lexicon::is_person(&head) && !is_people(&mention.head_stem)
}

/// The things that a description names, the wanted one first. Where it tells what somebody
/// does, that stands in the place of the person.
pub fn query_mentions(description: &str) -> Vec<Mention> {
    let description = with_relative(&description.to_lowercase());
    let told = ToldDeeds::of(&description);
    let mut named = mentions(&told.rest);
    let at = named.iter().position(is_person);
    let is_by_nobody = at.is_none() && !told.has_doer;
    if told.deeds.is_empty() || is_by_nobody {
        named = mentions(&with_first_verb_as_name(&description));
        if !is_by_nobody {
            told.bind_objects(&mut named);
        }
        if named.is_empty() {
            named.extend(named_alone(&description));
        }
        return named;
    }
    told.bind_objects(&mut named);
    let is_first = description.split(' ').next().is_some_and(|it| PRONOUNS.contains(&it));
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
    let word = words.next().filter(|it| lexicon::is_name(&lexicon::singular(it)))?;
    if words.next().is_some() { None } else { mention_of_name(word) }
}

/// Who does something by a description, and the things that it names besides; `None` where it
/// tells no deed of a person, or names nothing besides.
pub fn doer_and_things(description: &str) -> Option<Vec<Mention>> {
    let told = ToldDeeds::of(&with_relative(&description.to_lowercase()));
    let mut named = mentions(&told.rest);
    let doer = named.iter().position(is_person).filter(|_| !told.deeds.is_empty())?;
    let doer = named.remove(doer);
    named.insert(0, doer);
    (named.len() > 1).then_some(named)
}

/// Whether a mention is of a deed.
pub fn is_deed(mention: &Mention) -> bool {
    is_deed_word(&mention.head_stem)
}

/// Whether a mention is of a thing, and neither of a deed, nor of a thing as what it is done to or
/// as what is only depicted.
pub fn is_plain(mention: &Mention) -> bool {
    let said = &mention.attributes;
    !is_deed(mention) && !is_depicted(said) && !said.iter().any(|it| is_deed_word(&it.word))
}

fn deed_mention(who: Option<&Mention>, deed: &str) -> Mention {
    let name = who.map_or("somebody", |it| it.head.as_str());
    Mention {
        // No other phrase has a comma.
        phrase: format!("{name}, {deed}"),
        head: deed.to_owned(),
        head_stem: deed_stem(deed),
        attributes: who.map(attributes).unwrap_or_default(),
    }
}

/// What the word for a person tells of it: a trade as what it is called, so that a plumber who
/// kneels may be anybody who does, and is no nurse.
fn attributes(person: &Mention) -> Vec<Attribute> {
    let parts = person.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
    let mut told: Vec<Attribute> = parts.cloned().collect();
    let word = lexicon::singular(&person.head);
    let at_home = everyday_names::person(&word);
    let stem = at_home.map_or_else(|| person.head_stem.clone(), lexicon::noun_stem);
    let (sex_of_kin, sex_and_age) = (sex_of_kin(&stem), sex_and_age(&stem));
    let is_trade = !is_people(&stem) && (lexicon::is_person(&word) || at_home.is_some());
    if sex_and_age.is_empty() && is_trade {
        let word = at_home.map_or(word, str::to_owned);
        told.push(Attribute { word, kind: AttributeKind::Compound });
    }
    told.extend(sex_of_kin.into_iter().chain(sex_and_age));
    told
}

/// Whether a word in lower case and singular is what somebody of the family is called: "mum".
pub fn is_kin(word: &str) -> bool {
    let known = everyday_names::person(word).unwrap_or(word);
    sex_of_kin(&lexicon::noun_stem(known)).is_some()
}

fn male_or_female(word: &str) -> Attribute {
    Attribute { word: word.to_owned(), kind: AttributeKind::State }
}

/// Of one of a family, by the stem of what one is called: a mother is no man, and not any woman.
fn sex_of_kin(stem: &str) -> Option<Attribute> {
    match stem {
        "mother" | "grandmoth" | "aunt" | "sister" | "daughter" | "wife" | "niec"
        | "girlfriend" => Some(male_or_female("female")),
        "father" | "grandfath" | "uncl" | "brother" | "son" | "husband" | "nephew"
        | "boyfriend" => Some(male_or_female("male")),
        _ => None,
    }
}

fn sex_and_age(stem: &str) -> Vec<Attribute> {
    let (man, woman) = (|| male_or_female("male"), || male_or_female("female"));
    let young = || Attribute { word: "young".to_owned(), kind: AttributeKind::Pattern };
    match stem {
        "man" | "men" | "guy" | "gentleman" | "he" | "him" => vec![man()],
        "woman" | "women" | "ladi" | "she" | "her" => vec![woman()],
        "boy" => vec![man(), young()],
        "girl" => vec![woman(), young()],
        "child" | "children" | "kid" | "toddler" | "babi" => vec![young()],
        _ => Vec::new(),
    }
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
            told.objects.extend(object);
            let deed = deed.or_else(|| verbs::activity_of_state(word));
            let deed = deed.filter(|it| !MERE_USE.contains(it));
            told.rest.push_str(if deed.is_some() { "that" } else { said });
            told.rest.push(' ');
            told.deeds.extend(deed);
            told.has_doer |= PRONOUNS.contains(&word.as_str());
            is_after_who = word == "who" || is_after_who && is_auxiliary;
            is_after_person = is_somebody(word);
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
    let is_passed = |it: &&String| BEFORE_OBJECTS.contains(&it.as_str());
    let named = after.iter().skip_while(is_passed);
    let named: Vec<&str> =
        named.map(String::as_str).skip_while(|it| DETERMINERS.contains(it)).collect();
    let named = named.join(" ");
    let first = mentions(&format!("a {named}")).into_iter().next()?;
    named.starts_with(&first.phrase).then_some(first.phrase)
}

/// Particles of verbs, and prepositions before what a deed is done with.
const BEFORE_OBJECTS: &[&str] = &["up", "down", "out", "off", "away", "with", "from"];

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

const PRONOUNS: &[&str] =
    &["i", "we", "he", "she", "they", "you", "someone", "somebody", "anyone", "anybody", "whoever"];

/// "a book that user was reading" of "a book user was reading": nothing is called by a word
/// for anybody.
fn with_relative(description: &str) -> String {
    let mut whole = String::with_capacity(description.len() + 8);
    let mut before = "";
    for word in description.split_whitespace() {
        let is_anybody = matches!(word, "user" | "someone" | "somebody" | "anyone" | "anybody");
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
    use crate::language::fit::Fit;
    use crate::language::tagged::tests::tagged;

    /// Phrases of a description.
    fn asked(description: &str) -> Vec<String> {
        query_mentions(description).into_iter().map(|it| it.phrase).collect()
    }

    /// How well a caption shows the first thing of a description.
    fn shown(description: &str, caption: &ParsedCaption) -> Option<Fit> {
        let wanted = query_mentions(description).remove(0);
        let shown = index_mentions(caption);
        let named = shown.iter().filter(|it| it.is_named_as(&wanted));
        named.filter_map(|it| fit(&it.attributes, &wanted.attributes)).max()
    }

    #[test]
    fn what_is_only_depicted_may_be_meant_and_does_nothing() {
        let words = "a poster/thing of/relation/1 a man/person/2 riding/deed/4 a brown/attribute/8 horse/thing/5";
        let (text, tags) = tagged(words);
        let caption = ParsedCaption::of_tagged(1, &[(&text, tags)]);
        assert_eq!(shown("a horse", &caption), Some(Fit::Possible));
        assert_eq!(shown("a white horse", &caption), None);
        assert_eq!(shown("a man riding", &caption), None);
        assert_eq!(shown("a poster", &caption), Some(Fit::Full));
        assert!(!caption.has_person());
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

    #[test]
    fn what_a_deed_is_done_to_and_with_is_told_by_who_does_it() {
        let words = "mother/person cutting/deed/0 bread/thing/1 with/relation/1 a knife/thing/3 \
                     and/none a boy/person cutting/deed/8 paper/thing/9";
        let (text, tags) = tagged(words);
        let caption = ParsedCaption::of_tagged(1, &[(&text, tags)]);
        let objects = |who| -> Vec<&str> {
            let deed = AskedDeed::new("cutting", Some(who));
            deed.objects(&caption).map(|it| it.phrase.as_str()).collect()
        };
        assert_eq!(objects("mum"), ["bread", "knife"]);
        assert_eq!(objects("boy"), ["paper"]);
    }

    #[test]
    fn a_person_who_does_something_else_is_another_scene() {
        for (description, caption, expect) in [
            ("a person cooking", "a man cooking in a kitchen", Some(Fit::Full)),
            ("a person cooking", "a person sleeping in a bed", None),
            ("a man cooking", "a woman cooking pasta", None),
            ("a woman cooking", "a woman is cooking pasta", Some(Fit::Full)),
            ("a man cooking", "a person cooking pasta", Some(Fit::Possible)),
            ("a child playing", "a girl playing with a ball", Some(Fit::Full)),
            ("a boy throwing a ball", "a man throwing a ball", Some(Fit::Possible)),
            ("somebody sleeping", "a dog sleeping under a table", None),
            ("user watching tv", "a woman watching television", Some(Fit::Full)),
            ("somebody ironing", "a woman ironing a shirt on an ironing board", Some(Fit::Full)),
            ("a man reading", "a man and a woman reading", Some(Fit::Possible)),
            ("a nurse reading", "a woman reading a book", Some(Fit::Possible)),
            ("a nurse reading", "a nurse reading a book", Some(Fit::Full)),
            ("a nurse reading", "a plumber reading a book", None),
            ("a person kneeling", "a plumber kneeling at a sink", Some(Fit::Full)),
            ("whoever is ironing", "a woman ironing a shirt", Some(Fit::Full)),
        ] {
            let found = shown(description, &ParsedCaption::by_rules(caption));
            let found = found.map(|it| if it == Fit::Full { it } else { Fit::Possible });
            assert_eq!(found, expect, "{description} in {caption}");
        }
    }
    #[test]
    fn who_is_said_to_do_it_does_it_and_nobody_else() {
        let full = Some(Fit::Full);
        for (description, caption, who, expect) in [
            ("a man cooking", "a woman cooking and a man sleeping", &[&[0][..], &[1]][..], None),
            ("a man sleeping", "a woman cooking and a man sleeping", &[&[0], &[1]], full),
            ("somebody sleeping", "a woman cooking and a man sleeping", &[&[0], &[1]], full),
            ("a woman sleeping", "a woman reading and a dog sleeping", &[&[0], &[1]], None),
            ("a woman reading", "a woman reading and a dog sleeping", &[&[0], &[1]], full),
            ("a woman cooking", "a woman next to a man cooking", &[&[1]], None),
            ("a man dancing", "a man and a woman dancing", &[&[0, 1]], full),
            ("a man sleeping", "a man next to a bed for sleeping", &[&[1]], None),
            ("somebody running", "a woman next to a cable running along a wall", &[&[1]], None),
        ] {
            let mut caption = ParsedCaption::by_rules(caption);
            for (deed, who) in caption.deeds.iter_mut().zip(who) {
                deed.who = who.to_vec();
            }
            assert_eq!(shown(description, &caption), expect, "{description}");
        }
    }

    #[test]
    fn what_a_deed_is_done_to_tells_it_from_what_lies_beside() {
        // Things of the caption are the man, the bread and the cake.
        let mut caption = ParsedCaption::by_rules("a man eating bread next to a cake");
        (caption.deeds[0].who, caption.deeds[0].what) = (vec![0], vec![1]);
        let shown = index_mentions(&caption);
        for (description, thing, expect) in [
            ("a man eating bread", 1, Fit::Full),
            ("somebody who eats up the bread", 1, Fit::Full),
            ("a man eating a cake", 1, Fit::Possible),
            ("a man holding bread", 1, Fit::Full),
            ("a man holding a cake", 1, Fit::Possible),
            ("a man eating at a cake", 1, Fit::Full),
            ("a cake beside a man eating bread", 0, Fit::Full),
        ] {
            let wanted = &query_mentions(description)[thing];
            let named = shown.iter().filter(|it| it.is_named_as(wanted));
            let found = named.filter_map(|it| fit(&it.attributes, &wanted.attributes)).max();
            assert_eq!(found, Some(expect), "{description}: {wanted:?}");
        }
        let plain: Vec<&str> =
            shown.iter().filter(|it| is_plain(it)).map(|it| it.phrase.as_str()).collect();
        assert_eq!(plain, ["man", "bread", "cake"]);
    }
}
