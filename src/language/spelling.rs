//! Words that are a slip of the keys or of the ear away from known ones: "botle" is a bottle, and "do
//! knot" a denial.
//!
//! Pure. Knows no request and no record.

use std::borrow::Cow;

use strsim::damerau_levenshtein;

use crate::language::words::{AUXILIARIES, HOMOPHONES};

/// Letters from which a word may differ from what was meant in one slip; shorter ones are
/// too easily another word.
const ONE_SLIP: usize = 4;
/// Letters from which it may in two.
const TWO_SLIPS: usize = 8;

/// Words that sound like this one.
pub(crate) fn sounding_like(word: &str) -> impl Iterator<Item = &'static str> {
    let alike = |word: &str| HOMOPHONES.value(word).into_iter().flat_map(|it| it.split(", "));
    alike(word).chain(HOMOPHONES.words().filter(move |it| alike(it).any(|it| it == word)))
}

/// A request with "not" where speech recognition wrote "knot" after "do" or its like.
pub(crate) fn with_heard_denial(request: &str) -> Cow<'_, str> {
    let words: Vec<&str> = request.split(' ').collect();
    let denies = |pair: &[&str]| {
        let auxiliary = |it: &str| AUXILIARIES.has_tag(&it.to_ascii_lowercase(), "heard");
        matches!(pair, [verb, knot] if auxiliary(verb) && knot.eq_ignore_ascii_case("knot"))
    };
    match words.windows(2).position(denies) {
        Some(at) => {
            let heard = words.iter().enumerate();
            let heard = heard.map(|(place, it)| if place == at + 1 { "not" } else { it });
            Cow::Owned(heard.collect::<Vec<_>>().join(" "))
        }
        None => Cow::Borrowed(request),
    }
}

/// The known word that a word was meant to be, of the [`nearest`]. `None` where there is no such
/// word, or several that are as near.
pub(crate) fn find_meant<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    match nearest(word, known).as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The known words that a word may have been meant to be: those that are the fewest slips away, of
/// these the ones that a slip of the hand leads from, then those that begin alike.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let slips = match word.chars().count() {
        0..ONE_SLIP => return Vec::new(),
        ONE_SLIP..TWO_SLIPS => 1,
        TWO_SLIPS.. => 2,
    };
    // People rarely miss the first letter.
    let cost = |it: &str| {
        let begins_alike = it.chars().next() == word.chars().next();
        (damerau_levenshtein(word, it), !is_slip_of_hand(word, it), !begins_alike)
    };
    let candidates = known.into_iter().filter(|it| it.len().abs_diff(word.len()) <= 2 * slips);
    let mut near: Vec<_> =
        candidates.map(|it| (cost(it), it)).filter(|((away, ..), _)| *away <= slips).collect();
    near.sort_unstable();
    near.dedup();
    let least = near.first().map(|(cost, _)| *cost);
    near.into_iter().filter(|(cost, _)| Some(*cost) == least).map(|(_, it)| it).collect()
}

/// Whether a word is another with two neighbouring letters swapped.
pub(crate) fn is_swap(word: &str, meant: &str) -> bool {
    let (word, meant): (Vec<char>, Vec<char>) = (word.chars().collect(), meant.chars().collect());
    let same = word.iter().zip(&meant).take_while(|(a, b)| a == b).count();
    match (word.get(same..), meant.get(same..)) {
        (Some([a, b, rest @ ..]), Some([c, d, others @ ..])) => (a, b) == (d, c) && rest == others,
        _ => false,
    }
}

/// Whether a word is another with two letters swapped, one left out or one doubled: the slips of
/// which a word of eight letters has some eight each, where it has some 200 by a wrong letter or one
/// too many. So each of these few is the likelier ("A Spelling Correction Program Based on a Noisy
/// Channel Model", Kernighan, Church & Gale 1990).
pub(crate) fn is_slip_of_hand(word: &str, meant: &str) -> bool {
    let is_swapped = is_swap(word, meant);
    let (word, meant): (Vec<char>, Vec<char>) = (word.chars().collect(), meant.chars().collect());
    let same = word.iter().zip(&meant).take_while(|(a, b)| a == b).count();
    let (from_word, from_meant) =
        (word.get(same..).unwrap_or_default(), meant.get(same..).unwrap_or_default());
    match (from_word, from_meant) {
        _ if is_swapped => true,
        (rest, [_, others @ ..]) if rest == others => true,
        ([more, rest @ ..], others) if rest == others => {
            same.checked_sub(1).and_then(|at| word.get(at)) == Some(more)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_read_as_the_one_word_that_is_nearest() {
        let known = ["bottle", "backpack", "mobile", "mug", "mouse", "red", "cup", "cap", "boat"];
        for (word, expect) in [
            ("botle", Some("bottle")),
            ("backpck", Some("backpack")),
            ("moblie", Some("mobile")),
            ("bckapack", Some("backpack")),
            ("bakcpakc", Some("backpack")),
            ("bottlle", Some("bottle")),
            ("mous", Some("mouse")),
            ("coat", Some("boat")),
            ("mgu", None),
            ("bakpk", None),
            ("umbrella", None),
        ] {
            assert_eq!(find_meant(word, known), expect, "{word}");
        }
    }

    #[test]
    fn a_swap_a_letter_left_out_and_a_doubled_one_are_slips_of_the_hand() {
        for (word, meant) in
            [("houselpant", "houseplant"), ("pone", "phone"), ("boottle", "bottle")]
        {
            assert!(is_slip_of_hand(word, meant), "{word} {meant}");
        }
        for (word, meant) in
            [("pillw", "pill"), ("towl", "town"), ("scan", "can"), ("mug", "mug"), ("otp", "pot")]
        {
            assert!(!is_slip_of_hand(word, meant), "{word} {meant}");
        }
    }

    #[test]
    fn a_swap_is_of_two_letters_that_stand_side_by_side() {
        assert!(is_swap("mgu", "mug") && is_swap("kyes", "keys"));
        assert!(!is_swap("gum", "mug") && !is_swap("mug", "mug") && !is_swap("mg", "mug"));
    }

    #[test]
    fn of_words_as_near_the_one_from_which_the_hand_slipped_is_meant() {
        assert_eq!(find_meant("pillw", ["pill", "pillow"]), Some("pillow"));
        assert_eq!(find_meant("towl", ["town", "towel", "howl"]), Some("towel"));
    }

    #[test]
    fn a_knot_after_an_auxiliary_verb_is_a_denial() {
        for (said, heard) in [
            ("Do knot bring the mug", "Do not bring the mug"),
            ("the one that is knot red", "the one that is not red"),
            ("bring the knot board", "bring the knot board"),
            ("", ""),
        ] {
            assert_eq!(with_heard_denial(said), heard);
        }
    }

    #[test]
    fn words_that_sound_the_same_are_known_either_way() {
        assert_eq!(sounding_like("read").collect::<Vec<_>>(), ["red"]);
        assert_eq!(sounding_like("pear").collect::<Vec<_>>(), ["pair", "pare"]);
        assert_eq!(sounding_like("mug").count(), 0);
    }

    #[test]
    fn of_words_as_near_the_one_that_begins_alike_is_meant_and_else_none() {
        assert_eq!(find_meant("tbale", ["table", "bale"]), Some("table"));
        assert_eq!(
            find_meant("foil", ["boil", "fowl", "foal"]),
            None,
            "fowl and foal both begin alike"
        );
        assert_eq!(find_meant("lamb", ["lamp", "iamb"]), Some("lamp"));
    }
}
