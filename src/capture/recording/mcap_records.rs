//! Records of MCAP, as far as a reader of messages needs them.
//!
//! Pure. Opcode, length, body; numbers have their lowest byte first, texts and maps the count of
//! their bytes before them (<https://mcap.dev/spec>). Own: of the crate `mcap` this
//! would be all that is used, and with it come twelve more and another build of `syn`'s users.

use std::collections::{BTreeMap, BTreeSet};

/// First and last bytes of a file.
pub(super) const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";

/// Kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Footer,
    Schema,
    Channel,
    Message,
    Chunk,
    ChunkIndex,
    Statistics,
    DataEnd,
    Other,
}

impl Op {
    pub(super) fn of(opcode: u8) -> Self {
        match opcode {
            0x02 => Self::Footer,
            0x03 => Self::Schema,
            0x04 => Self::Channel,
            0x05 => Self::Message,
            0x06 => Self::Chunk,
            0x08 => Self::ChunkIndex,
            0x0B => Self::Statistics,
            0x0F => Self::DataEnd,
            _ => Self::Other,
        }
    }
}

/// A record that ends before its fields do, or a text in it that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a record is shorter than its fields")]
pub(super) struct BadRecord;

/// Opcode, body and whole length of the first of `records`; `None` where it is cut.
pub(super) fn first_record(records: &[u8]) -> Option<(Op, &[u8], usize)> {
    let (&opcode, rest) = records.split_first()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let body = rest.get(..length)?;
    Some((Op::of(opcode), body, length + 9))
}

/// What the summary at the end of a file says, or the records from its start.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// Names of types.
    pub schemas: BTreeMap<u16, String>,
    pub channels: BTreeMap<u16, Channel>,
    pub chunks: Vec<ChunkIndex>,
    pub statistics: Option<Statistics>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    pub topic: String,
    pub schema: u16,
    /// Of its messages.
    pub encoding: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkIndex {
    /// When the first of its messages was recorded.
    pub start: u64,
    pub offset: u64,
    pub length: u64,
    /// Those with messages in it; empty where that was not written.
    pub channels: BTreeSet<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statistics {
    pub messages: u64,
    pub counts: BTreeMap<u16, u64>,
}

impl Summary {
    /// Takes in a record; of two of one number the first counts.
    pub(super) fn add(&mut self, opcode: Op, body: &[u8]) -> Result<(), BadRecord> {
        let mut fields = Fields(body);
        match opcode {
            Op::Schema => {
                let id = fields.u16()?;
                self.schemas.entry(id).or_insert(fields.text()?.to_owned());
            }
            Op::Channel => {
                let (id, schema) = (fields.u16()?, fields.u16()?);
                let (topic, encoding) = (fields.text()?.to_owned(), fields.text()?.to_owned());
                self.channels.entry(id).or_insert(Channel { topic, schema, encoding });
            }
            Op::ChunkIndex => {
                let (start, _end) = (fields.u64()?, fields.u64()?);
                let (offset, length) = (fields.u64()?, fields.u64()?);
                let channels = fields.map()?.into_keys().collect();
                self.chunks.push(ChunkIndex { start, offset, length, channels });
            }
            Op::Statistics => {
                let messages = fields.u64()?;
                // Counts of schemas, channels, attachments, metadata and chunks; first and last
                // time.
                fields.take(2 + 4 + 4 + 4 + 4 + 8 + 8)?;
                self.statistics = Some(Statistics { messages, counts: fields.map()? });
            }
            Op::Footer | Op::Message | Op::Chunk | Op::DataEnd | Op::Other => {}
        }
        Ok(())
    }
}

/// Records that were packed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// Of the records, unpacked.
    pub size: u64,
    /// CRC-32 of the unpacked records; 0 where none was written.
    pub checksum: u32,
    pub compression: &'a str,
    pub data: &'a [u8],
}

impl<'a> Chunk<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, BadRecord> {
        let mut fields = Fields(body);
        let (_start, _end) = (fields.u64()?, fields.u64()?);
        let (size, checksum) = (fields.u64()?, fields.u32()?);
        let compression = fields.text()?;
        let bytes = usize::try_from(fields.u64()?).map_err(|_too_many| BadRecord)?;
        Ok(Self { size, checksum, compression, data: fields.take(bytes)? })
    }
}

/// Message of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message<'a> {
    pub channel: u16,
    /// When it was recorded, in nanoseconds.
    pub log_time: u64,
    pub data: &'a [u8],
}

impl<'a> Message<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, BadRecord> {
        let mut fields = Fields(body);
        let (channel, _sequence) = (fields.u16()?, fields.u32()?);
        let (log_time, _published) = (fields.u64()?, fields.u64()?);
        Ok(Self { channel, log_time, data: fields.0 })
    }
}

/// Rest of a record's body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], BadRecord> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(BadRecord)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadRecord> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(BadRecord)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u16(&mut self) -> Result<u16, BadRecord> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, BadRecord> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, BadRecord> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Result<&'a [u8], BadRecord> {
        let bytes = usize::try_from(self.u32()?).map_err(|_too_many| BadRecord)?;
        self.take(bytes)
    }

    fn text(&mut self) -> Result<&'a str, BadRecord> {
        std::str::from_utf8(self.bytes()?).map_err(|_invalid| BadRecord)
    }

    /// Numbers by channel.
    fn map(&mut self) -> Result<BTreeMap<u16, u64>, BadRecord> {
        let mut entries = Fields(self.bytes()?);
        let mut map = BTreeMap::new();
        while !entries.0.is_empty() {
            map.insert(entries.u16()?, entries.u64()?);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_cut_is_an_error_and_no_panic() {
        let index: Vec<u8> = [7_u64, 9, 100, 50]
            .into_iter()
            .flat_map(u64::to_le_bytes)
            .chain([10, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0])
            .collect();
        let mut summary = Summary::default();
        summary.add(Op::ChunkIndex, &index).unwrap();
        let channels = BTreeSet::from([3]);
        let expect = ChunkIndex { start: 7, offset: 100, length: 50, channels };
        assert_eq!(summary.chunks, [expect]);
        for end in 0..index.len() {
            assert_eq!(summary.add(Op::ChunkIndex, &index[..end]), Err(BadRecord), "{end}");
        }
    }

    #[test]
    fn a_length_beyond_the_bytes_is_no_record() {
        assert_eq!(first_record(&[5, 255, 255, 255, 255, 255, 255, 255, 255, 0]), None);
        assert_eq!(first_record(&[5, 0, 0, 0]), None);
        let (opcode, body, length) = first_record(&[5, 1, 0, 0, 0, 0, 0, 0, 0, 42, 1]).unwrap();
        assert_eq!((opcode, body, length), (Op::Message, &[42][..], 10));
    }
}
