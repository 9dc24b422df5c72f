//! Which sentences are worth to be read with a query: late interaction (`ColBERT`, Khattab & Zaharia
//! 2020) of vectors that tokens have by themselves, so that nothing of a sentence need be kept.
//!
//! A projection that is learnt brings together the words for what captioners and people call otherwise,
//! and each word of the query counts as much as it was learnt to tell.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use candle_core::{D, Device, Result, Tensor, bail};
use candle_nn::VarBuilder;
use tokenizers::Tokenizer;

use crate::model::layers::{Linear, Product};
use crate::model::max_similarity::{max_similarity, of_unit_length, unit_rows};
use crate::model::row_wise::softplus;
use crate::model::table::EmbeddingTable;
use crate::model::word_tokens::WordTokens;

pub(super) struct Glance {
    projection: Product,
    importance: Linear,
    /// Makes log-odds of a likeness.
    slope: f32,
    offset: f32,
    tokens: WordTokens,
    /// Vectors of tokens, remembered: a few thousand stand in all captions.
    projected: Mutex<HashMap<u32, Vec<f32>>>,
}

/// Most vectors that are remembered, some two mebibytes; then they are learnt anew.
const VECTORS_MAX: usize = 8_192;

impl Glance {
    /// Of the weights `projection` (outputs × the table's width, without bias), `importance` (one
    /// output) and `answer` (slope and offset).
    pub(super) fn load(inputs: usize, outputs: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let answer: Vec<f32> = weights.get(2, "answer")?.to_vec1()?;
        let &[slope, offset] = answer.as_slice() else { bail!("answer: not two numbers") };
        Ok(Self {
            projection: Product::load(inputs, outputs, &weights.pp("projection"))?,
            importance: Linear::load_transposed(inputs, 1, &weights.pp("importance"))?,
            slope,
            offset,
            tokens: WordTokens::default(),
            projected: Mutex::default(),
        })
    }

    /// Of each sentence the log-odds that it shows what the query asks for, by its words alone.
    pub(super) fn log_odds(
        &self,
        (tokenizer, table): (&Tokenizer, &EmbeddingTable),
        query: &str,
        sentences: &[&str],
    ) -> tokenizers::Result<Vec<f32>> {
        let query = self.tokens.of(tokenizer, query)?;
        let sentences: tokenizers::Result<Vec<Vec<u32>>> =
            sentences.iter().map(|it| self.tokens.of(tokenizer, it)).collect();
        let vectors = |ids: &[u32]| self.vectors(table, ids);
        let weights = self.weights(table, &query)?;
        let found = max_similarity(&query, &sentences?, vectors, &weights)?;
        Ok(found.into_iter().map(|it| self.slope * it + self.offset).collect())
    }

    /// Projected vectors of tokens, of length 1, one a row.
    fn vectors(&self, table: &EmbeddingTable, ids: &[u32]) -> Result<Tensor> {
        let mut known = self.projected.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + ids.len() > VECTORS_MAX {
            known.clear();
        }
        let is_new = |it: &&u32| !known.contains_key(it);
        let new: Vec<u32> = ids.iter().filter(is_new).copied().collect();
        if !new.is_empty() {
            let vectors = of_unit_length(&self.projection.forward(&unit_rows(table, &new)?)?)?;
            known.extend(new.into_iter().zip(vectors.to_vec2()?));
        }
        let rows: Vec<f32> = ids.iter().filter_map(|it| known.get(it)).flatten().copied().collect();
        Tensor::from_vec(rows, (ids.len(), ()), &Device::Cpu)
    }

    fn weights(&self, table: &EmbeddingTable, query: &[u32]) -> Result<Vec<f32>> {
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let importance = self.importance.forward(&unit_rows(table, query)?)?;
        softplus(&importance)?.squeeze(D::Minus1)?.to_vec1()
    }
}
