//! What a request calls the thing: "my everyday mug", "the red one of our mugs", "the box marked fragile".
//!
//! Pure. English.

use crate::language::known_words::is_known_name;
use crate::language::reference::phrase;
use crate::language::reference::phrase::plain;
use crate::language::reference::said::Said;
use crate::language::request_tags::Role;
use crate::language::time::{self, PhraseTime};
use crate::language::words::{HABITUAL, PARTS_OF_DAY};

pub(super) struct Named {
    /// In plain words, without what is written on the thing.
    pub(super) names: Vec<String>,
    /// "mugs" of "the red one of our mugs".
    pub(super) kind: Option<String>,
    /// Whether a name tells that it is the usual one.
    pub(super) is_usual: bool,
    /// Whether nothing but a span of time is named: "wait there a sec".
    pub(super) is_moment: bool,
    /// Of "my morning mug".
    part_of_day: Option<PhraseTime>,
    written: Option<String>,
}

impl Named {
    pub(super) fn of(said: &Said<'_>) -> Self {
        let (names, is_usual) = without_habit(said.plainly(Role::Thing));
        let (mut names, part_of_day) = without_part_of_day(names);
        let is_moment = !names.is_empty() && names.iter().all(|it| time::is_unit(it));
        names.retain(|it| !time::is_unit(it));
        let kind = said.kind().filter(|_| names.is_empty()).map(|at| plain(said.text(at)));
        names.extend(kind.clone());
        let written = said.inscription();
        let first = names.first().cloned();
        let is_written = |it: &String| written.as_ref().is_some_and(|text| text.contains(it));
        names.retain(|it| Some(it) == first.as_ref() || !is_written(it));
        Self { names, kind, is_usual, is_moment, part_of_day, written }
    }

    /// The class with its attributes, and what is written on it.
    pub(super) fn thing(&self, said: &Said<'_>) -> String {
        let thing = phrase::thing(&self.names, &said.plainly(Role::Attribute));
        match &self.written {
            Some(text) if !thing.is_empty() => format!("{thing} marked {text}"),
            Some(_) | None => thing,
        }
    }

    /// The times that the request tells, with the one in a name.
    pub(super) fn when(&self, said: &Said<'_>) -> Vec<PhraseTime> {
        let times = said.times().into_iter().map(|it| it.time.clone());
        time::combine(times.chain(self.part_of_day.clone()).collect())
    }

    /// Whether words are those that are written on the thing.
    pub(super) fn is_written(&self, words: &str) -> bool {
        self.written.as_ref().is_some_and(|text| text.contains(words))
    }
}

/// "my everyday mug" is the one used most often; whether there is such a word.
fn without_habit(mut names: Vec<String>) -> (Vec<String>, bool) {
    let mut is_usual = false;
    for name in &mut names {
        let words: Vec<&str> = name.split(' ').filter(|it| !HABITUAL.contains(it)).collect();
        if !words.is_empty() && words.join(" ") != *name {
            is_usual = true;
            *name = words.join(" ");
        }
    }
    (names, is_usual)
}

/// "my morning mug": a habit, said as if it were a kind. A lunch box is called so.
fn without_part_of_day(mut names: Vec<String>) -> (Vec<String>, Option<PhraseTime>) {
    for name in &mut names {
        let mut words: Vec<&str> = name.split(' ').collect();
        let (_head, before) = words.split_last().unwrap_or((&"", &[]));
        let part = before.iter().enumerate().find_map(|(at, word)| {
            let meant = PARTS_OF_DAY.value(word)?;
            let whole = words.get(at..)?.join(" ");
            if is_known_name(&whole) {
                return None;
            }
            Some((at, time::find(meant).pop()?))
        });
        if let Some((at, found)) = part {
            words.remove(at);
            *name = words.join(" ");
            return (names, Some(found.time.habitual()));
        }
    }
    (names, None)
}
