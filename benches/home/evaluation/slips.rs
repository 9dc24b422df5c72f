//! What a captioner got wrong, against the truth. Pure: sees texts only.

use serde::Serialize;

use super::household::Shown;

/// Things that captions name, summed over all frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(super) struct Slips {
    pub(super) frames: usize,
    /// Frames whose caption names exactly the things that are there.
    pub(super) right_frames: usize,
    /// Things that are there and named.
    pub(super) right: usize,
    /// Things that are there and not named.
    pub(super) missed: usize,
    /// Things that are named and not there.
    pub(super) wrong: usize,
}

impl Slips {
    /// Counts the caption of a frame in.
    pub(super) fn add(&mut self, caption: &str, shown: &[Shown], phrases: &[String]) {
        let mut claimed = named(caption, phrases);
        let claims = claimed.len();
        let mut right = 0;
        for thing in shown {
            if let Some(at) = claimed.iter().position(|it| *it == thing.phrase) {
                claimed.swap_remove(at);
                right += 1;
            }
        }
        let (missed, wrong) = (shown.len() - right, claims - right);
        self.frames += 1;
        self.right_frames += usize::from(missed == 0 && wrong == 0);
        self.right += right;
        self.missed += missed;
        self.wrong += wrong;
    }
}

/// Whether a caption names a thing.
pub(super) fn names(caption: &str, thing: &str, phrases: &[String]) -> bool {
    named(caption, phrases).contains(&thing)
}

/// The phrases that a caption holds, from left to right, of those that begin at the
/// same word the longest.
pub(super) fn named<'a>(caption: &str, phrases: &'a [String]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = caption;
    loop {
        let here = phrases.iter().filter(|phrase| begins(rest, phrase));
        if let Some(phrase) = here.max_by_key(|phrase| phrase.len()) {
            found.push(phrase.as_str());
            rest = rest.get(phrase.len()..).unwrap_or_default();
        }
        let Some(space) = rest.find(' ') else { return found };
        rest = rest.get(space + 1..).unwrap_or_default();
    }
}

/// Whether a text begins with these words, not with longer ones.
fn begins(text: &str, phrase: &str) -> bool {
    let end = text.strip_prefix(phrase).map(|rest| rest.chars().next());
    end.is_some_and(|next| next.is_none_or(|it| !it.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases() -> Vec<String> {
        [
            "a red mug",
            "a blue mug",
            "a red toy car",
            "a plant in a red pot",
            "a set of keys",
            "a hat",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn shown(phrases: &[&str]) -> Vec<Shown> {
        let thing = |it: &&str| Shown { id: (*it).to_owned(), phrase: (*it).to_owned() };
        phrases.iter().map(thing).collect()
    }

    #[test]
    fn a_caption_is_cut_into_the_things_that_it_names() {
        let check = |caption: &str, expect: &[&str]| {
            assert_eq!(named(caption, &phrases()), expect, "{caption}");
        };
        check(
            "a red mug, a set of keys and a plant in a red pot on a white table",
            &["a red mug", "a set of keys", "a plant in a red pot"],
        );
        check("there is a red mug on a desk", &["a red mug"]);
        check("a red mug next to a red mug", &["a red mug", "a red mug"]);
        check("a hatstand and a reddish mug", &[]);
        check("", &[]);
    }

    #[test]
    fn right_missed_and_wrong_things_are_counted_one_by_one() {
        let mut slips = Slips::default();
        slips.add("a red mug next to a hat", &shown(&["a red mug", "a blue mug"]), &phrases());
        slips.add("a red mug next to a hat", &shown(&["a hat", "a red mug"]), &phrases());
        let expect = Slips { frames: 2, right_frames: 1, right: 3, missed: 1, wrong: 1 };
        assert_eq!(slips, expect);
        slips.add("a red mug on a desk", &shown(&["a red mug", "a red mug"]), &phrases());
        assert_eq!((slips.right, slips.missed), (4, 2), "one of two alike is missed");
    }
}
