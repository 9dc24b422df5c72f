//! Files of models of the BERT family: configuration, tokenizer, and weights under current
//! names.

use candle_nn::VarBuilder;
use tokenizers::{Tokenizer, TruncationParams};

use crate::model::ModelError;
use crate::model::bert_config::BertConfig;
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
        let config = BertConfig::read(dir)?;
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

    /// Has the tokenizer cut texts at the model's length, and pad none: they are read one
    /// by one.
    pub(super) fn cut_texts(&mut self) -> tokenizers::Result<()> {
        let max_length = self.config.max_position_embeddings;
        let cut = TruncationParams { max_length, ..TruncationParams::default() };
        self.tokenizer.with_padding(None).with_truncation(Some(cut)).map(|_| ())
    }
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
