//! Scalar quantization of unit vectors: [`sq8`] rules out with certainty, [`sq12`]
//! ranks within a segment.

pub mod sq12;
pub(super) mod sq8;
