//! What a request in words refers to: "bring me the mug that I use the most" is a
//! mug, that somebody uses, and of several the one used most often.
//!
//! Pure. English; which words say what, the model of requests has told. Knows no
//! records.

pub(crate) mod addressee;
pub(crate) mod conditions;
pub(crate) mod courtesy;
pub(crate) mod errand;
pub(crate) mod follow_up;
mod how_many;
mod named;
mod phrase;
pub mod purpose;
mod put_right;
mod questions;
mod said;
mod second_thought;
mod targets_apart;
mod uses;
mod wanted_place;
mod which_one;

use std::collections::BTreeSet;

use crate::language::lexicon;
use crate::language::mention::mentions;
use crate::language::reference::named::Named;
use crate::language::reference::phrase::{places, plain};
use crate::language::reference::purpose::Purpose;
use crate::language::reference::said::Said;
pub use crate::language::reference::wanted_place::{WantedPlace, without_remark};
use crate::language::reference::which_one::WhichOne;
use crate::language::request_tags::{
    Asked, Count, Intent, Role, Superlative, TaggedRequest, Tense,
};
use crate::language::time::{Found, PhraseTime};
use crate::language::verbs;
use crate::language::words::{COLOURS, MERE_USE};

/// What a request refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// What to recall by: the class with its attributes, "red mug". Empty where the
    /// request names none: "what I left on the sofa".
    pub thing: String,
    /// What else it may be, where only its use is told, the likeliest first: "something to drink
    /// from" is a cup, a mug or a glass; and what another clause names, of which only one may be
    /// wanted: "there's a woodpecker, quick, the binoculars!".
    pub or_else: Vec<String>,
    /// The thing by its use, as it is said, where the request tells no more of it: "something to weigh
    /// the flour with".
    pub for_use: Option<String>,
    /// What the named thing is for, as it is said: "for cutting pastry".
    pub purpose: Option<String>,
    /// What it was beside, on or in: "laptop", "sofa", "kitchen".
    pub around: Vec<String>,
    /// What it was not beside, on or in, and which one it is not: "other than the red one".
    pub without: Vec<String>,
    /// What a person did with the thing or near it: "reading", "using".
    pub doing: Option<String>,
    /// Who that was, where it is not the user: "woman" of "the book the woman was reading".
    pub doer: Option<String>,
    /// When that was, unresolved.
    pub when: Vec<PhraseTime>,
    /// Which of several: a superlative or a habit.
    pub order: Option<Order>,
    /// The how manieth in that order, from 0: 1 of "the second most used mug".
    pub rank: usize,
    /// How many of them are wanted.
    pub count: Count,
    /// What is wanted after it: "the mug and then the *book*".
    pub also: Vec<String>,
    /// Whether anything is wanted at all.
    pub intent: Intent,
    /// What a question asks.
    pub asked: Asked,
    /// Byte at which the last word ends that says something, where those after it may be of
    /// no matter: "the red mug *thanks*"; `None` where all of it counts.
    pub ends_at: Option<usize>,
    /// Words of the request that nobody knows, and those that they were read as.
    pub respelled: Vec<Respelling>,
    /// The thing by its name in the request, where captions have only a near one: "model car" for
    /// the toy car.
    pub renamed: Option<Box<Respelling>>,
    /// What the request makes the errand depend on or puts off: "if it is clean".
    pub conditions: Vec<String>,
    /// Which of its places is wanted.
    pub place: WantedPlace,
    /// Whether what it tells of the thing was so once, and need not be now.
    pub was_there: bool,
    /// Whether it is in a language that nobody here reads, so that nothing else is told.
    pub is_unread: bool,
    /// Whether it orders what no memory sees to: "water the kale".
    pub is_other_order: bool,
}

/// A word of a request that is a slip of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Respelling {
    pub said: String,
    pub read: String,
}

/// What singles one out of several things of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// "the mug I use the most", "the book that is usually on the nightstand".
    MostOften,
    /// "the mug I rarely use".
    LeastOften,
    /// "the mug I used last".
    Latest,
    /// "the first mug I used today".
    Earliest,
    /// "the least recently used mug".
    LongestAgo,
    /// "the mug nearest the sofa".
    NearestTo(String),
}

impl Reference {
    /// The thing with what is in it, "tin of cat food", where a name has only what that is in: a tin.
    pub fn with_contents<'a>(&'a self, name: &'a str) -> &'a str {
        let last = |it: &str| it.rsplit(' ').next().map(lexicon::singular);
        let holds = self.thing.split_once(" of ").is_some_and(|(it, _)| last(it) == last(name));
        if holds { &self.thing } else { name }
    }

    /// Whether the thing is told by its use and by nothing else, so that it has no name.
    pub fn is_told_by_use(&self) -> bool {
        self.for_use.as_ref() == Some(&self.thing)
    }

    /// Puts together what the words of a request say; `times` are those found in it.
    pub fn of(request: &str, tagged: &TaggedRequest, times: &[Found]) -> Self {
        let apart = targets_apart::with_targets_apart(request, tagged);
        let anew = second_thought::with_what_is_taken_back(request, &apart);
        let put_right = put_right::by_words_before(request, &anew);
        let purpose = Purpose::of(request, &put_right);
        let without_purpose = purpose.as_ref().map(|it| it.left_out_of(&put_right));
        let tagged = without_purpose.as_ref().unwrap_or(&put_right);
        let said = Said { request, tagged, times };
        let named = Named::of(&said);
        let called = named.thing(&said);
        let when = named.when(&said);
        let doing = verbs::deed(&said.deeds(!called.is_empty()));
        let is_plain =
            when.is_empty() && doing.is_none() && said.spans(Role::Place).next().is_none();
        let intent = questions::intent(request, tagged, is_plain);
        let is_talk = named.is_moment && is_plain && intent != Intent::Question;
        let intent = if is_talk { Intent::Chat } else { intent };
        let is_question = intent == Intent::Question;

        // A question is about what somebody did, and not about something to do it with, but where it
        // asks for that.
        let is_open = when.is_empty()
            && tagged.order == Superlative::None
            && tagged.tense == Tense::None
            && (!is_question || questions::asks_for_use(request));
        let for_use = said.for_use().filter(|_| is_open);
        let is_named = !named.names.is_empty() && for_use.is_none();
        let called = if for_use.is_some() { said.attributes() } else { called };
        let things_for = if is_named || is_question {
            Vec::new()
        } else {
            let doing = doing.as_deref().filter(|it| for_use.is_none() && !MERE_USE.contains(it));
            // Of what was done once, the deed alone may not tell.
            doing.map_or_else(Vec::new, |it| things_for(it, is_open, &called))
        };
        let thing = things_for.first().or(for_use.as_ref()).cloned().unwrap_or(called);
        let thing = if thing.is_empty() { said.mention_text() } else { thing };
        let mut around = said.places();
        around.retain(|it| Some(it) != named.kind.as_ref() && !named.is_written(it));
        around.extend(if things_for.is_empty() { said.places_of_deeds() } else { Vec::new() });
        around.retain(|it| !for_use.as_ref().is_some_and(|told| told.contains(it.as_str())));
        let around = places_beside(&thing, &around);
        let without = said.excluded();
        let thing = if is_named { thing } else { or_another(thing, &said.attributes(), &without) };

        let which = WhichOne::of(&said, &named, when, doing.as_deref(), is_question);
        let is_deed = doing.as_deref().is_some_and(|it| !MERE_USE.contains(it));
        let (place, by) = wanted_place::wanted_place(request, which.told, is_deed);
        let by = by.filter(|_| which.told.is_timeless || thing.is_empty() && doing.is_none());
        let (thing, doing) = by.map_or((thing, doing), |it| wanted_place::who_is_there(&it));
        let mut seen = BTreeSet::new();
        let mut also = said.further_things(&thing, is_question);
        also.retain(|it| !it.is_empty() && *it != thing && seen.insert(it.clone()));
        Self {
            or_else: things_for.into_iter().skip(1).chain(said.named_apart()).collect(),
            also,
            thing,
            for_use,
            purpose: purpose.map(|it| it.said),
            around,
            without: without.into_iter().filter(|it| !it.is_empty()).collect(),
            doer: said.doer().filter(|_| doing.is_some()),
            doing: doing.filter(|_| place == WantedPlace::Usual || is_named || !is_open),
            when: which.when,
            order: which.order,
            rank: which.rank,
            count: how_many::how_many(request, tagged),
            intent,
            asked: questions::asked(request, tagged),
            ends_at: ends_at(tagged),
            respelled: Vec::new(),
            renamed: None,
            conditions: Vec::new(),
            place,
            was_there: which.told.is_past || tells_past(request),
            is_unread: false,
            is_other_order: false,
        }
    }
}

/// "The lamp that *was* in the bedroom".
fn tells_past(request: &str) -> bool {
    plain(request).split(' ').any(|it| matches!(it, "was" | "were"))
}

/// The places among what is said to be around a thing, each once.
fn places_beside(thing: &str, around: &[String]) -> Vec<String> {
    let mut beside: Vec<String> = Vec::new();
    for place in around.iter().flat_map(|it| places(it)) {
        if !beside.contains(&place) && place != thing {
            beside.push(place);
        }
    }
    beside
}

/// The thing; "anything but the red mug" is another mug, and "not the red mug, the blue one" a blue one.
fn or_another(thing: String, attributes: &str, without: &[String]) -> String {
    let is_told = !thing.is_empty() && thing == attributes;
    let other = without.iter().find(|it| thing.is_empty() || is_told || **it == thing);
    let named = other.and_then(|other| {
        let head = mentions(&format!("a {other}")).pop()?.head;
        let is_noun = !COLOURS.contains(&head) && !lexicon::is_adjective(&head);
        other.ends_with(head.as_str()).then_some(head).filter(|_| is_noun || !is_told)
    });
    match named {
        Some(head) if is_told => format!("{thing} {head}"),
        Some(head) => head,
        None => thing,
    }
}

/// Of what tells an order or a time, the end counts: "the mug I use the most".
fn ends_at(tagged: &TaggedRequest) -> Option<usize> {
    let is_plain = tagged.order == Superlative::None && tagged.tense == Tense::None;
    let of_first = tagged.spans.iter().take_while(|it| it.role != Role::Also);
    of_first.map(|it| it.at.end).max().filter(|_| is_plain)
}

/// Things for a deed, where a request names nothing but that; else the deed, where it `may_tell` alone.
fn things_for(deed: &str, may_tell: bool, attributes: &str) -> Vec<String> {
    let mut things = uses::things_for_deed(deed);
    if things.is_empty() && may_tell {
        things.push(deed.to_owned());
    }
    let named = |thing: String| match attributes {
        "" => thing,
        attributes => format!("{attributes} {thing}"),
    };
    things.into_iter().map(named).collect()
}

#[cfg(test)]
pub(crate) mod tests;
