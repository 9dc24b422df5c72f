//! Where a caption says that its things are: "on a wooden table in the kitchen".
//!
//! Pure.

use crate::language::fit::fit;
use crate::language::mention::{Attribute, AttributeKind, Mention, mentions};
use crate::language::words::{self, PLACE_ENDS, PREPOSITIONS, is_no_place};

/// A place as a caption names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceWords {
    /// What things stand on or lie in: "wooden table".
    pub surface: Option<Spot>,
    pub room: Option<Spot>,
}

/// One named thing of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    pub phrase: String,
    pub stem: String,
    /// Without states, which change.
    pub attributes: Vec<Attribute>,
}

/// The last place that `caption` names, since what stands in another thing ("a plant
/// in a pot on the floor") is named before what both stand on. `None` where none is.
pub fn place_of(caption: &str) -> Option<PlaceWords> {
    let lower = caption.to_lowercase();
    let mut place = PlaceWords::default();
    let mut surface_is_firm = false;
    for sentence in lower.split(['.', ';', '!', '?']) {
        for (preposition, name) in segments(sentence) {
            let Some(spot) = mentions(&name).into_iter().next().and_then(Spot::of) else {
                continue;
            };
            if spot.is_room() {
                place.room = Some(spot);
            } else if preposition != "in" || !surface_is_firm {
                surface_is_firm |= preposition != "in";
                place.surface = Some(spot);
            }
        }
    }
    (place != PlaceWords::default()).then_some(place)
}

/// What follows each preposition, up to where its name ends.
fn segments(sentence: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for word in sentence.split_whitespace() {
        let (bare, ends) = match word.strip_suffix(',') {
            Some(bare) => (bare, true),
            None => (word, false),
        };
        if PREPOSITIONS.has_tag(bare, "surface") {
            found.push((bare, String::new()));
            is_open = true;
        } else if PLACE_ENDS.contains(bare) {
            is_open = false;
        } else if let (true, Some((_, name))) = (is_open, found.last_mut()) {
            name.push_str(bare);
            name.push(' ');
        }
        is_open &= !ends;
    }
    found
}

impl From<Mention> for Spot {
    fn from(mention: Mention) -> Self {
        let Mention { phrase, head: _, head_stem: stem, mut attributes } = mention;
        attributes.retain(|it| it.kind != AttributeKind::State);
        Self { phrase, stem, attributes }
    }
}

impl Spot {
    fn of(mention: Mention) -> Option<Self> {
        (!is_no_place(&mention.head_stem)).then(|| mention.into())
    }

    fn is_room(&self) -> bool {
        words::is_room(&self.stem)
    }

    /// Whether both name one thing: "table" and "wooden table" do, "white table" and
    /// "red table" do not, "white table" and "wooden table" may.
    fn is_like(&self, other: &Self) -> Option<bool> {
        let fits = |a: &Self, b: &Self| fit(&a.attributes, &b.attributes).is_some();
        if self.stem != other.stem || !fits(self, other) || !fits(other, self) {
            return Some(false);
        }
        let says_nothing = self.attributes.is_empty() || other.attributes.is_empty();
        let says_same = self.attributes.iter().any(|it| other.attributes.contains(it));
        (says_nothing || says_same).then_some(true)
    }
}

impl PlaceWords {
    /// "wooden table in the kitchen"
    pub fn text(&self) -> String {
        match (&self.surface, &self.room) {
            (Some(surface), Some(room)) => format!("{} in the {}", surface.phrase, room.phrase),
            (Some(only), None) | (None, Some(only)) => only.phrase.clone(),
            (None, None) => String::new(),
        }
    }

    /// Whether this names as much as a place has names for.
    pub fn is_whole(&self) -> bool {
        self.surface.is_some() && self.room.is_some()
    }
}

/// Whether what captions of two places say of them speaks for one place, `Some(true)`,
/// or against it; `None` where it says neither.
pub fn is_one_place(a: &PlaceWords, b: &PlaceWords) -> Option<bool> {
    let same_room = match (&a.room, &b.room) {
        (Some(a), Some(b)) => Some(a.stem == b.stem),
        (_, None) | (None, _) => None,
    };
    let same_surface = match (&a.surface, &b.surface) {
        (Some(a), Some(b)) => a.is_like(b),
        (_, None) | (None, _) => None,
    };
    match (same_surface, same_room) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), _) => Some(true),
        (None, Some(true) | None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(caption: &str, place: &str) {
        let found = place_of(caption).map(|it| it.text()).unwrap_or_default();
        assert_eq!(found, place, "{caption}");
    }

    #[test]
    fn the_place_is_what_everything_stands_on() {
        check(
            "a purple book next to a red mug on a wooden table in the kitchen",
            "wooden table in the kitchen",
        );
        check("there is a plant in a red pot on the tiled floor", "tiled floor");
        check("a red mug on a wooden desk in the office", "wooden desk in the office");
        check("a plant in a brown pot on a table in the hallway", "table in the hallway");
        check("a red mug in a sink in the kitchen", "sink in the kitchen");
        check(
            "a person reading a book on a grey sofa in the living room",
            "grey sofa in the living room",
        );
        check("a sofa in the living room with a red cushion", "living room");
        check("a cat at the window, a dog beside it", "window");
        check("a dog in the background of the image", "");
        check("a red mug", "");
        check("", "");
    }

    #[test]
    fn places_are_one_by_their_words_or_undecided() {
        let one = |a: &str, b: &str| is_one_place(&place_of(a).unwrap(), &place_of(b).unwrap());
        assert_eq!(one("on a wooden table in the kitchen", "on a table"), Some(true));
        assert_eq!(one("on a red table", "on a white table"), Some(false));
        assert_eq!(one("on a wooden table", "on a white table"), None);
        assert_eq!(one("on a table in the kitchen", "on a table in the office"), Some(false));
        assert_eq!(one("on a table in the kitchen", "in the kitchen"), None);
        assert_eq!(one("on a desk", "in the kitchen"), None);
    }
}
