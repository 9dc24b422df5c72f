//! The sentence that a captioner says of an image.

/// A caption, and how sure its captioner is of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Caption {
    pub text: String,
    /// How likely the text is right, from 0 to 1; `None` of a captioner that
    /// does not say.
    pub confidence: Option<f32>,
}

impl Caption {
    /// A caption whose captioner says no more than the words.
    pub fn unrated(text: &str) -> Self {
        Self { text: text.to_owned(), confidence: None }
    }
}
