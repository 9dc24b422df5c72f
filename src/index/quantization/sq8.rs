//! 8-bit scalar quantization with one scale a vector, and a bound on the error of each
//! product.
//!
//! A scan of vectors that do not fit into the processor's cache takes as long as reading
//! them. Read as bytes first, most are ruled out, with certainty: each product comes
//! with a bound on its error.

use crate::index::Row;
use crate::index::distance::{self, ByteRows};
use crate::index::quantization::step;
use crate::index::selection::Selection;

/// Largest code, so that codes fit a signed byte.
const CODE_MAX: f32 = 127.0;
/// Rounding of a sum of floats, for each term.
const ROUNDING: f32 = 1e-7;

/// Scale and error of a vector's codes.
#[derive(Debug, Clone, Copy)]
struct VectorScale {
    /// Value of one step of a code.
    step: f32,
    /// Norm of the quantization error.
    loss: f32,
}

/// Quantized unit vectors of one dimension.
#[derive(Debug, Default)]
pub(in crate::index) struct Sq8Vectors {
    codes: Vec<i8>,
    measures: Vec<VectorScale>,
}

/// Quantized query.
#[derive(Debug)]
pub(in crate::index) struct Sq8Query {
    codes: Vec<i8>,
    measure: VectorScale,
}

/// Certain range of an inner product.
#[derive(Debug, Clone, Copy)]
pub(in crate::index) struct ScoreRange {
    pub(in crate::index) low: f32,
    pub(in crate::index) high: f32,
}

impl Sq8Vectors {
    pub(in crate::index) fn with_capacity(rows: usize, dimension: usize) -> Self {
        let codes = Vec::with_capacity(rows * dimension);
        Self { codes, measures: Vec::with_capacity(rows) }
    }

    pub(in crate::index) fn push(&mut self, vector: &[f32]) {
        let measure = encode(vector, |code| self.codes.push(code));
        self.measures.push(measure);
    }

    /// Calls `take` with each selected row and the range of its product with `query`.
    /// The first of these rows is `first` in the selection.
    pub(in crate::index) fn estimate(
        &self,
        query: &Sq8Query,
        first: Row,
        within: &Selection,
        mut take: impl FnMut(Row, ScoreRange),
    ) {
        let listed = (0_u32..).take(self.measures.len());
        let listed: Vec<u32> =
            listed.filter(|at| within.contains(Row(first.0.saturating_add(*at)))).collect();
        let rows = ByteRows { bytes: &self.codes, dimension: query.codes.len() };
        let mut products = Vec::with_capacity(listed.len());
        distance::multiply_listed(&query.codes, rows, &listed, &mut products);
        let rounding = ROUNDING * query.codes.len() as f32;
        for (at, product) in listed.into_iter().zip(products) {
            if let Some(measure) = self.measures.get(at as usize) {
                let row = Row(first.0.saturating_add(at));
                let product = product as f32 * query.measure.step * measure.step;
                let off = query.measure.loss * (1.0 + measure.loss) + measure.loss + rounding;
                take(row, ScoreRange { low: product - off, high: product + off });
            }
        }
    }
}

impl Sq8Query {
    pub(in crate::index) fn new(vector: &[f32]) -> Self {
        let mut codes = Vec::with_capacity(vector.len());
        let measure = encode(vector, |code| codes.push(code));
        Self { codes, measure }
    }
}

fn encode(vector: &[f32], mut put: impl FnMut(i8)) -> VectorScale {
    let step = step(vector, CODE_MAX);
    let mut squares = 0.0;
    for x in vector {
        let code = (x / step).round();
        squares += (x - code * step).powi(2);
        #[expect(clippy::cast_possible_truncation, reason = "within ±127 by the choice of step")]
        put(code as i8);
    }
    VectorScale { step, loss: squares.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::embedding::Embedding;
    use proptest::prelude::{prop, proptest};

    proptest! {
        #[test]
        fn the_product_lies_in_its_range(
            pairs in prop::collection::vec((-1_f32..1.0, -1_f32..1.0), 1..200),
            small in 1e-6_f32..1.0,
        ) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            // Components of very different size are what coarse codes say worst.
            let a = a.iter().enumerate().map(|(at, x)| if at == 0 { *x } else { x * small });
            let dimension = b.len();
            let unit = |raw: Vec<f32>| Embedding::new(raw, dimension);
            let (Ok(a), Ok(b)) = (unit(a.collect()), unit(b)) else { return Ok(()) };
            let exact: f64 =
                a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let mut rows = Sq8Vectors::default();
            rows.push(b.as_slice());
            let mut found = Vec::new();
            let query = Sq8Query::new(a.as_slice());
            rows.estimate(&query, Row(7), &Selection::All, |row, range| found.push((row, range)));
            let [(Row(7), ScoreRange { low, high })] = found[..] else { panic!("{found:?}") };
            assert!((f64::from(low)..=f64::from(high)).contains(&exact), "{low} {exact} {high}");
        }
    }

    #[test]
    fn the_range_is_narrow_for_vectors_as_models_make_them() {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let raw = (0..256).map(|i| ((i * 7_919) % 1_000) as f32 / 500.0 - 1.0).collect();
        let vector = Embedding::new(raw, 256).unwrap();
        let mut rows = Sq8Vectors::default();
        rows.push(vector.as_slice());
        let query = Sq8Query::new(vector.as_slice());
        rows.estimate(&query, Row(0), &Selection::All, |_, ScoreRange { low, high }| {
            assert!(low > 0.97 && high < 1.03, "{low} {high}");
        });
    }
}
