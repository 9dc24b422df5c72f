//! Walks a graph that does not change, towards a query.
//!
//! Knows layers and codes; which rows may be returned is a predicate that each
//! caller's search is compiled for. Nothing is allocated for a node: what a walk
//! needs is in a [`Scratch`], used again by the next.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::index::distance::{self, ByteRows};
use crate::index::hnsw::layout::{Graph, Layer};
use crate::index::quantization::sq12::{Sq12Vectors, Unpacked};

/// Room that walks and scans use, one of them at a time. It grows with the segments
/// that it is used on, by a bit a row.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) visited: Visited,
    pub(super) pool: Pool,
    /// Places that a walk may go on from, where those are not the pool's.
    frontier: BinaryHeap<PoolEntry>,
    fresh: Vec<u32>,
    rows: Vec<u32>,
    pub(super) products: Vec<i32>,
    pub(super) listed: Vec<u32>,
    pub(super) unpacked: Unpacked,
}

/// Vectors as the walk sees them: a segment's, or a run of its rows counted from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorView<'a> {
    pub(super) rows: ByteRows<'a>,
    pub(super) weights: &'a [f32],
}

/// The layer above that is looked through as a whole.
const TOP_LAYER_MAX: usize = 64;
/// Nodes scored at most for one node passed, where a filter leaves out some of its
/// neighbours: as many as links, so that a step costs what it costs without a filter.
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

    /// What makes a cosine of another row's score, where a row is the query.
    pub(super) fn scale(self, row: u32) -> f32 {
        self.weights.get(row as usize).copied().unwrap_or_default() * 256.0
    }

    /// A product with a row as a score: comparable between rows.
    #[inline]
    pub(super) fn score(self, product: i32, row: u32) -> f32 {
        product as f32 * self.weights.get(row as usize).copied().unwrap_or_default()
    }
}

impl Scratch {
    /// The place of layer `floor` from which a walk towards `query` sets out, found in
    /// the layers above it.
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

    /// From neighbour to better neighbour, until there is none.
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
        // Each turn is at a better row than the one before: it ends.
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

    /// The best of the listed rows.
    fn best(&mut self, view: VectorView<'_>, query: &[i8]) -> Option<(f32, u32)> {
        distance::gathered(query, view.rows, &self.rows, &mut self.products);
        let scored = self.rows.iter().zip(&self.products);
        let scored = scored.map(|(row, product)| (view.score(*product, *row), *row));
        scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    }

    /// Leaves in the pool the best `ef` places of a layer that a walk from `entry`
    /// comes by.
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

    /// Leaves in the pool the best `ef` places of allowed rows that a walk from `entry`
    /// comes by, which goes on from the others as well: it ends when nothing is left that
    /// is better than the pool's last.
    ///
    /// Costs as much more as fewer are allowed, and more where the allowed ones are far
    /// from the query, but loses nothing then.
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

    /// The same among the places whose rows are allowed; at the end the pool holds no
    /// other, but for the entry.
    ///
    /// A neighbour that is not allowed is not scored: its neighbours stand in for it.
    /// So a step meets about as many allowed places as without a filter, however
    /// few they are, and the walk is as wide as it is asked to be among them.
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
        distance::gathered(query, view.rows, rows, products);
        for ((place, row), product) in fresh.iter().zip(rows).zip(&*products) {
            take(pool, frontier, *place, *row, view.score(*product, *row));
        }
    }
}

/// How wide a walk is.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchParams {
    /// Places kept in view.
    ef: usize,
    /// Score that is of use: where better ones are known already.
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

/// Of the places that a walk keeps in view it goes on from so many thirds at least,
/// whatever they score: what is of use may lie behind some that are not.
const THIRDS_EXPANDED: usize = 2;

/// The best places so far, best first, and which of them the walk has gone on from.
#[derive(Debug, Default)]
pub(super) struct Pool {
    entries: Vec<PoolEntry>,
    limit: usize,
    floor: f32,
    steps: usize,
    /// All before it have been gone on from.
    at: usize,
}

/// The greater, the better.
#[derive(Debug, Clone, Copy)]
struct PoolEntry {
    score: f32,
    /// The highest bit: gone on from. Places have 24 bits.
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

    /// Whether a walk that comes to a place of this score, the best that is left, goes
    /// on from it.
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

    /// True where the pool is full of better ones.
    #[inline]
    fn is_beyond(&self, score: f32) -> bool {
        self.entries.len() >= self.limit
            && self.entries.last().is_some_and(|last| score <= last.score)
    }

    /// The best place that has not been gone on from.
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
    pub(super) fn found(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        self.entries.iter().map(|entry| (entry.place & !EXPANDED, entry.score))
    }
}

/// A bit a place.
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

    /// True where the place was not there.
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
