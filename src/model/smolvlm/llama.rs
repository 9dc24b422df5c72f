//! Llama, the text network: rows in, logits of the next token out. Knows tokens, not words.
//!
//! candle-transformers has a `Llama` too; this one keeps the table of tokens in half precision,
//! norms in place, multiplies a head's keys once for all queries that share them, and yields
//! the core between its products.

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;
use candle_nn::rotary_emb::rope_thd;

use crate::model::attention::KeyValueCache;
use crate::model::compute::Compute;
use crate::model::layers::{Product, RmsNorm};
use crate::model::row_wise::{causal_softmax, for_product, silu_times};
use crate::model::smolvlm::config::TextConfig;
use crate::model::table::EmbeddingTable;
use crate::model::threads::step_aside;

pub(super) struct Llama {
    words: Words,
    turns: Turns,
    layers: Vec<Layer>,
    norm: RmsNorm,
}

/// Tokens in and out.
pub(super) struct Words {
    /// On the CPU.
    pub(super) table: EmbeddingTable,
    /// What a next token is measured by.
    pub(super) head: Product,
    /// Of the network.
    pub(super) compute: Compute,
}

impl Llama {
    /// `positions` is the length of the longest text.
    pub(super) fn load(
        config: &TextConfig,
        words: Words,
        positions: usize,
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        let layers = weights.pp("layers");
        Ok(Self {
            turns: Turns::of(config, positions, &words.compute)?,
            words,
            layers: (0..config.layers)
                .map(|at| Layer::load(config, &layers.pp(at)))
                .collect::<Result<_>>()?,
            norm: RmsNorm::load(config.width, config.epsilon, &weights.pp("norm"))?,
        })
    }

    /// Rows of these tokens.
    pub(super) fn rows(&self, tokens: &[u32]) -> Result<Tensor> {
        let Words { table, compute, .. } = &self.words;
        compute.put(&table.rows(tokens)?)
    }

    pub(super) fn begin(&self) -> Text<'_> {
        Text { llama: self, read: self.layers.iter().map(|_| None).collect(), length: 0 }
    }
}

/// A text that is read and continued.
pub(super) struct Text<'a> {
    llama: &'a Llama,
    /// Keys and values of what was read, by layer.
    read: Vec<Option<KeyValueCache>>,
    length: usize,
}

impl Text<'_> {
    /// Reads these rows after those before, and returns the logits of the next token.
    pub(super) fn next_logits(&mut self, rows: &Tensor) -> Result<Tensor> {
        let Llama { words, turns, layers, norm } = self.llama;
        let count = rows.dim(0)?;
        let turns = turns.at(self.length, count)?;
        self.length += count;
        let mut x = rows.clone();
        for (layer, read) in layers.iter().zip(&mut self.read) {
            x = (layer.attend(&x, &turns, read)? + &x)?;
            step_aside();
            x = (layer.feed_forward(&x)? + &x)?;
            step_aside();
        }
        let last = x.narrow(0, count - 1, 1)?.force_contiguous()?;
        words.head.forward(&norm.apply(last)?)?.squeeze(0)
    }
}

struct Layer {
    heads: usize,
    /// Heads that have keys and values; equally many queries share each.
    key_heads: usize,
    head_width: usize,
    attention_norm: RmsNorm,
    queries: Product,
    keys: Product,
    values: Product,
    attended: Product,
    norm: RmsNorm,
    gate: Product,
    widened: Product,
    narrowed: Product,
}

impl Layer {
    fn load(config: &TextConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let &TextConfig { width, inner_width, heads, key_heads, head_width, epsilon, .. } = config;
        let norm = |name: &str| RmsNorm::load(width, epsilon, &weights.pp(name));
        let product =
            |name: &str, inputs, outputs| Product::load(inputs, outputs, &weights.pp(name));
        Ok(Self {
            heads,
            key_heads,
            head_width,
            attention_norm: norm("input_layernorm")?,
            queries: product("self_attn.q_proj", width, heads * head_width)?,
            keys: product("self_attn.k_proj", width, key_heads * head_width)?,
            values: product("self_attn.v_proj", width, key_heads * head_width)?,
            attended: product("self_attn.o_proj", heads * head_width, width)?,
            norm: norm("post_attention_layernorm")?,
            gate: product("mlp.gate_proj", width, inner_width)?,
            widened: product("mlp.up_proj", width, inner_width)?,
            narrowed: product("mlp.down_proj", inner_width, width)?,
        })
    }

    /// Of each row to those before it and to itself.
    fn attend(
        &self,
        x: &Tensor,
        turns: &Turns,
        read: &mut Option<KeyValueCache>,
    ) -> Result<Tensor> {
        let &Self { heads, key_heads, head_width, .. } = self;
        let rows = x.dim(0)?;
        let x = self.attention_norm.apply(x.copy()?)?;
        let turned = |rows_of: Tensor, heads: usize| {
            turns.apply(&rows_of.reshape((1, rows, heads, head_width))?)
        };
        let queries = turned(self.queries.forward(&x)?, heads)?;
        let values = self.values.forward(&x)?.reshape((rows, key_heads, head_width))?;
        let now = KeyValueCache {
            keys: turned(self.keys.forward(&x)?, key_heads)?.transpose(0, 1)?,
            values: values.transpose(0, 1)?,
        };
        let all = match read.take() {
            Some(before) => before.append(&now)?,
            None => now,
        };
        // Queries that share their keys are rows of one product.
        let shared = (key_heads, heads / key_heads * rows, head_width);
        let queries = (queries.transpose(0, 1)?.reshape(shared)? * self.scale())?;
        let (keys, values) = (for_product(all.keys.clone())?, for_product(all.values.clone())?);
        let shares = causal_softmax(queries.matmul(&keys.t()?)?, rows)?;
        let found = shares.matmul(&values)?.reshape((heads, rows, head_width))?;
        *read = Some(all);
        self.attended.forward(&found.transpose(0, 1)?.reshape((rows, heads * head_width))?)
    }

    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    fn scale(&self) -> f64 {
        (self.head_width as f64).sqrt().recip()
    }

    fn feed_forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.norm.apply(x.copy()?)?;
        let gated = silu_times(self.gate.forward(&x)?, &self.widened.forward(&x)?)?;
        self.narrowed.forward(&gated)
    }
}

/// Rotary positions: by how far the halves of a head's vectors are turned in each row.
struct Turns {
    cosines: Tensor,
    sines: Tensor,
}

impl Turns {
    /// Computed in single precision throughout, as the reference does.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "positions are thousands, the base is a whole number"
    )]
    fn of(config: &TextConfig, positions: usize, compute: &Compute) -> Result<Self> {
        let half = config.head_width / 2;
        let step = |at: usize| {
            let share = (2 * at) as f32 / config.head_width as f32;
            (config.turn_base as f32).powf(share).recip()
        };
        let steps: Vec<f32> = (0..half).map(step).collect();
        let angles = (0..positions)
            .flat_map(|position| steps.iter().map(move |step| position as f32 * step))
            .collect();
        let angles = Tensor::from_vec(angles, (positions, half), &Device::Cpu)?;
        Ok(Self { cosines: compute.put(&angles.cos()?)?, sines: compute.put(&angles.sin()?)? })
    }

    /// Of `count` rows from position `first` on.
    fn at(&self, first: usize, count: usize) -> Result<Self> {
        let Self { cosines, sines } = self;
        Ok(Self {
            cosines: cosines.narrow(0, first, count)?,
            sines: sines.narrow(0, first, count)?,
        })
    }

    /// Turns 1 × rows × heads × width, and returns rows × heads × width.
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        rope_thd(x, &self.cosines, &self.sines)?.squeeze(0)
    }
}
