//! Captioner of photographs: a detector of everyday things, and a sentence from its boxes.
//!
//! NanoDet-g and a second detector, whose opinions are joined, in a directory as
//! `models/everyday-detector` has it, on one CPU thread.

mod boxes;
mod colour;
mod confidence;
mod convolution;
mod feature_map;
mod fusion;
mod names;
mod network;
#[cfg(test)]
mod parity;
mod second;
mod sentence;

#[cfg(feature = "scene-text")]
pub(super) use crate::model::detector::sentence::NOTHING;

use std::fmt;
use std::path::Path;

use image::RgbImage;
use serde::Deserialize;
use serde_json::Value;

use crate::base::caption::Caption;
use crate::base::detection::DetectedObject;
use crate::base::picture::ImageLimits;
use crate::model::detector::boxes::ScoredBox;
use crate::model::detector::confidence::DetectionConfidence;
use crate::model::detector::feature_map::FeatureMap;
use crate::model::detector::network::{Network, STRIDES};
use crate::model::detector::second::{SecondConfig, SecondDetector};
use crate::model::detector::sentence::Thing;
use crate::model::resize::{ResizeFilter, square};
use crate::model::weights::ModelDir;
use crate::model::{CaptionError, Captioner, ModelError, ModelIdentity, jpeg};

/// Of its `config.json`.
pub(super) const MODEL_TYPE: &str = "nanodet-g";

/// Largest input; beyond it a picture takes seconds and a gigabyte.
const SIDE_MAX: u32 = 1_280;

/// Score in one view from which a thing is compared with the other view.
const SEEN_FROM: f32 = 0.15;

/// Things that are kept of a picture: a crowd says no more.
const KEPT_MAX: usize = 64;

/// Loads the detector in `path`: `config.json` with model type "nanodet-g", `confidence.json`
/// and the weights of both networks.
pub fn load(path: &Path, limits: ImageLimits) -> Result<Box<dyn Captioner>, ModelError> {
    Ok(Box::new(DetectorCaptioner::load(path, limits)?))
}

struct DetectorCaptioner {
    identity: ModelIdentity,
    limits: ImageLimits,
    config: DetectorConfig,
    confidence: DetectionConfidence,
    network: Network,
    second: SecondDetector,
}

/// Of `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct DetectorConfig {
    /// Sides of the two views of a picture: the large one shows small things, in the small one
    /// a thing that fills the picture is of a size that the network knows.
    image_sizes: [u32; 2],
    /// Of blue, green and red, in levels of 0 to 255.
    image_mean_bgr: [f32; 3],
    image_std_bgr: [f32; 3],
    classes: Vec<String>,
    second: SecondConfig,
}

impl fmt::Debug for DetectorCaptioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, limits, config, confidence, network: _, second: _ } = self;
        f.debug_struct("DetectorCaptioner")
            .field("identity", identity)
            .field("limits", limits)
            .field("config", config)
            .field("confidence", confidence)
            .finish_non_exhaustive()
    }
}

impl Captioner for DetectorCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let picture = jpeg::decode(image, self.limits)
            .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
        let views =
            self.config.image_sizes.map(|side| square(&picture, side, ResizeFilter::Bilinear));
        let [large, small] = &views;
        let first = boxes::merge_views(&self.look(large)?, &self.look(small)?);
        let second = self.second.look(&picture).map_err(|it| CaptionError::Died(it.to_string()))?;
        let found = self.confidence.fusion.join(first, &second, |it| self.second.knows(it));
        Ok(self.caption_of(large, found))
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    fn restarts(&self) -> u64 {
        0
    }
}

impl DetectorCaptioner {
    fn load(path: &Path, limits: ImageLimits) -> Result<Self, ModelError> {
        let dir = ModelDir::open(path)?;
        let identity = dir.identity()?;
        let config = DetectorConfig::read(&dir)?;
        let confidence = DetectionConfidence::read(&dir)?;
        let weights = dir.tensors()?.into_builder();
        let unusable = |error| dir.unusable(&error);
        let network = Network::load(&weights, config.classes.len()).map_err(unusable)?;
        let second = config.second.clone();
        let second = SecondDetector::load(second, &config.classes, &weights.pp("second"));
        let second = second.map_err(unusable)?;
        Ok(Self { identity, limits, config, confidence, network, second })
    }

    /// All that may be in a view.
    fn look(&self, view: &RgbImage) -> Result<Vec<ScoredBox>, CaptionError> {
        let levels = self.network.forward(&self.config.pixels(view));
        let levels = levels.map_err(|error| CaptionError::Died(error.to_string()))?;
        Ok(boxes::boxes(&levels, SEEN_FROM))
    }

    fn caption_of(&self, image: &RgbImage, found: Vec<ScoredBox>) -> Caption {
        let is_blank = is_blank(image);
        let kept_from = if is_blank { f32::INFINITY } else { self.confidence.kept_from };
        let found = found.into_iter().filter(|it| it.score >= kept_from).take(KEPT_MAX);
        let found: Vec<ScoredBox> = found.collect();
        let name = |class: usize| self.config.classes.get(class).map_or("", String::as_str);
        let DetectionConfidence { named_from, counted_from, .. } = self.confidence;
        let named = boxes::one_name_a_thing(&found).filter(|it| it.score >= named_from);
        let named = boxes::count_things(named, counted_from);
        let things: Vec<Thing<'_>> =
            named.iter().map(|it| Thing::new(name(it.class), it.place, image)).collect();
        let confidence =
            if is_blank { 0.0 } else { self.confidence.of(&boxes::best_scores(&named)) };
        let detection = |it: ScoredBox| {
            let ScoredBox { class, score, place } = it;
            DetectedObject { name: name(class).to_owned(), score, place }
        };
        Caption {
            text: sentence::describe(&things),
            confidence: Some(confidence),
            detections: found.into_iter().map(detection).collect(),
        }
    }
}

impl DetectorConfig {
    fn read(dir: &ModelDir) -> Result<Self, ModelError> {
        let config = dir.config(MODEL_TYPE, &Value::Null)?;
        let unusable = |reason: String| dir.unusable(&format!("config.json: {reason}"));
        let config: Self =
            serde_json::from_value(config).map_err(|error| unusable(error.to_string()))?;
        let coarsest = STRIDES.into_iter().max().unwrap_or(1);
        let is_accepted =
            |side: u32| (1..=SIDE_MAX).contains(&side) && (side as usize).is_multiple_of(coarsest);
        if let Some(side) = config.image_sizes.into_iter().find(|side| !is_accepted(*side)) {
            let accepted = format!("accepted are multiples of {coarsest} up to {SIDE_MAX}");
            return Err(unusable(format!("image_sizes: {side}, {accepted}")));
        }
        if config.image_std_bgr.iter().any(|deviation| *deviation <= 0.0) {
            let found = config.image_std_bgr;
            return Err(unusable(format!("image_std_bgr {found:?} must be above 0")));
        }
        if config.classes.iter().any(|name| name.trim().is_empty()) {
            return Err(unusable("classes: a name is empty".to_owned()));
        }
        let SecondConfig { image_size, image_mean: _, image_std, names } = &config.second;
        if !(1..=SIDE_MAX).contains(image_size) {
            let accepted = format!("accepted are 1 to {SIDE_MAX}");
            return Err(unusable(format!("second.image_size: {image_size}, {accepted}")));
        }
        if *image_std <= 0.0 {
            return Err(unusable(format!("second.image_std {image_std} must be above 0")));
        }
        let mut named = names.iter().flatten();
        if let Some(name) = named.find(|name| !config.classes.contains(name)) {
            return Err(unusable(format!("second.names: {name:?} is none of the classes")));
        }
        Ok(config)
    }

    /// The network's input: channels of a pixel side by side, blue first.
    fn pixels(&self, square: &RgbImage) -> FeatureMap {
        let mut values = Vec::with_capacity(square.as_raw().len());
        for pixel in square.pixels() {
            let scales = self.image_mean_bgr.iter().zip(&self.image_std_bgr);
            let levels = pixel.0.iter().rev().map(|level| f32::from(*level));
            values.extend(levels.zip(scales).map(|(level, (mean, std))| (level - mean) / std));
        }
        FeatureMap { side: square.width() as usize, channels: 3, values }
    }
}

/// Mean difference between neighbours, in levels, below which a picture is of nothing: the lens
/// is covered, it is dark, or the camera sends one colour.
const BLANK_BELOW: f32 = 1.0;

/// Whether nothing can be seen at all.
fn is_blank(square: &RgbImage) -> bool {
    let (columns, rows) = square.dimensions();
    let grey = |x, y| {
        let level = |rgb: &image::Rgb<u8>| rgb.0.iter().map(|it| f32::from(*it)).sum::<f32>() / 3.0;
        square.get_pixel_checked(x, y).map_or(0.0, level)
    };
    // A step of eight pixels: noise of the sensor is no structure.
    let places = (8..rows).step_by(8).flat_map(|y| (8..columns).step_by(8).map(move |x| (x, y)));
    let differences: Vec<f32> = places.map(|(x, y)| (grey(x, y) - grey(x - 8, y)).abs()).collect();
    differences.iter().sum::<f32>() / (differences.len().max(1) as f32) < BLANK_BELOW
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use image::Rgb;

    #[test]
    fn one_colour_is_blank_and_a_pattern_is_not() {
        assert!(is_blank(&RgbImage::from_pixel(416, 416, Rgb([0, 0, 0]))));
        assert!(is_blank(&RgbImage::from_pixel(416, 416, Rgb([90, 200, 30]))));
        let bars = RgbImage::from_fn(416, 416, |x, _| Rgb([if x % 60 < 30 { 40 } else { 90 }; 3]));
        assert!(!is_blank(&bars));
    }

    #[test]
    fn settings_that_cannot_be_are_refused_by_name() {
        let check = |settings: &str, word: &str| {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("config.json"), settings).unwrap();
            fs::write(dir.path().join("model.safetensors"), "").unwrap();
            let error = DetectorConfig::read(&ModelDir::open(dir.path()).unwrap()).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        };
        let whole = |size: &str, std: &str, name: &str, second: &str| {
            format!(
                r#"{{"model_type": "nanodet-g", "image_sizes": [416, {size}], "classes": ["{name}"],
                "image_mean_bgr": [0, 0, 0], "image_std_bgr": [1, {std}, 1],
                "second": {{"image_mean": 0, {second}}}}}"#
            )
        };
        let second = r#""image_size": 300, "image_std": 1, "names": []"#;
        let config = |size: &str, std: &str, name: &str| whole(size, std, name, second);
        check(&config("400", "1", "cup"), "multiples of 32 up to 1280");
        check(&config("99999", "1", "cup"), "image_sizes: 99999");
        check(&config("416", "0", "cup"), "image_std_bgr");
        check(&config("416", "1", " "), "classes");
        let of_second = |second: &str| whole("416", "1", "cup", second);
        check(&of_second(&second.replace("300", "0")), "second.image_size: 0");
        check(&of_second(&second.replace("1,", "0,")), "second.image_std");
        check(
            &of_second(&second.replace("[]", "[null, \"mug\"]")),
            "\"mug\" is none of the classes",
        );
        check(r#"{"model_type": "nanodet-g"}"#, "image_sizes");
        check(r#"{"model_type": "blip"}"#, "accepted is \"nanodet-g\"");
    }
}
