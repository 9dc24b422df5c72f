//! Writes Parquet: columns in row groups, one page a column and group, not packed, with its
//! metadata in Thrift's compact protocol, as its specification has them.

use std::io::{self, Write};

const MAGIC: &[u8] = b"PAR1";

/// Values of one column of a row group.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Whole(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<Vec<u8>>),
}

/// What the values of a column mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    Text,
    Json,
    /// Microseconds since 1970 in UTC.
    Moment,
}

/// How often a row has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    Sometimes,
    /// A list, or none.
    Listed,
}

/// A column of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnSpec {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) meaning: Meaning,
    pub(super) presence: Presence,
}

/// Physical types, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole = 2,
    Float = 4,
    Double = 5,
    Bytes = 6,
}

/// A column of a row group that is being filled.
#[derive(Debug)]
pub(super) struct Column {
    values: Values,
    /// Definition levels: 0 where there is nothing.
    levels: Vec<u8>,
    /// Repetition levels: 0 where a row begins.
    repeats: Vec<u8>,
}

impl Column {
    pub(super) fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Whole => Values::Whole(Vec::new()),
            Kind::Float => Values::Float(Vec::new()),
            Kind::Double => Values::Double(Vec::new()),
            Kind::Bytes => Values::Bytes(Vec::new()),
        };
        Self { values, levels: Vec::new(), repeats: Vec::new() }
    }

    /// A row's one value, or none.
    pub(super) fn push(&mut self, value: Option<Value>) {
        self.levels.push(u8::from(value.is_some()));
        self.repeats.push(0);
        if let Some(value) = value {
            self.values.push(value);
        }
    }

    /// A row's list; an empty one is none.
    pub(super) fn push_list(&mut self, list: &[f32]) {
        if list.is_empty() {
            self.levels.push(0);
            self.repeats.push(0);
        }
        for (at, value) in list.iter().enumerate() {
            self.levels.push(LISTED_LEVEL);
            self.repeats.push(u8::from(at > 0));
            self.values.push(Value::Float(*value));
        }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Whole(i64),
    Float(f32),
    Double(f64),
    Bytes(Vec<u8>),
}

impl Values {
    /// One of another kind has no place in the column.
    fn push(&mut self, value: Value) {
        match (self, value) {
            (Self::Whole(held), Value::Whole(value)) => held.push(value),
            (Self::Float(held), Value::Float(value)) => held.push(value),
            (Self::Double(held), Value::Double(value)) => held.push(value),
            (Self::Bytes(held), Value::Bytes(value)) => held.push(value),
            (Self::Whole(_) | Self::Float(_) | Self::Double(_) | Self::Bytes(_), _) => {
                debug_assert!(false, "a value of another kind than its column");
            }
        }
    }

    fn write(&self, page: &mut Vec<u8>) {
        match self {
            Self::Whole(held) => page.extend(held.iter().flat_map(|it| it.to_le_bytes())),
            Self::Float(held) => page.extend(held.iter().flat_map(|it| it.to_le_bytes())),
            Self::Double(held) => page.extend(held.iter().flat_map(|it| it.to_le_bytes())),
            Self::Bytes(held) => {
                for bytes in held {
                    page.extend(length(bytes.len()).to_le_bytes());
                    page.extend(bytes);
                }
            }
        }
    }
}

/// A Parquet file that is being written.
pub(super) struct ParquetWriter<W> {
    out: W,
    written: u64,
    columns: &'static [ColumnSpec],
    groups: Vec<Group>,
}

/// A row group as the metadata has it.
struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

struct Chunk {
    start: u64,
    bytes: u64,
    values: usize,
}

/// Definition level of a list's element.
const LISTED_LEVEL: u8 = 2;
/// Encodings, by their numbers.
const PLAIN: i64 = 0;
const RLE: i64 = 3;

impl<W: Write> ParquetWriter<W> {
    pub(super) fn new(mut out: W, columns: &'static [ColumnSpec]) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self { out, written: MAGIC.len() as u64, columns, groups: Vec::new() })
    }

    /// Writes a row group; columns are in the order of their specs.
    pub(super) fn group(&mut self, rows: usize, columns: &[Column]) -> io::Result<()> {
        let mut chunks = Vec::with_capacity(columns.len());
        for (spec, column) in self.columns.iter().zip(columns) {
            let page = page(spec.presence, column);
            let mut header = Thrift::default();
            let bytes = count(page.len());
            header.whole(1, 0).whole(2, bytes).whole(3, bytes);
            let mut data = Thrift::default();
            data.whole(1, count(column.levels.len())).whole(2, PLAIN).whole(3, RLE).whole(4, RLE);
            header.structure(5, data);
            let header = header.finish();
            let (start, bytes) = (self.written, (header.len() + page.len()) as u64);
            self.out.write_all(&header)?;
            self.out.write_all(&page)?;
            self.written += bytes;
            chunks.push(Chunk { start, bytes, values: column.levels.len() });
        }
        self.groups.push(Group { rows, chunks });
        Ok(())
    }

    /// Ends the file, which none is without that.
    pub(super) fn finish(mut self, program: &str) -> io::Result<W> {
        let mut footer = Thrift::default();
        let rows: usize = self.groups.iter().map(|it| it.rows).sum();
        footer.whole(1, 2).structures(2, schema(self.columns)).wide(3, rows as u64);
        let groups = self.groups.iter().map(|group| self.group_metadata(group)).collect();
        footer.structures(4, groups).text(6, program);
        let footer = footer.finish();
        self.out.write_all(&footer)?;
        self.out.write_all(&length(footer.len()).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn group_metadata(&self, group: &Group) -> Thrift {
        let columns = self.columns.iter().zip(&group.chunks).map(|(spec, chunk)| {
            let mut metadata = Thrift::default();
            let path: &[&str] = match spec.presence {
                Presence::Listed => &[spec.name, LIST, ELEMENT],
                Presence::Always | Presence::Sometimes => &[spec.name],
            };
            metadata.whole(1, spec.kind as i64).wholes(2, &[PLAIN, RLE]).texts(3, path);
            metadata.whole(4, 0).wide(5, chunk.values as u64);
            metadata.wide(6, chunk.bytes).wide(7, chunk.bytes);
            metadata.wide(9, chunk.start);
            let mut column = Thrift::default();
            column.wide(2, chunk.start).structure(3, metadata);
            column
        });
        let bytes: u64 = group.chunks.iter().map(|it| it.bytes).sum();
        let mut written = Thrift::default();
        written.structures(1, columns.collect()).wide(2, bytes).wide(3, group.rows as u64);
        written
    }
}

/// Levels and values of a column.
fn page(presence: Presence, column: &Column) -> Vec<u8> {
    let mut page = Vec::new();
    if presence == Presence::Listed {
        put_levels(&mut page, &column.repeats);
    }
    if presence != Presence::Always {
        put_levels(&mut page, &column.levels);
    }
    column.values.write(&mut page);
    page
}

/// Levels as runs of equal ones, which take a byte each: there are three at most.
fn put_levels(page: &mut Vec<u8>, levels: &[u8]) {
    let mut runs = Vec::new();
    for run in levels.chunk_by(|a, b| a == b) {
        put_varint(&mut runs, (run.len() as u64) << 1);
        runs.extend(run.first());
    }
    page.extend(length(runs.len()).to_le_bytes());
    page.extend(runs);
}

/// Names within the group that makes a list, as the format wants them.
const LIST: &str = "list";
const ELEMENT: &str = "element";

/// Numbers of `FieldRepetitionType`.
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;
const REPEATED: i64 = 2;

fn schema(columns: &[ColumnSpec]) -> Vec<Thrift> {
    let mut root = Thrift::default();
    root.text(4, "engram_records").whole(5, count(columns.len()));
    let mut elements = vec![root];
    for ColumnSpec { name, kind, meaning, presence } in columns {
        let mut element = Thrift::default();
        match presence {
            Presence::Always => element.whole(1, *kind as i64).whole(3, REQUIRED).text(4, name),
            Presence::Sometimes => element.whole(1, *kind as i64).whole(3, OPTIONAL).text(4, name),
            Presence::Listed => {
                let mut group = Thrift::default();
                group.whole(3, OPTIONAL).text(4, name).whole(5, 1).whole(6, CONVERTED_LIST);
                group.union(10, 3, Thrift::default());
                let mut list = Thrift::default();
                list.whole(3, REPEATED).text(4, LIST).whole(5, 1);
                elements.extend([group, list]);
                element.whole(1, *kind as i64).whole(3, REQUIRED).text(4, ELEMENT)
            }
        };
        match meaning {
            Meaning::Plain => {}
            Meaning::Text => {
                element.whole(6, 0).union(10, 1, Thrift::default());
            }
            Meaning::Json => {
                element.whole(6, 19).union(10, 12, Thrift::default());
            }
            Meaning::Moment => {
                let mut timestamp = Thrift::default();
                timestamp.truth(1).union(2, 2, Thrift::default());
                element.whole(6, 10).union(10, 8, timestamp);
            }
        }
        elements.push(element);
    }
    elements
}

/// `ConvertedType.LIST`.
const CONVERTED_LIST: i64 = 3;

/// A struct in Thrift's compact protocol, field by field in ascending order.
#[derive(Debug, Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

/// Types on the wire.
const TRUE: u8 = 1;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST_OF: u8 = 9;
const STRUCT: u8 = 12;

impl Thrift {
    /// Of 32 bits.
    fn whole(&mut self, field: u8, value: i64) -> &mut Self {
        self.header(field, I32);
        put_zigzag(&mut self.bytes, value);
        self
    }

    /// Of 64 bits.
    fn wide(&mut self, field: u8, value: u64) -> &mut Self {
        self.header(field, I64);
        put_zigzag(&mut self.bytes, value.cast_signed());
        self
    }

    fn truth(&mut self, field: u8) -> &mut Self {
        self.header(field, TRUE);
        self
    }

    fn text(&mut self, field: u8, text: &str) -> &mut Self {
        self.header(field, BINARY);
        put_text(&mut self.bytes, text);
        self
    }

    fn wholes(&mut self, field: u8, values: &[i64]) -> &mut Self {
        self.list(field, I32, values.len());
        for value in values {
            put_zigzag(&mut self.bytes, *value);
        }
        self
    }

    fn texts(&mut self, field: u8, texts: &[&str]) -> &mut Self {
        self.list(field, BINARY, texts.len());
        for text in texts {
            put_text(&mut self.bytes, text);
        }
        self
    }

    fn structure(&mut self, field: u8, inner: Self) -> &mut Self {
        self.header(field, STRUCT);
        self.bytes.extend(inner.finish());
        self
    }

    /// A union: a struct of one field.
    fn union(&mut self, field: u8, member: u8, inner: Self) -> &mut Self {
        let mut union = Self::default();
        union.structure(member, inner);
        self.structure(field, union)
    }

    fn structures(&mut self, field: u8, inner: Vec<Self>) -> &mut Self {
        self.list(field, STRUCT, inner.len());
        for structure in inner {
            self.bytes.extend(structure.finish());
        }
        self
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn list(&mut self, field: u8, of: u8, len: usize) {
        self.header(field, LIST_OF);
        match u8::try_from(len) {
            Ok(short) if short < 15 => self.bytes.push(short << 4 | of),
            _ => {
                self.bytes.push(0xf0 | of);
                put_varint(&mut self.bytes, len as u64);
            }
        }
    }

    fn header(&mut self, field: u8, kind: u8) {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

fn put_zigzag(bytes: &mut Vec<u8>, value: i64) {
    put_varint(bytes, (value << 1 ^ value >> 63).cast_unsigned());
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    bytes.push(low_bits(value));
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    value.to_le_bytes().first().map_or(0, |byte| byte & 0x7f)
}

/// A number of values or bytes: a page has less than 2 GiB.
fn count(number: usize) -> i64 {
    i64::from(i32::try_from(number).unwrap_or(i32::MAX))
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
