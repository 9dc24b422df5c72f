//! Joins two graphs, by searching the rows of the smaller in the larger.
//!
//! The links that each graph has are kept as candidates, so a join costs one search
//! for each row of the smaller one, however large the other is. The result depends
//! on the graphs alone, not on the number of threads.

use crate::index::hnsw::layout::{Graph, Layer};
use crate::index::hnsw::neighbours::{LinkCandidate, NeighbourSelection};
use crate::index::hnsw::options::{BuildError, Cancellation, Options, in_threads};
use crate::index::hnsw::search::{Scratch, VectorView};

/// The graph of the rows of `left` and then those of `right`. `view` has them all.
pub(super) fn join(
    view: VectorView<'_>,
    left: &Graph,
    right: &Graph,
    options: &Options,
    cancellation: &Cancellation<'_>,
) -> Result<Graph, BuildError> {
    let height = left.layers.len().max(right.layers.len());
    let middle = left.layers.first().map_or(0, Layer::len);
    let sides = Sides { view, left, right, middle };
    let mut layers = Vec::with_capacity(height);
    for level in 0..height {
        layers.push(sides.join_layer(level, options, cancellation)?);
    }
    Ok(Graph { layers })
}

#[derive(Debug, Clone, Copy)]
struct Sides<'a> {
    view: VectorView<'a>,
    left: &'a Graph,
    right: &'a Graph,
    /// Rows of the left side.
    middle: usize,
}

/// Nearest places of the other side, by place.
#[derive(Debug, Default)]
struct CrossLinks {
    starts: Vec<usize>,
    candidates: Vec<LinkCandidate>,
}

impl CrossLinks {
    fn of(&self, place: usize) -> &[LinkCandidate] {
        match (self.starts.get(place), self.starts.get(place + 1)) {
            (Some(start), Some(end)) => self.candidates.get(*start..*end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Transposed: seen from the other side, which has `places`.
    fn transpose(&self, places: usize) -> Self {
        let mut starts = vec![0; places + 1];
        for candidate in &self.candidates {
            if let Some(count) = starts.get_mut(candidate.place as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut candidates =
            vec![LinkCandidate { place: 0, similarity: 0.0 }; self.candidates.len()];
        for (place, _) in (0_u32..).zip(self.starts.iter().skip(1)) {
            for candidate in self.of(place as usize) {
                if let Some(next) = next.get_mut(candidate.place as usize)
                    && let Some(slot) = candidates.get_mut(*next)
                {
                    *slot = LinkCandidate { place, similarity: candidate.similarity };
                    *next += 1;
                }
            }
        }
        Self { starts, candidates }
    }
}

impl Sides<'_> {
    fn join_layer(
        &self,
        level: usize,
        options: &Options,
        cancellation: &Cancellation<'_>,
    ) -> Result<Layer, BuildError> {
        let (left, right) = (self.left.layers.get(level), self.right.layers.get(level));
        let (left_len, right_len) = (left.map_or(0, Layer::len), right.map_or(0, Layer::len));
        let width = left.or(right).map_or(0, Layer::width);
        let cross = if left_len == 0 || right_len == 0 {
            [CrossLinks::default(), CrossLinks::default()]
        } else if left_len < right_len {
            let cross = self.search(level, JoinSide::Left, options, cancellation)?;
            let transposed = cross.transpose(right_len);
            [cross, transposed]
        } else {
            let cross = self.search(level, JoinSide::Right, options, cancellation)?;
            [cross.transpose(left_len), cross]
        };
        let mut joined = if level == 0 {
            Layer::ground(left_len + right_len, width)
        } else {
            let rows = (0..).take(left_len).filter_map(|at| Some(left?.row(at)));
            let more = (0..).take(right_len).filter_map(|at| Some(self.move_row(right?.row(at))));
            Layer::above(rows.chain(more).collect(), width)
        };
        let (rows, links) = joined.rows_and_links_mut();
        let layer = JoinedLayer { view: self.view, left, right, left_len, cross, rows, width };
        let each = (left_len + right_len).div_ceil(options.threads.get()).max(1);
        in_threads(links.chunks_mut(each * width.max(1)).zip(0..).map(|(slots, chunk)| {
            let layer = &layer;
            move || {
                let mut chosen = NeighbourSelection::default();
                for (slots, at) in slots.chunks_mut(width.max(1)).zip(each * chunk..) {
                    if at.is_multiple_of(ROWS_PER_CHECK) {
                        cancellation.check()?;
                    }
                    layer.relink(at, slots, &mut chosen);
                }
                Ok(())
            }
        }))?;
        Ok(joined)
    }

    /// Searches each place of one side on the other.
    fn search(
        &self,
        level: usize,
        side: JoinSide,
        options: &Options,
        cancellation: &Cancellation<'_>,
    ) -> Result<CrossLinks, BuildError> {
        let (left, right) = (self.view.until(self.middle), self.view.from(self.middle));
        let (searching, from, target, into) = match side {
            JoinSide::Left => (self.left, left, self.right, right),
            JoinSide::Right => (self.right, right, self.left, left),
        };
        let Some((searching, ground)) = searching.layers.get(level).zip(target.layers.get(level))
        else {
            return Ok(CrossLinks::default());
        };
        let len = searching.len();
        let each = len.div_ceil(options.threads.get()).max(1);
        let found = in_threads((0..len).step_by(each).map(|start| {
            move || {
                let mut cross = CrossLinks { starts: vec![], candidates: vec![] };
                let mut scratch = Scratch::default();
                for place in (start..len.min(start + each)).filter_map(|it| u32::try_from(it).ok())
                {
                    if (place as usize).is_multiple_of(ROWS_PER_CHECK) {
                        cancellation.check()?;
                    }
                    let row = searching.row(place);
                    let query = from.rows.row(row);
                    cross.starts.push(cross.candidates.len());
                    if let Some(entry) = scratch.descend(into, target, query, level) {
                        scratch.search_layer(
                            into,
                            ground,
                            query,
                            entry,
                            options.ef_construction.into(),
                        );
                        let scale = from.scale(row);
                        cross.candidates.extend(scratch.pool.results().take(ground.width()).map(
                            |(place, score)| LinkCandidate { place, similarity: score * scale },
                        ));
                    }
                }
                Ok(cross)
            }
        }))?;
        let mut cross = CrossLinks::default();
        for part in found {
            let before = cross.candidates.len();
            cross.starts.extend(part.starts.iter().map(|start| before + start));
            cross.candidates.extend(part.candidates);
        }
        cross.starts.push(cross.candidates.len());
        Ok(cross)
    }

    fn move_row(&self, row: u32) -> u32 {
        // Both sides together have fewer rows than links can name.
        row.saturating_add(u32::try_from(self.middle).unwrap_or(u32::MAX))
    }
}

#[derive(Debug, Clone, Copy)]
enum JoinSide {
    Left,
    Right,
}

/// Rows between two cancellation checks.
const ROWS_PER_CHECK: usize = 512;

/// A layer of both sides while it is joined.
#[derive(Debug)]
struct JoinedLayer<'a> {
    view: VectorView<'a>,
    left: Option<&'a Layer>,
    right: Option<&'a Layer>,
    left_len: usize,
    cross: [CrossLinks; 2],
    /// Rows of all places of the joined layer; `None` on the ground.
    rows: Option<&'a [u32]>,
    width: usize,
}

impl JoinedLayer<'_> {
    /// Writes the links of a place of the joined layer.
    fn relink(&self, at: usize, slots: &mut [[u8; 3]], selection: &mut NeighbourSelection) {
        let [of_left, of_right] = &self.cross;
        let shift = u32::try_from(self.left_len).unwrap_or(u32::MAX);
        let (layer, local, own_shift, cross, cross_shift) = match at.checked_sub(self.left_len) {
            None => (self.left, at, 0, of_left.of(at), shift),
            Some(local) => (self.right, local, shift, of_right.of(local), 0),
        };
        let (Some(layer), Ok(place), Ok(local)) = (layer, u32::try_from(at), u32::try_from(local))
        else {
            return;
        };
        let own = layer.links(local).map(|to| to + own_shift);
        let more = cross.iter().map(|it| LinkCandidate { place: it.place + cross_shift, ..*it });
        selection.candidates.clear();
        if cross.is_empty() {
            crate::index::hnsw::layout::fill(slots, own);
            return;
        }
        selection.offer_all(self.view, self.rows, place, own);
        selection.candidates.extend(more);
        selection.choose(self.view, self.rows, self.width);
        crate::index::hnsw::layout::fill(slots, selection.chosen.iter().map(|it| it.place));
    }
}
