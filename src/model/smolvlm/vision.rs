//! The vision network, that of `SigLIP`, then a row of what the text network reads for each square
//! of patches. Knows nothing of words.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::layers::{Linear, Norm, Product};
use crate::model::smolvlm::config::{SmolVlmConfig, VisionConfig};
use crate::model::vision_transformer::{Patches, VisionLayer};

pub(super) struct Vision {
    patches: Patches,
    positions: Tensor,
    layers: Vec<VisionLayer>,
    norm: Norm,
    connector: Connector,
}

impl Vision {
    /// `weights` are those of the whole model.
    pub(super) fn load(config: &SmolVlmConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let SmolVlmConfig { vision, text, scale, .. } = config;
        let VisionConfig { side, patch_size, shape, layers } = vision;
        let (width, side) = (shape.width, side / patch_size);
        let connector = Connector {
            scale: *scale,
            side,
            projection: Product::load(
                width * scale * scale,
                text.width,
                &weights.pp("connector.modality_projection.proj"),
            )?,
        };
        let weights = weights.pp("vision_model");
        let embeddings = weights.pp("embeddings");
        let encoder = weights.pp("encoder.layers");
        let layer = |at: usize| {
            let layer = encoder.pp(at);
            let attention = layer.pp("self_attn");
            let linear = |name: &str| Linear::load(width, width, &attention.pp(name));
            let all = [linear("q_proj")?, linear("k_proj")?, linear("v_proj")?];
            let all = Linear::side_by_side(&all)?;
            VisionLayer::load(shape, all, linear("out_proj")?, &layer)
        };
        Ok(Self {
            patches: Patches::load(width, *patch_size, side, &embeddings.pp("patch_embedding"))?,
            positions: embeddings.pp("position_embedding").get((side * side, width), "weight")?,
            layers: (0..*layers).map(layer).collect::<Result<_>>()?,
            norm: Norm::load(width, shape.epsilon, &weights.pp("post_layernorm"))?,
            connector,
        })
    }

    /// A row each for the squares of patches, from pixels of shape 1 × 3 × side × side.
    pub(super) fn forward(&self, pixels: &Tensor) -> Result<Tensor> {
        let mut x = (self.patches.forward(pixels)? + &self.positions)?;
        for layer in &self.layers {
            x = layer.forward(&x)?;
        }
        self.connector.forward(&self.norm.apply(x)?)
    }
}

/// Pixel shuffle: the vectors of a square of patches one after the other, and a projection.
struct Connector {
    /// Patches along a square's side.
    scale: usize,
    /// Patches along the picture's.
    side: usize,
    projection: Product,
}

impl Connector {
    fn forward(&self, patches: &Tensor) -> Result<Tensor> {
        let (scale, squares, width) = (self.scale, self.side / self.scale, patches.dim(1)?);
        let squares = patches
            .reshape((squares, scale, squares, scale * width))?
            .transpose(1, 2)?
            .reshape((squares * squares, scale * scale * width))?;
        self.projection.forward(&squares)
    }
}
