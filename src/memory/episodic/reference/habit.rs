//! How often: takes the superlatives and adverbs of frequency out of a request.
//!
//! Pure.

use crate::base::phrase_time::{self, PhraseTime};
use crate::memory::episodic::reference::Order;
use crate::memory::episodic::reference::tokens::Token;
use crate::memory::episodic::reference::verb::activity;
use crate::memory::episodic::reference::words::{LATEST, LEAST, MOST, PLACING};

/// A request without what it says of how often.
pub(super) struct Habit {
    pub(super) tokens: Vec<Token>,
    pub(super) order: Option<Order>,
    /// "the most *used*".
    pub(super) is_used: bool,
    /// "my *morning* mug".
    pub(super) part: Option<PhraseTime>,
}

/// Words of the longest expression.
const WORDS_MAX: usize = 5;

pub(super) fn take(tokens: Vec<Token>) -> Habit {
    let (tokens, part) = part_of_day(tokens);
    let mut habit = Habit { tokens: Vec::new(), order: None, is_used: false, part };
    let mut at = 0;
    while at < tokens.len() {
        let found = (1..=WORDS_MAX).rev().find_map(|n| {
            let words = tokens.get(at..at + n)?;
            let text = words.iter().map(|it| it.word.as_str()).collect::<Vec<_>>().join(" ");
            Some((n, order(&text, tokens.get(at.wrapping_sub(1)), tokens.get(at + n))?))
        });
        let Some((n, order)) = found else {
            let last = last_or_first(&tokens, at);
            match last {
                Some(order) => habit.order = habit.order.or(Some(order)),
                None => habit.tokens.extend(tokens.get(at).cloned()),
            }
            at += 1;
            continue;
        };
        // "the most used": what it is used for stays said.
        let words = tokens.get(at..at + n).unwrap_or_default();
        habit.is_used |= words.iter().any(|it| it.word.ends_with("used"));
        if habit.order.is_none() || order != Order::MostOften {
            habit.order = Some(order);
        }
        at += n;
        // "the most frequently *used* mug"
        let is_said = at
            .checked_sub(n + 1)
            .and_then(|it| tokens.get(it))
            .is_some_and(|it| it.word == "the" || it.word == "my" || it.word == "our");
        if let Some(next) = tokens.get(at).filter(|it| {
            is_said && matches!(it.word.as_str(), "used" | "seen" | "needed" | "wanted" | "found")
        }) {
            habit.is_used |= next.word == "used";
            at += 1;
        }
    }
    habit
}

fn order(text: &str, before: Option<&Token>, after: Option<&Token>) -> Option<Order> {
    let is = |it: Option<&Token>, word: &str| it.is_some_and(|it| it.word == word);
    // "most of them", "at most", "a best friend"
    let is_degree =
        |text: &str| matches!(text, "most" | "the most" | "best" | "least" | "the least");
    if is_degree(text)
        && (is(before, "at") || is(after, "of") || is(after, "recently") || is(after, "recent"))
    {
        return None;
    }
    // "used to brew coffee" says what for.
    if text == "used to"
        && before.is_some_and(|it| {
            matches!(it.word.as_str(), "is" | "are" | "was" | "were" | "been" | "being")
        })
    {
        return None;
    }
    // "I would like to"
    if text.ends_with("e to")
        && before.is_some_and(|it| matches!(it.word.as_str(), "would" | "had" | "should" | "you"))
    {
        return None;
    }
    if LATEST.contains(&text) {
        return Some(Order::Latest);
    }
    if LEAST.contains(&text) {
        return Some(Order::LeastOften);
    }
    MOST.contains(&text).then_some(Order::MostOften)
}

/// "the *last* book I read", "the mug I used *first*"; not "where was it last seen".
fn last_or_first(tokens: &[Token], at: usize) -> Option<Order> {
    let word =
        |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |it| it.word.as_str());
    let order = match word(Some(at)) {
        "last" => Order::Latest,
        "first" => Order::Earliest,
        // "I *just* used it"
        "just" => {
            let subject = word(at.checked_sub(1));
            let is_said =
                matches!(subject, "i" | "we" | "he" | "she" | "they" | "have" | "had" | "has");
            return is_said.then_some(Order::Latest);
        }
        _ => return None,
    };
    let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
    let acts = |word: &str| !word.is_empty() && activity(word).is_some();
    if PLACING.contains(&after) || matches!(before, "at" | "was" | "were") || after == "of" {
        return None;
    }
    let named = matches!(before, "the" | "my" | "our") && !after.is_empty();
    (named || acts(after) || acts(before)).then_some(order)
}

/// "my morning mug", "the evening book": a habit, said as if it were a kind.
fn part_of_day(mut tokens: Vec<Token>) -> (Vec<Token>, Option<PhraseTime>) {
    let is_part = |it: &Token| {
        matches!(
            it.word.as_str(),
            "morning"
                | "afternoon"
                | "evening"
                | "night"
                | "breakfast"
                | "lunch"
                | "dinner"
                | "nighttime"
                | "bedtime"
                | "lunchtime"
                | "weekend"
        )
    };
    let Some(at) = tokens.iter().position(is_part) else { return (tokens, None) };
    let led = at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|it| !it.is_break());
    let followed = tokens.get(at + 1).is_some_and(|it| !it.is_break());
    if !led || !followed {
        return (tokens, None);
    }
    let said = match tokens.get(at).map(|it| it.word.as_str()) {
        Some("breakfast" | "bedtime" | "lunch" | "lunchtime" | "dinner") => {
            format!("at {}", tokens.get(at).map_or("", |it| it.word.as_str()))
        }
        Some(word) => format!("every {word}"),
        None => return (tokens, None),
    };
    let part = phrase_time::find(&said).pop().map(|it| it.time.habitual());
    if part.is_some() {
        tokens.remove(at);
    }
    (tokens, part)
}
