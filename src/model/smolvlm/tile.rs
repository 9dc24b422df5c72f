//! The tile that a picture becomes: first fitted to a longest edge, then squeezed into a square,
//! both as Pillow does it. The processor of `transformers` does so where it splits no picture;
//! where it does, that square is the last of its tiles. Knows nothing of words.

use candle_core::Tensor;
use image::RgbImage;
use serde::Deserialize;
use serde_json::json;

use crate::model::ModelError;
use crate::model::preprocess::{Levels, LevelsFile, SIDE_MAX, image_settings};
use crate::model::resize::{ResizeFilter, resized, square};
use crate::model::weights::ModelDir;

/// Pillow's number for Lanczos.
const LANCZOS: u32 = 1;

/// Longest edge that the reference fits a picture to.
const LONGEST_EDGE_MAX: u32 = 4_096;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tile {
    /// To which a picture is fitted first, where it is.
    longest_edge: Option<u32>,
    side: u32,
    levels: Levels,
}

#[derive(Deserialize)]
struct File {
    do_resize: bool,
    size: Edge,
    max_image_size: Edge,
    resample: u32,
    #[serde(flatten)]
    levels: LevelsFile,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edge {
    longest_edge: u32,
}

impl Tile {
    /// For a vision network that takes squares of `side` pixels.
    pub(super) fn read(dir: &ModelDir, side: usize) -> Result<Self, ModelError> {
        let defaults = json!({
            "do_resize": true, "do_rescale": true, "do_normalize": true,
            "size": {"longest_edge": 1_456}, "max_image_size": {"longest_edge": 364},
            "resample": LANCZOS, "rescale_factor": 1.0 / 255.0,
            "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5],
        });
        let (name, file) = image_settings(dir, &defaults)?;
        let fault = |reason: String| dir.unusable(&format!("{name}: {reason}"));
        let file: File = serde_json::from_value(file).map_err(|error| fault(error.to_string()))?;
        let (longest, tile) = (file.size.longest_edge, file.max_image_size.longest_edge);
        if tile as usize != side || !(1..=SIDE_MAX).contains(&tile) {
            let reason = format!("max_image_size {tile}, the model takes {side}x{side}");
            return Err(fault(reason));
        }
        if !(1..=LONGEST_EDGE_MAX).contains(&longest) {
            let reason = format!("size {longest}, accepted are 1 to {LONGEST_EDGE_MAX}");
            return Err(fault(reason));
        }
        if file.resample != LANCZOS {
            return Err(fault(format!("resample {}, accepted is 1 (Lanczos)", file.resample)));
        }
        let longest_edge = file.do_resize.then_some(longest);
        Ok(Self { longest_edge, side: tile, levels: file.levels.checked().map_err(fault)? })
    }

    /// Shape 1 × 3 × side × side.
    pub(super) fn pixels(&self, picture: &RgbImage) -> candle_core::Result<Tensor> {
        self.levels.pixels(&self.of(picture))
    }

    pub(super) fn of(&self, picture: &RgbImage) -> RgbImage {
        let fitted = self.longest_edge.map(|longest| {
            resized(picture, fitted_size(picture.dimensions(), longest), ResizeFilter::Lanczos)
        });
        square(fitted.as_ref().unwrap_or(picture), self.side, ResizeFilter::Lanczos)
    }
}

/// As the reference computes it, down to how it rounds: the shorter edge is even.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a shorter edge lies between 0 and the longest"
)]
fn fitted_size((width, height): (u32, u32), longest: u32) -> (u32, u32) {
    let ratio = f64::from(width) / f64::from(height);
    let even = |edge: f64| (edge as u32).next_multiple_of(2).max(1);
    if width >= height {
        (longest, even(f64::from(longest) / ratio))
    } else {
        (even(f64::from(longest) * ratio), longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use serde_json::Value;
    use tempfile::TempDir;

    use crate::model::known_models::KnownModel;

    fn model_dir(settings: &str) -> (TempDir, ModelDir) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        fs::write(dir.path().join("preprocessor_config.json"), settings).unwrap();
        let opened = ModelDir::open(dir.path()).unwrap();
        (dir, opened)
    }

    /// The file that both models were published with.
    fn published() -> String {
        let third = "[\n    0.5,\n    0.5,\n    0.5\n  ]";
        format!(
            "{{\n  \"do_convert_rgb\": true,\n  \"do_image_splitting\": true,\n  \
             \"do_normalize\": true,\n  \"do_pad\": true,\n  \"do_rescale\": true,\n  \
             \"do_resize\": true,\n  \"image_mean\": {third},\n  \
             \"image_processor_type\": \"Idefics3ImageProcessor\",\n  \"image_std\": {third},\n  \
             \"max_image_size\": {{\n    \"longest_edge\": 512\n  }},\n  \
             \"processor_class\": \"Idefics3Processor\",\n  \"resample\": 1,\n  \
             \"rescale_factor\": 0.00392156862745098,\n  \
             \"size\": {{\n    \"longest_edge\": 2048\n  }}\n}}\n"
        )
    }

    #[test]
    fn the_published_settings_are_read() {
        use sha2::{Digest as _, Sha256};
        let hash = format!("{:x}", Sha256::digest(published()));
        for name in ["smolvlm-256m", "smolvlm-500m"] {
            let mut files = KnownModel::of_name(name).unwrap().files.iter();
            let file = files.find(|it| it.path == "preprocessor_config.json").unwrap();
            assert_eq!(file.sha256, Some(hash.as_str()));
        }
        let (_dir, opened) = model_dir(&published());
        let tile = Tile::read(&opened, 512).unwrap();
        assert_eq!((tile.longest_edge, tile.side), (Some(2048), 512));
        let white = RgbImage::from_pixel(3, 2, image::Rgb([255, 0, 255]));
        let pixels = tile.pixels(&white).unwrap();
        assert_eq!(pixels.dims(), [1, 3, 512, 512]);
        for (plane, level) in [(0, 1.0), (1, -1.0), (2, 1.0)] {
            let plane = pixels.squeeze(0).unwrap().get(plane).unwrap();
            let mean: f32 = plane.mean_all().unwrap().to_scalar().unwrap();
            assert!((mean - level).abs() < 1e-5, "{mean}");
        }
    }

    #[test]
    fn settings_that_would_give_other_pixels_are_refused() {
        let check = |pointer: &str, value: Value, words: &str| {
            let mut settings: Value = serde_json::from_str(&published()).unwrap();
            *settings.pointer_mut(pointer).unwrap() = value;
            let (_dir, opened) = model_dir(&settings.to_string());
            let text = Tile::read(&opened, 512).unwrap_err().to_string();
            assert!(text.contains("preprocessor_config.json") && text.contains(words), "{text}");
        };
        check("/max_image_size/longest_edge", json!(364), "the model takes 512x512");
        check("/size/longest_edge", json!(0), "accepted are 1 to 4096");
        check("/size", json!({"height": 512, "width": 512}), "`longest_edge`");
        check("/resample", json!(3), "accepted is 1 (Lanczos)");
        check("/image_std", json!([0.5, 0.0, 0.5]), "image_std");
    }

    #[test]
    fn a_picture_is_fitted_with_an_even_shorter_edge() {
        for (from, fitted) in [
            ((640, 480), (2048, 1536)),
            ((480, 640), (1536, 2048)),
            ((1920, 1080), (2048, 1152)),
            ((1000, 333), (2048, 682)),
            ((1000, 331), (2048, 678)),
            ((1, 9_000), (1, 2048)),
            ((7, 7), (2048, 2048)),
        ] {
            assert_eq!(fitted_size(from, 2048), fitted, "{from:?}");
        }
    }
}
