//! Files of models of the BERT family: configuration, tokenizer, and weights under current
//! names.

use candle_nn::VarBuilder;
use serde_json::json;
use tokenizers::Tokenizer;

use crate::model::ModelError;
use crate::model::encoder::BertConfig;
use crate::model::table::EmbeddingTable;
use crate::model::tensors::Tensors;
use crate::model::weights::ModelDir;

/// [`Tensors::table_in_memory`] or [`Tensors::table_in_file`].
pub(super) type Keep = fn(&Tensors, &str, (usize, usize)) -> candle_core::Result<EmbeddingTable>;

/// Name of the vectors of tokens.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// Files read and checked against each other.
pub(super) struct EncoderFiles {
    pub(super) config: BertConfig,
    pub(super) tokenizer: Tokenizer,
    /// Embedding table of tokens.
    pub(super) words: EmbeddingTable,
    /// Those of the encoder without the prefix that a whole language model gives them.
    pub(super) weights: VarBuilder<'static>,
}

impl EncoderFiles {
    /// The vectors of tokens are kept as `keep` says; the other weights are read when a
    /// network asks for them.
    pub(super) fn read(dir: &ModelDir, keep: Keep) -> Result<Self, ModelError> {
        Self::read_with_words_of(dir, dir, keep)
    }

    /// As [`EncoderFiles::read`], with the tokens and the vectors of another model.
    pub(super) fn read_with_words_of(
        dir: &ModelDir,
        words: &ModelDir,
        keep: Keep,
    ) -> Result<Self, ModelError> {
        let config = config_of(dir)?;
        let tokenizer = words.tokenizer()?;
        let vocabulary = tokenizer.get_vocab_size(true);
        if vocabulary > config.vocab_size {
            let rows = config.vocab_size;
            let reason = format!("the tokenizer has {vocabulary} tokens, the model {rows}");
            return Err(dir.unusable(&reason));
        }
        let tensors = with_current_names(dir.tensors()?);
        let shape = (config.vocab_size, config.hidden_size);
        let words = keep(&with_current_names(words.tensors()?), WORDS, shape)
            .map_err(|error| words.unusable(&error))?;
        Ok(Self { config, tokenizer, words, weights: tensors.into_builder() })
    }
}

fn config_of(dir: &ModelDir) -> Result<BertConfig, ModelError> {
    // What `transformers` leaves out of a file where it is the default.
    let defaults = json!({
        "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu",
        "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    });
    let file = dir.config("bert", &defaults)?;
    let config: BertConfig = serde_json::from_value(file)
        .map_err(|error| dir.unusable(&format!("config.json: {error}")))?;
    let heads = config.num_attention_heads;
    if heads == 0 || !config.hidden_size.is_multiple_of(heads) {
        let reason = format!("hidden_size {} in {heads} heads", config.hidden_size);
        return Err(dir.unusable(&reason));
    }
    Ok(config)
}

/// Strips the prefix of a whole language model, and renames the tensors of old conversions.
fn with_current_names(mut tensors: Tensors) -> Tensors {
    tensors.rename(|name| {
        let name = name.strip_prefix("bert.").unwrap_or(&name);
        match name.rsplit_once('.') {
            Some((layer, "gamma")) => format!("{layer}.weight"),
            Some((layer, "beta")) => format!("{layer}.bias"),
            _ => name.to_owned(),
        }
    });
    tensors
}
