//! What is made of the tags of a request.

use super::*;
use crate::language::request_tags::TaggedSpan;
use crate::language::time;

use crate::language::request_tags::Superlative::{Earliest, Latest, Least, Most};

/// Its columns as `memory/episodic/requests.txt` has them.
pub(crate) fn shown(it: &Reference) -> Vec<String> {
    let order = match &it.order {
        None => String::new(),
        Some(Order::MostOften) => "most".to_owned(),
        Some(Order::LeastOften) => "least".to_owned(),
        Some(Order::Latest) => "latest".to_owned(),
        Some(Order::Earliest) => "earliest".to_owned(),
        Some(Order::LongestAgo) => "longest ago".to_owned(),
        Some(Order::NearestTo(thing)) => format!("near {thing}"),
    };
    let when: Vec<&str> = it.when.iter().map(|time| time.text.as_str()).collect();
    vec![
        it.thing.clone(),
        it.around.join(", "),
        it.doing.clone().unwrap_or_default(),
        order,
        when.join(", "),
    ]
}

/// What is made of a request whose words are marked: "the [thing:mug] I [deed:use]".
fn made(marked: &str, order: Superlative, tense: Tense) -> Reference {
    let (mut request, mut spans) = (String::new(), Vec::new());
    for (at, piece) in marked.split(['[', ']']).enumerate() {
        let (role, words) = match piece.split_once(':') {
            Some((role, words)) if at % 2 == 1 => (Some(role), words),
            _ => (None, piece),
        };
        let start = request.len();
        request.push_str(words);
        let role = role.map(|role| serde_json::from_value(role.into()).unwrap());
        spans.extend(role.map(|role| TaggedSpan { role, at: start..request.len() }));
    }
    let times = time::find(&request);
    Reference::of(
        &request,
        &TaggedRequest { spans, order, tense, ..TaggedRequest::default() },
        &times,
    )
}

fn check(marked: &str, order: Superlative, tense: Tense, expect: &str) {
    assert_eq!(shown(&made(marked, order, tense)).join(" | "), expect, "{marked}");
}

#[test]
fn a_place_that_is_driven_to_is_what_is_wanted_whatever_is_done_there() {
    let none = Superlative::None;
    let told = "drive over to the [place:sofa] and keep an eye on the things";
    check(told, none, Tense::None, "sofa |  |  |  | ");
    let left = "bring me what is on the [place:sofa]";
    check(left, none, Tense::None, " | sofa |  |  | ");
}

#[test]
fn a_moment_is_no_thing() {
    let waiting = made("wait there a [thing:sec]", Superlative::None, Tense::None);
    assert_eq!((waiting.thing.as_str(), waiting.intent), ("", Intent::Chat));
    let told = "is it in the [place:kitchen], I'll be there in a [thing:minute]";
    let asked = made(told, Superlative::None, Tense::None);
    assert_eq!((asked.thing.as_str(), asked.around.as_slice()), ("", &["kitchen".to_owned()][..]));
}

#[test]
fn what_the_words_say_is_put_together() {
    let none = Superlative::None;
    check("Bring me a [thing:book]", none, Tense::None, "book |  |  |  | ");
    check("where is the [thing:lunch box]", none, Tense::None, "lunch box |  |  |  | ");
    check(
        "the [thing:blanket] dad [deed:had around his legs]",
        none,
        Tense::Once,
        "blanket |  | having |  | ",
    );
    check(
        "Bring me the [thing:box] marked fragile from the [place:shelf], please",
        none,
        Tense::None,
        "box marked fragile | shelf |  |  | ",
    );
    check(
        "the [thing:mug] that says best dad pls",
        none,
        Tense::None,
        "mug marked best dad |  |  |  | ",
    );
    check(
        "the [thing:note] that says thank you",
        none,
        Tense::None,
        "note marked thank you |  |  |  | ",
    );
    check(
        "where is the [thing:book] titled [thing:moby dick]?",
        none,
        Tense::None,
        "book marked moby dick |  |  |  | ",
    );
    check(
        "Knapsack next to the [place:pink book] pls",
        none,
        Tense::None,
        "knapsack | pink book |  |  | ",
    );
    check(
        "bring me the [thing:book] I was [deed:reading] [time:yesterday]",
        none,
        Tense::Once,
        "book |  | reading |  | yesterday",
    );
    check(
        "Bring me the [thing:mug] that I [deed:use] the most",
        Most,
        Tense::None,
        "mug |  | using | most | ",
    );
    check(
        "the [thing:book] that is usually on the [place:nightstand]",
        Most,
        Tense::Habit,
        "book | nightstand |  | most | ",
    );
    check("the [thing:mug] I rarely [deed:use]", Least, Tense::None, "mug |  | using | least | ");
    check(
        "the last [thing:book] I [deed:read]",
        Latest,
        Tense::Once,
        "book |  | reading | latest | ",
    );
    check(
        "the first [thing:mug] I [deed:used] [time:today]",
        Earliest,
        Tense::Once,
        "mug |  | using | earliest | today",
    );
    check(
        "the [thing:cushion] closest to the [near:window]",
        none,
        Tense::None,
        "cushion |  |  | near window | ",
    );
}

#[test]
fn the_word_before_a_place_decides_what_it_is_to_the_thing() {
    let none = Superlative::None;
    let check = |marked, expect| check(marked, none, Tense::None, expect);
    check(
        "I want the [thing:mug]! That one on the [near:white table]!",
        "mug | white table |  |  | ",
    );
    check("the [thing:mug] nearest the [near:white table]", "mug |  |  | near white table | ");
    check("the [thing:mug] alongside the [also:blue box]", "mug | blue box |  |  | ");
    let also = |marked| made(marked, none, Tense::None).also;
    assert_eq!(also("the [thing:mug] with the [also:blue box]"), ["blue box"]);
    assert_eq!(also("the [thing:mug] and the [also:blue box]"), ["blue box"]);
}

#[test]
fn a_place_that_is_named_before_is_meant_by_it_and_there() {
    let none = Superlative::None;
    let check = |marked, expect| check(marked, none, Tense::None, expect);
    check(
        "Walk to the hallway and bring me the [thing:ball] that's in it",
        "ball | hallway |  |  | ",
    );
    check(
        "Would you pop into the kitchen and bring me the [thing:cushion] that's in there?",
        "cushion | kitchen |  |  | ",
    );
    check("Go to the desk. Get the [thing:book] that is there.", "book | desk |  |  | ");
    check("Go to the desk. Get the [thing:book], I need it.", "book |  |  |  | ");
    check("In the morning get the [thing:book] that is there.", "book |  |  |  | ");
    check(
        "Go to the desk, get the [thing:book] on the [place:sofa] and put it there",
        "book | sofa |  |  | ",
    );
}

#[test]
fn a_thing_named_by_its_colour_alone_is_of_the_kind_of_the_first() {
    let of = |marked: &str| made(marked, Superlative::None, Tense::None).also;
    assert_eq!(of("the [thing:blue mug] and the [also:red] one"), ["red mug"]);
    assert_eq!(of("the [thing:blue mug] and the [also:red hat]"), ["red hat"]);
    assert_eq!(of("the [thing:blue mug] and then the [thing:red one]"), ["red mug"]);
    assert_eq!(of("the [thing:mug] and [thing:the book]"), ["book"]);
    assert_eq!(of("a [thing:mug] that is [attribute:big] and [attribute:red]"), [""; 0]);
}

#[test]
fn ordinals_beyond_those_of_the_model_count_where_an_order_is_asked_for() {
    let of = |marked: &str, order| made(marked, order, Tense::None).rank;
    assert_eq!(of("my fifth most [deed:used] [thing:mug]", Most), 4);
    assert_eq!(of("the 4th latest [thing:mug]", Latest), 3);
    assert_eq!(of("the [thing:mug] on the [place:fourth shelf] that I [deed:use] most", Most), 0);
    assert_eq!(of("the fifth [thing:element]", Superlative::None), 0);
}

#[test]
fn a_deed_may_say_where_and_may_name_the_thing() {
    let none = Superlative::None;
    check(
        "the [thing:book] I was [deed:reading in bed] [time:last night]",
        none,
        Tense::Once,
        "book | bed | reading |  | last night",
    );
    check(
        "the [thing:book] that Tom was [deed:reading] on the sofa when I came",
        none,
        Tense::Once,
        "book | sofa | reading |  | ",
    );
    check(
        "I was [deed:reading] a [thing:book] [deed:in bed] [time:last night]",
        none,
        Tense::Once,
        "book | bed | reading |  | last night",
    );
    check(
        "the [thing:book] Tom was [deed:reading on] [time:the sofa]",
        none,
        Tense::Once,
        "book | sofa | reading |  | ",
    );
    check("that [thing:book] about [deed:gardening]", none, Tense::None, "book |  |  |  | ");
    check("the [thing:book] I [deed:read] at length", none, Tense::Once, "book |  | reading |  | ");
    check(
        "something to [deed:drink from]",
        none,
        Tense::None,
        "something to drink from |  |  |  | ",
    );
    check("anything to [deed:iron]", none, Tense::None, "anything to iron |  |  |  | ");
    check(
        "what was I [deed:reading] at the [place:desk] [time:on Friday]?",
        none,
        Tense::Once,
        " | desk | reading |  | on Friday",
    );
    check("what I left on the [place:sofa]", none, Tense::Once, " | sofa |  |  | ");
    check("the [thing:pan] to [deed:cook with]", none, Tense::None, "pan |  |  |  | ");
}

#[test]
fn what_the_model_passes_over_is_named_by_the_rest() {
    let none = Superlative::None;
    check("You wouldn't have a ball handy, would you?", none, Tense::None, "ball |  |  |  | ");
    check("where did I leave my keys?", none, Tense::Once, "keys |  |  |  | ");
    check(
        "whatever was on top of the [place:shelf] [time:yesterday]",
        none,
        Tense::Once,
        " | shelf |  |  | yesterday",
    );
    check("what did I leave on the [place:sofa]?", none, Tense::Once, " | sofa |  |  | ");
}

#[test]
fn one_of_a_kind_is_named_by_the_kind() {
    let none = Superlative::None;
    check(
        "of our [place:mug collection] the [attribute:green] one",
        none,
        Tense::None,
        "green mug |  |  |  | ",
    );
    check("the [attribute:red] one of the [place:mugs]", none, Tense::None, "red mugs |  |  |  | ");
    check("the [attribute:red] one on the [place:desk]", none, Tense::None, "red | desk |  |  | ");
}

#[test]
fn times_are_those_that_tell_of_the_thing() {
    let none = Superlative::None;
    check("my usual [thing:morning mug]", Most, Tense::Habit, "mug |  |  | most | every morning");
    let nap = "the [thing:phone] I was [deed:having] a nap with";
    check(nap, none, Tense::Once, "phone |  | sleeping |  | ");
    check("our [thing:everyday bowl]", none, Tense::None, "bowl |  |  | most | ");
    check(
        "the [thing:hat] that dad [deed:wears] [time:on weekends]",
        none,
        Tense::Habit,
        "hat |  | wearing | most | on weekends",
    );
    check(
        "the [thing:mug] I [deed:used] first today",
        Earliest,
        Tense::None,
        "mug |  | using | earliest | today",
    );
    check("no hurry, we have all afternoon: the [thing:hat]", none, Tense::None, "hat |  |  |  | ");
    let aside =
        "the [thing:hat] that is mostly on the [place:hook]. I can't think straight [time:today]";
    check(aside, none, Tense::Habit, "hat | hook |  | most | ");
    let habit = "the [thing:hat] that is mostly on the [place:hook]. I mean [time:in the evening]";
    check(habit, none, Tense::Habit, "hat | hook |  | most | in the evening");
}

#[test]
fn further_things_are_kept_in_their_order() {
    let made = made(
        "the [thing:mug], then my [also:red book], the [also:mug] and [also:um keys]",
        Superlative::None,
        Tense::None,
    );
    assert_eq!((made.thing.as_str(), made.also), ("mug", vec!["red book".into(), "keys".into()]));
}

#[test]
fn a_question_that_asks_nothing_is_a_request() {
    let read = |intent, asked| {
        let tagged = TaggedRequest { intent, asked, ..TaggedRequest::default() };
        Reference::of("the hat", &tagged, &[]).intent
    };
    assert_eq!(read(Intent::Question, Asked::None), Intent::Fetch);
    assert_eq!(read(Intent::Question, Asked::Count), Intent::Question);
    assert_eq!(read(Intent::Stop, Asked::None), Intent::Stop);
}

#[test]
fn a_word_that_asks_names_nothing() {
    for request in ["whats on top of the [place:cake]", "whats in the [place:bakery]"] {
        assert_eq!(made(request, Superlative::None, Tense::None).thing, "", "{request}");
    }
}

#[test]
fn what_it_is_not_is_kept_apart() {
    let made = made(
        "a [thing:mug] other than the [not:red] one, by the [place:mug]",
        Superlative::None,
        Tense::None,
    );
    assert_eq!((made.thing.as_str(), made.without), ("mug", vec!["red".to_owned()]));
    assert_eq!(made.around, [""; 0]);
}

#[test]
fn what_has_no_name_is_one_of_what_it_is_not() {
    let made = |marked| made(marked, Superlative::None, Tense::None);
    let glasses = made("the [not:gold glasses], no, I want the [attribute:black] ones");
    assert_eq!(
        (glasses.thing.as_str(), glasses.without),
        ("black glasses", vec!["gold glasses".into()])
    );
    assert_eq!(made("the [not:gold], no, the [attribute:black] ones").thing, "black");
    assert_eq!(made("anything but the [not:red mug]").thing, "mug");
}

#[test]
fn who_did_it_is_told_where_it_is_somebody_else() {
    let doer = |marked| made(marked, Superlative::None, Tense::Once).doer;
    for (marked, expect) in [
        ("the [thing:book] that the woman was [deed:reading]", Some("woman")),
        ("the [thing:mug] my sister always [deed:drinks] from", Some("sister")),
        ("the [thing:book] I was [deed:reading]", None),
        ("the [thing:book] the user was [deed:reading]", None),
        ("the woman's [thing:book]", None),
    ] {
        assert_eq!(doer(marked).as_deref(), expect, "{marked}");
    }
}

#[test]
fn two_names_in_one_are_two_things() {
    for (marked, thing, also) in [
        ("how many [thing:mugs and books] are there", "mugs", &["books"][..]),
        ("bring [thing:salt and pepper]", "salt", &["pepper"]),
        ("bring the [thing:red mugs and green books]", "red mugs", &["green books"]),
        ("the [thing:black and white mug]", "black and white mug", &[]),
        ("the [thing:salt and pepper shaker]", "salt and pepper shaker", &[]),
    ] {
        let read = made(marked, Superlative::None, Tense::None);
        assert_eq!(
            (read.thing.as_str(), read.also.as_slice()),
            (thing, &also.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
            "{marked}"
        );
    }
}
