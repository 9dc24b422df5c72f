//! Match of one caption with a query: attributes bound to their noun, synonyms accepted, no
//! contradiction.
//!
//! Pure. The index decides the same for all captions at once from their phrases
//! (`search/sightings.rs`); this explains one caption.

use crate::index::phrases::{ObjectQuery, SceneQuery};
use crate::language::caption::ParsedCaption;
use crate::language::deeds::index_mentions;
use crate::language::fit::{Certainty, Fit};
use crate::language::lexicon::noun_stem;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::words;

/// Match of a caption with a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptionMatch {
    pub certainty: Certainty,
    /// The caption's phrases that matched, the target first.
    pub matched: Vec<String>,
    /// What the caption calls the target, if otherwise than was asked for: "rubber duck" of "a
    /// yellow rubber duck" for a toy duck.
    pub other_name: Option<String>,
    /// What it says of the target.
    pub target: Mention,
    /// Whether the target's phrase has all words that were asked for.
    pub is_verbatim: bool,
}

/// Matches a caption's mentions with a query.
///
/// What is around it raises the certainty and excludes nothing, since a query says
/// more than a caption does ("the book I read on the *train*"). `None` where the
/// thing is not there, or is there with an attribute that excludes the wanted one.
pub fn match_caption(caption: &ParsedCaption, wanted: &SceneQuery) -> Option<CaptionMatch> {
    let shown = index_mentions(caption);
    let (target_fit, seen) = best_fit(&shown, &wanted.target)?;
    let is_verbatim = wanted.target.is_said_by(seen);
    let parts = |of: &[Attribute]| -> Vec<String> {
        let parts = of.iter().filter(|it| it.kind == AttributeKind::Compound);
        parts.map(|it| it.word.clone()).collect()
    };
    let is_as_asked = seen.head_stem == wanted.target.said
        && parts(&seen.attributes) == parts(&wanted.target.attributes);
    let other_name = (!is_as_asked).then(|| seen.name());
    let mut matched = vec![seen.phrase.clone()];
    let (mut all_around, mut all_needed) = (true, true);
    for thing in &wanted.around {
        match best_fit(&shown, thing) {
            _ if thing.is_told_by(&seen.attributes) => {}
            None | Some((Fit::Related, _)) => {
                all_around = false;
                all_needed &= !wanted.needs(thing);
            }
            Some((_, seen)) if !matched.contains(&seen.phrase) => matched.push(seen.phrase.clone()),
            Some(_) => {}
        }
    }
    let certainty = match target_fit {
        Fit::Related => Certainty::Related,
        Fit::Possible if wanted.is_deed_left_out => Certainty::Possible,
        Fit::Possible if all_around && !wanted.around.is_empty() => Certainty::Partial,
        Fit::Possible => Certainty::Possible,
        Fit::Partial if all_around && !wanted.around.is_empty() => Certainty::InPlace,
        Fit::Partial => Certainty::Partial,
        Fit::Full if all_around => Certainty::InPlace,
        Fit::Full if !all_needed => Certainty::Possible,
        Fit::Full => Certainty::Shown,
    };
    Some(CaptionMatch { certainty, matched, other_name, target: seen.clone(), is_verbatim })
}

/// How a caption stands to a query of which all must be there, the things around the target as
/// well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// The target may be there; with how many of the things around it.
    Maybe { target: Fit, around: usize },
    /// All of it is there, surely.
    Surely,
}

/// Whether a caption shows all that a query names; `None` where its target cannot be there. Stricter
/// than [`match_caption`]: what may be another thing can be recalled, and must not be forgotten.
pub fn shows_all(caption: &ParsedCaption, wanted: &SceneQuery) -> Option<Shown> {
    let shown = index_mentions(caption);
    let (target, _) = best_fit(&shown, &wanted.target)?;
    let is_there = |thing: &&ObjectQuery| shown.iter().any(|it| thing.is_shown_by(it));
    let is_around = |thing: &&ObjectQuery| is_there(thing) || is_in_its_room(thing, &shown);
    let around = wanted.around.iter().filter(is_around).count();
    let is_sure = !wanted.is_deed_left_out && is_there(&&wanted.target);
    Some(if is_sure && around == wanted.around.len() {
        Shown::Surely
    } else {
        Shown::Maybe { target, around }
    })
}

/// Whether a thing that is called by its room is shown in it: "the kitchen table" as a table in the
/// kitchen.
fn is_in_its_room(thing: &ObjectQuery, shown: &[Mention]) -> bool {
    let is_room = |it: &&Attribute| {
        it.kind == AttributeKind::Compound && words::is_room(&noun_stem(&it.word))
    };
    let Some(room) = thing.attributes.iter().find(is_room) else { return false };
    let mut bare = thing.clone();
    bare.attributes.retain(|it| it != room);
    bare.names.iter_mut().for_each(|name| name.attributes.retain(|it| it != room));
    let room = noun_stem(&room.word);
    shown.iter().any(|it| bare.is_shown_by(it)) && shown.iter().any(|it| it.head_stem == room)
}

/// What fits a thing best of what a caption shows.
fn best_fit<'a>(shown: &'a [Mention], wanted: &ObjectQuery) -> Option<(Fit, &'a Mention)> {
    let fits = shown.iter().filter_map(|seen| Some((wanted.fit(seen)?, seen)));
    let rank = |(fit, seen): &(Fit, &Mention)| (*fit, wanted.is_said_by(seen));
    // The first of equals: `max_by_key` would take the last.
    fits.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::phrases::{ObjectName, Relation};
    use crate::language::mention::mentions;

    fn check(caption: &str, wanted: &str, expect: Option<(Certainty, &[&str])>) {
        let sought = |it: Mention| {
            let mut stems = vec![it.head_stem.clone()];
            stems.extend((it.head_stem == "mug").then(|| "cup".to_owned()));
            ObjectQuery::of_stems(it.attributes, stems)
        };
        let mut things = mentions(wanted).into_iter().map(sought);
        let wanted_things = things.next().map(|target| SceneQuery::of(target, things.collect()));
        let found =
            wanted_things.and_then(|it| match_caption(&ParsedCaption::by_rules(caption), &it));
        let found = found.map(|it| (it.certainty, it.matched));
        let expect = expect.map(|(c, m)| (c, m.iter().map(|s| (*s).to_owned()).collect()));
        assert_eq!(found, expect, "{wanted:?} in {caption:?}");
    }

    #[test]
    fn attributes_are_bound_to_their_thing() {
        let caption = "a red book next to a blue mug on a desk";
        check(caption, "a red mug", None);
        check(caption, "blue mug", Some((Certainty::InPlace, &["blue mug"])));
        check(caption, "mug", Some((Certainty::InPlace, &["blue mug"])));
    }

    #[test]
    fn what_is_said_in_other_words_is_less_sure() {
        let probability = |caption: &str, wanted: &str| {
            let mention = mentions(wanted).remove(0);
            let stems = vec![mention.head_stem, "cup".to_owned()];
            let target = ObjectQuery::of_stems(mention.attributes, stems);
            let wanted = SceneQuery::of_thing(target);
            let found = match_caption(&ParsedCaption::by_rules(caption), &wanted)?;
            Some(found.certainty.probability(found.is_verbatim))
        };
        let verbatim = probability("a red mug on a desk", "the red mug");
        let other = probability("a red cup on a desk", "the red mug");
        let possible = probability("a mug on a desk", "the red mug");
        assert!(verbatim > other && other > possible && possible.is_some());
        assert_eq!(probability("a red cup and a red mug", "the red mug"), verbatim);
        assert_eq!(probability("a blue mug", "the red mug"), None);
    }

    #[test]
    fn synonyms_and_plurals_match() {
        check(
            "two white cups on a shelf",
            "white mug",
            Some((Certainty::InPlace, &["two white cups"])),
        );
    }

    #[test]
    fn a_missing_colour_is_possible_and_a_different_one_excludes() {
        check("a mug on a desk", "red mug", Some((Certainty::Possible, &["mug"])));
        check("a striped mug on a desk", "red mug", Some((Certainty::Possible, &["striped mug"])));
        check("a green mug on a desk", "red mug", None);
        check("a mug", "coffee mug", Some((Certainty::Possible, &["mug"])));
        check("a tea mug", "coffee mug", None);
    }

    #[test]
    fn surroundings_raise_the_certainty_and_exclude_nothing() {
        let wanted = "the red mug on the desk";
        check(
            "a red mug on a white desk",
            wanted,
            Some((Certainty::InPlace, &["red mug", "white desk"])),
        );
        check("a red mug on a sofa", wanted, Some((Certainty::Shown, &["red mug"])));
    }

    #[test]
    fn a_kind_in_the_named_place_is_surer_than_the_thing_elsewhere() {
        let kind = |stem: &str| ObjectName {
            stem: stem.to_owned(),
            noun: String::new(),
            attributes: Vec::new(),
            relation: Relation::MoreSpecial,
            needed: Vec::new(),
            kind_of: None,
        };
        let mut target = ObjectQuery::of_stems(Vec::new(), vec!["book".to_owned()]);
        target.names.push(kind("cookbook"));
        let sofa = ObjectQuery::of_stems(Vec::new(), vec!["sofa".to_owned()]);
        let wanted = SceneQuery::of(target.clone(), vec![sofa]);
        let certainty = |caption: &str, wanted: &SceneQuery| {
            match_caption(&ParsedCaption::by_rules(caption), wanted).map(|it| it.certainty)
        };
        assert_eq!(certainty("a book on a bed", &wanted), Some(Certainty::Shown));
        assert_eq!(certainty("a cookbook on a sofa", &wanted), Some(Certainty::InPlace));
        assert_eq!(certainty("a cookbook on a bed", &wanted), Some(Certainty::Partial));
        let alone = SceneQuery::of_thing(target);
        assert_eq!(certainty("a cookbook on a sofa", &alone), Some(Certainty::Partial));
    }

    #[test]
    fn the_best_of_several_mentions_decides() {
        check(
            "a mug, a blue mug and a red mug",
            "red mug",
            Some((Certainty::InPlace, &["red mug"])),
        );
    }

    #[test]
    fn all_that_a_query_names_is_shown_or_not() {
        for (caption, wanted, expected) in [
            ("a red mug on a desk", "a red mug", Some(Shown::Surely)),
            ("a red mug on a desk", "a red mug on a desk", Some(Shown::Surely)),
            (
                "a red mug on a sofa",
                "a red mug on a desk",
                Some(Shown::Maybe { target: Fit::Full, around: 0 }),
            ),
            (
                "a red mug on a desk",
                "a red mug on a wooden desk",
                Some(Shown::Maybe { target: Fit::Full, around: 0 }),
            ),
            ("a mug on a table in the kitchen", "a mug on the kitchen table", Some(Shown::Surely)),
            (
                "a mug on a table in the office",
                "a mug on the kitchen table",
                Some(Shown::Maybe { target: Fit::Full, around: 0 }),
            ),
            ("a mug", "a red mug", Some(Shown::Maybe { target: Fit::Possible, around: 0 })),
            ("a blue mug", "a red mug", None),
            ("a desk", "a mug", None),
        ] {
            let sought = |it: Mention| ObjectQuery::of_stems(it.attributes, vec![it.head_stem]);
            let mut things = mentions(wanted).into_iter().map(sought);
            let wanted_things = SceneQuery::of(things.next().unwrap(), things.collect());
            let found = shows_all(&ParsedCaption::by_rules(caption), &wanted_things);
            assert_eq!(found, expected, "{wanted:?} in {caption:?}");
        }
    }

    #[test]
    fn empty_queries_and_captions_do_not_match() {
        check("a red mug", "something red", None);
        check("", "red mug", None);
    }
}
