//! Makes the lowest layer strongly connected: every row is reachable from every other.
//!
//! Links are chosen place by place, so a few rows can end up with no link that leads
//! to them, or a group with none that leads out: 55 of 2,000 points of a mixture of
//! Gaussians could not find themselves in what `hnsw_rs` builds.

use crate::index::distance;
use crate::index::hnsw::layout::{Graph, Layer, NONE};
use crate::index::hnsw::search::{Scratch, VectorView, Visited};

/// Candidates for a link to or from an unreachable place.
const EF: usize = 64;

/// Changes as few links of the lowest layer as connectivity takes.
pub(super) fn connect(view: VectorView<'_>, graph: &mut Graph) {
    let Some(mut ground) = graph.layers.first_mut().map(std::mem::take) else { return };
    let mut scratch = Scratch::default();
    // The links by which each place is reached, or reaches the first one, are not given
    // up for others: each needs only one of each kind.
    let mut parents = vec![NONE; ground.len()];
    let mut reached = Visited::of(ground.len());
    spread(&ground, &mut reached, &mut parents, 0);
    for place in (0..).take(ground.len()) {
        if !reached.has(place) {
            let near = near(view, &ground, &mut scratch, place);
            let from = near
                .iter()
                .copied()
                .find(|from| reached.has(*from) && free_slot(&ground, &parents, *from).is_some());
            let from = from.or_else(|| {
                nearest(
                    view,
                    place,
                    (0..).take(ground.len()).filter(|from| {
                        reached.has(*from) && free_slot(&ground, &parents, *from).is_some()
                    }),
                )
            });
            if let Some(from) = from
                && let Some(slot) = free_slot(&ground, &parents, from)
            {
                ground.set(from, slot, place);
                if let Some(parent) = parents.get_mut(place as usize) {
                    *parent = from;
                }
                spread(&ground, &mut reached, &mut parents, place);
            }
        }
    }
    let mut leads = Visited::of(ground.len());
    leads.add(0);
    gather(&ground, &mut leads);
    for place in (0..).take(ground.len()) {
        if !leads.has(place)
            && let Some(slot) = free_slot(&ground, &parents, place)
        {
            let near = near(view, &ground, &mut scratch, place);
            let to = near.iter().copied().find(|to| leads.has(*to));
            let all = || (0..).take(ground.len()).filter(|to| leads.has(*to));
            if let Some(to) = to.or_else(|| nearest(view, place, all())) {
                ground.set(place, slot, to);
                leads.add(place);
                gather(&ground, &mut leads);
            }
        }
    }
    if let Some(first) = graph.layers.first_mut() {
        *first = ground;
    }
}

/// Marks what is reachable from a place, with its parents: depth-first search.
fn spread(ground: &Layer, reached: &mut Visited, parents: &mut [u32], from: u32) {
    let mut todo = vec![from];
    reached.add(from);
    while let Some(place) = todo.pop() {
        for to in ground.links(place) {
            if reached.add(to) {
                if let Some(parent) = parents.get_mut(to as usize) {
                    *parent = place;
                }
                todo.push(to);
            }
        }
    }
}

/// Marks every place with a link to a marked one, until a fixed point.
fn gather(ground: &Layer, leads: &mut Visited) {
    let mut grows = true;
    while grows {
        grows = false;
        for place in (0..).take(ground.len()) {
            if !leads.has(place) && ground.links(place).any(|to| leads.has(to)) {
                grows |= leads.add(place);
            }
        }
    }
}

/// Candidates of a search for a place from the first one.
fn near(view: VectorView<'_>, ground: &Layer, scratch: &mut Scratch, place: u32) -> Vec<u32> {
    scratch.search_layer(view, ground, view.rows.row(place), 0, EF.into());
    scratch.pool.results().map(|(place, _)| place).filter(|it| *it != place).collect()
}

fn nearest(view: VectorView<'_>, place: u32, among: impl Iterator<Item = u32>) -> Option<u32> {
    let score = |to: u32| {
        let product = distance::bytes(view.rows.row(place), view.rows.row(to));
        view.score(product, to)
    };
    among
        .filter(|to| *to != place)
        .map(|to| (score(to), to))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        .map(|(_, to)| to)
}

/// A slot of a place that is empty, or else the last whose link nothing hangs on.
fn free_slot(ground: &Layer, parents: &[u32], from: u32) -> Option<usize> {
    let held = ground.links(from).count();
    if held < ground.width() {
        return Some(held);
    }
    let links: Vec<u32> = ground.links(from).collect();
    links.iter().rposition(|to| parents.get(*to as usize) != Some(&from))
}
