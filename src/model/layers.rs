//! Layers of transformers, laid out for one thread. Knows no model.

use candle_core::{Error, Result, Tensor, bail};
use candle_nn::VarBuilder;
use serde::Deserialize;

use crate::model::quantized_linear::QuantizedLinear;
use crate::model::row_wise::{add_row, for_product, gelu, gelu_tanh, norm, rms_norm, softmax};

/// Linear layer.
pub(super) struct Linear {
    /// Inputs × outputs, in whichever order they lie in memory.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// `weight` is of shape inputs × outputs.
    pub(super) fn new(weight: Tensor, bias: Tensor) -> Self {
        Self { weight, bias }
    }

    /// Transposed in memory, so that a product with a few rows reads the weights in order
    /// instead of repacking them at every call.
    pub(super) fn load_transposed(
        inputs: usize,
        outputs: usize,
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        Self::load(inputs, outputs, weights)?.transposed()
    }

    /// As the weights lie in their file, without a copy of them: as fast for one
    /// row, and for so many rows that packing does not show.
    pub(super) fn load(inputs: usize, outputs: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let weight = weights.get((outputs, inputs), "weight")?.t()?;
        Ok(Self { weight, bias: weights.get(outputs, "bias")? })
    }

    /// As [`Self::load_transposed`] has them.
    pub(super) fn transposed(&self) -> Result<Self> {
        Ok(Self { weight: self.weight.contiguous()?, bias: self.bias.clone() })
    }

    pub(super) fn quantized(&self) -> Result<QuantizedLinear> {
        QuantizedLinear::new(&self.weight, &self.bias)
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        add_row(x.matmul(&self.weight)?, &self.bias)
    }

    /// `count` of the outputs, from `first` on.
    pub(super) fn outputs(&self, first: usize, count: usize) -> Result<Self> {
        let (weight, bias) = (self.weight.narrow(1, first, count)?, &self.bias);
        Ok(Self { weight, bias: bias.narrow(0, first, count)? })
    }

    pub(super) fn scale_by(self, factor: f64) -> Result<Self> {
        Ok(Self { weight: (self.weight * factor)?, bias: (self.bias * factor)? })
    }

    /// Several layers of the same input as one product; results lie side by side.
    pub(super) fn side_by_side(parts: &[Self]) -> Result<Self> {
        let weights: Vec<&Tensor> = parts.iter().map(|part| &part.weight).collect();
        let biases: Vec<&Tensor> = parts.iter().map(|part| &part.bias).collect();
        let weight = Tensor::cat(&weights, 1)?.contiguous()?;
        Ok(Self { weight, bias: Tensor::cat(&biases, 0)? })
    }
}

/// Linear layer without a bias, as the weights lie in their file.
pub(super) struct Product {
    weight: Tensor,
}

impl Product {
    /// `weight` is of shape outputs × inputs.
    pub(super) fn new(weight: &Tensor) -> Result<Self> {
        Ok(Self { weight: weight.t()? })
    }

    pub(super) fn load(inputs: usize, outputs: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        Self::new(&weights.get((outputs, inputs), "weight")?)
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight)
    }
}

/// Layer normalisation.
pub(super) struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Norm {
    #[expect(clippy::cast_possible_truncation, reason = "added to numbers of the same kind")]
    pub(super) fn load(width: usize, epsilon: f64, weights: &VarBuilder<'_>) -> Result<Self> {
        let epsilon = epsilon as f32;
        let (weight, bias) = (weights.get(width, "weight")?, weights.get(width, "bias")?);
        Ok(Self { weight, bias, epsilon })
    }

    pub(super) fn apply(&self, x: Tensor) -> Result<Tensor> {
        norm(x, &self.weight, &self.bias, self.epsilon)
    }
}

/// Root-mean-square normalisation.
pub(super) struct RmsNorm {
    weight: Tensor,
    epsilon: f32,
}

impl RmsNorm {
    #[expect(clippy::cast_possible_truncation, reason = "added to numbers of the same kind")]
    pub(super) fn load(width: usize, epsilon: f64, weights: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self { weight: weights.get(width, "weight")?, epsilon: epsilon as f32 })
    }

    pub(super) fn apply(&self, x: Tensor) -> Result<Tensor> {
        rms_norm(x, &self.weight, self.epsilon)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Activation {
    #[serde(rename = "gelu")]
    Gelu,
    #[serde(rename = "gelu_new", alias = "gelu_pytorch_tanh")]
    GeluTanh,
    #[serde(rename = "relu")]
    Relu,
}

impl TryFrom<candle_nn::Activation> for Activation {
    type Error = Error;

    #[expect(clippy::wildcard_enum_match_arm, reason = "candle has many, these are three")]
    fn try_from(activation: candle_nn::Activation) -> Result<Self> {
        match activation {
            candle_nn::Activation::Gelu => Ok(Self::Gelu),
            candle_nn::Activation::NewGelu | candle_nn::Activation::GeluPytorchTanh => {
                Ok(Self::GeluTanh)
            }
            candle_nn::Activation::Relu => Ok(Self::Relu),
            other => bail!("hidden_act {other:?}, accepted are gelu, gelu_new and relu"),
        }
    }
}

impl Activation {
    pub(super) fn apply(self, x: Tensor) -> Result<Tensor> {
        match self {
            Self::Gelu => gelu(x),
            Self::GeluTanh => gelu_tanh(x),
            Self::Relu => x.relu(),
        }
    }
}

/// Multi-head attention within one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    count: usize,
    width: usize,
}

impl Heads {
    pub(super) fn of(width: usize, count: usize) -> Self {
        Self { count, width: width / count }
    }

    /// Scale of the queries.
    #[expect(clippy::cast_precision_loss, reason = "widths are small")]
    pub(super) fn scale(self) -> f64 {
        (self.width as f64).sqrt().recip()
    }

    /// Rows × width as heads × rows × width of a head, without a copy.
    pub(super) fn split(self, rows: &Tensor) -> Result<Tensor> {
        rows.reshape((rows.dim(0)?, self.count, self.width))?.transpose(0, 1)
    }

    /// Attention output, as rows × width; all three are split already.
    pub(super) fn attend(self, queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
        let queries = for_product((queries * self.scale())?)?;
        let (keys, values) = (for_product(keys.clone())?, for_product(values.clone())?);
        let found = softmax(queries.matmul(&keys.t()?)?)?.matmul(&values)?;
        found.transpose(0, 1)?.reshape((found.dim(1)?, self.count * self.width))
    }
}
