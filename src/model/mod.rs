//! The models, behind traits that know nothing of machine learning.
//!
//! Only this module names candle and tokenizers.

pub mod bert;
pub mod blip;
pub mod calibration;
pub mod calibration_pairs;
pub mod embedder;
pub(crate) mod encoder;
mod encoder_files;
mod in_place;
pub(crate) mod jpeg;
pub(crate) mod layers;
pub(crate) mod preprocess;
pub mod request_reader;
pub(crate) mod resize;
pub mod scripted;
pub(crate) mod sentence;
mod table;
mod tensors;
mod threads;
pub mod weights;
pub mod worker;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;

/// Which model made a vector or a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// Name of the model's directory, for people.
    pub name: String,
    pub fingerprint: Fingerprint,
}

/// Hash over a model's weights, tokenizer and configuration: two models with
/// one fingerprint give the same answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(pub String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a text is for; some models want to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// A question, asked of the memory.
    Query,
    /// A caption or note, kept in the memory.
    Passage,
}

/// Turns text into vectors, for many threads at once.
///
/// The same text and role always give the same vector, alone or in a batch
/// (to float rounding). Text beyond the model's length is cut, never refused.
pub trait Embedder: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    /// Components of every vector that [`Embedder::embed`] returns.
    fn dimension(&self) -> usize;

    /// One vector a text, in the order of `texts`.
    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError>;
}

/// Tells what the words of a request in everyday language say, for many threads at once.
///
/// Text beyond the model's length says nothing; it is never refused.
pub trait RequestTagger: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    fn tag(&self, request: &str) -> Result<Tagged, ModelError>;
}

/// What the words of a request say, and the whole of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tagged {
    /// In the order of the text; what says nothing of the thing is in none.
    pub spans: Vec<Span>,
    pub order: Superlative,
    pub tense: Tense,
}

/// Neighbouring words of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub role: Role,
    /// In bytes of the request.
    pub at: Range<usize>,
}

/// What a word says of the thing that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Nothing.
    None,
    /// What it is called: "red mug".
    Thing,
    /// What it is like, said apart from its name: "the one that is *red*".
    Attribute,
    /// What it was beside, on or in.
    Place,
    /// Which one it is not, or what it was not beside, on or in.
    Not,
    /// What somebody did with it.
    Deed,
    /// What it is nearest to.
    Near,
    Time,
}

/// Which of several is meant, by how often or when.
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

/// Whether a request tells of an occasion or of what is so as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tense {
    #[default]
    None,
    Once,
    Habit,
}

/// Says in a sentence what an encoded image (JPEG or PNG) shows. Belongs to one thread.
pub trait Captioner: Send {
    fn identity(&self) -> &ModelIdentity;

    /// Blocks until the caption is there or the captioner's own deadline passed.
    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError>;

    /// Process that captions, if it is another than this one: for memory figures.
    fn process_id(&self) -> Option<u32>;

    /// How often that process had to be started again.
    fn restarts(&self) -> u64;
}

/// Why there is no caption, by what the caller should do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptionError {
    /// This image never gets one.
    #[error("the image cannot be read: {0}")]
    BadImage(String),
    /// The worker died over this image; perhaps by chance.
    #[error("the caption worker died over this frame ({0})")]
    Died(String),
    /// The worker did not answer in time and was killed.
    #[error("the caption worker gave no answer within {0:?} and was stopped")]
    Hung(Duration),
    /// The worker cannot be started now; the image is not at fault.
    #[error("the caption worker does not start: {0}")]
    Unavailable(String),
}

/// Why a model does not load or run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("no model at {path}: {reason}")]
    Missing { path: String, reason: String },
    #[error("the model at {path} is not usable: {reason}")]
    Unusable { path: String, reason: String },
    #[error("the model failed: {0}")]
    Failed(String),
}
