//! Words for requests and counts.
//!
//! Pure.

use crate::memory::episodic::reference::{Order, Reference};

/// Words that belong to the name of a thing, before it.
const DETERMINERS: &[&str] = &[
    "a", "an", "the", "my", "our", "your", "his", "her", "their", "some", "any", "this", "that",
    "one", "another", "of",
];

/// What a task wants, as it says it, to the end of the sentence: "the mug that I use the
/// most" of "Bring me the mug that I use the most! I'm late." The whole where it does not
/// name the thing, or not by these words.
pub(super) fn wanted(task: &str, thing: &str) -> String {
    let words: Vec<&str> = task.split_whitespace().collect();
    let bare: Vec<String> = words.iter().map(|word| bare(word)).collect();
    // "plant in a white pot", said as "the plant in the white pot".
    let thing = thing.split_once(" in a ").map_or(thing, |(name, _)| name);
    let thing: Vec<&str> = thing.split_whitespace().collect();
    // What was said of it apart stands before the name: "the mug that is red".
    let names = (0..thing.len()).filter_map(|from| thing.get(from..));
    let mut places = names.filter_map(|name| bare.windows(name.len()).position(|it| it == name));
    let mut start = places.next().unwrap_or(0);
    let named = start;
    while start > 0 && bare.get(start - 1).is_some_and(|it| DETERMINERS.contains(&it.as_str())) {
        start -= 1;
    }
    // Of "a pair of scissors" the name alone: what stands before "of" is no determiner.
    if bare.get(start).is_some_and(|it| it == "of") {
        start = named;
    }
    let ends = |word: &&str| word.ends_with(['.', '!', '?', ';']);
    let rest = words.get(start..).unwrap_or_default();
    let end = rest.iter().position(ends).map_or(rest.len(), |at| at + 1);
    let wanted = rest.get(..end).unwrap_or_default().join(" ");
    let wanted = wanted.trim_end_matches(|c: char| !c.is_alphanumeric());
    let wanted = wanted.strip_suffix("please").unwrap_or(wanted);
    wanted.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The order that a reference asks for.
pub(super) fn order(reference: &Reference) -> String {
    match &reference.order {
        None | Some(Order::MostOften) => "most frequent first".to_owned(),
        Some(Order::LeastOften) => "least frequent first".to_owned(),
        Some(Order::Latest) => "latest first".to_owned(),
        Some(Order::Earliest) => "earliest first".to_owned(),
        Some(Order::NearestTo(what)) => format!("nearest to {what} first"),
    }
}

/// "1 day", "3 days"
pub(super) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_wants_is_said_as_the_task_says_it() {
        for (task, thing, expect) in [
            ("Bring me a book", "book", "a book"),
            (
                "bring me the book I was reading yesterday",
                "book",
                "the book I was reading yesterday",
            ),
            ("Bring me the mug that I use the most.", "mug", "the mug that I use the most"),
            ("could you fetch my red mug, please?", "red mug", "my red mug"),
            ("Get me the mug that is red!", "red mug", "the mug that is red"),
            ("a plant in the red pot, please", "plant in a red pot", "a plant in the red pot"),
            (
                "a phone of ours in black. Get me that, please.",
                "black phone",
                "a phone of ours in black",
            ),
            ("May I have a pair of scissors?", "scissors", "scissors"),
            ("something", "", "something"),
            ("", "", ""),
        ] {
            assert_eq!(wanted(task, thing), expect);
        }
    }
}
