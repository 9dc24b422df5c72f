//! NanoDet-g: from pixels to a map of scores and box sides for each of three strides.
//!
//! Knows tensors and nothing of classes or images. A backbone of cross-stage partial blocks, a
//! path aggregation neck, and a head of two convolutions a stride; the layout is the one of
//! the tfjs graph that `models/everyday-detector/convert` reads.

use candle_core::Result;
use candle_nn::VarBuilder;

use crate::model::detector::convolution::{Convolution, Kernel, Rectifier};
use crate::model::detector::feature_map::FeatureMap;

/// Bins of a box side's distribution.
pub(super) const BINS: usize = 11;

/// Numbers of a cell beside its scores: the distributions of four sides.
pub(super) const SIDES: usize = 4 * BINS;

/// Input pixels between the cells of each level.
pub(super) const STRIDES: [usize; 3] = [8, 16, 32];

const STEM_CHANNELS: usize = 32;
const NECK_CHANNELS: usize = 128;
/// Blocks of each stage. Every stage doubles its channels, all but the first halve the side.
const STAGE_BLOCKS: [usize; 4] = [1, 2, 2, 3];

pub(super) struct Network {
    stem: Convolution,
    stages: Vec<Stage>,
    laterals: Vec<Convolution>,
    heads: Vec<Head>,
}

impl Network {
    pub(super) fn load(weights: &VarBuilder<'_>, classes: usize) -> Result<Self> {
        let (three, leaky) = (Kernel::ThreeBySecond, Rectifier::LeakyRelu);
        let stem = Convolution::load(&weights.pp("stem"), (3, STEM_CHANNELS), three, leaky)?;
        let stage = |at: usize| Stage::load(&weights.pp(format!("stages.{at}")), at);
        let lateral = |at: usize| {
            let channels = (STEM_CHANNELS << (at + 2), NECK_CHANNELS);
            let weights = weights.pp(format!("laterals.{at}"));
            Convolution::load(&weights, channels, Kernel::Pixel, Rectifier::None)
        };
        let head = |at: usize| Head::load(&weights.pp(format!("heads.{at}")), classes);
        Ok(Self {
            stem,
            stages: (0..STAGE_BLOCKS.len()).map(stage).collect::<Result<_>>()?,
            laterals: (0..STRIDES.len()).map(lateral).collect::<Result<_>>()?,
            heads: (0..STRIDES.len()).map(head).collect::<Result<_>>()?,
        })
    }

    /// A map for each stride: the logits of the classes, then the sides' bins.
    pub(super) fn forward(&self, pixels: &FeatureMap) -> Result<Vec<FeatureMap>> {
        let mut map = self.stem.forward(pixels)?.max_pooled();
        let mut levels = Vec::with_capacity(STRIDES.len());
        for (at, stage) in self.stages.iter().enumerate() {
            map = stage.forward(&map)?;
            // The first stage is finer than any stride.
            if let Some(lateral) = at.checked_sub(1).and_then(|level| self.laterals.get(level)) {
                levels.push(lateral.forward(&map)?);
            }
        }
        let levels = aggregate(levels);
        self.heads.iter().zip(&levels).map(|(head, level)| head.forward(level)).collect()
    }
}

/// Adds what the coarse levels know to the finer ones, then back.
fn aggregate(mut levels: Vec<FeatureMap>) -> Vec<FeatureMap> {
    for finer in (1..levels.len()).rev() {
        let (fine, coarse) = levels.split_at_mut(finer);
        add_resized(fine.last_mut(), coarse.first());
    }
    for coarser in 1..levels.len() {
        let (fine, coarse) = levels.split_at_mut(coarser);
        add_resized(coarse.first_mut(), fine.last());
    }
    levels
}

fn add_resized(to: Option<&mut FeatureMap>, from: Option<&FeatureMap>) {
    if let (Some(to), Some(from)) = (to, from) {
        *to = from.resize(to.side).plus(to);
    }
}

/// Cross-stage partial stage: half of its result is its entry, unchanged.
struct Stage {
    entry: Convolution,
    blocks: Vec<[Convolution; 2]>,
    exit: Convolution,
}

impl Stage {
    fn load(weights: &VarBuilder<'_>, at: usize) -> Result<Self> {
        let width = STEM_CHANNELS << at;
        let load = |name: &str, channels, window| {
            Convolution::load(&weights.pp(name), channels, window, Rectifier::LeakyRelu)
        };
        let entry = if at == 0 { Kernel::Three } else { Kernel::ThreeBySecond };
        let block = |block: usize| {
            let half = width / 2;
            Ok([
                load(&format!("blocks.{block}.first"), (width, half), Kernel::Three)?,
                load(&format!("blocks.{block}.second"), (half, half), Kernel::Three)?,
            ])
        };
        let blocks = STAGE_BLOCKS.get(at).copied().unwrap_or(0);
        Ok(Self {
            entry: load("entry", (width, width), entry)?,
            blocks: (0..blocks).map(block).collect::<Result<_>>()?,
            exit: load("exit", (width, width), Kernel::Three)?,
        })
    }

    fn forward(&self, map: &FeatureMap) -> Result<FeatureMap> {
        let entry = self.entry.forward(map)?;
        let mut map = entry.clone();
        for [first, second] in &self.blocks {
            let first = first.forward(&map)?;
            map = second.forward(&first)?.concat(&first);
        }
        Ok(self.exit.forward(&map)?.concat(&entry))
    }
}

struct Head {
    shared: Convolution,
    output: Convolution,
}

impl Head {
    fn load(weights: &VarBuilder<'_>, classes: usize) -> Result<Self> {
        let (shared, output) = (weights.pp("shared"), weights.pp("output"));
        let (wide, narrow) = ((NECK_CHANNELS, NECK_CHANNELS), (NECK_CHANNELS, classes + SIDES));
        Ok(Self {
            shared: Convolution::load(&shared, wide, Kernel::Three, Rectifier::LeakyRelu)?,
            output: Convolution::load(&output, narrow, Kernel::Pixel, Rectifier::None)?,
        })
    }

    fn forward(&self, map: &FeatureMap) -> Result<FeatureMap> {
        self.output.forward(&self.shared.forward(map)?)
    }
}
