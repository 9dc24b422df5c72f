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
mod phrase;
pub mod purpose;
mod put_right;
mod questions;
mod uses;
mod wanted_place;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::language::inscription::inscription;
use crate::language::known_words::is_known_name;
use crate::language::lexicon;
use crate::language::mention::{Mention, mentions};
use crate::language::person::is_person;
use crate::language::reference::phrase::{places, plain};
use crate::language::reference::purpose::Purpose;
use crate::language::reference::uses::DescribedByUse;
use crate::language::reference::wanted_place::Told;
pub use crate::language::reference::wanted_place::WantedPlace;
use crate::language::request_tags::{
    Asked, Count, Intent, Rank, Role, Superlative, TaggedRequest, TaggedSpan, Tense,
};
use crate::language::sentence::tokens;
use crate::language::time::{self, Found, PhraseTime};
use crate::language::verbs;
use crate::language::words::{
    BEFORE_VERBS, COLOURS, COPULAS, COURTESY, DETERMINERS, ERRANDS, FIRST_ORDINAL, HABITUAL,
    MERE_USE, ORDINALS, PARTS_OF_DAY, PREPOSITIONS, QUESTION_WORDS,
};

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
        let apart = with_pairs_apart(request, tagged);
        let separated = with_separate_targets(request, &apart);
        let tagged = separated.as_ref().unwrap_or(&apart);
        let put_right = put_right::by_words_before(request, tagged);
        let purpose = Purpose::of(request, &put_right);
        let without_purpose = purpose.as_ref().map(|it| it.left_out_of(&put_right));
        let tagged = without_purpose.as_ref().unwrap_or(&put_right);
        let said = Said { request, tagged, times };
        let (names, is_usual) = without_habit(said.plainly(Role::Thing));
        let (mut names, part) = without_part_of_day(names);
        // "wait there a sec"
        let is_moment_alone = !names.is_empty() && names.iter().all(|it| time::is_unit(it));
        names.retain(|it| !time::is_unit(it));
        let kind = said.kind().filter(|_| names.is_empty()).map(|at| plain(said.text(at)));
        names.extend(kind.clone());
        let times = said.times().into_iter().map(|it| it.time.clone());
        let when = time::combine(times.chain(part).collect());
        let written = said.inscription();
        let is_written = |it: &String| written.as_ref().is_some_and(|text| text.contains(it));
        let first = names.first().cloned();
        names.retain(|it| Some(it) == first.as_ref() || !is_written(it));
        let thing = phrase::thing(&names, &said.plainly(Role::Attribute));
        let thing = match &written {
            Some(text) if !thing.is_empty() => format!("{thing} marked {text}"),
            Some(_) | None => thing,
        };
        let deeds = said.deeds(!thing.is_empty());
        let doing = verbs::deed(&deeds);
        let is_open =
            tagged.order == Superlative::None && tagged.tense == Tense::None && when.is_empty();
        let is_plain =
            when.is_empty() && doing.is_none() && said.spans(Role::Place).next().is_none();
        let intent = questions::intent(request, tagged, is_plain);
        let is_talk = is_moment_alone && is_plain && intent != Intent::Question;
        let intent = if is_talk { Intent::Chat } else { intent };
        // A question is about what somebody did, and not about something to do it with.
        let is_open = is_open && intent != Intent::Question;
        let for_use = said.for_use().filter(|_| is_open);
        if for_use.is_some() {
            names.clear();
        }
        let thing = match for_use {
            Some(_) => phrase::thing(&names, &said.plainly(Role::Attribute)),
            None => thing,
        };
        let things_for = if names.is_empty() && intent != Intent::Question {
            let doing = doing.as_deref();
            let listed = if is_open { uses::things_for(request) } else { Vec::new() };
            // Of what was done once, the deed alone may not tell.
            let deed = doing.filter(|_| is_open && for_use.is_none());
            things_for(listed, doing, deed, &thing)
        } else {
            Vec::new()
        };
        let thing = things_for.first().or(for_use.as_ref()).cloned().unwrap_or(thing);
        let thing = if thing.is_empty() { said.mention_text() } else { thing };
        let mut around = said.places();
        around.retain(|it| Some(it) != kind.as_ref() && !is_written(it));
        around.extend(if things_for.is_empty() { said.places_of_deeds() } else { Vec::new() });
        let for_use = for_use.filter(|_| things_for.is_empty());
        around.retain(|it| !for_use.as_ref().is_some_and(|told| told.contains(it.as_str())));
        let around = places_beside(&thing, &around);
        let without = said.excluded();
        let thing = if names.is_empty() { or_another(thing, &without) } else { thing };
        let is_past = tagged.tense == Tense::Once || !when.is_empty() || doing.is_some();
        // What is used most is told by a habit, whether the model says so or not.
        let is_often = matches!(tagged.order, Superlative::Most | Superlative::Least);
        let is_usually = tagged.tense == Tense::Habit || tagged.tense == Tense::None && is_often;
        let is_past = is_past && !is_usually;
        let (when, order) = split_times(when, tagged);
        let is_question = intent == Intent::Question;
        let order = said.order(order, is_question);
        let order = order.or_else(|| is_usual.then_some(Order::MostOften));
        let rank = said.rank().unwrap_or(tagged.rank as usize);
        let is_habit = order == Some(Order::MostOften) && rank == 0;
        // "where the mug I use most is": which mug.
        let tells_which = doing.as_deref().is_some_and(|it| MERE_USE.contains(it));
        let is_habit = is_habit && !tells_which && when.iter().all(PhraseTime::is_recurring);
        let is_timeless = order.is_none() && tagged.tense == Tense::None && when.is_empty();
        let told = Told { is_past, is_habit, is_timeless };
        let (place, by) = wanted_place::wanted_place(request, told);
        let by = by.filter(|_| is_timeless || thing.is_empty() && doing.is_none());
        let (thing, doing) = by.map_or((thing, doing), |it| wanted_place::who_is_there(&it));
        let also = said.further_things(&thing, is_question).into_iter();
        let mut seen = BTreeSet::new();
        let also = also.filter(|it| !it.is_empty() && *it != thing && seen.insert(it.clone()));
        Self {
            or_else: things_for.into_iter().skip(1).chain(said.named_apart()).collect(),
            also: also.collect(),
            thing,
            for_use,
            purpose: purpose.map(|it| it.said),
            around,
            without: without.into_iter().filter(|it| !it.is_empty()).collect(),
            doer: said.doer().filter(|_| doing.is_some()),
            doing: doing.filter(|_| place == WantedPlace::Usual || !(names.is_empty() && is_open)),
            when,
            order,
            rank,
            count: how_many::how_many(request, tagged),
            intent,
            asked: questions::asked(request, tagged),
            ends_at: ends_at(tagged),
            respelled: Vec::new(),
            renamed: None,
            conditions: Vec::new(),
            place,
            is_unread: false,
            is_other_order: false,
        }
    }
}

/// A request with all that is known of its words.
struct Said<'a> {
    request: &'a str,
    tagged: &'a TaggedRequest,
    times: &'a [Found],
}

impl Said<'_> {
    fn spans(&self, role: Role) -> impl Iterator<Item = &Range<usize>> {
        self.tagged.spans.iter().filter(move |it| it.role == role).map(|it| &it.at)
    }

    fn text(&self, at: &Range<usize>) -> &str {
        self.request.get(at.clone()).unwrap_or_default()
    }

    /// The things that the model finds in clauses after that of the first one, and no more of its name.
    fn named_apart(&self) -> Vec<String> {
        let mut things = self.spans(Role::Thing);
        let Some(first) = things.next() else { return Vec::new() };
        let is_apart = |at: &&Range<usize>| {
            let between = self.request.get(first.end..at.start).unwrap_or_default();
            between.contains([',', '.', '!', '?', ';'])
        };
        let name = |at: &Range<usize>| phrase::thing(&[plain(self.text(at))], &[]);
        let noun = |name: &str| name.rsplit(' ').next().map(lexicon::singular);
        let first_name = name(first);
        let apart = things.filter(is_apart).map(name);
        apart.filter(|it| !it.is_empty() && noun(it) != noun(&first_name)).collect()
    }

    /// The thing by its use, where none is named but in that, or "it" in that stands for what is:
    /// "the casserole is hot, something to hold it with".
    fn for_use(&self) -> Option<String> {
        let found = DescribedByUse::of(self.request)?;
        let is_apart = |it: &&Range<usize>| it.end <= found.at.start || it.start >= found.at.end;
        let mut apart = self.spans(Role::Thing).filter(is_apart);
        match (apart.next(), apart.next()) {
            (None, _) => {
                let before = mentions(self.request.get(..found.at.start)?);
                let name = before.into_iter().find(|it| !is_person(it)).map(|it| it.phrase);
                Some(name.and_then(|it| found.of_name(&it)).unwrap_or(found.description))
            }
            (Some(name), None) => found.of_name(&phrase::thing(&[plain(self.text(name))], &[])),
            (Some(_), Some(_)) => None,
        }
    }

    /// What is written on the thing: "fragile" of "the box marked fragile, please".
    fn inscription(&self) -> Option<String> {
        let thing = self.spans(Role::Thing).next()?;
        let name = tokens(self.text(thing)).len();
        let lower = self.request.get(thing.start..)?.to_lowercase();
        let words = tokens(&lower);
        let written = words.get(inscription(&words, name)?)?;
        let courtesy = written.iter().rev().take_while(|it| COURTESY.contains(it)).count();
        // "the note that says thank you"
        let end = if courtesy < written.len() { written.len() - courtesy } else { written.len() };
        Some(written.get(..end)?.join(" "))
    }

    /// What is named first among the words that the model says nothing of, where it knows
    /// no name in the whole request; mostly there is none: "what I left".
    fn mention_text(&self) -> String {
        let mut unmarked: Vec<&str> = Vec::new();
        let mut from = 0;
        for span in &self.tagged.spans {
            unmarked.push(self.text(&(from..span.at.start.max(from))));
            from = span.at.end.max(from);
        }
        unmarked.push(self.request.get(from..).unwrap_or_default());
        let has_place = self.spans(Role::Place).next().is_some();
        let names = unmarked.into_iter().enumerate().flat_map(|(at, text)| {
            let words = plain(text);
            // "a ball", "my keys": what stands without an article may be anything, but for what
            // is named before its place: "knapsack next to the book".
            let is_determined = move |it: &String| {
                let before = words.find(it.as_str()).and_then(|at| words.get(..at));
                let last = before.map(|it| it.split_whitespace().next_back());
                last.is_some_and(|it| {
                    it.map_or(at == 0 && has_place, |it| DETERMINERS.contains(it))
                })
            };
            // "come to the garage", "whats on the cake"
            let is_name = |it: &Mention| {
                let said = &it.phrase;
                !is_person(it)
                    && !ERRANDS.contains(said)
                    && !QUESTION_WORDS.contains(said)
                    && !time::is_unit(said)
            };
            let names = mentions(text).into_iter().filter(is_name);
            names.map(|it| it.phrase).filter(is_determined)
        });
        let mut names = names.map(|it| phrase::thing(&[it], &[]));
        names.find(|it| !places(it).is_empty()).unwrap_or_default()
    }

    /// The how manieth, from 0, where a word says one that the model has no answer for:
    /// "the *fifth* most used mug".
    fn rank(&self) -> Option<usize> {
        let is_order = self.tagged.order != Superlative::None || self.tagged.rank != Rank::First;
        let apart = [Role::Place, Role::Near, Role::Time, Role::Not, Role::Also];
        let is_apart =
            |at: usize| apart.iter().any(|role| self.spans(*role).any(|it| it.contains(&at)));
        let words = self.request.split_whitespace();
        let placed = words.map(|it| (it.as_ptr() as usize - self.request.as_ptr() as usize, it));
        let mut ranks =
            placed.filter(|(at, _)| is_order && !is_apart(*at)).filter_map(|(_, it)| {
                let said = plain(it);
                ORDINALS
                    .words()
                    .position(|it| it == said || ORDINALS.value(it) == Some(said.as_str()))
            });
        ranks.next().map(|at| at + FIRST_ORDINAL)
    }

    /// "mugs" of "the red one of our mugs", which is as if they were a place.
    fn kind(&self) -> Option<&Range<usize>> {
        let is_kind = |at: &&Range<usize>| {
            let before = plain(self.request.get(..at.start).unwrap_or_default());
            let words: Vec<&str> = before.split(' ').collect();
            let leads = words.iter().rev().find(|it| !DETERMINERS.contains(it));
            matches!(leads, Some(&("of" | "among" | "amongst")))
        };
        self.spans(Role::Attribute).next()?;
        self.spans(Role::Place).find(is_kind)
    }

    /// "hall" of "go to the hall and bring me the mug that is in it", where the model knows no
    /// place.
    fn place_meant(&self) -> Option<String> {
        let is_told = self.spans(Role::Place).chain(self.spans(Role::Near)).next().is_some();
        let thing = self.spans(Role::Thing).last().filter(|_| !is_told)?;
        let after = plain(self.request.get(thing.end..)?);
        let after: Vec<&str> = after.split(' ').collect();
        let is_meant = |pair: &[&str]| match pair {
            [before, "it"] => PREPOSITIONS.has_tag(before, "surface"),
            [before, "there"] => PREPOSITIONS.has_tag(before, "surface") || is_copula(before),
            _ => false,
        };
        after.windows(2).find(|pair| is_meant(pair))?;
        let before = plain(self.request.get(..thing.start)?);
        let before: Vec<&str> = before.split(' ').collect();
        let leads =
            |it: &str| matches!(it, "to" | "through") || PREPOSITIONS.has_tag(it, "surface");
        let is_place = |at: &usize| {
            let next = before.get(at + 1).copied().unwrap_or_default();
            before.get(*at).is_some_and(|it| leads(it)) && DETERMINERS.contains(next)
        };
        let named = |at: usize| {
            let said = mentions(&before.get(at + 1..)?.join(" ")).into_iter().next()?.phrase;
            let is_time = |it: &Found| plain(self.text(&it.at)).contains(&said);
            (!self.times.iter().any(is_time)).then_some(said)
        };
        (0..before.len()).rev().filter(is_place).find_map(named)
    }

    /// What is said to be around the thing, without what is a time.
    fn places(&self) -> Vec<String> {
        let times: Vec<String> =
            self.times().into_iter().map(|it| plain(self.text(&it.at))).collect();
        let is_time = |it: &String| times.iter().any(|time| time.contains(it.as_str()));
        let said = self.plainly(Role::Place).into_iter().chain(self.place_meant());
        said.filter(|it| !is_time(it)).collect()
    }

    /// What the thing is not, and is not beside.
    fn excluded(&self) -> Vec<String> {
        let said = self.plainly(Role::Not);
        let each = said.iter().flat_map(|it| it.split(" or ")).flat_map(|it| it.split(" nor "));
        each.map(|it| phrase::thing(&[it.to_owned()], &[])).collect()
    }

    /// Which of several is meant, where the model knows `order`.
    fn order(&self, order: Option<Order>, is_question: bool) -> Option<Order> {
        let near = self.plainly(Role::Near).into_iter().flat_map(|it| places(&it)).next();
        let is_first = is_question && questions::asks_for_first(self.request);
        let is_longest_ago = order.is_some() && questions::asks_for_longest_ago(self.request);
        near.map(Order::NearestTo)
            .or_else(|| is_longest_ago.then_some(Order::LongestAgo))
            .or(order)
            .or_else(|| is_first.then_some(Order::Earliest))
    }

    /// What is wanted besides `thing`, and what a question compares it with.
    fn further_things(&self, thing: &str, is_question: bool) -> Vec<String> {
        let head = mentions(thing).pop().map(|it| it.head).unwrap_or_default();
        let compared = questions::compared_with(self.request).filter(|_| is_question);
        let said = self.plainly(Role::Also).into_iter().chain(compared);
        said.map(|it| whole_name(phrase::thing(&[it], &[]), &head)).collect()
    }

    /// What is said in a role, in plain words, each once.
    fn plainly(&self, role: Role) -> Vec<String> {
        let mut plainly: Vec<String> = Vec::new();
        for said in self.spans(role).map(|at| plain(self.text(at))) {
            if !said.is_empty() && !plainly.contains(&said) {
                plainly.push(said);
            }
        }
        plainly
    }

    /// Those times that the model too takes for some that tell of the thing, and not for
    /// part of a name or an aside: "alarm clock", "we have all afternoon". Where it knows
    /// that there is a time, or a habit, and not where, all that are part of no name.
    fn times(&self) -> Vec<&Found> {
        let meets = |role, at: &Range<usize>| {
            self.spans(role).any(|it| it.start < at.end && at.start < it.end)
        };
        // "Thanksgiving" taken for a place is a time.
        let is_mistaken = |at: &Range<usize>| {
            self.spans(Role::Place).any(|it| it.start >= at.start && it.end <= at.end)
        };
        let tells = |it: &&Found| {
            meets(Role::Time, &it.at) || meets(Role::Deed, &it.at) || is_mistaken(&it.at)
        };
        let told: Vec<&Found> = self.times.iter().filter(tells).collect();
        let is_timed = self.tagged.tense != Tense::None
            || self.tagged.order != Superlative::None
            || self.tagged.intent == Intent::Question;
        if !told.is_empty() || !is_timed {
            return told;
        }
        let is_apart = |it: &&Found| {
            let named = [Role::Thing, Role::Attribute, Role::Place, Role::Near, Role::Not];
            !named.into_iter().any(|role| meets(role, &it.at))
        };
        self.times.iter().filter(is_apart).collect()
    }

    /// What is said of deeds, without their times. Of a thing that is named, "the pan to
    /// cook with" tells only what it is for, and "the book about cooking" what it says.
    fn deeds(&self, is_named: bool) -> Vec<String> {
        let is_timeless =
            self.tagged.order == Superlative::None && self.tagged.tense == Tense::None;
        let is_purpose = |at: &Range<usize>| {
            let before = self.request.get(..at.start).unwrap_or_default().trim_end();
            is_named && is_timeless && (before.ends_with(" to") || before.ends_with(" about"))
        };
        let told = self.spans(Role::Deed).filter(|at| !is_purpose(at)).map(|at| {
            plain(self.text(&(at.start..self.time_within(at, at.end).unwrap_or(at.end))))
        });
        told.filter(|it| !it.is_empty()).collect()
    }

    /// Whom the first deed is said of, by a word for a person that stands before it.
    fn doer(&self) -> Option<String> {
        let before = self.request.get(..self.spans(Role::Deed).next()?.start).unwrap_or_default();
        let before = plain(before);
        let mut words = before.rsplit(' ').skip_while(|it| BEFORE_VERBS.contains(it));
        let word = words.next()?;
        let is_doer = mentions(&format!("a {word}")).first().is_some_and(is_person);
        (is_doer && word != "user").then(|| word.to_owned())
    }

    fn has_time(&self, at: &Range<usize>) -> bool {
        self.times.iter().any(|it| it.at.start < at.end && at.start < it.at.end)
    }

    /// Where the first time begins that begins after `at` does, and before `end`.
    fn time_within(&self, at: &Range<usize>, end: usize) -> Option<usize> {
        let starts = self.times.iter().map(|it| it.at.start);
        starts.filter(|it| *it > at.start && *it < end).min()
    }

    /// "bed" of "reading in bed", whether the model takes it for a part of the deed or
    /// passes it over.
    fn places_of_deeds(&self) -> Vec<String> {
        let place = |at: &Range<usize>| {
            // What is taken for a time and is none may be the place.
            let is_time = |it: &TaggedSpan| it.role != Role::Time || self.has_time(&it.at);
            let next = self.tagged.spans.iter().filter(|it| it.at.start >= at.end && is_time(it));
            let end = next.map(|it| it.at.start).min().unwrap_or(self.request.len());
            let end = self.time_within(at, end).unwrap_or(end);
            let said = self.text(&(at.start..end));
            let clause = said.split([',', '.', ';', '!', '?']).next().unwrap_or_default();
            place_in(&plain(clause))
        };
        self.spans(Role::Deed).filter_map(place).collect()
    }
}

/// "is" of "the mug that is there", also as "that's".
fn is_copula(word: &str) -> bool {
    COPULAS.contains(word) || word.ends_with("'s")
}

/// The tags with "books" of "mugs and books" as a further target, where the model takes both for one
/// name; a black and white mug is one, and so is a salt and pepper shaker.
fn with_pairs_apart(request: &str, tagged: &TaggedRequest) -> TaggedRequest {
    const AND: &str = " and ";
    let mut apart = tagged.clone();
    apart.spans.clear();
    for span in &tagged.spans {
        let said = request.get(span.at.clone()).unwrap_or_default();
        let pair = said.split_once(AND).filter(|_| span.role == Role::Thing);
        match pair.filter(|(one, other)| are_two_names(one, other)) {
            Some((one, _)) => {
                let middle = span.at.start + one.len();
                apart.spans.push(TaggedSpan { role: Role::Thing, at: span.at.start..middle });
                let at = middle + AND.len()..span.at.end;
                apart.spans.push(TaggedSpan { role: Role::Also, at });
            }
            None => apart.spans.push(span.clone()),
        }
    }
    apart
}

/// Whether words before and after "and" each name things of their own.
fn are_two_names(one: &str, other: &str) -> bool {
    let last = |said: &str| plain(said).rsplit(' ').next().unwrap_or_default().to_owned();
    let is_several = |word: &str| lexicon::singular(word) != word;
    let is_name = |word: &str| {
        let one = lexicon::singular(word);
        lexicon::is_name(&one) && !lexicon::is_adjective(&one) && !COLOURS.contains(&one)
    };
    let (first, second) = (last(one), last(other));
    let are_alike = is_several(&first) == is_several(&second);
    let is_told = is_several(&first) || !plain(other).contains(' ');
    is_name(&first) && is_name(&second) && are_alike && is_told
}

/// The tags with "red one" of "the blue mug and the red one" as a further target: what
/// follows "and" with an article of its own is not said of the first. `None` where there is
/// no such thing.
fn with_separate_targets(request: &str, tagged: &TaggedRequest) -> Option<TaggedRequest> {
    let first = tagged.spans.iter().position(|it| it.role == Role::Thing)?;
    let is_separate = |it: &TaggedSpan| {
        let before = plain(request.get(..it.at.start).unwrap_or_default());
        let named = plain(request.get(it.at.clone()).unwrap_or_default());
        let words = before.split(' ').chain(named.split(' ').take(1));
        let mut words: Vec<&str> = words.collect();
        if !DETERMINERS.contains(words.last().unwrap_or(&"")) {
            words.pop();
        }
        let has_article = words.pop().is_some_and(|it| DETERMINERS.contains(it));
        has_article && words.last().is_some_and(|it| matches!(*it, "and" | "then" | "plus"))
    };
    let mut separated = tagged.clone();
    for span in separated.spans.iter_mut().skip(first + 1) {
        if matches!(span.role, Role::Thing | Role::Attribute) && is_separate(span) {
            span.role = Role::Also;
        }
    }
    (separated != *tagged).then_some(separated)
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

/// The thing; "anything but the red mug" is another mug.
fn or_another(thing: String, without: &[String]) -> String {
    let other = without.iter().find(|it| thing.is_empty() || **it == thing);
    let named = other.and_then(|other| {
        let head = mentions(&format!("a {other}")).pop()?.head;
        other.ends_with(head.as_str()).then_some(head)
    });
    named.unwrap_or(thing)
}

/// "red mug" of "the blue mug as well as the *red*".
fn whole_name(name: String, head: &str) -> String {
    let is_name = name.is_empty() || !mentions(&format!("a {name}")).is_empty();
    if is_name || head.is_empty() { name } else { format!("{name} {head}") }
}

/// Of what tells an order or a time, the end counts: "the mug I use the most".
fn ends_at(tagged: &TaggedRequest) -> Option<usize> {
    let is_plain = tagged.order == Superlative::None && tagged.tense == Tense::None;
    let of_first = tagged.spans.iter().take_while(|it| it.role != Role::Also);
    of_first.map(|it| it.at.end).max().filter(|_| is_plain)
}

/// What to do it with, where a request names nothing but the deed: "something to read", of which
/// `listed` are things for a use in its words; else what is done.
fn things_for(
    listed: Vec<String>,
    doing: Option<&str>,
    else_deed: Option<&str>,
    attributes: &str,
) -> Vec<String> {
    let is_telling = |it: &&str| !MERE_USE.contains(it);
    let mut things = listed;
    if things.is_empty() {
        things = uses::things_for_deed(doing.filter(is_telling));
    }
    if things.is_empty() {
        things.extend(else_deed.filter(is_telling).map(str::to_owned));
    }
    let named = |thing: String| match attributes {
        "" => thing,
        attributes => format!("{attributes} {thing}"),
    };
    things.into_iter().map(named).collect()
}

/// "desk" of "drinking from at my desk". Without an article only a bed is a place, as
/// "reading at length" shows.
fn place_in(deed: &str) -> Option<String> {
    let words: Vec<&str> = deed.split(' ').collect();
    let leads = |it: &str| matches!(it, "in" | "on" | "at" | "by" | "beside" | "near" | "behind");
    let is_place = |at: &usize| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        words.get(*at).is_some_and(|it| leads(it)) && (DETERMINERS.contains(next) || next == "bed")
    };
    let at = (0..words.len()).find(is_place)?;
    let said = words.get(at + 1..)?.join(" ");
    mentions(&said).into_iter().next().map(|it| it.phrase)
}

/// "my everyday mug" is the one used most often; whether there is such a word.
fn without_habit(mut names: Vec<String>) -> (Vec<String>, bool) {
    let mut is_usual = false;
    for name in &mut names {
        let words: Vec<&str> = name.split(' ').filter(|it| !HABITUAL.contains(it)).collect();
        if !words.is_empty() && words.join(" ") != *name {
            is_usual = true;
            *name = words.join(" ");
        }
    }
    (names, is_usual)
}

/// "my morning mug": a habit, said as if it were a kind. A lunch box is called so.
fn without_part_of_day(mut names: Vec<String>) -> (Vec<String>, Option<PhraseTime>) {
    for name in &mut names {
        let mut words: Vec<&str> = name.split(' ').collect();
        let (_head, before) = words.split_last().unwrap_or((&"", &[]));
        let part = before.iter().enumerate().find_map(|(at, word)| {
            let meant = PARTS_OF_DAY.value(word)?;
            let whole = words.get(at..)?.join(" ");
            if is_known_name(&whole) {
                return None;
            }
            Some((at, time::find(meant).pop()?))
        });
        if let Some((at, found)) = part {
            words.remove(at);
            *name = words.join(" ");
            return (names, Some(found.time.habitual()));
        }
    }
    (names, None)
}

/// The times as occasions or as habits, and the order that is asked for with them.
fn split_times(when: Vec<PhraseTime>, tagged: &TaggedRequest) -> (Vec<PhraseTime>, Option<Order>) {
    let order = match tagged.order {
        Superlative::None => None,
        Superlative::Most => Some(Order::MostOften),
        Superlative::Least => Some(Order::LeastOften),
        Superlative::Latest => Some(Order::Latest),
        Superlative::Earliest => Some(Order::Earliest),
    };
    let is_once =
        tagged.tense == Tense::Once && !matches!(order, Some(Order::MostOften | Order::LeastOften));
    let when: Vec<PhraseTime> =
        when.into_iter().map(|it| if is_once { it.once() } else { it.habitual() }).collect();
    let recurs = when.iter().all(PhraseTime::is_recurring);
    let is_habit = recurs && (!when.is_empty() || tagged.tense == Tense::Habit);
    let order = order.or_else(|| is_habit.then_some(Order::MostOften));
    (when, order)
}

#[cfg(test)]
pub(crate) mod tests;
