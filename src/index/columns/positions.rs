//! Positions of the robot, by row, and a spatial index over them.
//!
//! Rows of a time are spread over a whole home, so blocks in the order of time bound no
//! area. A sealed part has its rows along a Z-order curve (Morton 1966), with the
//! bounding box of each block of that order.

use crate::base::area::Area;
use crate::index::Row;
use crate::index::columns::times::LeastK;
use crate::index::selection::{RowSet, Selection};

/// Rows of a bounding box: so few that reading one that lies partly inside costs about
/// as much as a dozen boxes.
const BOX_ROWS: usize = 128;

#[derive(Debug, Default, Clone)]
pub(super) struct Positions {
    rows: usize,
    /// By row, not a number where there is none; empty until one row has one.
    by_row: Vec<[f64; 3]>,
    /// The rows with a position along the curve; `None` in a part that grows.
    order: Option<Vec<u32>>,
    /// Of each [`BOX_ROWS`] rows of that order, or of all rows while there is none.
    boxes: Vec<Corners>,
}

#[derive(Debug, Clone, Copy)]
struct Corners {
    low: [f64; 3],
    high: [f64; 3],
}

impl Corners {
    const NONE: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    fn include(&mut self, position: [f64; 3]) {
        // `min` and `max` pass over what is no number.
        for ((low, high), x) in self.low.iter_mut().zip(&mut self.high).zip(position) {
            (*low, *high) = (low.min(x), high.max(x));
        }
    }

    /// Least and greatest distance from an area's centre; `None` without a row.
    fn distances(&self, area: &Area) -> Option<(f64, f64)> {
        let [low, high] = [self.low, self.high];
        let is_there = low.iter().zip(&high).all(|(low, high)| low <= high);
        is_there.then(|| area.distances_metres(low, high))
    }
}

const NOWHERE: [f64; 3] = [f64::NAN; 3];

impl Positions {
    pub(super) fn push(&mut self, position: Option<[f64; 3]>) {
        if self.order.take().is_some() {
            self.box_all();
        }
        if position.is_some() && self.by_row.is_empty() {
            self.by_row = vec![NOWHERE; self.rows];
            self.box_all();
        }
        if !self.by_row.is_empty() || position.is_some() {
            let position = position.unwrap_or(NOWHERE);
            if self.by_row.len().is_multiple_of(BOX_ROWS) {
                self.boxes.push(Corners::NONE);
            }
            if let Some(corners) = self.boxes.last_mut() {
                corners.include(position);
            }
            self.by_row.push(position);
        }
        self.rows += 1;
    }

    pub(super) fn of(&self, row: Row) -> Option<[f64; 3]> {
        self.by_row.get(row.at()).copied().filter(|position| !position[0].is_nan())
    }

    pub(super) fn order(&mut self) {
        let placed = (0..).zip(&self.by_row).filter(|(_, position)| !position[0].is_nan());
        let mut all = Corners::NONE;
        let mut keyed: Vec<(u32, u32)> = Vec::new();
        for (_, position) in placed.clone() {
            all.include(*position);
        }
        keyed.extend(placed.map(|(row, position)| (all.curve(*position), row)));
        keyed.sort_unstable();
        let order = keyed.into_iter().map(|(_, row)| row).collect();
        self.set_order(order);
    }

    /// Upper bound of the rows read to select an area.
    pub(super) fn rows_examined(&self, area: &Area) -> usize {
        let near = |corners: &&Corners| {
            corners.distances(area).is_some_and(|(near, _)| near <= area.radius_metres())
        };
        self.boxes.iter().filter(near).count() * BOX_ROWS
    }

    /// The rows inside an area, whatever their frame and map.
    pub(super) fn select(&self, area: &Area) -> Selection {
        let mut marked = RowSet::new(self.rows);
        for (at, corners) in self.boxes.iter().enumerate() {
            match corners.distances(area) {
                Some((near, _)) if near > area.radius_metres() => {}
                Some((_, far)) => {
                    let is_whole = far <= area.radius_metres();
                    for (row, position) in self.of_box(at) {
                        if is_whole || area.contains(position) {
                            marked.insert(row);
                        }
                    }
                }
                None => {}
            }
        }
        Selection::Only(marked)
    }

    /// The `n` selected rows inside an area that are nearest to its centre.
    pub(super) fn nearest(&self, area: &Area, within: &Selection, n: usize) -> Vec<(f64, Row)> {
        let boxes = self.boxes.iter().enumerate();
        let mut order: Vec<(f64, usize)> = boxes
            .filter_map(|(at, corners)| Some((corners.distances(area)?.0, at)))
            .filter(|(near, _)| *near <= area.radius_metres())
            .collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = LeastK::new(n);
        for (near, at) in order {
            if best.is_beyond(Metres(near)) {
                break;
            }
            for (row, position) in self.of_box(at) {
                let metres = area.distance_metres(position);
                if metres <= area.radius_metres() && within.contains(row) {
                    best.offer((Metres(metres), row));
                }
            }
        }
        best.into_sorted().into_iter().map(|(Metres(metres), row)| (metres, row)).collect()
    }

    pub(super) fn parts(&self) -> (&[[f64; 3]], Option<&[u32]>) {
        (&self.by_row, self.order.as_deref())
    }

    /// From [`Positions::parts`]; `None` unless the positions are all rows' or none,
    /// and the order is one of the rows with a position.
    pub(super) fn from_parts(
        positions: Vec<[f64; 3]>,
        order: Option<Vec<u32>>,
        rows: usize,
    ) -> Option<Self> {
        let mut places = Self { rows, by_row: positions, ..Self::default() };
        if !places.by_row.is_empty() && places.by_row.len() != rows {
            return None;
        }
        let Some(order) = order else {
            places.box_all();
            return Some(places);
        };
        let mut left = RowSet::new(rows);
        for row in (0..u32::try_from(rows).ok()?).map(Row) {
            if places.of(row).is_some() {
                left.insert(row);
            }
        }
        if order.len() != left.len() {
            return None;
        }
        for row in &order {
            left.remove(Row(*row));
        }
        places.set_order(order);
        left.is_empty().then_some(places)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.by_row.capacity() * size_of::<[f64; 3]>()
            + self.order.as_ref().map_or(0, |order| order.capacity() * 4)
            + self.boxes.capacity() * size_of::<Corners>()
    }

    fn set_order(&mut self, order: Vec<u32>) {
        self.boxes = order
            .chunks(BOX_ROWS)
            .map(|rows| {
                let mut corners = Corners::NONE;
                for position in rows.iter().filter_map(|row| self.of(Row(*row))) {
                    corners.include(position);
                }
                corners
            })
            .collect();
        self.order = Some(order);
    }

    fn box_all(&mut self) {
        self.boxes = self
            .by_row
            .chunks(BOX_ROWS)
            .map(|positions| {
                let mut corners = Corners::NONE;
                for position in positions {
                    corners.include(*position);
                }
                corners
            })
            .collect();
    }

    /// The rows of a box that have a position, with it.
    fn of_box(&self, at: usize) -> impl Iterator<Item = (Row, [f64; 3])> + '_ {
        let start = at * BOX_ROWS;
        let end = start + BOX_ROWS;
        let ordered = self.order.as_ref().map(|order| order.get(start..end.min(order.len())));
        let ordered = ordered.flatten().unwrap_or_default().iter().map(|row| Row(*row));
        let end = if self.order.is_some() { start } else { end.min(self.by_row.len()) };
        let plain = (start..end).filter_map(|row| u32::try_from(row).ok()).map(Row);
        ordered.chain(plain).filter_map(|row| Some((row, self.of(row)?)))
    }
}

impl Corners {
    /// Where a position in this box lies along the curve: the bits of x and y,
    /// 16 each, in turns. Heights differ little in a home.
    fn curve(&self, [x, y, _]: [f64; 3]) -> u32 {
        let share = |value: f64, low: f64, high: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of 65,535; what is no number becomes 0"
            )]
            let step = ((value - low) / (high - low) * 65_535.0) as u16;
            step
        };
        let ([x_low, y_low, _], [x_high, y_high, _]) = (self.low, self.high);
        spread(share(x, x_low, x_high)) | spread(share(y, y_low, y_high)) << 1
    }
}

/// A zero before each bit.
fn spread(bits: u16) -> u32 {
    let bits = u32::from(bits);
    let bits = (bits | bits << 8) & 0x00ff_00ff;
    let bits = (bits | bits << 4) & 0x0f0f_0f0f;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// A distance, ordered.
#[derive(Debug, Clone, Copy)]
struct Metres(f64);

impl Ord for Metres {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Metres {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Metres {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Metres {}
