//! Convolutions of maps whose channels lie side by side, pixel by pixel, for one thread. Knows
//! no network.
//!
//! candle's own lay an image out plane by plane, with all windows at once, and take a group of
//! channels at a time: a depthwise one would be a thousand small convolutions.

use candle_core::{CpuStorage, Device, InplaceOp3, Layout, Result, Tensor, bail};
use candle_nn::VarBuilder;

use crate::model::in_place::{floats, floats_mut};
use crate::model::layers::Linear;
use crate::model::threads::step_aside;

/// Windows that are laid out at once: with the widest of them (9,216 numbers) 18 MiB.
const WINDOWS_AT_ONCE: usize = 512;

/// Square windows at regular steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Windows {
    pub(super) size: usize,
    pub(super) step: usize,
    pub(super) padding: usize,
}

impl Windows {
    /// Windows along one side of a map.
    pub(super) fn along(self, side: usize) -> usize {
        let Self { size, step, padding } = self;
        (side + 2 * padding).checked_sub(size).map_or(0, |room| room / step + 1)
    }
}

/// Convolution that makes a smaller map with more channels, as one product with its windows.
pub(super) struct Convolution {
    windows: Windows,
    inputs: usize,
    outputs: usize,
    product: Linear,
}

impl Convolution {
    pub(super) fn load(
        weights: &VarBuilder<'_>,
        (inputs, outputs): (usize, usize),
        windows: Windows,
    ) -> Result<Self> {
        let size = windows.size;
        let kernel = weights.get((outputs, inputs, size, size), "weight")?;
        let kernel = kernel.permute((2, 3, 1, 0))?.reshape((size * size * inputs, outputs))?;
        let product = Linear::new(kernel, weights.get(outputs, "bias")?);
        Ok(Self { windows, inputs, outputs, product })
    }

    /// From a map of `side` × `side` pixels, a row of `map` each, and the new map's side.
    pub(super) fn forward(&self, map: &Tensor, side: usize) -> Result<(Tensor, usize)> {
        let values = map.flatten_all()?.to_vec1::<f32>()?;
        let new_side = self.windows.along(side);
        let mut made = Vec::with_capacity(new_side * new_side * self.outputs);
        let rows_at_once = (WINDOWS_AT_ONCE / new_side.max(1)).max(1);
        for first in (0..new_side).step_by(rows_at_once) {
            let rows = first..(first + rows_at_once).min(new_side);
            let count = rows.len() * new_side;
            let laid_out: Vec<f32> = self.lay_out(&values, side, rows, new_side);
            let laid_out = Tensor::from_vec(laid_out, (count, self.numbers()), &Device::Cpu)?;
            made.extend(self.product.forward(&laid_out)?.flatten_all()?.to_vec1::<f32>()?);
            step_aside();
        }
        let made = Tensor::from_vec(made, (new_side * new_side, self.outputs), &Device::Cpu)?;
        Ok((made, new_side))
    }

    /// Numbers of a window.
    fn numbers(&self) -> usize {
        self.windows.size * self.windows.size * self.inputs
    }

    /// The windows of some rows of the new map, one after the other; zeros outside the old one.
    fn lay_out(
        &self,
        map: &[f32],
        side: usize,
        rows: std::ops::Range<usize>,
        new_side: usize,
    ) -> Vec<f32> {
        let Windows { size, step, padding } = self.windows;
        let mut windows = vec![0.0; rows.len() * new_side * self.numbers()];
        let places = rows.flat_map(|row| (0..new_side).map(move |column| (row, column)));
        for ((row, column), window) in places.zip(windows.chunks_exact_mut(self.numbers().max(1))) {
            let (left, right) = covered(column * step, size, padding, side);
            for (below, run) in window.chunks_exact_mut(size * self.inputs).enumerate() {
                let Some(y) = (row * step + below).checked_sub(padding).filter(|y| *y < side)
                else {
                    continue;
                };
                let from = (y * side + column * step + left - padding) * self.inputs;
                let length = (right - left) * self.inputs;
                let source = map.get(from..from + length);
                let target = run.get_mut(left * self.inputs..right * self.inputs);
                if let (Some(source), Some(target)) = (source, target) {
                    target.copy_from_slice(source);
                }
            }
        }
        windows
    }
}

/// Which of a window's `size` pixels lie in a map, where the window begins `padding` before
/// `start`: from, to.
fn covered(start: usize, size: usize, padding: usize, side: usize) -> (usize, usize) {
    let left = padding.saturating_sub(start).min(size);
    let right = (side + padding).saturating_sub(start).min(size).max(left);
    (left, right)
}

/// Adds to a map its own convolution, each channel by itself, with windows of three by three
/// pixels and zeros around.
pub(super) struct Depthwise {
    /// Nine pixels of a window × channels.
    kernel: Tensor,
    bias: Tensor,
}

impl Depthwise {
    pub(super) fn load(channels: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let kernel = weights.get((channels, 1, 3, 3), "weight")?;
        let kernel = kernel.reshape((channels, 9))?.t()?.contiguous()?;
        Ok(Self { kernel, bias: weights.get(channels, "bias")? })
    }

    pub(super) fn add(&self, map: &Tensor, side: usize) -> Result<()> {
        map.inplace_op3(&self.kernel, &self.bias, &AddDepthwise { side })
    }
}

struct AddDepthwise {
    side: usize,
}

impl InplaceOp3 for AddDepthwise {
    fn name(&self) -> &'static str {
        "add-depthwise"
    }

    fn cpu_fwd(
        &self,
        map: &mut CpuStorage,
        at: &Layout,
        kernel: &CpuStorage,
        kernel_at: &Layout,
        bias: &CpuStorage,
        bias_at: &Layout,
    ) -> Result<()> {
        let (kernel, bias) = (floats(kernel, kernel_at)?, floats(bias, bias_at)?);
        let map = floats_mut(map, at)?;
        let row = self.side * bias.len();
        if row == 0 || map.len() != row * self.side {
            bail!("a map of {} numbers is no square of {} pixels", map.len(), self.side);
        }
        // What the rows above were before something was added to them.
        let mut above = vec![0.0; row];
        let mut rest = map;
        while let Some((here, below)) = rest.split_at_mut_checked(row) {
            let before = here.to_vec();
            let next = below.get(..row);
            add_row(here, bias, kernel, [Some(&above), Some(&before), next]);
            above = before;
            rest = below;
        }
        Ok(())
    }
}

/// Adds to a row of pixels what three rows, of which some are outside, give it.
fn add_row(row: &mut [f32], bias: &[f32], kernel: &[f32], sources: [Option<&[f32]>; 3]) {
    let channels = bias.len();
    for pixel in row.chunks_exact_mut(channels) {
        pixel.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias);
    }
    for (source, weights) in sources.into_iter().zip(kernel.chunks_exact(3 * channels)) {
        let Some(source) = source else { continue };
        for (column, weights) in weights.chunks_exact(channels).enumerate() {
            // The window's first column takes the pixel before, the last one the pixel after.
            let sources = source.chunks_exact(channels).skip(column.saturating_sub(1));
            let targets = row.chunks_exact_mut(channels).skip(1_usize.saturating_sub(column));
            for (target, source) in targets.zip(sources) {
                for ((x, source), weight) in target.iter_mut().zip(source).zip(weights) {
                    *x += source * weight;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    use candle_core::DType;

    fn tensor(count: usize, shape: &[usize], seed: usize) -> Tensor {
        let number = |at: usize| (((at + seed) * 37 + 11) % 101) as f32 / 50.0 - 1.0;
        let values: Vec<f32> = (0..count).map(number).collect();
        Tensor::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn builder(weight: &Tensor, bias: &Tensor) -> VarBuilder<'static> {
        let named = [("weight", weight), ("bias", bias)];
        let named = named.map(|(name, tensor)| (name.to_owned(), tensor.clone()));
        VarBuilder::from_tensors(HashMap::from(named), DType::F32, &Device::Cpu)
    }

    /// Rows of pixels as candle has images.
    fn planes(map: &Tensor, side: usize) -> Tensor {
        let channels = map.dim(1).unwrap();
        let map = map.reshape((1, side, side, channels)).unwrap();
        map.permute((0, 3, 1, 2)).unwrap().contiguous().unwrap()
    }

    fn assert_same(found: &Tensor, expect: &Tensor) {
        let flat = |it: &Tensor| it.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let (found, expect) = (flat(found), flat(expect));
        assert_eq!(found.len(), expect.len());
        for (at, (own, other)) in found.iter().zip(&expect).enumerate() {
            assert!((own - other).abs() < 1e-4, "{at}: {own} and {other}");
        }
    }

    #[test]
    fn windows_of_any_size_give_candles_convolution() {
        for (side, size, step, padding) in
            [(12, 7, 4, 3), (8, 3, 2, 1), (7, 3, 2, 1), (5, 1, 1, 0), (600, 3, 2, 1)]
        {
            let (inputs, outputs) = (3, 5);
            let map = tensor(side * side * inputs, &[side * side, inputs], 0);
            let shape = [outputs, inputs, size, size];
            let weight = tensor(shape.iter().product(), &shape, 5);
            let bias = tensor(outputs, &[outputs], 9);
            let windows = Windows { size, step, padding };
            let own =
                Convolution::load(&builder(&weight, &bias), (inputs, outputs), windows).unwrap();
            let (found, new_side) = own.forward(&map, side).unwrap();
            let expect = planes(&map, side).conv2d(&weight, padding, step, 1, 1).unwrap();
            let bias = bias.reshape((1, outputs, 1, 1)).unwrap();
            assert_same(&planes(&found, new_side), &expect.broadcast_add(&bias).unwrap());
        }
    }

    #[test]
    fn what_is_added_is_candles_depthwise_convolution() {
        for side in [1, 2, 5] {
            let channels = 6;
            let map = tensor(side * side * channels, &[side * side, channels], 0);
            let weight = tensor(channels * 9, &[channels, 1, 3, 3], 5);
            let bias = tensor(channels, &[channels], 9);
            let expect = planes(&map, side).conv2d(&weight, 1, 1, 1, channels).unwrap();
            let expect = expect.broadcast_add(&bias.reshape((1, channels, 1, 1)).unwrap());
            let expect = (expect.unwrap() + planes(&map, side)).unwrap();
            let own = Depthwise::load(channels, &builder(&weight, &bias)).unwrap();
            own.add(&map, side).unwrap();
            assert_same(&planes(&map, side), &expect);
        }
    }
}
