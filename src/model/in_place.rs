//! Row-wise operations of a transformer, in place and on the calling thread.
//!
//! candle's own norm and softmax allocate a tensor and hand its rows to rayon; for the dozen
//! rows of a query that costs more than the arithmetic.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, InplaceOp3, Layout, Result, bail};

/// Adds one row (the right-hand side) to every row.
pub(super) struct AddRow;

/// Softmax over the last dimension.
pub(super) struct SoftmaxRows;

/// Layer normalisation; the right-hand sides are weight and bias.
pub(super) struct NormRows {
    pub(super) epsilon: f32,
}

/// Softmax of each row over the columns up to its own place among the last: what came before it,
/// and itself. The other columns become 0.
pub(super) struct CausalSoftmaxRows {
    /// Rows that follow one another in time; beyond them the next so many begin.
    pub(super) rows: usize,
}

/// Root-mean-square normalisation; the right-hand side is the weight.
pub(super) struct RmsNormRows {
    pub(super) epsilon: f32,
}

/// `SiLU`, x σ(x), times the right-hand side.
pub(super) struct SiluTimes;

/// GELU with a tangent in Φ's place, as it was trained with. candle's own calls the C library's
/// `tanh` for each number.
pub(super) struct GeluTanh;

/// GELU, x Φ(x). candle's own calls the C library's `erf` for each number, which takes as long
/// as a product with the weights.
pub(super) struct Gelu;

impl InplaceOp2 for AddRow {
    fn name(&self) -> &'static str {
        "add-row"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        at: &Layout,
        row: &CpuStorage,
        row_at: &Layout,
    ) -> Result<()> {
        let row = floats(row, row_at)?;
        for x in rows(floats_mut(x, at)?, row.len()) {
            x.iter_mut().zip(row).for_each(|(x, y)| *x += y);
        }
        Ok(())
    }
}

impl InplaceOp1 for SoftmaxRows {
    fn name(&self) -> &'static str {
        "softmax-rows"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, at: &Layout) -> Result<()> {
        let width = at.dims().last().copied().unwrap_or(0);
        rows(floats_mut(x, at)?, width).for_each(softmax);
        Ok(())
    }
}

impl InplaceOp1 for CausalSoftmaxRows {
    fn name(&self) -> &'static str {
        "causal-softmax-rows"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, at: &Layout) -> Result<()> {
        let width = at.dims().last().copied().unwrap_or(0);
        let Some(before) = width.checked_sub(self.rows) else { bail!("more rows than columns") };
        for (row, x) in (0..self.rows).cycle().zip(rows(floats_mut(x, at)?, width)) {
            let (seen, later) = x.split_at_mut(before + row + 1);
            softmax(seen);
            later.fill(0.0);
        }
        Ok(())
    }
}

impl InplaceOp3 for NormRows {
    fn name(&self) -> &'static str {
        "norm-rows"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        at: &Layout,
        weight: &CpuStorage,
        weight_at: &Layout,
        bias: &CpuStorage,
        bias_at: &Layout,
    ) -> Result<()> {
        let (weight, bias) = (floats(weight, weight_at)?, floats(bias, bias_at)?);
        for x in rows(floats_mut(x, at)?, weight.len()) {
            let count = x.len() as f32;
            let mean = sum(x.iter().copied()) / count;
            let variance = sum(x.iter().map(|x| (x - mean) * (x - mean))) / count;
            let scale = (variance + self.epsilon).sqrt().recip();
            for ((x, weight), bias) in x.iter_mut().zip(weight).zip(bias) {
                *x = (*x - mean) * scale * weight + bias;
            }
        }
        Ok(())
    }
}

impl InplaceOp2 for RmsNormRows {
    fn name(&self) -> &'static str {
        "rms-norm-rows"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        at: &Layout,
        weight: &CpuStorage,
        weight_at: &Layout,
    ) -> Result<()> {
        let weight = floats(weight, weight_at)?;
        for x in rows(floats_mut(x, at)?, weight.len()) {
            let square = sum(x.iter().map(|x| x * x)) / x.len() as f32;
            let scale = (square + self.epsilon).sqrt().recip();
            x.iter_mut().zip(weight).for_each(|(x, weight)| *x *= scale * weight);
        }
        Ok(())
    }
}

impl InplaceOp2 for SiluTimes {
    fn name(&self) -> &'static str {
        "silu-times"
    }

    fn cpu_fwd(
        &self,
        x: &mut CpuStorage,
        at: &Layout,
        factor: &CpuStorage,
        factor_at: &Layout,
    ) -> Result<()> {
        let factor = floats(factor, factor_at)?;
        for (x, factor) in floats_mut(x, at)?.iter_mut().zip(factor) {
            *x *= factor / (1.0 + (-*x).exp());
        }
        Ok(())
    }
}

impl InplaceOp1 for GeluTanh {
    fn name(&self) -> &'static str {
        "gelu-tanh"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, at: &Layout) -> Result<()> {
        floats_mut(x, at)?.iter_mut().for_each(|x| *x = gelu_tanh(*x));
        Ok(())
    }
}

impl InplaceOp1 for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, at: &Layout) -> Result<()> {
        floats_mut(x, at)?.iter_mut().for_each(|x| *x = gelu(*x));
        Ok(())
    }
}

fn softmax(x: &mut [f32]) {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in x.iter_mut() {
        *x = (*x - largest).exp();
        sum += *x;
    }
    for x in x {
        *x /= sum;
    }
}

fn rows(x: &mut [f32], width: usize) -> std::slice::ChunksExactMut<'_, f32> {
    x.chunks_exact_mut(width.max(1))
}

/// Sums eight lanes, which the compiler may not do by itself.
fn sum(numbers: impl ExactSizeIterator<Item = f32>) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for (at, x) in numbers.enumerate() {
        if let Some(lane) = lanes.get_mut(at % 8) {
            *lane += x;
        }
    }
    lanes.iter().sum()
}

pub(super) fn floats<'a>(storage: &'a CpuStorage, at: &Layout) -> Result<&'a [f32]> {
    let CpuStorage::F32(values) = storage else { bail!("computed in f32 only") };
    match at.contiguous_offsets().and_then(|(start, end)| values.get(start..end)) {
        Some(values) => Ok(values),
        None => bail!("for contiguous tensors only"),
    }
}

pub(super) fn floats_mut<'a>(storage: &'a mut CpuStorage, at: &Layout) -> Result<&'a mut [f32]> {
    let CpuStorage::F32(values) = storage else { bail!("computed in f32 only") };
    match at.contiguous_offsets().and_then(|(start, end)| values.get_mut(start..end)) {
        Some(values) => Ok(values),
        None => bail!("for contiguous tensors only"),
    }
}

/// ½ (1 + tanh y) is the logistic function of 2 y.
fn gelu_tanh(x: f32) -> f32 {
    /// √(8/π)
    const SLOPE: f32 = 1.595_769;
    x / (1.0 + (-SLOPE * (x + 0.044_715 * x * x * x)).exp())
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Error function by the rational approximation of Eigen and XLA, without a branch, so that the
/// compiler vectorises it; exact to 5e-7.
fn erf(x: f32) -> f32 {
    const P: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_5e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_4e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const Q: [f32; 5] =
        [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let polynomial = |terms: &[f32]| terms.iter().fold(0.0, |sum, term| sum * square + term);
    x * polynomial(&P) / polynomial(&Q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Tensor};
    use candle_nn::ops::{layer_norm, rms_norm, silu, softmax_last_dim};

    fn tensor(shape: &[usize]) -> Tensor {
        Tensor::randn(0.3_f32, 2.0, shape, &Device::Cpu).unwrap()
    }

    fn check(found: &Tensor, exact: &Tensor) {
        // The numbers are drawn anew each time: a large one has a larger last digit.
        let size = (exact.abs().unwrap() + 1.0).unwrap();
        let off = ((exact - found).unwrap().abs().unwrap() / size).unwrap().flatten_all().unwrap();
        let error: f32 = off.max(0).unwrap().to_scalar().unwrap();
        assert!(error < 2e-6, "{error}");
    }

    #[test]
    fn softmax_equals_candles() {
        let x = tensor(&[2, 3, 5, 13]);
        let exact = softmax_last_dim(&x).unwrap();
        x.inplace_op1(&SoftmaxRows).unwrap();
        check(&x, &exact);
    }

    #[test]
    fn a_row_takes_nothing_of_what_comes_later() {
        let (before, rows) = (3, 4);
        let x = tensor(&[2, 2 * rows, before + rows]);
        let is_later =
            |at: usize| u8::from(at % (before + rows) > before + at / (before + rows) % rows);
        let later: Vec<u8> = (0..x.elem_count()).map(is_later).collect();
        let later = Tensor::from_vec(later, x.shape(), &Device::Cpu).unwrap();
        let never = Tensor::full(f32::NEG_INFINITY, x.shape(), &Device::Cpu).unwrap();
        let exact = softmax_last_dim(&later.where_cond(&never, &x).unwrap()).unwrap();
        x.inplace_op1(&CausalSoftmaxRows { rows }).unwrap();
        check(&x, &exact);
        assert!(x.inplace_op1(&CausalSoftmaxRows { rows: 8 }).is_err());
    }

    #[test]
    fn the_norm_without_a_mean_equals_candles() {
        let (x, weight) = (tensor(&[7, 37]), tensor(&[37]));
        let exact = rms_norm(&x, &weight, 1e-5).unwrap();
        x.inplace_op2(&weight, &RmsNormRows { epsilon: 1e-5 }).unwrap();
        check(&x, &exact);
    }

    #[test]
    fn the_gate_equals_candles() {
        let (x, factor) = (tensor(&[7, 37]), tensor(&[7, 37]));
        let exact = (silu(&x).unwrap() * &factor).unwrap();
        x.inplace_op2(&factor, &SiluTimes).unwrap();
        check(&x, &exact);
    }

    #[test]
    fn the_norm_equals_candles() {
        let (x, weight, bias) = (tensor(&[7, 37]), tensor(&[37]), tensor(&[37]));
        let exact = layer_norm(&x, &weight, &bias, 1e-5).unwrap();
        x.inplace_op3(&weight, &bias, &NormRows { epsilon: 1e-5 }).unwrap();
        check(&x, &exact);
    }

    #[test]
    fn a_row_is_added_to_every_row() {
        let (x, row) = (tensor(&[5, 19]), tensor(&[19]));
        let exact = x.broadcast_add(&row).unwrap();
        x.inplace_op2(&row, &AddRow).unwrap();
        check(&x, &exact);
    }

    #[test]
    fn the_activations_equal_candles() {
        let steps: Vec<f32> = (-8000..8000_i16).map(|step| f32::from(step) / 1000.0).collect();
        let x = Tensor::new(steps, &Device::Cpu).unwrap();
        let (exact, exact_tanh) = (x.gelu_erf().unwrap(), x.gelu().unwrap());
        let y = x.copy().unwrap();
        x.inplace_op1(&Gelu).unwrap();
        check(&x, &exact);
        y.inplace_op1(&GeluTanh).unwrap();
        check(&y, &exact_tanh);
    }

    #[test]
    fn tensors_that_do_not_lie_in_one_piece_are_refused() {
        let turned = tensor(&[4, 6]).t().unwrap();
        assert!(turned.inplace_op1(&SoftmaxRows).is_err());
    }
}
