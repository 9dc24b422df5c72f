//! BLIP's text decoder, with cross attention on an image. Knows tokens, not words.
//!
//! Key-value caching: the keys and values of the image, and those of the tokens so far, are
//! computed once.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::blip_text::Config;

use crate::model::attention::{Attention, FeedForward, KeyValueCache};
use crate::model::layers::{Activation, Heads, Linear, Norm};
use crate::model::threads::step_aside;

pub(super) struct Decoder {
    words: Tensor,
    positions: Tensor,
    norm: Norm,
    layers: Vec<DecoderLayer>,
    transform: Linear,
    activation: Activation,
    transform_norm: Norm,
    head: Linear,
}

impl Decoder {
    pub(super) fn load(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, epsilon) = (config.hidden_size, config.layer_norm_eps);
        let embeddings = weights.pp("bert.embeddings");
        let layers = weights.pp("bert.encoder.layer");
        let head = weights.pp("cls.predictions");
        let transform = head.pp("transform");
        let output = head.get((config.vocab_size, width), "decoder.weight")?;
        Ok(Self {
            words: embeddings.pp("word_embeddings").get((config.vocab_size, width), "weight")?,
            positions: embeddings
                .pp("position_embeddings")
                .get((config.max_position_embeddings, width), "weight")?,
            norm: Norm::load(width, epsilon, &embeddings.pp("LayerNorm"))?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| DecoderLayer::load(config, &layers.pp(layer)))
                .collect::<Result<_>>()?,
            transform: Linear::load(width, width, &transform.pp("dense"))?,
            activation: config.hidden_act.try_into()?,
            transform_norm: Norm::load(width, epsilon, &transform.pp("LayerNorm"))?,
            head: Linear::new(output.t()?, head.get(config.vocab_size, "bias")?),
        })
    }

    /// Begins a caption of the image with these patch vectors.
    pub(super) fn begin(&self, seen: &Tensor) -> Result<CaptionDecoding<'_>> {
        let image = self.layers.iter().map(|layer| layer.image.keys_and_values(seen));
        let image = image.collect::<Result<_>>()?;
        let said = self.layers.iter().map(|_| None).collect();
        Ok(CaptionDecoding { decoder: self, image, said, length: 0 })
    }
}

/// Decoding of one caption.
pub(super) struct CaptionDecoding<'a> {
    decoder: &'a Decoder,
    /// Image cache by layer.
    image: Vec<KeyValueCache>,
    /// Token cache by layer.
    said: Vec<Option<KeyValueCache>>,
    length: usize,
}

impl CaptionDecoding<'_> {
    /// Appends a token and returns the logits of the next one.
    pub(super) fn next_logits(&mut self, token: u32) -> Result<Tensor> {
        let Decoder { words, positions, norm, layers, .. } = self.decoder;
        let word = words.index_select(&Tensor::new(&[token], words.device())?, 0)?;
        let mut x = norm.apply((word + positions.narrow(0, self.length, 1)?)?)?;
        self.length += 1;
        for ((layer, image), said) in layers.iter().zip(&self.image).zip(&mut self.said) {
            let now = layer.words.keys_and_values(&x)?;
            let all = match said.take() {
                Some(before) => before.append(&now)?,
                None => now,
            };
            step_aside();
            x = layer.words.forward(&x, &all)?;
            *said = Some(all);
            x = layer.image.forward(&x, image)?;
            x = layer.feed_forward.forward(&x)?;
        }
        step_aside();
        self.decoder.logits(&x)
    }
}

impl Decoder {
    fn logits(&self, x: &Tensor) -> Result<Tensor> {
        let x = self.activation.apply(self.transform.forward(x)?)?;
        self.head.forward(&self.transform_norm.apply(x)?)?.squeeze(0)
    }
}

struct DecoderLayer {
    words: Attention,
    image: Attention,
    feed_forward: FeedForward,
}

impl DecoderLayer {
    fn load(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let seen = config.encoder_hidden_size;
        let output = weights.pp("output");
        Ok(Self {
            words: load_attention(config, width, &weights.pp("attention"))?,
            image: load_attention(config, seen, &weights.pp("crossattention"))?,
            feed_forward: FeedForward {
                widened: Linear::load(width, inner, &weights.pp("intermediate.dense"))?,
                activation: config.hidden_act.try_into()?,
                narrowed: Linear::load(inner, width, &output.pp("dense"))?,
                norm: Norm::load(width, config.layer_norm_eps, &output.pp("LayerNorm"))?,
            },
        })
    }
}

/// `inputs` is the width of the attended rows.
fn load_attention(config: &Config, inputs: usize, weights: &VarBuilder<'_>) -> Result<Attention> {
    let width = config.hidden_size;
    let (inner, output) = (weights.pp("self"), weights.pp("output"));
    Ok(Attention {
        heads: Heads::of(width, config.num_attention_heads),
        queries: Linear::load(width, width, &inner.pp("query"))?,
        keys: Linear::load(inputs, width, &inner.pp("key"))?,
        values: Linear::load(inputs, width, &inner.pp("value"))?,
        output: Linear::load(width, width, &output.pp("dense"))?,
        norm: Norm::load(width, config.layer_norm_eps, &output.pp("LayerNorm"))?,
    })
}
