//! A captioner beside which the picture's text is read.

use std::path::Path;

use image::RgbImage;
use image::imageops::crop_imm;

use crate::base::caption::Caption;
use crate::base::detection::BoundingBox;
use crate::base::picture::ImageLimits;
use crate::model::detector;
use crate::model::resize::{ResizeFilter, resized};
use crate::model::scene_text::letters::{Alphabet, Line};
use crate::model::scene_text::network::{Network, NetworkFile};
use crate::model::scene_text::regions::{Region, regions};
use crate::model::scene_text::signs::signs;
use crate::model::scene_text::{NETWORKS, identity, unusable};
use crate::model::{CaptionError, Captioner, ModelError, ModelIdentity, jpeg};

/// Side of the square in which lines are looked for: half a second a frame at twice of it.
const FIND_SIDE: usize = 320;

/// Height at which a line is read, and widths; one that is longer is squeezed.
const READ_HEIGHT: usize = 48;
const READ_WIDTHS: [usize; 2] = [160, 320];

/// Width of all lines of a picture that are read, the largest first: .1 s a line of 320.
const READ_WIDTH_MAX: usize = 480;

/// Pixels of the picture below which a line's letters have no shape.
const LINE_HEIGHT_MIN: u32 = 8;

pub(super) struct ReadingCaptioner {
    captioner: Box<dyn Captioner>,
    identity: ModelIdentity,
    limits: ImageLimits,
    find: Network,
    read: [Network; 2],
    alphabet: Alphabet,
}

impl ReadingCaptioner {
    pub(super) fn new(
        captioner: Box<dyn Captioner>,
        dir: &Path,
        limits: ImageLimits,
    ) -> Result<Self, ModelError> {
        let [find, read] = NETWORKS;
        let find = NetworkFile::read(dir, find)?.for_size(FIND_SIDE, FIND_SIDE)?;
        let file = NetworkFile::read(dir, read)?;
        let alphabet = Alphabet::of_list(file.note("character")?);
        let [short, long] = READ_WIDTHS;
        let read = [file.for_size(READ_HEIGHT, short)?, file.for_size(READ_HEIGHT, long)?];
        let identity = identity(captioner.identity().clone(), dir)?;
        let reading = Self { captioner, identity, limits, find, read, alphabet };
        reading.check_alphabet().map_err(|reason| unusable(dir, &reason))?;
        Ok(reading)
    }

    /// A list of another length would give other letters.
    fn check_alphabet(&self) -> Result<(), String> {
        let [short, _] = &self.read;
        let steps = short.run(&vec![0.0; 3 * short.height * short.width]);
        let steps = steps.map_err(|error| error.to_string())?.len();
        let signs = self.alphabet.len();
        // The network tells a step of each eight columns.
        let expect = signs * short.width / 8;
        (steps == expect).then_some(()).ok_or_else(|| {
            format!("read.onnx tells {steps} numbers of a line, its {signs} signs want {expect}")
        })
    }

    /// Lines of the picture with their places.
    fn lines(&self, picture: &RgbImage) -> Result<Vec<(Line, BoundingBox)>, CaptionError> {
        let (width, height) = picture.dimensions();
        let scale = scale_of(picture);
        let map = self.map(picture)?;
        let mut left = READ_WIDTH_MAX;
        let mut lines = Vec::new();
        for region in regions(&map, FIND_SIDE) {
            let Some(line) = cut(picture, region, scale) else { continue };
            let Some(network) = self.network_for(&line).filter(|it| it.width <= left) else {
                continue;
            };
            left -= network.width;
            let line = squeeze(&line, network);
            let text = self.alphabet.read(&network.run(&planes(&line, network))?);
            let share = |at: f32, of: u32| at / scale / of as f32;
            let place = BoundingBox {
                left: share(region.left, width),
                top: share(region.top, height),
                right: share(region.right, width),
                bottom: share(region.bottom, height),
            };
            lines.push((text, place.within_image()));
        }
        Ok(lines)
    }

    /// How likely each pixel of the square is in a line; the picture fills it from the upper left.
    pub(super) fn map(&self, picture: &RgbImage) -> Result<Vec<f32>, CaptionError> {
        self.find.run(&planes(&shrink(picture, scale_of(picture)), &self.find))
    }

    /// The narrowest that takes the line as it is, else the widest.
    fn network_for(&self, line: &RgbImage) -> Option<&Network> {
        let wanted = (line.width() as usize * READ_HEIGHT).div_ceil(line.height().max(1) as usize);
        let mut wide_enough = self.read.iter().filter(|it| it.width >= wanted);
        wide_enough.next().or_else(|| self.read.last())
    }
}

impl Captioner for ReadingCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let mut caption = self.captioner.caption(image)?;
        let picture = jpeg::decode(image, self.limits)
            .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
        let signs = signs(self.lines(&picture)?);
        if signs.is_empty() {
            return Ok(caption);
        }
        let named: Vec<String> = signs.iter().map(|it| format!("a {}", it.name)).collect();
        let said = named.join(". ");
        let sure: f32 = signs.iter().map(|it| it.score).product();
        let is_empty = caption.text == detector::NOTHING;
        caption.text = if is_empty { said } else { format!("{}. {said}", caption.text) };
        caption.confidence = caption.confidence.map(|it| if is_empty { sure } else { it * sure });
        caption.detections.extend(signs);
        Ok(caption)
    }

    fn process_id(&self) -> Option<u32> {
        self.captioner.process_id()
    }

    fn restarts(&self) -> u64 {
        self.captioner.restarts()
    }
}

/// From the picture's pixels to the square's.
fn scale_of(picture: &RgbImage) -> f32 {
    FIND_SIDE as f32 / picture.width().max(picture.height()).max(1) as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels of a picture within limits"
)]
fn shrink(picture: &RgbImage, scale: f32) -> RgbImage {
    let side = |pixels: u32| ((pixels as f32 * scale).round() as u32).clamp(1, FIND_SIDE as u32);
    let size = (side(picture.width()), side(picture.height()));
    resized(picture, size, ResizeFilter::Bilinear)
}

/// The picture's own pixels of a line, if there are enough, and if it runs across.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels within the picture, at least 0"
)]
fn cut(picture: &RgbImage, region: Region, scale: f32) -> Option<RgbImage> {
    let (width, height) = picture.dimensions();
    let at = |it: f32, most: u32| ((it / scale).max(0.0).round() as u32).min(most);
    let (left, right) = (at(region.left, width), at(region.right, width));
    let (top, bottom) = (at(region.top, height), at(region.bottom, height));
    let (across, down) = (right.saturating_sub(left), bottom.saturating_sub(top));
    let is_line = down >= LINE_HEIGHT_MIN && across >= down / 2;
    is_line.then(|| crop_imm(picture, left, top, across, down).to_image())
}

#[expect(clippy::cast_possible_truncation, reason = "at most the network's width")]
fn squeeze(line: &RgbImage, network: &Network) -> RgbImage {
    let (across, down) = (line.width() as usize, line.height().max(1) as usize);
    let width = (across * network.height).div_ceil(down).clamp(1, network.width);
    resized(line, (width as u32, network.height as u32), ResizeFilter::Bilinear)
}

/// Planes of blue, green and red from -1 to 1; what the picture leaves free is 0.
fn planes(picture: &RgbImage, network: &Network) -> Vec<f32> {
    let mut planes = vec![0.0; 3 * network.height * network.width];
    for (plane, channel) in planes.chunks_exact_mut(network.height * network.width).zip([2, 1, 0]) {
        let rows = plane.chunks_exact_mut(network.width);
        for (row, pixels) in rows.zip(picture.rows()) {
            for (value, pixel) in row.iter_mut().zip(pixels) {
                let level = pixel.0.get(channel).copied().unwrap_or_default();
                *value = f32::from(level) / 127.5 - 1.0;
            }
        }
    }
    planes
}
