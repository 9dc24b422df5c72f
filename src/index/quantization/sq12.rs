//! 12-bit scalar quantization with one scale a vector, in two parts: 8 bits for the
//! search, 4 more for rescoring.
//!
//! A component is `step · (16 · coarse + fine)`, with coarse in ±127 and fine in −8..8.
//! The query has 16 bits. All sums are of integers, so a cosine has the same bits on
//! every processor.

use crate::base::embedding::Embedding;
use crate::index::distance::{self, ByteRows};
use crate::index::quantization::step;

/// Largest code: 16 · 127 + 7.
const STEPS_MAX: f32 = 2_039.0;
/// Largest code of a query: 256 · 127 + 127.
const QUERY_STEPS_MAX: f32 = 32_639.0;
/// Scale of a product of coarse parts: 16 · 256.
const COARSE_STEPS: f32 = 4_096.0;
/// Of a few products of floats.
const ROUNDING: f32 = 1e-5;
/// Rows begin where memory is read from, as long as their length allows it.
const ALIGNMENT: usize = 64;

/// Quantized vectors of one dimension, appended and never changed.
#[derive(Debug, Default)]
pub(in crate::index) struct Sq12Vectors {
    dimension: usize,
    /// The bytes of all rows; they begin at `start`, aligned.
    coarse: Vec<i8>,
    start: usize,
    /// Two components a byte: low bits the first half of a row, high bits the second.
    fine: Vec<u8>,
    steps: Vec<f32>,
}

/// Quantized query.
#[derive(Debug, Clone)]
pub struct Sq12Query {
    /// `step · (256 · coarse + low)`.
    coarse: Vec<i8>,
    low: Vec<i8>,
    step: f32,
    /// Norm of the low parts.
    loss: f32,
}

/// Buffer of one row's fine components.
#[derive(Debug, Default)]
pub(in crate::index) struct Unpacked(Vec<i8>);

impl Sq12Vectors {
    /// Room for `rows`; beyond those, memory is moved, and rows may begin anywhere.
    pub(in crate::index) fn with_capacity(rows: usize, dimension: usize) -> Self {
        let mut coarse: Vec<i8> = Vec::with_capacity(rows * dimension + ALIGNMENT);
        let start = coarse.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        coarse.resize(start, 0);
        Self {
            dimension,
            coarse,
            start,
            fine: Vec::with_capacity(rows * dimension.div_ceil(2)),
            steps: Vec::with_capacity(rows),
        }
    }

    pub(in crate::index) fn push(&mut self, vector: &[f32]) {
        let step = step(vector, STEPS_MAX);
        self.steps.push(step);
        let half = self.dimension.div_ceil(2);
        let first = self.fine.len();
        self.fine.resize(first + half, 0);
        let packed = self.fine.get_mut(first..).unwrap_or_default();
        for (at, x) in vector.iter().take(self.dimension).enumerate() {
            let steps = quantise(*x, step, STEPS_MAX);
            let coarse = (steps + 8) >> 4;
            self.coarse.push(narrow(coarse));
            let fine = narrow(steps - (coarse << 4)).cast_unsigned() & 0x0F;
            if let Some(byte) = packed.get_mut(at % half) {
                *byte |= if at < half { fine } else { fine << 4 };
            }
        }
    }

    /// Appends a row of another, bit for bit. Both have one dimension.
    pub(in crate::index) fn push_from(&mut self, other: &Self, row: u32) {
        let half = self.dimension.div_ceil(2);
        let at = row as usize;
        let packed = other.fine.get(at * half..(at + 1) * half);
        if let (Some(step), Some(packed)) = (other.steps.get(at), packed) {
            self.coarse.extend_from_slice(other.rows().row(row));
            self.fine.extend_from_slice(packed);
            self.steps.push(*step);
        }
    }

    pub(in crate::index) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(in crate::index) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(in crate::index) fn rows(&self) -> ByteRows<'_> {
        let bytes = self.coarse.get(self.start..).unwrap_or_default();
        ByteRows { bytes, dimension: self.dimension }
    }

    /// The cosine of a row with a query, in −1..1, at most [`Sq12Vectors::error`] off;
    /// `None` for a row that is not there or a query of another dimension.
    pub(in crate::index) fn cosine(
        &self,
        query: &Sq12Query,
        row: u32,
        unpacked: &mut Unpacked,
    ) -> Option<f32> {
        let half = self.dimension.div_ceil(2);
        let at = row as usize;
        let step = *self.steps.get(at)?;
        let packed = self.fine.get(at * half..(at + 1) * half)?;
        let coarse = self.rows().row(row);
        if query.coarse.len() != self.dimension || coarse.len() != self.dimension {
            return None;
        }
        let fine = &mut unpacked.0;
        fine.clear();
        fine.extend(packed.iter().map(|byte| (byte << 4).cast_signed() >> 4));
        fine.extend(packed.iter().map(|byte| byte.cast_signed() >> 4));
        let product = |a: &[i8], b: &[i8]| i64::from(distance::bytes(a, b));
        let steps = (product(&query.coarse, coarse) << 12)
            + (product(&query.low, coarse) << 4)
            + (product(&query.coarse, fine) << 8)
            + product(&query.low, fine);
        Some((steps as f32 * (step * query.step)).clamp(-1.0, 1.0))
    }

    /// Prefetches the fine part of a row, which [`Sq12Vectors::cosine`] reads and a
    /// graph search has not.
    pub(in crate::index) fn prefetch(&self, row: u32) {
        let half = self.dimension.div_ceil(2);
        for byte in (0..half).step_by(ALIGNMENT) {
            distance::prefetch(&self.fine, row as usize * half + byte);
        }
    }

    /// Upper bound of a row's cosine, by its score of coarse parts alone.
    pub(in crate::index) fn upper_bound(&self, query: &Sq12Query, row: u32, score: f32) -> f32 {
        let step = self.steps.get(row as usize).copied().unwrap_or_default();
        // A row's fine parts are 8 steps at most, a unit vector's product with them at
        // most their length.
        let fine = 8.0 * step * (self.dimension as f32).sqrt();
        let off = fine + query.loss * (1.0 + fine);
        (score * query.step * COARSE_STEPS + off) * (1.0 + ROUNDING) + ROUNDING
    }

    /// How far [`Sq12Vectors::cosine`] of a row can be off: each component of the row is
    /// half a step off at most, each of the query half of one of its own, and a
    /// unit vector's inner product with an error is at most the error's length.
    /// For captions at dimension 384 this is .001 and the usual error .00003.
    #[cfg(test)]
    fn error(&self, query: &Sq12Query, row: u32) -> f32 {
        let root = (self.dimension as f32).sqrt() / 2.0;
        let step = self.steps.get(row as usize).copied().unwrap_or_default();
        let (of_row, of_query) = (step * root, query.step * root);
        of_row + of_query * (1.0 + of_row) + 1e-6
    }

    pub(in crate::index) fn memory_bytes(&self) -> usize {
        self.coarse.capacity() + self.fine.capacity() + self.steps.capacity() * size_of::<f32>()
    }

    /// Coarse components, fine ones and steps of all rows, for writing.
    pub(in crate::index) fn parts(&self) -> (&[i8], &[u8], &[f32]) {
        (self.rows().bytes, &self.fine, &self.steps)
    }

    /// Appends the coarse components that [`Sq12Vectors::parts`] gave.
    pub(in crate::index) fn extend_coarse(&mut self, bytes: &[u8]) {
        self.coarse.extend(bytes.iter().map(|byte| byte.cast_signed()));
    }

    /// Adds the rest of what [`Sq12Vectors::parts`] gave. `None` where the parts are not of
    /// one number of rows, or a step is none.
    pub(in crate::index) fn complete(self, fine: Vec<u8>, steps: Vec<f32>) -> Option<Self> {
        let rows = steps.len();
        let fits = self.rows().bytes.len() == rows.checked_mul(self.dimension)?
            && fine.len() == rows.checked_mul(self.dimension.div_ceil(2))?
            && steps.iter().all(|step| step.is_finite() && *step > 0.0);
        fits.then_some(Self { fine, steps, ..self })
    }
}

impl Sq12Query {
    pub fn new(vector: &Embedding) -> Self {
        let vector = vector.as_slice();
        let step = step(vector, QUERY_STEPS_MAX);
        let (mut coarse, mut low) = (Vec::new(), Vec::new());
        for x in vector {
            let steps = quantise(*x, step, QUERY_STEPS_MAX);
            let high = (steps + 128) >> 8;
            coarse.push(narrow(high));
            low.push(narrow(steps - (high << 8)));
        }
        let squares: f32 = low.iter().map(|low| f32::from(*low).powi(2)).sum();
        Self { coarse, low, step, loss: step * squares.sqrt() }
    }

    /// Score by coarse parts alone of a row with this cosine, about.
    pub(in crate::index) fn score_of(&self, cosine: f32) -> f32 {
        cosine / (self.step * COARSE_STEPS)
    }

    pub(in crate::index) fn coarse(&self) -> &[i8] {
        &self.coarse
    }

    pub fn dimension(&self) -> usize {
        self.coarse.len()
    }
}

fn quantise(x: f32, step: f32, steps_max: f32) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped to thousands")]
    let steps = (x / step).round().clamp(-steps_max, steps_max) as i32;
    steps
}

fn narrow(code: i32) -> i8 {
    #[expect(clippy::cast_possible_truncation, reason = "within ±128 by the choice of the step")]
    let code = code as i8;
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};

    fn cosine(a: &Embedding, b: &Embedding) -> f64 {
        let products = a.as_slice().iter().zip(b.as_slice());
        products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    proptest! {
        #[test]
        fn the_error_of_a_cosine_is_within_its_bound(
            pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 1..200),
            small in 1e-6_f32..1.0,
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            // Components of very different size are what codes say worst.
            let a = a.iter().enumerate().map(|(at, x)| if at == 0 { *x } else { x * small });
            let dimension = b.len();
            let unit = |raw: Vec<f32>| Embedding::new(raw, dimension);
            let (Ok(a), Ok(b)) = (unit(a.collect()), unit(b)) else { return Ok(()) };
            let mut codes = Sq12Vectors::with_capacity(2, dimension);
            codes.push(b.as_slice());
            codes.push(a.as_slice());
            let query = Sq12Query::new(&b);
            for (row, vector) in [(0, &b), (1, &a)] {
                let found = codes.cosine(&query, row, &mut Unpacked::default()).unwrap();
                let off = (f64::from(found) - cosine(&b, vector)).abs();
                assert!(off <= f64::from(codes.error(&query, row)), "{off}");
                let product = distance::bytes(query.coarse(), codes.rows().row(row)) as f32;
                let upper_bound = codes.upper_bound(&query, row, product * codes.steps[row as usize]);
                assert!(found <= upper_bound, "{found} {upper_bound}");
            }
        }
    }

    #[test]
    fn vectors_as_models_make_them_are_off_by_little() {
        let vector = |seed: i32| {
            let raw = (0..384).map(|i| ((i * 7_919 * seed) % 1_009) as f32 / 500.0 - 1.0);
            Embedding::new(raw.collect(), 384).unwrap()
        };
        let query = vector(1);
        let mut codes = Sq12Vectors::with_capacity(40, 384);
        (2..42).for_each(|seed| codes.push(vector(seed).as_slice()));
        let codes_of_query = Sq12Query::new(&query);
        for (row, seed) in (0..40).zip(2..) {
            let found = codes.cosine(&codes_of_query, row, &mut Unpacked::default()).unwrap();
            assert!((f64::from(found) - cosine(&query, &vector(seed))).abs() < 1e-4);
            assert!(codes.error(&codes_of_query, row) < 1e-3);
        }
    }

    #[test]
    fn a_copied_row_is_the_same() {
        let vector = Embedding::new(vec![0.3, -0.5, 0.7], 3).unwrap();
        let mut codes = Sq12Vectors::with_capacity(1, 3);
        codes.push(vector.as_slice());
        let mut copy = Sq12Vectors::with_capacity(1, 3);
        copy.push_from(&codes, 0);
        copy.push_from(&codes, 1);
        assert_eq!((copy.parts(), copy.len()), (codes.parts(), 1));
    }
}
