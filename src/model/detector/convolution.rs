//! Convolution as one matrix product a strip of rows, for one thread. Knows no network.
//!
//! candle's own convolution lays out all windows of an image at once: 100 MB for the larger
//! maps of this network, and slower, since they leave the cache.

use std::borrow::Cow;
use std::ops::Range;

use candle_core::{DType, Device, Result, Tensor};
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
    /// As TensorFlow pads: a map of an even side has its border at the end only.
    ThreeBySecondFromCorner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rectifier {
    LeakyRelu,
    /// From 0 to 6.
    Relu6,
    None,
}

impl Rectifier {
    pub(super) fn of(self, value: f32) -> f32 {
        match self {
            Self::LeakyRelu if value < 0.0 => LEAK * value,
            Self::Relu6 => value.clamp(0.0, 6.0),
            Self::LeakyRelu | Self::None => value,
        }
    }
}

pub(super) struct Convolution {
    window: Kernel,
    activation: Rectifier,
    outputs: usize,
    /// Numbers of a window × outputs, in half precision where memory counts more than time.
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
        let bias = weights.get(outputs, "bias")?.to_dtype(DType::F32)?.to_vec1()?;
        Ok(Self { window, activation, outputs, weight, bias })
    }

    pub(super) fn forward(&self, map: &FeatureMap) -> Result<FeatureMap> {
        let side = match self.window {
            Kernel::Pixel | Kernel::Three => map.side,
            Kernel::ThreeBySecond | Kernel::ThreeBySecondFromCorner => map.side.div_ceil(2),
        };
        let mut values = Vec::with_capacity(side * side * self.outputs);
        let from = match self.window {
            Kernel::Pixel => Cow::Borrowed(map),
            Kernel::Three | Kernel::ThreeBySecond | Kernel::ThreeBySecondFromCorner => {
                Cow::Owned(map.pad(0.0))
            }
        };
        let weight = self.weight.to_dtype(DType::F32)?;
        let rows_at_once = (WINDOWS_AT_ONCE / side.max(1)).max(1);
        for first in (0..side).step_by(rows_at_once) {
            let rows = first..(first + rows_at_once).min(side);
            let count = rows.len() * side;
            let windows = self.windows(&from, rows, side);
            let windows = Tensor::from_vec(windows, (count, weight.dim(0)?), &Device::Cpu)?;
            values.extend(windows.matmul(&weight)?.flatten_all()?.to_vec1::<f32>()?);
            step_aside();
        }
        self.finish(&mut values);
        Ok(FeatureMap { side, channels: self.outputs, values })
    }

    /// The windows of some rows of the result, one after the other.
    fn windows(&self, from: &FeatureMap, rows: Range<usize>, side: usize) -> Vec<f32> {
        let (step, start) = match self.window {
            Kernel::Pixel => return from.run(rows.start, 0, rows.len() * side).to_vec(),
            Kernel::Three => (1, 0),
            Kernel::ThreeBySecond => (2, 0),
            // Of the border's width, where that lies on both sides.
            Kernel::ThreeBySecondFromCorner => (2, usize::from(from.side.is_multiple_of(2))),
        };
        let mut windows = Vec::with_capacity(rows.len() * side * 9 * from.channels);
        for row in rows {
            for column in 0..side {
                for below in 0..3 {
                    let run = from.run(row * step + start + below, column * step + start, 3);
                    windows.extend_from_slice(run);
                }
            }
        }
        windows
    }

    fn finish(&self, values: &mut [f32]) {
        for pixel in values.chunks_exact_mut(self.outputs.max(1)) {
            for (value, bias) in pixel.iter_mut().zip(&self.bias) {
                *value = self.activation.of(*value + bias);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// candle's own convolution is the reference.
    fn check(window: Kernel, side: usize, padding: (usize, usize), step: usize) {
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
        let (before, after) = padding;
        let image = image.pad_with_zeros(2, before, after).unwrap();
        let image = image.pad_with_zeros(3, before, after).unwrap();
        let kernel = tensor(&kernel, &[size, size, inputs, outputs]).permute((3, 2, 0, 1)).unwrap();
        let kernel = kernel.contiguous().unwrap();
        let expect = image.contiguous().unwrap().conv2d(&kernel, 0, step, 1, 1).unwrap();
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
        check(Kernel::Pixel, 4, (0, 0), 1);
        check(Kernel::Pixel, 600, (0, 0), 1);
        check(Kernel::Three, 5, (1, 1), 1);
        check(Kernel::Three, 600, (1, 1), 1);
        check(Kernel::ThreeBySecond, 6, (1, 1), 2);
        check(Kernel::ThreeBySecond, 7, (1, 1), 2);
        check(Kernel::ThreeBySecondFromCorner, 6, (0, 1), 2);
        check(Kernel::ThreeBySecondFromCorner, 7, (1, 1), 2);
    }

    #[test]
    fn rectifiers_bend_at_their_ends() {
        let check = |rectifier: Rectifier, value: f32, expect: f32| {
            assert!((rectifier.of(value) - expect).abs() < 1e-6, "{rectifier:?} of {value}");
        };
        for (value, leaky, cut) in [(-2.0, -0.2, 0.0), (3.0, 3.0, 3.0), (7.0, 7.0, 6.0)] {
            check(Rectifier::LeakyRelu, value, leaky);
            check(Rectifier::Relu6, value, cut);
            check(Rectifier::None, value, value);
        }
    }
}
