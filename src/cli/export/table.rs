//! Records as a table: a row each, with pose, time, caption, what was read out of it, and vector.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;

use crate::cli::export::parquet::{
    Column, ColumnSpec, Kind, Meaning, ParquetWriter, Presence, Value,
};
use crate::cli::export::{Sink, micros};
use crate::tools::transfer::RecordItem;

const fn column(
    name: &'static str,
    kind: Kind,
    meaning: Meaning,
    presence: Presence,
) -> ColumnSpec {
    ColumnSpec { name, kind, meaning, presence }
}

/// In their order. Positions are metres of `frame_id` in `map_id`, `theta` radians.
const COLUMNS: &[ColumnSpec] = &[
    column("id", Kind::Whole, Meaning::Plain, Presence::Always),
    column("time", Kind::Whole, Meaning::Moment, Presence::Always),
    column("end_time", Kind::Whole, Meaning::Moment, Presence::Always),
    column("caption", Kind::Bytes, Meaning::Text, Presence::Always),
    column("confidence", Kind::Float, Meaning::Plain, Presence::Sometimes),
    column("x", Kind::Double, Meaning::Plain, Presence::Sometimes),
    column("y", Kind::Double, Meaning::Plain, Presence::Sometimes),
    column("z", Kind::Double, Meaning::Plain, Presence::Sometimes),
    column("theta", Kind::Double, Meaning::Plain, Presence::Sometimes),
    column("frame_id", Kind::Bytes, Meaning::Text, Presence::Always),
    column("map_id", Kind::Bytes, Meaning::Text, Presence::Always),
    column("source", Kind::Bytes, Meaning::Text, Presence::Always),
    column("layer", Kind::Bytes, Meaning::Text, Presence::Sometimes),
    column("parsed", Kind::Bytes, Meaning::Json, Presence::Always),
    column("detections", Kind::Bytes, Meaning::Json, Presence::Always),
    column("vector", Kind::Float, Meaning::Plain, Presence::Listed),
    column("frame", Kind::Bytes, Meaning::Plain, Presence::Sometimes),
    column("frame_mime", Kind::Bytes, Meaning::Text, Presence::Sometimes),
];

/// Records of a row group, and the bytes of frames at which one ends.
const GROUP_RECORDS: usize = 10_000;
const GROUP_BYTES: usize = 64 << 20;

/// Writes Parquet.
pub(super) struct TableSink<W> {
    file: ParquetWriter<W>,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

impl<W: Write> TableSink<W> {
    pub(super) fn new(out: W) -> anyhow::Result<Self> {
        let file = ParquetWriter::new(out, COLUMNS)?;
        Ok(Self { file, columns: empty(), rows: 0, bytes: 0 })
    }

    fn end_group(&mut self) -> anyhow::Result<()> {
        if self.rows > 0 {
            let columns = std::mem::replace(&mut self.columns, empty());
            self.file.group(self.rows, &columns)?;
            (self.rows, self.bytes) = (0, 0);
        }
        Ok(())
    }
}

fn empty() -> Vec<Column> {
    COLUMNS.iter().map(|spec| Column::new(spec.kind)).collect()
}

impl<W: Write> Sink for TableSink<W> {
    fn record(&mut self, record: &RecordItem) -> anyhow::Result<()> {
        let text = |text: &str| Some(Value::Bytes(text.as_bytes().to_vec()));
        let axis = |axis: usize| record.position?.get(axis).copied().map(Value::Double);
        let frame = record.frame.as_ref().map(|it| BASE64.decode(&it.data)).transpose()?;
        self.bytes += frame.as_ref().map_or(0, Vec::len);
        let mut row = [
            Some(Value::Whole(i64::try_from(record.id)?)),
            Some(Value::Whole(micros(&record.time)?)),
            Some(Value::Whole(micros(&record.end_time)?)),
            text(&record.caption),
            record.confidence.map(Value::Float),
            axis(0),
            axis(1),
            axis(2),
            record.theta.map(Value::Double),
            text(&record.frame_id),
            text(&record.map_id),
            text(&record.source),
            record.layer.as_deref().and_then(text),
            text(&record.parsed.to_string()),
            text(&json!(record.detections).to_string()),
            // The vector's place, which is a list.
            None,
            frame.map(Value::Bytes),
            record.frame.as_ref().and_then(|it| text(&it.mime)),
        ]
        .into_iter();
        for (spec, column) in COLUMNS.iter().zip(&mut self.columns) {
            let value = row.next().flatten();
            match spec.presence {
                Presence::Listed => column.push_list(&record.vector),
                Presence::Always | Presence::Sometimes => column.push(value),
            }
        }
        self.rows += 1;
        if self.rows >= GROUP_RECORDS || self.bytes >= GROUP_BYTES {
            self.end_group()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        self.end_group()?;
        self.file.finish(concat!("engram ", env!("CARGO_PKG_VERSION")))?;
        Ok(())
    }
}
