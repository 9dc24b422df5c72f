//! Linear layer whose weights stay in half precision: half of the memory. For models that are
//! seldom asked. Knows no model.
//!
//! Products are of single precision, into which the weights are widened for each: of a file with
//! halves the results are the same, weights of another precision are rounded to halves. (candle's
//! 8-bit products were tried: half as many captions a second, and where the processor has
//! instructions for 8 bits they keep the weights twice.)

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, DType, Device, InplaceOp2, Layout, Result, Tensor, bail};
use candle_nn::{Init, VarBuilder};
use half::slice::HalfFloatSliceExt as _;

use crate::model::row_wise::add_row;

pub(super) struct HalfLinear {
    /// Inputs × outputs.
    weight: Tensor,
    bias: Tensor,
}

impl HalfLinear {
    pub(super) fn load(inputs: usize, outputs: usize, weights: &VarBuilder<'_>) -> Result<Self> {
        let shape = (outputs, inputs);
        let weight = weights.get_with_hints_dtype(shape, "weight", Init::default(), DType::F16)?;
        Ok(Self { weight: weight.t()?.contiguous()?, bias: weights.get(outputs, "bias")? })
    }

    /// Several layers of the same input as one; results lie side by side.
    pub(super) fn side_by_side(parts: &[Self]) -> Result<Self> {
        let weights: Vec<&Tensor> = parts.iter().map(|part| &part.weight).collect();
        let biases: Vec<&Tensor> = parts.iter().map(|part| &part.bias).collect();
        let weight = Tensor::cat(&weights, 1)?.contiguous()?;
        Ok(Self { weight, bias: Tensor::cat(&biases, 0)? })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let Self { weight, bias } = self;
        let mut wide = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
        let wide = at_least(&mut wide, weight.elem_count())?;
        wide.inplace_op2(weight, &Widen)?;
        add_row(x.matmul(&wide.reshape(weight.shape())?)?, bias)
    }
}

/// Where weights are widened, of one layer of the process after another. Asked for and given back
/// with each product, so much memory left gaps all over the heap, 30 MiB of them after some
/// hundred captions; so did products of a few outputs at a time.
static WIDE: Mutex<Option<Tensor>> = Mutex::new(None);

/// So many numbers, to be overwritten.
fn at_least(kept: &mut Option<Tensor>, count: usize) -> Result<Tensor> {
    let wide = match kept.take().filter(|it| it.elem_count() >= count) {
        Some(wide) => wide,
        None => Tensor::zeros(count, DType::F32, &Device::Cpu)?,
    };
    kept.insert(wide).narrow(0, 0, count)
}

/// Writes numbers of half precision (the right-hand side) as those of single precision.
struct Widen;

impl InplaceOp2 for Widen {
    fn name(&self) -> &'static str {
        "widen"
    }

    fn cpu_fwd(
        &self,
        wide: &mut CpuStorage,
        wide_at: &Layout,
        half: &CpuStorage,
        half_at: &Layout,
    ) -> Result<()> {
        let (CpuStorage::F32(wide), CpuStorage::F16(half)) = (wide, half) else {
            bail!("halves are widened to single precision");
        };
        let lie = |at: &Layout| at.contiguous_offsets();
        let (Some((from, to)), Some((first, last))) = (lie(wide_at), lie(half_at)) else {
            bail!("numbers in one piece are widened");
        };
        match (wide.get_mut(from..to), half.get(first..last)) {
            (Some(wide), Some(half)) if wide.len() == half.len() => half.convert_to_f32_slice(wide),
            _ => bail!("as many numbers are widened as there is room for"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(shape: &[usize]) -> Tensor {
        Tensor::randn(0.0_f32, 1.0, shape, &Device::Cpu).unwrap()
    }

    fn largest(x: &Tensor) -> f32 {
        x.abs().unwrap().flatten_all().unwrap().max(0).unwrap().to_scalar().unwrap()
    }

    fn layer(outputs: usize) -> HalfLinear {
        let weight = random(&[16, outputs]).to_dtype(DType::F16).unwrap();
        HalfLinear { weight, bias: random(&[outputs]) }
    }

    #[test]
    fn a_product_is_that_of_the_same_weights_in_single_precision() {
        let x = random(&[7, 16]);
        // The second one is smaller than what was widened before.
        for outputs in [500, 30] {
            let linear = layer(outputs);
            let product = x.matmul(&linear.weight.to_dtype(DType::F32).unwrap()).unwrap();
            let expect = product.broadcast_add(&linear.bias).unwrap();
            let off = largest(&(linear.forward(&x).unwrap() - expect).unwrap());
            assert!(off < 1e-5, "{off}");
        }
    }

    #[test]
    fn results_of_layers_side_by_side_lie_side_by_side() {
        let x = random(&[3, 16]);
        let parts = [layer(5), layer(7)];
        let each: Vec<Tensor> = parts.iter().map(|it| it.forward(&x).unwrap()).collect();
        let both = HalfLinear::side_by_side(&parts).unwrap().forward(&x).unwrap();
        assert!(largest(&(both - Tensor::cat(&each, 1).unwrap()).unwrap()) < 1e-5);
    }
}
