//! What a request in words says: what each word tells of the thing that is looked for, and
//! what is told of the whole.
//!
//! Pure. Knows no model: it has the words that a model answers with.

use std::ops::Range;

use serde::Deserialize;

/// Tags of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaggedRequest {
    /// Spans in the order of the text, without words that say nothing of the thing.
    pub spans: Vec<TaggedSpan>,
    pub order: Superlative,
    pub tense: Tense,
    pub intent: Intent,
    pub asked: Asked,
    pub rank: Rank,
    pub count: Count,
}

impl TaggedRequest {
    /// The tags with a further thing that follows a name without a word or a mark between as the rest
    /// of that name: "sheet *music*".
    #[must_use]
    pub fn with_whole_compounds(mut self, request: &str) -> Self {
        let mut whole: Vec<TaggedSpan> = Vec::with_capacity(self.spans.len());
        for span in self.spans {
            match whole.last_mut().filter(|it| it.role == Role::Thing && span.role == Role::Also) {
                Some(name) if is_blank(request.get(name.at.end..span.at.start)) => {
                    name.at.end = span.at.end;
                }
                _ => whole.push(span),
            }
        }
        self.spans = whole;
        self
    }
}

fn is_blank(between: Option<&str>) -> bool {
    between.is_some_and(|it| it.chars().all(char::is_whitespace))
}

/// Neighbouring words of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaggedSpan {
    pub role: Role,
    /// Byte range in the request.
    pub at: Range<usize>,
}

/// Role of a word in the description of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Nothing.
    None,
    /// Name: "red mug".
    Thing,
    /// Attribute apart from the name: "the one that is *red*".
    Attribute,
    /// Surroundings: beside, on or in.
    Place,
    /// Exclusion: which one it is not, or what it was not beside, on or in.
    Not,
    /// Action of somebody with it.
    Deed,
    /// Anchor of "nearest to".
    Near,
    Time,
    /// Further target: "the mug and then the *book*".
    Also,
}

/// Choice among several, by count or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Superlative {
    #[default]
    None,
    Most,
    Least,
    Latest,
    Earliest,
}

/// Tense: a single occasion, or a habit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tense {
    #[default]
    None,
    Once,
    Habit,
}

/// Intent of a speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// A thing: that it is brought, moved or found.
    #[default]
    Fetch,
    /// To know where a thing is now.
    Where,
    /// To know something else: what was, how many there are, whether there is one.
    Question,
    /// That nothing is done, or no more of it.
    Stop,
    /// Nothing that this memory is for: a greeting, a statement, another order, nonsense.
    Chat,
}

impl Intent {
    /// What somebody said who means this.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Fetch | Self::Where => "a request",
            Self::Question => "a question",
            Self::Stop => "an order not to",
            Self::Chat => "no request for a thing",
        }
    }

    /// Whether the robot is to go for it.
    pub fn is_errand(self) -> bool {
        matches!(self, Self::Fetch | Self::Where)
    }
}

/// Subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// It is no question.
    #[default]
    None,
    /// Where a thing was.
    Place,
    /// When it was seen or used.
    Time,
    /// How many there are, or how often.
    Count,
    /// Whether there is, or was, one.
    Existence,
    /// Which of several.
    Which,
    Other,
}

/// Rank in the order that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    #[default]
    First,
    Second,
    Third,
}

/// Number of objects of the kind that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Count {
    #[default]
    One,
    Two,
    Three,
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_thing_right_after_a_name_is_the_rest_of_it() {
        let whole = |request: &str, spans: &[(Role, Range<usize>)]| {
            let spans = spans.iter().map(|(role, at)| TaggedSpan { role: *role, at: at.clone() });
            let tagged = TaggedRequest { spans: spans.collect(), ..TaggedRequest::default() };
            let spans = tagged.with_whole_compounds(request).spans.into_iter();
            spans.map(|it| (it.role, request[it.at].to_owned())).collect::<Vec<_>>()
        };
        let thing = |name: &str| (Role::Thing, name.to_owned());
        let two = [(Role::Thing, 0..5), (Role::Also, 6..11)];
        assert_eq!(whole("sheet music", &two), [thing("sheet music")]);
        assert_eq!(whole("sheet,music", &two), [thing("sheet"), (Role::Also, "music".to_owned())]);
    }
}
