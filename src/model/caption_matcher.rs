//! The matcher of captions: a small BERT that reads a query and a sentence together, and tells how
//! likely the sentence shows what the query asks for: a "navy travel case" the suitcase.
//!
//! A cross-encoder, as for re-ranking (Nogueira & Cho 2019): each word of either text attends to those
//! of the other, which vectors of texts that were read apart cannot make up for.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::Encoding;

use crate::model::encoder::{Encoder, Precision};
use crate::model::encoder_files::EncoderFiles;
use crate::model::glance::Glance;
use crate::model::known_pairs::KnownPairs;
use crate::model::layers::Linear;
use crate::model::tensors::Tensors;
use crate::model::threads::multiply_on_one_thread;
use crate::model::weights::ModelDir;
use crate::model::{CaptionMatcher, ModelError, ModelIdentity};

/// Opens the matcher in `path`: a BERT as [`crate::model::bert::load`] takes it, whose weights have a
/// layer `match` of one output, the logit, and under `glance` what tells at a glance which sentences
/// are worth to be read (`glance.rs`), with vectors as wide as `glance_size` of its `config.json`. Where
/// that says `words_of`, tokens and their vectors are those of the model of that name in the folder
/// beside it.
///
/// That the files are there and whole is known now; the network is read when the first pair comes.
/// The vectors of tokens stay in their file.
pub fn load(path: &Path) -> Result<Box<dyn CaptionMatcher>, ModelError> {
    multiply_on_one_thread();
    let dir = ModelDir::open(path)?;
    let identity = dir.identity()?;
    let settings: MatcherSettings = dir.settings("config.json", &Value::Null)?;
    let words = match &settings.words_of {
        Some(name) => ModelDir::open(&path.join("..").join(name))?,
        None => ModelDir::open(path)?,
    };
    let mut files = EncoderFiles::read_with_words_of(&dir, &words, Tensors::table_in_file)?;
    files.cut_texts().map_err(|error| dir.unusable(&error))?;
    let (hidden_size, weights) = (files.config.hidden_size, files.weights.pp("glance"));
    let glance = Glance::load(hidden_size, settings.glance_size, &weights);
    let glance = glance.map_err(|error| dir.unusable(&error))?;
    let (network, known) = (OnceLock::new(), KnownPairs::default());
    Ok(Box::new(BertCaptionMatcher { identity, dir, files, glance, network, known }))
}

#[derive(Debug, Deserialize)]
struct MatcherSettings {
    glance_size: usize,
    #[serde(default)]
    words_of: Option<String>,
}

struct BertCaptionMatcher {
    identity: ModelIdentity,
    dir: ModelDir,
    files: EncoderFiles,
    glance: Glance,
    network: OnceLock<Result<MatcherNetwork, ModelError>>,
    known: KnownPairs,
}

struct MatcherNetwork {
    encoder: Encoder,
    matches: Linear,
}

impl fmt::Debug for BertCaptionMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, dir: _, files: _, glance: _, network: _, known: _ } = self;
        f.debug_struct("BertCaptionMatcher").field("identity", identity).finish_non_exhaustive()
    }
}

impl CaptionMatcher for BertCaptionMatcher {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn log_odds(&self, query: &str, sentences: &[&str]) -> Result<Vec<f32>, ModelError> {
        self.known.log_odds(query, sentences, |new| self.read(query, new))
    }

    fn log_odds_at_a_glance(
        &self,
        query: &str,
        sentences: &[&str],
    ) -> Result<Vec<f32>, ModelError> {
        let words = (&self.files.tokenizer, &self.files.words);
        self.glance.log_odds(words, query, sentences).map_err(|error| to_error(&error))
    }
}

impl BertCaptionMatcher {
    fn read(&self, query: &str, sentences: &[&str]) -> Result<Vec<f32>, ModelError> {
        let network = self.network.get_or_init(|| {
            MatcherNetwork::load(&self.files).map_err(|error| self.dir.unusable(&error))
        });
        let network = network.as_ref().map_err(Clone::clone)?;
        let tokenize = |it: &&str| self.files.tokenizer.encode((query, *it), true);
        let tokens: Result<Vec<_>, _> = sentences.iter().map(tokenize).collect();
        let tokens = tokens.map_err(|error| to_error(&error))?;
        let texts: Vec<&[u32]> = tokens.iter().map(Encoding::get_ids).collect();
        network.log_odds(&texts).map_err(|error| to_error(&error))
    }
}

impl MatcherNetwork {
    fn load(files: &EncoderFiles) -> candle_core::Result<Self> {
        let weights = files.weights.pp("match");
        Ok(Self {
            encoder: Encoder::load(files, Precision::Quantized)?,
            matches: Linear::load_transposed(files.config.hidden_size, 1, &weights)?,
        })
    }

    fn log_odds(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        self.matches.forward(&self.encoder.forward_first(texts)?)?.flatten_all()?.to_vec1()
    }
}

fn to_error(error: &impl ToString) -> ModelError {
    ModelError::Failed(error.to_string())
}
