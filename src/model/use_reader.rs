//! Reader of uses: which things are told by what they are for, "something to drain the spaghetti" a
//! colander.
//!
//! A deep averaging network (Iyyer et al. 2015) makes one vector of a use's words; each of some thousand
//! names of things has one, and the likeness of the two tells how likely that thing is meant. The field
//! calls what a thing is for its affordances (Gibson 1979).

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::model::encoder_files::EncoderFiles;
use crate::model::layers::{Linear, Product};
use crate::model::max_similarity::{of_unit_length, unit_rows};
use crate::model::row_wise::{gelu, softmax, softplus};
use crate::model::tensors::Tensors;
use crate::model::threads::multiply_on_one_thread;
use crate::model::weights::ModelDir;
use crate::model::word_tokens::WordTokens;
use crate::model::{LikelyThing, ModelError, ModelIdentity, UseReader};

/// Opens the reader in `path`: `config.json` names under `words_of` the model in the folder beside it
/// whose tokens and vectors of tokens it has, and the sizes of its layers; `names.json` is a list of
/// names, and `model.safetensors` has the layers `words`, `importance`, `inner` and `outer` and under
/// `names` a vector for each name.
///
/// Files are checked now; the layers are read with the first use that is told.
pub fn load(path: &Path) -> Result<Box<dyn UseReader>, ModelError> {
    multiply_on_one_thread();
    let dir = ModelDir::open(path)?;
    let identity = dir.identity()?;
    let settings: UseSettings = dir.settings("config.json", &Value::Null)?;
    let names: Vec<String> = dir.settings("names.json", &Value::Null)?;
    let words = ModelDir::open(&path.join("..").join(&settings.words_of))?;
    let words = EncoderFiles::read(&words, Tensors::table_in_file)?;
    let network = OnceLock::new();
    let tokens = WordTokens::default();
    Ok(Box::new(AveragingUseReader { identity, dir, settings, names, words, tokens, network }))
}

/// Most tokens that are read of a use.
const TOKENS_MAX: usize = 32;

/// Probability from which on a thing is told.
const PROBABILITY_MIN: f32 = 1e-3;

#[derive(Debug, Deserialize)]
struct UseSettings {
    words_of: String,
    hidden_size: usize,
    size: usize,
}

struct AveragingUseReader {
    identity: ModelIdentity,
    dir: ModelDir,
    settings: UseSettings,
    names: Vec<String>,
    words: EncoderFiles,
    tokens: WordTokens,
    network: OnceLock<Result<AveragingNetwork, ModelError>>,
}

struct AveragingNetwork {
    words: Linear,
    importance: Linear,
    inner: Linear,
    outer: Linear,
    /// As long as their log-odds are steep.
    names: Product,
}

impl fmt::Debug for AveragingUseReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, dir: _, settings, names: _, words: _, tokens: _, network: _ } = self;
        f.debug_struct("AveragingUseReader")
            .field("identity", identity)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl UseReader for AveragingUseReader {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn things_for(&self, told: &str) -> Result<Vec<LikelyThing<'_>>, ModelError> {
        let tokens = self.tokens.of(&self.words.tokenizer, told);
        let mut tokens = tokens.map_err(|error| to_error(&error))?;
        tokens.truncate(TOKENS_MAX);
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let network = self.network.get_or_init(|| {
            AveragingNetwork::load(&self.dir, &self.settings, &self.words, self.names.len())
        });
        let network = network.as_ref().map_err(Clone::clone)?;
        let probabilities = network.probabilities(&self.words, &tokens);
        let probabilities = probabilities.map_err(|error| to_error(&error))?;
        let likely = self.names.iter().zip(probabilities);
        let likely = likely.filter(|(_, probability)| *probability >= PROBABILITY_MIN);
        let mut things: Vec<LikelyThing<'_>> =
            likely.map(|(name, probability)| LikelyThing { name, probability }).collect();
        things.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        Ok(things)
    }
}

impl AveragingNetwork {
    fn load(
        dir: &ModelDir,
        settings: &UseSettings,
        words: &EncoderFiles,
        names: usize,
    ) -> Result<Self, ModelError> {
        let UseSettings { words_of: _, hidden_size, size } = *settings;
        let weights = dir.tensors()?.into_builder();
        let layer = |name: &str, inputs, outputs| {
            Linear::load_transposed(inputs, outputs, &weights.pp(name))
        };
        let width = words.config.hidden_size;
        let load = || {
            Ok(Self {
                words: layer("words", width, hidden_size)?,
                importance: layer("importance", width, 1)?,
                inner: layer("inner", hidden_size, hidden_size)?,
                outer: layer("outer", hidden_size, size)?,
                names: Product::new(&weights.get((names, size), "names")?)?,
            })
        };
        load().map_err(|error: candle_core::Error| dir.unusable(&error))
    }

    /// Of each name.
    fn probabilities(&self, words: &EncoderFiles, tokens: &[u32]) -> candle_core::Result<Vec<f32>> {
        let rows = unit_rows(&words.words, tokens)?;
        let weights = softplus(&self.importance.forward(&rows)?)?;
        let weights = weights.broadcast_div(&weights.sum_keepdim(0)?)?;
        let mean = gelu(self.words.forward(&rows)?)?.broadcast_mul(&weights)?.sum_keepdim(0)?;
        let told = self.outer.forward(&(gelu(self.inner.forward(&mean)?)? + &mean)?)?;
        softmax(self.names.forward(&of_unit_length(&told)?)?)?.squeeze(0)?.to_vec1()
    }
}

fn to_error(error: &impl ToString) -> ModelError {
    ModelError::Failed(error.to_string())
}
