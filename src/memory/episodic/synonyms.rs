//! Household things that go by several names, where vectors of bare nouns do not tell:
//! a pillow is a cushion, a teddy is a bear; and a bedroom is no living room.
//!
//! Pure.

use crate::index::phrases::ObjectName;
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention, mentions};
use crate::language::words::is_distinct_room;

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

/// What captions may call the thing: by the nouns of `like`, whose vectors are alike, and
/// by its other names. Rooms are alike and yet not the same, and what stands in a room is
/// alike to it: a bed is no bedroom.
pub(super) fn names(mention: &Mention, mut like: Vec<String>) -> Vec<ObjectName> {
    let stem = &mention.head_stem;
    like.retain(|it| !is_distinct_room(it));
    let stems = if is_distinct_room(stem) { vec![stem.clone()] } else { like };
    let name = |stem: String| ObjectName { stem, attributes: mention.attributes.clone() };
    let mut names: Vec<ObjectName> = stems.into_iter().map(name).collect();
    let (known, said) = known_name(mention);
    let people = if is_person(mention) { PEOPLE } else { &[] };
    let table = group(&known).unwrap_or_default().iter().chain(people).copied();
    for other in table.chain(lexicon::synonyms(&known)) {
        // What is not read as one name would find other things: "machine" of "stapling machine".
        let named = mentions(&format!("a {other}")).into_iter().next();
        let Some(named) = named.filter(|it| it.phrase == other) else { continue };
        let attributes = [said.as_slice(), &named.attributes].concat();
        let name = ObjectName { stem: named.head_stem, attributes };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The longest part of a thing's name that is known to have others: "bedside table" of
/// "white bedside table"; and all else that is said of it.
fn known_name(mention: &Mention) -> (String, Vec<Attribute>) {
    let is_part = |it: &&Attribute| it.kind == AttributeKind::Compound;
    let parts: Vec<&Attribute> = mention.attributes.iter().filter(is_part).collect();
    let head = mention.singular_head();
    for from in 0..parts.len() {
        let of_name = parts.get(from..).unwrap_or_default();
        let words: Vec<&str> = of_name.iter().map(|it| it.word.as_str()).collect();
        let name = format!("{} {head}", words.join(" "));
        if group(&name).is_some() || lexicon::synonyms(&name).next().is_some() {
            let rest = mention.attributes.iter().filter(|it| !of_name.contains(it));
            return (name, rest.cloned().collect());
        }
    }
    (head, mention.attributes.clone())
}

/// What somebody may be called, whoever asks for a person.
const PEOPLE: &[&str] = &["person", "people", "man", "woman", "somebody", "someone", "user"];

/// Whether anybody is meant.
fn is_person(mention: &Mention) -> bool {
    matches!(
        mention.head.as_str(),
        "person" | "people" | "somebody" | "someone" | "anybody" | "anyone" | "user"
    )
}

fn group(name: &str) -> Option<&'static [&'static str]> {
    NAMES.iter().find(|names| names.contains(&name)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expect` are nouns' stems, each with the parts of the name before it.
    fn check(thing: &str, like: &[&str], expect: &[&str]) {
        let mention = mentions(thing).remove(0);
        let like = like.iter().map(|it| (*it).to_owned()).collect();
        let told = |it: ObjectName| {
            let parts = it.attributes.iter().filter(|it| it.kind == AttributeKind::Compound);
            let parts: Vec<&str> = parts.map(|it| it.word.as_str()).collect();
            [parts, vec![it.stem.as_str()]].concat().join(" ")
        };
        let found: Vec<String> = names(&mention, like).into_iter().map(told).collect();
        let missing: Vec<&&str> =
            expect.iter().filter(|it| !found.iter().any(|found| found == *it)).collect();
        assert!(missing.is_empty(), "{thing}: {missing:?} not in {found:?}");
    }

    fn refuse(thing: &str, like: &[&str], never: &[&str]) {
        let mention = mentions(thing).remove(0);
        let like = like.iter().map(|it| (*it).to_owned()).collect();
        let found = names(&mention, like);
        for stem in never {
            let bare = |it: &ObjectName| it.stem == *stem && it.attributes.is_empty();
            assert!(!found.iter().any(bare), "{thing}: {stem}");
        }
    }

    #[test]
    fn things_are_found_by_their_other_names() {
        check("a blue pillow", &["pillow"], &["pillow", "cushion"]);
        check("the remote control", &["remot control"], &["remot control", "remot", "clicker"]);
        check("my teddy", &["teddi"], &["teddi", "bear"]);
        check("a coffee cup", &["cup"], &["coffee cup", "coffee mug"]);
        check("a spoon", &["spoon", "fork"], &["spoon", "fork"]);
        check("a skillet", &["skillet"], &["skillet", "frying pan"]);
        check("a rucksack", &["rucksack"], &["backpack", "knapsack"]);
        refuse("a stapler", &["stapler"], &["machin"]);
    }

    #[test]
    fn what_two_words_name_together_is_not_what_one_names() {
        check("the white bedside table", &["tabl"], &["bedside tabl", "nightstand"]);
        refuse("the bedside table", &["tabl"], &["tabl", "desk"]);
        check("a wooden table", &["tabl", "desk"], &["tabl", "desk"]);
    }

    #[test]
    fn rooms_that_are_alike_are_not_the_same() {
        refuse("the bedroom", &["bedroom", "live room"], &["live room"]);
        refuse("a bed", &["bed", "bedroom"], &["bedroom"]);
        refuse("the lounge", &["loung", "bedroom"], &["bedroom"]);
        check("the lounge", &["loung", "bedroom"], &["loung", "live room"]);
    }

    #[test]
    fn whoever_asks_for_a_person_finds_men_and_women() {
        check("a person", &["person"], &["person", "man", "woman", "somebodi"]);
        refuse("a woman", &["woman"], &["man", "person"]);
    }
}
