//! Row-wise operations of a network wherever it computes: in place on the CPU in single
//! precision, by candle on another device or in another precision. Knows no model.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::ops::{layer_norm, rms_norm as candles_rms_norm, softmax_last_dim};

use crate::model::in_place::{
    AddRow, CausalSoftmaxRows, Gelu, GeluTanh, NormRows, RmsNormRows, SiluTimes, SoftmaxRows,
};

/// Whether [`crate::model::in_place`] can compute this.
pub(super) fn is_in_place(x: &Tensor) -> bool {
    x.device().is_cpu() && x.dtype() == DType::F32
}

/// As candle's products on another device want it: in one piece. On the CPU without a copy.
pub(super) fn for_product(x: Tensor) -> Result<Tensor> {
    if is_in_place(&x) { Ok(x) } else { x.contiguous() }
}

/// `x` with one row added to each of its rows.
pub(super) fn add_row(x: Tensor, row: &Tensor) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op2(row, &AddRow).map(|()| x);
    }
    x.broadcast_add(row)
}

pub(super) fn softmax(x: Tensor) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op1(&SoftmaxRows).map(|()| x);
    }
    softmax_last_dim(&x)
}

/// Softmax of each row over what came before it and itself; every `rows` of them follow one
/// another in time.
pub(super) fn causal_softmax(x: Tensor, rows: usize) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op1(&CausalSoftmaxRows { rows }).map(|()| x);
    }
    if rows == 1 {
        return softmax_last_dim(&x);
    }
    let (parts, all, columns) = x.dims3()?;
    let later = later_columns(rows, columns, x.dtype(), x.device())?;
    let seen = x.reshape((parts, all / rows, rows, columns))?.broadcast_add(&later)?;
    softmax_last_dim(&seen)?.reshape((parts, all, columns))
}

/// −∞ where a column comes after a row, else 0.
fn later_columns(rows: usize, columns: usize, dtype: DType, device: &Device) -> Result<Tensor> {
    let before = columns.saturating_sub(rows);
    let later = (0..rows * columns)
        .map(|at| if at % columns > before + at / columns { f32::NEG_INFINITY } else { 0.0 });
    let later = Tensor::from_vec(later.collect(), (rows, columns), &Device::Cpu)?;
    later.to_dtype(dtype)?.to_device(device)
}

pub(super) fn norm(x: Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op3(weight, bias, &NormRows { epsilon }).map(|()| x);
    }
    layer_norm(&x, weight, bias, epsilon)
}

pub(super) fn rms_norm(x: Tensor, weight: &Tensor, epsilon: f32) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op2(weight, &RmsNormRows { epsilon }).map(|()| x);
    }
    candles_rms_norm(&x, weight, epsilon)
}

/// ln(1 + eˣ), of no large `x`.
pub(super) fn softplus(x: &Tensor) -> Result<Tensor> {
    (x.exp()? + 1.0)?.log()
}

/// `SiLU` of `x`, times `factor`.
pub(super) fn silu_times(x: Tensor, factor: &Tensor) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op2(factor, &SiluTimes).map(|()| x);
    }
    x.silu()? * factor
}

pub(super) fn gelu(x: Tensor) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op1(&Gelu).map(|()| x);
    }
    x.gelu_erf()
}

pub(super) fn gelu_tanh(x: Tensor) -> Result<Tensor> {
    if is_in_place(&x) {
        return x.inplace_op1(&GeluTanh).map(|()| x);
    }
    x.gelu()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[usize]) -> Tensor {
        Tensor::randn(0.3_f32, 2.0, shape, &Device::Cpu).unwrap()
    }

    /// The same in place and in half precision, where numbers are some thousandths off.
    fn check(operation: impl Fn(Tensor, &Tensor) -> Result<Tensor>, x: &Tensor, other: &Tensor) {
        let half = |x: &Tensor| x.to_dtype(DType::F16).unwrap();
        let by_candle = operation(half(x), &half(other)).unwrap();
        assert_eq!(by_candle.dtype(), DType::F16);
        let in_place = operation(x.copy().unwrap(), other).unwrap();
        let size = (in_place.abs().unwrap() + 1.0).unwrap();
        let off = (by_candle.to_dtype(DType::F32).unwrap() - in_place).unwrap().abs().unwrap();
        let off = (off / size).unwrap().flatten_all().unwrap();
        let error: f32 = off.max(0).unwrap().to_scalar().unwrap();
        assert!(error < 0.02, "{error}");
    }

    #[test]
    fn operations_in_place_and_elsewhere_are_the_same() {
        let (x, weight, bias) = (tensor(&[7, 37]), tensor(&[37]), tensor(&[37]));
        check(add_row, &x, &bias);
        check(|x, _| softmax(x), &x, &bias);
        check(|x, bias| norm(x, &weight.to_dtype(bias.dtype())?, bias, 1e-5), &x, &bias);
        check(|x, weight| rms_norm(x, weight, 1e-5), &x, &weight);
        check(silu_times, &x, &tensor(&[7, 37]));
        check(|x, _| gelu(x), &x, &bias);
        check(|x, _| gelu_tanh(x), &x, &bias);
        for rows in [1, 4] {
            check(|x, _| causal_softmax(x, rows), &tensor(&[2, 2 * rows, 3 + rows]), &bias);
        }
    }

    #[test]
    fn products_take_what_is_laid_out_but_in_place() {
        for (dtype, is_laid_out) in [(DType::F32, false), (DType::F16, true)] {
            let turned = tensor(&[3, 5]).to_dtype(dtype).unwrap().t().unwrap();
            assert_eq!(for_product(turned).unwrap().is_contiguous(), is_laid_out);
        }
    }
}
