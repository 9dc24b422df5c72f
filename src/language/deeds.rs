//! Who does what in captions, and whether that is what is asked for.
//!
//! Pure. A deed stands among the mentions as one under a stem that no noun has, so that it is
//! indexed and matched as they are, and who does it are its attributes: "a man cooking" is
//! no woman who cooks, and "somebody cooking" may be him. What it is done to stands there once
//! more with the deed among its attributes: the bread of "cutting bread" is cut.

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::caption::{ParsedCaption, ParsedDeed, ParsedThing, Presence};
use crate::language::depicted::{as_depicted, is_depicted};
use crate::language::everyday_deeds;
use crate::language::fit::fit;
use crate::language::guessed::{as_guessed, is_guessed};
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention, mentions};
use crate::language::naming;
use crate::language::person::{attributes, is_person};
use crate::language::verbs;
use crate::language::words::{MERE_USE, is_people};

/// Before the stem of a deed; no word has it.
pub(super) const SIGN: char = '~';

/// What a caption shows with what somebody does in it: all that is indexed of it.
pub fn index_mentions(caption: &ParsedCaption) -> Vec<Mention> {
    let mut indexed: Vec<Mention> = caption.shown_mentions().cloned().collect();
    let only_depicted = caption.things.iter().filter(|it| it.presence == Presence::Depicted);
    indexed.extend(only_depicted.map(|it| as_depicted(&it.mention)));
    let only_guessed = caption.things.iter().filter(|it| it.presence == Presence::Guessed);
    indexed.extend(only_guessed.map(|it| as_guessed(&it.mention)));
    let by_part: Vec<Mention> = caption.shown_mentions().filter_map(kind_before_head).collect();
    indexed.extend(by_part);
    indexed.extend(caption.deeds.iter().flat_map(|deed| animals_doing(caption, deed)));
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

/// A thing by a part of its name that is a kind of it: the paperback of "a paperback novel", the
/// hatchback of "a hatchback car".
fn kind_before_head(thing: &Mention) -> Option<Mention> {
    let one = thing.singular_head();
    let is_kind = |it: &Attribute| {
        matches!(it.kind, AttributeKind::Compound | AttributeKind::Other)
            && lexicon::is_kind_beside(&it.word, &one)
    };
    let at = thing.attributes.iter().rposition(is_kind)?;
    let mut attributes = thing.attributes.clone();
    let head = attributes.remove(at).word;
    let said = attributes.iter().map(|it| it.word.as_str());
    let phrase = said.chain([head.as_str()]).collect::<Vec<_>>().join(" ");
    Some(Mention { phrase, head_stem: lexicon::noun_stem(&head), head, attributes })
}

/// The animals that do something, with the deed: the cat of "a cat sleeping" is no cat that eats.
fn animals_doing(caption: &ParsedCaption, deed: &ParsedDeed) -> impl Iterator<Item = Mention> {
    let doers = deed.who.iter().filter_map(|it| caption.things.get(*it));
    let animals = doers.filter(|it| it.presence.is_there() && is_animal(&it.mention));
    animals.map(|it| {
        let mut doing = it.mention.clone();
        doing.phrase = format!("{}, {}", doing.phrase, deed.verb);
        let (word, kind) = (deed_stem(&deed.verb), AttributeKind::Other);
        doing.attributes.push(Attribute { word, kind });
        doing
    })
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
pub(super) fn deed_word(verb: &str) -> String {
    if MERE_USE.contains(verb) { SIGN.to_string() } else { deed_stem(verb) }
}

pub(super) fn deed_stem(verb: &str) -> String {
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
        let is_told_by_state = |it: &Mention| is_it(it) && self.is_told_by_state(it);
        if caption.shown_mentions().any(is_told_by_state) {
            return Done::WithIt;
        }
        self.told(caption, self.is_use).map(with).max().unwrap_or(Done::Not)
    }

    /// Whether how a thing is says that this was done to it: "half-carved" of carving.
    fn is_told_by_state(&self, thing: &Mention) -> bool {
        let is_state =
            |it: &&Attribute| matches!(it.kind, AttributeKind::State | AttributeKind::Other);
        let said = thing.attributes.iter().filter(is_state);
        let said = said.filter_map(|it| it.word.rsplit('-').next());
        let mut states = said.filter(|it| naming::is_past(it));
        states.any(|it| self.stems.contains(&deed_stem(&verbs::in_ing(it))))
    }
}

fn is_somebody_there(thing: &ParsedThing) -> bool {
    thing.is_person || is_person(&thing.mention)
}

pub(super) fn is_animal(mention: &Mention) -> bool {
    lexicon::descends_from(&lexicon::singular(&mention.head), "animal")
}

/// Whether a thing is known to be no person: what it does nobody does.
fn does_by_itself(mention: &Mention) -> bool {
    let head = lexicon::singular(&mention.head);
    lexicon::is_name(&head) && !lexicon::is_person(&head) && !is_people(&mention.head_stem)
}

/// Whether a mention is of a deed.
pub fn is_deed(mention: &Mention) -> bool {
    is_deed_word(&mention.head_stem)
}

/// Whether a mention is of a thing, and neither of a deed, nor of a thing as what it is done to or
/// as what is only depicted or guessed.
pub fn is_plain(mention: &Mention) -> bool {
    let said = &mention.attributes;
    is_surely_there(mention) && !is_deed(mention) && !said.iter().any(|it| is_deed_word(&it.word))
}

/// Whether a mention is of what is neither only depicted nor only guessed.
pub fn is_surely_there(mention: &Mention) -> bool {
    !is_depicted(&mention.attributes) && !is_guessed(&mention.attributes)
}

pub(super) fn deed_mention(who: Option<&Mention>, deed: &str) -> Mention {
    let name = who.map_or("somebody", |it| it.head.as_str());
    Mention {
        // No other phrase has a comma.
        phrase: format!("{name}, {deed}"),
        head: deed.to_owned(),
        head_stem: deed_stem(deed),
        attributes: who.map(attributes).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::fit::Fit;
    use crate::language::tagged::tests::tagged;
    use crate::language::told_deeds::query_mentions;

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

    #[test]
    fn an_animal_that_does_something_else_may_be_it() {
        let words = "a tabby/attribute/2 cat/thing eating/deed/2 by/relation/3 a bowl/thing/4";
        let (text, tags) = tagged(words);
        let caption = ParsedCaption::of_tagged(1, &[(&text, tags)]);
        assert_eq!(shown("a cat eating by a bowl", &caption), Some(Fit::Full));
        assert_eq!(shown("a cat sleeping by a bowl", &caption), Some(Fit::Possible));
        assert_eq!(shown("a cat by a bowl", &caption), Some(Fit::Full));
    }

    #[test]
    fn what_a_deed_left_behind_tells_of_it() {
        let (text, tags) =
            tagged("a carved/attribute/2 pumpkin/thing and/none a red/attribute/6 mug/thing");
        let caption = ParsedCaption::of_tagged(1, &[(&text, tags)]);
        let done = |verb: &str, head: &str| {
            AskedDeed::new(verb, None).done(&caption, &|it: &Mention| it.head == head)
        };
        assert_eq!(done("carving", "pumpkin"), Done::WithIt);
        assert_eq!(done("painting", "pumpkin"), Done::Not);
        assert_eq!(done("carving", "mug"), Done::Not);
        assert_eq!(done("ringing", "mug"), Done::Not, "nobody rings what is red");
    }
}
