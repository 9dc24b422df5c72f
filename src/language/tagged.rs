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
