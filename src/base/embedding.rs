//! Embedding of a text, checked once where it enters.

/// Unit-length, finite vector of one embedding model's dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

/// Errors of a vector.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadVector {
    #[error("the vector has {found} components, this memory's embedder makes {expected}")]
    Dimension { found: usize, expected: usize },
    #[error("component {at} of the vector is not a finite number")]
    NotFinite { at: usize },
    #[error("the vector has length zero")]
    Zero,
}

impl Embedding {
    /// Checks `raw` against `dimension` and scales it to unit length.
    pub fn new(mut raw: Vec<f32>, dimension: usize) -> Result<Self, BadVector> {
        if raw.len() != dimension {
            return Err(BadVector::Dimension { found: raw.len(), expected: dimension });
        }
        if let Some(at) = raw.iter().position(|x| !x.is_finite()) {
            return Err(BadVector::NotFinite { at });
        }
        // In f64, so that no finite input overflows or vanishes.
        let norm = raw.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        if norm == 0.0 {
            return Err(BadVector::Zero);
        }
        // A vector that is unit length already keeps its bits: what was stored
        // and read back is the same vector.
        if (norm - 1.0).abs() > 1e-6 {
            for x in &mut raw {
                #[expect(clippy::cast_possible_truncation, reason = "at most 1 in magnitude")]
                let scaled = (f64::from(*x) / norm) as f32;
                *x = scaled;
            }
        }
        Ok(Self(raw.into_boxed_slice()))
    }

    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    pub fn dimension(&self) -> usize {
        self.0.len()
    }

    /// Cosine with another embedding of the same model, in −1..1.
    pub fn cosine(&self, other: &Self) -> f32 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum::<f32>().clamp(-1.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_scaled_to_unit_length() {
        let it = Embedding::new(vec![3.0, 4.0], 2).unwrap();
        assert_eq!(it.as_slice(), [0.6, 0.8]);
    }

    #[test]
    fn reading_back_changes_no_bit() {
        let once = Embedding::new(vec![0.1, 0.7, -0.3], 3).unwrap();
        let twice = Embedding::new(once.as_slice().to_vec(), 3).unwrap();
        assert_eq!(once, twice);
    }

    #[test]
    fn huge_and_tiny_components_keep_their_direction() {
        let huge = Embedding::new(vec![f32::MAX, f32::MAX], 2).unwrap();
        let tiny = Embedding::new(vec![1e-38, 1e-38], 2).unwrap();
        assert!((huge.cosine(&tiny) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn refuses_what_has_no_direction_or_another_shape() {
        assert_eq!(Embedding::new(vec![0.0, 0.0], 2), Err(BadVector::Zero));
        assert_eq!(Embedding::new(vec![1.0, f32::NAN], 2), Err(BadVector::NotFinite { at: 1 }));
        let found = Embedding::new(vec![1.0], 2);
        assert_eq!(found, Err(BadVector::Dimension { found: 1, expected: 2 }));
    }
}
