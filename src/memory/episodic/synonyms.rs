//! Household things that go by several names, where vectors of bare nouns do not tell:
//! a pillow is a cushion, a teddy is a bear; and a bedroom is no living room.
//!
//! Pure.

use crate::index::mention::{AttributeKind, Mention, mentions};

/// Names of one thing each.
const NAMES: &[&[&str]] = &[
    &["mug", "cup"],
    &["cushion", "pillow"],
    &["backpack", "rucksack", "knapsack", "schoolbag"],
    &["sofa", "couch", "settee"],
    &["phone", "cellphone", "smartphone", "telephone", "mobile"],
    &["remote", "remote control", "clicker"],
    &["teddy", "bear"],
    &["nightstand", "bedside table", "night table", "bedside cabinet"],
    &["counter", "worktop", "countertop"],
    &["windowsill", "window sill", "window ledge"],
    &["laptop", "notebook computer"],
    &["television", "tv", "telly"],
    &["fridge", "refrigerator"],
    &["pan", "skillet", "frypan"],
    &["shoe", "sneaker", "trainer"],
    &["armchair", "easy chair", "recliner"],
    &["rug", "carpet"],
    &["box", "carton", "parcel", "package"],
    &["basket", "hamper"],
    &["bin", "wastebasket", "trash can", "garbage can"],
    &["tap", "faucet"],
    &["wardrobe", "closet"],
    &["bookshelf", "bookcase"],
    &["glasses", "spectacles", "eyeglasses"],
    &["umbrella", "brolly"],
    &["plant", "houseplant"],
    &["washing machine", "washer"],
    &["stove", "cooker"],
    &["hallway", "corridor", "hall"],
    &["office", "study"],
    &["living room", "lounge"],
    &["bathroom", "washroom"],
    &["bedroom"],
    &["kitchen"],
    &["dining room"],
];

/// Stems of the rooms' names that do not end in "room".
const ROOMS: &[&str] =
    &["kitchen", "hallway", "hall", "corridor", "offic", "studi", "loung", "garag", "cellar"];

/// The stems by which captions may name the thing: those of `like`, whose vectors are
/// alike, and of its other names. Rooms are alike and yet not the same, and what stands
/// in a room is alike to it: a bed is no bedroom.
pub(super) fn stems(mention: &Mention, mut like: Vec<String>) -> Vec<String> {
    let stem = &mention.head_stem;
    like.retain(|it| !is_room(it));
    let mut stems = if is_room(stem) { vec![stem.clone()] } else { like };
    let compound = compound(mention);
    let of_compound = compound.as_ref().and_then(|name| group(name));
    let own = mention.singular_head();
    let Some(names) = of_compound.or_else(|| group(&own)) else { return stems };
    if of_compound.is_some() {
        // A bedside table is no table as others are.
        stems.clear();
    }
    for name in names {
        let named = mentions(&format!("a {name}"));
        let Some(named) = named.into_iter().next() else { continue };
        if named.attributes.is_empty() && !stems.contains(&named.head_stem) {
            stems.push(named.head_stem);
        }
    }
    stems
}

fn is_room(stem: &str) -> bool {
    stem.ends_with("room") || ROOMS.contains(&stem)
}

fn group(name: &str) -> Option<&'static [&'static str]> {
    NAMES.iter().find(|names| names.contains(&name)).copied()
}

/// "bedside table" of "white bedside table".
fn compound(mention: &Mention) -> Option<String> {
    let other = mention.attributes.iter().rev().find(|it| it.kind == AttributeKind::Other)?;
    Some(format!("{} {}", other.word, mention.singular_head()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(thing: &str, like: &[&str], expect: &[&str]) {
        let mention = mentions(thing).remove(0);
        let like = like.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(stems(&mention, like), expect, "{thing}");
    }

    #[test]
    fn things_are_found_by_their_other_names() {
        check("a blue pillow", &["pillow"], &["pillow", "cushion"]);
        check("the remote control", &["remot control"], &["remot control", "remot", "clicker"]);
        check("my teddy", &["teddi"], &["teddi", "bear"]);
        check("a coffee cup", &["cup", "mug"], &["cup", "mug"]);
        check("a spoon", &["spoon", "fork"], &["spoon", "fork"]);
    }

    #[test]
    fn what_two_words_name_together_is_not_what_one_names() {
        check("the white bedside table", &["tabl"], &["nightstand"]);
        check("a wooden table", &["tabl", "desk"], &["tabl", "desk"]);
    }

    #[test]
    fn rooms_that_are_alike_are_not_the_same() {
        check("the bedroom", &["bedroom", "live room"], &["bedroom"]);
        check("a bed", &["bed", "bedroom"], &["bed"]);
        check("the lounge", &["loung", "bedroom"], &["loung", "live room"]);
    }
}
