//! Text embedders of the BERT family, from a directory as sentence-transformers
//! or `transformers` save it, on the thread that asks.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use candle_core::IndexOp as _;
use tokenizers::Tokenizer;

use crate::base::embedding::Embedding;
use crate::model::alphabet::Alphabet;
use crate::model::encoder::{Encoder, Precision};
use crate::model::encoder_files::EncoderFiles;
use crate::model::max_similarity::{max_similarity, unit_rows};
use crate::model::sentence::{Pooling, SentenceSettings};
use crate::model::tensors::Tensors;
use crate::model::threads::multiply_on_one_thread;
use crate::model::weights::ModelDir;
use crate::model::word_tokens::WordTokens;
use crate::model::{Embedder, ModelError, ModelIdentity, TextRole};

/// Batch size; more gain nothing on one thread and take memory.
const BATCH_TEXTS_MAX: usize = 32;

/// Loads the text embedder in `path`: `config.json` with model type "bert",
/// `tokenizer.json`, `model.safetensors`, and sentence-transformers' files where
/// there are any.
pub fn load(path: &Path) -> Result<Box<dyn Embedder>, ModelError> {
    multiply_on_one_thread();
    let dir = ModelDir::open(path)?;
    let identity = dir.identity()?;
    let files = EncoderFiles::read(&dir, Tensors::table_in_memory)?;
    let encoder = Encoder::load(&files, Precision::Single).map_err(|error| dir.unusable(&error))?;
    let EncoderFiles { config, mut tokenizer, words: _, weights: _ } = files;
    let sentence = SentenceSettings::read(&dir, config.max_position_embeddings)?;
    sentence.apply_to(&mut tokenizer).map_err(|error| dir.unusable(&error))?;
    let dimension = config.hidden_size;
    let alphabet = Alphabet::of(&tokenizer);
    let word_tokens = WordTokens::default();
    Ok(Box::new(BertEmbedder {
        identity,
        dimension,
        sentence,
        tokenizer,
        alphabet,
        encoder,
        word_tokens,
    }))
}

struct BertEmbedder {
    identity: ModelIdentity,
    dimension: usize,
    sentence: SentenceSettings,
    tokenizer: Tokenizer,
    alphabet: Alphabet,
    encoder: Encoder,
    word_tokens: WordTokens,
}

impl fmt::Debug for BertEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            identity,
            dimension,
            sentence,
            tokenizer: _,
            alphabet: _,
            encoder: _,
            word_tokens: _,
        } = self;
        f.debug_struct("BertEmbedder")
            .field("identity", identity)
            .field("dimension", dimension)
            .field("sentence", sentence)
            .finish_non_exhaustive()
    }
}

impl Embedder for BertEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        let tokens = texts
            .iter()
            .map(|text| self.tokens(role, text))
            .collect::<Result<Vec<Vec<u32>>, ModelError>>()?;
        let mut vectors: Vec<(usize, Embedding)> = Vec::with_capacity(texts.len());
        for batch in batches(&tokens) {
            let ids: Vec<&[u32]> =
                batch.iter().filter_map(|at| tokens.get(*at)).map(Vec::as_slice).collect();
            let pooled = self.pool(&ids).map_err(|error| to_error(&error))?;
            for (at, raw) in batch.into_iter().zip(pooled) {
                let vector = Embedding::new(raw, self.dimension).map_err(|bad| to_error(&bad))?;
                vectors.push((at, vector));
            }
        }
        vectors.sort_by_key(|(at, _)| *at);
        Ok(vectors.into_iter().map(|(_, vector)| vector).collect())
    }

    fn max_similarity(
        &self,
        query: &str,
        passages: &[&str],
    ) -> Result<Option<Vec<f32>>, ModelError> {
        let tokens = |text: &str| {
            self.word_tokens.of(&self.tokenizer, text).map_err(|error| to_error(&error))
        };
        let query = tokens(query)?;
        let passages = passages.iter().map(|it| tokens(it)).collect::<Result<Vec<_>, _>>()?;
        let vectors = |ids: &[u32]| unit_rows(self.encoder.word_table(), ids);
        let found = max_similarity(&query, &passages, vectors, &vec![1.0; query.len()]);
        found.map(Some).map_err(|error| to_error(&error))
    }

    fn share_read(&self, text: &str) -> f32 {
        self.alphabet.share_read(&self.tokenizer, text)
    }
}

impl BertEmbedder {
    fn tokens(&self, role: TextRole, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self
            .tokenizer
            .encode_fast(self.sentence.with_prompt(role, text), true)
            .map_err(|error| to_error(&error))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Pooled vectors of `texts`, which are equally long.
    fn pool(&self, texts: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let hidden = self.encoder.forward(texts)?;
        let pooled = match self.sentence.pooling {
            Pooling::Mean => hidden.mean(1)?,
            Pooling::First => hidden.i((.., 0))?,
        };
        pooled.to_vec2()
    }
}

/// Batches of texts of one length each, so that none is padded and no attention needs a mask: a
/// text's vector then does not depend on the others.
fn batches(tokens: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = Range { start: 0, end: tokens.len() }.collect();
    let length = |at: &usize| tokens.get(*at).map(Vec::len);
    order.sort_by_key(length);
    order
        .chunk_by(|a, b| length(a) == length(b))
        .flat_map(|same| same.chunks(BATCH_TEXTS_MAX))
        .map(<[usize]>::to_vec)
        .collect()
}

fn to_error(error: &dyn fmt::Display) -> ModelError {
    ModelError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_texts_of_one_length_and_each_text_once() {
        let text = |length: usize| vec![0_u32; length];
        let mut tokens = vec![text(4), text(9), text(4), text(2)];
        assert_eq!(batches(&tokens), [vec![3], vec![0, 2], vec![1]]);
        tokens = vec![text(5); 70];
        let sizes: Vec<usize> = batches(&tokens).iter().map(Vec::len).collect();
        assert_eq!(sizes, [32, 32, 6]);
    }
}
