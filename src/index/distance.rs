//! Inner products on the vector unit that the processor has, chosen when run.
//!
//! Knows slices of numbers only. Products of bytes are whole numbers, so every
//! unit gives the same; those of floats differ in their rounding.

#![expect(
    clippy::inline_always,
    reason = "a function that is not inlined is compiled for the oldest processor"
)]
#![expect(unsafe_code, reason = "the processor's vector instructions and prefetching")]

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

/// Rows of bytes, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteRows<'a> {
    pub(super) bytes: &'a [i8],
    pub(super) dimension: usize,
}

impl<'a> ByteRows<'a> {
    /// A row; empty where there is none.
    #[inline]
    pub(super) fn row(self, row: u32) -> &'a [i8] {
        let start = row as usize * self.dimension;
        self.bytes.get(start..start + self.dimension).unwrap_or_default()
    }
}

/// Inner product of bytes; over the shorter length where the lengths differ. Does
/// not overflow: 127² fits 130,000 times.
pub(super) fn bytes(a: &[i8], b: &[i8]) -> i32 {
    BEST.bytes(a, b)
}

/// Writes the inner product of `query` with each of `listed` rows to `out`, in their
/// order. Reads ahead: the rows are all over memory.
pub(super) fn multiply_listed(
    query: &[i8],
    rows: ByteRows<'_>,
    listed: &[u32],
    out: &mut Vec<i32>,
) {
    BEST.multiply_listed(query, rows, listed, out);
}

/// Inner product of floats; over the shorter length where the lengths differ.
pub(super) fn floats(a: &[f32], b: &[f32]) -> f32 {
    struct Floats<'a>(&'a [f32], &'a [f32]);

    impl WithSimd for Floats<'_> {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            floats_with(simd, self.0, self.1)
        }
    }

    Arch::new().dispatch(Floats(a, b))
}

/// Starts reading what stands at a place of a slice, for a moment later; nothing
/// where there is no such place.
#[inline(always)]
pub(super) fn prefetch<T>(slice: &[T], at: usize) {
    if let Some(place) = slice.get(at) {
        let place = std::ptr::from_ref(place).cast::<i8>();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: prefetching reads nothing; every x86-64 has the instruction.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place);
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: prefetching reads nothing; every aarch64 has the instruction.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{}]", in(reg) place, options(nostack, readonly));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _unused = place;
    }
}

/// Rows that are being read while one is multiplied.
const ROWS_AHEAD: usize = 3;
/// Bytes that memory is read by.
const LINE_BYTES: usize = 64;

/// What multiplies bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorUnit {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(target_arch = "aarch64")]
    NeonDotProduct,
}

static BEST: LazyLock<VectorUnit> =
    LazyLock::new(|| VectorUnit::available().last().copied().unwrap_or(VectorUnit::Portable));

impl VectorUnit {
    /// Those of this processor, the slowest first.
    fn available() -> Vec<Self> {
        let mut units = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            let found = [
                (is_x86_feature_detected!("avx2"), Self::Avx2),
                (wide, Self::Avx512),
                (wide && is_x86_feature_detected!("avx512vnni"), Self::Avx512Vnni),
            ];
            units.extend(found.into_iter().filter_map(|(has, unit)| has.then_some(unit)));
        }
        #[cfg(target_arch = "aarch64")]
        {
            let found = [
                (std::arch::is_aarch64_feature_detected!("neon"), Self::Neon),
                (std::arch::is_aarch64_feature_detected!("dotprod"), Self::NeonDotProduct),
            ];
            units.extend(found.into_iter().filter_map(|(has, unit)| has.then_some(unit)));
        }
        units
    }

    fn bytes(self, a: &[i8], b: &[i8]) -> i32 {
        let len = a.len().min(b.len());
        let (a, b) = (a.get(..len).unwrap_or_default(), b.get(..len).unwrap_or_default());
        match self {
            Self::Portable => portable(a, b),
            // SAFETY: a unit is made only where the processor was found to have it.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::avx2(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::avx512(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::vnni(a, b, x86::sum(a)) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Self::Neon => unsafe { arm::neon(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Self::NeonDotProduct => unsafe { arm::dot_product(a, b) },
        }
    }

    fn multiply_listed(self, query: &[i8], rows: ByteRows<'_>, listed: &[u32], out: &mut Vec<i32>) {
        out.clear();
        // One choice of the unit for all rows: each loop is compiled for its unit.
        match self {
            Self::Portable => each(query, rows, listed, out, portable),
            // SAFETY: a unit is made only where the processor was found to have it.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::each_avx2(query, rows, listed, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::each_avx512(query, rows, listed, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::each_vnni(query, rows, listed, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Self::Neon => unsafe { arm::each_neon(query, rows, listed, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Self::NeonDotProduct => unsafe { arm::each_dot_product(query, rows, listed, out) },
        }
    }
}

#[inline(always)]
fn each(
    query: &[i8],
    rows: ByteRows<'_>,
    listed: &[u32],
    out: &mut Vec<i32>,
    product: impl Fn(&[i8], &[i8]) -> i32,
) {
    let ahead = |row: &u32| {
        let start = *row as usize * rows.dimension;
        for at in (0..rows.dimension).step_by(LINE_BYTES) {
            prefetch(rows.bytes, start + at);
        }
    };
    listed.iter().take(ROWS_AHEAD).for_each(ahead);
    for (at, row) in listed.iter().enumerate() {
        listed.get(at + ROWS_AHEAD).into_iter().for_each(ahead);
        let row = rows.row(*row);
        // A row that is not there, or a query of another dimension, has no product.
        out.push(if row.len() == query.len() { product(query, row) } else { 0 });
    }
}

#[inline(always)]
fn portable(a: &[i8], b: &[i8]) -> i32 {
    let products = a.iter().zip(b).map(|(a, b)| i32::from(*a).wrapping_mul(i32::from(*b)));
    products.fold(0, i32::wrapping_add)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_setzero_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16,
        _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_maskz_loadu_epi8,
        _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_xor_si512,
    };

    use super::{ByteRows, each, portable};

    #[target_feature(enable = "avx2")]
    pub(super) fn each_avx2(q: &[i8], rows: ByteRows<'_>, listed: &[u32], out: &mut Vec<i32>) {
        each(q, rows, listed, out, |a, b| avx2(a, b));
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn each_avx512(q: &[i8], rows: ByteRows<'_>, listed: &[u32], out: &mut Vec<i32>) {
        each(q, rows, listed, out, |a, b| avx512(a, b));
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn each_vnni(q: &[i8], rows: ByteRows<'_>, listed: &[u32], out: &mut Vec<i32>) {
        let sum = sum(q);
        each(q, rows, listed, out, |a, b| vnni(a, b, sum));
    }

    /// Both slices are equally long.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(a: &[i8], b: &[i8]) -> i32 {
        let (a_chunks, a_rest) = a.as_chunks::<32>();
        let (b_chunks, b_rest) = b.as_chunks::<32>();
        let (mut low, mut high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            // SAFETY: 32 bytes each, which may stand at any address.
            let (a, b) = unsafe {
                (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()))
            };
            let a_low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(a));
            let b_low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(b));
            let a_high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(a));
            let b_high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(b));
            low = _mm256_add_epi32(low, _mm256_madd_epi16(a_low, b_low));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(a_high, b_high));
        }
        let sum = _mm256_add_epi32(low, high);
        let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b00_00_11_10>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b00_00_00_01>(sum));
        _mm_cvtsi128_si32(sum).wrapping_add(portable(a_rest, b_rest))
    }

    /// Both slices are equally long.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn avx512(a: &[i8], b: &[i8]) -> i32 {
        let (a_chunks, a_rest) = a.as_chunks::<32>();
        let (b_chunks, b_rest) = b.as_chunks::<32>();
        let mut sum = _mm512_setzero_si512();
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            // SAFETY: 32 bytes each, which may stand at any address.
            let (a, b) = unsafe {
                (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()))
            };
            let products = _mm512_madd_epi16(_mm512_cvtepi8_epi16(a), _mm512_cvtepi8_epi16(b));
            sum = _mm512_add_epi32(sum, products);
        }
        _mm512_reduce_add_epi32(sum).wrapping_add(portable(a_rest, b_rest))
    }

    /// Both slices are equally long, and `sum` is the sum of the first.
    ///
    /// The instruction multiplies bytes with a sign by bytes without one: `b` is
    /// moved up by 128, and what that adds is taken off at the end.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn vnni(a: &[i8], b: &[i8], sum: i32) -> i32 {
        let (a_chunks, a_rest) = a.as_chunks::<64>();
        let (b_chunks, b_rest) = b.as_chunks::<64>();
        let sign = _mm512_set1_epi8(i8::MIN);
        let (mut even, mut odd) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            // SAFETY: 64 bytes each, which may stand at any address.
            let (a, b) = unsafe {
                (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()))
            };
            // Each has to wait for the one before: two sums side by side.
            let next = _mm512_dpbusd_epi32(odd, _mm512_xor_si512(b, sign), a);
            odd = even;
            even = next;
        }
        if !a_rest.is_empty() {
            let mask = (1_u64 << a_rest.len()) - 1;
            // SAFETY: the mask lets in no more bytes than there are; the others are 0.
            let (a, b) = unsafe {
                (
                    _mm512_maskz_loadu_epi8(mask, a_rest.as_ptr()),
                    _mm512_maskz_loadu_epi8(mask, b_rest.as_ptr()),
                )
            };
            even = _mm512_dpbusd_epi32(even, _mm512_xor_si512(b, sign), a);
        }
        let moved = _mm512_reduce_add_epi32(_mm512_add_epi32(even, odd));
        moved.wrapping_sub(sum.wrapping_mul(128))
    }

    pub(super) fn sum(a: &[i8]) -> i32 {
        a.iter().map(|a| i32::from(*a)).sum()
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{
        int32x4_t, vaddq_s32, vaddvq_s32, vdupq_n_s32, vget_high_s8, vget_low_s8, vld1q_s8,
        vmull_s8, vpadalq_s16,
    };
    use std::arch::asm;

    use super::{ByteRows, each, portable};

    #[target_feature(enable = "neon")]
    pub(super) fn each_neon(q: &[i8], rows: ByteRows<'_>, listed: &[u32], out: &mut Vec<i32>) {
        each(q, rows, listed, out, |a, b| neon(a, b));
    }

    #[target_feature(enable = "neon,dotprod")]
    pub(super) fn each_dot_product(
        q: &[i8],
        rows: ByteRows<'_>,
        listed: &[u32],
        out: &mut Vec<i32>,
    ) {
        each(q, rows, listed, out, |a, b| dot_product(a, b));
    }

    /// Both slices are equally long.
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn neon(a: &[i8], b: &[i8]) -> i32 {
        let (a_chunks, a_rest) = a.as_chunks::<16>();
        let (b_chunks, b_rest) = b.as_chunks::<16>();
        let (mut low, mut high) = (vdupq_n_s32(0), vdupq_n_s32(0));
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            // SAFETY: 16 bytes each, which may stand at any address.
            let (a, b) = unsafe { (vld1q_s8(a.as_ptr()), vld1q_s8(b.as_ptr())) };
            low = vpadalq_s16(low, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
            high = vpadalq_s16(high, vmull_s8(vget_high_s8(a), vget_high_s8(b)));
        }
        vaddvq_s32(vaddq_s32(low, high)).wrapping_add(portable(a_rest, b_rest))
    }

    /// Both slices are equally long.
    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    pub(super) fn dot_product(a: &[i8], b: &[i8]) -> i32 {
        let (a_chunks, a_rest) = a.as_chunks::<16>();
        let (b_chunks, b_rest) = b.as_chunks::<16>();
        let (mut even, mut odd) = (vdupq_n_s32(0), vdupq_n_s32(0));
        for (a, b) in a_chunks.iter().zip(b_chunks) {
            let mut next: int32x4_t = odd;
            // The instruction by its name: its function is not stable everywhere.
            // SAFETY: 16 bytes each, which may stand at any address; the processor
            // has the instruction, and it changes `next` only.
            unsafe {
                let (a, b) = (vld1q_s8(a.as_ptr()), vld1q_s8(b.as_ptr()));
                asm!(
                    "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
                    sum = inout(vreg) next, a = in(vreg) a, b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            odd = even;
            even = next;
        }
        vaddvq_s32(vaddq_s32(even, odd)).wrapping_add(portable(a_rest, b_rest))
    }
}

/// Four sums side by side, as one addition has to wait for the one before.
#[inline(always)]
fn floats_with<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
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
    use proptest::prelude::{any, prop, proptest};

    fn close(found: f32, a: &[f32], b: &[f32]) -> bool {
        let exact: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let scale: f64 = a.iter().zip(b).map(|(a, b)| f64::from((a * b).abs())).sum();
        (f64::from(found) - exact).abs() <= 1e-5 * scale.max(1e-30)
    }

    /// The sum in other words than any of the units.
    fn exact(a: &[i8], b: &[i8]) -> i32 {
        let sum: i64 = a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
        i32::try_from(sum).unwrap()
    }

    proptest! {
        #[test]
        fn floats_give_the_sum_of_products(
            pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 0..300),
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            assert!(close(floats(&a, &b), &a, &b));
        }

        #[test]
        fn all_units_of_this_processor_agree(
            pairs in prop::collection::vec((any::<i8>(), any::<i8>()), 0..300),
            rest in prop::collection::vec(any::<i8>(), 0..3),
        ) {
            let (a, mut b): (Vec<i8>, Vec<i8>) = pairs.into_iter().unzip();
            let expect = exact(&a, &b);
            b.extend(rest);
            for unit in VectorUnit::available() {
                assert_eq!(unit.bytes(&a, &b), expect, "{unit:?}, {}", a.len());
                assert_eq!(unit.bytes(&b, &a), expect, "{unit:?}, {}", a.len());
            }
        }

        #[test]
        fn gathered_rows_come_in_the_order_asked_for(
            dimension in 1_usize..140,
            listed in prop::collection::vec(0_u32..7, 0..20),
            seed: u8,
        ) {
            let byte = |at: usize| {
                let byte = u8::try_from((at * 31 + usize::from(seed)) % 256).unwrap();
                byte.cast_signed()
            };
            let held: Vec<i8> = (0..7 * dimension).map(byte).collect();
            let query: Vec<i8> = (0..dimension).map(|at| byte(at * at)).collect();
            let rows = ByteRows { bytes: &held, dimension };
            let expect: Vec<i32> =
                listed.iter().map(|row| exact(&query, rows.row(*row))).collect();
            for unit in VectorUnit::available() {
                let mut out = vec![9];
                unit.multiply_listed(&query, rows, &listed, &mut out);
                assert_eq!(out, expect, "{unit:?}");
            }
        }
    }

    #[test]
    fn every_length_agrees_at_its_extremes() {
        for len in 0..200 {
            for (a, b) in [(-128, -128), (127, -128), (127, 127), (-128, 127)] {
                let (a, b) = (vec![a; len], vec![b; len]);
                for unit in VectorUnit::available() {
                    assert_eq!(unit.bytes(&a, &b), exact(&a, &b), "{unit:?}, {len}");
                }
            }
        }
    }

    #[test]
    fn a_row_that_is_not_there_has_no_product() {
        let rows = ByteRows { bytes: &[1, 2, 3, 4], dimension: 2 };
        let mut out = Vec::new();
        multiply_listed(&[1, 1], rows, &[1, 2, u32::MAX, 0], &mut out);
        assert_eq!(out, [7, 0, 0, 3]);
    }
}
