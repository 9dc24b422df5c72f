//! A caption's words from things with colours and boxes. Says a relation only where the boxes
//! make it clear. Pure.

use image::RgbImage;

use crate::base::detection::BoundingBox;
use crate::model::detector::colour::colour_of;
use crate::model::detector::names::{
    has_colour, is_support, may_rest_on, noun_phrase, stands_on_floor,
};

/// The caption of a picture in which there is nothing that the model names.
pub(in crate::model) const NOTHING: &str = "nothing recognised";

/// Share of the smaller side that two boxes must have in common to stand side by side or
/// behind each other.
const COMMON_MIN: f32 = 0.5;

/// Share of the image's height by which one thing must reach lower than another to be nearer.
const NEARER_BY: f32 = 0.1;

/// Share of the image by which boxes may miss each other or run into each other: they are
/// that exact.
const SLACK: f32 = 0.03;

/// A thing to be named.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thing<'a> {
    pub(super) name: &'a str,
    pub(super) colour: Option<&'static str>,
    pub(super) place: BoundingBox,
}

impl<'a> Thing<'a> {
    pub(super) fn new(name: &'a str, place: BoundingBox, image: &RgbImage) -> Self {
        let colour = colour_of(image, place).filter(|it| has_colour(name) && *it != name);
        Self { name, colour, place }
    }
}

/// One sentence for each support with what is on it, one for all else.
pub(super) fn describe(things: &[Thing<'_>]) -> String {
    let mut left: Vec<&Thing<'_>> = things.iter().collect();
    let mut sentences = Vec::new();
    for support in supports(things) {
        let on: Vec<&Thing<'_>> =
            left.iter().copied().filter(|it| support_of(it, things) == Some(support)).collect();
        if on.is_empty() {
            continue;
        }
        left.retain(|it| !on.contains(it) && *it != support);
        let around: Vec<(&Thing<'_>, Depth)> =
            left.iter().filter_map(|it| depth(it, support).map(|how| (*it, how))).collect();
        left.retain(|it| !around.iter().any(|(other, _)| other == it));
        let place = noun_phrase(1, support.colour, support.name);
        sentences.push(format!("{} on {place}{}", side_by_side(&on), phrases_around(&around)));
    }
    if !left.is_empty() {
        sentences.push(side_by_side(&left));
    }
    if sentences.is_empty() { NOTHING.to_owned() } else { sentences.join(". ") }
}

/// Supports, the largest first.
fn supports<'a, 'b>(things: &'a [Thing<'b>]) -> Vec<&'a Thing<'b>> {
    let mut supports: Vec<&Thing<'_>> = things.iter().filter(|it| is_support(it.name)).collect();
    supports.sort_by(|a, b| b.place.area().total_cmp(&a.place.area()));
    supports
}

/// The nearest of the supports that a thing may be on: the others are seen behind it.
fn support_of<'a, 'b>(thing: &Thing<'_>, things: &'a [Thing<'b>]) -> Option<&'a Thing<'b>> {
    let supports = supports(things).into_iter().filter(|it| rests_on(thing, it));
    supports.max_by(|a, b| a.place.bottom.total_cmp(&b.place.bottom))
}

/// Its foot lies within the support.
fn rests_on(thing: &Thing<'_>, support: &Thing<'_>) -> bool {
    let (top, under) = (thing.place, support.place);
    let middle = f32::midpoint(top.left, top.right);
    may_rest_on(thing.name, support.name)
        && top.area() < 0.7 * under.area()
        && (under.left..=under.right).contains(&middle)
        && (under.top - SLACK..=under.bottom + SLACK).contains(&top.bottom)
        && common(top.left, top.right, under.left, under.right) >= COMMON_MIN
}

/// Distance from the camera beside that of another thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Behind,
    InFront,
}

/// Of two things on one floor, the one that reaches lower in the image is nearer.
fn depth(thing: &Thing<'_>, other: &Thing<'_>) -> Option<Depth> {
    let (own, its) = (thing.place, other.place);
    let is_clear = stands_on_floor(thing.name)
        && stands_on_floor(other.name)
        && common(own.left, own.right, its.left, its.right) >= COMMON_MIN
        && own.top < its.bottom
        && its.top < own.bottom;
    if !is_clear {
        None
    } else if own.bottom < its.bottom - NEARER_BY {
        Some(Depth::Behind)
    } else if own.bottom > its.bottom + NEARER_BY {
        Some(Depth::InFront)
    } else {
        None
    }
}

fn phrases_around(around: &[(&Thing<'_>, Depth)]) -> String {
    let mut phrases = String::new();
    for (how, words) in [(Depth::Behind, "behind it"), (Depth::InFront, "in front of it")] {
        let things: Vec<&Thing<'_>> =
            around.iter().filter(|(_, it)| *it == how).map(|(thing, _)| *thing).collect();
        if !things.is_empty() {
            phrases.push_str(&format!(", {} {words}", list(&group_alike(&things))));
        }
    }
    phrases
}

/// Two things with which of them is on the left, where that is clear; else a list.
fn side_by_side(things: &[&Thing<'_>]) -> String {
    let groups = group_alike(things);
    let [a, b] = things else { return list(&groups) };
    let (left, right) = if a.place.left <= b.place.left { (a, b) } else { (b, a) };
    let (own, its) = (left.place, right.place);
    let is_beside = own.right <= its.left + SLACK
        && common(own.top, own.bottom, its.top, its.bottom) >= COMMON_MIN;
    if groups.len() == 2 && is_beside {
        let phrase = |it: &Thing<'_>| noun_phrase(1, it.colour, it.name);
        format!("{} to the left of {}", phrase(left), phrase(right))
    } else {
        list(&groups)
    }
}

/// Noun phrases, one for all things of a name. A colour that not all of them have is left out.
fn group_alike(things: &[&Thing<'_>]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for thing in things {
        if !names.contains(&thing.name) {
            names.push(thing.name);
        }
    }
    let phrase = |name: &str| {
        let same: Vec<&&Thing<'_>> = things.iter().filter(|it| it.name == name).collect();
        let colour = same.first().and_then(|it| it.colour);
        let colour = colour.filter(|it| same.iter().all(|other| other.colour == Some(*it)));
        noun_phrase(same.len(), colour, name)
    };
    names.into_iter().map(phrase).collect()
}

/// "a", "a and b", "a, b and c".
fn list(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Share of the shorter of two stretches that both cover.
fn common(from: f32, to: f32, other_from: f32, other_to: f32) -> f32 {
    let shorter = (to - from).min(other_to - other_from);
    let shared = to.min(other_to) - from.max(other_from);
    if shorter > 0.0 { (shared / shorter).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name left top right bottom` in per cent, names with dots for blanks, a colour before a
    /// slash.
    fn check(scene: &str, expect: &str) {
        let things: Vec<(Option<&'static str>, String, BoundingBox)> = scene
            .split(';')
            .filter(|it| !it.trim().is_empty())
            .map(|thing| {
                let words: Vec<&str> = thing.split_whitespace().collect();
                let (colour, name) = match words[0].split_once('/') {
                    Some(("red", name)) => (Some("red"), name),
                    Some(("grey", name)) => (Some("grey"), name),
                    Some((other, _)) => panic!("{other}"),
                    None => (None, words[0]),
                };
                let side = |at: usize| words[at].parse::<f32>().unwrap() / 100.0;
                let (left, top, right, bottom) = (side(1), side(2), side(3), side(4));
                (colour, name.replace('.', " "), BoundingBox { left, top, right, bottom })
            })
            .collect();
        let things: Vec<Thing<'_>> = things
            .iter()
            .map(|(colour, name, place)| Thing { name, colour: *colour, place: *place })
            .collect();
        assert_eq!(describe(&things), expect, "{scene}");
    }

    #[test]
    fn what_stands_on_a_table_is_said_to_and_what_is_around_it() {
        check(
            "dining.table 10 50 90 95; red/cup 20 40 30 60; grey/laptop 45 35 70 62; \
             chair 15 30 35 80; chair 50 30 70 82",
            "a red cup to the left of a grey laptop on a dining table, two chairs behind it",
        );
        check(
            "couch 10 30 90 80; person 40 20 60 70; dog 20 70 40 95",
            "a person on a couch, a dog in front of it",
        );
        check(
            "dining.table 10 30 60 70; bowl 30 30 40 45; person 20 40 50 100",
            "a bowl on a dining table, a person in front of it",
        );
    }

    #[test]
    fn where_the_geometry_is_not_clear_nothing_is_said_of_it() {
        check("cup 20 40 40 60; laptop 35 35 70 62", "a cup and a laptop");
        check("cup 20 10 40 30; laptop 50 35 70 62", "a cup and a laptop");
        check("dining.table 10 50 90 95; cup 5 10 15 30", "a dining table and a cup");
        check("chair 10 10 40 90; dining.table 20 20 80 85", "a chair and a dining table");
    }

    #[test]
    fn things_of_a_name_are_counted_and_share_a_colour_or_have_none() {
        check("red/cup 0 0 9 9; red/cup 20 0 29 9; person 40 0 50 90", "two red cups and a person");
        check("red/cup 0 0 9 9; cup 20 0 29 9", "two cups");
        check(
            "red/car 0 10 9 19; car 20 10 29 19; dog 40 0 50 90; cat 60 5 70 90",
            "two cars, a dog and a cat",
        );
        check("dog 0 0 20 90; cat 60 5 70 90", "a dog to the left of a cat");
    }

    #[test]
    fn a_picture_of_nothing_known_says_so() {
        check("", "nothing recognised");
    }
}
