//! Codec of columns.

use crate::base::time::Timestamp;
use crate::index::bytes::{BadBytes, BlobKind, ByteReader, ByteWriter};
use crate::index::columns::Columns;
use crate::index::columns::labels::{Group, Labels};
use crate::index::columns::positions::Positions;
use crate::index::columns::times::Times;

const KIND: BlobKind = BlobKind { name: "a segment's columns", tag: *b"ECOL", version: 1 };

/// Stands for no name and no order.
const NONE: u32 = u32::MAX;

impl Columns {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new(KIND);
        let (first, last) = self.times.columns();
        for times in [first, last] {
            writer.many(&times.iter().map(|time| time.micros()).collect::<Vec<_>>());
        }
        let (names, groups) = self.labels.parts();
        writer.one(count(names.len()));
        for name in names {
            writer.text(name);
        }
        writer.one(count(groups.len()));
        for Group { key, start, words } in groups {
            writer.many(&key.map(|name| name.unwrap_or(NONE)));
            writer.one(count(*start));
            writer.many(words);
        }
        let (positions, order) = self.places.parts();
        writer.many(positions.as_flattened());
        writer.one(u8::from(order.is_some()));
        writer.many(order.unwrap_or_default());
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        let mut reader = ByteReader::new(KIND, bytes)?;
        let times = times(&mut reader)?;
        let labels = labels(&mut reader, times.len())?;
        let places = places(&mut reader, times.len())?;
        reader.finish()?;
        Ok(Self { times, labels, places })
    }
}

/// Rows, names and words are counted in u32.
fn count(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

fn times(reader: &mut ByteReader<'_>) -> Result<Times, BadBytes> {
    let (first, last) = (reader.many::<i64>()?, reader.many::<i64>()?);
    reader.ensure(first.len() == last.len(), "its columns differ in length")?;
    let mut times = Times::default();
    for (first, last) in first.into_iter().zip(last) {
        let moment = |micros| Timestamp::from_micros(micros);
        let (Some(first), Some(last)) = (moment(first), moment(last)) else {
            return Err(reader.content("a moment is out of range"));
        };
        times.push(first, last);
    }
    Ok(times)
}

fn labels(reader: &mut ByteReader<'_>, rows: usize) -> Result<Labels, BadBytes> {
    let mut names: Vec<Box<str>> = Vec::new();
    for _ in 0..reader.one::<u32>()? {
        names.push(reader.text()?.into());
    }
    let mut groups = Vec::new();
    for _ in 0..reader.one::<u32>()? {
        let key: Vec<u32> = reader.many()?;
        let key = key.try_into().map_err(|_other| reader.content("a label has not four names"))?;
        let key: [u32; 4] = key;
        let key = key.map(|name| (name != NONE).then_some(name));
        groups.push(Group { key, start: reader.one::<u32>()? as usize, words: reader.many()? });
    }
    let labels = Labels::from_parts(names, groups, rows);
    labels.ok_or_else(|| reader.content("a row has no labels or two"))
}

fn places(reader: &mut ByteReader<'_>, rows: usize) -> Result<Positions, BadBytes> {
    let flat: Vec<f64> = reader.many()?;
    let (positions, rest) = flat.as_chunks::<3>();
    reader.ensure(rest.is_empty(), "a position has not three coordinates")?;
    let has_order = reader.one::<u8>()?;
    let order: Vec<u32> = reader.many()?;
    reader.ensure(has_order <= 1 && (has_order == 1 || order.is_empty()), "its order of places")?;
    let places = Positions::from_parts(positions.to_vec(), (has_order == 1).then_some(order), rows);
    places.ok_or_else(|| reader.content("its places are not those of its rows"))
}
