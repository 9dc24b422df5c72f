//! Roles of words put right where the words before them tell them surely and the model of requests
//! takes them for something else.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::lexicon;
use crate::language::reference::errand::{Ordered, goes_somewhere, ordered};
use crate::language::reference::phrase::{is_relative, plain};
use crate::language::reference::second_thought::second_thought;
use crate::language::request_tags::{Role, TaggedRequest, TaggedSpan};
use crate::language::words::{
    ANYBODY, BEFORE_VERBS, COPULAS, DENIALS, DETERMINERS, ERRANDS, PREPOSITIONS, is_room,
};

/// The tags with
/// - a place after a word that leads to where the thing is: "the one *on* the desk" is not the one
///   nearest to it, "the mug *alongside* the box" is one target, and of "*from* the office not the
///   kitchen one" only the kitchen is excluded;
/// - what is said once more after a slip of the tongue: "the mug *no* the red one" is red;
/// - a name that is a verb as well after an article: "the Best Mom *mug*"; and the other way round:
///   "who was doing the *ironing*";
/// - a room of which the model says nothing: "the plant we've got through in the *office*";
/// - what somebody has, or what is inside: "the lady with the *green headscarf*", "the bag with my
///   *mints* in it";
/// - where the robot is to go, and nothing is named to be there: "drive to the *sofa* and wait";
/// - what a search of several ends with: "check every book until you hit the *red* one";
/// - and without the search itself: "have a *rummage* for the mug";
/// - and without where a thing is to be put: "put the comb in the *bathroom*", and what was said
///   before a second thought: "the *hammer*, no, I mean the tape measure".
pub(super) fn by_words_before(request: &str, tagged: &TaggedRequest) -> TaggedRequest {
    let mut put_right = tagged.clone();
    let mut from = 0;
    let is_moving = ordered(request) == Ordered::Moving;
    let mut after_thing = false;
    let is_nameless = !tagged.spans.iter().any(|it| matches!(it.role, Role::Thing | Role::Also));
    for span in &mut put_right.spans {
        let before = plain(request.get(..span.at.start).unwrap_or_default());
        let between = plain(request.get(from..span.at.start).unwrap_or_default());
        from = span.at.end;
        let mut words = before.rsplit(' ').skip_while(|it| DETERMINERS.contains(it) && *it != "no");
        let leads = words.next().unwrap_or_default();
        let is_surface = PREPOSITIONS.has_tag(leads, "surface");
        span.role = match span.role {
            Role::Near if is_surface => Role::Place,
            Role::Also if leads != "with" && PREPOSITIONS.contains(leads) => Role::Place,
            Role::Not if (is_surface || leads == "from") && !denies(&between) => Role::Place,
            Role::Not if leads == "no" && has_article(&before) => Role::Attribute,
            Role::Not if is_end_of_search(request, span) => Role::Attribute,
            Role::Not if is_taken_back(request, tagged, span) => Role::None,
            Role::Place if is_moving && after_thing && leads_on(&between) => Role::None,
            Role::Thing if after_thing && has_or_wears(&between) => Role::Place,
            Role::Attribute if leads == "with" && is_inside(request, span) => Role::Place,
            Role::Thing if leads == "not" && tells_other(request, span) => Role::Not,
            Role::Deed if is_nameless && is_named(&before, request, span) => Role::Thing,
            Role::Thing if is_chore(&before, request, span) => Role::Deed,
            Role::Deed if is_search(&before, request, span) => Role::None,
            Role::Thing if is_search_had(&before, request, span) => Role::None,
            Role::None
            | Role::Thing
            | Role::Attribute
            | Role::Place
            | Role::Not
            | Role::Deed
            | Role::Near
            | Role::Time
            | Role::Also => span.role,
        };
        after_thing |= span.role == Role::Thing;
    }
    put_right.spans.retain(|it| it.role != Role::None);
    if let Some(room) = room_told_of(request, &put_right) {
        put_right.spans.push(room);
        put_right.spans.sort_by_key(|it| it.at.start);
    }
    let is_place_alone = put_right.spans.iter().all(|it| it.role == Role::Place);
    if let Some(first) = put_right.spans.first_mut().filter(|_| is_place_alone)
        && goes_somewhere(request)
    {
        first.role = Role::Thing;
    }
    put_right
}

/// Whether words name what somebody or something has or wears: "the lady *with the* green headscarf",
/// "the man *in the* tie".
fn has_or_wears(between: &str) -> bool {
    match between.split_once(' ') {
        Some(("with" | "in", article)) => DETERMINERS.contains(article),
        _ => between == "with",
    }
}

/// "The bag with my mints *in it*".
fn is_inside(request: &str, span: &TaggedSpan) -> bool {
    let after = plain(request.get(span.at.end..).unwrap_or_default());
    let mut words = after.split(' ');
    let pair = (words.next(), words.next());
    matches!(pair, (Some("in"), Some("it" | "them")) | (Some("inside"), _))
}

/// Whether what was said first is another thing than what is wanted by a second thought: "the
/// *hammer*, no, I mean the tape measure". It says nothing of that.
fn is_taken_back(request: &str, tagged: &TaggedRequest, span: &TaggedSpan) -> bool {
    let is_after = |it: &&TaggedSpan| it.role == Role::Thing && it.at.start >= span.at.end;
    let Some(thing) = tagged.spans.iter().find(is_after) else { return false };
    let text = |at: Range<usize>| plain(request.get(at).unwrap_or_default());
    let between = text(span.at.end..thing.at.start);
    let noun = |name: &str| lexicon::singular(name.rsplit(' ').next().unwrap_or_default());
    let (said, meant) = (noun(&text(span.at.clone())), noun(&text(thing.at.clone())));
    let words: Vec<&str> = between.split(' ').collect();
    said != meant && lexicon::is_name(&said) && second_thought(&words).is_some()
}

/// Whether words tell which of several a search ends with: "... until you hit the *red* one".
pub(super) fn is_end_of_search(request: &str, span: &TaggedSpan) -> bool {
    let before = plain(request.get(..span.at.start).unwrap_or_default());
    let mut words = before.split(' ').skip_while(|it| !matches!(*it, "until" | "till"));
    words.next().is_some() && words.next() == Some("you") && !words.any(|it| DENIALS.contains(it))
}

/// Whether a verb only says that the thing is sought: "somebody *look* for one".
fn is_search(before: &str, request: &str, span: &TaggedSpan) -> bool {
    let after = plain(request.get(span.at.end..).unwrap_or_default());
    let mut after = after.split(' ');
    let is_asked = before.rsplit(' ').next().is_some_and(|it| ANYBODY.contains(it));
    is_asked && after.next() == Some("for") && matches!(after.next(), Some("one" | "it" | "them"))
}

/// Whether a name only says that something is sought: "have a *rummage* for the mug".
fn is_search_had(before: &str, request: &str, span: &TaggedSpan) -> bool {
    let had = plain(request.get(span.at.start..).unwrap_or_default());
    let is_for = match had.split(' ').collect::<Vec<_>>().as_slice() {
        [search, "for", ..] | [search, "about" | "around" | "round", "for", ..] => {
            ERRANDS.contains(search)
        }
        _ => false,
    };
    is_for && (before.ends_with("have a") || before.ends_with("take a"))
}

/// Whether another thing follows after a comma: "not the glasses, *the bottle*".
fn tells_other(request: &str, span: &TaggedSpan) -> bool {
    let after = request.get(span.at.end..).unwrap_or_default();
    let other = after.split_once(',').map(|(_, it)| plain(it)).unwrap_or_default();
    other.split(' ').next().is_some_and(|it| DETERMINERS.has_tag(it, "article"))
}

/// "in the", after the thing, of where it is to be put; not "that is in the", "from the".
fn leads_on(between: &str) -> bool {
    let is_told =
        |it: &str| COPULAS.contains(it) || is_relative(it) || matches!(it, "from" | "off");
    !between.split(' ').any(is_told)
}

/// Whether words say that something is not so.
fn denies(words: &str) -> bool {
    words
        .split(' ')
        .any(|it| DENIALS.contains(it) || it.ends_with("n't") || it.starts_with("exclud"))
}

/// "no *the*", of a second thought; "no red one" has none.
fn has_article(before: &str) -> bool {
    before.rsplit(' ').next().is_some_and(|it| it != "no" && DETERMINERS.contains(it))
}

/// Whether a verb that is oftener a name follows an article, with no one who does it between.
fn is_named(before: &str, request: &str, span: &TaggedSpan) -> bool {
    let said = plain(request.get(span.at.clone()).unwrap_or_default());
    let is_name = lexicon::is_name(&said) && lexicon::is_seldom_verb(&said);
    let mut words = before.rsplit(' ');
    let is_subject = |it: &str| it == "to" || BEFORE_VERBS.contains(it) || it == "somebody";
    let told = words.by_ref().take(NAME_WORDS_MAX).take_while(|it| !is_subject(it));
    is_name && told.into_iter().any(|it| DETERMINERS.has_tag(it, "article"))
}

/// "Who was doing the *ironing*".
fn is_chore(before: &str, request: &str, span: &TaggedSpan) -> bool {
    let said = plain(request.get(span.at.clone()).unwrap_or_default());
    let mut words = before.rsplit(' ').skip_while(|it| DETERMINERS.contains(it));
    let is_done = matches!(words.next(), Some("do" | "does" | "did" | "doing" | "done"));
    is_done && !said.contains(' ') && said.ends_with("ing")
}

/// Most words between an article and the end of a name.
const NAME_WORDS_MAX: usize = 4;

/// The room in which the thing is, where nothing else tells its place and the robot is not to take it
/// anywhere.
fn room_told_of(request: &str, tagged: &TaggedRequest) -> Option<TaggedSpan> {
    let is_told = |it: &TaggedSpan| matches!(it.role, Role::Place | Role::Near | Role::Not);
    let is_moved = || plain(request).split(' ').any(|it| ERRANDS.has_tag(it, "moving"));
    if tagged.spans.iter().any(is_told) || is_moved() {
        return None;
    }
    let thing = tagged.spans.iter().find(|it| it.role == Role::Thing)?;
    rooms(request).into_iter().find_map(|(leads, at)| {
        let is_apart = !tagged.spans.iter().any(|it| it.at.start < at.end && at.start < it.at.end);
        let is_in = matches!(leads.as_str(), "in" | "from" | "inside" | "at");
        // "nip into the bathroom and come back with it"
        let goes = || matches!(leads.as_str(), "to" | "into" | "through");
        let between = plain(request.get(at.end..thing.at.start).unwrap_or_default());
        let is_left = || between.split(' ').any(|it| matches!(it, "and" | "for" | "then"));
        let is_place = if at.start > thing.at.end { is_in } else { (is_in || goes()) && is_left() };
        (is_place && is_apart).then_some(TaggedSpan { role: Role::Place, at })
    })
}

/// The rooms that stand after an article, each with the word before that.
fn rooms(request: &str) -> Vec<(String, Range<usize>)> {
    let words: Vec<&str> = request.split_whitespace().collect();
    let start = |word: &str| word.as_ptr() as usize - request.as_ptr() as usize;
    let end =
        |word: &str| start(word) + word.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let stem = |word: &str| lexicon::noun_stem(&plain(word));
    let named = words.windows(3).enumerate().filter_map(|(at, of)| {
        let [before, article, first] = of else { return None };
        let second =
            words.get(at + 3).filter(|it| is_room(&format!("{} {}", stem(first), stem(it))));
        let is_one = second.is_some() || is_room(&stem(first));
        let is_named = is_one && DETERMINERS.has_tag(&plain(article), "article");
        let last = second.unwrap_or(first);
        is_named.then(|| (plain(before), start(first)..end(last)))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_right(request: &str, spans: &[(Role, &str)]) -> Vec<(Role, String)> {
        let span = |(role, text): &(Role, &str)| {
            let at = request.find(text).unwrap();
            TaggedSpan { role: *role, at: at..at + text.len() }
        };
        let spans = spans.iter().map(span).collect();
        let tagged = TaggedRequest { spans, ..TaggedRequest::default() };
        let spans = by_words_before(request, &tagged).spans;
        spans.into_iter().map(|it| (it.role, request[it.at].to_owned())).collect()
    }

    #[test]
    fn roles_are_put_right_by_the_words_before_them() {
        use Role::{Also, Attribute, Deed, Near, Not, Place, Thing};
        for (request, tagged, expect) in [
            ("the one on the desk", &[(Near, "desk")][..], &[Place][..]),
            ("the mug nearest the desk", &[(Thing, "mug"), (Near, "desk")], &[Thing, Near]),
            ("mug alongside the box", &[(Thing, "mug"), (Also, "box")], &[Thing, Place]),
            (
                "the mug from the office not the kitchen one",
                &[(Thing, "mug"), (Not, "office"), (Not, "kitchen")],
                &[Thing, Place, Not],
            ),
            ("a mug not from the office", &[(Thing, "mug"), (Not, "office")], &[Thing, Not]),
            ("the mug no the red one", &[(Thing, "mug"), (Not, "red")], &[Thing, Attribute]),
            ("the mug not the red one", &[(Thing, "mug"), (Not, "red")], &[Thing, Not]),
            (
                "go through the mugs until you hit the red one",
                &[(Thing, "mugs"), (Not, "red")],
                &[Thing, Attribute],
            ),
            (
                "bring mugs until you have none but the red one",
                &[(Thing, "mugs"), (Not, "red")],
                &[Thing, Not],
            ),
            (
                "a trainer, so somebody look for one",
                &[(Thing, "trainer"), (Deed, "look")],
                &[Thing],
            ),
            (
                "have a rummage about for a cushion",
                &[(Thing, "rummage"), (Thing, "cushion")],
                &[Thing],
            ),
            ("have a look", &[(Thing, "look")], &[Thing]),
            ("the book somebody looked at", &[(Thing, "book"), (Deed, "looked")], &[Thing, Deed]),
            ("not the glasses, the bottle", &[(Thing, "glasses")], &[Not]),
            (
                "the hammer, wait, no, I mean the tape measure",
                &[(Not, "hammer"), (Thing, "tape measure")],
                &[Thing],
            ),
            ("not the red mug, sorry, the mug", &[(Not, "red mug"), (Thing, "mug")], &[Not, Thing]),
            (
                "the lady with the green headscarf",
                &[(Thing, "lady"), (Thing, "green headscarf")],
                &[Thing, Place],
            ),
            (
                "the bag with my mints in it",
                &[(Thing, "bag"), (Attribute, "mints")],
                &[Thing, Place],
            ),
            (
                "the bag with dinosaurs on it",
                &[(Thing, "bag"), (Attribute, "dinosaurs")],
                &[Thing, Attribute],
            ),
            ("a mug with no red stripes", &[(Thing, "mug"), (Not, "red")], &[Thing, Not]),
            ("bring me the Best Mom mug", &[(Deed, "mug")], &[Thing]),
            ("bring what the man used to drill the holes", &[(Deed, "drill")], &[Deed]),
            ("who was doing the ironing", &[(Thing, "ironing")], &[Deed]),
            ("bring me the knitting", &[(Thing, "knitting")], &[Thing]),
            ("the plant we have through in the office", &[(Thing, "plant")], &[Thing, Place]),
            ("the plant through in the living room", &[(Thing, "plant")], &[Thing, Place]),
            (
                "nip into the bathroom and come back with the box",
                &[(Thing, "box")],
                &[Place, Thing],
            ),
            ("bring the plant to the office", &[(Thing, "plant")], &[Thing]),
            ("put the plant down in the office", &[(Thing, "plant")], &[Thing]),
            ("put the comb in the box", &[(Thing, "comb"), (Place, "box")], &[Thing]),
            (
                "move the comb that is in the box to the hall",
                &[(Thing, "comb"), (Place, "box")],
                &[Thing, Place],
            ),
        ] {
            let roles: Vec<Role> = put_right(request, tagged).iter().map(|it| it.0).collect();
            assert_eq!(roles, expect, "{request}");
        }
    }
}
