//! Approximate nearest-neighbour index of a sealed segment: a hierarchical navigable
//! small world graph (HNSW, Malkov & Yashunin 2016) over scalar-quantized vectors.
//!
//! Rows count from 0 in the order in which they were given. Knows nothing of records,
//! times or the store.

pub mod build;
pub mod codec;
mod connect;
mod join;
mod layout;
mod neighbours;
pub mod options;
pub mod search;

use crate::index::Row;
use crate::index::distance;
use crate::index::hnsw::layout::Graph;
use crate::index::hnsw::search::{Scratch, SearchParams, VectorView};
use crate::index::quantization::sq12::{Sq12Query, Sq12Vectors};
use crate::index::selection::Selection;
use crate::index::strategy::{Strategy, expands_two_hops};
use crate::index::top_k::{Scored, TopK};

/// Number of rows to find, and the lowest cosine of use.
#[derive(Debug, Clone, Copy)]
pub struct Nearest {
    /// Rows to return, at most.
    n: usize,
    /// Rows with a smaller cosine are of no use: enough nearer ones are known.
    floor: f32,
}

impl Nearest {
    pub fn above(n: usize, floor: f32) -> Self {
        Self { n, floor }
    }

    pub fn n(self) -> usize {
        self.n
    }
}

impl From<usize> for Nearest {
    fn from(n: usize) -> Self {
        Self::above(n, f32::NEG_INFINITY)
    }
}

/// Quantized vectors and the graph among them.
#[derive(Debug)]
pub struct HnswIndex {
    codes: Sq12Vectors,
    graph: Graph,
}

/// Candidates by 8-bit codes that are rescored with all 12 bits for the top `n`. What
/// that loses is in the recall that `engram bench ann` reports.
const fn shortlist(n: usize) -> usize {
    n.saturating_mul(2).saturating_add(16)
}

impl HnswIndex {
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn dimension(&self) -> usize {
        self.codes.dimension()
    }

    /// Memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let layers = self.graph.layers.iter().map(layout::Layer::memory_bytes);
        self.codes.memory_bytes() + layers.sum::<usize>() + size_of::<Self>()
    }

    /// The nearest rows of `within`, which selects `selected` of them: best first, equal
    /// ones in the order of rows; nothing for a query of another dimension.
    pub fn search(
        &self,
        query: &Sq12Query,
        nearest: impl Into<Nearest>,
        strategy: Strategy,
        (within, selected): (&Selection, usize),
        scratch: &mut Scratch,
    ) -> Vec<Scored> {
        match (strategy, within) {
            (Strategy::Scan, _) => self.scan(query, nearest, within.rows(self.len()), scratch),
            (Strategy::Graph { ef }, Selection::All) => {
                self.search_graph(query, nearest, ef, scratch)
            }
            (Strategy::Graph { ef }, Selection::Run(start, end)) => {
                let run = *start..*end;
                let allows = |row| run.contains(&row);
                self.search_graph_filtered(query, nearest, (ef, selected), allows, scratch)
            }
            (Strategy::Graph { ef }, Selection::Only(rows)) => {
                let allows = |row| rows.contains(row);
                self.search_graph_filtered(query, nearest, (ef, selected), allows, scratch)
            }
        }
    }

    /// Graph search with `ef` candidates.
    pub fn search_graph(
        &self,
        query: &Sq12Query,
        nearest: impl Into<Nearest>,
        ef: usize,
        scratch: &mut Scratch,
    ) -> Vec<Scored> {
        let (view, nearest) = (VectorView::of(&self.codes), nearest.into());
        if let Some((entry, ground)) = self.entry(query, scratch) {
            let params = params(query, nearest, ef);
            scratch.search_layer(view, ground, query.coarse(), entry, params);
            return self.rescore(query, nearest, |_| true, scratch);
        }
        Vec::new()
    }

    /// Graph search among the `size` rows that `allows` lets through, with `ef`
    /// candidates of those.
    pub fn search_graph_filtered(
        &self,
        query: &Sq12Query,
        nearest: impl Into<Nearest>,
        (ef, size): (usize, usize),
        allows: impl Fn(Row) -> bool,
        scratch: &mut Scratch,
    ) -> Vec<Scored> {
        let (view, nearest) = (VectorView::of(&self.codes), nearest.into());
        let params = params(query, nearest, ef);
        let Some((entry, ground)) = self.entry(query, scratch) else { return Vec::new() };
        if expands_two_hops(self.len(), size) {
            scratch.search_layer_two_hops(view, ground, query.coarse(), entry, params, |row| {
                allows(Row(row))
            });
        } else {
            scratch.search_layer_filtered(view, ground, query.coarse(), entry, params, |row| {
                allows(Row(row))
            });
        }
        self.rescore(query, nearest, allows, scratch)
    }

    /// Scan of the given rows; unknown ones are passed over.
    pub fn scan(
        &self,
        query: &Sq12Query,
        nearest: impl Into<Nearest>,
        rows: impl Iterator<Item = Row>,
        scratch: &mut Scratch,
    ) -> Vec<Scored> {
        let Nearest { n, floor } = nearest.into();
        if query.dimension() != self.dimension() || n == 0 {
            return Vec::new();
        }
        let view = VectorView::of(&self.codes);
        let mut near = TopK::new(shortlist(n));
        let mut rows = rows.map(|row| row.0).filter(|row| (*row as usize) < self.len()).peekable();
        while rows.peek().is_some() {
            scratch.listed.clear();
            scratch.listed.extend(rows.by_ref().take(SCAN_BATCH));
            distance::multiply_listed(
                query.coarse(),
                view.rows,
                &scratch.listed,
                &mut scratch.products,
            );
            for (row, product) in scratch.listed.iter().zip(&scratch.products) {
                near.offer(Row(*row), view.score(*product, *row));
            }
        }
        let mut top = TopK::new(n);
        for near in near.into_sorted() {
            if self.codes.upper_bound(query, near.row.0, near.score) < floor {
                continue;
            }
            if let Some(cosine) = self.codes.cosine(query, near.row.0, &mut scratch.unpacked) {
                top.offer(near.row, cosine);
            }
        }
        top.into_sorted()
    }

    /// Cosine of a row with a query, in −1..1, the same that a search gives; `None` for
    /// an unknown row or a query of another dimension.
    pub fn cosine(&self, query: &Sq12Query, row: Row, scratch: &mut Scratch) -> Option<f32> {
        self.codes.cosine(query, row.0, &mut scratch.unpacked)
    }

    /// Entry point on the lowest layer; `None` where there is nothing to find.
    fn entry(&self, query: &Sq12Query, scratch: &mut Scratch) -> Option<(u32, &layout::Layer)> {
        if query.dimension() != self.dimension() {
            return None;
        }
        let view = VectorView::of(&self.codes);
        let entry = scratch.descend(view, &self.graph, query.coarse(), 0)?;
        Some((entry, self.graph.layers.first()?))
    }

    /// Rescores the best candidates of a graph search with all 12 bits.
    fn rescore(
        &self,
        query: &Sq12Query,
        Nearest { n, floor }: Nearest,
        allows: impl Fn(Row) -> bool,
        scratch: &mut Scratch,
    ) -> Vec<Scored> {
        let Scratch { pool, unpacked, listed, .. } = scratch;
        let found = pool.results().map(|(place, score)| (Row(place), score));
        let found = found.filter(|(row, _)| allows(*row)).take(shortlist(n));
        listed.clear();
        listed.extend(found.filter_map(|(row, score)| {
            let may_be_near = self.codes.upper_bound(query, row.0, score) >= floor;
            may_be_near.then_some(row.0)
        }));
        let mut top = TopK::new(n);
        for (at, row) in listed.iter().enumerate() {
            if let Some(later) = listed.get(at + PREFETCH_DISTANCE) {
                self.codes.prefetch(*later);
            }
            if let Some(cosine) = self.codes.cosine(query, *row, unpacked) {
                top.offer(Row(*row), cosine);
            }
        }
        top.into_sorted()
    }
}

/// Rows prefetched ahead of the one being compared.
const PREFETCH_DISTANCE: usize = 8;

/// Parameters of a graph search.
fn params(query: &Sq12Query, Nearest { n, floor }: Nearest, ef: usize) -> SearchParams {
    SearchParams::new(ef.max(n), query.score_of(floor))
}

/// Rows of a scan whose products are computed together.
const SCAN_BATCH: usize = 256;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::embedding::Embedding;
    use crate::index::hnsw::build;
    use crate::index::hnsw::options::Options;
    use crate::index::strategy::strategy;
    use proptest::prelude::{Strategy, prop, proptest};
    use std::ops::ControlFlow;

    pub(in crate::index) const DIMENSION: usize = 24;

    /// A reproducible stream of numbers.
    #[derive(Debug, Clone)]
    pub(in crate::index) struct Stream(pub(in crate::index) u64);

    impl Stream {
        pub(in crate::index) fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut it = self.0;
            it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (it ^ (it >> 31)) % bound
        }

        /// About normal, by a sum.
        fn normal(&mut self) -> f32 {
            (0..6).map(|_| self.below(2_001) as f32 / 1_000.0 - 1.0).sum()
        }

        /// Points around `centres` far apart from each other: what graphs come apart on.
        pub(in crate::index) fn mixture(&mut self, points: usize, centres: u64) -> Vec<Embedding> {
            let middles: Vec<Vec<f32>> = (0..centres)
                .map(|_| (0..DIMENSION).map(|_| 6.0 * self.normal()).collect())
                .collect();
            (0..points)
                .map(|_| {
                    let middle = &middles[usize::try_from(self.below(centres)).unwrap()];
                    let raw = middle.iter().map(|x| x + self.normal()).collect();
                    Embedding::new(raw, DIMENSION).unwrap()
                })
                .collect()
        }
    }

    pub(in crate::index) fn build_graph(vectors: &[Embedding]) -> HnswIndex {
        let go_on = || ControlFlow::Continue(());
        build::build(DIMENSION, vectors.iter(), &Options::default(), &go_on).unwrap()
    }

    /// The best of some rows by a sort of all exact cosines.
    fn exact(vectors: &[Embedding], query: &Embedding, n: usize, rows: &[u32]) -> Vec<f32> {
        let cosine = |row: &u32| vectors[*row as usize].cosine(query);
        let mut cosines: Vec<f32> = rows.iter().map(cosine).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        cosines.truncate(n);
        cosines
    }

    /// Share of what was found that is as near as what an exact scan finds.
    fn recall(vectors: &[Embedding], query: &Embedding, found: &[Scored], rows: &[u32]) -> f64 {
        let best = exact(vectors, query, 10, rows);
        let bar = best.last().copied().unwrap_or(1.0) - 1e-4;
        let hits = found.iter().filter(|it| vectors[it.row.at()].cosine(query) >= bar).count();
        hits as f64 / best.len() as f64
    }

    #[test]
    fn every_row_of_a_mixture_finds_itself() {
        for (points, centres) in [(2_000, 20), (9_000, 300)] {
            let vectors = Stream(7).mixture(points, centres);
            let segment = build_graph(&vectors);
            let mut scratch = Scratch::default();
            for (row, vector) in vectors.iter().enumerate() {
                let found = segment.search_graph(&Sq12Query::new(vector), 1, 64, &mut scratch);
                let found = found.first().map(|it| it.row.at());
                assert_eq!(found, Some(row), "{points} points around {centres}");
            }
        }
    }

    #[test]
    fn graph_search_reaches_the_recall_of_a_scan() {
        let mut vectors = Stream(3).mixture(9_100, 300);
        let queries = vectors.split_off(9_000);
        let (segment, all) = (build_graph(&vectors), (0..9_000).collect::<Vec<u32>>());
        let (mut scratch, mut sum) = (Scratch::default(), 0.0);
        for query in queries {
            let found = segment.search_graph(&Sq12Query::new(&query), 10, 128, &mut scratch);
            assert!(found.len() == 10 && found.windows(2).all(|pair| pair[0] > pair[1]));
            sum += recall(&vectors, &query, &found, &all);
        }
        assert!(sum >= 99.0, "recall {}", sum / 100.0);
    }

    /// With whatever share let through, whether its rows follow each other or not.
    #[test]
    fn filters_cost_no_recall() {
        let mut vectors = Stream(5).mixture(9_050, 300);
        let queries = vectors.split_off(9_000);
        let segment = build_graph(&vectors);
        let mut scratch = Scratch::default();
        for share in [2, 5, 10, 40, 100, 1_000] {
            let window: Vec<u32> = (4_000..4_000 + 9_000 / share).collect();
            let mut stream = Stream(u64::from(share));
            let scattered: Vec<u32> =
                (0..9_000).filter(|_| stream.below(u64::from(share)) == 0).collect();
            for rows in [window, scattered] {
                let within = Selection::from_bitmap(&rows.iter().copied().collect(), 9_000);
                let strategy = strategy(9_000, rows.len(), 10);
                let mut sum = 0.0;
                for query in &queries {
                    let codes = Sq12Query::new(query);
                    let selected = (&within, rows.len());
                    let found = segment.search(&codes, 10, strategy, selected, &mut scratch);
                    assert_eq!(found.len(), rows.len().min(10));
                    assert!(found.iter().all(|it| rows.contains(&it.row.0)));
                    sum += recall(&vectors, query, &found, &rows);
                }
                assert!(sum >= 49.5, "one in {share}: {}", sum / 50.0);
            }
        }
    }

    /// Also where [`strategy`] would scan.
    #[test]
    fn filtered_graph_search_reaches_the_recall_of_a_scan() {
        let mut vectors = Stream(5).mixture(9_050, 300);
        let queries = vectors.split_off(9_000);
        let segment = build_graph(&vectors);
        let mut scratch = Scratch::default();
        for share in [1, 2, 5, 10] {
            let rows: Vec<u32> = (0..9_000).filter(|row| row % share == 0).collect();
            let mut sum = 0.0;
            for query in &queries {
                let codes = Sq12Query::new(query);
                let allows = |row: Row| row.0.is_multiple_of(share);
                let (size, n) = (rows.len(), 10);
                let found =
                    segment.search_graph_filtered(&codes, n, (128, size), allows, &mut scratch);
                assert!(found.iter().all(|it| allows(it.row)));
                sum += recall(&vectors, query, &found, &rows);
            }
            assert!(sum >= 49.0, "one in {share}: {}", sum / 50.0);
        }
    }

    /// What is nearer than the floor is found as without one, however it is found.
    #[test]
    fn a_floor_costs_nothing_above_it() {
        let mut vectors = Stream(11).mixture(9_050, 300);
        let queries = vectors.split_off(9_000);
        let (segment, mut scratch) = (build_graph(&vectors), Scratch::default());
        let (mut found, mut there) = (0, 0);
        for query in &queries {
            let codes = Sq12Query::new(query);
            let all = segment.scan(&codes, 64, (0..9_000).map(Row), &mut scratch);
            for kept in [1, 10, 40] {
                let floor = all[kept - 1].score;
                let nearest = Nearest::above(64, floor);
                let above = |it: &&Scored| it.score >= floor;
                let expected: Vec<Scored> = all.iter().filter(above).copied().collect();
                let scan = segment.scan(&codes, nearest, (0..9_000).map(Row), &mut scratch);
                assert_eq!(scan.iter().filter(above).copied().collect::<Vec<_>>(), expected);
                assert!(scan.len() < 64, "what is farther is left out");
                let walk = segment.search_graph(&codes, nearest, 96, &mut scratch);
                found += walk.iter().filter(above).filter(|it| expected.contains(it)).count();
                there += expected.len();
            }
        }
        assert!(found * 100 >= there * 99, "{found} of {there}");
    }

    proptest! {
        /// Few directions, so that ties and equal vectors are common.
        #[test]
        fn small_segments_are_searched_exactly(
            rows in prop::collection::vec(directions(), 0..60),
            query in directions(),
            n in 0_usize..20,
            first in 0_u32..60,
        ) {
            let vectors: Vec<Embedding> = rows;
            let segment = build_graph(&vectors);
            let mut scratch = Scratch::default();
            let codes = Sq12Query::new(&query);
            let len = u32::try_from(vectors.len()).unwrap();
            let allowed = first.min(len)..len;
            let run = Selection::Run(Row(allowed.start), Row(allowed.end));
            let strategy = strategy(vectors.len(), allowed.len(), n);
            let within = (&run, allowed.len());
            let found = segment.search(&codes, n, strategy, within, &mut scratch);
            let best = exact(&vectors, &query, n, &allowed.clone().collect::<Vec<_>>());
            assert_eq!(found.len(), best.len());
            for (found, best) in found.iter().zip(best) {
                assert!((found.score - best).abs() < 2e-3, "{found:?} {best}");
                assert!(allowed.contains(&found.row.0));
                let again = segment.cosine(&codes, found.row, &mut scratch);
                assert_eq!(again, Some(found.score));
            }
            assert!(found.windows(2).all(|pair| pair[0] > pair[1]), "order and ties");
            assert_eq!(segment.cosine(&codes, Row(len), &mut scratch), None);
        }
    }

    fn directions() -> impl Strategy<Value = Embedding> {
        prop::collection::vec(-1_i8..=1, DIMENSION).prop_map(|raw| {
            let mut raw: Vec<f32> = raw.into_iter().map(f32::from).collect();
            raw[0] += 0.5;
            Embedding::new(raw, DIMENSION).unwrap()
        })
    }

    #[test]
    fn another_dimension_finds_nothing() {
        let segment = build_graph(&Stream(1).mixture(50, 3));
        let query = Sq12Query::new(&Embedding::new(vec![1.0], 1).unwrap());
        let mut scratch = Scratch::default();
        let all = (&Selection::All, 50);
        assert_eq!(segment.search(&query, 5, strategy(50, 50, 5), all, &mut scratch), []);
        assert_eq!(segment.search_graph(&query, 5, 9, &mut scratch), []);
        assert_eq!(segment.search_graph_filtered(&query, 5, (9, 5), |_| true, &mut scratch), []);
        assert_eq!(segment.cosine(&query, Row(0), &mut scratch), None);
    }
}
