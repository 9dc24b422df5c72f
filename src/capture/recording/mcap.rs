//! Recordings in MCAP.
//!
//! By the index where the file has a whole one; from its start where it has none, as when the
//! robot was switched off, or a damaged one. One chunk of each reader, of images and of poses, is in
//! memory at a time, and a chunk that is damaged is reported and passed over. A file is open while
//! it is read: a recording may be split into more files than a process may hold open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use ruzstd::decoding::StreamingDecoder as ZstdDecoder;

use crate::capture::FrameFault;
use crate::capture::recording::mcap_records::{
    self as records, BadRecord, Channel, Chunk, ChunkIndex, MAGIC, Op, Summary, first_record,
};
use crate::capture::recording::messages::Stamp;
use crate::capture::recording::spans::{self, Recorded, SpannedFile};
use crate::capture::recording::store::{MessageStore, Messages, Topic, Wire};

/// Most bytes of one chunk, packed or unpacked: writers make chunks of some megabytes, or of one
/// message.
const CHUNK_BYTES_MAX: u64 = 256 << 20;
/// Most bytes of the index.
const SUMMARY_BYTES_MAX: u64 = 256 << 20;
/// Bytes of messages outside of chunks that are read at once, unless one alone has more.
const RUN_BYTES: u64 = 1 << 20;
/// Faults of one file that are kept.
const FAULTS_MAX: usize = 100;
/// Opcode and length, before each record.
const PREFIX: u64 = 9;

/// An MCAP file and what is known of its content.
#[derive(Debug)]
pub(super) struct McapFile {
    path: PathBuf,
    name: String,
    spans: Vec<Span>,
    /// Topic of each channel; those of one topic share it.
    channels: BTreeMap<u16, Rc<Topic>>,
    faults: Vec<FrameFault>,
}

/// Bytes of the file that are read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    offset: u64,
    length: u64,
    /// A chunk record, or else messages as they lie.
    is_chunk: bool,
    /// Of its first message, where that is known.
    start: u64,
    /// Channels with messages in it; `None` where that is not known.
    channels: Option<BTreeSet<u16>>,
}

/// Faults of a part of a file, or of all of it.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadMcap {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it does not begin as MCAP does")]
    Magic,
    #[error("it ends in the middle of a record, {missing} bytes before its end")]
    Cut { missing: u64 },
    #[error("it ends without the record that ends a recording")]
    NoEnd,
    #[error("a chunk has {bytes} bytes, accepted are at most {CHUNK_BYTES_MAX}")]
    TooLarge { bytes: u64 },
    #[error("the index names bytes that are not in the file")]
    Outside,
    #[error("a record is no chunk where the index says so")]
    NoChunk,
    #[error("a chunk is compressed by {0:?}, accepted are zstd, lz4 and none")]
    Compression(String),
    #[error("a chunk cannot be unpacked: {0}")]
    Packed(String),
    #[error("a chunk's checksum is {found:08x}, {expected:08x} was written")]
    Checksum { expected: u32, found: u32 },
    #[error("a record of a chunk is longer than the chunk")]
    Long,
    #[error("the index is damaged")]
    Index,
    #[error(transparent)]
    Record(#[from] BadRecord),
}

impl McapFile {
    pub(super) fn open(path: &Path, name: String) -> Result<Self, BadMcap> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut magic = [0; 8];
        let is_whole = length >= 8 && file.read_exact_at(&mut magic, 0).is_ok();
        if !is_whole || magic != *MAGIC {
            return Err(BadMcap::Magic);
        }
        let mut this = Self {
            path: path.to_owned(),
            name,
            spans: Vec::new(),
            channels: BTreeMap::new(),
            faults: Vec::new(),
        };
        match read_summary(&file, length) {
            Ok(Some(summary)) => match this.take_summary(summary, length) {
                Ok(true) => return Ok(this),
                Ok(false) => {}
                Err(bad) => this.note(0, &bad, "; it is read from its start"),
            },
            Ok(None) => {}
            Err(bad) => this.note(0, &bad, "; it is read from its start"),
        }
        this.scan(&file, length)?;
        Ok(this)
    }

    /// The first channel of such a topic.
    #[cfg(test)]
    pub(super) fn channel_of(&self, is_wanted: impl Fn(&Topic) -> bool) -> u16 {
        *self.channels.iter().find(|(_, topic)| is_wanted(topic)).unwrap().0
    }

    /// Offset and length of the `number`th chunk.
    #[cfg(test)]
    pub(super) fn chunk(&self, number: usize) -> (usize, usize) {
        let Span { offset, length, .. } = &self.spans[number];
        (usize::try_from(*offset).unwrap(), usize::try_from(*length).unwrap())
    }

    fn note(&mut self, offset: u64, bad: &BadMcap, more: &str) {
        if self.faults.len() < FAULTS_MAX {
            let place = if offset == 0 {
                self.name.clone()
            } else {
                format!("{}, byte {offset}", self.name)
            };
            self.faults.push(FrameFault { place, reason: format!("{bad}{more}") });
        }
    }

    /// Takes over the index; whether it names all messages.
    fn take_summary(&mut self, summary: Summary, length: u64) -> Result<bool, BadMcap> {
        let Summary { schemas, channels, chunks, statistics } = summary;
        // Messages outside of chunks are in no index.
        let is_all = statistics.as_ref().is_some_and(|it| it.messages == 0) || !chunks.is_empty();
        // Types may be left out of the index; 0 says that a channel has none.
        let is_typed = |it: &Channel| it.schema == 0 || schemas.contains_key(&it.schema);
        if channels.is_empty() || !is_all || !channels.values().all(is_typed) {
            return Ok(false);
        }
        let mut spans = Vec::with_capacity(chunks.len());
        for ChunkIndex { start, offset, length: chunk, channels } in chunks {
            if offset.checked_add(chunk).is_none_or(|end| end > length) || chunk < PREFIX {
                return Err(BadMcap::Outside);
            }
            let channels = (!channels.is_empty()).then_some(channels);
            spans.push(Span { offset, length: chunk, is_chunk: true, start, channels });
        }
        spans.sort_by_key(|span| (span.start, span.offset));
        self.spans = spans;
        for (id, Channel { topic, schema, encoding }) in channels {
            let count = statistics.as_ref().map(|it| it.counts.get(&id).copied());
            self.add_channel(
                id,
                Topic {
                    name: topic,
                    schema: schemas.get(&schema).cloned().unwrap_or_default(),
                    wire: Wire::of(&encoding),
                    count: count.map(Option::unwrap_or_default),
                },
            );
        }
        Ok(true)
    }

    /// Channels of one topic and type are one topic.
    fn add_channel(&mut self, id: u16, topic: Topic) {
        let is_same = |it: &&Rc<Topic>| {
            (&it.name, &it.schema, &it.wire) == (&topic.name, &topic.schema, &topic.wire)
        };
        let Some(known) = self.channels.values().find(is_same).map(Rc::clone) else {
            self.channels.insert(id, Rc::new(topic));
            return;
        };
        let count = known.count.zip(topic.count).map(|(one, more)| one + more);
        let merged = Rc::new(Topic { count, ..topic });
        for it in self.channels.values_mut().filter(|it| Rc::ptr_eq(it, &known)) {
            *it = Rc::clone(&merged);
        }
        self.channels.insert(id, merged);
    }

    /// Finds the chunks and, in them, the channels, from the start of the file to where it is
    /// whole.
    fn scan(&mut self, file: &File, length: u64) -> Result<(), BadMcap> {
        let mut found = Scan::default();
        let (mut offset, mut is_ended) = (8, false);
        while length.saturating_sub(offset) >= PREFIX {
            let mut prefix = [0; 9];
            file.read_exact_at(&mut prefix, offset)?;
            let [opcode, bytes @ ..] = prefix;
            let opcode = Op::of(opcode);
            if matches!(opcode, Op::DataEnd | Op::Footer) {
                is_ended = true;
                break;
            }
            let record = u64::from_le_bytes(bytes).saturating_add(PREFIX);
            let end = offset.saturating_add(record);
            if end > length {
                self.note(offset, &BadMcap::Cut { missing: end - length }, "");
                is_ended = true;
                break;
            }
            match opcode {
                Op::Chunk | Op::Schema | Op::Channel => {
                    let is_chunk = opcode == Op::Chunk;
                    let span = Span { offset, length: record, is_chunk, start: 0, channels: None };
                    match unpack(file, &span) {
                        Ok(records) => {
                            let seen = found.read(&records);
                            if is_chunk {
                                let channels = Some(seen);
                                self.spans.push(Span { channels, ..span });
                            }
                        }
                        Err(bad) => self.note(offset, &bad, ""),
                    }
                }
                Op::Message => self.add_to_run(offset, record),
                Op::DataEnd | Op::Footer | Op::ChunkIndex | Op::Statistics | Op::Other => {}
            }
            offset = end;
        }
        if !is_ended {
            self.note(offset, &BadMcap::NoEnd, "");
        }
        let Scan { summary: Summary { schemas, channels, .. }, counts } = found;
        for (id, Channel { topic, schema, encoding }) in channels {
            let schema = schemas.get(&schema).cloned().unwrap_or_default();
            // Messages outside of chunks were not counted.
            let is_counted = self.spans.iter().all(|span| span.is_chunk);
            let count = is_counted.then(|| counts.get(&id).copied().unwrap_or_default());
            let wire = Wire::of(&encoding);
            self.add_channel(id, Topic { name: topic, schema, wire, count });
        }
        Ok(())
    }

    /// A message outside of a chunk: read together with those before it.
    fn add_to_run(&mut self, offset: u64, length: u64) {
        if let Some(run) = self.spans.last_mut().filter(|it| !it.is_chunk)
            && run.offset + run.length == offset
            && run.length < RUN_BYTES
        {
            run.length += length;
            return;
        }
        self.spans.push(Span { offset, length, is_chunk: false, start: 0, channels: None });
    }
}

impl MessageStore for McapFile {
    fn topics(&self) -> Vec<Rc<Topic>> {
        spans::topics(self)
    }

    fn faults(&self) -> &[FrameFault] {
        &self.faults
    }

    fn read(self: Rc<Self>, wanted: &dyn Fn(&Topic) -> bool) -> Messages {
        spans::read(self, wanted)
    }
}

impl SpannedFile for McapFile {
    type Stream = u16;
    type Span = Span;
    type Bad = BadMcap;

    const LONG: BadMcap = BadMcap::Long;

    fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &BTreeMap<u16, Rc<Topic>> {
        &self.channels
    }

    fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn offset(span: &Span) -> u64 {
        span.offset
    }

    fn may_have(span: &Span, is_wanted: &dyn Fn(&u16) -> bool) -> bool {
        span.channels.as_ref().is_none_or(|channels| channels.iter().any(is_wanted))
    }

    fn unpack(file: &File, span: &Span) -> Result<Vec<u8>, BadMcap> {
        unpack(file, span)
    }

    fn first_record(records: &[u8]) -> Option<(usize, Option<Recorded<'_, u16>>)> {
        let (opcode, body, length) = first_record(records)?;
        let message = (opcode == Op::Message).then(|| records::Message::read(body).ok());
        let recorded = message.flatten().map(|records::Message { channel, log_time, data }| {
            (channel, Stamp(i64::try_from(log_time).unwrap_or(i64::MAX)), data)
        });
        Some((length, recorded))
    }
}

/// What the records from the start of a file say of its channels.
#[derive(Default)]
struct Scan {
    summary: Summary,
    counts: BTreeMap<u16, u64>,
}

impl Scan {
    /// Takes in the records of a span; returns the channels that have messages among them.
    fn read(&mut self, mut records: &[u8]) -> BTreeSet<u16> {
        let mut seen = BTreeSet::new();
        while let Some((opcode, body, length)) = first_record(records) {
            records = records.get(length..).unwrap_or_default();
            if opcode != Op::Message {
                // A channel that cannot be read is one that is not there.
                self.summary.add(opcode, body).unwrap_or_default();
            } else if let Some(id) = body.first_chunk().map(|id| u16::from_le_bytes(*id)) {
                *self.counts.entry(id).or_default() += 1;
                seen.insert(id);
            }
        }
        seen
    }
}

/// The records of a span, one after the other.
fn unpack(file: &File, span: &Span) -> Result<Vec<u8>, BadMcap> {
    if span.length > CHUNK_BYTES_MAX {
        return Err(BadMcap::TooLarge { bytes: span.length });
    }
    let mut bytes = vec![0; usize::try_from(span.length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, span.offset)?;
    if !span.is_chunk {
        return Ok(bytes);
    }
    match first_record(&bytes) {
        Some((Op::Chunk, body, _)) => decompress(&Chunk::read(body)?),
        _ => Err(BadMcap::NoChunk),
    }
}

fn decompress(chunk: &Chunk<'_>) -> Result<Vec<u8>, BadMcap> {
    let Chunk { size, checksum, compression, data } = *chunk;
    if size > CHUNK_BYTES_MAX {
        return Err(BadMcap::TooLarge { bytes: size });
    }
    let mut records = Vec::new();
    // One more than is said, so that more is noticed.
    let max = size + 1;
    let taken = match compression {
        "" => data.take(max).read_to_end(&mut records),
        "lz4" => Lz4Decoder::new(data).take(max).read_to_end(&mut records),
        "zstd" => ZstdDecoder::new(data)
            .map_err(|error| BadMcap::Packed(error.to_string()))?
            .take(max)
            .read_to_end(&mut records),
        other => return Err(BadMcap::Compression(other.to_owned())),
    };
    taken.map_err(|error| BadMcap::Packed(error.to_string()))?;
    if records.len() as u64 != size {
        return Err(BadMcap::Packed(format!("it has not the {size} bytes that it should have")));
    }
    let found = crc32fast::hash(&records);
    // Zero says that none was written.
    if checksum != 0 && checksum != found {
        return Err(BadMcap::Checksum { expected: checksum, found });
    }
    Ok(records)
}

/// The index at the end of the file; `None` where it was written without, or where the file was
/// cut.
fn read_summary(file: &File, length: u64) -> Result<Option<Summary>, BadMcap> {
    /// Opcode, length, two offsets, a checksum, and the magic bytes again.
    const FOOTER: u64 = PREFIX + 8 + 8 + 4 + 8;
    let mut footer = [0; 37];
    if length < 8 + FOOTER {
        return Ok(None);
    }
    file.read_exact_at(&mut footer, length - FOOTER)?;
    let Some((Op::Footer, body, _)) = first_record(&footer) else { return Ok(None) };
    let Some(start) = body.first_chunk().map(|it| u64::from_le_bytes(*it)) else {
        return Ok(None);
    };
    if !footer.ends_with(MAGIC) || start == 0 {
        return Ok(None);
    }
    // Until the checksum, which is of all this.
    let end = length - 12;
    let bytes = end.checked_sub(start).ok_or(BadMcap::Index)?;
    if bytes > SUMMARY_BYTES_MAX {
        return Err(BadMcap::TooLarge { bytes });
    }
    let mut section = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut section, start)?;
    let expected = body.last_chunk().map_or(0, |it| u32::from_le_bytes(*it));
    let found = crc32fast::hash(&section);
    if expected != 0 && expected != found {
        return Err(BadMcap::Index);
    }
    let mut summary = Summary::default();
    let mut records = section.as_slice();
    while let Some((opcode, body, length)) = first_record(records) {
        summary.add(opcode, body).map_err(|_damaged| BadMcap::Index)?;
        records = records.get(length..).unwrap_or_default();
    }
    Ok(Some(summary))
}
