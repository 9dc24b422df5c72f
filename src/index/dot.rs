//! Inner products on whatever vector unit the processor has, chosen when run.

#![expect(
    clippy::inline_always,
    reason = "a function that is not inlined is compiled for the oldest processor"
)]

use pulp::{Arch, Simd, WithSimd};

/// Inner product; over the shorter length where the lengths differ.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    struct Dot<'a>(&'a [f32], &'a [f32]);

    impl WithSimd for Dot<'_> {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            dot_with(simd, self.0, self.1)
        }
    }

    Arch::new().dispatch(Dot(a, b))
}

/// Four sums side by side, as one addition has to wait for the one before.
#[inline(always)]
fn dot_with<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let (a_vectors, a_rest) = S::as_simd_f32s(a);
    let (b_vectors, b_rest) = S::as_simd_f32s(b);
    let (a_fours, a_ones) = pulp::as_arrays::<4, _>(a_vectors);
    let (b_fours, b_ones) = pulp::as_arrays::<4, _>(b_vectors);
    let zero = simd.splat_f32s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for ([a0, a1, a2, a3], [b0, b1, b2, b3]) in a_fours.iter().zip(b_fours) {
        s0 = simd.mul_add_e_f32s(*a0, *b0, s0);
        s1 = simd.mul_add_e_f32s(*a1, *b1, s1);
        s2 = simd.mul_add_e_f32s(*a2, *b2, s2);
        s3 = simd.mul_add_e_f32s(*a3, *b3, s3);
    }
    for (a0, b0) in a_ones.iter().zip(b_ones) {
        s0 = simd.mul_add_e_f32s(*a0, *b0, s0);
    }
    let sum = simd.add_f32s(simd.add_f32s(s0, s1), simd.add_f32s(s2, s3));
    let mut sum = simd.reduce_sum_f32s(sum);
    for (a0, b0) in a_rest.iter().zip(b_rest) {
        sum += a0 * b0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    fn close(found: f32, a: &[f32], b: &[f32]) -> bool {
        let exact: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let scale: f64 = a.iter().zip(b).map(|(a, b)| f64::from((a * b).abs())).sum();
        (f64::from(found) - exact).abs() <= 1e-5 * scale.max(1e-30)
    }

    proptest! {
        #[test]
        fn is_the_sum_of_products(pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 0..300)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            assert!(close(dot(&a, &b), &a, &b));
        }
    }
}
