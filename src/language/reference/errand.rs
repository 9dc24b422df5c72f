//! Whether a request orders what no memory sees to: "bake us a strudel", "water the kale". An order
//! is known by its verb, and an errand by the class of verbs that are some.
//!
//! Pure. English.

use crate::language::lexicon;
use crate::language::sentence::tokens;
use crate::language::time;
use crate::language::words::{
    AFTER_WAY, ASKED, AUXILIARIES, BOUNDARIES, COPULAS, COURTESY, DETERMINERS, ERRANDS, GREETINGS,
    MANNERS, PREPOSITIONS,
};

/// What an order is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ordered {
    /// A thing or a place; also where nothing is ordered, or by a verb that nobody knows.
    Errand,
    /// That a thing is put elsewhere: an errand where there is such a thing.
    Moving,
    /// Something else.
    OtherDeed,
}

/// What a request orders first, but for what only leads to that.
pub(crate) fn ordered(request: &str) -> Ordered {
    let lower = request.to_lowercase().replace('’', "'").replace(SENTENCE_ENDS, ",");
    let lower = with_bare_verb(&lower);
    let words = tokens(&lower);
    let words = words.get(start(&words)..).unwrap_or_default();
    if words.iter().any(|it| ERRANDS.has_tag(it, "anywhere")) {
        return Ordered::Errand;
    }
    let mut rest = words;
    for _ in 0..LEADING_VERBS_MAX {
        match kind(rest) {
            Kind::Leading => rest = after_leading(rest),
            Kind::Moving => return Ordered::Moving,
            Kind::Other if !has_errand_after(rest) => return Ordered::OtherDeed,
            Kind::Other | Kind::Errand => break,
        }
    }
    Ordered::Errand
}

/// Whether something is to be given to whom speaks: "lend me your umbrella".
pub(crate) fn is_given(request: &str) -> bool {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    match words.get(start(&words)..) {
        Some([verb, "me" | "us", ..]) => ERRANDS.has_tag(verb, "gives"),
        _ => false,
    }
}

/// Whether this very name follows after who is given it: "bring me shelf B3", not "bring me what is
/// on shelf B3".
pub(crate) fn is_given_itself(request: &str, name: &str) -> bool {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    let given = match words.get(start(&words)..) {
        Some([_, "me" | "us", given @ ..]) if is_given(request) => given,
        _ => return false,
    };
    let given: Vec<&str> =
        given.iter().skip_while(|it| DETERMINERS.contains(it)).copied().collect();
    let name = name.to_lowercase();
    given.starts_with(&tokens(&name))
}

/// Whether the robot is sent somewhere: "park next to the piano".
pub(crate) fn is_sent(request: &str) -> bool {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    match words.get(start(&words)..) {
        Some([verb, next, ..]) => {
            let leads = PREPOSITIONS.contains(next) || matches!(*next, "to" | "next");
            leads && ERRANDS.has_tag(verb, "way")
        }
        _ => false,
    }
}

/// Whether the robot is to go somewhere, perhaps with somebody: "go to gate 2", "take me to it".
pub(crate) fn goes_somewhere(request: &str) -> bool {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    is_sent(request)
        || match words.get(start(&words)..) {
            Some([verb, next, ..]) if *next == "to" || PREPOSITIONS.has_tag(next, "surface") => {
                ERRANDS.has_tag(verb, "then")
            }
            Some([verb, "me" | "us", "to", ..]) => ERRANDS.contains(verb),
            _ => false,
        }
}

const SENTENCE_ENDS: [char; 5] = ['.', '!', '?', ';', ':'];

/// Most verbs that lead to another: "go and try to …".
const LEADING_VERBS_MAX: usize = 3;

/// What a first word orders; no order is an errand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Errand,
    Moving,
    Other,
    /// "go and …"
    Leading,
}

fn kind(words: &[&str]) -> Kind {
    let [verb, rest @ ..] = words else { return Kind::Errand };
    let next = rest.first().copied().unwrap_or_default();
    if ERRANDS.contains(&format!("{verb} {next}")) {
        return Kind::Errand;
    }
    let other = if is_order(verb, rest) { Kind::Other } else { Kind::Errand };
    let Some(tags) = ERRANDS.value(verb) else { return other };
    let has = |tag: &str| tags.split(' ').any(|it| it == tag);
    let is_whole = tags.is_empty()
        || has("sight")
        || has("anywhere")
        || has("gives")
        || has("way") && leads_somewhere(next)
        || has("way") && matches!(next, "me" | "us") && rest.contains(&"to")
        || has("me") && (matches!(next, "me" | "us") || is_sent_here(rest));
    let is_moving = has("moving") || has("way");
    match () {
        () if has("then") => Kind::Leading,
        () if is_whole => Kind::Errand,
        () if is_moving && is_done_to(next) && rest.windows(2).any(leads_to) => Kind::Moving,
        () => other,
    }
}

/// Whether a verb orders something before these words. What is a name as well does before what it is
/// done to alone: "phone the supplier" and no "phone charger"; and no clause follows it, "book the man
/// is reading".
fn is_order(verb: &str, rest: &[&str]) -> bool {
    let next = rest.first().copied().unwrap_or_default();
    let is_name = lexicon::is_seldom_verb(verb) || lexicon::is_name(verb);
    let mut clause = rest.iter().take_while(|it| **it != ",");
    let is_told = |it: &str| COPULAS.contains(it) || matches!(it, "has" | "had" | "have" | "i");
    // "wear is my cane", "change of plan", "near the door"
    let is_none = matches!(next, "did" | "do" | "does" | "of") || COPULAS.contains(next);
    let is_word_of_place = PREPOSITIONS.contains(verb);
    lexicon::is_verb(verb)
        && !is_none
        && !is_word_of_place
        && (!is_name || (is_done_to(next) || counts(rest)) && !clause.any(|it| is_told(it)))
}

/// "ten copies"; not "mug three".
fn counts(rest: &[&str]) -> bool {
    matches!(rest, [number, several, ..] if time::is_number(number) && several.ends_with('s'))
}

/// Whether a word may begin what something is done to; not "a book *that*", "mug *no* the red one".
fn is_done_to(next: &str) -> bool {
    let is_other = matches!(next, "that" | "no");
    BOUNDARIES.has_tag(next, "object") || DETERMINERS.contains(next) && !is_other
}

/// "run *to*", "park *yourself*"; not "run a bath".
fn leads_somewhere(next: &str) -> bool {
    PREPOSITIONS.contains(next) && next != "off"
        || AFTER_WAY.contains(next)
        || next.starts_with("towards")
        || next.ends_with("stairs")
        || next.ends_with("side")
}

/// "throw the towel *over*", "carry it *to me*".
fn is_sent_here(rest: &[&str]) -> bool {
    rest.iter().any(|it| matches!(*it, "over" | "here"))
        || rest.windows(2).any(|it| matches!(it, ["to", "me" | "us"] | ["my" | "our", "way"]))
}

/// "in the sink", "back", "upstairs"; not "the kettle on".
fn leads_to(pair: &[&str]) -> bool {
    let [before, next] = pair else { return false };
    let is_place = PREPOSITIONS.has_tag(before, "surface") || leads_somewhere(before);
    is_place && *next != "," || leads_somewhere(next) && !PREPOSITIONS.contains(next)
}

/// What follows "go and", "help me".
fn after_leading<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let leads = |it: &&&str| matches!(**it, "and" | "to" | "me" | "us" | "up") || is_manner(it);
    let skipped = match words {
        // "be a dear and …"
        ["be", rest @ ..] => rest.iter().position(|it| *it == "and").map_or(0, |at| at + 1),
        [_, rest @ ..] => rest.iter().take_while(leads).count(),
        [] => 0,
    };
    words.get(skipped + 1..).unwrap_or_default()
}

/// "open the drawer and *get* the scissors".
fn has_errand_after(words: &[&str]) -> bool {
    words.windows(2).enumerate().any(|(at, pair)| {
        let is_led = matches!(pair, ["and" | "then" | "," | "so", _]);
        let rest = words.get(at + 1..).unwrap_or_default();
        is_led && rest.first().is_some_and(|it| ERRANDS.contains(it)) && kind(rest) == Kind::Errand
    })
}

/// Where the order begins: after greetings, politeness, a name that is called, "can you".
fn start(words: &[&str]) -> usize {
    let skip = |mut at: usize| {
        while let Some(skipped) = preamble(words.get(at..).unwrap_or_default()) {
            at += skipped;
        }
        at
    };
    let at = skip(0);
    let rest = words.get(at..).unwrap_or_default();
    let called = rest.iter().take(CALLED_WORDS_MAX + 1).position(|it| *it == ",");
    let called = called.filter(|comma| {
        let is_other = |it: &&&str| DETERMINERS.contains(it) || ERRANDS.contains(it);
        let is_name = *comma > 0 && !rest.iter().take(*comma).any(|it| is_other(&it));
        let after = skip(at + comma + 1);
        is_name && kind(words.get(after..).unwrap_or_default()) != Kind::Errand
    });
    called.map_or(at, |comma| skip(at + comma + 1))
}

/// Most words of a name that is called.
const CALLED_WORDS_MAX: usize = 2;

/// How many words at the beginning order nothing; `None` where the first one may.
fn preamble(words: &[&str]) -> Option<usize> {
    match words {
        ["i" | "we", "would", "like" | "love", "you", "to", ..] => Some(5),
        ["i" | "i'd" | "we" | "we'd", "want" | "need" | "like" | "love", "you", "to", ..] => {
            Some(4)
        }
        ["would" | "do", "you", "mind", ..]
        | ["why", "don't" | "dont", "you", ..]
        | ["you", "need" | "have" | "ought", "to", ..]
        | ["don't", "forget", "to", ..] => Some(3),
        ["you", "should" | "must" | "can" | "could" | "may", ..]
        | ["remember" | "time", "to", ..] => Some(2),
        [asking, who, ..] if AUXILIARIES.has_tag(asking, "orders") && ASKED.contains(who) => {
            Some(2)
        }
        ["you" | "would" | "could" | "can" | "will" | "won't", ..] => None,
        [first, ..] if is_preamble(first) => Some(1),
        _ => None,
    }
}

fn is_preamble(word: &str) -> bool {
    word == "," || GREETINGS.contains(word) || COURTESY.contains(word) || is_manner(word)
}

/// "just", "quickly".
fn is_manner(word: &str) -> bool {
    MANNERS.contains(word)
        || word.ends_with("ly") && !lexicon::is_verb(word) && !lexicon::is_name(word)
}

/// "would you mind water" of "would you mind watering".
fn with_bare_verb(request: &str) -> String {
    let told = request.split_once("mind ").and_then(|(before, after)| {
        let (verb, rest) = after.split_once(' ')?;
        Some(format!("{before}mind {} {rest}", base(verb)?))
    });
    told.unwrap_or_else(|| request.to_owned())
}

fn base(verb: &str) -> Option<String> {
    let stem = verb.strip_suffix("ing")?;
    let undoubled = stem.get(..stem.len().checked_sub(1)?).unwrap_or_default();
    let candidates = [stem.to_owned(), format!("{stem}e"), undoubled.to_owned()];
    candidates.into_iter().find(|it| ERRANDS.contains(it) || lexicon::is_verb(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expect: Ordered, requests: &[&str]) {
        for request in requests {
            assert_eq!(ordered(request), expect, "{request}");
        }
    }

    #[test]
    fn what_is_no_errand_is_told_by_its_verb() {
        check(
            Ordered::OtherDeed,
            &[
                "bake us a strudel",
                "Water the kale!",
                "sing a lullaby",
                "make me a cup of tea",
                "please cook us some pancakes",
                "phone the bike supplier",
                "print ten copies please",
                "Could you boil the kettle?",
                "Robbie, fold the blanket",
                "would you mind emptying the bin",
                "I want you to wash the pan",
                "run a bath",
                "walk the dog",
                "go and water the plants",
                "help me wash the car",
                "be a dear and make the bed",
                "put the kettle on",
                "tell mum that dinner is ready",
            ],
        );
    }

    #[test]
    fn errands_and_what_is_no_order_are_left_to_the_reading() {
        check(
            Ordered::Errand,
            &[
                "hand me the knife",
                "pass me the honey",
                "check on the kettle",
                "lead me to the piano",
                "pop over to the bathroom",
                "run and get the towel",
                "swing by the garage for the drill",
                "chuck us the remote",
                "I need to water the kale, bring me the can",
                "open the drawer and get the scissors",
                "would you mind handing me the novel",
                "make it quick, the drill please",
                "carry the backpack over here",
                "carry it to me",
                "help me find my keys",
                "tell me where the drill is",
                "water bottle please",
                "the drill",
                "drill",
                "phone?",
                "book that I read",
                "mug no the red one",
                "wear is my cane",
                "sewing machine please",
                "brng me the mug",
                "the kale needs water",
                "Walk me over to the sofa",
                "head for the basket",
                "stand next to the mug please",
                "book my mum was reading",
                "mug, please",
                "You saw me using it yesterday",
                "change of plan, the mug",
                "missing the mug, please help",
                "could do with the mug",
                "throw it my way",
                "",
            ],
        );
    }

    #[test]
    fn what_is_given_to_whom_speaks_is_told() {
        assert!(is_given("lend me your umbrella") && is_given("please could you hand us the pan"));
        assert!(!is_given("give it back") && !is_given("tell me a joke") && !is_given("me"));
        assert!(is_given_itself("Bring me the shelf B3, please", "shelf B3"));
        assert!(!is_given_itself("bring me what is on shelf B3", "shelf B3"));
        assert!(!is_given_itself("tell me a joke", "joke") && !is_given_itself("", ""));
    }

    #[test]
    fn where_the_robot_is_sent_is_told() {
        assert!(is_sent("Park next to the piano") && is_sent("please stay by the piano"));
        assert!(!is_sent("stay away from the piano") && !is_sent("don't park by it"));
        for request in
            ["Go to gate 2", "drive to the piano", "take me to the piano", "go in the garage"]
        {
            assert!(goes_somewhere(request), "{request}");
        }
        assert!(!goes_somewhere("get me the piano stool") && !goes_somewhere("go and sit"));
    }

    #[test]
    fn what_is_put_elsewhere_is_an_errand_of_its_own_kind() {
        check(
            Ordered::Moving,
            &[
                "carry the piano up to the roof",
                "put the mug in the sink",
                "put the books away",
                "run the mug down to Anna",
                "move the stool to the kitchen",
            ],
        );
    }
}
