//! Indexes in memory: vectors, postings, phrases, and the columns that filters read.
//!
//! Knows numbers and texts, not records: a record is a [`Row`] here. The store is the
//! truth; every index can be rebuilt from it.

pub mod bytes;
pub mod columns;
mod distance;
pub mod flat;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod hnsw;
pub mod lexical;
pub mod merge;
pub mod nouns;
pub mod phrases;
pub mod quantization;
pub mod selection;
pub mod strategy;
pub mod terms;
pub mod top_k;

use crate::base::embedding::Embedding;
use crate::index::selection::Selection;
use crate::index::top_k::Scored;

/// Row number in one index: counts from 0 in the order of insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

impl Row {
    /// Index into a slice.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Nearest-neighbour search by cosine.
///
/// All vectors have one dimension, fixed when the index is made. The n-th vector
/// inserted is row n − 1. There is no removal: deleted rows are left out by the
/// selection.
pub trait VectorIndex: Send + Sync + std::fmt::Debug {
    /// Appends a vector, which the next search finds.
    ///
    /// Returns its row; `None`, and nothing changes, when its dimension is
    /// another or the index is full.
    fn insert(&mut self, vector: &Embedding) -> Option<Row>;

    /// The `n` rows of `within` nearest to `query`, best first, equal ones in
    /// the order of rows. Fewer only where `within` holds fewer.
    ///
    /// An approximate index may miss rows but returns none outside of `within`,
    /// none twice, and each with the exact cosine that [`VectorIndex::cosine`]
    /// gives. Empty for a query of another dimension.
    fn search(&self, query: &Embedding, n: usize, within: &Selection) -> Vec<Scored>;

    /// Cosine of a row with `query`, in −1..1; `None` for a row that is not there
    /// or a query of another dimension.
    fn cosine(&self, query: &Embedding, row: Row) -> Option<f32>;

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
