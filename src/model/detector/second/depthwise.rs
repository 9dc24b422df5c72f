//! Convolution of each channel by itself, in windows of three, as `TensorFlow` pads them. Knows
//! no network.

use candle_core::{DType, Result};
use candle_nn::VarBuilder;

use crate::model::detector::convolution::Rectifier;
use crate::model::detector::feature_map::FeatureMap;
use crate::model::threads::step_aside;

/// Rows after which another thread may have the core.
const ROWS_AT_ONCE: usize = 16;

pub(super) struct Depthwise {
    /// From one window to the next.
    step: usize,
    /// Of the nine pixels of a window × channels.
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Depthwise {
    pub(super) fn load(weights: &VarBuilder<'_>, channels: usize, step: usize) -> Result<Self> {
        let weights = weights.to_dtype(DType::F32);
        let weight = weights.get((9, channels), "weight")?.flatten_all()?.to_vec1()?;
        Ok(Self { step, weight, bias: weights.get(channels, "bias")?.to_vec1()? })
    }

    /// Each number is bent to be from 0 to 6.
    pub(super) fn forward(&self, map: &FeatureMap) -> FeatureMap {
        let side = map.side.div_ceil(self.step);
        // What windows reach beyond the map, first half of it before the first pixel.
        let border = ((side - 1) * self.step + 3).saturating_sub(map.side) / 2;
        let mut values = Vec::with_capacity(side * side * map.channels);
        for row in 0..side {
            for column in 0..side {
                let first = values.len();
                values.extend_from_slice(&self.bias);
                let sums = values.get_mut(first..).unwrap_or_default();
                for (at, weight) in self.weight.chunks_exact(map.channels.max(1)).enumerate() {
                    let near =
                        |place: usize, at: usize| (place * self.step + at).checked_sub(border);
                    let (row, column) = (near(row, at / 3), near(column, at % 3));
                    let inside = row.zip(column).filter(|it| it.0.max(it.1) < map.side);
                    let Some((row, column)) = inside else { continue };
                    let numbers = map.run(row, column, 1).iter().zip(weight);
                    sums.iter_mut().zip(numbers).for_each(|(sum, (a, b))| *sum += a * b);
                }
                for sum in sums {
                    *sum = Rectifier::Relu6.of(*sum);
                }
            }
            if row % ROWS_AT_ONCE == 0 {
                step_aside();
            }
        }
        FeatureMap { side, channels: map.channels, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use candle_core::{Device, Tensor};

    /// candle's own convolution is the reference.
    fn check(side: usize, step: usize, (before, after): (usize, usize)) {
        let channels = 4;
        let number = |at: usize| ((at * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let values: Vec<f32> = (0..side * side * channels).map(number).collect();
        let weight: Vec<f32> = (0..9 * channels).map(|it| number(it + 5)).collect();
        let bias: Vec<f32> = (0..channels).map(|it| number(it + 9)).collect();
        let tensor = |values: &[f32], shape: &[usize]| {
            Tensor::from_vec(values.to_vec(), shape, &Device::Cpu).unwrap()
        };
        let image = tensor(&values, &[1, side, side, channels]).permute((0, 3, 1, 2)).unwrap();
        let image = image.pad_with_zeros(2, before, after).unwrap();
        let image = image.pad_with_zeros(3, before, after).unwrap().contiguous().unwrap();
        let kernel = tensor(&weight, &[3, 3, channels, 1]).permute((2, 3, 0, 1)).unwrap();
        let kernel = kernel.contiguous().unwrap();
        let expect = image.conv2d(&kernel, 0, step, 1, channels).unwrap();
        let expect = expect.broadcast_add(&tensor(&bias, &[1, channels, 1, 1])).unwrap();
        let expect = expect.clamp(0.0, 6.0).unwrap().permute((0, 2, 3, 1)).unwrap();
        let expect: Vec<f32> = expect.flatten_all().unwrap().to_vec1().unwrap();
        let found =
            Depthwise { step, weight, bias }.forward(&FeatureMap { side, channels, values });
        assert_eq!(found.values.len(), expect.len());
        for (at, (own, other)) in found.values.iter().zip(&expect).enumerate() {
            assert!((own - other).abs() < 1e-5, "{side} by {step}, {at}: {own} and {other}");
        }
    }

    #[test]
    fn every_step_and_side_gives_candles_convolution() {
        check(5, 1, (1, 1));
        check(6, 1, (1, 1));
        check(6, 2, (0, 1));
        check(7, 2, (1, 1));
        check(1, 1, (1, 1));
    }
}
