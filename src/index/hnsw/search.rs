//! Graph search: SEARCH-LAYER of HNSW (Malkov & Yashunin 2016, Algorithm 2), and two
//! filtered variants.
//!
//! Knows layers and codes; the filter is a predicate that each caller's search is
//! compiled for. Nothing is allocated for a node: candidates and marks are in a
//! [`Scratch`], reused by the next search.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::index::distance::{self, ByteRows};
use crate::index::hnsw::layout::{Graph, Layer};
use crate::index::quantization::sq12::{Sq12Vectors, Unpacked};

/// Scratch memory of one search at a time. Grows with the segments that it is used on,
/// by a bit a row.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) visited: Visited,
    pub(super) pool: Pool,
    /// Candidates to expand, where those are not the pool's.
    frontier: BinaryHeap<PoolEntry>,
    fresh: Vec<u32>,
    rows: Vec<u32>,
    pub(super) products: Vec<i32>,
    pub(super) listed: Vec<u32>,
    pub(super) unpacked: Unpacked,
}

/// Quantized vectors of a segment, or of a run of its rows counted from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorView<'a> {
    pub(super) rows: ByteRows<'a>,
    pub(super) weights: &'a [f32],
}

/// Places of the top layer, at most, for it to be scanned as a whole.
const TOP_LAYER_MAX: usize = 64;
/// Nodes scored for one expansion, at most, where a filter leaves out neighbours: as
/// many as links, so that an expansion costs what it costs without a filter.
const EXPANSION_MAX: usize = 32;

impl<'a> VectorView<'a> {
    pub(super) fn of(codes: &'a Sq12Vectors) -> Self {
        Self { rows: codes.rows(), weights: codes.parts().2 }
    }

    /// The rows from `first` on, counted from 0.
    pub(super) fn from(self, first: usize) -> Self {
        let dimension = self.rows.dimension;
        let bytes = self.rows.bytes.get(first * dimension..).unwrap_or_default();
        let weights = self.weights.get(first..).unwrap_or_default();
        Self { rows: ByteRows { bytes, dimension }, weights }
    }

    /// The first `len` rows.
    pub(super) fn until(self, len: usize) -> Self {
        let dimension = self.rows.dimension;
        let bytes = self.rows.bytes.get(..len * dimension).unwrap_or_default();
        let weights = self.weights.get(..len).unwrap_or_default();
        Self { rows: ByteRows { bytes, dimension }, weights }
    }

    /// Factor from a score to a cosine, where a row is the query.
    pub(super) fn scale(self, row: u32) -> f32 {
        self.weights.get(row as usize).copied().unwrap_or_default() * 256.0
    }

    /// Score of an integer product: comparable between rows.
    #[inline]
    pub(super) fn score(self, product: i32, row: u32) -> f32 {
        product as f32 * self.weights.get(row as usize).copied().unwrap_or_default()
    }
}

impl Scratch {
    /// Entry point on layer `floor` for `query`: greedy search through the layers above
    /// it.
    pub(super) fn descend(
        &mut self,
        view: VectorView<'_>,
        graph: &Graph,
        query: &[i8],
        floor: usize,
    ) -> Option<u32> {
        let top = graph.layers.len().checked_sub(1)?;
        let first = graph.layers.get(top)?;
        let mut row = first.row(0);
        if first.len() <= TOP_LAYER_MAX || top == floor {
            self.rows.clear();
            self.rows
                .extend((0..).take(first.len().min(TOP_LAYER_MAX)).map(|place| first.row(place)));
            row = self.best(view, query)?.1;
        }
        for layer in graph.layers.get(floor + 1..).unwrap_or_default().iter().rev() {
            row = self.greedy_search(view, layer, query, row);
        }
        graph.layers.get(floor)?.place(row)
    }

    /// Greedy search of one layer, `ef` = 1.
    fn greedy_search(
        &mut self,
        view: VectorView<'_>,
        layer: &Layer,
        query: &[i8],
        from: u32,
    ) -> u32 {
        self.rows.clear();
        self.rows.push(from);
        let Some((mut score, mut row)) = self.best(view, query) else { return from };
        // Each turn is at a better row than the one before: the loop ends.
        while let Some(place) = layer.place(row) {
            self.rows.clear();
            self.rows.extend(layer.links(place).map(|place| layer.row(place)));
            match self.best(view, query) {
                Some((better, next)) if better > score => (score, row) = (better, next),
                Some(_) | None => break,
            }
        }
        row
    }

    /// Best of the listed rows.
    fn best(&mut self, view: VectorView<'_>, query: &[i8]) -> Option<(f32, u32)> {
        distance::multiply_listed(query, view.rows, &self.rows, &mut self.products);
        let scored = self.rows.iter().zip(&self.products);
        let scored = scored.map(|(row, product)| (view.score(*product, *row), *row));
        scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    }

    /// Searches a layer from `entry`; leaves the best `ef` places in the pool.
    pub(super) fn search_layer(
        &mut self,
        view: VectorView<'_>,
        layer: &Layer,
        query: &[i8],
        entry: u32,
        params: SearchParams,
    ) {
        self.start(layer, entry, params);
        loop {
            self.score_fresh(view, layer, query, |pool, _, place, _, score| {
                pool.offer(place, score);
            });
            let Some(place) = self.pool.next() else { break };
            let visited = &mut self.visited;
            self.fresh.clear();
            self.fresh.extend(layer.links(place).filter(|to| visited.add(*to)));
            if let Some(next) = self.pool.upcoming() {
                distance::prefetch(layer.raw_links(), layer.links_at(next));
            }
        }
    }

    /// Searches a layer for allowed rows by traversing all: places of other rows are
    /// expanded but not kept. Ends when nothing is left that is better than the pool's
    /// last.
    ///
    /// Costs more the fewer rows are allowed and the farther those are from the query,
    /// but loses none of them.
    pub(super) fn search_layer_filtered(
        &mut self,
        view: VectorView<'_>,
        layer: &Layer,
        query: &[i8],
        entry: u32,
        params: SearchParams,
        allows: impl Fn(u32) -> bool,
    ) {
        self.frontier.clear();
        self.start(layer, entry, params);
        loop {
            self.score_fresh(view, layer, query, |pool, frontier, place, row, score| {
                if !pool.is_beyond(score) {
                    frontier.push(PoolEntry { score, place });
                    if allows(row) {
                        pool.offer(place, score);
                    }
                }
            });
            let Some(next) = self.frontier.pop() else { break };
            if self.pool.is_beyond(next.score) || !self.pool.expands(next.score) {
                break;
            }
            let visited = &mut self.visited;
            self.fresh.clear();
            self.fresh.extend(layer.links(next.place).filter(|to| visited.add(*to)));
            if let Some(upcoming) = self.frontier.peek() {
                distance::prefetch(layer.raw_links(), layer.links_at(upcoming.place));
            }
        }
    }

    /// Searches the subgraph of allowed rows with two-hop expansion, as ACORN-1 does
    /// (Patel et al. 2024); at the end the pool holds no other row, but for the entry
    /// point.
    ///
    /// A neighbour that is not allowed is not scored: its allowed neighbours stand in
    /// for it. So an expansion meets about as many allowed places as without a filter.
    pub(super) fn search_layer_two_hops(
        &mut self,
        view: VectorView<'_>,
        layer: &Layer,
        query: &[i8],
        entry: u32,
        params: SearchParams,
        allows: impl Fn(u32) -> bool,
    ) {
        self.start(layer, entry, params);
        loop {
            self.score_fresh(view, layer, query, |pool, _, place, _, score| {
                pool.offer(place, score);
            });
            let Some(place) = self.pool.next() else { break };
            self.fresh.clear();
            let Self { visited, fresh, listed, .. } = self;
            listed.clear();
            for to in layer.links(place) {
                if !allows(layer.row(to)) {
                    distance::prefetch(layer.raw_links(), layer.links_at(to));
                    listed.push(to);
                } else if visited.add(to) {
                    fresh.push(to);
                }
            }
            for between in &*listed {
                if fresh.len() >= EXPANSION_MAX {
                    break;
                }
                if visited.add(*between) {
                    let beyond = layer.links(*between);
                    fresh.extend(beyond.filter(|to| allows(layer.row(*to)) && visited.add(*to)));
                }
            }
        }
    }

    fn start(&mut self, layer: &Layer, entry: u32, params: SearchParams) {
        self.visited.reset(layer.len());
        self.pool.reset(params);
        self.visited.add(entry);
        self.fresh.clear();
        self.fresh.push(entry);
    }

    /// Hands each fresh place, its row and its score to `take`.
    #[inline]
    fn score_fresh(
        &mut self,
        view: VectorView<'_>,
        layer: &Layer,
        query: &[i8],
        mut take: impl FnMut(&mut Pool, &mut BinaryHeap<PoolEntry>, u32, u32, f32),
    ) {
        let Self { pool, frontier, fresh, rows, products, .. } = self;
        let rows = if layer.rows().is_some() {
            rows.clear();
            rows.extend(fresh.iter().map(|place| layer.row(*place)));
            &*rows
        } else {
            &*fresh
        };
        distance::multiply_listed(query, view.rows, rows, products);
        for ((place, row), product) in fresh.iter().zip(rows).zip(&*products) {
            take(pool, frontier, *place, *row, view.score(*product, *row));
        }
    }
}

/// Parameters of one search of a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchParams {
    /// Size of the pool.
    ef: usize,
    /// Lowest score of use, where better candidates are known already.
    floor: f32,
}

impl SearchParams {
    pub(super) fn new(ef: usize, floor: f32) -> Self {
        Self { ef, floor }
    }
}

impl From<usize> for SearchParams {
    fn from(ef: usize) -> Self {
        Self::new(ef, f32::NEG_INFINITY)
    }
}

/// Thirds of `ef` that are expanded whatever they score: places of use may lie behind
/// some that are of none.
const THIRDS_EXPANDED: usize = 2;

/// Candidate pool: the best places so far, best first, and which of them were expanded.
#[derive(Debug, Default)]
pub(super) struct Pool {
    entries: Vec<PoolEntry>,
    limit: usize,
    floor: f32,
    steps: usize,
    /// All entries before it were expanded.
    at: usize,
}

/// The greater, the better.
#[derive(Debug, Clone, Copy)]
struct PoolEntry {
    score: f32,
    /// The highest bit: expanded. Places have 24 bits.
    place: u32,
}

const EXPANDED: u32 = 1 << 31;

impl Ord for PoolEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.place.cmp(&self.place))
    }
}

impl PartialOrd for PoolEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PoolEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PoolEntry {}

impl Pool {
    fn reset(&mut self, SearchParams { ef, floor }: SearchParams) {
        self.entries.clear();
        self.limit = ef.max(1);
        self.floor = floor;
        self.steps = 0;
        self.at = 0;
    }

    /// Whether the best place that is left, of this score, is expanded: early
    /// termination below the floor.
    fn expands(&mut self, score: f32) -> bool {
        self.steps += 1;
        self.steps * 3 <= self.limit * THIRDS_EXPANDED || score >= self.floor
    }

    #[inline]
    fn offer(&mut self, place: u32, score: f32) {
        if self.is_beyond(score) {
            return;
        }
        if self.entries.len() >= self.limit {
            self.entries.pop();
        }
        let at = self.entries.partition_point(|entry| entry.score >= score);
        self.entries.insert(at, PoolEntry { score, place });
        self.at = self.at.min(at);
    }

    /// True where the pool is full of better places.
    #[inline]
    fn is_beyond(&self, score: f32) -> bool {
        self.entries.len() >= self.limit
            && self.entries.last().is_some_and(|last| score <= last.score)
    }

    /// Best place that was not expanded.
    fn next(&mut self) -> Option<u32> {
        while let Some(entry) = self.entries.get_mut(self.at) {
            self.at += 1;
            if entry.place & EXPANDED == 0 {
                let PoolEntry { place, score } = *entry;
                entry.place |= EXPANDED;
                return self.expands(score).then_some(place);
            }
        }
        None
    }

    fn upcoming(&self) -> Option<u32> {
        let rest = self.entries.get(self.at..).unwrap_or_default();
        rest.iter().find(|entry| entry.place & EXPANDED == 0).map(|entry| entry.place)
    }

    /// Places and scores, best first.
    pub(super) fn results(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.entries.iter().map(|entry| (entry.place & !EXPANDED, entry.score))
    }
}

/// Visited set, a bit for each place.
#[derive(Debug, Default)]
pub(super) struct Visited(Vec<u64>);

impl Visited {
    /// None of `places`.
    pub(super) fn of(places: usize) -> Self {
        Self(vec![0; places.div_ceil(64)])
    }

    pub(super) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub(super) fn reset(&mut self, places: usize) {
        self.0.clear();
        self.0.resize(places.div_ceil(64), 0);
    }

    /// True where the place was new.
    #[inline]
    pub(super) fn add(&mut self, place: u32) -> bool {
        let bit = 1 << (place % 64);
        self.0.get_mut(place as usize / 64).is_some_and(|word| {
            let fresh = *word & bit == 0;
            *word |= bit;
            fresh
        })
    }
}
