//! BLIP's vision transformer: from pixels to one vector a patch. Knows nothing of words.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::blip::VisionConfig;

use crate::model::layers::{Linear, Norm};
use crate::model::vision_transformer::{LayerShape, Patches, VisionLayer};

pub(super) struct Vision {
    patches: Patches,
    /// Class token, before the patches.
    class: Tensor,
    positions: Tensor,
    layers: Vec<VisionLayer>,
    norm: Norm,
}

impl Vision {
    pub(super) fn load(config: &VisionConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, patch_size) = (config.hidden_size, config.patch_size);
        let side = config.image_size / patch_size;
        let embeddings = weights.pp("embeddings");
        let positions = side * side + 1;
        let positions = embeddings.get((1, positions, width), "position_embedding")?;
        let shape = LayerShape {
            width,
            inner_width: config.intermediate_size,
            heads: config.num_attention_heads,
            epsilon: config.layer_norm_eps,
            activation: config.hidden_act.try_into()?,
        };
        let layers = weights.pp("encoder.layers");
        let layer = |at: usize| {
            let layer = layers.pp(at);
            let attention = layer.pp("self_attn");
            let all = Linear::load(width, 3 * width, &attention.pp("qkv"))?;
            let attended = Linear::load(width, width, &attention.pp("projection"))?;
            VisionLayer::load(&shape, all, attended, &layer)
        };
        Ok(Self {
            patches: Patches::load(width, patch_size, side, &embeddings.pp("patch_embedding"))?,
            class: embeddings.get((1, 1, width), "class_embedding")?.squeeze(0)?,
            positions: positions.squeeze(0)?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_>>()?,
            norm: Norm::load(width, config.layer_norm_eps, &weights.pp("post_layernorm"))?,
        })
    }

    /// Class token and patch vectors, from pixels of shape 1 × 3 × side × side.
    pub(super) fn forward(&self, pixels: &Tensor) -> Result<Tensor> {
        let patches = self.patches.forward(pixels)?;
        let mut x = (Tensor::cat(&[&self.class, &patches], 0)? + &self.positions)?;
        for layer in &self.layers {
            x = layer.forward(&x)?;
        }
        self.norm.apply(x)
    }
}
