//! Scalar quantization of unit vectors: [`sq8`] rules out with certainty, [`sq12`]
//! ranks within a segment.

pub mod sq12;
pub(super) mod sq8;

/// Step of symmetric quantization: the largest component takes `steps_max` of them.
fn step(vector: &[f32], steps_max: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    (largest / steps_max).max(f32::MIN_POSITIVE)
}
