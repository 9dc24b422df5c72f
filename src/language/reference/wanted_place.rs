//! Requests for a place where something was, and not for the thing: "go to where the cat slept on
//! Sunday", "the spot I left my bag yesterday", "take me to where the torque wrench is normally kept",
//! "the dog's usual spot".
//!
//! Pure. English.

use crate::language::lexicon;
use crate::language::mention::mentions;
use crate::language::person::is_kin;
use crate::language::reference::errand::goes_somewhere;
use crate::language::reference::phrase::{is_relative, plain};
use crate::language::sentence::tokens;
use crate::language::verbs;
use crate::language::words::{BEFORE_VERBS, BEFORE_WHERE, COPULAS, DETERMINERS, DOERS, ERRANDS};

/// Which of the places of a thing is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedPlace {
    /// Where it was last.
    #[default]
    Last,
    /// Where it was then, whatever has become of it since.
    Then,
    /// Where it is most often.
    Usual,
}

/// What else a request tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// A single occasion, or a deed.
    pub(super) is_past: bool,
    /// What is so most often.
    pub(super) is_habit: bool,
    /// Neither a time nor an order.
    pub(super) is_timeless: bool,
}

/// Which place a request wants, which may tell what somebody did, and of the usual one by what it is told.
pub(super) fn wanted_place(
    request: &str,
    told: Told,
    is_deed: bool,
) -> (WantedPlace, Option<String>) {
    let usual = told.is_habit.then(|| usual_place(request)).flatten();
    let usual = usual.or_else(|| {
        let tells_habit = || if used_to(request) { usual_place(request) } else { None };
        told.is_timeless.then(|| place_of_routine(request).or_else(tells_habit)).flatten()
    });
    match usual {
        Some(by) => (WantedPlace::Usual, Some(by)),
        None if told.is_past && wants_past_place(request, is_deed) => (WantedPlace::Then, None),
        None => (WantedPlace::Last, None),
    }
}

/// The sentence of a request for a place of then without what is said of it besides: "go where dad was
/// typing" of "go where dad was typing, he lost a cufflink". `None` where nothing is.
pub fn without_remark(request: &str) -> Option<&str> {
    let ends_sentence = |it: char| SENTENCE_ENDS.contains(&it);
    let mut sentences = request.split_inclusive(ends_sentence);
    let (sentence, clause) = sentences.find_map(|it| Some((it, clause_text(it)?)))?;
    let comma = clause.find(',');
    let end = comma.into_iter().chain(more_to_do(clause)).min().unwrap_or(clause.len());
    let start = sentence.len() - clause.len();
    let alone = sentence.get(..start + end)?.trim_matches(|it: char| !it.is_alphanumeric());
    (alone.len() < request.trim_matches(|it: char| !it.is_alphanumeric()).len()).then_some(alone)
}

/// Where it begins what is to be done there: "where the bag lay *and see* whether".
fn more_to_do(clause: &str) -> Option<usize> {
    let mut joints = clause.match_indices(" and ");
    let found = joints.find(|(at, and)| {
        let after = clause.get(at + and.len()..).unwrap_or_default();
        after.split(' ').next().is_some_and(|it| ERRANDS.contains(it))
    });
    found.map(|(at, _)| at)
}

/// The clause that tells which place, with what follows it.
fn clause_text(sentence: &str) -> Option<&str> {
    let lower = sentence.to_lowercase();
    let words = tokens(&lower);
    let at = clause(&words).or_else(|| gone_to(&words)).or_else(|| looked_at(&words))?;
    let word = words.get(at)?;
    let start = word.as_ptr() as usize - lower.as_ptr() as usize;
    // Of letters whose small ones are longer nothing is told.
    (lower.len() == sentence.len()).then(|| sentence.get(start..)).flatten()
}

/// Whether a request, which tells of the past or of a deed, wants the place of then. "Where was the cat
/// on Sunday" asks, and "do you know where" as well, and so does "where is it now".
fn wants_past_place(request: &str, is_deed: bool) -> bool {
    let lower = request.to_lowercase();
    is_told_first(&tokens(&lower))
        || lower.split(SENTENCE_ENDS).any(|sentence| {
            let words = tokens(sentence);
            let start = clause(&words)
                .or_else(|| goes_somewhere(request).then(|| gone_to(&words))?)
                .or_else(|| is_deed.then(|| looked_at(&words))?);
            let after = start.and_then(|at| words.get(at..)).unwrap_or_default();
            !after.is_empty() && !matches!(after, ["where", "is" | "are", ..])
        })
}

/// Whether the robot is to go where it was told before: "where the suitcase was on Saturday, *go there*",
/// "when the boy was playing on Saturday *go where he was*"; but not to bring the thing from there.
fn is_told_first(words: &[&str]) -> bool {
    let goes = |at: &usize| {
        let verb = words.get(*at).copied().unwrap_or_default();
        let mut after = words.get(at + 1..).unwrap_or_default();
        while let [adverb, rest @ ..] = after
            && BEFORE_THERE.contains(adverb)
        {
            after = rest;
        }
        let is_there = match after {
            ["there", ..] => true,
            ["where", who, was, ..] => DOERS.contains(who) && matches!(*was, "was" | "were"),
            _ => false,
        };
        is_there && (verb == "go" || ERRANDS.has_tag(verb, "way"))
    };
    let Some((before, after)) =
        (1..words.len()).find(goes).and_then(|at| words.split_at_checked(at))
    else {
        return false;
    };
    let tells = |it: &&str| matches!(*it, "where" | "was" | "were");
    let brings = |it: &&str| ERRANDS.has_tag(it, "gives");
    before.iter().any(tells) && !after.iter().any(brings)
}

/// Between "go" and "there".
const BEFORE_THERE: [&str; 9] =
    ["back", "over", "straight", "right", "down", "up", "out", "on", "to"];

/// By what a request, which tells of a habit, tells the usual place that it wants: "the cat sleeps
/// every night" of "where the cat sleeps every night", "mug" of "the mug's usual place"; nothing of
/// "its usual place". `None` where it wants the thing: "where
/// the book that is usually on the desk is", "from its usual place".
fn usual_place(request: &str) -> Option<String> {
    request.to_lowercase().split(SENTENCE_ENDS).find_map(|sentence| {
        let words = tokens(sentence);
        match clause(&words).and_then(|at| words.get(at..)) {
            Some(["where" | "wherever", after @ ..]) => {
                (!tells_which_one(after)).then(|| after.join(" "))
            }
            Some(after) => Some(after.join(" ")),
            None => sought_there(&words).or_else(|| possessed(sentence)),
        }
    })
}

/// "where the keys *used to* hang"; not "where the mug I used to drink from".
fn used_to(request: &str) -> bool {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    let after = words.iter().position(|it| *it == "where").and_then(|at| words.get(at..));
    after.is_some_and(|it| it.windows(2).any(|pair| pair == ["used", "to"]))
}

/// The same of a request that tells of no time, where somebody does there what people do again and
/// again: "where the cellist practises".
fn place_of_routine(request: &str) -> Option<String> {
    request.to_lowercase().split(SENTENCE_ENDS).find_map(|sentence| {
        let words = tokens(sentence);
        let told = match clause(&words).and_then(|at| words.get(at..))? {
            ["where" | "wherever", after @ ..] => after.join(" "),
            _ => return None,
        };
        let (_, after) = doer(&told)?;
        let verb = after.split(' ').next()?;
        let is_routine = verb.ends_with('s') && verbs::activity(verb).is_some();
        (is_routine && !matches!(verb, "is" | "was" | "has")).then_some(told)
    })
}

/// Who is at a place of which a request tells so: the thing, where it is one, and what it does.
pub(super) fn who_is_there(told: &str) -> (String, Option<String>) {
    if let Some((doer, after)) = doer(told) {
        let verb = after.split(' ').find(|it| !BEFORE_VERBS.contains(it) || *it == "does");
        return (doer.to_owned(), verb.and_then(verbs::activity));
    }
    let first = mentions(told).into_iter().next();
    (first.map(|it| it.phrase).unwrap_or_default(), None)
}

/// The person or animal of which words tell first, and what follows: "old man" and "reads here".
fn doer(told: &str) -> Option<(&str, &str)> {
    let named = match told.split_once(' ') {
        Some((first, rest)) if DETERMINERS.contains(first) => rest,
        _ => told,
    };
    let does = |word: &str| {
        let one = lexicon::singular(word);
        is_kin(word) || lexicon::is_person(&one) || lexicon::descends_from(&one, "animal")
    };
    let ends = named.match_indices(' ').map(|(at, _)| at).chain([named.len()]);
    let mut ends = ends.take(NAME_WORDS_MAX);
    let is_doer = |end: &usize| {
        let name = named.get(..*end).unwrap_or_default();
        name.rsplit(' ').next().is_some_and(does)
    };
    let (doer, after) = named.split_at_checked(ends.find(is_doer)?)?;
    Some((doer, after.trim_start()))
}

/// Most words of a person's or an animal's name: "little grey cat".
const NAME_WORDS_MAX: usize = 4;

const SENTENCE_ENDS: [char; 4] = ['.', '!', '?', ';'];

/// Where the clause begins that names a place: at "where", or after "the spot".
fn clause(words: &[&str]) -> Option<usize> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    (1..words.len()).find(|at| {
        let before = word(at - 1);
        match word(*at) {
            "where" => BEFORE_WHERE.contains(before),
            "wherever" => {
                let is_now = matches!(words.get(at + 1..), Some(["it" | "they", "is" | "are", ..]));
                BEFORE_WHERE.contains(before) && !names_place(before) && !is_now
            }
            next => {
                let is_place = BEFORE_WHERE.has_tag(before, "noun");
                let is_meant = *at > 1 && DETERMINERS.has_tag(word(at - 2), "article");
                is_place && is_meant && (DETERMINERS.contains(next) || BEFORE_VERBS.contains(next))
            }
        }
    })
}

/// Where the clause begins that tells which of such things is gone to: "to the hook where the keys hung".
fn gone_to(words: &[&str]) -> Option<usize> {
    let at = words.iter().position(|it| *it == "where")?;
    let to = words.iter().take(at).rposition(|it| matches!(*it, "to" | "at" | "by"))?;
    let is_named = words.get(to + 1).is_some_and(|it| DETERMINERS.has_tag(it, "article"));
    (is_named && at > to + 2).then_some(at)
}

/// Where the clause begins that tells where to look by who did something there: "look around *where dad
/// was typing*", and not "look where the mug is that I drank from".
fn looked_at(words: &[&str]) -> Option<usize> {
    let at = words.iter().position(|it| *it == "where")?;
    let after = words.get(at + 1..)?;
    let does = |word: &str| DOERS.contains(word);
    let is_done = after.first().is_some_and(|it| does(it)) || doer(&after.join(" ")).is_some();
    (is_done && !tells_which_one(after) && is_sought(words.get(..at)?)).then_some(at)
}

/// "look for the mug where *it mostly stands*".
fn sought_there(words: &[&str]) -> Option<String> {
    let at = words.iter().position(|it| *it == "where")?;
    let is_place =
        is_sought(words.get(..at)?) && matches!(words.get(at + 1), Some(&("it" | "they")));
    is_place.then(String::new)
}

fn is_sought(before: &[&str]) -> bool {
    before.iter().any(|it| ERRANDS.has_tag(it, "sight"))
}

/// "the book *that* is usually here is", "the mug I use most *is*".
fn tells_which_one(clause: &[&str]) -> bool {
    let is_at_end = match clause {
        [.., before, last] => COPULAS.contains(last) && !is_often(before),
        _ => false,
    };
    is_at_end || clause.iter().any(|it| is_relative(it))
}

/// "usually", "always", "normally".
fn is_often(word: &str) -> bool {
    matches!(word, "always" | "often") || word.ends_with("ly")
}

/// "white mug" of "the white mug's usual place", "first aid kit" of "the usual place of the first
/// aid kit".
fn possessed(sentence: &str) -> Option<String> {
    let plain = plain(sentence);
    let words: Vec<&str> = plain.split(' ').collect();
    let place = words.iter().position(|it| names_place(it))?;
    let how =
        place.checked_sub(1).filter(|it| !DETERMINERS.contains(words.get(*it).unwrap_or(&"")))?;
    // "The bowl that has its own place on the desk".
    if words.get(..how)?.ends_with(&["has", "its"])
        || words.get(..how)?.ends_with(&["have", "their"])
    {
        return None;
    }
    let before = words.get(..how)?;
    let from = before.iter().rposition(|it| DETERMINERS.contains(it))?;
    let leads = from.checked_sub(1).and_then(|at| words.get(at));
    let is_gone_to = before.iter().any(|it| BEFORE_WHERE.contains(it)) || is_sought(before);
    match leads {
        Some(&("from" | "off")) => return None,
        Some(&("at" | "in" | "on")) if !is_gone_to => return None,
        _ => {}
    }
    let owner = before.get(from + 1..)?.join(" ");
    let is_its = matches!(before.get(from), Some(&("its" | "their")));
    match words.get(place + 1..)? {
        _ if owner.is_empty() && is_its => Some(String::new()),
        ["of" | "for", thing @ ..] if owner.is_empty() => Some(thing.join(" ")),
        _ if owner.ends_with('s') || owner.ends_with('\'') => {
            let owner = owner.trim_end_matches('\'');
            Some(owner.strip_suffix("'s").unwrap_or(owner).to_owned())
        }
        _ => None,
    }
}

fn names_place(word: &str) -> bool {
    BEFORE_WHERE.has_tag(word, "noun") || BEFORE_WHERE.has_tag(word, "room")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_place_by_what_was_there_wants_it() {
        for (request, expect) in [
            ("Go to where the cat slept on Sunday", true),
            ("drive back to wherever we had the picnic", true),
            ("the spot where my blue book lay on Saturday night, go there", true),
            ("go to the place the keys were in on thursday", true),
            ("roll over to the spot i left my bag yesterday", true),
            ("go to the hook where the keys were hanging on Wednesday", true),
            ("take me to the little table where I left my bag yesterday", true),
            ("bring the bag to the table where I was reading yesterday", false),
            ("what was on the table where I left my bag yesterday", false),
            ("you know where the suitcase was on saturday go over there", true),
            ("Where did I sit on Sunday? Where the cat was. Go back there, please.", true),
            ("remember when he was playing on Saturday go to where he was it may rain", true),
            ("where the mug was on Sunday go there and bring it to me", false),
            ("is there a cat where the suitcase was on Saturday", false),
            ("where was the cat on Sunday", false),
            ("do you know where I left my bag yesterday", false),
            ("bring the mug from where I left it", false),
            ("bring the mug I used yesterday", false),
            ("find a place for the mug", false),
            ("I saw a ball in the living room. Wherever it's got to, please fetch it", false),
            ("i saw a ball in the living room wherever its got to fetch it", false),
            ("a hat was lying next to the mug three days back where is it now", false),
            ("There was a shoe there on Monday. Go wherever it is now and bring it", false),
        ] {
            assert_eq!(wants_past_place(request, false), expect, "{request}");
        }
    }

    #[test]
    fn a_remark_is_left_out() {
        for (request, expect) in [
            (
                "Go and look where dad was typing, he lost a cufflink",
                Some("Go and look where dad was typing"),
            ),
            (
                "spot where the buggy was on Friday, the rain cover must be there",
                Some("spot where the buggy was on Friday"),
            ),
            (
                "Go back to where the bag lay on Thursday and see whether a sock was left.",
                Some("Go back to where the bag lay on Thursday"),
            ),
            (
                "The cat ran off. Go to where it slept on Sunday. It may be there.",
                Some("Go to where it slept on Sunday"),
            ),
            ("go to where the cat slept on Sunday.", None),
            ("bring the mug, I used it yesterday", None),
        ] {
            assert_eq!(without_remark(request), expect, "{request}");
        }
    }

    #[test]
    fn what_is_looked_for_where_somebody_did_something_is_sought_there() {
        for (request, expect) in [
            ("Go and look where dad was typing, he lost a cufflink", true),
            ("check the desk. look around where i was sewing, a pin fell down", true),
            ("search where the kids were playing for a marble", true),
            ("look where the mug is that I was drinking from", false),
            ("look where the book mum was reading is", false),
            ("where was dad typing? look it up", false),
            ("bring the pin, I lost it where I was sewing", false),
        ] {
            assert_eq!(wants_past_place(request, true), expect, "{request}");
        }
        assert!(!wants_past_place("check where I left my mug yesterday", false));
    }

    #[test]
    fn what_names_a_place_by_what_is_mostly_there_wants_it() {
        for (request, whose) in [
            ("go where the blue mug usually stands", Some("the blue mug usually stands")),
            ("Take me to where the wrench is normally", Some("the wrench is normally")),
            ("drive to where the keys usually are", Some("the keys usually are")),
            ("Go to the spot the cat mostly naps in.", Some("the cat mostly naps in")),
            ("The white mug's usual place, go there.", Some("white mug")),
            ("go to the dogs usual spot", Some("dogs")),
            ("head to the usual place of the first aid kit", Some("the first aid kit")),
            ("go to where the book that is usually on the desk is", None),
            ("drive to where the book I read the most is", None),
            ("bring the mug from the dog's usual spot", None),
            ("bring the mug from where it usually stands", None),
            ("go stand in the cat's favourite spot", Some("cat")),
            ("look for the backpack in its usual place", Some("")),
            ("search for the mug where it stands most of the time", Some("")),
            ("bring the mug, it is in its usual place", None),
            ("where have we put the bowl that has its place on the desk", None),
            ("I would like the pan that has its regular place on the table", None),
            ("bring me my usual mug", None),
            ("my usual place", None),
            ("the book that is usually at your place", None),
        ] {
            assert_eq!(usual_place(request).as_deref(), whose, "{request}");
        }
    }

    #[test]
    fn where_something_used_to_be_is_its_usual_place() {
        let told = Told { is_past: false, is_habit: false, is_timeless: true };
        let (place, by) = wanted_place("Go to the place where the keys used to hang.", told, false);
        assert_eq!((place, by.as_deref()), (WantedPlace::Usual, Some("the keys used to hang")));
        let (place, _) = wanted_place("bring the mug I used to drink from", told, false);
        assert_eq!(place, WantedPlace::Last);
    }

    #[test]
    fn a_routine_is_what_somebody_does_there() {
        for (request, whose) in [
            ("drive to where the cellist practises", Some("the cellist practises")),
            ("go where the boy does his homework", Some("the boy does his homework")),
            ("go to where the cat sleeps", Some("the cat sleeps")),
            ("go to where the cat is sleeping", None),
            ("go to where the cat slept", None),
            ("go to where the cat is", None),
            ("go to where the mug stands", None),
            ("where does the cat sleep", None),
        ] {
            assert_eq!(place_of_routine(request).as_deref(), whose, "{request}");
        }
    }

    #[test]
    fn who_is_at_a_place_is_told_with_the_deed_of_people() {
        let told = |told: &str| {
            let (who, deed) = who_is_there(told);
            (who, deed.unwrap_or_default())
        };
        let pair = |who: &str, deed: &str| (who.to_owned(), deed.to_owned());
        assert_eq!(told("grandpa reads most often"), pair("grandpa", "reading"));
        assert_eq!(told("the dog"), pair("dog", ""));
        assert_eq!(told(""), pair("", ""));
    }
}
