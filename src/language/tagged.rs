//! A sentence of a caption as its reader tags it: what each word is, and which word it
//! belongs to.
//!
//! Plain data, between the model that tags and [`crate::language::caption`].

use std::ops::Range;

use serde::Deserialize;

use crate::language::words::DETERMINERS;

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

    /// The heads that a list has, of which `last` is the last one: keys, wallet and phone of "the
    /// keys, the wallet and the phone".
    pub(super) fn listed_until(&self, last: usize) -> Vec<usize> {
        let mut listed = vec![last];
        let mut is_joined = false;
        let mut at = last;
        loop {
            let start = (0..at).rev().take_while(|it| self.is_before_head(*it)).last();
            let start = start.unwrap_or(at);
            let between = (0..start).rev().take_while(|it| is_joint(self.word(*it)));
            let Some(joint) = between.last() else { break };
            is_joined |= (joint..start).any(|it| self.word(it) != ",");
            let Some(head) = joint.checked_sub(1).filter(|_| is_joined) else { break };
            if !self.role(head).is_name() || self.governor(head) != self.governor(last) {
                break;
            }
            listed.push(head);
            at = head;
        }
        listed
    }

    /// The heads of the name that begins at this word, and of those that a list joins with it.
    pub(super) fn listed_from(&self, first: usize) -> Vec<usize> {
        let mut listed = Vec::new();
        let mut is_joined = false;
        let mut at = first;
        loop {
            let is_before = |it: &usize| self.is_before_head(*it) || self.joins_attributes(*it);
            let head = (at..self.words.len()).find(|it| !is_before(it));
            let Some(head) = head.filter(|it| self.role(*it).is_name()) else { break };
            if !listed.is_empty() && self.does_something(head) {
                break;
            }
            listed.push(head);
            let joints = (head + 1..self.words.len()).take_while(|it| is_joint(self.word(*it)));
            let Some(joint) = joints.last() else { break };
            is_joined |= (head..=joint).any(|it| self.word(it) != "," && is_joint(self.word(it)));
            at = joint + 1;
        }
        listed.truncate(if is_joined { listed.len() } else { 1 });
        listed
    }

    /// Whether a word stands before the head of a name, and belongs to it.
    pub(super) fn is_before_head(&self, at: usize) -> bool {
        matches!(self.role(at), WordRole::Part | WordRole::Attribute | WordRole::Count)
            || DETERMINERS.contains(self.word(at)) && !self.role(at).is_name()
    }

    /// "Black *and* white keys".
    fn joins_attributes(&self, at: usize) -> bool {
        let is_attribute = |at: usize| self.role(at) == WordRole::Attribute;
        is_joint(self.word(at))
            && at.checked_sub(1).is_some_and(is_attribute)
            && is_attribute(at + 1)
    }

    fn does_something(&self, head: usize) -> bool {
        let mut after = head + 1..self.words.len();
        after.any(|it| self.role(it) == WordRole::Deed && self.governor(it) == Some(head))
    }

    /// Of what a verb is said: the name before it that is no other's object, "keys" of "the keys
    /// in the bowl are".
    pub(super) fn subject(&self, verb: usize) -> Option<usize> {
        self.heads(0..verb).rev().find(|it| self.governor(*it).is_none())
    }
}

/// Whether a word joins the things of a list.
fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "or" | "nor" | "," | "&")
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
