//! A sentence of a caption as its reader tags it: what each word is, and which word it
//! belongs to.
//!
//! Plain data, between the model that tags and [`crate::language::caption`].

use std::ops::Range;

use serde::Deserialize;

/// One word of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedWord {
    /// In bytes of the sentence.
    pub at: Range<usize>,
    pub role: WordRole,
    /// Number of the word that it belongs to; see [`WordRole`].
    pub to: Option<usize>,
}

/// What a word is in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WordRole {
    /// Grammar, and what names nothing that a camera sees.
    None,
    /// In front of the head of a name, and part of it; belongs to that head.
    Part,
    /// Head of the name of a thing that is there; belongs to the relation or the deed
    /// whose object it is, as do the next four.
    Thing,
    /// The same of a thing that says where another one is.
    Landmark,
    /// Of a thing or person that is said not to be there.
    Absent,
    Person,
    /// Of a room or an area.
    Place,
    /// Belongs to a name, or to an attribute that it is one with.
    Attribute,
    /// How many; belongs to a name.
    Count,
    /// A verb; belongs to who does it, a particle to its verb.
    Deed,
    /// A preposition, or one of its words; belongs to what is related.
    Relation,
}

impl WordRole {
    /// Whether it heads a name.
    pub fn is_name(self) -> bool {
        match self {
            Self::Thing | Self::Landmark | Self::Absent | Self::Person | Self::Place => true,
            Self::None
            | Self::Part
            | Self::Attribute
            | Self::Count
            | Self::Deed
            | Self::Relation => false,
        }
    }

    /// Whether a word of this role may belong to one of that.
    pub fn may_belong_to(self, other: Self) -> bool {
        match self {
            Self::None | Self::Part => false,
            Self::Thing | Self::Landmark | Self::Absent | Self::Person | Self::Place => {
                matches!(other, Self::Relation | Self::Deed)
            }
            Self::Attribute => other.is_name() || other == Self::Attribute,
            Self::Count => other.is_name(),
            Self::Deed => other.is_name() || other == Self::Deed,
            Self::Relation => other.is_name() || matches!(other, Self::Deed | Self::Attribute),
        }
    }
}

/// The words of a sentence in lower case, with their tags.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaggedSentence<'a> {
    pub(super) words: &'a [&'a str],
    pub(super) tags: &'a [TaggedWord],
}

impl TaggedSentence<'_> {
    /// Nothing beyond the sentence.
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    pub(super) fn role(&self, at: usize) -> WordRole {
        self.tags.get(at).map_or(WordRole::None, |it| it.role)
    }

    /// The word that one belongs to.
    pub(super) fn governor(&self, at: usize) -> Option<usize> {
        self.tags.get(at)?.to
    }

    /// The heads of names within these words.
    pub(super) fn heads(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        range.filter(|it| self.role(*it).is_name())
    }

    /// Of what a verb is said: the name before it that is no other's object, "keys" of "the keys
    /// in the bowl are".
    pub(super) fn subject(&self, verb: usize) -> Option<usize> {
        self.heads(0..verb).rev().find(|it| self.governor(*it).is_none())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Words as `text/role/to`, where `to` counts from 0 and is left out for none.
    pub(in crate::language) fn tagged(words: &str) -> (String, Vec<TaggedWord>) {
        let (mut text, mut tagged) = (String::new(), Vec::new());
        for word in words.split(' ') {
            let mut fields = word.split('/');
            let (said, role) = (fields.next().unwrap(), fields.next().unwrap_or("none"));
            let role = serde_json::from_value(serde_json::json!(role)).unwrap();
            let to = fields.next().map(|it| it.parse().unwrap());
            if !text.is_empty() {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(said);
            tagged.push(TaggedWord { at: start..text.len(), role, to });
        }
        (text, tagged)
    }

    /// The words that a rule finds in a sentence.
    pub(in crate::language) fn found(
        words: &str,
        rule: impl FnOnce(TaggedSentence<'_>) -> BTreeSet<usize>,
    ) -> Vec<String> {
        let (text, tags) = tagged(words);
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(' ').collect();
        let found = rule(TaggedSentence { words: &words, tags: &tags });
        found.into_iter().map(|at| words[at].to_owned()).collect()
    }
}
