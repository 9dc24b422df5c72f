//! Which words of a topic a text holds: forms of the very words, not what only sounds alike, and
//! not what is said to be somebody else's.
//!
//! Pure.

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::british::british;
use crate::language::lexicon;
use crate::language::told_time::told_times;
use crate::language::words::{FUNCTION_WORDS, POSSESSIVES, STOP_WORDS};

/// Words between an owner and what is owned: "Mom's next big birthday".
const BEFORE_OWNED_MAX: usize = 3;

/// The words of a topic that tell something.
#[derive(Debug)]
pub struct TopicWords<'a> {
    topic: &'a str,
    words: Vec<String>,
    /// Those of them that are of a time: "today" of "today's weather".
    times: Vec<String>,
    /// What is said to be the user's own: "birthday" of "my birthday".
    mine: Option<String>,
}

/// What a text holds of a topic; later is more.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    #[default]
    None,
    /// A word that sounds like one of its words: "the Titanic" for "Titan".
    Alike,
    /// All of its words, some in words that are made of them: "prefers" for "preferences".
    Derived,
    /// All of its words, of what is somebody else's.
    OfAnother,
    /// Not these of its words.
    Some {
        rest: String,
    },
    All,
}

impl<'a> TopicWords<'a> {
    pub fn of(topic: &'a str) -> Self {
        let said = words(topic);
        let mut mine = said.iter().skip_while(|it| !POSSESSIVES.has_tag(it, "mine")).skip(1);
        let mine = mine.find(|it| tells(it)).cloned();
        let telling: Vec<String> = said.iter().filter(|it| tells(it)).cloned().collect();
        let words = if telling.is_empty() { said } else { telling };
        let times = told_times(topic).times;
        let times = times.iter().flat_map(|it| self::words(&it.time.text)).collect();
        Self { topic, words, times, mine }
    }

    pub fn text(&self) -> &'a str {
        self.topic
    }

    pub fn held_in(&self, text: &str) -> Held {
        let said = words(text);
        let is_said = |word: &&String| said.iter().any(|it| are_forms_of_one(it, word));
        let (held, rest): (Vec<&String>, Vec<&String>) = self.words.iter().partition(is_said);
        // A time tells of no topic by itself.
        let is_time = |word: &str| self.times.iter().any(|it| are_forms_of_one(it, word));
        let is_named = held.iter().any(|it| !is_time(it));
        match self.mine.as_deref() {
            Some(mine) if rest.is_empty() && is_of_another(&said, mine) => Held::OfAnother,
            _ if rest.is_empty() && !held.is_empty() => Held::All,
            _ if rest.iter().all(|it| is_made_of_one(it, &said)) && !self.words.is_empty() => {
                Held::Derived
            }
            _ if is_named => {
                let rest: Vec<&str> = rest.into_iter().map(String::as_str).collect();
                Held::Some { rest: rest.join(" ") }
            }
            _ if rest.iter().any(|it| said.iter().any(|said| sound_alike(said, it))) => Held::Alike,
            _ => Held::None,
        }
    }
}

/// Whether one of these words has the stem of another: "allergic" that of "allergy".
fn is_made_of_one(word: &str, said: &[String]) -> bool {
    let stemmer = Stemmer::create(Algorithm::English);
    let stem = stemmer.stem(word);
    said.iter().any(|it| stemmer.stem(it) == stem)
}

/// In lower case.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('’', "'");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.map(|it| it.trim_matches('\'')).filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

fn tells(word: &str) -> bool {
    let is_any = STOP_WORDS.contains(word) || FUNCTION_WORDS.contains(word);
    // "Titan-related"
    !is_any && !POSSESSIVES.contains(word) && word != "related"
}

/// Whether what is named is only ever said of somebody else: "Mom's birthday".
fn is_of_another(said: &[String], owned: &str) -> bool {
    let mut named = said.iter().enumerate().filter(|(_, it)| are_forms_of_one(it, owned));
    let is_of_other = |(at, _): (usize, &String)| {
        let before = said.iter().take(at).rev().take(BEFORE_OWNED_MAX);
        let owner = before.into_iter().find(|it| it.ends_with("'s") || POSSESSIVES.contains(it));
        owner.is_some_and(|it| !POSSESSIVES.has_tag(it, "mine"))
    };
    named.all(is_of_other)
}

/// Whether two words begin alike and are not forms of one.
fn sound_alike(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    short.chars().count() > 2 && long.starts_with(short)
}

/// Whether two words are forms of one: "meetings" and "meeting", and neither "titanic" and
/// "titan" nor "Annabelle" and "Anna".
pub fn are_forms_of_one(a: &str, b: &str) -> bool {
    let (a, b) = (base(a), base(b));
    a == b
}

/// A word without what only inflects it.
fn base(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    let word = lower.strip_suffix("'s").or_else(|| lower.strip_suffix('\'')).unwrap_or(&lower);
    let singular = british(&lexicon::singular(word));
    let singular =
        singular.strip_suffix("ie").map_or_else(|| singular.clone(), |it| format!("{it}y"));
    let endings = ["ing", "ed", "e"].into_iter();
    let stem = endings.filter_map(|it| singular.strip_suffix(it)).find(|it| it.len() > 2);
    let stem = stem.unwrap_or(&singular);
    let mut letters = stem.chars().rev();
    let is_doubled = stem.len() < singular.len() && letters.next() == letters.next();
    let kept = if is_doubled {
        stem.len() - stem.chars().last().map_or(0, char::len_utf8)
    } else {
        stem.len()
    };
    stem.get(..kept).unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(topic: &str, text: &str) -> Held {
        TopicWords::of(topic).held_in(text)
    }

    fn rest(words: &str) -> Held {
        Held::Some { rest: words.to_owned() }
    }

    #[test]
    fn a_text_holds_the_very_words_of_a_topic() {
        for (topic, text, expected) in [
            ("Project Titan", "the budget of the Titan projects", Held::All),
            ("Project Titan", "Titan is Saturn's largest moon", rest("project")),
            ("Titan-related", "Titan is Saturn's largest moon", Held::All),
            ("Titan", "we saw a film about the Titanic", Held::Derived),
            ("preferences", "the user prefers dark mode", Held::Derived),
            ("today's weather", "it is warm today", Held::None),
            ("Titan", "Titania is a moon", Held::Alike),
            ("today's weather", "the weather app", rest("today's")),
            ("Anna", "Annabelle called", Held::Alike),
            ("Anna", "Hannah has a dog", Held::None),
            ("the meetings on Monday", "Monday: meeting moved", Held::All),
            ("color schemes", "the colour scheme of the hall", Held::All),
            ("proj_X-7", "The identifier is 'proj_X-7'.", Held::All),
            ("", "nothing", Held::None),
        ] {
            assert_eq!(held(topic, text), expected, "{topic}: {text}");
        }
    }

    #[test]
    fn what_is_the_users_own_is_nobody_elses() {
        let birthday = |text: &str| held("my birthday", text);
        for text in ["Mom's birthday is on 12 March", "Anna has her 60th birthday in May"] {
            assert_eq!(birthday(text), Held::OfAnother, "{text}");
        }
        for text in [
            "My birthday is on 3 May",
            "the user's birthday: 3 May",
            "birthday party on 3 May",
            "Mom's birthday is a day before my birthday",
        ] {
            assert_eq!(birthday(text), Held::All, "{text}");
        }
        assert_eq!(held("my mom's birthday", "Mom's birthday is on 12 March"), Held::All);
        assert_eq!(held("birthday", "Mom's birthday is on 12 March"), Held::All);
    }

    #[test]
    fn forms_of_a_word_are_told_from_words_that_sound_alike() {
        for (a, b) in [
            ("mug", "Mugs"),
            ("meeting", "meetings"),
            ("Anna", "Anna's"),
            ("planned", "plans"),
            ("moving", "moves"),
            ("birthdays", "birthday"),
            ("parties", "party"),
            ("Zoë", "zoë"),
        ] {
            assert!(are_forms_of_one(a, b), "{a} {b}");
        }
        for (a, b) in [("titan", "titanic"), ("Anna", "Annabelle"), ("organ", "organist")] {
            assert!(!are_forms_of_one(a, b), "{a} {b}");
        }
    }
}
