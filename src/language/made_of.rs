//! What a thing is made of or holds, as words after "of" say it: a ball of wool is a wool ball and no
//! tennis ball, and a mug of coffee is a mug with coffee in it.
//!
//! Pure.

use crate::language::identifier::has_digit;
use crate::language::lexicon::{self, noun_stem};
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming::{self, attribute};
use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::words::{DETERMINERS, FILLED, LIKENESSES, PACKAGING, PICTURES, is_room};

/// Says of a thing with this head what a caption has after "of", and after "filled with".
pub(super) fn add_told(thing: &mut Mention, sentence: TaggedSentence<'_>, head: usize) {
    if let Some(of) = of_what(sentence, head) {
        add(thing, of);
    } else if let Some(of) = made_of_what(sentence, head) {
        add_material(thing, of);
    }
    for content in filled_with(sentence, head) {
        let word = lexicon::singular(sentence.word(content));
        thing.attributes.push(Attribute { word: word.clone(), kind: AttributeKind::Other });
        thing.phrase = format!("{} full of {word}", thing.phrase);
    }
}

/// The heads of what a thing is full of: books of "a trolley half filled with books".
fn filled_with(sentence: TaggedSentence<'_>, head: usize) -> Vec<usize> {
    let is_full = |by: &usize| {
        by.checked_sub(1).is_some_and(|it| is_full_of(sentence.word(it), sentence.word(*by)))
            && sentence.role(*by) == WordRole::Relation
            && sentence.governor(*by) == Some(head)
    };
    let mut relations = head + 1..sentence.words.len();
    let Some(by) = relations.find(is_full) else { return Vec::new() };
    let objects = sentence.heads(by + 1..sentence.words.len());
    objects.filter(|it| sentence.governor(*it) == Some(by)).collect()
}

/// Whether two words say that what follows is in a thing: "filled with", "full of".
pub(super) fn is_full_of(word: &str, by: &str) -> bool {
    matches!(by, "with" | "of") && FILLED.contains(word)
}

/// The words after "of" that say what the thing of this head is made of or holds: of one that is
/// certain, "the leg of the table", it is a part or has to do with it. A picture is of any.
fn of_what(sentence: TaggedSentence<'_>, head: usize) -> Option<&[&str]> {
    let is_article = |it: usize| matches!(sentence.word(it), "a" | "an");
    let is_of = sentence.word(head + 1) == "of" && sentence.role(head) != WordRole::Person;
    let is_picture = is_picture(&lexicon::singular(sentence.word(head)));
    let from = head + 2 + usize::from(is_picture && is_article(head + 2));
    let end = content_end(sentence, from).filter(|_| is_of)?;
    let is_thing = matches!(sentence.role(end), WordRole::Thing | WordRole::Landmark);
    // "the door of room 107"
    let is_certain = has_digit(sentence.word(end + 1)) || is_room(&noun_stem(sentence.word(end)));
    sentence.words.get(from..=end).filter(|_| is_thing && !is_certain)
}

/// The words after "made of", which tags leave out.
fn made_of_what(sentence: TaggedSentence<'_>, head: usize) -> Option<&[&str]> {
    let is_made =
        sentence.word(head + 1) == "made" && matches!(sentence.word(head + 2), "of" | "from");
    let end = content_end(sentence, head + 3).filter(|_| is_made)?;
    let is_noun = |word: &str| lexicon::is_name(&lexicon::singular(word)) || lexicon::is_word(word);
    let is_content = sentence.role(end).is_name()
        || sentence.role(end) == WordRole::None && is_noun(sentence.word(end));
    sentence.words.get(head + 3..=end).filter(|_| is_content)
}

/// The word after those that belong to a name which begins here.
fn content_end(sentence: TaggedSentence<'_>, from: usize) -> Option<usize> {
    let is_before = |it: &usize| {
        matches!(sentence.role(*it), WordRole::Part | WordRole::Attribute)
            && !DETERMINERS.contains(sentence.word(*it))
    };
    (from..sentence.words.len()).find(|it| !is_before(it))
}

/// Says of a thing what it is made of or holds. Of what people eat and drink from that is no part of
/// the name: the same mug holds tea another time.
pub(super) fn add(thing: &mut Mention, of: &[&str]) {
    let one = lexicon::singular(&thing.head);
    let is_held = is_holder(&one) || is_picture(&one);
    let kind = if is_held && !PACKAGING.contains(one.as_str()) {
        AttributeKind::Other
    } else {
        AttributeKind::Compound
    };
    add_as(thing, of, kind, is_held);
}

/// Says of a thing what it is "made of".
pub(super) fn add_material(thing: &mut Mention, of: &[&str]) {
    add_as(thing, of, AttributeKind::Compound, false);
}

fn add_as(thing: &mut Mention, of: &[&str], kind: AttributeKind, is_held: bool) {
    let Some(content) = naming::name(of, &[], None) else { return };
    // Red wine makes no red bottle.
    let is_of_thing = |it: &Attribute| match it.kind {
        AttributeKind::Compound => true,
        AttributeKind::Colour | AttributeKind::Material | AttributeKind::Pattern => !is_held,
        AttributeKind::Size
        | AttributeKind::State
        | AttributeKind::Number
        | AttributeKind::Other => false,
    };
    let material = attribute(&content.head);
    let said = content.attributes.iter().chain([&material]).filter(|it| is_of_thing(it));
    let named = content.attributes.iter().map(|it| it.word.as_str());
    let named = named.filter(|it| !is_held && attribute(it).kind == AttributeKind::Material);
    let parts = named.map(str::to_owned).chain([content.singular_head()]);
    let parts: Vec<Attribute> = parts.map(|word| Attribute { word, kind }).collect();
    let said: Vec<Attribute> = said.cloned().map(|it| as_kind(it, kind)).collect();
    thing.attributes.extend(said.into_iter().chain(parts));
    thing.phrase = format!("{} of {}", thing.phrase, of.join(" "));
}

/// A part of the name of what is in a thing, as what is said of that.
fn as_kind(said: Attribute, kind: AttributeKind) -> Attribute {
    let is_part = said.kind == AttributeKind::Compound;
    Attribute { kind: if is_part { kind } else { said.kind }, ..said }
}

/// Whether a word names what shows something or is a likeness of it.
fn is_picture(one: &str) -> bool {
    PICTURES.has_tag(one, "of") || LIKENESSES.contains(one)
}

fn is_holder(one: &str) -> bool {
    HOLDERS.iter().any(|it| lexicon::descends_from(one, it))
}

/// Whether what a thing is asked to be of is a part of its name.
pub(super) fn is_of_name(head: &str) -> bool {
    let one = lexicon::singular(head);
    PACKAGING.contains(one.as_str()) || !is_holder(&one)
}

/// WordNet's names for what holds something.
const HOLDERS: &[&str] = &["container", "tableware", "kitchen utensil"];

#[cfg(test)]
pub(super) mod tests {
    use crate::language::caption::tests::parsed;
    use crate::language::fit::{Fit, fit};
    use crate::language::mention::mentions;

    /// How well the first thing of a tagged caption fits what is wanted.
    pub(in crate::language) fn check(seen: &str, wanted: &str, expect: Option<Fit>) {
        let parsed = parsed(seen).things;
        let wanted = &mentions(wanted)[0].attributes;
        assert_eq!(fit(&parsed[0].mention.attributes, wanted), expect, "{seen}");
    }

    #[test]
    fn what_a_thing_is_made_of_is_part_of_its_name() {
        let ball = "a ball/thing of/relation/1 purple/attribute/4 wool/thing/2";
        check(ball, "a ball of wool", Some(Fit::Full));
        check(ball, "a ball of purple wool", Some(Fit::Full));
        check(ball, "a ball of yellow wool", None);
        check(ball, "a tennis ball", None);
        check(ball, "a ball", Some(Fit::Full));
        check("a tennis/part/2 ball/thing", "a ball of wool", None);
        check("a purple/attribute/3 yarn/part/3 ball/thing", "a ball of wool", Some(Fit::Partial));
        check("a ball/thing", "a ball of wool", Some(Fit::Possible));
        let roll = "a roll/thing of/relation/1 toilet/part/4 paper/thing/2";
        check(roll, "a roll of paper", Some(Fit::Full));
        check(roll, "a roll of paper towels", None);
        check(roll, "a roll of tape", None);
    }

    #[test]
    fn what_a_mug_holds_is_no_part_of_its_name_and_what_a_tin_holds_is() {
        check("a mug/thing of/relation/1 coffee/thing/2", "a mug", Some(Fit::Full));
        check("a mug/thing of/relation/1 coffee/thing/2", "a coffee mug", Some(Fit::Full));
        check("a mug/thing of/relation/1 tea/thing/2", "a coffee mug", Some(Fit::Possible));
        check("a mug/thing", "a mug of coffee", Some(Fit::Full));
        check("a tin/thing of/relation/1 peas/thing/2", "a tin of peaches", None);
        check("a tin/thing of/relation/1 peas/thing/2", "a pea tin", Some(Fit::Full));
        let full = "a trolley/thing half filled with/relation/1 books/thing/4";
        check(full, "the book trolley", Some(Fit::Full));
        check(full, "the tea trolley", Some(Fit::Possible));
        check(
            "a door/thing of/relation/1 room/thing/2 12/attribute/3",
            "a front door",
            Some(Fit::Possible),
        );
        check("a bag/thing made of canvas", "a canvas bag", Some(Fit::Full));
        check("a bag/thing made of canvas", "a paper bag", Some(Fit::Possible));
        check("a car/thing", "a car made of matchsticks", Some(Fit::Possible));
        let puzzle = "a puzzle/thing of/relation/1 a lighthouse/thing/2";
        check(puzzle, "the lighthouse puzzle", Some(Fit::Full));
        check(puzzle, "the dinosaur puzzle", Some(Fit::Possible));
        check("a leg/thing of/relation/1 the table/thing/2", "a chicken leg", Some(Fit::Possible));
    }
}
