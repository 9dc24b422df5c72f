//! Vision transformers: a picture as rows of patches, and layers that norm before they attend.
//! Knows no model.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::layers::{Activation, Heads, Linear, Norm};
use crate::model::threads::step_aside;

/// Vectors of the patches of a picture.
pub(super) struct Patches {
    /// Along one side.
    count: usize,
    size: usize,
    projection: Linear,
}

impl Patches {
    /// `side` is the picture's, in patches.
    pub(super) fn load(
        width: usize,
        size: usize,
        side: usize,
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        let kernel = weights.get((width, 3, size, size), "weight")?.flatten_from(1)?;
        let projection = Linear::new(kernel.t()?, weights.get(width, "bias")?);
        Ok(Self { count: side, size, projection })
    }

    /// A row each, from pixels of shape 1 × 3 × side × side: a convolution with a stride of its
    /// own size is a product with the patches as rows.
    pub(super) fn forward(&self, pixels: &Tensor) -> Result<Tensor> {
        let &Self { count, size, .. } = self;
        let rows = pixels
            .reshape((3, count, size, count, size))?
            .permute((1, 3, 0, 2, 4))?
            .reshape((count * count, 3 * size * size))?;
        self.projection.forward(&rows)
    }
}

/// What is common to the layers of a network.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerShape {
    pub(super) width: usize,
    pub(super) inner_width: usize,
    pub(super) heads: usize,
    pub(super) epsilon: f64,
    pub(super) activation: Activation,
}

pub(super) struct VisionLayer {
    heads: Heads,
    attention_norm: Norm,
    queries_keys_values: Linear,
    attended: Linear,
    norm: Norm,
    widened: Linear,
    activation: Activation,
    narrowed: Linear,
}

impl VisionLayer {
    /// With the attention's layers, which have their names in each model.
    pub(super) fn load(
        shape: &LayerShape,
        queries_keys_values: Linear,
        attended: Linear,
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        let &LayerShape { width, inner_width, heads, epsilon, activation } = shape;
        let norm = |name: &str| Norm::load(width, epsilon, &weights.pp(name));
        Ok(Self {
            heads: Heads::of(width, heads),
            attention_norm: norm("layer_norm1")?,
            queries_keys_values,
            attended,
            norm: norm("layer_norm2")?,
            widened: Linear::load(width, inner_width, &weights.pp("mlp.fc1"))?,
            activation,
            narrowed: Linear::load(inner_width, width, &weights.pp("mlp.fc2"))?,
        })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let width = x.dim(1)?;
        let all = self.queries_keys_values.forward(&self.attention_norm.apply(x.copy()?)?)?;
        let part = |at: usize| self.heads.split(&all.narrow(1, at * width, width)?);
        step_aside();
        let seen = self.heads.attend(&part(0)?, &part(1)?, &part(2)?)?;
        let x = (self.attended.forward(&seen)? + x)?;
        step_aside();
        let widened = self.widened.forward(&self.norm.apply(x.copy()?)?)?;
        step_aside();
        self.narrowed.forward(&self.activation.apply(widened)?)? + x
    }
}
