//! Columns that filters read: time, labels and position of each row of one part, with
//! zone maps (bounds of each block) that spare most reads.
//!
//! Knows numbers and names, not records. A part is a growing or a sealed segment; both
//! are [`Columns`], a sealed one with its rows ordered by position
//! ([`Columns::order_places`]).

mod codec;
mod labels;
mod merge;
mod positions;
mod times;

use roaring::RoaringBitmap;

use crate::base::area::Area;
use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::columns::labels::Labels;
use crate::index::columns::positions::Positions;
use crate::index::columns::times::Times;
use crate::index::selection::{RowSet, Selection};

/// One row's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cells<'a> {
    pub first: Timestamp,
    pub last: Timestamp,
    pub source: &'a str,
    pub frame_id: &'a str,
    pub map_id: &'a str,
    pub layer: Option<&'a str>,
    /// Metres in `frame_id` of `map_id`; `None` when the robot was not localised.
    pub position: Option<[f64; 3]>,
}

/// Predicate over columns; an absent field accepts any value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Condition<'a> {
    /// Touched by the row's time from first to last.
    pub window: Window,
    pub source: Option<&'a str>,
    pub map_id: Option<&'a str>,
    pub layer: Option<&'a str>,
    /// A row without a position, or with one of another frame or map, is outside.
    pub area: Option<&'a Area>,
}

/// Values of all rows, column by column.
#[derive(Debug, Default, Clone)]
pub struct Columns {
    times: Times,
    labels: Labels,
    places: Positions,
}

/// Rows of a bitmap below which each is read, rather than blocks.
const FEW: u64 = 4_096;

impl Columns {
    /// Appends a row.
    pub fn push(&mut self, cells: Cells<'_>) {
        let Cells { first, last, source, frame_id, map_id, layer, position } = cells;
        self.labels.push(self.times.len(), &[Some(source), Some(frame_id), Some(map_id), layer]);
        self.places.push(position);
        self.times.push(first, last);
    }

    /// Moves a row's last moment to `last` if that is later.
    pub fn extend(&mut self, row: Row, last: Timestamp) {
        self.times.extend(row, last);
    }

    /// Orders the rows by position, so that an area is found without a read of rows
    /// outside of it. Rows pushed later undo it.
    pub fn order_places(&mut self) {
        self.places.order();
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When a row was seen first and last.
    pub fn times(&self, row: Row) -> Option<(Timestamp, Timestamp)> {
        self.times.of(row)
    }

    pub fn last(&self, row: Row) -> Option<Timestamp> {
        self.times.of(row).map(|(_, last)| last)
    }

    /// All values of a row.
    pub fn cells(&self, row: Row) -> Option<Cells<'_>> {
        let (first, last) = self.times.of(row)?;
        let [source, frame_id, map_id, layer] = self.labels.of(row)?;
        let position = self.places.of(row);
        Some(Cells {
            first,
            last,
            source: source?,
            frame_id: frame_id?,
            map_id: map_id?,
            layer,
            position,
        })
    }

    /// First and last moment of all rows; `None` where there are none.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        self.times.span()
    }

    /// Rows that fulfil a condition.
    ///
    /// Reads the bounds of blocks, and single rows only where a block lies partly
    /// inside.
    pub fn select(&self, condition: &Condition<'_>) -> Selection {
        let rows = self.len();
        let Condition { window, source, map_id, layer, area } = *condition;
        let labelled = self.labels.select([source, None, map_id, layer], rows);
        let timed = self.times.select(window);
        let within = timed.and(&labelled, rows);
        match area {
            Some(area) => self.inside(area, &within),
            None => within,
        }
    }

    /// Number of rows that fulfil a condition.
    pub fn count(&self, condition: &Condition<'_>) -> usize {
        self.select(condition).count(self.len())
    }

    /// The `n` selected rows seen last, newest first, the later row of equals
    /// first. Looks at the newest blocks only.
    pub fn newest(&self, within: &Selection, n: usize) -> Vec<(Timestamp, Row)> {
        self.times.newest(n, |row| within.contains(row))
    }

    /// The `n` selected rows seen first, oldest first, the earlier row of equals
    /// first. Looks at the oldest blocks only.
    pub fn oldest(&self, within: &Selection, n: usize) -> Vec<(Timestamp, Row)> {
        self.times.begun_from(Timestamp::EPOCH, n, |_, row| within.contains(row))
    }

    /// The `n` selected rows whose first moment is the earliest from `from` on, as
    /// [`Columns::oldest`] orders them, of those that `accepts` takes.
    pub fn begun_from(
        &self,
        (within, from): (&Selection, Timestamp),
        n: usize,
        accepts: impl Fn(Timestamp, Row) -> bool,
    ) -> Vec<(Timestamp, Row)> {
        self.times.begun_from(from, n, |first, row| within.contains(row) && accepts(first, row))
    }

    /// The `n` selected rows whose first moment is the latest up to `until`, latest first, the
    /// later row of equals first, of those that `accepts` takes.
    pub fn begun_until(
        &self,
        (within, until): (&Selection, Timestamp),
        n: usize,
        accepts: impl Fn(Timestamp, Row) -> bool,
    ) -> Vec<(Timestamp, Row)> {
        self.times.begun_until(until, n, |first, row| within.contains(row) && accepts(first, row))
    }

    /// As [`Columns::newest`], of the rows of a bitmap.
    pub fn newest_of(&self, rows: &RoaringBitmap, n: usize) -> Vec<(Timestamp, Row)> {
        if rows.len() < FEW {
            return self.times.newest_of(rows.iter().map(Row), n);
        }
        self.times.newest(n, |row| rows.contains(row.0))
    }

    /// The `n` selected rows nearest to the centre of `area` and inside of it, in
    /// metres, nearest first, the earlier row of equals first.
    pub fn nearest(&self, area: &Area, within: &Selection, n: usize) -> Vec<(f64, Row)> {
        let of_map = self.of_map_of(area).and(within, self.len());
        self.places.nearest(area, &of_map, n)
    }

    /// How many of the selected rows have each pair of source and map; a pair may come twice.
    pub fn origins(&self, within: &Selection) -> Vec<(&str, &str, usize)> {
        let of_labels = self.labels.counts(within, self.len()).into_iter();
        of_labels
            .filter_map(|([source, _, map_id, _], rows)| Some((source?, map_id?, rows)))
            .collect()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.times.memory_bytes() + self.labels.memory_bytes() + self.places.memory_bytes()
    }

    fn of_map_of(&self, area: &Area) -> Selection {
        let names = [None, Some(area.frame_id()), Some(area.map_id()), None];
        self.labels.select(names, self.len())
    }

    fn inside(&self, area: &Area, within: &Selection) -> Selection {
        let within = self.of_map_of(area).and(within, self.len());
        // A narrow window is faster read row by row than a wide area.
        if within.count(self.len()) <= self.places.rows_examined(area) {
            let mut marked = RowSet::new(self.len());
            for row in within.rows(self.len()) {
                if self.places.of(row).is_some_and(|position| area.contains(position)) {
                    marked.insert(row);
                }
            }
            return Selection::Only(marked);
        }
        self.places.select(area).and(&within, self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::bytes::tests::{check_damage, check_nonsense};
    use proptest::prelude::{Strategy, any, prop, proptest};
    use std::cmp::Reverse;

    #[derive(Debug, Clone)]
    struct Owned {
        first: u32,
        length: u32,
        names: [&'static str; 3],
        layer: Option<&'static str>,
        position: Option<[f64; 3]>,
    }

    impl Owned {
        fn last(&self) -> u32 {
            self.first + self.length
        }

        fn cells(&self) -> Cells<'_> {
            let [source, frame_id, map_id] = self.names;
            let (first, last) = (at(self.first), at(self.last()));
            let Self { layer, position, .. } = *self;
            Cells { first, last, source, frame_id, map_id, layer, position }
        }
    }

    fn at(seconds: u32) -> Timestamp {
        Timestamp::from_seconds(f64::from(seconds)).unwrap()
    }

    fn row() -> impl Strategy<Value = Owned> {
        let name = || prop::sample::select(vec!["a", "b", ""]);
        let coordinate = || (0_u8..20).prop_map(f64::from);
        let position = [coordinate(), coordinate(), coordinate()];
        let place = (name(), name(), prop::option::of(position));
        (0_u32..30, 0_u32..5, name(), prop::option::of(name()), place).prop_map(
            |(first, length, source, layer, (frame_id, map_id, position))| Owned {
                first,
                length,
                names: [source, frame_id, map_id],
                layer,
                position,
            },
        )
    }

    /// Now and then in the order of time, and more than a block.
    fn rows() -> impl Strategy<Value = Vec<Owned>> {
        let some = prop::collection::vec(row(), 1..60);
        (some, any::<bool>(), prop::sample::select(vec![1_usize, 40])).prop_map(
            |(mut rows, is_sorted, times)| {
                rows = (0..times).flat_map(|_| rows.clone()).collect();
                if is_sorted {
                    rows.sort_by_key(|row| row.first);
                }
                rows
            },
        )
    }

    fn fill(rows: &[Owned]) -> Columns {
        let mut columns = Columns::default();
        for row in rows {
            columns.push(row.cells());
        }
        columns
    }

    fn read_back(columns: &Columns) -> Columns {
        Columns::from_bytes(&columns.to_bytes()).unwrap()
    }

    fn all_cells(columns: &Columns) -> Vec<Cells<'_>> {
        (0..).map(Row).map_while(|row| columns.cells(row)).collect()
    }

    proptest! {
        #[test]
        fn selection_equals_a_scan_of_all_rows(
            rows in rows(),
            (start, length) in (prop::option::of(0_u32..40), prop::option::of(0_u32..9)),
            source in prop::option::of(prop::sample::select(vec!["a", "", "unknown"])),
            map_id in prop::option::of(prop::sample::select(vec!["b", "unknown"])),
            layer in prop::option::of(prop::sample::select(vec!["a", "unknown"])),
            area in prop::option::of((0_f64..20.0, 0_f64..20.0, prop::option::of(5_f64..9.0), 0.1_f64..15.0)),
            (is_sealed, n) in (any::<bool>(), 0_usize..90),
        ) {
            let end = length.map(|length| start.unwrap_or(0) + length);
            let window = Window::new(start.map(at), end.map(at)).unwrap();
            let area = area.map(|(x, y, z, radius)| Area::new((x, y, z), radius, "a", "b").unwrap());
            let area = area.as_ref();
            let expected: Vec<bool> = rows.iter().map(|row| {
                let position = row.position.filter(|_| row.names[1..] == ["a", "b"]);
                start.is_none_or(|start| row.last() >= start)
                    && end.is_none_or(|end| row.first <= end)
                    && source.is_none_or(|source| source == row.names[0])
                    && map_id.is_none_or(|map_id| map_id == row.names[2])
                    && (layer.is_none() || layer == row.layer)
                    && area.is_none_or(|area| position.is_some_and(|it| area.contains(it)))
            }).collect();
            let mut columns = fill(&rows);
            if is_sealed {
                columns.order_places();
                columns = read_back(&columns);
            }
            let condition = Condition { window, source, map_id, layer, area };
            let selection = columns.select(&condition);
            for (row, expected) in (0..).map(Row).zip(&expected) {
                assert_eq!(selection.contains(row), *expected, "{row:?}");
            }
            assert_eq!(columns.count(&condition), expected.iter().filter(|it| **it).count());
            let firsts = rows.iter().map(|row| at(row.first)).min();
            let lasts = rows.iter().map(|row| at(row.last())).max();
            assert_eq!(columns.span(), firsts.zip(lasts));

            let inside = (0..).zip(&rows).zip(&expected).filter(|(_, it)| **it).map(|(it, _)| it);
            let mut newest: Vec<_> =
                inside.clone().map(|(row, it)| Reverse((at(it.last()), Row(row)))).collect();
            newest.sort_unstable();
            newest.truncate(n);
            let newest: Vec<_> = newest.into_iter().map(|it| it.0).collect();
            assert_eq!(columns.newest(&selection, n), newest);
            let bitmap: RoaringBitmap = selection.rows(rows.len()).map(|row| row.0).collect();
            assert_eq!(columns.newest_of(&bitmap, n), newest);
            assert_eq!(columns.times.newest(n, |row| bitmap.contains(row.0)), newest);
            let mut oldest: Vec<_> =
                inside.clone().map(|(row, it)| (at(it.first), Row(row))).collect();
            oldest.sort_unstable();
            oldest.truncate(n);
            assert_eq!(columns.oldest(&selection, n), oldest);
            // From a moment on and up to one, but for every third row.
            let (bound, third) = (at(start.unwrap_or(9)), |row: Row| row.0.is_multiple_of(3));
            let others = inside.clone().map(|(row, it)| (at(it.first), Row(row)));
            let mut begun: Vec<_> = others.filter(|(_, row)| !third(*row)).collect();
            begun.sort_unstable();
            let from: Vec<_> =
                begun.iter().filter(|it| it.0 >= bound).take(n).copied().collect();
            let within = (&selection, bound);
            assert_eq!(columns.begun_from(within, n, |_, row| !third(row)), from);
            let until: Vec<_> =
                begun.iter().rev().filter(|it| it.0 <= bound).take(n).copied().collect();
            assert_eq!(columns.begun_until(within, n, |_, row| !third(row)), until);
            if let Some(area) = area {
                let mut nearest: Vec<(f64, Row)> = inside.map(|(row, it)| {
                    (area.distance_metres(it.position.unwrap()), Row(row))
                }).collect();
                nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                nearest.truncate(n);
                assert_eq!(columns.nearest(area, &selection, n), nearest);
            }
        }

        #[test]
        fn written_columns_are_read_back(rows in rows(), is_sealed: bool, more in row()) {
            let mut columns = fill(&rows);
            if is_sealed {
                columns.order_places();
            }
            let mut read = read_back(&columns);
            let cells: Vec<Cells<'_>> = rows.iter().map(Owned::cells).collect();
            assert_eq!(all_cells(&read), cells);
            read.push(more.cells());
            columns.push(more.cells());
            assert_eq!(all_cells(&read), all_cells(&columns));
            assert_eq!(all_cells(&read).len(), rows.len() + 1);
        }

        #[test]
        fn a_merge_leaves_out_deleted_rows(
            parts in prop::collection::vec((rows(), prop::collection::btree_set(0_u32..70, 0..30)), 0..4),
        ) {
            let held: Vec<(Columns, RoaringBitmap)> = parts.iter()
                .map(|(rows, deleted)| (fill(rows), deleted.iter().copied().collect())).collect();
            let borrowed: Vec<_> = held.iter().map(|(columns, deleted)| (columns, deleted)).collect();
            let merged = Columns::merge(&borrowed);
            let expected: Vec<Cells<'_>> = parts.iter().flat_map(|(rows, deleted)| {
                let kept = (0..).zip(rows).filter(|(row, _)| !deleted.contains(row));
                kept.map(|(_, row)| row.cells())
            }).collect();
            assert_eq!(all_cells(&merged), expected);
        }

        #[test]
        fn corrupt_bytes_never_panic(
            rows in rows(),
            flips in prop::collection::vec((any::<usize>(), 1_u8..), 1..4),
        ) {
            let mut columns = fill(&rows);
            columns.order_places();
            let area = Area::new((3.0, 4.0, None), 5.0, "a", "b").unwrap();
            let condition = Condition { area: Some(&area), source: Some("a"), ..Condition::default() };
            if let Some(read) = check_nonsense(&columns.to_bytes(), &flips, Columns::from_bytes) {
                read.newest(&read.select(&condition), 5);
                all_cells(&read);
            }
        }
    }

    #[test]
    fn damage_is_noticed() {
        let position = Some([1.0, 2.0, 3.0]);
        let row = Owned { first: 1, length: 2, names: ["a", "b", "c"], layer: None, position };
        check_damage(&fill(&[row.clone(), row]).to_bytes(), Columns::from_bytes);
    }

    #[test]
    fn a_row_grows_and_never_shrinks() {
        let row =
            Owned { first: 10, length: 0, names: ["a", "b", ""], layer: None, position: None };
        let mut columns = fill(&[row]);
        columns.extend(Row(0), at(20));
        columns.extend(Row(0), at(15));
        columns.extend(Row(7), at(99));
        assert_eq!(columns.last(Row(0)), Some(at(20)));
        assert_eq!(columns.span(), Some((at(10), at(20))));
        let window = Window::new(Some(at(18)), None).unwrap();
        assert_eq!(columns.count(&Condition { window, ..Condition::default() }), 1);
    }
}
