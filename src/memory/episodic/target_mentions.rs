//! What a caption names of the thing that is wanted.
//!
//! Pure.

use crate::index::phrases::ObjectQuery;
use crate::language::caption::{ParsedCaption, ParsedThing};
use crate::language::fit::Fit;
use crate::language::mention::{Attribute, Mention};
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
        let attributes = lasting_attributes(&[mention.attributes.as_slice(), inside].concat());
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
