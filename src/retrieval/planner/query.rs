//! Queries of a plan: the words of a description, and windows of time.
//!
//! Pure. English.

use std::time::Duration;

use crate::base::time::{Timestamp, Window, Zone};
use crate::base::wording::article;
use crate::language::reference::Reference;
use crate::language::time::PhraseTime;
use crate::language::words::PLACEHOLDERS;

/// A reference as a description to recall by: "a red mug by the desk".
pub(super) fn description(reference: &Reference) -> String {
    let Reference { thing, around, doing, doer, .. } = reference;
    let mut words = if thing.is_empty() { "things".to_owned() } else { with_article(thing) };
    for place in around {
        words.push_str(&format!(" by the {place}"));
    }
    if let (Some(doing), true) = (doing, around.is_empty()) {
        let doer = doer.as_deref().unwrap_or("user");
        words.push_str(&format!(" the {doer} is {doing}"));
    }
    words
}

/// "a mug", "an apple", "keys"; "something to drain the spaghetti" as it is.
pub(super) fn with_article(thing: &str) -> String {
    if thing.split(' ').next().is_some_and(|it| PLACEHOLDERS.has_tag(it, "pronoun")) {
        return thing.to_owned();
    }
    if thing.ends_with('s') && !thing.ends_with("ss") {
        return thing.to_owned();
    }
    format!("{} {thing}", article(thing))
}

/// The window of all occasions that are named; `None` where there is none, or a habit only.
pub(super) fn time_window(when: &[PhraseTime], now: Timestamp, zone: Zone) -> Option<Window> {
    let times = when.iter().map(|it| it.resolve(now, zone).window);
    times.filter(|it| !it.is_unbounded()).reduce(|a, b| {
        // Open where one of them is.
        let start = a.start().zip(b.start()).map(|(a, b)| a.min(b));
        let end = a.end().zip(b.end()).map(|(a, b)| a.max(b));
        Window::new(start, end).unwrap_or(a)
    })
}

/// An hour to either side, or half of it, and three at most: people are no clocks, and robots go
/// their rounds; but Sunday noon is no Saturday.
pub(super) fn widen(window: Window) -> Window {
    const LEAST: Duration = Duration::from_hours(1);
    const MOST: Duration = Duration::from_hours(3);
    let span = window.start().zip(window.end()).map(|(start, end)| end.since(start));
    let slack = span.map_or(LEAST, |span| (span / 2).clamp(LEAST, MOST));
    let start = window.start().map(|it| it.minus(slack));
    let end = window.end().map(|it| it.plus(slack));
    Window::new(start, end).unwrap_or(window)
}

/// All of the seconds that a window touches: what its bounds mean once they are written.
pub(super) fn whole_seconds(window: Window) -> Window {
    const SECOND: Duration = Duration::from_secs(1);
    let start = window.start().map(|it| it.floor(SECOND));
    let end = window.end().map(|it| it.floor(SECOND).plus(Duration::from_micros(999_999)));
    Window::new(start, end).unwrap_or(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_an_article_the_places_or_the_deed() {
        let words = |thing: &str, around: &[&str], doing: Option<&str>| {
            description(&Reference {
                thing: thing.to_owned(),
                around: around.iter().map(|it| (*it).to_owned()).collect(),
                doing: doing.map(str::to_owned),
                ..Reference::default()
            })
        };
        assert_eq!(words("red mug", &["desk"], Some("using")), "a red mug by the desk");
        assert_eq!(words("apple", &[], Some("eating")), "an apple the user is eating");
        assert_eq!(words("keys", &[], None), "keys");
        let reference = Reference {
            thing: "book".to_owned(),
            doing: Some("reading".to_owned()),
            doer: Some("lodger".to_owned()),
            ..Reference::default()
        };
        assert_eq!(description(&reference), "a book the lodger is reading");
        assert_eq!(words("", &["sofa", "lamp"], None), "things by the sofa by the lamp");
    }

    #[test]
    fn a_window_covers_the_seconds_that_it_touches() {
        let at = |micros| Timestamp::from_micros(micros).unwrap();
        let window = Window::new(Some(at(1_500_000)), Some(at(3_000_000))).unwrap();
        let whole = whole_seconds(window);
        assert_eq!((whole.start(), whole.end()), (Some(at(1_000_000)), Some(at(3_999_999))));
        assert_eq!(whole_seconds(Window::ALL), Window::ALL);
    }

    #[test]
    fn a_window_is_widened_by_an_hour_or_half_of_it_to_three() {
        const HOUR: i64 = 3_600_000_000;
        let at = |hours: i64| Timestamp::from_micros(hours * HOUR).unwrap();
        let span = |from, to| {
            let window = widen(Window::new(Some(at(from)), Some(at(to))).unwrap());
            (window.start().unwrap(), window.end().unwrap())
        };
        assert_eq!(span(10, 11), (at(9), at(12)));
        assert_eq!(span(10, 14), (at(8), at(16)));
        assert_eq!(span(24, 48), (at(21), at(51)), "a day is no day and a half");
    }
}
