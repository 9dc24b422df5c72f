//! What the words of a question tell beside what the model of requests does: whether it is
//! one, with what a thing is compared, and whether its first time is meant.
//!
//! Pure. English.

use crate::language::known_words::is_known_name;
use crate::language::lexicon::singular;
use crate::language::reference::courtesy::without_courtesy;
use crate::language::reference::phrase::{plain, thing};
use crate::language::reference::uses::DescribedByUse;
use crate::language::request_tags::{Asked, Intent, Role, TaggedRequest};
use crate::language::verbs;
use crate::language::words::{AUXILIARIES, COPULAS, DETERMINERS, ERRANDS, QUESTION_WORDS};

/// What is wanted. A question that asks nothing is a request, and so is one for the place
/// where somebody put a thing: there it still is, for all that is known.
pub(super) fn intent(request: &str, tagged: &TaggedRequest, is_open: bool) -> Intent {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    // "Was" and its like place nothing.
    let is_placed = || words.iter().any(|it| it.len() > 2 && !is_past(it) && verbs::is_placing(it));
    match (tagged.intent, tagged.asked) {
        (Intent::Question | Intent::Where, _) if ends_in_order(request) => Intent::Fetch,
        (Intent::Question | Intent::Where, _) if asks_for_sighting(&words) => Intent::Question,
        (Intent::Question, Asked::None) => Intent::Fetch,
        (Intent::Question, Asked::Place) if is_open && is_placed() && !asks_for_first(request) => {
            Intent::Where
        }
        (Intent::Chat, _) if is_bare_name(request, tagged) => Intent::Fetch,
        (Intent::Fetch | Intent::Where, _) if asks_of_the_past(&words) => Intent::Question,
        (Intent::Where, Asked::Existence) if asks_whether_there_is(&words) => Intent::Question,
        (Intent::Where, _) if asks_for_any(&words) || asks_for_use(request) => Intent::Question,
        (Intent::Where, Asked::Place) if asks_for_first(request) => Intent::Question,
        (intent, _) => intent,
    }
}

/// Whether nothing is said but what a thing is called: "sellotape, please", and not "hooray".
fn is_bare_name(request: &str, tagged: &TaggedRequest) -> bool {
    let without_article = |text: &str| {
        let words = plain(&without_courtesy(text));
        let words = words.split(' ').skip_while(|it| DETERMINERS.contains(it));
        words.collect::<Vec<_>>().join(" ")
    };
    match tagged.spans.as_slice() {
        [only] if only.role == Role::Thing => {
            let name = without_article(request.get(only.at.clone()).unwrap_or_default());
            let noun = name.rsplit(' ').next().unwrap_or_default();
            let is_known = [name.as_str(), noun].iter().any(|it| is_known_name(&singular(it)));
            let is_said = name.split(' ').any(|it| COPULAS.contains(it)); // "that was quick"
            is_known && !is_said && without_article(request) == name
        }
        _ => false,
    }
}

/// What a question asks, where its words tell it surely.
pub(super) fn asked(request: &str, tagged: &TaggedRequest) -> Asked {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    if asks_for_any(&words) || asks_for_use(request) { Asked::Existence } else { tagged.asked }
}

/// "Have we got *something to cut paper with*": whether there is a thing for that, and not whether
/// somebody did it.
pub(super) fn asks_for_use(request: &str) -> bool {
    let Some(described) = DescribedByUse::of(request) else { return false };
    let before = plain(request.get(..described.at.start).unwrap_or_default());
    let words: Vec<&str> = before.split(' ').collect();
    matches!(
        words.as_slice(),
        [.., "is" | "are", "there"]
            | [.., "do" | "does", _, "have" | "own"]
            | [.., "have" | "has", _, "got"]
    )
}

/// "Is it in the hall? If so *bring it*", "do we own a fork, if so *I'd like it*".
fn ends_in_order(request: &str) -> bool {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    let if_so = words.windows(2).position(|it| matches!(it, ["if", "so" | "yes"]));
    let after = match (request.split_once('?'), if_so) {
        (Some((_, after)), _) => plain(after),
        (None, Some(at)) => words.get(at..).unwrap_or_default().join(" "),
        (None, None) => return false,
    };
    let words: Vec<&str> = after.split(' ').collect();
    let leads = |it: &&&str| {
        matches!(
            **it,
            "if" | "so" | "yes" | "then" | "and" | "please" | "just" | "go" | "is" | "it"
        )
    };
    let told = words.get(words.iter().take_while(leads).count()..).unwrap_or_default();
    match told {
        ["i'd" | "id" | "i", "like" | "want" | "need", next, ..] => *next != "to",
        [verb, _, ..] => ERRANDS.has_tag(verb, "gives"),
        _ => false,
    }
}

/// "Is there a bottle".
fn asks_whether_there_is(words: &[&str]) -> bool {
    matches!(words, ["is" | "are" | "was" | "were", "there", ..])
}

/// "Do we have *a* chainsaw", "have you seen *any* tape": whether there is one at all.
fn asks_for_any(words: &[&str]) -> bool {
    let any = match words {
        ["is" | "are", "there", rest @ ..]
        | ["do" | "does", _, "have" | "own", rest @ ..]
        | ["have" | "has", _, "got", rest @ ..]
        | ["have", "you", "ever", "seen", rest @ ..]
        | ["have", "you", "seen", rest @ ..]
        | ["did", "you", "see", rest @ ..] => rest.first(),
        _ => None,
    };
    matches!(any, Some(&("a" | "an" | "any")))
}

/// "What did I do with my keys" asks where they are now.
fn asks_of_the_past(words: &[&str]) -> bool {
    let is_lost = words.windows(2).any(|pair| pair == ["do", "with"]);
    !is_lost
        && matches!(words, [first, second, ..] if QUESTION_WORDS.contains(first) && is_past(second))
}

/// "Where did you last see the hammer" asks what the robot saw, and not where the hammer is.
fn asks_for_sighting(words: &[&str]) -> bool {
    matches!(words, ["where", "did", "you", ..]) && words.contains(&"see")
}

/// Whether a verb tells of then: "what *was* on the table".
fn is_past(verb: &str) -> bool {
    AUXILIARIES.has_tag(verb, "past")
}

/// The thing after "than" in "is the red mug used more than the blue one", which has a kind
/// of its own or that of the first.
pub(super) fn compared_with(request: &str) -> Option<String> {
    let words = plain(request);
    let (_, after) = words.split_once(" than ")?;
    let is_end = |word: &&str| !matches!(*word, "was" | "is" | "were" | "are" | "in" | "on" | "at");
    let name: Vec<&str> = after.split(' ').take_while(is_end).collect();
    Some(thing(&[name.join(" ")], &[])).filter(|it| !it.is_empty())
}

/// "When did you *first see* it", the *first time*, "where did you see it *first*".
pub(super) fn asks_for_first(request: &str) -> bool {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    if let ["where" | "when", "did" | "was" | "were", .., "first"] = words.as_slice() {
        return true;
    }
    words.windows(2).any(|pair| {
        let [first, next] = pair else { return false };
        let is_seen = next.starts_with("see")
            || next.starts_with("notice")
            || next.starts_with("spot")
            || matches!(*next, "saw" | "time" | "appear" | "appeared" | "used" | "use");
        *first == "first" && is_seen
    })
}

/// "The *least recently* used mug", "the mug I used *longest ago*".
pub(super) fn asks_for_longest_ago(request: &str) -> bool {
    let words = plain(request);
    let words: Vec<&str> = words.split(' ').collect();
    words.windows(2).any(|it| matches!(it, ["least", "recently"] | ["longest", "ago"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::request_tags::TaggedSpan;

    fn intended(request: &str, intent: Intent, asked: Asked, is_open: bool) -> Intent {
        super::intent(
            request,
            &TaggedRequest { intent, asked, ..TaggedRequest::default() },
            is_open,
        )
    }

    #[test]
    fn whether_there_is_something_for_a_use_is_told_from_whether_it_was_done() {
        for (request, expect) in [
            ("have we got something to open tins with", true),
            ("um do we have anything to cut paper with?", true),
            ("is there something I can sit on", true),
            ("did anyone take something to read", false),
            ("is there anything on the table", false),
            ("do we have a knife", false),
        ] {
            assert_eq!(asks_for_use(request), expect, "{request}");
        }
    }

    #[test]
    fn a_question_of_the_past_is_one_and_where_somebody_left_a_thing_is_where_it_is() {
        use Intent::{Fetch, Question, Where};
        let check = |request: &str, said, asked, is_open, expect| {
            assert_eq!(intended(request, said, asked, is_open), expect, "{request}");
        };
        check("where did I leave the scarf", Question, Asked::Place, true, Where);
        check("where was the scarf", Question, Asked::Place, true, Question);
        check("where did I leave it on Monday", Question, Asked::Place, false, Question);
        check("What was on the table?", Fetch, Asked::None, true, Question);
        check("what did I do with my keys", Where, Asked::None, true, Where);
        check("what I left on the table", Fetch, Asked::None, true, Fetch);
        check("a book", Question, Asked::None, true, Fetch);
        let asked_and_ordered = "is it in the hall? if so bring it";
        check(asked_and_ordered, Question, Asked::Existence, true, Fetch);
        check("do we own a fork? if so id like it", Question, Asked::Existence, true, Fetch);
        check("is there a fork if yes bring it here", Question, Asked::Existence, true, Fetch);
        check("um is there a fork, if so bring it to me", Where, Asked::None, true, Fetch);
        check("is there a fork? i'd like to know", Question, Asked::Existence, true, Question);
        check("tell me if so many forks are there", Question, Asked::Count, true, Question);
        check("is it in the hall? thanks", Question, Asked::Existence, true, Question);
        check("is there a bottle", Where, Asked::Existence, true, Question);
        check("do we have a chainsaw somewhere", Where, Asked::None, true, Question);
        check("have you seen a wheelchair anywhere", Where, Asked::Place, true, Question);
        check("have you seen my phone", Where, Asked::Place, true, Where);
        check("where did you last see the hammer", Where, Asked::Place, true, Question);
        check("where did you last see the hammer", Question, Asked::Place, true, Question);
        check("where did you put the hammer", Where, Asked::Place, true, Where);
        check("do we have any tape? bring it", Fetch, Asked::None, true, Fetch);
        check("is there something I can sit on", Where, Asked::Place, true, Question);
        check("where did you see it first", Where, Asked::Place, true, Question);
        check("where did you see it first", Question, Asked::Place, true, Question);
    }

    #[test]
    fn a_bare_name_is_a_request_for_it() {
        let check = |request: &str, thing: &str, expect| {
            let start = request.find(thing).unwrap();
            let spans = vec![TaggedSpan { role: Role::Thing, at: start..start + thing.len() }];
            let intent = Intent::Chat;
            let tagged = TaggedRequest { spans, intent, ..TaggedRequest::default() };
            assert_eq!(super::intent(request, &tagged, true), expect, "{request}");
        };
        check("ipad", "ipad", Intent::Fetch);
        check("my knitting needles, please!", "knitting needles", Intent::Fetch);
        check("hooray", "hooray", Intent::Chat);
        check("thanks, that was quick", "was quick", Intent::Chat);
        check("nice mug", "mug", Intent::Chat);
        check("my mug is empty", "mug", Intent::Chat);
    }

    #[test]
    fn what_a_thing_is_compared_with_stands_after_than() {
        for (request, expect) in [
            ("do I use the red mug more than the blue one", Some("blue")),
            ("was the umbrella seen later than the newspaper?", Some("newspaper")),
            ("is the red mug nearer than the lamp was", Some("lamp")),
            ("the red mug", None),
        ] {
            assert_eq!(compared_with(request).as_deref(), expect, "{request}");
        }
    }

    #[test]
    fn the_first_time_is_told_from_the_first_thing() {
        assert!(asks_for_first("when did you first see the red mug"));
        assert!(asks_for_first("When was the first time you saw it?"));
        assert!(asks_for_first("where did you see the mug first?"));
        assert!(!asks_for_first("bring me the first mug"));
        assert!(!asks_for_first("first the mug, then the book"));
    }
}
