//! Layout of the graph: adjacency lists of fixed width, in flat arrays.
//!
//! Layer 0 holds every row, each further one about a sixteenth of the one below; a
//! search descends from the highest. Knows places and links, not vectors.

/// Ends a list of links that is not full.
pub(super) const NONE: u32 = 0xFF_FFFF;
/// Rows of one graph at most: links have three bytes, and one value means none.
pub(super) const ROWS_MAX: usize = NONE as usize;

/// Layers, the one that holds every row first.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) layers: Vec<Layer>,
}

impl Graph {
    /// Graph of no rows, with so many links a place on the lowest layer and above it.
    pub(super) fn empty((ground, _): (usize, usize)) -> Self {
        Self { layers: vec![Layer::ground(0, ground)] }
    }

    /// Links of a place on the lowest layer and above it.
    pub(super) fn widths(&self) -> (usize, usize) {
        let width = |layer: Option<&Layer>| layer.map_or(0, Layer::width);
        let ground = width(self.layers.first());
        let above = self.layers.get(1).map_or(ground / 2, Layer::width);
        (ground, above)
    }

    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.layers.first().map_or(0, Layer::len)
    }
}

/// One layer. A node is a place in it.
#[derive(Debug, Default)]
pub(super) struct Layer {
    width: usize,
    /// The row of each place, ascending; `None` where each place is its own row.
    rows: Option<Vec<u32>>,
    /// `width` for each place.
    links: Vec<[u8; 3]>,
}

impl Layer {
    /// A layer of all rows, without links.
    pub(super) fn ground(rows: usize, width: usize) -> Self {
        Self { width, rows: None, links: vec![encode(NONE); rows * width] }
    }

    /// A layer of some rows, which ascend, without links.
    pub(super) fn above(rows: Vec<u32>, width: usize) -> Self {
        Self { width, links: vec![encode(NONE); rows.len() * width], rows: Some(rows) }
    }

    /// `None` where rows do not ascend or leave `total`, links leave the layer, or the
    /// numbers do not fit each other.
    pub(super) fn check(
        total: usize,
        width: usize,
        rows: Option<Vec<u32>>,
        links: Vec<[u8; 3]>,
    ) -> Option<Self> {
        let len = rows.as_ref().map_or(total, Vec::len);
        let ascend = rows.as_ref().is_none_or(|rows| {
            rows.is_sorted_by(|a, b| a < b) && rows.last().is_none_or(|it| (*it as usize) < total)
        });
        let fits = links.len() == len.checked_mul(width)?
            && links.iter().all(|link| {
                let place = decode(*link);
                place == NONE || (place as usize) < len
            });
        (ascend && fits && len < ROWS_MAX).then_some(Self { width, rows, links })
    }

    pub(super) fn len(&self) -> usize {
        match &self.rows {
            Some(rows) => rows.len(),
            None => self.links.len().checked_div(self.width).unwrap_or_default(),
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The row of a place.
    #[inline]
    pub(super) fn row(&self, place: u32) -> u32 {
        match &self.rows {
            Some(rows) => rows.get(place as usize).copied().unwrap_or_default(),
            None => place,
        }
    }

    /// The place of a row that is in this layer.
    pub(super) fn place(&self, row: u32) -> Option<u32> {
        match &self.rows {
            Some(rows) => rows.binary_search(&row).ok().and_then(|at| u32::try_from(at).ok()),
            None => Some(row),
        }
    }

    pub(super) fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    pub(super) fn raw_links(&self) -> &[[u8; 3]] {
        &self.links
    }

    /// Neighbours of a place, best first.
    #[inline]
    pub(super) fn links(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        let start = place as usize * self.width;
        let links = self.links.get(start..start + self.width).unwrap_or_default();
        links.iter().map(|link| decode(*link)).take_while(|place| *place != NONE)
    }

    /// Index of a place's links in [`Layer::raw_links`].
    #[inline]
    pub(super) fn links_at(&self, place: u32) -> usize {
        place as usize * self.width
    }

    /// Replaces the links of a place; what exceeds the width is left out.
    pub(super) fn link(&mut self, place: u32, to: impl IntoIterator<Item = u32>) {
        let start = self.links_at(place);
        fill(self.links.get_mut(start..start + self.width).unwrap_or_default(), to);
    }

    /// Links a place to another in one of its slots, of which those before are taken.
    pub(super) fn set(&mut self, place: u32, slot: usize, to: u32) {
        let at = self.links_at(place) + slot.min(self.width.saturating_sub(1));
        if let Some(link) = self.links.get_mut(at) {
            *link = encode(to);
        }
    }

    /// The rows, and the links of all places, [`Layer::width`] each, to be [`fill`]ed.
    pub(super) fn rows_and_links_mut(&mut self) -> (Option<&[u32]>, &mut [[u8; 3]]) {
        (self.rows.as_deref(), &mut self.links)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.links.capacity() * size_of::<[u8; 3]>()
            + self.rows.as_ref().map_or(0, |rows| rows.capacity() * size_of::<u32>())
    }
}

/// Writes the links of one place; what exceeds its slots is left out.
pub(super) fn fill(slots: &mut [[u8; 3]], to: impl IntoIterator<Item = u32>) {
    let mut to = to.into_iter();
    for slot in slots {
        *slot = encode(to.next().unwrap_or(NONE));
    }
}

#[inline]
fn decode([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}

#[inline]
fn encode(place: u32) -> [u8; 3] {
    let [a, b, c, _] = place.to_le_bytes();
    [a, b, c]
}
