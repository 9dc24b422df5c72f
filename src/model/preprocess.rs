//! Preprocessing of an image for a vision model, by its `preprocessor_config.json`.

use candle_core::{Device, Tensor};
use image::RgbImage;
use serde::Deserialize;
use serde_json::json;

use crate::model::ModelError;
use crate::model::resize::{ResizeFilter, square};
use crate::model::weights::ModelDir;

/// Pillow's number for bicubic.
const BICUBIC: u32 = 3;

/// Resize to an exact square, then levels to 0..1, then mean and deviation per channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Preprocessor {
    side: u32,
    rescale: f32,
    mean: [f32; 3],
    deviation: [f32; 3],
}

#[derive(Deserialize)]
struct File {
    do_resize: bool,
    do_rescale: bool,
    do_normalize: bool,
    size: SquareSize,
    resample: u32,
    rescale_factor: f32,
    image_mean: [f32; 3],
    image_std: [f32; 3],
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum SquareSize {
    Sides { height: u32, width: u32 },
    Side(u32),
}

impl Preprocessor {
    /// Reads `preprocessor_config.json`; what it leaves out is as CLIP and BLIP
    /// have it. `side` is the model's own, which the file must agree with.
    pub(crate) fn read(dir: &ModelDir, side: u32) -> Result<Self, ModelError> {
        const NAME: &str = "preprocessor_config.json";
        let defaults = json!({
            "do_resize": true, "do_rescale": true, "do_normalize": true,
            "size": side, "resample": BICUBIC, "rescale_factor": 1.0 / 255.0,
            "image_mean": [0.481_454_66, 0.457_827_5, 0.408_210_73],
            "image_std": [0.268_629_54, 0.261_302_58, 0.275_777_11],
        });
        let file: File = if dir.has(NAME) {
            dir.settings(NAME, &defaults)?
        } else {
            serde_json::from_value(defaults).map_err(|error| dir.unusable(&error))?
        };
        let refuse = |reason: String| Err(dir.unusable(&format!("{NAME}: {reason}")));
        let (height, width) = match file.size {
            SquareSize::Sides { height, width } => (height, width),
            SquareSize::Side(both) => (both, both),
        };
        if !file.do_resize || (height, width) != (side, side) {
            return refuse(format!("size {height}x{width}, the model takes {side}x{side}"));
        }
        if file.resample != BICUBIC {
            return refuse(format!("resample {}, accepted is 3 (bicubic)", file.resample));
        }
        if file.image_std.iter().any(|deviation| *deviation <= 0.0) {
            return refuse(format!("image_std {:?} must be above 0", file.image_std));
        }
        let rescale = if file.do_rescale { file.rescale_factor } else { 1.0 };
        let normal = |given, neutral| if file.do_normalize { given } else { [neutral; 3] };
        let (mean, deviation) = (normal(file.image_mean, 0.0), normal(file.image_std, 1.0));
        Ok(Self { side, rescale, mean, deviation })
    }

    /// Shape 1 × 3 × side × side.
    pub(crate) fn pixels(&self, image: &RgbImage) -> candle_core::Result<Tensor> {
        let resized = square(image, self.side, ResizeFilter::Bicubic);
        let side = self.side as usize;
        let mut planes = Vec::with_capacity(3 * side * side);
        for (channel, (mean, deviation)) in self.mean.iter().zip(&self.deviation).enumerate() {
            let levels = resized.as_raw().iter().skip(channel).step_by(3);
            planes
                .extend(levels.map(|level| (f32::from(*level) * self.rescale - mean) / deviation));
        }
        Tensor::from_vec(planes, (1, 3, side, side), &Device::Cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use crate::base::picture::ImageLimits;
    use crate::model::jpeg;

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip")
    }

    /// The levels that the model gets, as bytes again, plane by plane.
    fn levels(name: &str) -> Vec<u8> {
        let preprocessor = Preprocessor::read(&ModelDir::open(&fixture()).unwrap(), 32).unwrap();
        let encoded = fs::read(fixture().join(name)).unwrap();
        let image = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
        let pixels = preprocessor.pixels(&image).unwrap();
        assert_eq!(pixels.dims4().unwrap(), (1, 3, 32, 32));
        let planes: Vec<f32> = pixels.flatten_all().unwrap().to_vec1().unwrap();
        let Preprocessor { mean, deviation, .. } = preprocessor;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "levels are from 0 to 255"
        )]
        let level = |(at, x): (usize, &f32)| {
            let plane = at / (32 * 32);
            ((x * deviation[plane] + mean[plane]) * 255.0).round() as u8
        };
        planes.iter().enumerate().map(level).collect()
    }

    /// Largest difference from the reference processor's levels.
    fn difference(name: &str) -> u8 {
        let expected = fs::read(fixture().join(format!("{name}.levels"))).unwrap();
        let found = levels(name);
        assert_eq!(found.len(), expected.len());
        found.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
    }

    #[test]
    fn files_become_the_reference_processors_levels() {
        let mut files = 0;
        for entry in fs::read_dir(fixture()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if let Some(image) = name.strip_suffix(".levels") {
                assert_eq!(difference(image), 0, "{image}");
                files += 1;
            }
        }
        assert!(files >= 12, "{files}");
    }

    #[test]
    fn settings_that_would_give_other_pixels_are_refused() {
        let check = |settings: Value, word: &str| {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("config.json"), "{}").unwrap();
            fs::write(dir.path().join("model.safetensors"), "").unwrap();
            let file = dir.path().join("preprocessor_config.json");
            fs::write(file, settings.to_string()).unwrap();
            let error = Preprocessor::read(&ModelDir::open(dir.path()).unwrap(), 32).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        };
        check(json!({"size": {"height": 32, "width": 48}}), "32x48");
        check(json!({"do_resize": false}), "size");
        check(json!({"resample": 2}), "resample 2");
        check(json!({"image_std": [1.0, 0.0, 1.0]}), "image_std");
        check(json!({"size": {"shortest_edge": 32}}), "preprocessor_config.json");
    }
}
