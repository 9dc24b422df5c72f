//! Models behind traits that know nothing of machine learning.
//!
//! Only this module names candle and tokenizers, and connects to a model's server.

mod alphabet;
mod attention;
pub mod bert;
mod bert_config;
pub mod blip;
pub mod calibration;
pub mod calibration_pairs;
pub mod caption_matcher;
pub mod caption_reader;
pub mod captioner;
pub mod compute;
mod confidence;
pub mod detector;
pub mod embedder;
pub(crate) mod encoder;
mod encoder_files;
pub mod endpoint;
pub mod florence;
mod git_lfs;
mod glance;
pub mod hub_cache;
mod in_place;
pub(crate) mod jpeg;
pub mod known_models;
mod known_pairs;
pub(crate) mod layers;
mod max_similarity;
mod pickle;
pub(crate) mod preprocess;
mod quantized_linear;
pub mod request_reader;
pub(crate) mod resize;
mod row_wise;
mod scene_text;
pub mod scripted;
pub(crate) mod sentence;
pub mod served;
pub mod smolvlm;
mod stored_tensor;
mod table;
mod tensors;
mod threads;
pub mod use_reader;
mod vision_transformer;
pub mod weights;
mod word_tokens;
pub mod worker;

use std::fmt;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::language::request_tags::TaggedRequest;
use crate::language::tagged::TaggedWord;

/// Identity of the model that made a vector or a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// Name of the model's directory, for people.
    pub name: String,
    pub fingerprint: Fingerprint,
}

impl ModelIdentity {
    /// Of the same model with another task than the first.
    fn with_task(mut self, task: CaptionTask) -> Self {
        if task != CaptionTask::default() {
            let CaptionTask { detail, detects } = task;
            let mut hash = Sha256::new();
            hash.update(self.fingerprint.0.as_bytes());
            hash.update([u8::from(detail == Detail::Sentences), u8::from(detects)]);
            let half = hash.finalize().first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
            self.fingerprint = Fingerprint(format!("{half:032x}"));
        }
        self
    }
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

/// Role of a text; some models need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// A question, asked of the memory.
    Query,
    /// A caption or note, kept in the memory.
    Passage,
}

/// Text embedder, for many threads at once.
///
/// The same text and role always give the same vector, alone or in a batch (to float rounding).
/// Text beyond the model's length is cut, never refused.
pub trait Embedder: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    /// Components of every vector that [`Embedder::embed`] returns.
    fn dimension(&self) -> usize;

    /// One vector a text, in the order of `texts`.
    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError>;

    /// How much of `query` each passage says, word by word, in -1..=1: the mean over the query's
    /// tokens of the highest cosine with one of the passage's, of the vectors that tokens have by
    /// themselves (`MaxSim` of late interaction; `ColBERT`, Khattab & Zaharia 2020). `None` where
    /// a model does not tell.
    fn max_similarity(
        &self,
        _query: &str,
        _passages: &[&str],
    ) -> Result<Option<Vec<f32>>, ModelError> {
        Ok(None)
    }

    /// Share of the letters of `text` that are of a script which the model learnt, in
    /// 0..=1; all of it where a model does not say. The vector of a text of which it reads
    /// little says nothing.
    fn share_read(&self, _text: &str) -> f32 {
        1.0
    }
}

/// Tagger of requests in everyday language, for many threads at once.
///
/// Text beyond the model's length gets no tags; it is never refused.
pub trait RequestTagger: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    fn tag(&self, request: &str) -> Result<TaggedRequest, ModelError>;
}

/// Tells what each word of a caption's sentence is, for many threads at once.
///
/// Text beyond the model's length is not tagged; it is never refused.
pub trait CaptionTagger: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    /// All words of a sentence, in their order.
    fn tag(&self, sentence: &str) -> Result<Vec<TaggedWord>, ModelError>;
}

/// Tells whether a sentence of a caption shows what a query asks for, for many threads at once.
///
/// Text beyond the model's length is cut, never refused.
pub trait CaptionMatcher: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    /// Of each sentence the natural logarithm of the odds that it does; 0 is one to one.
    fn log_odds(&self, query: &str, sentences: &[&str]) -> Result<Vec<f32>, ModelError>;

    /// The same at a glance, by the words of either alone, and far faster: which sentences are worth to be
    /// read.
    fn log_odds_at_a_glance(&self, query: &str, sentences: &[&str])
    -> Result<Vec<f32>, ModelError>;
}

/// Tells which things are told by what they are for, for many threads at once.
///
/// Text beyond the model's length is cut, never refused.
pub trait UseReader: Send + Sync + fmt::Debug {
    fn identity(&self) -> &ModelIdentity;

    /// The likeliest of the things that a use may tell of, "something to drain the spaghetti", the likeliest
    /// first.
    fn things_for(&self, told: &str) -> Result<Vec<LikelyThing<'_>>, ModelError>;
}

/// A thing that may be meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LikelyThing<'a> {
    pub name: &'a str,
    /// That this is it, among all that the model knows.
    pub probability: f32,
}

/// What a captioner that can do several things does with an image; others do the one they can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptionTask {
    pub detail: Detail,
    /// Whether things are found with their boxes, too.
    pub detects: bool,
}

/// Length of a caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    #[default]
    Sentence,
    Sentences,
}

/// Captioner of encoded images (JPEG, PNG or WebP). Belongs to one thread.
pub trait Captioner: Send {
    fn identity(&self) -> &ModelIdentity;

    /// Blocks until the caption is there or the captioner's own deadline has passed.
    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError>;

    /// Fails if it turns out within `patience` that this captioner will never caption. One that is
    /// slow to load passes.
    fn check(&mut self, _patience: Duration) -> Result<(), ModelError> {
        Ok(())
    }

    /// Id of the captioning process, if it is another one: for memory figures.
    fn process_id(&self) -> Option<u32>;

    /// Restarts of that process.
    fn restarts(&self) -> u64;

    /// Address of the server that captions, if one of the operator's does: its `restarts` are
    /// how often it was found again.
    fn server(&self) -> Option<&str> {
        None
    }
}

impl<C: Captioner + ?Sized> Captioner for Box<C> {
    fn identity(&self) -> &ModelIdentity {
        (**self).identity()
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        (**self).caption(image)
    }

    fn check(&mut self, patience: Duration) -> Result<(), ModelError> {
        (**self).check(patience)
    }

    fn process_id(&self) -> Option<u32> {
        (**self).process_id()
    }

    fn restarts(&self) -> u64 {
        (**self).restarts()
    }

    fn server(&self) -> Option<&str> {
        (**self).server()
    }
}

/// Failures of a caption, by what the caller should do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptionError {
    /// This image never gets one.
    #[error("the image cannot be read: {0}")]
    BadImage(String),
    /// The captioner failed over this image; perhaps by chance.
    #[error("the captioner failed over this frame ({0})")]
    Died(String),
    /// The captioner did not answer in time and was given up.
    #[error("the captioner gave no answer within {0:?} and was given up")]
    Hung(Duration),
    /// There is no captioner now; the image is not at fault.
    #[error("no captioner: {0}")]
    Unavailable(String),
}

/// Errors of loading or running a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("no model at {path}: {reason}")]
    Missing { path: String, reason: String },
    #[error("the model at {path} is not usable: {reason}")]
    Unusable { path: String, reason: String },
    #[error("the model failed: {0}")]
    Failed(String),
    /// Found out by its own process.
    #[error("the captioner cannot be used: {0}")]
    Captioner(String),
}
