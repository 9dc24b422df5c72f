//! Neighbour selection: Algorithm 4 of Malkov & Yashunin 2016
//! (SELECT-NEIGHBORS-HEURISTIC, with the pruned candidates kept where there is room).

use crate::index::distance;
use crate::index::hnsw::search::VectorView;

/// Candidate neighbour with its similarity.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkCandidate {
    pub(super) place: u32,
    pub(super) similarity: f32,
}

/// Selection of a place's neighbours, with reused buffers.
#[derive(Debug, Default)]
pub(super) struct NeighbourSelection {
    pub(super) candidates: Vec<LinkCandidate>,
    pub(super) chosen: Vec<LinkCandidate>,
    spare: Vec<LinkCandidate>,
    rows: Vec<u32>,
    products: Vec<i32>,
}

impl NeighbourSelection {
    /// Adds candidates for `place`, comparing them with it.
    pub(super) fn offer_all(
        &mut self,
        view: VectorView<'_>,
        rows: Option<&[u32]>,
        place: u32,
        candidates: impl Iterator<Item = u32>,
    ) {
        let row = row_of(rows, place);
        let before = self.candidates.len();
        let unscored = candidates.map(|place| LinkCandidate { place, similarity: 0.0 });
        self.candidates.extend(unscored);
        let added = self.candidates.get_mut(before..).unwrap_or_default();
        self.rows.clear();
        self.rows.extend(added.iter().map(|it| row_of(rows, it.place)));
        distance::multiply_listed(view.rows.row(row), view.rows, &self.rows, &mut self.products);
        let scale = view.scale(row);
        for ((candidate, row), product) in added.iter_mut().zip(&self.rows).zip(&self.products) {
            candidate.similarity = view.score(*product, *row) * scale;
        }
    }

    /// Leaves at most `width` candidates in `chosen`, best first: those nearer to the
    /// place than to any better chosen one, so that links lead in all directions; then
    /// the best of the pruned ones, as far as there is room.
    pub(super) fn choose(&mut self, view: VectorView<'_>, rows: Option<&[u32]>, width: usize) {
        let Self { candidates, chosen, spare, rows: cross, products } = self;
        candidates.sort_unstable_by(|a, b| {
            b.similarity.total_cmp(&a.similarity).then(a.place.cmp(&b.place))
        });
        candidates.dedup_by_key(|it| it.place);
        chosen.clear();
        if candidates.len() <= width {
            chosen.append(candidates);
            return;
        }
        spare.clear();
        cross.clear();
        for candidate in candidates.iter() {
            if chosen.len() >= width {
                break;
            }
            let row = row_of(rows, candidate.place);
            distance::multiply_listed(view.rows.row(row), view.rows, cross, products);
            let scale = view.scale(row);
            let mut others = cross.iter().zip(products.iter());
            if others.any(|(other, it)| view.score(*it, *other) * scale >= candidate.similarity) {
                spare.push(*candidate);
            } else {
                chosen.push(*candidate);
                cross.push(row);
            }
        }
        let room = width.saturating_sub(chosen.len());
        chosen.extend(spare.iter().take(room));
    }
}

fn row_of(rows: Option<&[u32]>, place: u32) -> u32 {
    match rows {
        Some(rows) => rows.get(place as usize).copied().unwrap_or_default(),
        None => place,
    }
}
