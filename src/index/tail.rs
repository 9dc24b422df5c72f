//! A flat index: compares the query with every selected vector, exactly.

use crate::base::embedding::Embedding;
use crate::index::Row;
use crate::index::VectorIndex;
use crate::index::dot::{self, Rows};
use crate::index::selection::Selection;
use crate::index::top::{Scored, Top};

/// Vectors in one allocation. With all in one, growing would copy them all while
/// searches wait.
const BLOCK_ROWS: usize = 4_096;

/// Exact search in time linear in the rows, as fast as memory is read.
#[derive(Debug)]
pub struct FlatTail {
    dimension: usize,
    blocks: Vec<Vec<f32>>,
    len: u32,
}

impl FlatTail {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, blocks: Vec::new(), len: 0 }
    }

    fn vector(&self, row: Row) -> Option<&[f32]> {
        let block = self.blocks.get(row.at() / BLOCK_ROWS)?;
        let start = row.at() % BLOCK_ROWS * self.dimension;
        block.get(start..start + self.dimension)
    }
}

impl VectorIndex for FlatTail {
    fn insert(&mut self, vector: &Embedding) -> Option<Row> {
        let row = Row(self.len);
        if vector.dimension() != self.dimension || self.len == u32::MAX {
            return None;
        }
        if row.at().is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(Vec::with_capacity(BLOCK_ROWS * self.dimension));
        }
        self.blocks.last_mut()?.extend_from_slice(vector.as_slice());
        self.len += 1;
        Some(row)
    }

    fn search(&self, query: &Embedding, n: usize, within: &Selection) -> Vec<Scored> {
        let mut top = Top::new(n);
        if query.dimension() == self.dimension {
            let starts = (0..self.len).step_by(BLOCK_ROWS);
            for (floats, first) in self.blocks.iter().zip(starts) {
                let first = Row(first);
                dot::offer_all(Rows { query: query.as_slice(), floats, first, within }, &mut top);
            }
        }
        top.into_sorted()
    }

    fn cosine(&self, query: &Embedding, row: Row) -> Option<f32> {
        let vector = self.vector(row).filter(|_| query.dimension() == self.dimension)?;
        Some(dot::dot(query.as_slice(), vector).clamp(-1.0, 1.0))
    }

    fn len(&self) -> usize {
        self.len as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Just, Strategy as _, any, prop, proptest};

    const DIMENSION: usize = 19;

    fn embedding(components: &[i8]) -> Embedding {
        let mut raw: Vec<f32> = components.iter().map(|x| f32::from(*x)).collect();
        raw[0] += 0.5;
        Embedding::new(raw, DIMENSION).unwrap()
    }

    fn filled(vectors: &[Embedding]) -> FlatTail {
        let mut tail = FlatTail::new(DIMENSION);
        for (row, vector) in vectors.iter().enumerate() {
            assert_eq!(tail.insert(vector).unwrap().at(), row);
        }
        tail
    }

    /// Few directions, so that ties are common.
    fn components() -> impl proptest::strategy::Strategy<Value = Vec<i8>> {
        prop::collection::vec(-1_i8..=1, DIMENSION)
    }

    proptest! {
        #[test]
        fn finds_what_a_sort_of_all_cosines_finds(
            (rows, marked) in prop::collection::vec(components(), 0..80).prop_flat_map(|rows| {
                let len = rows.len();
                (Just(rows), prop::option::of(prop::collection::vec(any::<bool>(), len)))
            }),
            query in components(),
            n in 0_usize..20,
        ) {
            let vectors: Vec<_> = rows.iter().map(|row| embedding(row)).collect();
            let (tail, query) = (filled(&vectors), embedding(&query));
            let within = marked.map_or(Selection::All, Selection::Only);
            let found = tail.search(&query, n, &within);

            let mut exact: Vec<(f32, usize)> = vectors.iter().enumerate()
                .filter(|(row, _)| within.contains(Row(u32::try_from(*row).unwrap())))
                .map(|(row, vector)| (-vector.cosine(&query), row))
                .collect();
            exact.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(found.len(), n.min(exact.len()));
            for (found, (negated, _)) in found.iter().zip(&exact) {
                assert!((found.score + negated).abs() < 1e-5);
                assert!(within.contains(found.row));
                assert_eq!(tail.cosine(&query, found.row), Some(found.score));
            }
            assert!(found.windows(2).all(|pair| pair[0] > pair[1]), "order and ties");
        }
    }

    #[test]
    fn rows_are_found_across_blocks() {
        let mut tail = FlatTail::new(2);
        let turned = |degrees: f32| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            Embedding::new(vec![cosine, sine], 2).unwrap()
        };
        for row in 0..10_000_u16 {
            tail.insert(&turned(if row % 3_000 == 2_999 { 0.0 } else { 90.0 })).unwrap();
        }
        let found = tail.search(&turned(0.0), 3, &Selection::All);
        let rows: Vec<u32> = found.into_iter().map(|it| it.row.0).collect();
        assert_eq!(rows, [2_999, 5_999, 8_999]);
        assert_eq!((tail.len(), tail.cosine(&turned(0.0), Row(10_000))), (10_000, None));
    }

    #[test]
    fn another_dimension_finds_and_changes_nothing() {
        let mut tail = filled(&[embedding(&[1; DIMENSION])]);
        let other = Embedding::new(vec![1.0], 1).unwrap();
        assert_eq!(tail.insert(&other), None);
        assert_eq!(tail.search(&other, 5, &Selection::All), []);
        assert_eq!(tail.cosine(&other, Row(0)), None);
        assert_eq!(tail.len(), 1);
    }
}
