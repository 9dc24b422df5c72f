//! Builds the graph of a segment: `hnsw_rs` builds parts, which our own graph search
//! joins.
//!
//! `hnsw_rs` takes 4.3 KB a point while it builds and slows down as it grows, so it
//! builds parts of some thousands of rows, each in one thread, which makes the same
//! graph of the same rows every time.

use std::borrow::Borrow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use hnsw_rs::prelude::{Distance, Hnsw};

use crate::base::embedding::Embedding;
use crate::index::Row;
use crate::index::distance;
use crate::index::hnsw::HnswIndex;
use crate::index::hnsw::connect;
use crate::index::hnsw::join::join;
use crate::index::hnsw::layout::{Graph, Layer, ROWS_MAX};
use crate::index::hnsw::neighbours::NeighbourSelection;
use crate::index::hnsw::options::{BuildError, Cancellation, Hook, Options, in_threads};
use crate::index::hnsw::search::VectorView;
use crate::index::quantization::sq12::Sq12Vectors;

/// A segment to merge, and which of its rows are retained.
#[derive(Clone, Copy)]
pub struct MergeSource<'a> {
    pub segment: &'a HnswIndex,
    pub keeps: &'a (dyn Fn(Row) -> bool + Sync),
}

impl std::fmt::Debug for MergeSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MergeSource").field("rows", &self.segment.len()).finish_non_exhaustive()
    }
}

/// Builds a segment whose n-th row is the n-th vector. Asks `proceed` every few
/// milliseconds.
pub fn build<V: Borrow<Embedding>>(
    dimension: usize,
    vectors: impl ExactSizeIterator<Item = V>,
    options: &Options,
    proceed: Hook<'_>,
) -> Result<HnswIndex, BuildError> {
    let cancellation = Cancellation(proceed);
    let mut codes = Sq12Vectors::with_capacity(vectors.len().min(ROWS_MAX), dimension);
    for (row, vector) in vectors.enumerate() {
        let vector = vector.borrow();
        let (found, expected) = (vector.dimension(), dimension);
        if found != expected {
            return Err(BuildError::Dimension { row, found, expected });
        }
        codes.push(vector.as_slice());
    }
    check(&codes, options)?;
    let parts = parts(0..codes.len(), &codes, options, &cancellation)?;
    join_parts(codes, parts, options, &cancellation)
}

/// Merges the retained rows of the sources, in their order. Graphs are joined, not built
/// again, but for sources that lose a large share of their rows.
pub fn merge(
    dimension: usize,
    sources: &[MergeSource<'_>],
    options: &Options,
    proceed: Hook<'_>,
) -> Result<HnswIndex, BuildError> {
    let cancellation = Cancellation(proceed);
    let rows = sources.iter().map(|it| it.segment.len()).sum();
    let mut codes = Sq12Vectors::with_capacity(rows, dimension);
    let mut retained: Vec<RetainedRows> = Vec::with_capacity(sources.len());
    for MergeSource { segment, keeps } in sources {
        let (row, found, expected) = (codes.len(), segment.dimension(), dimension);
        if found != expected {
            return Err(BuildError::Dimension { row, found, expected });
        }
        retained.push(RetainedRows::copy(segment, *keeps, &mut codes));
    }
    check(&codes, options)?;
    let mut graphs = Vec::with_capacity(sources.len());
    for (MergeSource { segment, .. }, retained) in sources.iter().zip(&retained) {
        let Range { start, end } = retained.rows;
        if (end - start) * REBUILT_SHARE < segment.len()
            || segment.graph.widths() != options.widths()
        {
            graphs.extend(parts(start..end, &codes, options, &cancellation)?);
        } else {
            graphs.push(retained.graph(VectorView::of(&codes), &segment.graph));
        }
    }
    join_parts(codes, graphs, options, &cancellation)
}

/// Rows of a part: smaller parts are built faster and joined more often.
const PART_ROWS: usize = 8_192;
/// Parts this small are joined to others rather than built on their own.
const PART_ROWS_MIN: usize = PART_ROWS / 2;
/// A source that retains less than one in so many of its rows is built again.
const REBUILT_SHARE: usize = 2;
/// Layers at most: of 16 million rows, each layer has a sixteenth of the one below.
const LAYERS_MAX: usize = 16;

fn check(codes: &Sq12Vectors, options: &Options) -> Result<(), BuildError> {
    if codes.len() >= ROWS_MAX {
        return Err(BuildError::TooMany { rows: codes.len() });
    }
    if !(2..=128).contains(&options.m) {
        return Err(BuildError::Links { found: options.m });
    }
    Ok(())
}

/// Joins graphs of successive rows, neighbours first, so that each join is of graphs
/// of about one size or of a small one with a large one, which cost the same.
fn join_parts(
    codes: Sq12Vectors,
    graphs: Vec<Graph>,
    options: &Options,
    cancellation: &Cancellation<'_>,
) -> Result<HnswIndex, BuildError> {
    let view = VectorView::of(&codes);
    let mut joined = Graph::empty(options.widths());
    for graph in graphs {
        joined = if joined.len() == 0 {
            graph
        } else {
            join(view.until(joined.len() + graph.len()), &joined, &graph, options, cancellation)?
        };
    }
    connect::connect(view, &mut joined);
    Ok(HnswIndex { codes, graph: joined })
}

/// Builds graphs of successive parts of some rows, each counting its own from 0.
fn parts(
    rows: Range<usize>,
    codes: &Sq12Vectors,
    options: &Options,
    cancellation: &Cancellation<'_>,
) -> Result<Vec<Graph>, BuildError> {
    // `hnsw_rs` panics when it is asked for the points of an empty graph.
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let parts = (rows.len() + PART_ROWS - PART_ROWS_MIN).div_euclid(PART_ROWS).max(1);
    let bounds = move |part: usize| rows.start + rows.len() * part / parts;
    let next = AtomicUsize::new(0);
    let built = in_threads((0..options.threads.get().min(parts)).map(|_| {
        let (next, bounds) = (&next, &bounds);
        move || {
            let mut built = Vec::new();
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    return Ok(built);
                }
                let (start, end) = (bounds(part), bounds(part + 1));
                let view = VectorView::of(codes).from(start).until(end - start);
                built.push((part, build_part(view, options, cancellation)?));
            }
        }
    }))?;
    let mut built: Vec<(usize, Graph)> = built.into_iter().flatten().collect();
    built.sort_unstable_by_key(|(part, _)| *part);
    Ok(built.into_iter().map(|(_, graph)| graph).collect())
}

/// Cosine distance between rows; `hnsw_rs` holds row numbers as its vectors.
struct QuantizedDistance<'a>(VectorView<'a>);

impl Distance<u32> for QuantizedDistance<'_> {
    fn eval(&self, a: &[u32], b: &[u32]) -> f32 {
        let (Some(a), Some(b)) = (a.first(), b.first()) else { return 2.0 };
        let view = self.0;
        let product = distance::bytes(view.rows.row(*a), view.rows.row(*b));
        // Never negative, as codes of like vectors can have more than length 1.
        (1.0 - view.score(product, *b) * view.scale(*a)).max(0.0)
    }
}

/// Builds the graph of a view's rows with `hnsw_rs`.
fn build_part(
    view: VectorView<'_>,
    options: &Options,
    cancellation: &Cancellation<'_>,
) -> Result<Graph, BuildError> {
    let rows = view.weights.len();
    let Options { m, ef_construction, threads: _ } = *options;
    let hnsw = Hnsw::new(m, rows, LAYERS_MAX, ef_construction, QuantizedDistance(view));
    for row in 0..rows {
        if row.is_multiple_of(64) {
            cancellation.check()?;
        }
        if let Ok(vector) = u32::try_from(row) {
            hnsw.insert((&[vector], row));
        }
    }
    // By row: the highest layer that it is in, and its links in each.
    let mut nodes: Vec<(usize, Vec<Vec<u32>>)> = vec![(0, Vec::new()); rows];
    for point in hnsw.get_point_indexation() {
        let level = usize::from(point.get_point_id().0);
        let links = point.get_neighborhood_id().into_iter().take(level + 1);
        let links = links.map(|layer| {
            layer.into_iter().filter_map(|it| u32::try_from(it.get_origin_id()).ok()).collect()
        });
        if let Some(node) = nodes.get_mut(point.get_origin_id()) {
            *node = (level, links.collect());
        }
    }
    let height = nodes.iter().map(|(level, _)| level + 1).max().unwrap_or(1);
    let (ground, above) = options.widths();
    let layers = (0..height).map(|floor| {
        let mut layer = if floor == 0 {
            Layer::ground(rows, ground)
        } else {
            let held = (0..).zip(&nodes).filter(|(_, (level, _))| *level >= floor);
            Layer::above(held.map(|(row, _)| row).collect(), above)
        };
        for (row, (_, links)) in (0..).zip(&nodes) {
            if let (Some(place), Some(links)) = (layer.place(row), links.get(floor)) {
                let to: Vec<u32> = links.iter().filter_map(|to| layer.place(*to)).collect();
                layer.link(place, to.into_iter().filter(|to| *to != place));
            }
        }
        layer
    });
    Ok(Graph { layers: layers.collect() })
}

/// Rows of a source that are retained.
#[derive(Debug)]
struct RetainedRows {
    /// The new rows.
    rows: Range<usize>,
    /// By old row, the new one counted from the first.
    moved: Vec<Option<u32>>,
}

impl RetainedRows {
    fn copy(segment: &HnswIndex, keeps: &dyn Fn(Row) -> bool, codes: &mut Sq12Vectors) -> Self {
        let start = codes.len();
        let mut next = 0;
        let moved = (0..).take(segment.len()).map(|row| {
            keeps(Row(row)).then(|| {
                codes.push_from(&segment.codes, row);
                next += 1;
                next - 1
            })
        });
        let moved = moved.collect();
        Self { rows: start..codes.len(), moved }
    }

    /// Graph among the retained rows. The neighbours of a dropped neighbour are
    /// candidates for its place.
    fn graph(&self, view: VectorView<'_>, old: &Graph) -> Graph {
        let view = view.from(self.rows.start).until(self.rows.len());
        let layers = old.layers.iter().map(|layer| self.layer(view, layer));
        let mut layers: Vec<Layer> = layers.collect();
        while layers.len() > 1 && layers.last().is_some_and(|layer| layer.len() == 0) {
            layers.pop();
        }
        Graph { layers }
    }

    fn layer(&self, view: VectorView<'_>, old: &Layer) -> Layer {
        let moved = |place: u32| *self.moved.get(old.row(place) as usize)?;
        let places = (0_u32..).take(old.len()).filter(|place| moved(*place).is_some());
        let mut layer = match old.rows() {
            None => Layer::ground(self.rows.len(), old.width()),
            Some(_) => Layer::above(places.clone().filter_map(moved).collect(), old.width()),
        };
        let mut selection = NeighbourSelection::default();
        for place in places {
            let Some(new) = moved(place).and_then(|row| layer.place(row)) else { continue };
            let to = |place: u32| moved(place).and_then(|row| layer.place(row));
            let stays = old.links(place).all(|it| moved(it).is_some());
            let links: Vec<u32> = if stays {
                old.links(place).filter_map(to).collect()
            } else {
                let beyond = old.links(place).filter(|it| moved(*it).is_none());
                let beyond = beyond.flat_map(|it| old.links(it)).filter_map(to);
                let candidates = old.links(place).filter_map(to).chain(beyond);
                let others = candidates.filter(|it| *it != new);
                selection.candidates.clear();
                selection.offer_all(view, layer.rows(), new, others);
                selection.choose(view, layer.rows(), layer.width());
                selection.chosen.iter().map(|it| it.place).collect()
            };
            layer.link(new, links);
        }
        layer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    use crate::index::hnsw::search::Scratch;
    use crate::index::hnsw::tests::{DIMENSION, Stream, build_graph};
    use crate::index::quantization::sq12::Sq12Query;

    const GO_ON: Hook<'_> = &|| ControlFlow::Continue(());

    /// Segments of these sizes, and the vectors of their rows one after the other.
    fn sources(sizes: &[usize], stream: &mut Stream) -> (Vec<HnswIndex>, Vec<Embedding>) {
        let all = stream.mixture(sizes.iter().sum(), 60);
        let mut rest = all.as_slice();
        let mut segments = Vec::new();
        for size in sizes {
            let (own, others) = rest.split_at(*size);
            segments.push(build_graph(own));
            rest = others;
        }
        (segments, all)
    }

    fn merge_all(segments: &[HnswIndex], keeps: &(dyn Fn(usize, Row) -> bool + Sync)) -> HnswIndex {
        let keeps: Vec<_> = (0..segments.len()).map(|at| move |row: Row| keeps(at, row)).collect();
        let sources: Vec<MergeSource<'_>> = segments
            .iter()
            .zip(&keeps)
            .map(|(segment, keeps)| MergeSource { segment, keeps })
            .collect();
        merge(DIMENSION, &sources, &Options::default(), GO_ON).unwrap()
    }

    /// Rows are the kept ones in their order, each found where its own vector points,
    /// and a walk finds what a comparison of all exact vectors finds.
    fn check(sizes: &[usize], keeps: &(dyn Fn(usize, Row) -> bool + Sync)) {
        let mut stream = Stream(17);
        let (segments, all) = sources(sizes, &mut stream);
        let mut all = all.into_iter();
        let mut retained: Vec<Embedding> = Vec::new();
        for (at, size) in sizes.iter().enumerate() {
            let own = (0_u32..).map(Row).zip(all.by_ref().take(*size));
            retained.extend(own.filter(|(row, _)| keeps(at, *row)).map(|(_, vector)| vector));
        }
        let segment = merge_all(&segments, keeps);
        assert_eq!(segment.len(), retained.len(), "{sizes:?}");
        let (mut scratch, mut lost, mut hits, mut wanted) = (Scratch::default(), 0, 0, 0);
        for (row, vector) in (0_u32..).zip(&retained) {
            let query = Sq12Query::new(vector);
            let own = segment.cosine(&query, Row(row), &mut scratch).unwrap();
            assert!((own - 1.0).abs() < 2e-3, "row {row} of {sizes:?} holds another vector");
            if row % 13 != 0 {
                continue;
            }
            let found = segment.search_graph(&query, 10, 64, &mut scratch);
            lost += usize::from(found.first().is_none_or(|it| it.row != Row(row)));
            let mut cosines: Vec<f32> = retained.iter().map(|it| it.cosine(vector)).collect();
            cosines.sort_by(|a, b| b.total_cmp(a));
            cosines.truncate(10);
            let bar = cosines.last().copied().unwrap() - 1e-4;
            wanted += cosines.len();
            hits += found.iter().filter(|it| retained[it.row.at()].cosine(vector) >= bar).count();
        }
        assert_eq!(lost, 0, "of {sizes:?} some rows are out of reach");
        assert!(hits * 100 >= wanted * 99, "recall {hits} of {wanted} of {sizes:?}");
    }

    #[test]
    fn merged_segments_are_searched_as_one() {
        check(&[1_200, 900, 40], &|_, _| true);
    }

    #[test]
    fn deleted_rows_leave_the_graph_connected() {
        check(&[1_200, 900], &|_, row| row.0 % 10 != 3);
        check(&[1_500, 600], &|at, row| at == 1 || !(200..800).contains(&row.0));
    }

    /// A source that loses most of its rows is built anew, one that loses all is gone.
    #[test]
    fn sources_that_retain_little_or_nothing_are_merged() {
        check(&[900, 1_200], &|at, row| at == 1 || row.0 % 5 == 0);
        check(&[600, 900, 300], &|at, _| at == 1);
        check(&[50, 50], &|_, _| false);
    }

    #[test]
    fn sources_that_do_not_fit_are_refused() {
        let (segments, _) = sources(&[60, 40], &mut Stream(3));
        let sources: Vec<MergeSource<'_>> =
            segments.iter().map(|segment| MergeSource { segment, keeps: &|_| true }).collect();
        let of = |dimension, options, hook| merge(dimension, &sources, &options, hook).unwrap_err();
        let other = of(DIMENSION + 1, Options::default(), GO_ON);
        let (found, expected) = (DIMENSION, DIMENSION + 1);
        assert!(
            matches!(other, BuildError::Dimension { row: 0, found: a, expected: b } if (a, b) == (found, expected)),
            "{other}"
        );
        let links = of(DIMENSION, Options { m: 1, ..Options::default() }, GO_ON);
        assert!(matches!(links, BuildError::Links { found: 1 }), "{links}");
        let stopped = of(DIMENSION, Options::default(), &|| ControlFlow::Break(()));
        assert!(matches!(stopped, BuildError::Stopped), "{stopped}");
    }
}
