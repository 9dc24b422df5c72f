//! From the map of features to what the text network reads: a row for the whole picture, then
//! a row for each pixel of the map. Knows nothing of words.

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::florence::config::Florence2Config;
use crate::model::layers::{Linear, Norm};

/// The weights of Microsoft's layout lie the other way round; `layout` names them so.
pub(super) const TRANSPOSED: &str = "image_projection.transposed";

const EPSILON: f64 = 1e-5;

pub(super) struct Projector {
    /// What each pixel's place adds to its features.
    places: Tensor,
    projection: Linear,
    norm: Norm,
}

impl Projector {
    /// `side` is that of the map.
    pub(super) fn load(
        config: &Florence2Config,
        side: usize,
        weights: &VarBuilder<'_>,
    ) -> Result<Self> {
        let width = config.vision.last_width();
        let (positions, projected) = (config.vision.positions_max, config.text.width);
        let places = weights.pp("image_position_embed");
        let half = width / 2;
        let rows = places.get((positions, half), "row_embeddings.weight")?;
        let columns = places.get((positions, width - half), "column_embeddings.weight")?;
        let weight = if weights.contains_tensor(TRANSPOSED) {
            weights.get((width, projected), TRANSPOSED)?
        } else {
            weights.get((projected, width), "image_projection.weight")?.t()?
        };
        let no_bias = Tensor::zeros(projected, weight.dtype(), &Device::Cpu)?;
        Ok(Self {
            places: places_of(&rows, &columns, side)?,
            projection: Linear::new(weight, no_bias),
            norm: Norm::load(projected, EPSILON, &weights.pp("image_proj_norm"))?,
        })
    }

    pub(super) fn forward(&self, map: &Tensor) -> Result<Tensor> {
        let pixels = (map + &self.places)?;
        let tokens = Tensor::cat(&[&pixels.mean_keepdim(0)?, &pixels], 0)?;
        self.norm.apply(self.projection.forward(&tokens)?)
    }
}

/// Column and row side by side for each pixel, and the place in time of a single picture:
/// the sine of 0 in every other feature, its cosine between.
fn places_of(rows: &Tensor, columns: &Tensor, side: usize) -> Result<Tensor> {
    let (half, other) = (rows.dim(1)?, columns.dim(1)?);
    let columns = columns.narrow(0, 0, side)?.unsqueeze(0)?.broadcast_as((side, side, other))?;
    let rows = rows.narrow(0, 0, side)?.unsqueeze(1)?.broadcast_as((side, side, half))?;
    let places = Tensor::cat(&[&columns, &rows], 2)?.flatten_to(1)?;
    let time: Vec<f32> = (0..half + other).map(|at| (at % 2) as f32).collect();
    places.broadcast_add(&Tensor::from_vec(time, (1, half + other), &Device::Cpu)?)
}
