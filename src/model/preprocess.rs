//! Preprocessing of an image for a vision model, by its `preprocessor_config.json`.

use candle_core::{Device, Tensor};
use image::RgbImage;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::ModelError;
use crate::model::resize::{ResizeFilter, square};
use crate::model::weights::{ModelDir, fill_in};

/// Largest square: beyond it a picture takes gigabytes.
pub(crate) const SIDE_MAX: u32 = 2_048;

/// Pillow's number for bicubic.
const BICUBIC: u32 = 3;

/// What a family of models has where its file says nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageFamily {
    pub(crate) side: u32,
    /// Whether the file must agree with `side`.
    pub(crate) side_is_fixed: bool,
    pub(crate) mean: [f64; 3],
    pub(crate) deviation: [f64; 3],
}

/// Mean and deviation of CLIP and BLIP.
pub(crate) const CLIP_LEVELS: ([f64; 3], [f64; 3]) =
    ([0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_58, 0.275_777_11]);

/// Of the `ImageNet` photographs.
pub(crate) const IMAGENET_LEVELS: ([f64; 3], [f64; 3]) =
    ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);

/// Resize to an exact square, then what becomes of its levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Preprocessor {
    side: u32,
    levels: Levels,
}

/// Levels to 0..1, then mean and deviation per channel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Levels {
    rescale: f32,
    mean: [f32; 3],
    deviation: [f32; 3],
}

#[derive(Deserialize)]
struct File {
    do_resize: bool,
    size: SquareSize,
    resample: u32,
    #[serde(flatten)]
    levels: LevelsFile,
}

/// The settings of levels.
#[derive(Deserialize)]
pub(crate) struct LevelsFile {
    do_rescale: bool,
    do_normalize: bool,
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
    pub(crate) fn read(dir: &ModelDir, family: &ImageFamily) -> Result<Self, ModelError> {
        let &ImageFamily { side, side_is_fixed, mean, deviation } = family;
        let defaults = json!({
            "do_resize": true, "do_rescale": true, "do_normalize": true,
            "size": side, "resample": BICUBIC, "rescale_factor": 1.0 / 255.0,
            "image_mean": mean, "image_std": deviation,
        });
        let (name, file) = image_settings(dir, &defaults)?;
        let fault = |reason: String| dir.unusable(&format!("{name}: {reason}"));
        let file: File = serde_json::from_value(file).map_err(|error| fault(error.to_string()))?;
        let refuse = |reason: String| Err(fault(reason));
        let (height, width) = match file.size {
            SquareSize::Sides { height, width } => (height, width),
            SquareSize::Side(both) => (both, both),
        };
        let is_usable = height == width && (1..=SIDE_MAX).contains(&height);
        if !file.do_resize || !is_usable || (side_is_fixed && height != side) {
            return refuse(format!("size {height}x{width}, the model takes {side}x{side}"));
        }
        if file.resample != BICUBIC {
            return refuse(format!("resample {}, accepted is 3 (bicubic)", file.resample));
        }
        Ok(Self { side: height, levels: file.levels.checked().map_err(fault)? })
    }

    pub(crate) fn side(&self) -> u32 {
        self.side
    }

    /// Shape 1 × 3 × side × side.
    pub(crate) fn pixels(&self, image: &RgbImage) -> candle_core::Result<Tensor> {
        self.levels.pixels(&square(image, self.side, ResizeFilter::Bicubic))
    }
}

/// Settings of `preprocessor_config.json`, or of the image part of `processor_config.json`, where
/// `transformers` 5 saves them, and the name of that file; what it leaves out is of `defaults`.
pub(crate) fn image_settings(
    dir: &ModelDir,
    defaults: &Value,
) -> Result<(&'static str, Value), ModelError> {
    const OWN: &str = "preprocessor_config.json";
    const PROCESSOR: &str = "processor_config.json";
    let (name, mut file) = if let Some(own) = dir.optional_settings::<Value>(OWN)? {
        (OWN, own)
    } else {
        let processor: Option<Value> = dir.optional_settings(PROCESSOR)?;
        let image = processor.and_then(|it| it.get("image_processor").cloned());
        (PROCESSOR, image.unwrap_or_else(|| json!({})))
    };
    fill_in(&mut file, defaults);
    Ok((name, file))
}

impl LevelsFile {
    pub(crate) fn checked(self) -> Result<Levels, String> {
        let Self { do_rescale, do_normalize, rescale_factor, image_mean, image_std } = self;
        if image_std.iter().any(|deviation| *deviation <= 0.0) {
            return Err(format!("image_std {image_std:?} must be above 0"));
        }
        let normal = |given, neutral| if do_normalize { given } else { [neutral; 3] };
        Ok(Levels {
            rescale: if do_rescale { rescale_factor } else { 1.0 },
            mean: normal(image_mean, 0.0),
            deviation: normal(image_std, 1.0),
        })
    }
}

impl Levels {
    /// Shape 1 × 3 × height × width.
    pub(crate) fn pixels(&self, image: &RgbImage) -> candle_core::Result<Tensor> {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let mut planes = Vec::with_capacity(3 * width * height);
        for (channel, (mean, deviation)) in self.mean.iter().zip(&self.deviation).enumerate() {
            let levels = image.as_raw().iter().skip(channel).step_by(3);
            planes
                .extend(levels.map(|level| (f32::from(*level) * self.rescale - mean) / deviation));
        }
        Tensor::from_vec(planes, (1, 3, height, width), &Device::Cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    use crate::base::picture::ImageLimits;
    use crate::model::jpeg;

    const SMALL: ImageFamily = ImageFamily {
        side: 32,
        side_is_fixed: true,
        mean: CLIP_LEVELS.0,
        deviation: CLIP_LEVELS.1,
    };

    fn fixture() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/blip")
    }

    /// The levels that the model gets, as bytes again, plane by plane.
    fn levels(name: &str) -> Vec<u8> {
        let preprocessor =
            Preprocessor::read(&ModelDir::open(&fixture()).unwrap(), &SMALL).unwrap();
        let encoded = fs::read(fixture().join(name)).unwrap();
        let image = jpeg::decode(&encoded, ImageLimits::default()).unwrap();
        let pixels = preprocessor.pixels(&image).unwrap();
        assert_eq!(pixels.dims4().unwrap(), (1, 3, 32, 32));
        let planes: Vec<f32> = pixels.flatten_all().unwrap().to_vec1().unwrap();
        let Levels { mean, deviation, .. } = preprocessor.levels;
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
            let error =
                Preprocessor::read(&ModelDir::open(dir.path()).unwrap(), &SMALL).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        };
        check(json!({"size": {"height": 32, "width": 48}}), "32x48");
        check(json!({"do_resize": false}), "size");
        check(json!({"resample": 2}), "resample 2");
        check(json!({"image_std": [1.0, 0.0, 1.0]}), "image_std");
        check(json!({"size": {"shortest_edge": 32}}), "preprocessor_config.json");
    }

    #[test]
    fn settings_are_found_where_transformers_5_saves_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        let write = |resample: u32| {
            let image = json!({"size": {"height": 48, "width": 48}, "resample": resample});
            let file = json!({"image_processor": image, "processor_class": "Florence2Processor"});
            fs::write(dir.path().join("processor_config.json"), file.to_string()).unwrap();
            let any = ImageFamily { side_is_fixed: false, ..SMALL };
            Preprocessor::read(&ModelDir::open(dir.path()).unwrap(), &any)
        };
        assert_eq!(write(BICUBIC).unwrap().side(), 48);
        let error = write(2).unwrap_err().to_string();
        assert!(error.contains("processor_config.json: resample 2"), "{error}");
    }
}
