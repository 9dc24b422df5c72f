//! What filters look at, row by row.

use std::collections::HashMap;

use crate::base::time::{Timestamp, Window};
use crate::index::Row;
use crate::index::selection::Selection;

/// One row's values.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    pub first: Timestamp,
    pub last: Timestamp,
    pub source: &'a str,
    pub map_id: &'a str,
    pub layer: Option<&'a str>,
}

/// What rows must fulfil; where absent, any value does.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'a> {
    /// Touched by the row's time from first to last.
    pub window: Window,
    pub source: Option<&'a str>,
    pub map_id: Option<&'a str>,
    pub layer: Option<&'a str>,
}

/// Values of all rows, each kind side by side.
#[derive(Debug, Default)]
pub struct Columns {
    first: Vec<Timestamp>,
    last: Vec<Timestamp>,
    labels: Vec<Labels>,
    names: Names,
    span: Option<(Timestamp, Timestamp)>,
}

#[derive(Debug, Clone, Copy)]
struct Labels {
    source: Name,
    map_id: Name,
    layer: Option<Name>,
}

/// A [`Condition`] with its names looked up.
#[derive(Debug, Clone, Copy)]
struct Test {
    window: Window,
    source: Option<Name>,
    map_id: Option<Name>,
    layer: Option<Name>,
}

impl Columns {
    /// Appends a row.
    pub fn push(&mut self, cells: Cells<'_>) {
        let Cells { first, last, source, map_id, layer } = cells;
        self.first.push(first);
        self.last.push(last);
        self.labels.push(Labels {
            source: self.names.intern(source),
            map_id: self.names.intern(map_id),
            layer: layer.map(|layer| self.names.intern(layer)),
        });
        let (start, end) = self.span.unwrap_or((first, last));
        self.span = Some((start.min(first), end.max(last)));
    }

    /// Moves a row's last moment to `last` if that is later.
    pub fn extend(&mut self, row: Row, last: Timestamp) {
        if let Some(held) = self.last.get_mut(row.at()) {
            *held = last.max(*held);
            self.span = self.span.map(|(start, end)| (start, end.max(last)));
        }
    }

    pub fn last(&self, row: Row) -> Option<Timestamp> {
        self.last.get(row.at()).copied()
    }

    /// First and last moment of all rows; `None` where there are none.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        self.span
    }

    /// The rows that fulfil a condition.
    pub fn select(&self, condition: &Condition<'_>) -> Selection {
        match self.test(condition) {
            Some(test) if test.is_open() => Selection::All,
            Some(test) => Selection::Only(self.verdicts(test).collect()),
            None => Selection::Only(Vec::new()),
        }
    }

    /// How many rows fulfil a condition.
    pub fn count(&self, condition: &Condition<'_>) -> usize {
        match self.test(condition) {
            Some(test) if test.is_open() => self.first.len(),
            Some(test) => self.verdicts(test).filter(|verdict| *verdict).count(),
            None => 0,
        }
    }

    /// `None` where a name is asked for that no row has.
    fn test(&self, condition: &Condition<'_>) -> Option<Test> {
        let Condition { window, source, map_id, layer } = *condition;
        let known = |name: Option<&str>| match name {
            Some(name) => self.names.find(name).map(Some),
            None => Some(None),
        };
        Some(Test { window, source: known(source)?, map_id: known(map_id)?, layer: known(layer)? })
    }

    fn verdicts(&self, test: Test) -> impl Iterator<Item = bool> + '_ {
        let times = self.first.iter().zip(&self.last);
        times.zip(&self.labels).map(move |((first, last), labels)| {
            test.window.touches(*first, *last) && test.accepts(*labels)
        })
    }
}

impl Test {
    fn is_open(&self) -> bool {
        let Self { window, source, map_id, layer } = self;
        window.is_unbounded() && source.is_none() && map_id.is_none() && layer.is_none()
    }

    fn accepts(&self, labels: Labels) -> bool {
        self.source.is_none_or(|source| source == labels.source)
            && self.map_id.is_none_or(|map_id| map_id == labels.map_id)
            && self.layer.is_none_or(|layer| Some(layer) == labels.layer)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name(u32);

/// Each distinct name once: a robot has few sources and maps, and many rows.
#[derive(Debug, Default)]
struct Names(HashMap<Box<str>, Name>);

impl Names {
    fn intern(&mut self, name: &str) -> Name {
        if let Some(known) = self.find(name) {
            return known;
        }
        // There are at most three new names a row, and rows are counted in u32;
        // so many names would not fit in memory.
        let new = Name(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        self.0.insert(name.into(), new);
        new
    }

    fn find(&self, name: &str) -> Option<Name> {
        self.0.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, prop, proptest};

    #[derive(Debug, Clone)]
    struct Owned {
        first: u32,
        length: u32,
        source: &'static str,
        map_id: &'static str,
        layer: Option<&'static str>,
    }

    fn at(seconds: u32) -> Timestamp {
        Timestamp::from_seconds(f64::from(seconds)).unwrap()
    }

    fn rows() -> impl Strategy<Value = Vec<Owned>> {
        let names = || prop::sample::select(vec!["a", "b", ""]);
        let row = (0_u32..30, 0_u32..5, names(), names(), prop::option::of(names()));
        let row = row.prop_map(|(first, length, source, map_id, layer)| Owned {
            first,
            length,
            source,
            map_id,
            layer,
        });
        prop::collection::vec(row, 0..40)
    }

    fn filled(rows: &[Owned]) -> Columns {
        let mut columns = Columns::default();
        for Owned { first, length, source, map_id, layer } in rows.iter().cloned() {
            let (first, last) = (at(first), at(first + length));
            columns.push(Cells { first, last, source, map_id, layer });
        }
        columns
    }

    proptest! {
        #[test]
        fn selects_what_a_look_at_each_row_selects(
            rows in rows(),
            (start, length) in (prop::option::of(0_u32..40), prop::option::of(0_u32..9)),
            source in prop::option::of(prop::sample::select(vec!["a", "", "unknown"])),
            map_id in prop::option::of(prop::sample::select(vec!["b", "unknown"])),
            layer in prop::option::of(prop::sample::select(vec!["a", "unknown"])),
        ) {
            let end = length.map(|length| start.unwrap_or(0) + length);
            let window = Window::new(start.map(at), end.map(at)).unwrap();
            let expected: Vec<bool> = rows.iter().map(|row| {
                start.is_none_or(|start| row.first + row.length >= start)
                    && end.is_none_or(|end| row.first <= end)
                    && source.is_none_or(|source| source == row.source)
                    && map_id.is_none_or(|map_id| map_id == row.map_id)
                    && (layer.is_none() || layer == row.layer)
            }).collect();
            let columns = filled(&rows);
            let condition = Condition { window, source, map_id, layer };
            let selection = columns.select(&condition);
            for (row, expected) in (0..).map(Row).zip(&expected) {
                assert_eq!(selection.contains(row), *expected, "{row:?}");
            }
            assert_eq!(columns.count(&condition), expected.iter().filter(|it| **it).count());
            let firsts = rows.iter().map(|row| at(row.first)).min();
            let lasts = rows.iter().map(|row| at(row.first + row.length)).max();
            assert_eq!(columns.span(), firsts.zip(lasts));
        }
    }

    #[test]
    fn a_row_grows_and_never_shrinks() {
        let row = Owned { first: 10, length: 0, source: "a", map_id: "", layer: None };
        let mut columns = filled(&[row]);
        columns.extend(Row(0), at(20));
        columns.extend(Row(0), at(15));
        columns.extend(Row(7), at(99));
        assert_eq!(columns.last(Row(0)), Some(at(20)));
        assert_eq!(columns.span(), Some((at(10), at(20))));
    }
}
