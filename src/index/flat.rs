//! Flat index: exact scan of the selected vectors.

use crate::base::embedding::Embedding;
use crate::index::Row;
use crate::index::VectorIndex;
use crate::index::distance;
use crate::index::quantization::sq8::{Sq8Query, Sq8Vectors};
use crate::index::selection::Selection;
use crate::index::top_k::{Scored, TopK};

/// Vectors in one allocation. With all in one, growing would copy them while searches
/// wait.
const BLOCK_ROWS: usize = 4_096;

/// Exact search in time linear in the rows: what 8-bit vectors cannot rule out is
/// compared in full.
#[derive(Debug)]
pub struct FlatIndex {
    dimension: usize,
    blocks: Vec<VectorBlock>,
    len: u32,
}

#[derive(Debug)]
struct VectorBlock {
    floats: Vec<f32>,
    coarse: Sq8Vectors,
}

impl FlatIndex {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, blocks: Vec::new(), len: 0 }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// A row's vector; `None` for a row that is not there.
    pub fn embedding(&self, row: Row) -> Option<Embedding> {
        Embedding::new(self.vector(row)?.to_vec(), self.dimension).ok()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let a_row = self.dimension * (size_of::<f32>() + size_of::<i8>());
        self.blocks.len() * BLOCK_ROWS * a_row
    }

    fn vector(&self, row: Row) -> Option<&[f32]> {
        let block = self.blocks.get(row.at() / BLOCK_ROWS)?;
        let start = row.at() % BLOCK_ROWS * self.dimension;
        block.floats.get(start..start + self.dimension)
    }

    /// Selected rows that may be among the `n` nearest.
    fn candidates(&self, query: &Embedding, n: usize, within: &Selection) -> Vec<Row> {
        let query = Sq8Query::new(query.as_slice());
        let (mut certain, mut possible) = (TopK::new(n), Vec::new());
        let starts = (0..self.len).step_by(BLOCK_ROWS);
        for (block, first) in self.blocks.iter().zip(starts) {
            block.coarse.estimate(&query, Row(first), within, |row, range| {
                certain.offer(row, range.low);
                if range.high >= certain.bar() {
                    possible.push((row, range.high));
                }
            });
        }
        // At least `n` rows reach the bar: a row that cannot is not among the nearest.
        let bar = certain.bar();
        possible.into_iter().filter(|(_, high)| *high >= bar).map(|(row, _)| row).collect()
    }
}

impl VectorIndex for FlatIndex {
    fn insert(&mut self, vector: &Embedding) -> Option<Row> {
        let row = Row(self.len);
        if vector.dimension() != self.dimension || self.len == u32::MAX {
            return None;
        }
        if row.at().is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(VectorBlock {
                floats: Vec::with_capacity(BLOCK_ROWS * self.dimension),
                coarse: Sq8Vectors::with_capacity(BLOCK_ROWS, self.dimension),
            });
        }
        let block = self.blocks.last_mut()?;
        block.floats.extend_from_slice(vector.as_slice());
        block.coarse.push(vector.as_slice());
        self.len += 1;
        Some(row)
    }

    fn search(&self, query: &Embedding, n: usize, within: &Selection) -> Vec<Scored> {
        let mut top = TopK::new(n);
        if n > 0 && query.dimension() == self.dimension {
            for row in self.candidates(query, n, within) {
                if let Some(cosine) = self.cosine(query, row) {
                    top.offer(row, cosine);
                }
            }
        }
        top.into_sorted()
    }

    fn cosine(&self, query: &Embedding, row: Row) -> Option<f32> {
        let vector = self.vector(row).filter(|_| query.dimension() == self.dimension)?;
        Some(distance::floats(query.as_slice(), vector).clamp(-1.0, 1.0))
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

    fn fill(vectors: &[Embedding]) -> FlatIndex {
        let mut tail = FlatIndex::new(DIMENSION);
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
        fn search_equals_a_sort_of_all_cosines(
            (rows, marked) in prop::collection::vec(components(), 0..80).prop_flat_map(|rows| {
                let len = rows.len();
                (Just(rows), prop::option::of(prop::collection::vec(any::<bool>(), len)))
            }),
            query in components(),
            n in 0_usize..20,
        ) {
            let vectors: Vec<_> = rows.iter().map(|row| embedding(row)).collect();
            let (tail, query) = (fill(&vectors), embedding(&query));
            let within = marked.map_or(Selection::All, |marks| Selection::from_marks(&marks));
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
        let mut tail = FlatIndex::new(2);
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

    /// Where coarse vectors rule out nearly all, none of the nearest is among those.
    #[test]
    fn nearest_vectors_survive_the_pruning() {
        let mut state = 1_u64;
        let mut random = || {
            let components = (0..DIMENSION).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                i8::try_from(state >> 57).unwrap() - 63
            });
            embedding(&components.collect::<Vec<_>>())
        };
        let vectors: Vec<_> = (0..3_000).map(|_| random()).collect();
        let tail = fill(&vectors);
        for _ in 0..20 {
            let query = random();
            let found: Vec<usize> =
                tail.search(&query, 10, &Selection::All).iter().map(|it| it.row.at()).collect();
            let mut exact: Vec<usize> = (0..vectors.len()).collect();
            exact.sort_by(|a, b| vectors[*b].cosine(&query).total_cmp(&vectors[*a].cosine(&query)));
            assert_eq!(found, exact[..10]);
            assert!(tail.candidates(&query, 10, &Selection::All).len() < 300, "none ruled out");
        }
    }

    #[test]
    fn another_dimension_finds_and_changes_nothing() {
        let mut tail = fill(&[embedding(&[1; DIMENSION])]);
        let other = Embedding::new(vec![1.0], 1).unwrap();
        assert_eq!(tail.insert(&other), None);
        assert_eq!(tail.search(&other, 5, &Selection::All), []);
        assert_eq!(tail.cosine(&other, Row(0)), None);
        assert_eq!(tail.len(), 1);
    }
}
