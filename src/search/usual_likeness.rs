//! How alike a query is to all texts of a collection together: some questions are a little like
//! every note, and what is only as alike as that answers nothing.
//!
//! Pure.

use crate::base::embedding::Embedding;

/// Mean cosine of a question and notes that do not answer it. This and the two below were chosen
/// with the 304 notes and questions of `models/caption-embedder/training/heldout_notes.tsv`: of
/// other notes than the right one .042 reach .6 (.058 without), of the right ones .743 (.737), and
/// their mean reciprocal rank is .516 (.515).
const UNRELATED: f32 = 0.065;
/// Texts that this mean counts for: the notes of one project are all alike to a question about it.
const PRIOR_TEXTS: f32 = 64.0;
/// Most that a cosine is lowered or raised by.
const EXCESS_MAX: f32 = 0.08;

/// The sum of a collection's vectors.
#[derive(Debug, Default)]
pub struct UsualLikeness {
    sum: Vec<f64>,
    count: usize,
}

impl UsualLikeness {
    pub fn add(&mut self, vector: &Embedding) {
        self.sum.resize(vector.dimension(), 0.0);
        let sum = self.sum.iter_mut().zip(vector.as_slice());
        sum.for_each(|(sum, component)| *sum += f64::from(*component));
        self.count += 1;
    }

    /// One that was added.
    pub fn remove(&mut self, vector: &Embedding) {
        self.count = self.count.saturating_sub(1);
        if self.count == 0 {
            self.sum.clear();
        }
        let sum = self.sum.iter_mut().zip(vector.as_slice());
        sum.for_each(|(sum, component)| *sum -= f64::from(*component));
    }

    /// How much more alike a query is to these texts than a question is to others' notes.
    pub fn excess(&self, query: &Embedding) -> f32 {
        let products = self.sum.iter().zip(query.as_slice());
        let all: f64 = products.map(|(sum, component)| sum * f64::from(*component)).sum();
        #[expect(clippy::cast_possible_truncation, reason = "a sum of cosines")]
        let all = all as f32;
        let mean = (all + PRIOR_TEXTS * UNRELATED) / (self.count as f32 + PRIOR_TEXTS);
        (mean - UNRELATED).clamp(-EXCESS_MAX, EXCESS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(x: f32, y: f32) -> Embedding {
        Embedding::new(vec![x, y], 2).unwrap()
    }

    #[test]
    fn a_query_that_is_like_all_texts_is_so_in_excess() {
        let (query, mut usual) = (vector(1.0, 0.0), UsualLikeness::default());
        assert!(usual.excess(&query).abs() < 1e-6, "of none nothing is known");
        usual.add(&vector(1.0, 1.0));
        let of_one = usual.excess(&query);
        assert!(of_one > 0.0 && of_one < 0.02, "{of_one}");
        (0..200).for_each(|_| usual.add(&vector(1.0, 1.0)));
        assert!((usual.excess(&query) - EXCESS_MAX).abs() < 1e-6);
        assert!((usual.excess(&vector(0.0, -1.0)) + EXCESS_MAX).abs() < 1e-6);
        (0..200).for_each(|_| usual.remove(&vector(1.0, 1.0)));
        assert!((usual.excess(&query) - of_one).abs() < 1e-6);
        usual.remove(&vector(1.0, 1.0));
        assert!(usual.excess(&query).abs() < 1e-6);
    }
}
