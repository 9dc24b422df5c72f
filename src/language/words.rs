//! The closed classes of English words by which captions and requests are cut, a file of
//! `data/classes/` each, which says what the class is.
//!
//! Pure.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::language::lexicon::noun_stem;
use crate::language::word_class::WordClass;

macro_rules! classes {
    ($($name:ident = $file:literal;)*) => {
        $(pub(crate) static $name: LazyLock<WordClass> = LazyLock::new(|| {
            WordClass::read(include_str!(concat!("data/classes/", $file, ".txt")))
        });)*

        #[cfg(test)]
        const CLASSES: &[(&str, &LazyLock<WordClass>)] = &[$(($file, &$name)),*];
    };
}

classes! {
    COLOURS = "colours";
    MATERIALS = "materials";
    SIZES = "sizes";
    PATTERNS = "patterns";
    STATES = "states";
    NUMBERS = "numbers";
    COLLECTIVES = "collectives";
    DETERMINERS = "determiners";
    PREPOSITIONS = "prepositions";
    COPULAS = "copulas";
    BOUNDARIES = "boundaries";
    THINGS_TOO = "things_too";
    DEPICTIONS = "depictions";
    DEPICTS = "depicting";
    PICTURES = "pictures";
    NO_PLACES = "no_places";
    PLACE_ENDS = "place_ends";
    GENERIC_HEADS = "generic_heads";
    CANS = "cans";
    NOUNS_IN_ING = "nouns_in_ing";
    MODIFIERS_IN_ING = "modifiers_in_ing";
    NOUNS_IN_LY = "nouns_in_ly";
    NOUNS_IN_ED = "nouns_in_ed";
    PLACING = "placing_verbs";
    WRITING = "writing";
    GERUNDS = "gerunds";
    BEFORE_VERBS = "before_verbs";
    BEFORE_WHERE = "before_where";
    MERE_USE = "mere_use";
    LIGHT_VERBS = "light_verbs";
    LEFT_BEHIND = "left_behind";
    ERRANDS = "errands";
    ENDEARMENTS = "endearments";
    FOREIGN_WORDS = "foreign_words";
    FILLERS = "fillers";
    PLACE_PARTS = "place_parts";
    SIDES = "sides";
    PLACEHOLDERS = "placeholders";
    NOWHERE = "nowhere";
    AFFORDANCES = "affordances";
    HABITUAL = "habitual";
    PARTS_OF_DAY = "parts_of_day";
    ORDINALS = "ordinals";
    ROOMS = "rooms";
    PACKAGING = "packaging";
    PEOPLE = "people";
    KEPT = "kept";
    LIKENESSES = "likenesses";
    COURTESY = "courtesy";
    GREETINGS = "greetings";
    FIXTURES = "fixtures";
    SHADES = "shades";
    SECOND_THOUGHTS = "second_thoughts";
    STOP_WORDS = "stop_words";
    FUNCTION_WORDS = "function_words";
    CONDITIONALS = "conditionals";
    BEFORE_IF = "before_if";
    PRESENT_VERBS = "present_verbs";
    POLITE_CLAUSES = "polite_clauses";
    AUXILIARIES = "auxiliaries";
    ASKED = "asked";
    QUESTION_WORDS = "question_words";
    BEFORE_IT = "before_it";
    SUGGESTIONS = "suggestions";
    AFTER_WAY = "after_way";
    MANNERS = "manners";
    DENIALS = "denials";
    SEXES = "sexes";
    DOERS = "doers";
    ANYBODY = "anybody";
    GONE = "gone";
    THERE = "there";
    ABSENCE = "absence";
    AFTER_GONE = "after_gone";
    REMOVING = "removing";
    TAKING = "taking";
    DENIED_VERBS = "denied_verbs";
    BEFORE_OBJECTS = "before_objects";
    INVISIBLE_VERBS = "invisible_verbs";
    TOPIC_FRAMES = "topic_frames";
    POSSESSIVES = "possessives";
    PRONOUNS = "pronouns";
    VISITS = "visits";
    EXCLUSIONS = "exclusions";
    EXAMPLE_FRAMES = "example_frames";
    HOMOPHONES = "homophones";
    WISHING = "wishing";
    OBTAINING = "obtaining";
    HABITUALLY = "habitually";
    HOLDING = "holding_verbs";
    STOOD = "stood";
    NOBODY = "nobody";
    OPPOSED = "opposed";
    PARTS = "parts";
    DETACHABLE = "detachable";
    MOVING = "moving";
    GENERAL_NAMES = "general_names";
    AFTER_USE = "after_use";
    TELLING = "telling_verbs";
    FILLED = "filled";
    USUAL = "usual";
    IRREGULAR_PLURALS = "irregular_plurals";
}

/// Rank of the first of [`ORDINALS`], from 0.
pub(crate) const FIRST_ORDINAL: usize = 3;

/// Numbers that a caption counts things by.
pub(crate) const COUNTS: RangeInclusive<usize> = 2..=10;

/// Whether a word says which one in an order is meant: "third".
pub(crate) fn is_ordinal(word: &str) -> bool {
    matches!(word, "first" | "second" | "third") || ORDINALS.contains(word)
}

/// The number that a word spells, to twenty.
pub(crate) fn number(word: &str) -> Option<usize> {
    NUMBERS.position(word)
}

/// Whether two colours are of one family, so that one eye may call this what another calls
/// that.
pub(crate) fn share_family(a: &str, b: &str) -> bool {
    let mut families = COLOURS.value(a).unwrap_or_default().split(' ');
    families.any(|it| COLOURS.has_tag(b, it))
}

/// Whether one eye may call this size what another calls that.
pub(crate) fn are_sizes_of_one(a: &str, b: &str) -> bool {
    !SIZES.has_tag(a, b)
}

/// Whether a stem is that of a room's name.
pub(crate) fn is_room(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(ROOMS.words()));
    stem.ends_with("room") || STEMS.contains(stem)
}

/// Whether it is that of a room that none which is alike stands for.
pub(crate) fn is_distinct_room(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(ROOMS.tagged("distinct")));
    stem.ends_with("room") || STEMS.contains(stem)
}

/// Whether a stem is that of one of [`PEOPLE`].
pub(crate) fn is_people(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(PEOPLE.words()));
    STEMS.contains(stem)
}

/// Whether a stem is that of one of [`NO_PLACES`].
pub(crate) fn is_no_place(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(NO_PLACES.words()));
    STEMS.contains(stem)
}

/// Stems of names, word by word.
fn stems(names: impl Iterator<Item = &'static str>) -> HashSet<String> {
    let stem = |name: &str| name.split(' ').map(noun_stem).collect::<Vec<_>>().join(" ");
    names.map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Share of a class that may stand in another one: beyond, both are one class.
    const SHARED_PERCENT_MAX: usize = 90;

    #[test]
    fn a_word_stands_once_in_its_class() {
        for (name, class) in CLASSES {
            let words: Vec<&str> = class.words().collect();
            let distinct: HashSet<&str> = words.iter().copied().collect();
            assert!(!words.is_empty() && distinct.len() == words.len(), "{name}");
            assert!(words.iter().all(|it| *it == it.trim().to_lowercase()), "{name}");
        }
    }

    #[test]
    fn no_class_is_written_twice() {
        for (name, class) in CLASSES {
            for (other, others) in CLASSES.iter().filter(|(other, _)| other != name) {
                let shared = class.words().filter(|it| others.contains(it)).count();
                let is_apart = shared * 100 <= class.words().count() * SHARED_PERCENT_MAX;
                assert!(is_apart, "{name} stands in {other}");
            }
        }
    }

    #[test]
    fn a_word_in_a_room_or_of_people_is_known_by_its_stem() {
        for stem in ["kitchen", "offic", "live room", "balconi", "loung", "laboratori"] {
            assert!(is_room(stem), "{stem}");
        }
        assert!(!is_room("tabl") && !is_distinct_room("balconi") && is_distinct_room("studi"));
        assert!(is_people("peopl") && is_people("someon") && !is_people("cat"));
        assert!(is_no_place("imag") && !is_no_place("kitchen"));
    }
}
