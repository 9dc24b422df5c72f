//! What a request refers to, read with what the memory knows: its slips, its names, and whether what
//! it names was seen.

use crate::language::everyday_names;
use crate::language::fit::Certainty;
use crate::language::known_words::is_unknown;
use crate::language::lexicon;
use crate::language::mention::{Mention, mentions};
use crate::language::person::{is_kin, is_person};
use crate::language::reference::addressee::{is_for_another, without_own_name};
use crate::language::reference::courtesy::without_courtesy;
use crate::language::reference::errand::{
    Ordered, goes_somewhere, is_given, is_given_itself, is_sent, ordered,
};
use crate::language::reference::{Reference, Respelling, WantedPlace, without_remark};
use crate::language::request_tags::Intent;
use crate::language::spelling::with_heard_denial;
use crate::language::time::slips::slips_of_time;
use crate::language::verbs;
use crate::language::words::{DETERMINERS, PREPOSITIONS};
use crate::memory::episodic::last_seen::Wording;
use crate::memory::episodic::noun_phrases::bare_name;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::search::Filter;

impl Retrieval {
    /// Reads a request; where it has words that nobody knows, as what was meant: the model
    /// that reads it knows them as little.
    pub(super) fn read(&self, text: &str) -> Result<Reference, RetrievalError> {
        if !self.episodic.reads_request(text) {
            // What the model of requests made of it would be made up.
            let intent = Intent::Chat;
            return Ok(Reference { intent, is_unread: true, ..Reference::default() });
        }
        if is_for_another(text, &self.robot_names) {
            return Ok(Reference { intent: Intent::Chat, ..Reference::default() });
        }
        let said = without_own_name(text, &self.robot_names);
        let before = text.len() - said.len();
        let text = &*with_heard_denial(said);
        let mut reference = self.read_english(text)?;
        reference.ends_at = reference.ends_at.map(|end| end + before);
        Ok(match reference.intent {
            Intent::Chat | Intent::Stop if is_sent(text) && self.is_place_seen(&reference) => {
                Reference { intent: Intent::Fetch, ..reference }
            }
            Intent::Chat if is_given(text) && self.is_surely_seen(&reference.thing) => {
                Reference { intent: Intent::Fetch, ..reference }
            }
            Intent::Chat | Intent::Stop => {
                let is_other_order =
                    reference.intent == Intent::Chat && ordered(text) == Ordered::OtherDeed;
                self.with_name_alone(text, Reference { is_other_order, ..reference })
            }
            Intent::Fetch | Intent::Where
                if goes_somewhere(text) && self.is_nobody(&reference.thing) =>
            {
                Reference { intent: Intent::Chat, ..reference }
            }
            Intent::Fetch | Intent::Where if self.is_nonsense(text, &reference) => {
                Reference { intent: Intent::Chat, ..reference }
            }
            Intent::Fetch | Intent::Where if self.is_other_order(text, &reference) => {
                Reference { intent: Intent::Chat, is_other_order: true, ..reference }
            }
            Intent::Fetch | Intent::Where | Intent::Question => reference,
        })
    }

    fn read_english(&self, text: &str) -> Result<Reference, RetrievalError> {
        let mut slips = self.slips_of_time(text);
        if !slips.is_empty() {
            let meant = self.read_english(&respell_text(text, &slips))?;
            slips.extend(meant.respelled);
            return Ok(Reference { respelled: slips, ends_at: None, ..meant });
        }
        let mut reference = self.requests.read(text)?;
        if let Some(alone) = self.read_without_remark(text, &reference)? {
            reference = alone;
        }
        self.episodic.respell(&mut reference);
        self.episodic.leave_out_words_after(&mut reference);
        if reference.respelled.is_empty() {
            return self.with_what_was_seen(text, reference);
        }
        let mut meant = self.requests.read(&respell_text(text, &reference.respelled))?;
        self.episodic.respell(&mut meant);
        self.episodic.leave_out_words_after(&mut meant);
        if meant.thing.is_empty() {
            return Ok(reference);
        }
        // Of what is new in words that are put right, nobody said anything.
        let meant = Reference { respelled: reference.respelled, ends_at: None, ..meant };
        self.with_what_was_seen(text, meant)
    }

    /// A request for a place of then without what is said of it besides, where it tells the time as well.
    fn read_without_remark(
        &self,
        text: &str,
        whole: &Reference,
    ) -> Result<Option<Reference>, RetrievalError> {
        let is_past = |it: &Reference| it.place == WantedPlace::Then;
        let Some(alone) = without_remark(text).filter(|_| is_past(whole)) else { return Ok(None) };
        let alone = self.requests.read(alone)?;
        let is_told = is_past(&alone) && alone.when.len() >= whole.when.len();
        Ok(is_told.then_some(Reference { ends_at: None, ..alone }))
    }

    /// What is mistyped of the times that a text tells, but for words of captions.
    fn slips_of_time(&self, text: &str) -> Vec<Respelling> {
        let slips = slips_of_time(text).into_iter();
        let slips = slips.filter(|(said, _)| !self.episodic.is_captioned(&said.to_lowercase()));
        slips.map(|(said, read)| Respelling { said, read: read.to_owned() }).collect()
    }

    /// Of what may be meant, what was seen.
    fn with_what_was_seen(
        &self,
        text: &str,
        reference: Reference,
    ) -> Result<Reference, RetrievalError> {
        let reference = self.with_some_thing(text, self.with_thing_for_use(reference)?);
        let reference = self.with_place_itself(text, self.with_known_person(reference));
        Ok(self.with_nearest_name(self.with_whole_name(text, reference)))
    }

    /// The thing with the words right before it that belong to its name in captions, where the model
    /// leaves them out: "the Best Mom *mug*". What it must not be is none of them: "not the red *mug*".
    fn with_whole_name(&self, text: &str, mut reference: Reference) -> Reference {
        let thing: Vec<&str> = reference.thing.split(' ').collect();
        let is_excluded = |name: &String| {
            let more = || name.split(' ').filter(|it| !thing.contains(it));
            let mut excluded = reference.without.iter();
            excluded.any(|it| it.split(' ').any(|word| more().any(|it| it == word)))
        };
        let mut whole = whole_names(text, &reference.thing);
        whole.retain(|it| !is_excluded(it));
        let is_called_so = |caption: &str, name: &str| {
            name.split(' ').all(|word| caption.split(' ').any(|it| it == word))
        };
        let is_shown = |name: &String| {
            let seen = self.episodic.last_seen(name, &Filter::default(), 1).unwrap_or_default();
            let mut called = seen.iter().flat_map(|it| &it.recalled.matched);
            called.any(|it| is_called_so(it, name))
        };
        if let Some(whole) = whole.into_iter().find(is_shown) {
            let is_named = |it: &String| whole.split(' ').any(|word| word == it);
            reference.around.retain(|it| !is_named(it));
            reference.thing = whole;
        }
        reference
    }

    /// An errand of which the model read neither a thing nor what else would tell it is for what
    /// comes next in it, else for the first thing of its words that was seen, else for the first;
    /// "something" is for anything.
    fn with_some_thing(&self, text: &str, mut reference: Reference) -> Reference {
        let Reference { thing, around, doing, when, order, intent, without, .. } = &reference;
        let is_told = !(thing.is_empty() && around.is_empty() && when.is_empty());
        let is_told = is_told || !without.is_empty();
        let is_told = is_told || doing.is_some() || order.is_some();
        if is_told || !matches!(intent, Intent::Fetch | Intent::Where) {
            return reference;
        }
        let named: Vec<String> = mentions(text).into_iter().map(|it| it.phrase).collect();
        if !reference.also.is_empty() {
            reference.thing = reference.also.remove(0);
        } else if let Some(thing) =
            named.iter().find(|it| self.is_seen(it)).or_else(|| named.first())
        {
            reference.thing.clone_from(thing);
        }
        reference
    }

    /// Where the robot is sent to what it has seen, or is to give just that, and nothing is wanted of
    /// there, that is what is searched for: "go to gate 2", "bring me shelf B3".
    fn with_place_itself(&self, text: &str, mut reference: Reference) -> Reference {
        let Reference { thing, around, doing, when, order, .. } = &reference;
        let is_alone = thing.is_empty() && doing.is_none() && when.is_empty() && order.is_none();
        let is_meant = |it: &String| goes_somewhere(text) || is_given_itself(text, it);
        let place = around.first().filter(|it| is_alone && is_meant(it));
        if place.is_some_and(|it| self.is_surely_seen(it)) {
            reference.thing = reference.around.remove(0);
        }
        reference
    }

    /// "mum" is a mother, where captions know no mum.
    fn with_known_person(&self, mut reference: Reference) -> Reference {
        if let Some(known) = known_kin(&reference.thing).filter(|_| !self.is_seen(&reference.thing))
        {
            known.clone_into(&mut reference.thing);
        }
        reference
    }

    /// What is to be fetched may be what captions call otherwise; a question is answered of what
    /// it names.
    fn with_nearest_name(&self, mut reference: Reference) -> Reference {
        let is_errand = matches!(reference.intent, Intent::Fetch | Intent::Where);
        if is_errand && !reference.is_told_by_use() {
            self.episodic.take_nearest_name(&mut reference);
        }
        reference
    }

    /// A name alone that was seen, with its place, or before what else is said, is a request for it,
    /// whatever the model takes it for; and so is who the robot is to go to.
    fn with_name_alone(&self, text: &str, reference: Reference) -> Reference {
        let said = without_courtesy(text);
        // "enough"
        let is_stop = reference.intent == Intent::Stop;
        let least = if is_stop { Certainty::Shown } else { Certainty::Partial };
        let placed = Some(&reference.thing).filter(|it| is_placed(&said, it)).cloned();
        let named = bare_name(&said).or(placed).filter(|it| self.is_seen_as(it, least));
        let named =
            named.or_else(|| named_first(text).filter(|it| self.is_seen_as(it, Certainty::Shown)));
        // Captions know no mother: a woman only may be one.
        let is_somebody = |it: &String| !is_stop && self.is_seen(it);
        let named = named.or_else(|| person_gone_to(text).filter(is_somebody));
        match named {
            Some(thing) => {
                Reference { thing, intent: Intent::Fetch, is_other_order: false, ..reference }
            }
            None => reference,
        }
    }

    /// Whether a request has several words, and none that English or a caption has.
    fn is_nonsense(&self, text: &str, reference: &Reference) -> bool {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
        words.clone().count() > 1
            && words.into_iter().all(is_unknown)
            && reference.respelled.is_empty()
            && !self.is_seen(&reference.thing)
    }

    /// Whether a request orders what no memory sees to. What somebody did tells of a thing: "book the
    /// man was reading".
    fn is_other_order(&self, text: &str, reference: &Reference) -> bool {
        let Reference { doing, thing, .. } = reference;
        let is_name = || bare_name(&without_courtesy(text)).is_some_and(|it| self.is_seen(&it));
        match ordered(text) {
            Ordered::Errand => false,
            Ordered::Moving => !self.is_seen(thing),
            Ordered::OtherDeed => {
                let is_told = doing.as_ref().is_some_and(|it| !begins_with_deed(text, it));
                !is_told && !is_name() && !begins_with_name(text, thing)
            }
        }
    }

    fn is_seen(&self, thing: &str) -> bool {
        let seen = self.episodic.last_seen(thing, &Filter::default(), 1);
        seen.is_ok_and(|it| !it.is_empty())
    }

    fn is_place_seen(&self, reference: &Reference) -> bool {
        let mut named = [&reference.thing].into_iter().chain(&reference.around);
        named.any(|it| self.is_surely_seen(it))
    }

    /// Whether somebody is meant who was never seen: there is no guess where people are.
    fn is_nobody(&self, thing: &str) -> bool {
        let noun = thing.rsplit(' ').next().unwrap_or_default();
        let seen = || self.episodic.last_seen_in(thing, &Filter::default(), 1, Wording::Any);
        lexicon::is_person(&lexicon::singular(noun)) && seen().is_ok_and(|it| it.is_empty())
    }

    pub(super) fn is_surely_seen(&self, thing: &str) -> bool {
        self.is_seen_as(thing, Certainty::Partial)
    }

    fn is_seen_as(&self, thing: &str, least: Certainty) -> bool {
        let seen = self.episodic.last_seen(thing, &Filter::default(), 1);
        seen.is_ok_and(|it| it.iter().any(|it| it.certainty >= least))
    }
}

/// "headlamp. early start tomorrow": the name before a remark, and not the first one of a list. Who is
/// called so, "Rex! Down!", is no thing.
fn named_first(text: &str) -> Option<String> {
    const ENDS: [char; 5] = ['.', ',', '!', '?', ';'];
    let (first, remark) = text.split_once(ENDS)?;
    let is_list = remark.split(ENDS).any(|it| bare_name(it.trim()).is_some());
    let name = bare_name(&without_courtesy(first)).filter(|_| !is_list)?;
    let is_called = |it: &Mention| {
        is_person(it) || lexicon::descends_from(&lexicon::singular(&it.head), "animal")
    };
    let has_remark = remark.contains(char::is_alphanumeric);
    (has_remark && !mentions(&format!("a {name}")).iter().any(is_called)).then_some(name)
}

/// "old woman" of "go to the old woman", "mum" of "go to mum".
fn person_gone_to(text: &str) -> Option<String> {
    let (_, after) = text.split_once(" to ").filter(|_| goes_somewhere(text))?;
    let after = after.to_lowercase();
    let mut words = after.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    let kin = words.find(|it| !DETERMINERS.contains(it)).filter(|it| is_kin(it));
    let person = || mentions(&after).into_iter().next().filter(is_person).map(|it| it.phrase);
    kin.map(|it| known_kin(it).unwrap_or(it).to_owned()).or_else(person)
}

/// What everyday names have for a word for somebody of the family: mother for "mum".
fn known_kin(word: &str) -> Option<&'static str> {
    everyday_names::person(word).filter(|_| is_kin(word))
}

/// "the plant in the living room", and nothing before the thing's name.
fn is_placed(said: &str, thing: &str) -> bool {
    let lower = said.to_lowercase();
    let named = match lower.split_once(' ') {
        Some((article, named)) if DETERMINERS.contains(article) => named,
        _ => &lower,
    };
    let after = Some(thing).filter(|it| !it.is_empty()).and_then(|it| named.strip_prefix(it));
    let next = after.and_then(|it| it.strip_prefix(' ')).and_then(|it| it.split(' ').next());
    next.is_some_and(|it| PREPOSITIONS.contains(it))
}

/// Names with the words that stand between an article and the thing's last mention in a request, the
/// longest first; none where there is no word.
fn whole_names(text: &str, thing: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || c == ',');
    let bare = |it: &str| it.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let words: Vec<String> = words.map(bare).filter(|it| !it.is_empty()).collect();
    let name: Vec<&str> = thing.split(' ').collect();
    let Some(at) = words.windows(name.len()).rposition(|it| it == name) else { return Vec::new() };
    let before = words.get(at.saturating_sub(NAMING_WORDS_MAX + 1)..at).unwrap_or_default();
    let Some(article) = before.iter().rposition(|it| DETERMINERS.contains(it)) else {
        return Vec::new();
    };
    let naming = before.get(article + 1..).unwrap_or_default();
    let names = (0..naming.len()).filter_map(|from| naming.get(from..));
    names.map(|it| format!("{} {thing}", it.join(" "))).collect()
}

/// Whether a sentence of a request is the thing's name, or begins with one of several words: "cough
/// syrup please", "Cut my thumb. First-aid kit, quickly!"
fn begins_with_name(text: &str, thing: &str) -> bool {
    let mut sentences = text.split(['.', '!', '?', ';', ':', '\n']).map(without_courtesy);
    sentences.any(|it| {
        let said = it.trim().to_lowercase();
        !thing.is_empty() && said == thing || thing.contains(' ') && said.starts_with(thing)
    })
}

/// Whether a request orders this deed itself: "print ten copies".
fn begins_with_deed(text: &str, deed: &str) -> bool {
    let said = without_courtesy(text).to_lowercase();
    said.split(' ').next().is_some_and(|it| verbs::in_ing(it) == deed)
}

/// Most words before a thing that may belong to its name.
const NAMING_WORDS_MAX: usize = 3;

/// A request with the words that were meant in the place of those that were said.
fn respell_text(text: &str, respellings: &[Respelling]) -> String {
    let bare = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        respellings
            .iter()
            .find(|it| it.said.eq_ignore_ascii_case(bare))
            .map(|it| (bare.to_owned(), it))
    };
    let words = text.split_whitespace().map(|word| match bare(word) {
        Some((bare, respelling)) => word.replace(&bare, &respelling.read),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_before_a_remark_is_told_from_lists_and_calls() {
        for (text, name) in [
            ("headlamp. early start tomorrow.", Some("headlamp")),
            ("Pencil case, got a test tmrw", Some("pencil case")),
            ("First aid kit, quickly please!", Some("first aid kit")),
            ("plates, cups, forks, all of it went", None),
            ("dog! get down from there!", None),
            ("headlamp", None),
        ] {
            assert_eq!(named_first(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn a_name_with_its_place_is_told_from_what_is_said_of_it() {
        assert!(is_placed("the plant in the living room", "plant"));
        assert!(is_placed("Dog on the porch", "dog"));
        assert!(!is_placed("the plant is dry", "plant"));
        assert!(!is_placed("I saw the plant in the hall", "plant"));
        assert!(!is_placed("in the hall", ""));
    }

    #[test]
    fn what_a_request_begins_with_is_a_name_or_a_deed() {
        assert!(begins_with_name("Cough syrup, please", "cough syrup"));
        assert!(!begins_with_name("phone the supplier", "phone"));
        assert!(begins_with_deed("please print ten copies", "printing"));
        assert!(!begins_with_deed("the book I was reading", "reading"));
    }

    #[test]
    fn what_stands_between_an_article_and_a_thing_may_belong_to_its_name() {
        assert_eq!(whole_names("bring me the Best Mom mug!", "mug"), ["best mom mug", "mom mug"]);
        assert_eq!(whole_names("the mug", "mug"), [""; 0]);
        assert_eq!(whole_names("mug", "mug"), [""; 0]);
        assert_eq!(whole_names("bring best mom mug", "mug"), [""; 0]);
        assert_eq!(whole_names("", ""), [""; 0]);
    }
}
