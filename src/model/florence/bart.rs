//! BART: an encoder of the picture's rows and the prompt, a decoder that attends to them. Knows
//! tokens, not words.
//!
//! Key-value caching: the keys and values of what was encoded, and those of the tokens so far,
//! are computed once.

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::attention::{Attention, FeedForward, KeyValueCache};
use crate::model::florence::config::TextConfig;
use crate::model::layers::{Heads, Linear, Norm};
use crate::model::threads::step_aside;

const EPSILON: f64 = 1e-5;

/// Rows before the first position, as BART was trained.
const POSITIONS_BEFORE: usize = 2;

pub(super) struct Bart {
    /// A row each token; also what a next token is measured by.
    words: Tensor,
    encoder: Encoder,
    decoder: Decoder,
    head: Linear,
}

impl Bart {
    pub(super) fn load(config: &TextConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        const BIAS: &str = "final_logits_bias";
        let words = weights.get((config.words, config.width), "shared.weight")?;
        let bias = if weights.contains_tensor(BIAS) {
            weights.get((1, config.words), BIAS)?.squeeze(0)?
        } else {
            Tensor::zeros(config.words, words.dtype(), &Device::Cpu)?
        };
        Ok(Self {
            encoder: Encoder::load(config, &weights.pp("encoder"))?,
            decoder: Decoder::load(config, &weights.pp("decoder"))?,
            head: Linear::new(words.t()?, bias),
            words,
        })
    }

    /// Encodes a picture's rows with a prompt after them.
    pub(super) fn encode(&self, picture: &Tensor, prompt: &[u32]) -> Result<Tensor> {
        let prompt = self.words.index_select(&Tensor::new(prompt, &Device::Cpu)?, 0)?;
        self.encoder.forward(&Tensor::cat(&[picture, &prompt], 0)?)
    }

    /// Begins an answer to what was encoded.
    pub(super) fn begin(&self, encoded: &Tensor) -> Result<Answer<'_>> {
        let layers = &self.decoder.layers;
        let encoded = layers.iter().map(|layer| layer.encoded.keys_and_values(encoded));
        let encoded = encoded.collect::<Result<_>>()?;
        Ok(Answer { bart: self, encoded, said: layers.iter().map(|_| None).collect(), length: 0 })
    }
}

/// Decoding of one answer.
pub(super) struct Answer<'a> {
    bart: &'a Bart,
    /// Cache of what was encoded, by layer.
    encoded: Vec<KeyValueCache>,
    /// Token cache by layer.
    said: Vec<Option<KeyValueCache>>,
    length: usize,
}

impl Answer<'_> {
    /// Appends a token and returns the logits of the next one.
    pub(super) fn next_logits(&mut self, token: u32) -> Result<Tensor> {
        let Bart { words, decoder: Decoder { positions, norm, layers }, head, .. } = self.bart;
        let word = words.index_select(&Tensor::new(&[token], &Device::Cpu)?, 0)?;
        let position = positions.narrow(0, POSITIONS_BEFORE + self.length, 1)?;
        let mut x = norm.apply((word + position)?)?;
        self.length += 1;
        for ((layer, encoded), said) in layers.iter().zip(&self.encoded).zip(&mut self.said) {
            let now = layer.said.keys_and_values(&x)?;
            let all = match said.take() {
                Some(before) => before.append(&now)?,
                None => now,
            };
            step_aside();
            x = layer.said.forward(&x, &all)?;
            *said = Some(all);
            x = layer.encoded.forward(&x, encoded)?;
            x = layer.feed_forward.forward(&x)?;
        }
        step_aside();
        head.forward(&x)?.squeeze(0)
    }
}

struct Encoder {
    positions: Tensor,
    norm: Norm,
    layers: Vec<EncoderLayer>,
}

struct EncoderLayer {
    attention: Attention,
    feed_forward: FeedForward,
}

impl Encoder {
    fn load(config: &TextConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let layers = weights.pp("layers");
        let layer = |at: usize| {
            let weights = layers.pp(at);
            let heads = config.encoder_heads;
            Ok(EncoderLayer {
                attention: attention(config, heads, "self_attn", &weights)?,
                feed_forward: feed_forward(config, config.encoder_inner_width, &weights)?,
            })
        };
        Ok(Self {
            positions: positions(config, weights)?,
            norm: Norm::load(config.width, EPSILON, &weights.pp("layernorm_embedding"))?,
            layers: (0..config.encoder_layers).map(layer).collect::<Result<_>>()?,
        })
    }

    fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let positions = self.positions.narrow(0, POSITIONS_BEFORE, rows.dim(0)?)?;
        let mut x = self.norm.apply((rows + positions)?)?;
        for EncoderLayer { attention, feed_forward } in &self.layers {
            step_aside();
            x = attention.forward(&x, &attention.keys_and_values(&x)?)?;
            step_aside();
            x = feed_forward.forward(&x)?;
        }
        Ok(x)
    }
}

struct Decoder {
    positions: Tensor,
    norm: Norm,
    layers: Vec<DecoderLayer>,
}

struct DecoderLayer {
    /// To the tokens so far.
    said: Attention,
    encoded: Attention,
    feed_forward: FeedForward,
}

impl Decoder {
    fn load(config: &TextConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let layers = weights.pp("layers");
        let layer = |at: usize| {
            let weights = layers.pp(at);
            let heads = config.decoder_heads;
            Ok(DecoderLayer {
                said: attention(config, heads, "self_attn", &weights)?,
                encoded: attention(config, heads, "encoder_attn", &weights)?,
                feed_forward: feed_forward(config, config.decoder_inner_width, &weights)?,
            })
        };
        Ok(Self {
            positions: positions(config, weights)?,
            norm: Norm::load(config.width, EPSILON, &weights.pp("layernorm_embedding"))?,
            layers: (0..config.decoder_layers).map(layer).collect::<Result<_>>()?,
        })
    }
}

fn positions(config: &TextConfig, weights: &VarBuilder<'_>) -> Result<Tensor> {
    let rows = config.positions_max + POSITIONS_BEFORE;
    weights.get((rows, config.width), "embed_positions.weight")
}

fn attention(
    config: &TextConfig,
    heads: usize,
    name: &str,
    layer: &VarBuilder<'_>,
) -> Result<Attention> {
    let (width, weights) = (config.width, layer.pp(name));
    let linear = |name: &str| Linear::load(width, width, &weights.pp(name));
    Ok(Attention {
        heads: Heads::of(width, heads),
        queries: linear("q_proj")?,
        keys: linear("k_proj")?,
        values: linear("v_proj")?,
        output: linear("out_proj")?,
        norm: Norm::load(width, EPSILON, &layer.pp(format!("{name}_layer_norm")))?,
    })
}

fn feed_forward(config: &TextConfig, inner: usize, layer: &VarBuilder<'_>) -> Result<FeedForward> {
    let width = config.width;
    Ok(FeedForward {
        widened: Linear::load(width, inner, &layer.pp("fc1"))?,
        activation: config.activation,
        narrowed: Linear::load(inner, width, &layer.pp("fc2"))?,
        norm: Norm::load(width, EPSILON, &layer.pp("final_layer_norm"))?,
    })
}
