//! What a request to forget, or for an example, is about: without the words that only ask for it
//! ("everything I told you about Project Titan").
//!
//! Pure.

use std::ops::Range;

use crate::language::words::{EXAMPLE_FRAMES, TOPIC_FRAMES};

/// What is to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// What was told.
    Told,
    /// What was seen: "pictures of" names none of it.
    Seen,
}

/// The topic of a request; all of it where nothing else is left.
pub fn topic(request: &str, of: Forgotten) -> &str {
    let words = words(request);
    let first = frame_before(&words, of);
    let last = words.len() - frame_after(words.get(first..).unwrap_or_default(), of);
    let said = words.get(first..last).unwrap_or_default();
    let range = said.first().zip(said.last()).map(|(first, last)| first.0.start..last.0.end);
    range.and_then(|it| request.get(it)).unwrap_or_else(|| request.trim())
}

/// What an example is wanted of: "run-level QC summary" of "examples of run-level QC summary
/// queries".
pub fn example(request: &str) -> &str {
    let words = words(request);
    let frame = words.iter().take_while(|it| EXAMPLE_FRAMES.contains(&it.1)).count();
    let frame = words.get(..frame.min(words.len().saturating_sub(1))).unwrap_or_default();
    let asks = frame.iter().take(2).any(|it| EXAMPLE_FRAMES.has_tag(&it.1, "asks"));
    let opens = frame.iter().rposition(|it| EXAMPLE_FRAMES.has_tag(&it.1, "opens"));
    let Some(opens) = opens.filter(|_| asks) else { return request };
    let rest = words.get(opens + 1..).unwrap_or_default();
    let is_over = |it: &&Word| EXAMPLE_FRAMES.has_tag(&it.1, "closes") || it.1 == "sql";
    let over = rest.iter().rev().take_while(is_over).count().min(rest.len().saturating_sub(1));
    let said = rest.get(..rest.len() - over).unwrap_or_default();
    let range = said.first().zip(said.last()).map(|(first, last)| first.0.start..last.0.end);
    range.and_then(|it| request.get(it)).unwrap_or(request)
}

/// A word's place and the word in lower case.
type Word = (Range<usize>, String);

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_in_word = c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '_');
        match (is_in_word, from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                let word = text.get(start..at).unwrap_or_default();
                words.push((start..at, word.to_lowercase().replace('’', "'")));
                from = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    words
}

fn is_tagged(word: &Word, tag: &str) -> bool {
    TOPIC_FRAMES.has_tag(&word.1, tag)
}

fn is_of_frame(word: &Word, of: Forgotten) -> bool {
    let is_of_other = of == Forgotten::Told && is_tagged(word, "seen");
    TOPIC_FRAMES.contains(&word.1) && !is_of_other
}

/// Words before the topic.
fn frame_before(words: &[Word], of: Forgotten) -> usize {
    let run = words.iter().take_while(|it| is_of_frame(it, of)).count();
    // Nothing would be left.
    let run = run.min(words.len().saturating_sub(1));
    let frame = words.get(..run).unwrap_or_default();
    let Some(last) = frame.iter().rposition(|it| is_tagged(it, "opens")) else { return 0 };
    let asks = frame.iter().take(last + 1).any(|it| is_tagged(it, "asks"));
    if asks { last + 1 } else { 0 }
}

/// Words after the topic, which is not empty.
fn frame_after(words: &[Word], of: Forgotten) -> usize {
    let run = words.iter().rev().take_while(|it| is_of_frame(it, of)).count();
    let run = run.min(words.len().saturating_sub(1));
    let frame = words.get(words.len() - run..).unwrap_or_default();
    frame.iter().position(|it| is_tagged(it, "closes")).map_or(0, |at| run - at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_frame_a_topic_are_no_part_of_it() {
        for (request, expected) in [
            ("all information related to Project Titan", "Project Titan"),
            ("everything about today's weather, please", "today's weather"),
            ("anything I told you about the dentist", "the dentist"),
            ("all of the notes on the budget that you have", "the budget"),
            ("what you know about Anna", "Anna"),
            ("please forget my birthday", "my birthday"),
            ("every record in which Anna is mentioned", "Anna"),
            ("the trip I told you about", "the trip"),
            ("Project Titan information", "Project Titan"),
            ("the information desk", "the information desk"),
            ("the pictures of the harbour", "the pictures of the harbour"),
            ("Titan", "Titan"),
            ("everything", "everything"),
            ("all notes", "notes"),
            ("오늘 날씨", "오늘 날씨"),
            ("", ""),
            (" ?", "?"),
        ] {
            assert_eq!(topic(request, Forgotten::Told), expected, "{request}");
        }
    }

    #[test]
    fn words_that_ask_for_an_example_are_no_part_of_it() {
        for (request, expected) in [
            ("examples of run-level QC summary queries", "run-level QC summary"),
            ("some sample sql queries for monthly revenue", "monthly revenue"),
            ("similar examples on head count SQL", "head count"),
            ("slow queries", "slow queries"),
            ("examples", "examples"),
            ("examples of queries", "queries"),
            ("samples per batch", "samples per batch"),
            ("", ""),
        ] {
            assert_eq!(example(request), expected, "{request}");
        }
    }

    #[test]
    fn records_that_are_named_are_no_part_of_what_they_show() {
        for (request, expected) in [
            ("all photos that show my phone", "my phone"),
            ("any pictures of my keys please", "my keys"),
            ("everything you saw of the mug", "the mug"),
            ("every sighting of a purple book", "a purple book"),
            ("delete all images with a dog in them", "a dog in them"),
            ("a picture of a boat", "a picture of a boat"),
            ("my phone", "my phone"),
            ("what you saw in the kitchen", "in the kitchen"),
            ("all mugs", "mugs"),
        ] {
            assert_eq!(topic(request, Forgotten::Seen), expected, "{request}");
        }
    }
}
