//! Reads a request clause by clause: which noun phrase is looked for, which ones
//! stand around it, who did what with it.
//!
//! Pure.

use crate::index::mention::{AttributeKind, mentions};
use crate::memory::episodic::reference::tokens::Token;
use crate::memory::episodic::reference::verb::activity;
use crate::memory::episodic::reference::words::{
    ACTIVITIES, AFFORDANCES, AUXILIARIES, CLAUSES, COLLECTIVES, DEFINITE, FILLERS, GENERIC, HABITS,
    INDEFINITE, NEIGHBOURING, NO_THINGS, NOWHERE, OBJECTS, OWN_PARTS, PARTICLES, PASTS, PERCEIVING,
    PERSONS, PLACE_PARTS, PLACE_PREPOSITIONS, PLACING, REQUESTS, TO_PLACE, WANTING,
};

/// What leads to the next noun phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    None,
    /// "on", "next to": what follows is around.
    Place,
    /// "looking for": what follows is looked for.
    Sought,
    /// "to the kitchen", "for the guests", "drink my coffee": says nothing of the thing.
    Aside,
    /// "that has a lamp next to it".
    Has,
    /// "with a red cover".
    Own,
}

/// What a request says, clause by clause.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) thing: String,
    pub(super) around: Vec<String>,
    pub(super) without: Vec<String>,
    pub(super) doing: Option<String>,
    pub(super) nearest: Option<String>,
    pub(super) individual: bool,
    /// It tells of an occasion in the past.
    pub(super) is_past: bool,
    /// It tells what is so as a rule.
    pub(super) is_habit: bool,
}

/// The state between two words.
#[expect(clippy::struct_excessive_bools, reason = "what was met so far, each on its own")]
struct Scan<'a> {
    tokens: &'a [Token],
    /// Noun phrases that are not what is looked for.
    passed: &'a [String],
    said: Reading,
    /// Words of the noun phrase so far.
    phrase: Vec<&'a str>,
    /// Of that phrase; `None` where it has no article.
    definite: Option<bool>,
    lead: Lead,
    /// A verb may follow: somebody was named, or "that", or an auxiliary.
    verb_may_follow: bool,
    /// Somebody was named in this clause.
    has_person: bool,
    /// Who is named is "you", the one who is asked: what it does is no clue.
    is_asked: bool,
    /// "not", "other than".
    negated: bool,
    is_nearest: bool,
    /// The thing was named, if only as "the one".
    has_thing: bool,
    /// The thing is "something to read": named by what it is for.
    is_generic: bool,
    /// "to" stands before the verb.
    is_infinitive: bool,
    /// Attributes said of "the one".
    attributes: Vec<String>,
}

impl Reading {
    /// Reads a whole request. What is said before the sentence that asks, and has nothing
    /// to do with it, is passed over: "My hands are full. Bring me the mug."
    pub(super) fn of(tokens: &[Token], passed: &[String]) -> Self {
        let sentences: Vec<&[Token]> = tokens.split_inclusive(Token::is_stop).collect();
        let readings: Vec<Self> =
            sentences.iter().map(|it| Self::of_sentences(it, passed)).collect();
        let names = |word: &str| DEFINITE.contains(&word) || INDEFINITE.contains(&word);
        let asks = |(sentence, reading): (&&[Token], &Self)| {
            !reading.thing.is_empty()
                && sentence.iter().any(|it| REQUESTS.contains(&it.word.as_str()))
                && sentence.iter().any(|it| names(&it.word))
                && !sentence.iter().any(|it| it.word == "there")
        };
        let asking = sentences.iter().zip(&readings).position(asks).unwrap_or(0);
        let named = readings.get(asking).map(|it| it.thing.as_str()).unwrap_or_default();
        let named = named.rsplit(' ').next().unwrap_or_default();
        let is_aside = |sentence: &&[Token]| !sentence.iter().any(|it| it.word == named);
        let (before, rest) = sentences.split_at(asking);
        if !before.is_empty() && before.iter().all(is_aside) {
            return Self::of_sentences(&rest.concat(), passed);
        }
        Self::of_sentences(tokens, passed)
    }

    fn of_sentences(tokens: &[Token], passed: &[String]) -> Self {
        let mut scan = Scan {
            tokens,
            passed,
            said: Self::default(),
            phrase: Vec::new(),
            definite: None,
            lead: Lead::None,
            verb_may_follow: false,
            has_person: false,
            is_asked: false,
            negated: false,
            is_nearest: false,
            has_thing: false,
            is_generic: false,
            is_infinitive: false,
            attributes: Vec::new(),
        };
        let mut at = 0;
        while at < tokens.len() {
            at = scan.step(at).max(at + 1);
        }
        scan.close();
        scan.finish()
    }
}

impl<'a> Scan<'a> {
    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |it| it.word.as_str())
    }

    /// Takes one word, or an expression, and gives the place of the next one.
    fn step(&mut self, at: usize) -> usize {
        let Some(token) = self.tokens.get(at) else { return at + 1 };
        if token.is_break() {
            self.close();
            self.lead = Lead::None;
            (self.verb_may_follow, self.negated, self.is_infinitive) = (false, false, false);
            if token.is_stop() {
                self.has_person = false;
            }
            return at + 1;
        }
        let word = token.word.as_str();
        if PASTS.contains(&word) && !(word == "had" && self.word(at + 1) == "like") {
            self.said.is_past |= self.is_verb_here(at) || matches!(word, "was" | "were" | "did");
        }
        if HABITS.contains(&word)
            && (self.verb_may_follow
                || matches!(
                    self.word(at.wrapping_sub(1)),
                    "usually" | "that" | "which" | "i" | "we"
                ))
        {
            self.said.is_habit = true;
        }
        if token.is_owner() || token.is_name() && self.phrase.is_empty() && !self.is_inside(at) {
            // "Anna's mug", "that Anna reads"
            self.has_person |= token.is_name();
            self.verb_may_follow = !token.is_owner();
            self.definite = Some(true);
            return at + 1;
        }
        if let Some(next) = self.opening(at) {
            return next;
        }
        if let Some(next) = self.negation(at) {
            return next;
        }
        if let Some(next) = self.superlative(at) {
            return next;
        }
        if let Some(next) = self.article(at) {
            return next;
        }
        if PERSONS.contains(&word) {
            self.close();
            (self.verb_may_follow, self.has_person) = (true, true);
            let asks = matches!(self.word(at.wrapping_sub(1)), "could" | "can" | "may" | "might");
            self.is_asked = !self.has_thing && (word == "you" || word == "i" && asks);
            self.lead = Lead::None;
            self.definite = None;
            return at + 1;
        }
        if let Some(next) = self.preposition(at) {
            return next;
        }
        if self.is_part_of_name(at) {
            self.phrase.push(word);
            return at + 1;
        }
        if let Some(next) = self.verb(at) {
            return next;
        }
        if word == "what" && matches!(self.word(at + 1), "became" | "become") {
            return at + 2;
        }
        if CLAUSES.contains(&word) {
            self.close();
            self.lead = Lead::None;
            self.verb_may_follow = matches!(
                word,
                "that" | "which" | "who" | "while" | "when" | "and" | "whilst" | "what"
            );
            self.definite = (matches!(word, "which" | "what") && !self.has_thing).then_some(true);
            let next = self.word(at + 1);
            if word == "what"
                && !self.has_thing
                && (PERSONS.contains(&next) && !WANTING.contains(&self.word(at + 2))
                    || AUXILIARIES.contains(&next))
            {
                // "what I left on the sofa"
                (self.has_thing, self.is_generic, self.said.individual) = (true, true, true);
                self.definite = None;
            }
            return at + 1;
        }
        if OBJECTS.contains(&word) {
            self.close();
            self.lead = Lead::None;
            // "you saw me reading"
            if PERCEIVING.contains(&self.word(at.wrapping_sub(1)))
                && self.word(at + 1).ends_with("ing")
            {
                (self.verb_may_follow, self.has_person) = (true, true);
                (self.definite, self.is_asked) = (None, false);
            }
            return at + 1;
        }
        if word == "namely" {
            self.close();
            self.lead = Lead::Sought;
            return at + 1;
        }
        if FILLERS.contains(&word) {
            // "the one on the left"
            return at + 1;
        }
        self.phrase.push(word);
        at + 1
    }

    /// "kindly bring", "fetch over the", "hook me up with": a sentence that begins with a
    /// word without article begins with what is to be done, where a noun phrase or a
    /// particle follows.
    fn opening(&self, at: usize) -> Option<usize> {
        if self.has_thing || !self.phrase.is_empty() || self.definite.is_some() {
            return None;
        }
        let (word, next) = (self.word(at), self.word(at + 1));
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        if PARTICLES.contains(&word) {
            // "bring over the mug", not "over the sink there is a mug"
            return before.filter(|it| !it.is_break()).map(|_| at + 1);
        }
        let begins = before.is_none_or(|it| it.is_break() || it.word == "please");
        if !begins || PERSONS.contains(&word) || Self::is_closed(word) && next != "about" {
            return None;
        }
        // "how about bringing me"
        if matches!((word, next), ("how" | "what", "about")) {
            return Some(at + 2);
        }
        // "pop and get me"
        let is_two = next == "and" && REQUESTS.contains(&self.word(at + 2));
        let is_manner = word.ends_with("ly") && REQUESTS.contains(&next) || is_two;
        let is_deed = DEFINITE.contains(&next)
            || INDEFINITE.contains(&next)
            || OBJECTS.contains(&next)
            || PARTICLES.contains(&next);
        let is_other = PLACE_PREPOSITIONS.contains(&word)
            || DEFINITE.contains(&word)
            || INDEFINITE.contains(&word)
            || CLAUSES.contains(&word)
            || PASTS.contains(&word)
            || AUXILIARIES.contains(&word)
            || REQUESTS.contains(&word);
        (is_manner || is_deed && !is_other).then_some(at + 1)
    }

    /// "not on the desk", "other than the red one", "except the blue mug".
    fn negation(&mut self, at: usize) -> Option<usize> {
        let next = match (self.word(at), self.word(at + 1)) {
            ("other" | "rather", "than")
            | ("instead" | "except" | "apart" | "aside", "of" | "for" | "from") => at + 2,
            // "I can not find"
            ("not" | "without" | "nor", _) if !self.has_thing => return Some(at + 1),
            ("not" | "except" | "excluding" | "without" | "nor", _) => at + 1,
            _ => return None,
        };
        self.close();
        self.negated = true;
        self.lead = if self.has_thing { Lead::Place } else { Lead::None };
        Some(next)
    }

    /// "nearest to the sofa", "closest the window"; "the nearest mug" is any.
    fn superlative(&mut self, at: usize) -> Option<usize> {
        if !matches!(self.word(at), "nearest" | "closest") {
            return None;
        }
        let next = if self.word(at + 1) == "to" { at + 2 } else { at + 1 };
        if self.has_thing || !self.phrase.is_empty() {
            self.close();
            self.is_nearest = true;
            self.lead = Lead::Place;
        }
        Some(next)
    }

    fn article(&mut self, at: usize) -> Option<usize> {
        let word = self.word(at);
        // "that black shoe", but "the shoe that was"
        let follows = self.tokens.get(at + 1).is_some_and(|it| {
            let it = it.word.as_str();
            !it.is_empty()
                && !AUXILIARIES.contains(&it)
                && !PERSONS.contains(&it)
                && !DEFINITE.contains(&it)
                && !PLACE_PREPOSITIONS.contains(&it)
                && !INDEFINITE.contains(&it)
                && !FILLERS.contains(&it)
        });
        let is_given = OBJECTS.contains(&self.word(at.wrapping_sub(1)));
        let may_name = !self.has_thing || is_given;
        let is_that = word == "that" && self.phrase.is_empty() && may_name && follows;
        let is_her = word == "her" && follows && !REQUESTS.contains(&self.word(at.wrapping_sub(1)));
        if !(DEFINITE.contains(&word) || INDEFINITE.contains(&word) || is_that || is_her) {
            return None;
        }
        // "one of my mugs" is any of them.
        let of_some = self.word(at.wrapping_sub(1)) == "of" && self.definite == Some(false);
        self.close();
        self.definite = Some(!INDEFINITE.contains(&word) && !of_some);
        Some(at + 1)
    }

    fn preposition(&mut self, at: usize) -> Option<usize> {
        let word = self.word(at);
        match word {
            "of" => {
                let last = self.phrase.last().copied().unwrap_or_default();
                if COLLECTIVES.contains(&last)
                    || PLACE_PARTS.contains(&last)
                    || self.phrase.is_empty()
                {
                    if COLLECTIVES.contains(&last)
                        && matches!(last, "one" | "any" | "some" | "either" | "each")
                    {
                        self.definite = Some(false);
                    }
                    // "the red one of the mugs"
                    let said = self.phrase.len().saturating_sub(1);
                    if matches!(last, "one" | "ones") && said > 0 {
                        let said = self.phrase.iter().take(said).map(|it| (*it).to_owned());
                        self.attributes.extend(said);
                        self.definite = Some(true);
                    }
                    self.phrase.clear();
                } else {
                    // "a cup of tea"
                    self.close();
                    self.lead = Lead::Aside;
                }
                Some(at + 1)
            }
            "to" => {
                let is_place = TO_PLACE.contains(&self.word(at.wrapping_sub(1)));
                // "something to drink from", "tell me to"
                let verb = self.word(at + 1);
                if !is_place
                    && activity(verb).is_some()
                    && !PERSONS.contains(&verb)
                    && !DEFINITE.contains(&verb)
                    && !INDEFINITE.contains(&verb)
                    && !OBJECTS.contains(&verb)
                {
                    self.close();
                    (self.verb_may_follow, self.is_infinitive) = (true, true);
                    return Some(at + 1);
                }
                self.close();
                self.lead = if is_place { Lead::Place } else { Lead::Aside };
                Some(at + 1)
            }
            "for" => {
                self.close();
                let sought = matches!(
                    self.word(at.wrapping_sub(1)),
                    "looking"
                        | "look"
                        | "search"
                        | "searching"
                        | "go"
                        | "hunting"
                        | "ask"
                        | "asking"
                        | "hunt"
                );
                let is_verb = self.word(at + 1).ends_with("ing")
                    && ACTIVITIES.contains(&self.word(at + 1))
                    || self.word(at + 1).ends_with("ing") && self.has_thing;
                // "could I trouble you for a kettle"
                let before = self.word(at.wrapping_sub(1));
                let is_asked =
                    !self.has_thing && (PERSONS.contains(&before) || OBJECTS.contains(&before));
                self.lead = if sought || is_asked { Lead::Sought } else { Lead::Aside };
                self.verb_may_follow = is_verb && !sought;
                self.is_infinitive |= is_verb && !sought && self.is_generic;
                Some(at + 1)
            }
            "left" | "right" => {
                // "to the left of the lamp"
                (self.word(at + 1) == "of" || self.word(at + 1) == "side").then(|| {
                    self.phrase.clear();
                    self.lead = Lead::Place;
                    if self.word(at + 2) == "of" { at + 3 } else { at + 2 }
                })
            }
            "like" if self.has_thing && !self.has_person => {
                self.close();
                self.lead = Lead::Aside;
                Some(at + 1)
            }
            "into" | "onto" if !self.has_person => {
                self.close();
                self.lead = Lead::Aside;
                Some(at + 1)
            }
            "with" => {
                let has = self.tokens.iter().skip(at + 1).take(4).take_while(|it| !it.is_break());
                let own = has.clone().any(|it| OWN_PARTS.contains(&it.word.as_str()));
                // "help me out with a mug"
                let is_given =
                    !self.has_thing && self.phrase.is_empty() && self.said.doing.is_none();
                let is_tool = is_given || self.is_sought_by_deed();
                self.close();
                self.lead = match (own, is_tool) {
                    (true, _) => Lead::Own,
                    (false, true) => Lead::Sought,
                    (false, false) => Lead::Place,
                };
                Some(at + 1)
            }
            "about" | "regarding" | "called" | "titled" | "named"
                if self.has_thing || !self.phrase.is_empty() =>
            {
                self.close();
                self.lead = Lead::Aside;
                self.verb_may_follow = false;
                Some(at + 1)
            }
            "out" | "off" | "inside" | "outside" if self.word(at + 1) == "of" => {
                self.close();
                self.lead = Lead::Place;
                Some(at + 2)
            }
            // "I was drinking from a mug"
            "from" if self.is_sought_by_deed() => {
                self.lead = Lead::Sought;
                Some(at + 1)
            }
            _ if PLACE_PREPOSITIONS.contains(&word) => {
                // "the lamp stands beside it": the lamp is around.
                if self.lead == Lead::Has
                    || matches!(self.lead, Lead::None)
                        && OBJECTS.contains(&self.word(at + 1))
                        && self.has_thing
                {
                    self.lead = Lead::Has;
                }
                self.close();
                self.lead = Lead::Place;
                Some(at + 1)
            }
            _ => None,
        }
    }

    /// "I was cooking with": the thing itself follows.
    fn is_sought_by_deed(&self) -> bool {
        self.lead == Lead::Sought && !self.has_thing && self.said.doing.is_some()
    }

    /// "watering can", "the reading lamp": a word that could be another stands in a name.
    fn is_part_of_name(&self, at: usize) -> bool {
        let word = self.word(at);
        let starts_name = self.definite.is_some() && self.phrase.is_empty();
        if starts_name {
            // "the used mug", "my reading lamp": a noun must follow.
            let next = self.word(at + 1);
            let open = !next.is_empty()
                && !Self::is_closed(next)
                && !PLACE_PREPOSITIONS.contains(&next)
                && next != "of"
                && next != "for";
            let alone = !Self::is_closed(word) && !AUXILIARIES.contains(&word)
                || REQUESTS.contains(&word) && !AUXILIARIES.contains(&word);
            return (open
                && !AUXILIARIES.contains(&word)
                && !CLAUSES.contains(&word)
                && !OBJECTS.contains(&word)
                && !FILLERS.contains(&word))
                || alone
                    && !CLAUSES.contains(&word)
                    && !FILLERS.contains(&word)
                    && !OBJECTS.contains(&word);
        }
        // "watering can"
        word == "can" && !self.phrase.is_empty() && !PERSONS.contains(&self.word(at + 1))
    }

    fn is_closed(word: &str) -> bool {
        CLAUSES.contains(&word)
            || AUXILIARIES.contains(&word)
            || FILLERS.contains(&word)
            || OBJECTS.contains(&word)
            || PERSONS.contains(&word)
            || PLACING.contains(&word)
            || ACTIVITIES.contains(&word)
    }

    /// Whether a word at `at` is a verb by what stands before it.
    fn is_verb_here(&self, at: usize) -> bool {
        self.verb_may_follow && self.phrase.is_empty()
            || !self.phrase.is_empty() && self.has_thing_or(at)
    }

    fn has_thing_or(&self, at: usize) -> bool {
        let word = self.word(at);
        ACTIVITIES.contains(&word) || PLACING.contains(&word)
    }

    /// Somebody near, no thing yet: inside of a name "the Lego box".
    fn is_inside(&self, at: usize) -> bool {
        let next = self.word(at + 1);
        self.definite.is_some()
            || !(AUXILIARIES.contains(&next)
                || PLACING.contains(&next)
                || activity(next).is_some() && self.has_thing)
    }

    fn verb(&mut self, at: usize) -> Option<usize> {
        let word = self.word(at);
        if AUXILIARIES.contains(&word) {
            // "whose neighbour is", "the kettle stands"
            let has = matches!(word, "has" | "have" | "had" | "having");
            let of_thing = has && self.has_thing && !self.has_person && self.verb_may_follow;
            self.close();
            self.lead = if of_thing {
                Lead::Has
            } else if has && self.has_person && self.has_thing {
                Lead::Aside
            } else {
                Lead::None
            };
            // "there is a mug"
            self.verb_may_follow = self.word(at.wrapping_sub(1)) != "there";
            return Some(at + 1);
        }
        let is_closed = FILLERS.contains(&word)
            || PLACE_PARTS.contains(&word)
            || OBJECTS.contains(&word)
            || CLAUSES.contains(&word)
            || GENERIC.contains(&word);
        let led =
            self.verb_may_follow && self.phrase.is_empty() && self.definite.is_none() && !is_closed;
        // "the book lying on the bed", "the mug used in the kitchen"
        let participle =
            !self.phrase.is_empty() && (PLACING.contains(&word) || ACTIVITIES.contains(&word));
        let after_thing = self.phrase.is_empty()
            && self.has_thing
            && self.lead == Lead::None
            && self.definite.is_none()
            && (PLACING.contains(&word) || ACTIVITIES.contains(&word));
        if word == "use" && self.word(at.wrapping_sub(1)) == "could" && !self.has_thing {
            return Some(at + 1);
        }
        if !self.has_thing
            && REQUESTS.contains(&word)
            && (self.phrase.is_empty() && self.definite.is_none())
        {
            let after_person =
                self.has_person && activity(word).is_none() && PLACING.contains(&word);
            self.close();
            self.lead = Lead::None;
            self.verb_may_follow = false;
            self.has_person = after_person;
            return Some(at + 1);
        }
        // "any one will do, I need a clock"
        let is_open = self.is_generic && self.said.thing.is_empty() && self.attributes.is_empty();
        if is_open
            && WANTING.contains(&word)
            && REQUESTS.contains(&word)
            && self.phrase.is_empty()
            && !self.is_infinitive
        {
            (self.lead, self.verb_may_follow) = (Lead::Sought, false);
            return Some(at + 1);
        }
        if self.has_thing
            && REQUESTS.contains(&word)
            && self.phrase.is_empty()
            && self.definite.is_none()
            && !led
        {
            self.lead = Lead::Aside;
            return Some(at + 1);
        }
        if !(led || participle || after_thing) {
            return None;
        }
        self.close();
        self.verb_may_follow = false;
        if NEIGHBOURING.contains(&word) {
            self.lead = Lead::Place;
            return Some(at + 1);
        }
        // "I was busy reading"
        if self.is_after_be(at) && !word.ends_with("ing") && self.word(at + 1).ends_with("ing") {
            self.verb_may_follow = true;
            return Some(at + 1);
        }
        // "the mug that is red", "I am thirsty"
        if self.is_after_be(at) && is_attribute(word) {
            if self.has_thing && !self.has_person {
                self.attributes.push(word.to_owned());
            }
            return Some(at + 1);
        }
        let is_said = !self.is_adjective(at) && !self.is_asked;
        if let Some(doing) = activity(word).filter(|_| is_said) {
            self.does(doing);
        }
        self.lead = if self.has_thing || self.has_person && !self.wants_thing() {
            Lead::Aside
        } else {
            Lead::None
        };
        // "I was reading a book": the first thing named is it.
        if !self.has_thing {
            self.lead = Lead::Sought;
        }
        self.is_infinitive = false;
        Some(at + 1)
    }

    fn is_after_be(&self, at: usize) -> bool {
        matches!(
            self.word(at.wrapping_sub(1)),
            "am" | "is" | "are" | "was" | "were" | "be" | "been" | "being"
        )
    }

    /// After "is" only forms in -ing and participles are verbs.
    fn is_adjective(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_form = word.ends_with("ing")
            || word.ends_with("ed")
            || activity(word).is_some_and(|it| !it.starts_with(word));
        self.is_after_be(at) && !(is_form || ACTIVITIES.contains(&word))
    }

    fn wants_thing(&self) -> bool {
        !self.has_thing
    }

    fn does(&mut self, doing: String) {
        if self.is_infinitive {
            // "something to read"; "the pan to cook with" is any pan.
            if self.is_generic && self.said.thing.is_empty() {
                let thing = AFFORDANCES.iter().find(|(verb, _)| *verb == doing);
                self.said.thing = thing.map_or(doing, |(_, thing)| (*thing).to_owned());
            }
            return;
        }
        if self.is_generic
            && self.said.thing.is_empty()
            && self.has_person
            && self.attributes.is_empty()
        {
            let thing = AFFORDANCES.iter().find(|(verb, _)| *verb == doing);
            if let Some((_, thing)) = thing.filter(|_| self.definite != Some(false)) {
                self.said.thing = (*thing).to_owned();
            }
        }
        // "I was reading when": the first that says more than using.
        match self.said.doing.as_deref() {
            None | Some("using") => self.said.doing = Some(doing),
            Some(_) => {}
        }
    }

    /// Ends a noun phrase and puts it where it belongs.
    fn close(&mut self) {
        let words = std::mem::take(&mut self.phrase);
        let definite = self.definite.take();
        let Some(head) = words.last().copied() else {
            self.definite = definite.filter(|_| false);
            return;
        };
        self.verb_may_follow = false;
        if PERSONS.contains(&head) {
            (self.verb_may_follow, self.has_person) = (true, true);
            return;
        }
        if !self.has_thing && (NO_THINGS.contains(&head) || self.is_passed(&words)) {
            return;
        }
        let lead = std::mem::replace(&mut self.lead, Lead::None);
        if GENERIC.contains(&head) {
            self.generic(&words, definite, lead);
            return;
        }
        if PLACE_PARTS.contains(&head) && words.len() == 1 {
            self.lead = lead;
            return;
        }
        let name = words.join(" ");
        if self.is_nearest {
            self.is_nearest = false;
            self.said.nearest = Some(name);
            return;
        }
        if self.negated {
            self.said.without.push(name);
            self.negated = matches!(lead, Lead::Place);
            return;
        }
        match lead {
            Lead::Sought | Lead::None
                if self.said.thing.is_empty()
                    && !(lead == Lead::None && self.is_generic && self.has_person) =>
            {
                self.name(name, definite);
            }
            // A plant is known by its pot.
            Lead::Place if self.has_thing && head == "pot" && self.said.around.is_empty() => {
                self.said.thing.push_str(&format!(" in a {name}"));
            }
            Lead::Place | Lead::Has => {
                let is_nowhere = words.len() == 1 && NOWHERE.contains(&head);
                if !is_nowhere && !self.said.around.contains(&name) {
                    self.said.around.push(name);
                }
            }
            Lead::Own => {
                self.attributes
                    .extend(words.iter().take(words.len() - 1).map(|it| (*it).to_owned()));
            }
            // "that the laptop stands next to"
            Lead::None if self.has_thing && self.verb_subject(&name) => self.said.around.push(name),
            Lead::None | Lead::Aside | Lead::Sought => {}
        }
        self.verb_may_follow |= self.has_thing && lead == Lead::None;
    }

    fn is_passed(&self, words: &[&str]) -> bool {
        let name = words.join(" ");
        let ends = |it: &String| {
            it.strip_suffix(&name).is_some_and(|it| it.is_empty() || it.ends_with(' '))
        };
        self.passed.iter().any(ends)
    }

    fn verb_subject(&self, name: &str) -> bool {
        name != self.said.thing && !self.said.around.iter().any(|it| it == name) && !self.has_person
    }

    fn name(&mut self, name: String, definite: Option<bool>) {
        self.said.thing = name;
        if !self.is_generic {
            self.said.individual = definite.unwrap_or(false);
        }
        (self.has_thing, self.is_generic) = (true, false);
        self.has_person = false;
    }

    /// "the purple one", "something red", "what I left".
    fn generic(&mut self, words: &[&str], definite: Option<bool>, lead: Lead) {
        let attributes = words.iter().take(words.len() - 1).map(|it| (*it).to_owned());
        if self.negated {
            let attributes: Vec<String> = attributes.collect();
            if !attributes.is_empty() {
                self.said.without.push(attributes.join(" "));
            }
            self.negated = false;
            return;
        }
        self.attributes.extend(attributes);
        if lead == Lead::Place && self.has_thing {
            return;
        }
        if !self.has_thing {
            let is_what = matches!(words, ["whatever" | "everything"]);
            self.said.individual = definite.unwrap_or(is_what);
            self.is_generic = true;
        }
        self.has_thing = true;
        self.verb_may_follow = true;
    }

    fn finish(mut self) -> Reading {
        if !self.has_thing && self.said.thing.is_empty() {
            // "what did I leave on the sofa"
            self.said.individual = true;
        }
        if !self.attributes.is_empty() {
            let attributes = self.attributes.join(" ");
            let thing = &self.said.thing;
            self.said.thing =
                if thing.is_empty() { attributes } else { format!("{attributes} {thing}") };
        }
        self.said
    }
}

/// Colours, materials, sizes and the like.
fn is_attribute(word: &str) -> bool {
    let named = mentions(&format!("a {word} thing"));
    let attributes = named.first().map(|it| it.attributes.as_slice()).unwrap_or_default();
    attributes.first().is_some_and(|it| it.kind != AttributeKind::Other)
}
