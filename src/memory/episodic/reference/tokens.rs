//! A request's words, in lower case and with short forms written out.
//!
//! Pure.

use crate::base::phrase_time::Found;
use crate::memory::episodic::reference::words::{CLAUSES, FILLERS, OBJECTS, PERSONS};

/// A word of the request, or what parts two words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case; empty where it only parts.
    pub(super) word: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// "Tom"
    Name,
    /// "Anna's"
    Owner,
    /// A comma, or a time that stood there.
    Break,
    /// The end of a sentence.
    Stop,
}

impl Token {
    fn new(word: &str) -> Self {
        Self { word: word.to_owned(), kind: Kind::Plain }
    }

    fn parting(is_stop: bool) -> Self {
        Self { word: String::new(), kind: if is_stop { Kind::Stop } else { Kind::Break } }
    }

    /// Whether no phrase goes across it.
    pub(super) fn is_break(&self) -> bool {
        matches!(self.kind, Kind::Break | Kind::Stop)
    }

    pub(super) fn is_stop(&self) -> bool {
        self.kind == Kind::Stop
    }

    pub(super) fn is_owner(&self) -> bool {
        self.kind == Kind::Owner
    }

    pub(super) fn is_name(&self) -> bool {
        self.kind == Kind::Name
    }
}

/// Short forms, and what they stand for.
const SHORT: &[(&str, &str)] = &[
    ("i'm", "i am"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("let's", "let us"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("gotta", "have to"),
    ("wanna", "want to"),
    ("i'd", "i would"),
];

/// The words of a request without its times.
pub(super) fn tokens(request: &str, times: &[Found]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    for found in times {
        words(request.get(at..found.at.start).unwrap_or_default(), at == 0, &mut tokens);
        tokens.push(Token::parting(false));
        at = found.at.end;
    }
    words(request.get(at..).unwrap_or_default(), at == 0, &mut tokens);
    tokens
}

fn words(text: &str, mut starts: bool, tokens: &mut Vec<Token>) {
    let text = text.replace(['’', '`'], "'");
    for raw in text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '-')) {
        let (word, end) = match raw.char_indices().next_back() {
            Some((at, c)) if !(c.is_alphanumeric() || c == '\'' || c == '-') => {
                (raw.get(..at).unwrap_or_default(), Some(c))
            }
            _ => (raw, None),
        };
        let word = word.trim_matches(['\'', '-']);
        if !word.is_empty() {
            let is_name = !starts
                && word.starts_with(char::is_uppercase)
                && word.chars().skip(1).all(char::is_lowercase)
                && word.len() > 1;
            starts = false;
            push(&word.to_lowercase(), is_name, tokens);
        }
        match end {
            Some('.' | '!' | '?' | ';' | '\n') => {
                tokens.push(Token::parting(true));
                starts = true;
            }
            Some(',' | ':' | '(' | ')' | '"' | '—' | '–' | '…') => {
                tokens.push(Token::parting(false));
            }
            _ => {}
        }
    }
}

fn push(word: &str, is_name: bool, tokens: &mut Vec<Token>) {
    let mut say = |text: &str| tokens.extend(text.split(' ').map(Token::new));
    if let Some((_, long)) = SHORT.iter().find(|(short, _)| *short == word) {
        return say(long);
    }
    for (end, long) in [
        ("n't", " not"),
        ("'ve", " have"),
        ("'re", " are"),
        ("'ll", " will"),
        ("'d", " had"),
        ("'m", " am"),
    ] {
        if let Some(start) = word.strip_suffix(end) {
            return say(&format!("{start}{long}"));
        }
    }
    if let Some(start) = word.strip_suffix("'s") {
        let is_closed = CLAUSES.contains(&start)
            || PERSONS.contains(&start)
            || OBJECTS.contains(&start)
            || FILLERS.contains(&start);
        let is_pronoun = matches!(
            start,
            "i" | "we" | "you" | "he" | "she" | "they" | "it" | "that" | "what" | "there" | "here"
        );
        if is_pronoun || is_closed && !PERSONS.contains(&start) {
            return say(&format!("{start} is"));
        }
        tokens.push(Token { kind: Kind::Owner, ..Token::new(start) });
        return;
    }
    let kind = if is_name { Kind::Name } else { Kind::Plain };
    tokens.push(Token { kind, ..Token::new(word) });
}
