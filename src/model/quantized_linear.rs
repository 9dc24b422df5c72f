//! Linear layer of 8 bits, quantized dynamically (Krishnamoorthi 2018, "Quantizing deep
//! convolutional networks for efficient inference"): weights once, with a scale for each output;
//! inputs with each product, with a scale and a zero point for each row. A quarter of the memory
//! of single precision, and on one thread a third of the time. Knows no model.
//!
//! Sums are of whole numbers, so every processor comes to the same. Weights have 7 of the 8 bits:
//! x86-64 without VNNI adds pairs of products in 16 bits, which more would overflow.

use candle_core::{CpuStorage, CustomOp1, Error, Layout, Result, Shape, Tensor, bail};
use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;

use crate::model::in_place::floats;

/// To be used on a thread of a rayon pool of one: of a larger pool all threads would multiply.
pub(super) struct QuantizedLinear {
    /// Inputs × outputs.
    weight: PackedBMatrix<i8>,
    /// Of each output.
    scales: Vec<f32>,
    /// Of each output.
    sums_of_weights: Vec<f32>,
    bias: Vec<f32>,
}

/// Of inputs that are of 8 bits without a sign.
type ProductOfBytes = GemmExecutor<u8, i8, i32>;

/// The largest magnitude of a quantized weight.
const WEIGHT_MAX: f32 = 63.0;

impl QuantizedLinear {
    /// `weight` is of shape inputs × outputs, in whichever order it lies in memory.
    pub(super) fn new(weight: &Tensor, bias: &Tensor) -> Result<Self> {
        let (inputs, outputs) = weight.dims2()?;
        let mut quantized: Vec<i8> = Vec::with_capacity(inputs * outputs);
        let (mut scales, mut sums_of_weights) = (Vec::new(), Vec::new());
        for weights in weight.t()?.to_vec2::<f32>()? {
            let scale = scale_of(largest(&weights), WEIGHT_MAX);
            let start = quantized.len();
            quantized.extend(weights.iter().map(|weight| to_i8(weight / scale)));
            sums_of_weights.push(quantized.iter().skip(start).map(|it| f32::from(*it)).sum());
            scales.push(scale);
        }
        let transposed = NdTensorView::from_data([outputs, inputs], quantized.as_slice());
        let weight = ProductOfBytes::new().prepack_b(transposed.transposed());
        Ok(Self { weight, scales, sums_of_weights, bias: bias.to_vec1()? })
    }

    /// `x` is of shape rows × inputs.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.apply_op1_no_bwd(self)
    }
}

impl CustomOp1 for QuantizedLinear {
    fn name(&self) -> &'static str {
        "quantized-linear"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let Self { weight, scales, sums_of_weights, bias } = self;
        let outputs = bias.len();
        let (rows, inputs) = x_at.shape().dims2()?;
        if inputs != weight.rows() {
            bail!("rows of {inputs} numbers, a layer takes {}", weight.rows());
        }
        let x = QuantizedRows::of(floats(x, x_at)?, inputs);
        let numbers = NdTensorView::from_data([rows, inputs], x.numbers.as_slice());
        let mut sums = vec![0_i32; rows * outputs];
        // Zero points are subtracted below: with one for each row the library's are those of its
        // first rows for all (rten-gemm 0.27.0, with AVX-512).
        ProductOfBytes::new()
            .gemm(
                &mut sums,
                GemmInputA::Unpacked(numbers),
                GemmInputB::Packed(weight),
                GemmOptions::default(),
            )
            .map_err(Error::wrap)?;
        let mut found = Vec::with_capacity(sums.len());
        for (sums, step) in sums.chunks_exact(outputs.max(1)).zip(&x.steps) {
            let of_outputs = sums.iter().zip(sums_of_weights).zip(scales).zip(bias);
            found.extend(of_outputs.map(|(((sum, of_weights), scale), bias)| {
                (to_f32(*sum) - step.zero_point * of_weights) * (step.scale * scale) + bias
            }));
        }
        Ok((CpuStorage::F32(found), Shape::from((rows, outputs))))
    }
}

/// Rows of 8 bits without a sign.
struct QuantizedRows {
    numbers: Vec<u8>,
    /// Of each row.
    steps: Vec<RowSteps>,
}

struct RowSteps {
    scale: f32,
    /// What stands for 0.
    zero_point: f32,
}

impl QuantizedRows {
    fn of(x: &[f32], width: usize) -> Self {
        let rows = x.chunks_exact(width.max(1));
        let mut numbers = Vec::with_capacity(x.len());
        let mut steps = Vec::with_capacity(rows.len());
        for row in rows {
            let (lowest, highest) = range(row);
            let scale = scale_of(highest - lowest, f32::from(u8::MAX));
            let (zero_point, inverse) = ((-lowest / scale).round(), scale.recip());
            numbers.extend(row.iter().map(|x| to_u8(x * inverse + zero_point)));
            steps.push(RowSteps { scale, zero_point });
        }
        Self { numbers, steps }
    }
}

/// What one step of `steps` over this extent is; 1 where there is none.
fn scale_of(extent: f32, steps: f32) -> f32 {
    if extent > 0.0 { extent / steps } else { 1.0 }
}

fn largest(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// The lowest and the highest, and 0 between them; in lanes, which the compiler may not make by itself.
fn range(x: &[f32]) -> (f32, f32) {
    let (mut lowest, mut highest) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for ((low, high), x) in lowest.iter_mut().zip(&mut highest).zip(chunk) {
            *low = if *x < *low { *x } else { *low };
            *high = if *x > *high { *x } else { *high };
        }
    }
    let all = || lowest.iter().chain(&highest).chain(rest).copied();
    (all().fold(0.0, f32::min), all().fold(0.0, f32::max))
}

const LANES: usize = 16;

#[expect(clippy::cast_possible_truncation, reason = "rounded; what lies beyond is the nearest")]
fn to_i8(x: f32) -> i8 {
    x.round() as i8
}

/// Rounded; what lies beyond is the nearest. A cast would be made number by number.
fn to_u8(x: f32) -> u8 {
    /// From here on, 2²³, numbers are whole, and the lowest bits count them.
    const WHOLE: f32 = 8_388_608.0;
    let [lowest, ..] = (x.clamp(0.0, f32::from(u8::MAX)) + WHOLE).to_bits().to_le_bytes();
    lowest
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sums of a thousand products lose nothing that counts"
)]
fn to_f32(x: i32) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use rayon::ThreadPoolBuilder;

    use super::*;

    fn random(shape: &[usize]) -> Tensor {
        Tensor::randn(0.2_f32, 1.0, shape, &Device::Cpu).unwrap()
    }

    fn product(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Vec<Vec<f32>> {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let linear = QuantizedLinear::new(weight, bias).unwrap();
        pool.install(|| linear.forward(x)).unwrap().to_vec2().unwrap()
    }

    /// candle's product in single precision.
    fn exact(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Vec<Vec<f32>> {
        x.matmul(weight).unwrap().broadcast_add(bias).unwrap().to_vec2().unwrap()
    }

    fn mean_square(x: &[Vec<f32>], of: impl Fn(usize, f32) -> f32) -> f32 {
        let squares = x.concat().into_iter().enumerate().map(|(at, it)| of(at, it).powi(2));
        squares.sum::<f32>() / (x.len() as f32)
    }

    #[test]
    fn products_are_near_those_of_single_precision() {
        for rows in [1, 7, 130] {
            let (x, weight, bias) = (random(&[rows, 384]), random(&[384, 50]), random(&[50]));
            let found = product(&x, &weight, &bias);
            let expected = exact(&x, &weight, &bias);
            let off = mean_square(&found, |at, it| it - expected.concat()[at]);
            let share = (off / mean_square(&expected, |_, it| it)).sqrt();
            assert!(share < 0.02, "{share}");
        }
    }

    #[test]
    fn what_8_bits_hold_is_exact() {
        let x = [[-3.0_f32, 0.0, 252.0, 1.0], [0.0; 4], [5.0; 4]];
        let weight = [[63.0_f32, 0.0], [-63.0, 0.0], [2.0, 0.0], [-1.0, 0.0]];
        let (x, weight) = (Tensor::new(&x, &Device::Cpu), Tensor::new(&weight, &Device::Cpu));
        let bias = Tensor::new(&[0.5_f32, -7.0], &Device::Cpu).unwrap();
        let found = product(&x.unwrap(), &weight.unwrap(), &bias);
        let expected = [[-3.0 * 63.0 + 504.0 - 1.0 + 0.5, -7.0], [0.5, -7.0], [5.5, -7.0]];
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let (x, weight) = (Tensor::ones((1, 1536), candle_core::DType::F32, &Device::Cpu), 1536);
        let weight = Tensor::ones((weight, 3), candle_core::DType::F32, &Device::Cpu).unwrap();
        let bias = Tensor::zeros(3, candle_core::DType::F32, &Device::Cpu).unwrap();
        let found = product(&x.unwrap(), &weight, &bias);
        assert!(found.iter().flatten().all(|it| (it - 1536.0).abs() < 0.1), "{found:?}");
    }
}
