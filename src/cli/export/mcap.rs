//! Writes MCAP: messages in chunks with an index, and a summary at the end, as its specification
//! has them. Chunks are not packed: what they hold are JPEGs.

use std::collections::BTreeMap;
use std::io::{self, Write};

const MAGIC: &[u8] = b"\x89MCAP0\r\n";
/// Bytes of messages at which a chunk is written.
const CHUNK_BYTES: usize = 1 << 20;

/// Opcodes of records.
mod op {
    pub(super) const HEADER: u8 = 0x01;
    pub(super) const FOOTER: u8 = 0x02;
    pub(super) const SCHEMA: u8 = 0x03;
    pub(super) const CHANNEL: u8 = 0x04;
    pub(super) const MESSAGE: u8 = 0x05;
    pub(super) const CHUNK: u8 = 0x06;
    pub(super) const MESSAGE_INDEX: u8 = 0x07;
    pub(super) const CHUNK_INDEX: u8 = 0x08;
    pub(super) const STATISTICS: u8 = 0x0b;
    pub(super) const METADATA: u8 = 0x0c;
    pub(super) const METADATA_INDEX: u8 = 0x0d;
    pub(super) const SUMMARY_OFFSET: u8 = 0x0e;
    pub(super) const DATA_END: u8 = 0x0f;
}

/// Number of a schema or a channel in the file.
pub(super) type Number = u16;

/// A message's place and time; nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) channel: Number,
    pub(super) sequence: u32,
    pub(super) nanos: u64,
}

/// An MCAP file that is being written.
pub(super) struct McapWriter<W> {
    out: Counted<W>,
    /// Schemas and channels as they stand in the file, for the summary.
    schemas: Vec<Vec<u8>>,
    channels: Vec<Vec<u8>>,
    chunk: Chunk,
    chunk_indexes: Vec<Vec<u8>>,
    metadata_indexes: Vec<Vec<u8>>,
    statistics: Statistics,
}

#[derive(Default)]
struct Chunk {
    records: Vec<u8>,
    span: Option<(u64, u64)>,
    /// Times and offsets of messages, by channel.
    messages: BTreeMap<Number, Vec<(u64, u64)>>,
}

#[derive(Default)]
struct Statistics {
    messages: u64,
    span: Option<(u64, u64)>,
    by_channel: BTreeMap<Number, u64>,
}

impl<W: Write> McapWriter<W> {
    pub(super) fn new(out: W, library: &str) -> io::Result<Self> {
        let mut out = Counted { out, written: 0 };
        out.write_all(MAGIC)?;
        let mut header = Vec::new();
        put_text(&mut header, "");
        put_text(&mut header, library);
        write_record(&mut out, op::HEADER, &header)?;
        Ok(Self {
            out,
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk: Chunk::default(),
            chunk_indexes: Vec::new(),
            metadata_indexes: Vec::new(),
            statistics: Statistics::default(),
        })
    }

    /// A schema; channels name it by its number.
    pub(super) fn schema(&mut self, name: &str, encoding: &str, data: &[u8]) -> Number {
        let number = number_after(self.schemas.len());
        let mut schema = number.to_le_bytes().to_vec();
        put_text(&mut schema, name);
        put_text(&mut schema, encoding);
        put_bytes(&mut schema, data);
        self.schemas.push(framed(op::SCHEMA, &schema));
        self.chunk.records.extend(framed(op::SCHEMA, &schema));
        number
    }

    /// A channel of protobuf messages.
    pub(super) fn channel(
        &mut self,
        topic: &str,
        schema: Number,
        metadata: &[(&str, &str)],
    ) -> Number {
        let number = number_after(self.channels.len());
        let mut channel = number.to_le_bytes().to_vec();
        channel.extend(schema.to_le_bytes());
        put_text(&mut channel, topic);
        put_text(&mut channel, "protobuf");
        put_map(&mut channel, metadata);
        self.channels.push(framed(op::CHANNEL, &channel));
        self.chunk.records.extend(framed(op::CHANNEL, &channel));
        number
    }

    pub(super) fn message(&mut self, stamp: Stamp, data: &[u8]) -> io::Result<()> {
        let Stamp { channel, sequence, nanos } = stamp;
        let mut message = channel.to_le_bytes().to_vec();
        message.extend(sequence.to_le_bytes());
        message.extend(nanos.to_le_bytes());
        message.extend(nanos.to_le_bytes());
        message.extend(data);
        let offset = self.chunk.records.len() as u64;
        self.chunk.messages.entry(channel).or_default().push((nanos, offset));
        self.chunk.records.extend(framed(op::MESSAGE, &message));
        self.chunk.span = Some(widened(self.chunk.span, nanos));
        self.statistics.messages += 1;
        self.statistics.span = Some(widened(self.statistics.span, nanos));
        *self.statistics.by_channel.entry(channel).or_default() += 1;
        if self.chunk.records.len() >= CHUNK_BYTES { self.end_chunk() } else { Ok(()) }
    }

    /// Named texts about the file.
    pub(super) fn metadata(&mut self, name: &str, entries: &[(&str, &str)]) -> io::Result<()> {
        let mut metadata = Vec::new();
        put_text(&mut metadata, name);
        put_map(&mut metadata, entries);
        let start = self.out.written;
        write_record(&mut self.out, op::METADATA, &metadata)?;
        let mut index = start.to_le_bytes().to_vec();
        index.extend((self.out.written - start).to_le_bytes());
        put_text(&mut index, name);
        self.metadata_indexes.push(framed(op::METADATA_INDEX, &index));
        Ok(())
    }

    /// Ends the file, which none is without that.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.end_chunk()?;
        // 0: none was computed over all data; each chunk has its own.
        write_record(&mut self.out, op::DATA_END, &0_u32.to_le_bytes())?;
        let start = self.out.written;
        let statistics = framed(op::STATISTICS, &self.statistics());
        let groups = [
            (op::SCHEMA, self.schemas.concat()),
            (op::CHANNEL, self.channels.concat()),
            (op::STATISTICS, statistics),
            (op::CHUNK_INDEX, self.chunk_indexes.concat()),
            (op::METADATA_INDEX, self.metadata_indexes.concat()),
        ];
        let (mut summary, mut offsets) = (Vec::new(), Vec::new());
        for (opcode, records) in groups {
            if records.is_empty() {
                continue;
            }
            let mut offset = vec![opcode];
            offset.extend((start + summary.len() as u64).to_le_bytes());
            offset.extend((records.len() as u64).to_le_bytes());
            offsets.extend(framed(op::SUMMARY_OFFSET, &offset));
            summary.extend(records);
        }
        let offsets_start = start + summary.len() as u64;
        summary.extend(offsets);
        // The checksum covers the footer's own beginning: opcode, length and both places.
        let mut footer = vec![op::FOOTER];
        footer.extend(20_u64.to_le_bytes());
        footer.extend(start.to_le_bytes());
        footer.extend(offsets_start.to_le_bytes());
        summary.extend(footer);
        let checksum = crc32fast::hash(&summary);
        summary.extend(checksum.to_le_bytes());
        self.out.write_all(&summary)?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out.out)
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        let Chunk { records, span, messages } = std::mem::take(&mut self.chunk);
        if records.is_empty() {
            return Ok(());
        }
        let (first, last) = span.unwrap_or_default();
        let bytes = records.len() as u64;
        let mut chunk = Vec::with_capacity(records.len() + 64);
        chunk.extend(first.to_le_bytes());
        chunk.extend(last.to_le_bytes());
        chunk.extend(bytes.to_le_bytes());
        chunk.extend(crc32fast::hash(&records).to_le_bytes());
        put_text(&mut chunk, "");
        chunk.extend(bytes.to_le_bytes());
        chunk.extend(records);
        let start = self.out.written;
        write_record(&mut self.out, op::CHUNK, &chunk)?;
        let chunk_end = self.out.written;
        let mut offsets = Vec::new();
        for (channel, found) in &messages {
            offsets.extend(channel.to_le_bytes());
            offsets.extend(self.out.written.to_le_bytes());
            let mut entries = Vec::with_capacity(16 * found.len());
            for (nanos, offset) in found {
                entries.extend(nanos.to_le_bytes());
                entries.extend(offset.to_le_bytes());
            }
            let mut index = channel.to_le_bytes().to_vec();
            put_bytes(&mut index, &entries);
            write_record(&mut self.out, op::MESSAGE_INDEX, &index)?;
        }
        let mut index = first.to_le_bytes().to_vec();
        index.extend(last.to_le_bytes());
        index.extend(start.to_le_bytes());
        index.extend((chunk_end - start).to_le_bytes());
        put_bytes(&mut index, &offsets);
        index.extend((self.out.written - chunk_end).to_le_bytes());
        put_text(&mut index, "");
        index.extend(bytes.to_le_bytes());
        index.extend(bytes.to_le_bytes());
        self.chunk_indexes.push(framed(op::CHUNK_INDEX, &index));
        Ok(())
    }

    fn statistics(&self) -> Vec<u8> {
        let Statistics { messages, span, by_channel } = &self.statistics;
        let (first, last) = span.unwrap_or_default();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
        let mut statistics = messages.to_le_bytes().to_vec();
        statistics.extend(number_after(self.schemas.len()).saturating_sub(1).to_le_bytes());
        statistics.extend(count(self.channels.len()));
        statistics.extend(count(0));
        statistics.extend(count(self.metadata_indexes.len()));
        statistics.extend(count(self.chunk_indexes.len()));
        statistics.extend(first.to_le_bytes());
        statistics.extend(last.to_le_bytes());
        let counts = by_channel.iter().flat_map(|(channel, messages)| {
            channel.to_le_bytes().into_iter().chain(messages.to_le_bytes())
        });
        put_bytes(&mut statistics, &counts.collect::<Vec<u8>>());
        statistics
    }
}

/// Numbers begin at 1: a schema of 0 is none.
fn number_after(count: usize) -> Number {
    Number::try_from(count + 1).unwrap_or(Number::MAX)
}

fn widened(span: Option<(u64, u64)>, nanos: u64) -> (u64, u64) {
    span.map_or((nanos, nanos), |(first, last)| (first.min(nanos), last.max(nanos)))
}

/// A record as it stands in the file.
fn framed(opcode: u8, content: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(content.len() + 9);
    record.push(opcode);
    record.extend((content.len() as u64).to_le_bytes());
    record.extend(content);
    record
}

fn write_record(out: &mut impl Write, opcode: u8, content: &[u8]) -> io::Result<()> {
    out.write_all(&[opcode])?;
    out.write_all(&(content.len() as u64).to_le_bytes())?;
    out.write_all(content)
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(bytes);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn put_map(out: &mut Vec<u8>, entries: &[(&str, &str)]) {
    let mut map = Vec::new();
    for (key, value) in entries {
        put_text(&mut map, key);
        put_text(&mut map, value);
    }
    put_bytes(out, &map);
}

/// Counts what goes through.
struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
