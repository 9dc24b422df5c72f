//! What a caption names of the thing that is wanted.
//!
//! Pure.

use crate::index::phrases::ObjectQuery;
use crate::language::caption::{ParsedCaption, ParsedThing};
use crate::language::fit::Fit;
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::ones::are_told_singly;
use crate::memory::episodic::attribute_clusters::lasting_attributes;

/// Mention of the target in a caption.
#[derive(Debug, Clone)]
pub(super) struct TargetMention {
    /// Number of the sentence.
    pub(super) sentence: usize,
    pub(super) mention: Mention,
    /// Lasting ones only; see [`lasting_attributes`].
    pub(super) attributes: Vec<Attribute>,
}

/// What a caption names of what is wanted, where it is not denied.
pub(super) fn find_mentions(caption: &ParsedCaption, target: &ObjectQuery) -> Vec<TargetMention> {
    let of_target = caption.there().filter_map(|thing| {
        if are_told_singly(&thing.mention.attributes) {
            return None;
        }
        let (mention, inside) = in_its_pot(thing, caption);
        target.fit(&mention).filter(|it| *it > Fit::Related)?;
        let closed = closed_compound_attribute(&mention, target);
        let said = [mention.attributes.as_slice(), inside, closed.as_slice()].concat();
        let attributes = lasting_attributes(&said);
        Some(TargetMention { sentence: thing.sentence, mention, attributes })
    });
    of_target.collect()
}

/// A plant is called by its pot, and told from others by it: the name with the pot, and
/// what is said of that.
fn in_its_pot<'a>(thing: &ParsedThing, caption: &'a ParsedCaption) -> (Mention, &'a [Attribute]) {
    let mut named = thing.mention.clone();
    let inside = thing.inside.and_then(|at| caption.things.get(at));
    let Some(pot) = inside.map(|it| &it.mention).filter(|it| it.head_stem == "pot") else {
        return (named, &[]);
    };
    named.head = format!("{} in a {}", named.head, pot.phrase);
    (named, &pot.attributes)
}

/// What a noun written as one word adds to the noun that is asked for: the hair of "hairbrush", which
/// is another brush than a paintbrush.
fn closed_compound_attribute(mention: &Mention, target: &ObjectQuery) -> Option<Attribute> {
    let first = mention.head_stem.strip_suffix(&target.said)?;
    let (word, kind) = (first.to_owned(), AttributeKind::Compound);
    lexicon::is_name(first).then_some(Attribute { word, kind })
}
