//! Days and parts of the day that were mistyped: "friady", "yesturday".
//!
//! Pure. Knows no caption.

use crate::language::known_words::is_unknown;
use crate::language::spelling::find_meant;
use crate::language::time::words::{UNITS, WEEKDAYS};

/// The words of a text that nobody knows and that are a slip away from one that tells a time, with
/// what was meant.
pub(crate) fn slips_of_time(text: &str) -> Vec<(String, &'static str)> {
    let words = text.split_whitespace().map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
    let slip = |said: &str| {
        let lower = said.to_lowercase();
        let meant = find_meant(&lower, telling()).filter(|_| is_unknown(&lower))?;
        Some((said.to_owned(), meant))
    };
    words.filter_map(slip).collect()
}

/// Words that tell a time by themselves.
fn telling() -> impl Iterator<Item = &'static str> {
    let units = UNITS.iter().map(|(word, _)| *word);
    WEEKDAYS.iter().copied().chain(units).chain(["yesterday", "today", "tonight"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_day_is_the_day_that_was_meant() {
        for (said, meant) in [
            ("where I had my cake on friady, I think", &[("friady", "friday")][..]),
            (
                "the mug from Yesturday mornign!",
                &[("Yesturday", "yesterday"), ("mornign", "morning")],
            ),
            ("the bag I had on wendesday", &[("wendesday", "wednesday")]),
            ("the pan on Sunday", &[]),
            ("the sundae glass", &[]),
            ("my daisy mug by the lamp", &[]),
        ] {
            let expect: Vec<_> = meant.iter().map(|(a, b)| ((*a).to_owned(), *b)).collect();
            assert_eq!(slips_of_time(said), expect, "{said}");
        }
    }
}
