//! Caption of an image.

use crate::base::detection::DetectedObject;

/// Caption with its captioner's confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Caption {
    pub text: String,
    /// Probability that the text is right, from 0 to 1; `None` for a captioner without
    /// calibration.
    pub confidence: Option<f32>,
    /// What the captioner found and where, where it looks for things: also what it is too
    /// unsure of to name.
    pub detections: Vec<DetectedObject>,
}

impl Caption {
    /// Caption without a confidence.
    pub fn without_confidence(text: &str) -> Self {
        Self { text: text.to_owned(), confidence: None, detections: Vec::new() }
    }
}

/// Text up to its last sentence that ends; all where none does. For a text that was cut.
pub fn whole_sentences(text: &str) -> &str {
    let end = text.rfind(". ").or_else(|| text.rfind(".\n"));
    let end = if text.ends_with('.') { None } else { end };
    end.and_then(|end| text.get(..=end)).unwrap_or(text)
}
