//! The network of BERT, laid out for one short text at a time on one thread.
//!
//! candle-transformers has a `BertModel` too; for a query of ten words to the
//! default embedder this one takes two thirds of its time (release build, both
//! in one run: .62 against .94 ms at best, on a busy machine). Weights are turned at loading, so that a product
//! with a few rows reads them in order instead of repacking them at every call;
//! queries, keys and values are one product; texts of one length need no mask;
//! and the activation is vectorised.

use candle_core::{CpuStorage, Device, InplaceOp1, Layout, Result, Tensor, bail};
use candle_nn::VarBuilder;
use candle_nn::ops::{layer_norm, softmax_last_dim};
use serde::Deserialize;

/// As in `config.json`.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Config {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) hidden_act: Activation,
    pub(crate) max_position_embeddings: usize,
    pub(crate) type_vocab_size: usize,
    pub(crate) layer_norm_eps: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Activation {
    #[serde(rename = "gelu")]
    Gelu,
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh")]
    GeluTanh,
    #[serde(rename = "relu")]
    Relu,
}

pub(crate) struct Encoder {
    words: Tensor,
    /// Of each position, with that of the first text of a pair added: there is
    /// never a second.
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Encoder {
    pub(crate) fn load(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let width = config.hidden_size;
        let embeddings = weights.pp("embeddings");
        let table = |name: &str, rows| embeddings.pp(name).get((rows, width), "weight");
        let types = table("token_type_embeddings", config.type_vocab_size)?;
        let positions = table("position_embeddings", config.max_position_embeddings)?;
        let layers = weights.pp("encoder.layer");
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            positions: positions.broadcast_add(&types.get(0)?)?,
            norm: Norm::load(config, &embeddings)?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| Layer::load(config, &layers.pp(layer)))
                .collect::<Result<_>>()?,
        })
    }

    /// The last layer's vectors, texts × tokens × width, of texts that are
    /// equally long.
    pub(crate) fn forward(&self, texts: &[&[u32]]) -> Result<Tensor> {
        let length = texts.first().map_or(0, |text| text.len());
        let ids = Tensor::new(texts.concat(), &Device::Cpu)?;
        let shape = (texts.len(), length, ());
        let words = self.words.index_select(&ids, 0)?.reshape(shape)?;
        let mut x = words.broadcast_add(&self.positions.narrow(0, 0, length)?)?;
        x = self.norm.forward(&x.flatten(0, 1)?)?;
        for layer in &self.layers {
            x = layer.forward(&x, texts.len())?;
        }
        x.reshape(shape)
    }
}

struct Layer {
    heads: usize,
    queries_keys_values: Linear,
    attended: Linear,
    attended_norm: Norm,
    widened: Linear,
    activation: Activation,
    narrowed: Linear,
    narrowed_norm: Norm,
}

impl Layer {
    fn load(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let attention = weights.pp("attention");
        Ok(Self {
            heads: config.num_attention_heads,
            queries_keys_values: Linear::of_attention(config, &attention.pp("self"))?,
            attended: Linear::load(width, width, &attention.pp("output.dense"))?,
            attended_norm: Norm::load(config, &attention.pp("output"))?,
            widened: Linear::load(width, inner, &weights.pp("intermediate.dense"))?,
            activation: config.hidden_act,
            narrowed: Linear::load(inner, width, &weights.pp("output.dense"))?,
            narrowed_norm: Norm::load(config, &weights.pp("output"))?,
        })
    }

    /// Rows are the tokens of all `texts`, one text after another.
    fn forward(&self, x: &Tensor, texts: usize) -> Result<Tensor> {
        let attended = self.attended.forward(&self.attend(x, texts)?)?;
        let x = self.attended_norm.forward(&(attended + x)?)?;
        let widened = self.activation.apply(self.widened.forward(&x)?)?;
        self.narrowed_norm.forward(&(self.narrowed.forward(&widened)? + x)?)
    }

    fn attend(&self, x: &Tensor, texts: usize) -> Result<Tensor> {
        let (rows, width) = x.dims2()?;
        let (length, head) = (rows / texts, width / self.heads);
        let split = self
            .queries_keys_values
            .forward(x)?
            .reshape((texts, length, 3, self.heads, head))?
            .permute((2, 0, 3, 1, 4))?
            .contiguous()?;
        let (queries, keys, values) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let shares = softmax_last_dim(&queries.matmul(&keys.t()?)?)?;
        shares.matmul(&values)?.transpose(1, 2)?.reshape((rows, width))
    }
}

/// Multiplies rows by weights of shape inputs × outputs.
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn load(inputs: usize, outputs: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let weight = weights.get((outputs, inputs), "weight")?.t()?.contiguous()?;
        Ok(Self { weight, bias: weights.get(outputs, "bias")? })
    }

    /// Queries, keys and values beside each other, the queries scaled already.
    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    fn of_attention(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let width = config.hidden_size;
        let scale = ((width / config.num_attention_heads) as f64).sqrt().recip();
        let part = |name: &str| Self::load(width, width, &weights.pp(name));
        let (queries, keys, values) = (part("query")?, part("key")?, part("value")?);
        let queries = Self { weight: (queries.weight * scale)?, bias: (queries.bias * scale)? };
        let all = [queries, keys, values];
        let weight = Tensor::cat(&all.each_ref().map(|part| &part.weight), 1)?.contiguous()?;
        let bias = Tensor::cat(&all.each_ref().map(|part| &part.bias), 0)?;
        Ok(Self { weight, bias })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Norm {
    fn load(config: &Config, weights: &VarBuilder<'_>) -> Result<Self> {
        let part = |name: &str| weights.pp("LayerNorm").get(config.hidden_size, name);
        Ok(Self { weight: part("weight")?, bias: part("bias")?, epsilon: config.layer_norm_eps })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm(x, &self.weight, &self.bias, self.epsilon)
    }
}

impl Activation {
    fn apply(self, x: Tensor) -> Result<Tensor> {
        match self {
            Self::Gelu => x.inplace_op1(&Gelu).map(|()| x),
            Self::GeluTanh => x.gelu(),
            Self::Relu => x.relu(),
        }
    }
}

/// x Φ(x). candle's own calls the C library's `erf` for each number, which takes
/// as long as a product with the weights.
struct Gelu;

impl InplaceOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let CpuStorage::F32(values) = storage else { bail!("gelu is for f32") };
        let place = layout.contiguous_offsets();
        match place.and_then(|(start, end)| values.get_mut(start..end)) {
            Some(values) => values.iter_mut().for_each(|x| *x = gelu(*x)),
            None => bail!("gelu is for contiguous tensors"),
        }
        Ok(())
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The rational approximation of Eigen and XLA, without a branch, so that the
/// compiler makes vector code of a loop over it; exact to 5e-7.
fn erf(x: f32) -> f32 {
    const P: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_5e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_4e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const Q: [f32; 5] =
        [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let polynomial = |terms: &[f32]| terms.iter().fold(0.0, |sum, term| sum * square + term);
    x * polynomial(&P) / polynomial(&Q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_activation_equals_candles() {
        let steps: Vec<f32> = (-8000..8000_i16).map(|step| f32::from(step) / 1000.0).collect();
        let x = Tensor::new(steps, &Device::Cpu).unwrap();
        let exact = x.gelu_erf().unwrap();
        let found = Activation::Gelu.apply(x.copy().unwrap()).unwrap();
        let error: f32 =
            (exact - found).unwrap().abs().unwrap().max(0).unwrap().to_scalar().unwrap();
        assert!(error < 2e-6, "{error}");
    }
}
