//! Which of several things of a kind is meant, and of what times a request tells: "the mug I use in the
//! mornings", "the second most used one".
//!
//! Pure. English.

use crate::language::reference::Order;
use crate::language::reference::named::Named;
use crate::language::reference::said::Said;
use crate::language::reference::wanted_place::Told;
use crate::language::request_tags::{Superlative, TaggedRequest, Tense};
use crate::language::time::PhraseTime;
use crate::language::words::MERE_USE;

pub(super) struct WhichOne {
    pub(super) when: Vec<PhraseTime>,
    pub(super) order: Option<Order>,
    /// From 0.
    pub(super) rank: usize,
    pub(super) told: Told,
}

impl WhichOne {
    pub(super) fn of(
        said: &Said<'_>,
        named: &Named,
        when: Vec<PhraseTime>,
        doing: Option<&str>,
        is_question: bool,
    ) -> Self {
        let tense = said.tagged.tense;
        let is_past = tense == Tense::Once || !when.is_empty() || doing.is_some();
        // What is used most is told by a habit, whether the model says so or not.
        let is_often = matches!(said.tagged.order, Superlative::Most | Superlative::Least);
        let is_usually = tense == Tense::Habit || tense == Tense::None && is_often;
        let (when, order) = split_times(when, said.tagged);
        let order = said.order(order, is_question);
        let order = order.or_else(|| named.is_usual.then_some(Order::MostOften));
        let rank = said.rank().unwrap_or(said.tagged.rank as usize);
        // "where the mug I use most is": which mug.
        let tells_which = doing.is_some_and(|it| MERE_USE.contains(it));
        let is_habit = order == Some(Order::MostOften)
            && rank == 0
            && !tells_which
            && when.iter().all(PhraseTime::is_recurring);
        let is_timeless = order.is_none() && tense == Tense::None && when.is_empty();
        let told = Told { is_past: is_past && !is_usually, is_habit, is_timeless };
        Self { when, order, rank, told }
    }
}

/// The times as occasions or as habits, and the order that is asked for with them.
fn split_times(when: Vec<PhraseTime>, tagged: &TaggedRequest) -> (Vec<PhraseTime>, Option<Order>) {
    let order = match tagged.order {
        Superlative::None => None,
        Superlative::Most => Some(Order::MostOften),
        Superlative::Least => Some(Order::LeastOften),
        Superlative::Latest => Some(Order::Latest),
        Superlative::Earliest => Some(Order::Earliest),
    };
    let is_once =
        tagged.tense == Tense::Once && !matches!(order, Some(Order::MostOften | Order::LeastOften));
    let when: Vec<PhraseTime> =
        when.into_iter().map(|it| if is_once { it.once() } else { it.habitual() }).collect();
    let recurs = when.iter().all(PhraseTime::is_recurring);
    let is_habit = recurs && (!when.is_empty() || tagged.tense == Tense::Habit);
    let order = order.or_else(|| is_habit.then_some(Order::MostOften));
    (when, order)
}
