//! Second opinion: a detector of 23 kinds of things from Open Images, by other pictures and
//! another network. Fifteen of them are fourteen of the first one's.

mod boxes;
mod depthwise;
mod network;
#[cfg(test)]
mod parity;

use candle_core::{DType, Result};
use candle_nn::VarBuilder;
use image::RgbImage;
use serde::Deserialize;

use crate::model::detector::boxes::ScoredBox;
use crate::model::detector::feature_map::FeatureMap;
use crate::model::detector::second::network::Network;
use crate::model::resize::{ResizeFilter, square};

/// Score from which a thing is compared with what the first detector found.
const SEEN_FROM: f32 = 0.05;

/// `second` in `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecondConfig {
    pub(super) image_size: u32,
    /// Of each colour, in levels of 0 to 255.
    pub(super) image_mean: f32,
    pub(super) image_std: f32,
    /// What each of its classes is called in `classes`, where that has such a thing.
    pub(super) names: Vec<Option<String>>,
}

pub(super) struct SecondDetector {
    config: SecondConfig,
    /// Numbers of the first detector's classes.
    names: Vec<Option<usize>>,
    network: Network,
}

impl SecondDetector {
    pub(super) fn load(
        config: SecondConfig,
        classes: &[String],
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        let number = |name: &Option<String>| {
            classes.iter().position(|it| name.as_ref().is_some_and(|name| name == it))
        };
        let names: Vec<Option<usize>> = config.names.iter().map(number).collect();
        // Widened frame by frame: 10 MB less for some milliseconds.
        let network = Network::load(&weights.to_dtype(DType::F16), names.len() + 1)?;
        Ok(Self { config, names, network })
    }

    /// All that may be in a picture, by the first detector's classes.
    pub(super) fn look(&self, picture: &RgbImage) -> Result<Vec<ScoredBox>> {
        let view = square(picture, self.config.image_size, ResizeFilter::Bilinear);
        let levels = self.network.forward(&self.config.pixels(&view))?;
        Ok(boxes::boxes(&levels, &self.names, SEEN_FROM))
    }

    /// Whether it would know a thing of this class.
    pub(super) fn knows(&self, class: usize) -> bool {
        self.names.contains(&Some(class))
    }
}

impl SecondConfig {
    /// The network's input: channels of a pixel side by side.
    fn pixels(&self, square: &RgbImage) -> FeatureMap {
        let scaled = |level: &u8| (f32::from(*level) - self.image_mean) / self.image_std;
        let values = square.as_raw().iter().map(scaled).collect();
        FeatureMap { side: square.width() as usize, channels: 3, values }
    }
}
