//! `MobileNetV2` with a single-shot detector's heads: from pixels to the boxes and scores of
//! each anchor.
//!
//! Knows tensors and nothing of classes or images. Blocks that widen a map, convolve each
//! channel by itself and narrow it again, four coarser maps, and two convolutions for each of
//! six levels; the layout is the one of the graph that `convert/convert_second.py` reads.

use candle_core::Result;
use candle_nn::VarBuilder;

use crate::model::detector::convolution::{Convolution, Kernel, Rectifier};
use crate::model::detector::feature_map::FeatureMap;
use crate::model::detector::second::depthwise::Depthwise;

/// Numbers of a box: how far its middle lies from its anchor's, and its size, y first.
pub(super) const BOX: usize = 4;

/// Boxes of a cell on each level.
pub(super) const ANCHORS: [usize; 6] = [3, 6, 6, 6, 6, 6];

const STEM_CHANNELS: usize = 32;
const LAST_CHANNELS: usize = 1_280;
/// Times by which a block widens its map, but the first.
const WIDENED: usize = 6;
/// Channels of a group of blocks, how many there are, and the step of the first.
const GROUPS: [(usize, usize, usize); 7] =
    [(16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)];
/// The block of which the widened map is the finest level.
const FINEST_BLOCK: usize = 13;
const FINEST_CHANNELS: usize = 576;
/// Channels of the coarser maps: where they are narrow, and where they leave.
const COARSER: [(usize, usize); 4] = [(256, 512), (128, 256), (128, 256), (64, 128)];

pub(super) struct Network {
    stem: Convolution,
    blocks: Vec<Block>,
    last: Convolution,
    coarser: Vec<[Convolution; 2]>,
    heads: Vec<Head>,
}

/// What a level says of its anchors, cell by cell.
pub(super) struct Level {
    pub(super) side: usize,
    /// Four numbers for each anchor.
    pub(super) boxes: Vec<f32>,
    /// A logit for each anchor and class, that of "nothing" first.
    pub(super) scores: Vec<f32>,
}

impl Network {
    /// `classes` with that of "nothing".
    pub(super) fn load(weights: &VarBuilder<'_>, classes: usize) -> Result<Self> {
        let (halve, relu) = (Kernel::ThreeBySecondFromCorner, Rectifier::Relu6);
        let stem = Convolution::load(&weights.pp("stem"), (3, STEM_CHANNELS), halve, relu)?;
        let mut blocks = Vec::new();
        let mut inputs = STEM_CHANNELS;
        for (channels, count, step) in GROUPS {
            for at in 0..count {
                let step = if at == 0 { step } else { 1 };
                let weights = weights.pp(format!("blocks.{}", blocks.len()));
                blocks.push(Block::load(&weights, (inputs, channels), step, blocks.is_empty())?);
                inputs = channels;
            }
        }
        let channels = (inputs, LAST_CHANNELS);
        let last = Convolution::load(&weights.pp("last"), channels, Kernel::Pixel, relu)?;
        let mut levels = vec![FINEST_CHANNELS, LAST_CHANNELS];
        let mut coarser = Vec::new();
        for (at, (narrow, wide)) in COARSER.into_iter().enumerate() {
            let weights = weights.pp(format!("coarser.{at}"));
            let inputs = levels.last().copied().unwrap_or(LAST_CHANNELS);
            let load = |name: &str, channels, window| {
                Convolution::load(&weights.pp(name), channels, window, relu)
            };
            coarser.push([
                load("narrow", (inputs, narrow), Kernel::Pixel)?,
                load("halve", (narrow, wide), halve)?,
            ]);
            levels.push(wide);
        }
        let heads = levels.into_iter().zip(ANCHORS).enumerate().map(|(at, (channels, anchors))| {
            Head::load(&weights.pp(format!("levels.{at}")), channels, anchors, classes)
        });
        let heads = heads.collect::<Result<_>>()?;
        Ok(Self { stem, blocks, last, coarser, heads })
    }

    /// The levels, the finest first.
    pub(super) fn forward(&self, pixels: &FeatureMap) -> Result<Vec<Level>> {
        let mut map = self.stem.forward(pixels)?;
        let mut levels = Vec::with_capacity(ANCHORS.len());
        for (at, block) in self.blocks.iter().enumerate() {
            let wide = block.widen(&map)?;
            if at == FINEST_BLOCK {
                levels.extend(self.level(0, wide.as_ref().unwrap_or(&map)).transpose()?);
            }
            map = block.narrow(wide, &map)?;
        }
        map = self.last.forward(&map)?;
        levels.extend(self.level(1, &map).transpose()?);
        for (at, [narrow, halve]) in self.coarser.iter().enumerate() {
            map = halve.forward(&narrow.forward(&map)?)?;
            levels.extend(self.level(at + 2, &map).transpose()?);
        }
        Ok(levels)
    }

    fn level(&self, at: usize, map: &FeatureMap) -> Option<Result<Level>> {
        self.heads.get(at).map(|head| head.forward(map))
    }
}

/// Inverted residual: wide inside, narrow at both ends.
struct Block {
    expand: Option<Convolution>,
    depthwise: Depthwise,
    project: Convolution,
    /// Whether what comes in is added to what goes out.
    is_residual: bool,
}

impl Block {
    fn load(
        weights: &VarBuilder<'_>,
        (inputs, outputs): (usize, usize),
        step: usize,
        is_first: bool,
    ) -> Result<Self> {
        let wide = if is_first { inputs } else { WIDENED * inputs };
        let load = |name: &str, channels, activation| {
            Convolution::load(&weights.pp(name), channels, Kernel::Pixel, activation)
        };
        let expand =
            (!is_first).then(|| load("expand", (inputs, wide), Rectifier::Relu6)).transpose()?;
        Ok(Self {
            expand,
            depthwise: Depthwise::load(&weights.pp("depthwise"), wide, step)?,
            project: load("project", (wide, outputs), Rectifier::None)?,
            is_residual: step == 1 && inputs == outputs,
        })
    }

    fn widen(&self, map: &FeatureMap) -> Result<Option<FeatureMap>> {
        self.expand.as_ref().map(|it| it.forward(map)).transpose()
    }

    fn narrow(&self, wide: Option<FeatureMap>, map: &FeatureMap) -> Result<FeatureMap> {
        let convolved = self.depthwise.forward(wide.as_ref().unwrap_or(map));
        drop(wide);
        let narrow = self.project.forward(&convolved)?;
        Ok(if self.is_residual { narrow.plus(map) } else { narrow })
    }
}

struct Head {
    boxes: Convolution,
    scores: Convolution,
}

impl Head {
    fn load(
        weights: &VarBuilder<'_>,
        channels: usize,
        anchors: usize,
        classes: usize,
    ) -> Result<Self> {
        let load = |name: &str, numbers: usize| {
            let channels = (channels, anchors * numbers);
            Convolution::load(&weights.pp(name), channels, Kernel::Pixel, Rectifier::None)
        };
        Ok(Self { boxes: load("boxes", BOX)?, scores: load("scores", classes)? })
    }

    fn forward(&self, map: &FeatureMap) -> Result<Level> {
        let (boxes, scores) = (self.boxes.forward(map)?, self.scores.forward(map)?);
        Ok(Level { side: map.side, boxes: boxes.values, scores: scores.values })
    }
}
