//! Reads captions when they come in: the model of captions tags each sentence, and
//! [`ParsedCaption`] puts it together.

use std::sync::Arc;

use log::warn;

use crate::language::caption::{ParsedCaption, sentences};
use crate::model::{CaptionTagger, ModelError};

/// Sentences that are read of one caption; the wordiest captioner writes ten.
const SENTENCES_MAX: usize = 32;

/// The reader of captions; clones ask the same model.
#[derive(Debug, Clone)]
pub struct CaptionReader {
    tagger: Option<Arc<dyn CaptionTagger>>,
}

impl CaptionReader {
    pub fn new(tagger: Box<dyn CaptionTagger>) -> Self {
        Self { tagger: Some(tagger.into()) }
    }

    /// A reader without a model, which knows rules only and nothing of denial.
    pub fn by_rules() -> Self {
        Self { tagger: None }
    }

    /// Which reader it is: its version and its model. `None` for the rules, by which no caption
    /// is read again.
    pub(super) fn name(&self) -> Option<String> {
        let model = self.tagger.as_ref()?.identity();
        Some(format!("{READER}/{}", model.fingerprint))
    }

    /// What a caption says. Where the model fails, the rules read it: a frame is not lost
    /// for that.
    pub fn read(&self, caption: &str) -> ParsedCaption {
        let Some(tagger) = &self.tagger else { return ParsedCaption::by_rules(caption) };
        Self::read_by_model(tagger.as_ref(), caption).unwrap_or_else(|error| {
            warn!(error:%; "a caption is read by rules");
            ParsedCaption::by_rules(caption)
        })
    }

    fn read_by_model(
        tagger: &dyn CaptionTagger,
        caption: &str,
    ) -> Result<ParsedCaption, ModelError> {
        let mut read = Vec::new();
        for sentence in sentences(caption).take(SENTENCES_MAX) {
            read.push((sentence, tagger.tag(sentence)?));
        }
        Ok(ParsedCaption::of_tagged(READER, &read))
    }
}

/// The number under which captions are kept that the model has read.
const READER: u32 = 24;
