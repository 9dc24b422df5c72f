//! BLIP's vision transformer: from pixels to one vector a patch. Knows nothing of words.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::blip::VisionConfig;

use crate::model::layers::{Activation, Heads, Linear, Norm};
use crate::model::threads::step_aside;

pub(super) struct Vision {
    /// Patches along one side.
    patches: usize,
    patch_size: usize,
    patch: Linear,
    /// Class token, before the patches.
    class: Tensor,
    positions: Tensor,
    layers: Vec<VisionLayer>,
    norm: Norm,
}

impl Vision {
    pub(super) fn load(config: &VisionConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, patch_size) = (config.hidden_size, config.patch_size);
        let patches = config.image_size / patch_size;
        let embeddings = weights.pp("embeddings");
        let patch = embeddings.pp("patch_embedding");
        let kernel = patch.get((width, 3, patch_size, patch_size), "weight")?.flatten_from(1)?;
        let positions = patches * patches + 1;
        let positions = embeddings.get((1, positions, width), "position_embedding")?;
        let layers = weights.pp("encoder.layers");
        Ok(Self {
            patches,
            patch_size,
            patch: Linear::new(kernel.t()?, patch.get(width, "bias")?),
            class: embeddings.get((1, 1, width), "class_embedding")?.squeeze(0)?,
            positions: positions.squeeze(0)?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| VisionLayer::load(config, &layers.pp(layer)))
                .collect::<Result<_>>()?,
            norm: Norm::load(width, config.layer_norm_eps, &weights.pp("post_layernorm"))?,
        })
    }

    /// Class token and patch vectors, from pixels of shape 1 × 3 × side × side.
    pub(super) fn forward(&self, pixels: &Tensor) -> Result<Tensor> {
        let patches = self.patch.forward(&self.patches(pixels)?)?;
        let mut x = (Tensor::cat(&[&self.class, &patches], 0)? + &self.positions)?;
        for layer in &self.layers {
            x = layer.forward(&x)?;
        }
        self.norm.apply(x)
    }

    /// Patches as rows: a convolution with a stride of its own size is a product with these.
    fn patches(&self, pixels: &Tensor) -> Result<Tensor> {
        let (count, size) = (self.patches, self.patch_size);
        pixels
            .reshape((3, count, size, count, size))?
            .permute((1, 3, 0, 2, 4))?
            .reshape((count * count, 3 * size * size))
    }
}

struct VisionLayer {
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
    fn load(config: &VisionConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let norm = |name: &str| Norm::load(width, config.layer_norm_eps, &weights.pp(name));
        let linear = |name: &str, inputs, outputs| Linear::load(inputs, outputs, &weights.pp(name));
        Ok(Self {
            heads: Heads::of(width, config.num_attention_heads),
            attention_norm: norm("layer_norm1")?,
            queries_keys_values: linear("self_attn.qkv", width, 3 * width)?,
            attended: linear("self_attn.projection", width, width)?,
            norm: norm("layer_norm2")?,
            widened: linear("mlp.fc1", width, inner)?,
            activation: config.hidden_act.try_into()?,
            narrowed: linear("mlp.fc2", inner, width)?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
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
