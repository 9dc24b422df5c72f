//! English of the things that COCO's classes name: counts, plurals, what stands on what. Pure.

use crate::base::wording::article;

/// "a red cup", "two chairs", "many people".
pub(super) fn noun_phrase(count: usize, colour: Option<&str>, name: &str) -> String {
    let coloured = |noun: &str| match colour {
        Some(colour) => format!("{colour} {noun}"),
        None => noun.to_owned(),
    };
    match (count, NUMBERS.get(count.wrapping_sub(2))) {
        (0 | 1, _) if PAIRS.contains(&name) => format!("a pair of {}", coloured(name)),
        (0 | 1, _) => {
            let noun = coloured(name);
            format!("{} {noun}", article(&noun))
        }
        (_, Some(number)) => format!("{number} {}", coloured(&plural(name))),
        (_, None) => format!("many {}", coloured(&plural(name))),
    }
}

/// Counts as words, from two.
const NUMBERS: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Names that are plurals of one thing.
const PAIRS: [&str; 2] = ["scissors", "skis"];

fn plural(name: &str) -> String {
    let (before, noun) = name.rsplit_once(' ').map_or(("", name), |(a, b)| (a, b));
    let noun = match noun {
        "person" => "people".to_owned(),
        "mouse" => "mice".to_owned(),
        "knife" => "knives".to_owned(),
        "sheep" | "scissors" | "skis" | "broccoli" => noun.to_owned(),
        it if it.ends_with(['s', 'x']) || it.ends_with("ch") || it.ends_with("sh") => {
            format!("{it}es")
        }
        it => format!("{it}s"),
    };
    if before.is_empty() { noun } else { format!("{before} {noun}") }
}

/// Whether a colour says something of it: not where clothes, a pattern or food decide, nor where
/// what is behind it is seen around it or through it.
pub(super) fn has_colour(name: &str) -> bool {
    const WITHOUT: [&str; 23] = [
        "person",
        "zebra",
        "giraffe",
        "elephant",
        "pizza",
        "sandwich",
        "hot dog",
        "broccoli",
        "carrot",
        "orange",
        "banana",
        "cake",
        "dining table",
        "stop sign",
        "traffic light",
        "tv",
        "bowl",
        "fork",
        "knife",
        "potted plant",
        "scissors",
        "spoon",
        "wine glass",
    ];
    !WITHOUT.contains(&name)
}

/// What other things stand on or lie on.
pub(super) fn is_support(name: &str) -> bool {
    ["dining table", "bed", "couch", "bench", "chair"].contains(&name)
}

/// Whether a thing of this name whose foot is seen within that support is on it. A cup in
/// front of a chair stands on a table that was not found.
pub(super) fn may_rest_on(name: &str, support: &str) -> bool {
    const ON_SEATS: [&str; 8] =
        ["cat", "backpack", "umbrella", "handbag", "suitcase", "book", "remote", "teddy bear"];
    match support {
        "chair" => ON_SEATS.contains(&name),
        "couch" | "bench" => ON_SEATS.contains(&name) || ["person", "dog"].contains(&name),
        "bed" => is_portable(name) || ["person", "dog"].contains(&name),
        _ => is_portable(name),
    }
}

fn is_portable(name: &str) -> bool {
    const PORTABLE: [&str; 39] = [
        "cat",
        "backpack",
        "umbrella",
        "handbag",
        "frisbee",
        "sports ball",
        "baseball glove",
        "bottle",
        "wine glass",
        "cup",
        "fork",
        "knife",
        "spoon",
        "bowl",
        "banana",
        "apple",
        "sandwich",
        "orange",
        "broccoli",
        "carrot",
        "hot dog",
        "pizza",
        "donut",
        "cake",
        "potted plant",
        "tv",
        "laptop",
        "mouse",
        "remote",
        "keyboard",
        "cell phone",
        "toaster",
        "book",
        "clock",
        "vase",
        "scissors",
        "teddy bear",
        "hair drier",
        "toothbrush",
    ];
    PORTABLE.contains(&name)
}

/// Whether it stands on the floor or the ground, so that what is lower in the image is nearer.
pub(super) fn stands_on_floor(name: &str) -> bool {
    const STANDING: [&str; 12] = [
        "person",
        "chair",
        "couch",
        "bed",
        "dining table",
        "bench",
        "dog",
        "bicycle",
        "car",
        "motorcycle",
        "suitcase",
        "refrigerator",
    ];
    STANDING.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_thin_holds_food_or_is_seen_through_has_no_colour() {
        for name in ["spoon", "bowl", "wine glass", "potted plant"] {
            assert!(!has_colour(name), "{name}");
        }
        assert!(has_colour("cup") && has_colour("couch"));
    }

    #[test]
    fn counts_and_plurals_read_as_english() {
        let phrases = [
            noun_phrase(1, Some("orange"), "cup"),
            noun_phrase(2, None, "person"),
            noun_phrase(3, Some("red"), "wine glass"),
            noun_phrase(11, None, "bench"),
            noun_phrase(1, None, "scissors"),
            noun_phrase(10, None, "teddy bear"),
            noun_phrase(4, None, "sheep"),
        ];
        let expect = [
            "an orange cup",
            "two people",
            "three red wine glasses",
            "many benches",
            "a pair of scissors",
            "ten teddy bears",
            "four sheep",
        ];
        assert_eq!(phrases, expect);
    }
}
