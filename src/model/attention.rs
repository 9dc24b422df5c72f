//! Layers of decoders that keep the keys and values of what they attend to. Each is added to
//! its input and normed afterwards. Knows no model.

use candle_core::{Result, Tensor};

use crate::model::layers::{Activation, Heads, Linear, Norm};

/// Keys and values, split by heads.
pub(super) struct KeyValueCache {
    pub(super) keys: Tensor,
    pub(super) values: Tensor,
}

impl KeyValueCache {
    /// With the rows of `next` after those that are there.
    pub(super) fn append(&self, next: &Self) -> Result<Self> {
        Ok(Self {
            keys: Tensor::cat(&[&self.keys, &next.keys], 1)?,
            values: Tensor::cat(&[&self.values, &next.values], 1)?,
        })
    }
}

/// Attention of rows to themselves or to others.
pub(super) struct Attention {
    pub(super) heads: Heads,
    pub(super) queries: Linear,
    pub(super) keys: Linear,
    pub(super) values: Linear,
    pub(super) output: Linear,
    pub(super) norm: Norm,
}

impl Attention {
    /// Keys and values of these rows.
    pub(super) fn keys_and_values(&self, rows: &Tensor) -> Result<KeyValueCache> {
        Ok(KeyValueCache {
            keys: self.heads.split(&self.keys.forward(rows)?)?,
            values: self.heads.split(&self.values.forward(rows)?)?,
        })
    }

    pub(super) fn forward(&self, x: &Tensor, cache: &KeyValueCache) -> Result<Tensor> {
        let queries = self.heads.split(&self.queries.forward(x)?)?;
        let found = self.heads.attend(&queries, &cache.keys, &cache.values)?;
        self.norm.apply((self.output.forward(&found)? + x)?)
    }
}

/// Two linear layers with an activation between.
pub(super) struct FeedForward {
    pub(super) widened: Linear,
    pub(super) activation: Activation,
    pub(super) narrowed: Linear,
    pub(super) norm: Norm,
}

impl FeedForward {
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let widened = self.activation.apply(self.widened.forward(x)?)?;
        self.norm.apply((self.narrowed.forward(&widened)? + x)?)
    }
}
