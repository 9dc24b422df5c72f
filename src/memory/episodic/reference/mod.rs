//! What a request in words refers to: "bring me the mug that I use the most" is a
//! mug, that somebody uses, and of several the one used most often.
//!
//! Pure. English, by sentence structure and closed classes of words; knows no
//! records.

mod habit;
mod sentence;
mod tokens;
mod verb;
mod words;

use crate::base::phrase_time::{self, PhraseTime};
use crate::memory::episodic::reference::habit::Habit;
use crate::memory::episodic::reference::sentence::Reading;

/// What a request refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reference {
    /// What to recall by: the class with its attributes, "red mug". Empty where the
    /// request names none: "what I left on the sofa".
    pub thing: String,
    /// What it was beside, on or in: "laptop", "sofa", "kitchen".
    pub around: Vec<String>,
    /// What it was not beside, on or in, and which one it is not: "other than the red one".
    pub without: Vec<String>,
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

/// Longest request that is read; what is beyond is left out.
const REQUEST_CHARS_MAX: usize = 1_000;

/// Readings of one request, at most.
const READINGS_MAX: usize = 4;

/// Reads a request.
pub fn refer(request: &str) -> Reference {
    refer_past(request, &[])
}

/// The ways in which a request may be read, the likeliest first: in each further one what
/// the one before looks for is not what is meant. "Listen, bring me a mug" may be about a
/// listen; who knows which things there are can tell.
pub fn readings(request: &str) -> Vec<Reference> {
    let mut readings: Vec<Reference> = Vec::new();
    let mut passed = Vec::new();
    while readings.len() < READINGS_MAX {
        let reference = refer_past(request, &passed);
        let is_new = !reference.thing.is_empty() && !passed.contains(&reference.thing);
        if !is_new && !readings.is_empty() {
            break;
        }
        passed.push(reference.thing.clone());
        readings.push(reference);
    }
    readings
}

fn refer_past(request: &str, passed: &[String]) -> Reference {
    let request: String = request.chars().take(REQUEST_CHARS_MAX).collect();
    let times = phrase_time::find(&request);
    let tokens = tokens::tokens(&request, &times);
    let Habit { tokens, order, is_used, part } = habit::take(tokens);
    let reading = Reading::of(&tokens, passed);
    let Reading { thing, around, without, doing, nearest, is_past, is_habit, individual } = reading;
    let doing = doing.or_else(|| is_used.then(|| "using".to_owned()));
    let mut when = phrase_time::combined(times.into_iter().map(|it| it.time).chain(part).collect());
    let once = is_past && !matches!(order, Some(Order::MostOften | Order::LeastOften));
    when = when.into_iter().map(|it| if once { it.once() } else { it.habitual() }).collect();
    let is_habit = is_habit && when.iter().all(PhraseTime::is_recurring);
    let recurs = !when.is_empty() && when.iter().all(PhraseTime::is_recurring);
    let habit = (recurs || is_habit && !is_past).then_some(Order::MostOften);
    let order = nearest.map(Order::NearestTo).or(order).or(habit);
    let around = around.into_iter().flat_map(|it| by_room(&it)).collect();
    Reference { thing, around, without, doing, when, order, individual }
}

/// Rooms that are said before what stands in them.
const ROOMS: &[&str] =
    &["living room", "dining room", "kitchen", "hallway", "office", "bedroom", "bathroom"];

/// "hallway table" is a table, and in the hallway.
fn by_room(place: &str) -> Vec<String> {
    let room = ROOMS.iter().find_map(|room| {
        let rest = place.strip_prefix(room)?.strip_prefix(' ')?;
        Some(vec![rest.to_owned(), (*room).to_owned()])
    });
    room.unwrap_or_else(|| vec![place.to_owned()])
}

#[cfg(test)]
mod tests;
