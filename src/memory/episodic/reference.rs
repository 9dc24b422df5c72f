//! What a request in words refers to: "bring me the mug that I use the most" is a
//! mug, that somebody uses, and of several the one used most often.
//!
//! Pure. English, by sentence structure and closed classes of words; knows no
//! records.

use crate::base::phrase_time::{self, PhraseTime};
use crate::index::mention::mentions;

/// What a request refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// What to recall by: the class with its attributes, "red mug". Empty where the
    /// request names none: "what I left on the sofa".
    pub thing: String,
    /// What it was beside, on or in: "laptop", "sofa", "kitchen".
    pub around: Vec<String>,
    /// What a person did with the thing or near it: "reading", "using".
    pub doing: Option<String>,
    /// When that was, unresolved.
    pub when: Vec<PhraseTime>,
    /// Which of several: a superlative or a habit.
    pub order: Option<Order>,
    /// "the mug" or "my mug", which must be singled out, not "a mug".
    pub individual: bool,
}

/// What singles one out of several things of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// "the mug I use the most", "the book that is usually on the nightstand".
    MostOften,
    /// "the mug I rarely use".
    LeastOften,
    /// "the mug I used last".
    Latest,
    /// "the first mug I used today".
    Earliest,
    /// "the mug nearest the sofa".
    NearestTo(String),
}

/// Reads a request.
pub fn refer(request: &str) -> Reference {
    let times = phrase_time::find(request);
    let mut rest = request.to_owned();
    for found in times.iter().rev() {
        rest.replace_range(found.at.clone(), ",");
    }
    let mut things = mentions(&rest).into_iter().map(|it| it.phrase);
    let thing = things.next().unwrap_or_default();
    let when = phrase_time::combined(times.into_iter().map(|it| it.time).collect());
    Reference { thing, around: things.collect(), when, ..Reference::default() }
}
