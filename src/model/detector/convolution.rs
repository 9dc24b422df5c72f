//! Convolution as one matrix product a strip of rows, for one thread. Knows no network.
//!
//! candle's own convolution lays out all windows of an image at once: 100 MB for the larger
//! maps of this network, and slower, since they leave the cache.

use candle_core::{Device, Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::detector::feature_map::FeatureMap;
use crate::model::threads::step_aside;

/// Windows that are laid out at once: with the widest of them (2,304 numbers) 4.5 MiB, with the
/// common ones as much as a core's second cache holds.
const WINDOWS_AT_ONCE: usize = 512;

/// Slope of the leaky `ReLU` below 0.
const LEAK: f32 = 0.1;

/// Side of a window and step from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Pixel,
    Three,
    ThreeBySecond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rectifier {
    LeakyRelu,
    None,
}

pub(super) struct Convolution {
    window: Kernel,
    activation: Rectifier,
    outputs: usize,
    /// Numbers of a window × outputs.
    weight: Tensor,
    bias: Vec<f32>,
}

impl Convolution {
    pub(super) fn load(
        weights: &VarBuilder<'_>,
        (inputs, outputs): (usize, usize),
        window: Kernel,
        activation: Rectifier,
    ) -> Result<Self> {
        let pixels = if window == Kernel::Pixel { 1 } else { 9 };
        let weight = weights.get((pixels * inputs, outputs), "weight")?;
        let bias = weights.get(outputs, "bias")?.to_vec1()?;
        Ok(Self { window, activation, outputs, weight, bias })
    }

    pub(super) fn forward(&self, map: &FeatureMap) -> Result<FeatureMap> {
        let side = match self.window {
            Kernel::Pixel | Kernel::Three => map.side,
            Kernel::ThreeBySecond => map.side.div_ceil(2),
        };
        let mut values = Vec::with_capacity(side * side * self.outputs);
        let padded = if self.window == Kernel::Pixel { map.clone() } else { map.pad(0.0) };
        let rows_at_once = (WINDOWS_AT_ONCE / side.max(1)).max(1);
        for first in (0..side).step_by(rows_at_once) {
            let rows = first..(first + rows_at_once).min(side);
            let count = rows.len() * side;
            let windows = self.windows(&padded, rows, side);
            let windows = Tensor::from_vec(windows, (count, self.weight.dim(0)?), &Device::Cpu)?;
            values.extend(windows.matmul(&self.weight)?.flatten_all()?.to_vec1::<f32>()?);
            step_aside();
        }
        self.finish(&mut values);
        Ok(FeatureMap { side, channels: self.outputs, values })
    }

    /// The windows of some rows of the result, one after the other.
    fn windows(&self, padded: &FeatureMap, rows: std::ops::Range<usize>, side: usize) -> Vec<f32> {
        let (size, step) = match self.window {
            Kernel::Pixel => (1, 1),
            Kernel::Three => (3, 1),
            Kernel::ThreeBySecond => (3, 2),
        };
        let mut windows = Vec::with_capacity(rows.len() * side * size * size * padded.channels);
        for row in rows {
            for column in 0..side {
                for below in 0..size {
                    let run = padded.run(row * step + below, column * step, size);
                    windows.extend_from_slice(run);
                }
            }
        }
        windows
    }

    fn finish(&self, values: &mut [f32]) {
        let leak = match self.activation {
            Rectifier::LeakyRelu => LEAK,
            Rectifier::None => 1.0,
        };
        for pixel in values.chunks_exact_mut(self.outputs.max(1)) {
            for (value, bias) in pixel.iter_mut().zip(&self.bias) {
                let sum = *value + bias;
                *value = if sum < 0.0 { leak * sum } else { sum };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    use candle_core::DType;

    /// candle's own convolution is the reference.
    fn check(window: Kernel, side: usize, padding: usize, step: usize) {
        let (inputs, outputs) = (3, 5);
        let size = if window == Kernel::Pixel { 1 } else { 3 };
        let number = |at: usize| ((at * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let values: Vec<f32> = (0..side * side * inputs).map(number).collect();
        let kernel: Vec<f32> =
            (0..size * size * inputs * outputs).map(|it| number(it + 5)).collect();
        let bias: Vec<f32> = (0..outputs).map(|it| number(it + 9)).collect();
        let tensor = |values: &[f32], shape: &[usize]| {
            Tensor::from_vec(values.to_vec(), shape, &Device::Cpu).unwrap()
        };
        let named = HashMap::from([
            ("weight".to_owned(), tensor(&kernel, &[size * size * inputs, outputs])),
            ("bias".to_owned(), tensor(&bias, &[outputs])),
        ]);
        let weights = VarBuilder::from_tensors(named, DType::F32, &Device::Cpu);
        let activation = Rectifier::LeakyRelu;
        let own = Convolution::load(&weights, (inputs, outputs), window, activation).unwrap();
        let found = own.forward(&FeatureMap { side, channels: inputs, values: values.clone() });
        let image = tensor(&values, &[1, side, side, inputs]).permute((0, 3, 1, 2)).unwrap();
        let kernel = tensor(&kernel, &[size, size, inputs, outputs]).permute((3, 2, 0, 1)).unwrap();
        let kernel = kernel.contiguous().unwrap();
        let expect = image.contiguous().unwrap().conv2d(&kernel, padding, step, 1, 1).unwrap();
        let expect = expect.broadcast_add(&tensor(&bias, &[1, outputs, 1, 1])).unwrap();
        let expect = candle_nn::ops::leaky_relu(&expect, 0.1).unwrap();
        let expect = expect.permute((0, 2, 3, 1)).unwrap().flatten_all().unwrap();
        let expect: Vec<f32> = expect.to_vec1().unwrap();
        let found = found.unwrap();
        assert_eq!((found.side * found.side * outputs, found.channels), (expect.len(), outputs));
        for (at, (own, other)) in found.values.iter().zip(&expect).enumerate() {
            assert!((own - other).abs() < 1e-5, "{window:?} {at}: {own} and {other}");
        }
    }

    #[test]
    fn every_window_gives_candles_convolution() {
        check(Kernel::Pixel, 4, 0, 1);
        check(Kernel::Three, 5, 1, 1);
        check(Kernel::Three, 600, 1, 1);
        check(Kernel::ThreeBySecond, 6, 1, 2);
        check(Kernel::ThreeBySecond, 7, 1, 2);
    }
}
