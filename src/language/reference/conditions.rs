//! What a request makes its errand depend on, or puts off: "if it is clean", "unless
//! somebody uses it", "in five minutes". A robot with a memory cannot see to that, so that
//! such words are told and kept out of the reading.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::time::{is_number, is_unit};
use crate::language::words::{
    AUXILIARIES, BEFORE_IF, CONDITIONALS, ERRANDS, POLITE_CLAUSES, PRESENT_VERBS,
};

/// Byte ranges of the conditions and later times of a request, in their order; `describes`
/// tells whether a clause only says which thing is meant ("the pan I use when it is late").
pub(crate) fn find(request: &str, describes: &dyn Fn(usize) -> bool) -> Vec<Range<usize>> {
    let words = PlacedWords::of(request);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.0.len() {
        let end = words.later(at).or_else(|| words.condition(at, describes));
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let start = words.start_of_clause(at);
        if let Some(range) = words.range(start..end) {
            found.push(range);
        }
        at = end;
    }
    found
}

/// Whether a condition tells what the robot does on its way, and so where or among what the thing
/// is: "if you see more than one cushion, bring the white one".
pub(crate) fn is_on_the_way(condition: &str) -> bool {
    let words = PlacedWords::of(condition);
    let of_robot = (0..words.0.len()).find(|it| words.word(*it) == "you");
    let begins = of_robot.is_some_and(|at| {
        at.checked_sub(1).is_some_and(|it| CONDITIONALS.contains(words.word(it)))
    });
    let after = |by: usize| of_robot.map_or("", |at| words.word(at + by));
    // "If you were to go to the desk".
    let verb = if after(2) == "to" { after(3) } else { after(1) };
    begins && !verb.is_empty() && !AUXILIARIES.has_tag(verb, "state")
}

/// Whether the rest of a request points to a place that it leaves out: "take the mug *there*".
pub(crate) fn is_pointed_at(rest: &str) -> bool {
    let words = PlacedWords::of(rest);
    (1..words.0.len()).any(|at| {
        let is_over = words.0.get(at).is_some_and(|(_, _, ends)| *ends) || at + 1 == words.0.len();
        words.word(at) == "there" && (is_over || words.word(at + 1) == "and")
    })
}

/// The request with blanks in the place of these ranges.
pub(crate) fn without(request: &str, ranges: &[Range<usize>]) -> String {
    let is_out = |at: usize| ranges.iter().any(|it| it.contains(&at));
    let mut rest = String::with_capacity(request.len());
    for (at, c) in request.char_indices() {
        if is_out(at) {
            rest.extend(std::iter::repeat_n(' ', c.len_utf8()));
        } else {
            rest.push(c);
        }
    }
    rest
}

/// Words in lower case with their places, and whether a sign ends the clause after each.
struct PlacedWords(Vec<(String, Range<usize>, bool)>);

impl PlacedWords {
    fn of(request: &str) -> Self {
        let mut words = Vec::new();
        for said in request.split_whitespace() {
            let from = said.as_ptr() as usize - request.as_ptr() as usize;
            let bare = said.trim_matches(|c: char| !c.is_alphanumeric());
            let ends = said.ends_with([',', '.', ';', '!', '?', ':']);
            let word = bare.to_lowercase().replace('’', "'");
            words.push((word, from..from + said.len(), ends));
        }
        Self(words)
    }

    fn word(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |(word, ..)| word.as_str())
    }

    fn range(&self, words: Range<usize>) -> Option<Range<usize>> {
        let start = self.0.get(words.start)?.1.start;
        let end = self.0.get(words.end.checked_sub(1)?)?.1.end;
        Some(start..end)
    }

    /// The word after the condition that begins at one.
    fn condition(&self, at: usize, describes: &dyn Fn(usize) -> bool) -> Option<usize> {
        let end = self.end_of_clause(at);
        let clause: Vec<&str> = (at..end).map(|it| self.word(it)).collect();
        let asks_whether = || at.checked_sub(1).is_some_and(|it| BEFORE_IF.contains(self.word(it)));
        let is_if = CONDITIONALS.has_tag(self.word(at), "if") && !asks_whether();
        let from = self.0.get(at)?.1.start;
        // "The one I am after is red" has no clause after it.
        let is_sought = self.word(at) == "after"
            && matches!(
                at.checked_sub(1).map(|it| self.word(it)),
                Some("i'm" | "im" | "am" | "we're" | "are" | "is" | "he's" | "she's")
            );
        let has_subject = !is_sought && !matches!(self.word(at + 1), "is" | "are" | "was" | "were");
        let is_when = CONDITIONALS.has_tag(self.word(at), "when")
            && has_subject
            && clause.iter().skip(1).any(|it| PRESENT_VERBS.contains(it))
            && !describes(from);
        let is_as = self.word(at) == "as"
            && matches!(self.word(at + 1), "soon" | "long")
            && self.word(at + 2) == "as"
            && !describes(from);
        let is_case = self.word(at) == "in" && self.word(at + 1) == "case";
        let depends = (is_if || is_when || is_as || is_case) && clause.len() > 1;
        // A word of signs only, such as an emoji, says nothing.
        let is_polite = clause.iter().all(|it| it.is_empty() || POLITE_CLAUSES.contains(it));
        // "It would be great *if you could get* me a lamp."
        let is_wish = matches!(
            clause.as_slice(),
            ["if", "you", "could" | "would" | "can", verb, ..]
                if ERRANDS.has_tag(verb, "gives") || ERRANDS.has_tag(verb, "anywhere")
        );
        (depends && !is_polite && !is_wish).then_some(end)
    }

    /// The word after a later time that begins at one: "in five minutes", "tomorrow".
    fn later(&self, at: usize) -> Option<usize> {
        let part = |at: usize| {
            at + usize::from(matches!(self.word(at), "morning" | "evening" | "afternoon" | "night"))
        };
        match self.word(at) {
            "tomorrow" => Some(part(at + 1)),
            "next" if matches!(self.word(at + 1), "week" | "weekend" | "month") => Some(at + 2),
            "in" => {
                let unit = (at + 2..at + 5).find(|it| is_unit(self.word(*it)))?;
                let is_past = |word: &str| matches!(word, "last" | "past" | "previous" | "these");
                let counts = |word: &str| {
                    matches!(word, "a" | "an" | "half" | "few" | "couple" | "of" | "about")
                        || is_number(word)
                };
                let said = || (at + 1..unit).map(|it| self.word(it));
                let is_later = said().all(counts) && !said().any(is_past);
                let is_ago = matches!(self.word(unit + 1), "ago" | "earlier");
                (is_later && !is_ago).then_some(unit + 1)
            }
            _ => None,
        }
    }

    /// "but only" of "but only if it is free".
    fn start_of_clause(&self, at: usize) -> usize {
        let before = |at: usize, of: &[&str]| {
            at.checked_sub(1).filter(|it| of.contains(&self.word(*it))).unwrap_or(at)
        };
        before(before(at, &["only", "even"]), &["but", "and"])
    }

    /// The word after a clause: it ends at a sign, at "and then", or, where it stands before
    /// the errand, at that.
    fn end_of_clause(&self, at: usize) -> usize {
        let is_after = |it: &usize| {
            self.0.get(it - 1).is_some_and(|(.., ends)| *ends)
                || *it > at + 1 + usize::from(self.word(at + 1) != "so")
                    && self.goes_on(*it)
                    && !self.is_subject(it - 1)
                || self.word(*it) == "and" && self.goes_on(it + 1)
        };
        (at + 1..self.0.len()).find(is_after).unwrap_or(self.0.len())
    }

    /// Whether the errand goes on at a word, after a clause that stands before it.
    fn goes_on(&self, at: usize) -> bool {
        let word = self.word(at);
        ERRANDS.has_tag(word, "gives") || matches!(word, "take" | "go" | "tell" | "then" | "please")
    }

    /// Whether a verb after this word is no order: "you find", "to get".
    fn is_subject(&self, at: usize) -> bool {
        matches!(
            self.word(at),
            "i" | "you" | "we" | "they" | "he" | "she" | "to" | "can" | "could" | "will" | "would"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(request: &str) -> Vec<&str> {
        find(request, &|_| false).into_iter().map(|at| &request[at]).collect()
    }

    #[test]
    fn conditions_and_later_times_are_found() {
        for (request, expect) in [
            ("bring me the mug if it is clean", &["if it is clean"][..]),
            ("bring me the mug unless it is dirty, please", &["unless it is dirty,"]),
            ("If it rains, bring the umbrella", &["If it rains,"]),
            ("if the mug is empty bring it", &["if the mug is empty"]),
            ("get it when the dishwasher is done", &["when the dishwasher is done"]),
            ("the drill but only if nobody uses it", &["but only if nobody uses it"]),
            ("fetch the keys once the door is open and then the bag", &["once the door is open"]),
            ("bring the bag as soon as she is back", &["as soon as she is back"]),
            ("bring the scissors in five minutes", &["in five minutes"]),
            ("bring the book tomorrow morning", &["tomorrow morning"]),
        ] {
            assert_eq!(found(request), expect, "{request}");
        }
    }

    #[test]
    fn what_is_polite_or_asks_whether_or_tells_of_the_past_is_no_condition() {
        for request in [
            "bring me the mug if you can",
            "bring me the mug if you don't mind",
            "if you have time, get the hammer",
            "if it's not too much trouble get the hammer",
            "the hammer if its not too much trouble 🙏",
            "if memory serves, the hammer is in the shed",
            "but whenever you're free, the hammer",
            "is the hammer in the shed? if so bring it",
            "when you get a moment bring the mug",
            "do you know if the mug is on the desk",
            "tell me if there is a mug in the kitchen",
            "Grandma asks if you could bring her walking stick",
            "my boss wonders if somebody could bring the folder",
            "the book I was reading when you saw me",
            "the mug I used in the last five minutes",
            "the mug I had before",
            "the mug I am after is the red one",
            "I'm after the plant that goes next to the pan",
            "the mug in the sink",
            "",
        ] {
            assert_eq!(found(request), [""; 0], "{request}");
        }
    }

    #[test]
    fn what_the_robot_does_on_its_way_is_told_from_what_must_be_so() {
        for on_the_way in [
            "if you see more than one cushion",
            "If you go through to the living room",
            "when you get to the kitchen",
            "if you wouldn't mind going over to the desk",
            "if you were to roll along to the desk",
        ] {
            assert!(is_on_the_way(on_the_way), "{on_the_way}");
        }
        for apart in ["if you are charged", "if you can't find it", "if it is clean", "if you"] {
            assert!(!is_on_the_way(apart), "{apart}");
        }
    }

    #[test]
    fn a_clause_that_describes_the_thing_is_no_condition() {
        let request = "the mug I use when I am at work";
        assert!(find(request, &|_| true).is_empty());
        assert_eq!(find(request, &|_| false).len(), 1);
    }

    #[test]
    fn what_is_wished_for_is_no_condition() {
        let none = |request: &str| find(request, &|_| false).is_empty();
        assert!(none("it would be great if you could get me a lamp"));
        assert!(none("I'd be glad if you would fetch it"));
        assert!(!none("bring it if you can hear the bell"));
    }

    #[test]
    fn the_rest_of_a_request_keeps_its_places() {
        let request = "the mug, if it’s clean, or the cup";
        let rest = without(request, &find(request, &|_| false));
        assert_eq!(rest.len(), request.len());
        assert!(!rest.contains("clean") && rest.ends_with("or the cup"), "{rest}");
    }
}
