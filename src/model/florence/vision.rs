//! `DaViT`, Florence-2's vision network: from pixels to a small map of features. Knows nothing of
//! words.
//!
//! Each stage makes a smaller and wider map of the one before. Its blocks attend twice: among
//! the pixels of a window, then among the channels of a group, over all pixels. Both go by
//! strips of rows, so that no temporary tensor is several times as large as the map.

use candle_core::{Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::florence::config::{StageConfig, VisionConfig};
use crate::model::florence::convolution::{Convolution, Depthwise};
use crate::model::in_place::SoftmaxRows;
use crate::model::layers::{Activation, Heads, Linear, Norm};
use crate::model::threads::step_aside;

/// Of every norm of this network.
const EPSILON: f64 = 1e-5;

/// Pixels of a map that a layer works on at once: their features fit a core's second cache.
const PIXELS_AT_ONCE: usize = 1_024;

pub(super) struct Vision {
    stages: Vec<Stage>,
}

impl Vision {
    pub(super) fn load(config: &VisionConfig, weights: &VarBuilder<'_>) -> Result<Self> {
        let (convolutions, blocks) = (weights.pp("convs"), weights.pp("blocks"));
        let mut inputs = 3;
        let mut stages = Vec::new();
        for (at, stage) in config.stages.iter().enumerate() {
            let (convolution, blocks) = (convolutions.pp(at), blocks.pp(at));
            let window = config.window_size;
            stages.push(Stage::load(inputs, stage, window, &convolution, &blocks)?);
            inputs = stage.width;
        }
        Ok(Self { stages })
    }

    /// A row for each pixel of the last map, from pixels of shape 1 × 3 × side × side.
    pub(super) fn forward(&self, pixels: &Tensor) -> Result<Tensor> {
        let mut side = pixels.dim(3)?;
        let mut map = pixels.squeeze(0)?.flatten_from(1)?.t()?.contiguous()?;
        for stage in &self.stages {
            (map, side) = stage.forward(&map, side)?;
        }
        Ok(map)
    }
}

struct Stage {
    /// Norm of the larger map, before the convolution.
    norm_before: Option<Norm>,
    convolution: Convolution,
    /// Norm of the smaller one.
    norm_after: Option<Norm>,
    blocks: Vec<Block>,
}

impl Stage {
    fn load(
        inputs: usize,
        config: &StageConfig,
        window: usize,
        convolution: &VarBuilder<'_>,
        blocks: &VarBuilder<'_>,
    ) -> Result<Self> {
        let &StageConfig { width, norm_first, windows, depth, .. } = config;
        let norm = |width| Norm::load(width, EPSILON, &convolution.pp("norm")).map(Some);
        Ok(Self {
            norm_before: if norm_first { norm(inputs)? } else { None },
            convolution: Convolution::load(&convolution.pp("conv"), (inputs, width), windows)?,
            norm_after: if norm_first { None } else { norm(width)? },
            blocks: (0..depth)
                .map(|at| Block::load(config, window, &blocks.pp(at)))
                .collect::<Result<_>>()?,
        })
    }

    fn forward(&self, map: &Tensor, side: usize) -> Result<(Tensor, usize)> {
        let (mut map, side) = match &self.norm_before {
            Some(norm) => self.convolution.forward(&norm.apply(map.copy()?)?, side)?,
            None => self.convolution.forward(map, side)?,
        };
        if let Some(norm) = &self.norm_after {
            map = norm.apply(map)?;
        }
        for block in &self.blocks {
            map = block.forward(map, side)?;
        }
        Ok((map, side))
    }
}

struct Block {
    spatial: HalfBlock<WindowAttention>,
    channel: HalfBlock<ChannelAttention>,
}

impl Block {
    fn load(config: &StageConfig, window: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let &StageConfig { width, heads, groups, .. } = config;
        let (spatial, channel) = (weights.pp("spatial_block"), weights.pp("channel_block"));
        let windows = WindowAttention::load(width, heads, window, &spatial.pp("window_attn"))?;
        let channels = ChannelAttention::load(width, groups, &channel.pp("channel_attn"))?;
        Ok(Self {
            spatial: HalfBlock::load(config, windows, &spatial)?,
            channel: HalfBlock::load(config, channels, &channel)?,
        })
    }

    fn forward(&self, map: Tensor, side: usize) -> Result<Tensor> {
        self.channel.forward(self.spatial.forward(map, side)?, side)
    }
}

/// Attention of pixels to pixels, or of channels to channels.
trait MapAttention {
    /// Of a map of `side` × `side` pixels, a row each.
    fn attend(&self, map: &Tensor, side: usize) -> Result<Tensor>;
}

/// Position by convolution, attention; position by convolution, two linear layers.
struct HalfBlock<A> {
    first_position: Depthwise,
    first_norm: Norm,
    attention: A,
    second_position: Depthwise,
    second_norm: Norm,
    widened: Linear,
    activation: Activation,
    narrowed: Linear,
}

impl<A: MapAttention> HalfBlock<A> {
    fn load(config: &StageConfig, attention: A, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (config.width, config.inner_width);
        let position = |name: &str| Depthwise::load(width, &weights.pp(name));
        let norm = |name: &str| Norm::load(width, EPSILON, &weights.pp(name));
        Ok(Self {
            first_position: position("conv1")?,
            first_norm: norm("norm1")?,
            attention,
            second_position: position("conv2")?,
            second_norm: norm("norm2")?,
            widened: Linear::load(width, inner, &weights.pp("ffn.fc1"))?,
            activation: config.activation,
            narrowed: Linear::load(inner, width, &weights.pp("ffn.fc2"))?,
        })
    }

    fn forward(&self, map: Tensor, side: usize) -> Result<Tensor> {
        self.first_position.add(&map, side)?;
        let attended = self.attention.attend(&self.first_norm.apply(map.copy()?)?, side)?;
        let map = (map + attended)?;
        self.second_position.add(&map, side)?;
        let parts = strips(map.dim(0)?, PIXELS_AT_ONCE).map(|(first, count)| {
            let part = map.narrow(0, first, count)?;
            let normed = self.second_norm.apply(part.force_contiguous()?)?;
            let widened = self.widened.forward(&normed)?;
            step_aside();
            self.narrowed.forward(&self.activation.apply(widened)?)? + part
        });
        Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 0)
    }
}

/// First row and count of strips of at most `at_once` rows.
fn strips(rows: usize, at_once: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).step_by(at_once.max(1)).map(move |first| (first, at_once.min(rows - first)))
}

/// Of the pixels of each window to each other.
struct WindowAttention {
    /// Pixels along a window's side.
    window: usize,
    heads: Heads,
    queries_keys_values: Linear,
    output: Linear,
}

impl WindowAttention {
    fn load(width: usize, heads: usize, window: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            window,
            heads: Heads::of(width, heads),
            queries_keys_values: Linear::load(width, 3 * width, &weights.pp("qkv"))?,
            output: Linear::load(width, width, &weights.pp("proj"))?,
        })
    }

    /// Some whole windows.
    fn attend_within(&self, rows: &Tensor) -> Result<Tensor> {
        let (count, width) = rows.dims2()?;
        let all = self.queries_keys_values.forward(rows)?;
        let pixels = self.window * self.window;
        let windows = strips(count, pixels).map(|(first, pixels)| {
            let window = all.narrow(0, first, pixels)?;
            let part = |at: usize| self.heads.split(&window.narrow(1, at * width, width)?);
            self.heads.attend(&part(0)?, &part(1)?, &part(2)?)
        });
        let attended = Tensor::cat(&windows.collect::<Result<Vec<_>>>()?, 0)?;
        step_aside();
        self.output.forward(&attended)
    }
}

impl MapAttention for WindowAttention {
    fn attend(&self, map: &Tensor, side: usize) -> Result<Tensor> {
        let (size, width) = (self.window, map.dim(1)?);
        let (count, pixels) = (side / size, size * size);
        // Rows of pixels to windows of pixels, and back.
        let turned = |map: &Tensor, shape: (usize, usize, usize, usize, usize)| {
            map.reshape(shape)?.transpose(1, 2)?.reshape((side * side, width))
        };
        let windows = turned(map, (count, size, count, size, width))?;
        let at_once = (PIXELS_AT_ONCE / pixels).max(1) * pixels;
        let parts = strips(side * side, at_once)
            .map(|(first, count)| self.attend_within(&windows.narrow(0, first, count)?));
        let attended = Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 0)?;
        turned(&attended, (count, count, size, size, width))
    }
}

/// Of the channels of each group to each other, over all pixels.
struct ChannelAttention {
    groups: Heads,
    queries_keys: Linear,
    values: Linear,
    output: Linear,
}

impl ChannelAttention {
    fn load(width: usize, groups: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let all = Linear::load(width, 3 * width, &weights.pp("qkv"))?;
        Ok(Self {
            groups: Heads::of(width, groups),
            queries_keys: all.outputs(0, 2 * width)?,
            values: all.outputs(2 * width, width)?,
            output: Linear::load(width, width, &weights.pp("proj"))?,
        })
    }

    /// How much each channel of a group takes of each: group × channel × channel.
    #[expect(clippy::cast_precision_loss, reason = "pixels of a map are thousands")]
    fn shares(&self, map: &Tensor) -> Result<Tensor> {
        let (pixels, width) = map.dims2()?;
        let mut sum: Option<Tensor> = None;
        for (first, count) in strips(pixels, PIXELS_AT_ONCE) {
            let both = self.queries_keys.forward(&map.narrow(0, first, count)?)?;
            let queries = self.groups.split(&both.narrow(1, 0, width)?)?;
            let keys = self.groups.split(&both.narrow(1, width, width)?)?;
            let product = queries.transpose(1, 2)?.matmul(&keys)?;
            sum = Some(match sum {
                Some(sum) => (sum + product)?,
                None => product,
            });
            step_aside();
        }
        let Some(sum) = sum else { candle_core::bail!("a map without pixels") };
        let shares = (sum * (pixels as f64).sqrt().recip())?;
        shares.inplace_op1(&SoftmaxRows)?;
        Ok(shares)
    }
}

impl MapAttention for ChannelAttention {
    fn attend(&self, map: &Tensor, _: usize) -> Result<Tensor> {
        let (pixels, width) = map.dims2()?;
        let shares = self.shares(map)?.transpose(1, 2)?;
        let parts = strips(pixels, PIXELS_AT_ONCE).map(|(first, count)| {
            let values = self.groups.split(&self.values.forward(&map.narrow(0, first, count)?)?)?;
            let attended = values.matmul(&shares)?.transpose(0, 1)?.reshape((count, width))?;
            step_aside();
            self.output.forward(&attended)
        });
        Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 0)
    }
}
