//! The words of a request by what the model has told of them: what is named in which role, and what
//! stands around that.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::everyday_deeds;
use crate::language::inscription::inscription;
use crate::language::lexicon;
use crate::language::mention::{Mention, mentions};
use crate::language::person::is_person;
use crate::language::reference::phrase::{self, places, plain};
use crate::language::reference::uses::DescribedByUse;
use crate::language::reference::{Order, questions};
use crate::language::request_tags::{
    Intent, Rank, Role, Superlative, TaggedRequest, TaggedSpan, Tense,
};
use crate::language::sentence::tokens;
use crate::language::time::{self, Found};
use crate::language::words::{
    BEFORE_VERBS, COPULAS, COURTESY, DETERMINERS, ERRANDS, FIRST_ORDINAL, ORDINALS, PREPOSITIONS,
    QUESTION_WORDS,
};

/// A request with all that is known of its words.
pub(super) struct Said<'a> {
    pub(super) request: &'a str,
    pub(super) tagged: &'a TaggedRequest,
    pub(super) times: &'a [Found],
}

impl Said<'_> {
    pub(super) fn spans(&self, role: Role) -> impl Iterator<Item = &Range<usize>> {
        self.tagged.spans.iter().filter(move |it| it.role == role).map(|it| &it.at)
    }

    pub(super) fn text(&self, at: &Range<usize>) -> &str {
        self.request.get(at.clone()).unwrap_or_default()
    }

    /// The things that the model finds in clauses after that of the first one, and no more of its name.
    pub(super) fn named_apart(&self) -> Vec<String> {
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
    pub(super) fn for_use(&self) -> Option<String> {
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
    pub(super) fn inscription(&self) -> Option<String> {
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
    pub(super) fn mention_text(&self) -> String {
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
    pub(super) fn rank(&self) -> Option<usize> {
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
    pub(super) fn kind(&self) -> Option<&Range<usize>> {
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
        // "Before it falls off the shelf, take the mug *there*."
        let is_there = matches!(after.as_slice(), ["there"] | ["there", "and", ..]);
        if !is_there && !after.windows(2).any(is_meant) {
            return None;
        }
        let before = plain(self.request.get(..thing.start)?);
        let before: Vec<&str> = before.split(' ').collect();
        let leads = |it: &str| {
            matches!(it, "to" | "through" | "off") || PREPOSITIONS.has_tag(it, "surface")
        };
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
    pub(super) fn places(&self) -> Vec<String> {
        let times: Vec<String> =
            self.times().into_iter().map(|it| plain(self.text(&it.at))).collect();
        let is_time = |it: &String| times.iter().any(|time| time.contains(it.as_str()));
        let said = self.plainly(Role::Place).into_iter().chain(self.place_meant());
        said.filter(|it| !is_time(it)).collect()
    }

    /// What the thing is not, and is not beside.
    pub(super) fn excluded(&self) -> Vec<String> {
        let said = self.plainly(Role::Not);
        let each = said.iter().flat_map(|it| it.split(" or ")).flat_map(|it| it.split(" nor "));
        each.map(|it| phrase::thing(&[it.to_owned()], &[])).collect()
    }

    /// Which of several is meant, where the model knows `order`.
    pub(super) fn order(&self, order: Option<Order>, is_question: bool) -> Option<Order> {
        let near = self.plainly(Role::Near).into_iter().flat_map(|it| places(&it)).next();
        let is_first = is_question && questions::asks_for_first(self.request);
        let is_longest_ago = order.is_some() && questions::asks_for_longest_ago(self.request);
        near.map(Order::NearestTo)
            .or_else(|| is_longest_ago.then_some(Order::LongestAgo))
            .or(order)
            .or_else(|| is_first.then_some(Order::Earliest))
    }

    /// What is wanted besides `thing`, and what a question compares it with.
    pub(super) fn further_things(&self, thing: &str, is_question: bool) -> Vec<String> {
        let head = mentions(thing).pop().map(|it| it.head).unwrap_or_default();
        let compared = questions::compared_with(self.request).filter(|_| is_question);
        let said = self.plainly(Role::Also).into_iter().chain(compared);
        said.map(|it| whole_name(phrase::thing(&[it], &[]), &head)).collect()
    }

    /// What is said of the thing, beside its name.
    pub(super) fn attributes(&self) -> String {
        phrase::thing(&[], &self.plainly(Role::Attribute))
    }

    /// What is said in a role, in plain words, each once.
    pub(super) fn plainly(&self, role: Role) -> Vec<String> {
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
    ///
    /// Without the occasion that another sentence tells, where a habit is asked for: "the one that is
    /// mostly there. I can't find it today".
    pub(super) fn times(&self) -> Vec<&Found> {
        let is_habit = self.tagged.tense == Tense::Habit
            || matches!(self.tagged.order, Superlative::Most | Superlative::Least);
        let is_aside = |it: &Found| !it.time.is_recurring() && self.is_sentence_apart(&it.at);
        let mut told = self.times_told();
        told.retain(|it| !(is_habit && is_aside(it)));
        told
    }

    /// Whether the sentence at a place tells nothing else.
    fn is_sentence_apart(&self, at: &Range<usize>) -> bool {
        let is_end = |c: char| matches!(c, '.' | '!' | '?');
        let before = self.request.get(..at.start).unwrap_or_default();
        let after = self.request.get(at.end..).unwrap_or_default();
        let from = before.rfind(is_end).unwrap_or(0);
        let to = after.find(is_end).map_or(self.request.len(), |it| at.end + it);
        let mut others = self.tagged.spans.iter().filter(|it| it.role != Role::Time);
        !others.any(|it| it.at.start >= from && it.at.end <= to)
    }

    fn times_told(&self) -> Vec<&Found> {
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
    pub(super) fn deeds(&self, is_named: bool) -> Vec<String> {
        let is_timeless =
            self.tagged.order == Superlative::None && self.tagged.tense == Tense::None;
        let is_purpose = |at: &Range<usize>| {
            let before = self.request.get(..at.start).unwrap_or_default().trim_end();
            is_named && is_timeless && (before.ends_with(" to") || before.ends_with(" about"))
        };
        let told = self.spans(Role::Deed).filter(|at| !is_purpose(at)).map(|at| {
            let said =
                plain(self.text(&(at.start..self.time_within(at, at.end).unwrap_or(at.end))));
            self.light_deed(at).unwrap_or(said)
        });
        told.filter(|it| !it.is_empty()).collect()
    }

    /// "Napping" of "having a nap", of which the model may take the verb alone for the deed.
    fn light_deed(&self, at: &Range<usize>) -> Option<String> {
        let said = plain(self.request.get(at.start..)?);
        let mut words = said.split(' ');
        let verb = words.next()?;
        let noun = words.find(|it| !DETERMINERS.contains(it))?;
        everyday_deeds::own_verb(verb, noun).map(str::to_owned)
    }

    /// Whom the first deed is said of, by a word for a person that stands before it.
    pub(super) fn doer(&self) -> Option<String> {
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
    pub(super) fn places_of_deeds(&self) -> Vec<String> {
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

/// "red mug" of "the blue mug as well as the *red*".
fn whole_name(name: String, head: &str) -> String {
    let is_name = name.is_empty() || !mentions(&format!("a {name}")).is_empty();
    if is_name || head.is_empty() { name } else { format!("{name} {head}") }
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
