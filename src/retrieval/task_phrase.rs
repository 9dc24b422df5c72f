//! The phrase of a task that says what it wants: "the mug that I use the most" of "Bring me
//! the mug that I use the most! I'm late."
//!
//! Pure. English.

use crate::language::reference::Reference;
use crate::language::words::DETERMINERS;

/// The target as the task says it, without words that nobody needs; as it was read, where
/// the task spells it otherwise.
pub(super) fn target_phrase(task: &str, reference: &Reference) -> String {
    let Reference { thing, ends_at, respelled, renamed, also, .. } = reference;
    let is_as_said = respelled.is_empty() && renamed.is_none();
    // The words of the task name all of several things at once.
    if (!is_as_said || !also.is_empty()) && !thing.is_empty() {
        return thing.clone();
    }
    let parts = ends_at.and_then(|end| task.split_at_checked(end));
    // What has a number may name one of several: "mug 3".
    let telling = parts.filter(|(_, rest)| !rest.contains(|it: char| it.is_ascii_digit()));
    task_phrase(telling.map_or(task, |(telling, _)| telling), thing)
}

/// The target as the task says it, to the end of the sentence; the whole task where it does
/// not name the thing, or not by these words.
fn task_phrase(task: &str, thing: &str) -> String {
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
    while start > 0 && bare.get(start - 1).is_some_and(|it| is_before_name(it)) {
        start -= 1;
    }
    // Of "a pair of scissors" the name alone: what stands before "of" is no determiner.
    if bare.get(start).is_some_and(|it| it == "of") {
        start = named;
    }
    let ends = |word: &&str| word.ends_with(['.', '!', '?', ';']);
    let rest = words.get(start..).unwrap_or_default();
    let end = rest.iter().position(ends).map_or(rest.len(), |at| at + 1);
    let phrase = rest.get(..end).unwrap_or_default().join(" ");
    let phrase = phrase.trim_end_matches(|c: char| !c.is_alphanumeric());
    let phrase = phrase.strip_suffix("please").unwrap_or(phrase);
    phrase.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Whether a word belongs to the name of the thing before which it stands.
fn is_before_name(word: &str) -> bool {
    DETERMINERS.contains(word) || matches!(word, "one" | "of")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::reference::Respelling;

    #[test]
    fn a_target_is_described_without_words_that_nobody_needs_and_as_it_was_read() {
        let reference = Reference {
            thing: "red mug".to_owned(),
            ends_at: Some("bring me the red mug".len()),
            ..Reference::default()
        };
        assert_eq!(target_phrase("bring me the red mug thanks", &reference), "the red mug");
        assert_eq!(target_phrase("bring me the red mug 3", &reference), "the red mug 3");
        let respelled = vec![Respelling { said: "mgu".to_owned(), read: "mug".to_owned() }];
        let reference = Reference { respelled, ..reference };
        assert_eq!(target_phrase("bring me the red mgu", &reference), "red mug");
    }

    #[test]
    fn one_of_several_targets_is_described_by_its_own_name() {
        let (thing, also) = ("red mug".to_owned(), vec!["book".to_owned()]);
        let reference = Reference { thing, also, ..Reference::default() };
        assert_eq!(target_phrase("bring the red mug and then the book", &reference), "red mug");
    }

    #[test]
    fn a_target_is_described_in_the_words_of_the_task() {
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
            assert_eq!(task_phrase(task, thing), expect);
        }
    }
}
