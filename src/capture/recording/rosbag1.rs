//! Recordings of ROS 1, as rosbag writes them (format 2.0): not packed, or by lz4 or bz2.
//!
//! The file is walked once, record by record; behind each chunk an index says of which connections
//! it holds messages. Where that is missing, as when the robot was switched off, the chunk itself is
//! looked into. One chunk of each reader is in memory at a time, and one that is damaged is reported
//! and passed over. A file is open while it is read, as with MCAP.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bzip2::read::BzDecoder;
use lz4_flex::frame::FrameDecoder as Lz4Decoder;

use crate::capture::FrameFault;
use crate::capture::recording::messages::Stamp;
use crate::capture::recording::spans::{self, Recorded, SpannedFile};
use crate::capture::recording::store::{MessageStore, Messages, Topic, Wire};

const MAGIC: &[u8] = b"#ROSBAG V2.0\n";
/// Most bytes of one chunk, packed or unpacked: rosbag makes such of 768 kB, or of one message.
const CHUNK_BYTES_MAX: u64 = 256 << 20;
/// Most bytes of what is said before a record's data.
const HEAD_BYTES_MAX: u64 = 1 << 20;
/// Bytes of messages outside of chunks that are read at once, unless one alone has more.
const RUN_BYTES: u64 = 1 << 20;
/// Faults of one file that are kept.
const FAULTS_MAX: usize = 100;

const MESSAGE: u8 = 0x02;
const INDEX: u8 = 0x04;
const CHUNK: u8 = 0x05;
const CONNECTION: u8 = 0x07;

/// A `.bag` file and its topics.
#[derive(Debug)]
pub(super) struct Rosbag1File {
    path: PathBuf,
    name: String,
    spans: Vec<Span>,
    /// Topic of each connection; those of one topic share it.
    connections: BTreeMap<u32, Rc<Topic>>,
    faults: Vec<FrameFault>,
}

/// Bytes of the file that are read at once.
#[derive(Debug)]
pub(super) struct Span {
    offset: u64,
    length: u64,
    /// A chunk, or else messages as they lie.
    is_chunk: bool,
    /// Messages of each connection in it; `None` where the index does not say.
    counts: Option<BTreeMap<u32, u64>>,
}

/// Faults of a part of a file, or of all of it.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadBag {
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is a bag of {0:?}, accepted is \"#ROSBAG V2.0\"; `rosbag fix` makes one of it")]
    Version(String),
    #[error("it ends in the middle of a record, {missing} bytes before its end")]
    Cut { missing: u64 },
    #[error("a record is damaged; what lies behind it is left out")]
    Record,
    #[error("a chunk has {bytes} bytes, accepted are at most {CHUNK_BYTES_MAX}")]
    TooLarge { bytes: u64 },
    #[error("a chunk is compressed by {0:?}, accepted are lz4, bz2 and none")]
    Compression(String),
    #[error("a chunk cannot be unpacked: {0}")]
    Packed(String),
    #[error("a record of a chunk is longer than the chunk")]
    Long,
}

impl Rosbag1File {
    pub(super) fn open(path: &Path, name: String) -> Result<Self, BadBag> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0)?;
        if magic != *MAGIC {
            return Err(BadBag::Version(String::from_utf8_lossy(&magic).trim().to_owned()));
        }
        let (path, connections) = (path.to_owned(), BTreeMap::new());
        let mut this = Self { path, name, spans: Vec::new(), connections, faults: Vec::new() };
        let mut connections = BTreeMap::new();
        if let Err((offset, bad)) = this.walk(&file, length, &mut connections) {
            this.note(offset, &bad);
        }
        this.look_into_chunks(&file, &mut connections);
        this.take_connections(&connections);
        Ok(this)
    }

    /// Notes where the chunks are, and of which connections they and the index know.
    fn walk(
        &mut self,
        file: &File,
        length: u64,
        connections: &mut BTreeMap<u32, (String, String)>,
    ) -> Result<(), (u64, BadBag)> {
        let mut offset = MAGIC.len() as u64;
        while offset < length {
            let at = |bad| (offset, bad);
            let number = |offset| {
                let mut number = [0; 4];
                match file.read_exact_at(&mut number, offset) {
                    Ok(()) => Ok(u64::from(u32::from_le_bytes(number))),
                    Err(_ended) => {
                        Err(at(BadBag::Cut { missing: (offset + 4).saturating_sub(length) }))
                    }
                }
            };
            let head_bytes = number(offset)?;
            if head_bytes > HEAD_BYTES_MAX {
                return Err(at(BadBag::Record));
            }
            let data_bytes = number(offset + 4 + head_bytes)?;
            let record = 8 + head_bytes + data_bytes;
            let end = offset + record;
            if end > length {
                return Err(at(BadBag::Cut { missing: end - length }));
            }
            let head = read(file, offset + 4, head_bytes).map_err(at)?;
            let head = Head(&head);
            match head.op() {
                Some(CHUNK) => {
                    self.spans.push(Span { offset, length: record, is_chunk: true, counts: None });
                }
                Some(INDEX) => {
                    let chunk = self.spans.last_mut().filter(|it| it.is_chunk);
                    if let Some((chunk, (connection, count))) = chunk.zip(head.index()) {
                        let counts = chunk.counts.get_or_insert_default();
                        *counts.entry(connection).or_default() += u64::from(count);
                    }
                }
                Some(MESSAGE) => self.add_to_run(offset, record),
                Some(CONNECTION) if data_bytes <= CHUNK_BYTES_MAX => {
                    let data = read(file, offset + 8 + head_bytes, data_bytes).map_err(at)?;
                    connections.extend(head.connection(&data));
                }
                Some(_) => {}
                None => return Err(at(BadBag::Record)),
            }
            offset = end;
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
        self.spans.push(Span { offset, length, is_chunk: false, counts: None });
    }

    /// What the index does not say of a chunk, it says itself.
    fn look_into_chunks(&mut self, file: &File, connections: &mut BTreeMap<u32, (String, String)>) {
        let mut spans = std::mem::take(&mut self.spans);
        let is_known = |span: &Span, known: &BTreeMap<u32, (String, String)>| {
            span.counts.as_ref().is_some_and(|it| it.keys().all(|it| known.contains_key(it)))
        };
        for span in &mut spans {
            if is_known(span, connections) {
                continue;
            }
            let counts = span.counts.insert(BTreeMap::new());
            match unpack(file, span.offset, span.length, span.is_chunk) {
                Ok(records) => {
                    let mut rest = records.as_slice();
                    while let Some((head, data, length)) = first_record(rest) {
                        match head.op() {
                            Some(CONNECTION) => connections.extend(head.connection(data)),
                            Some(MESSAGE) => {
                                if let Some(connection) = head.number("conn") {
                                    *counts.entry(connection).or_default() += 1;
                                }
                            }
                            _ => {}
                        }
                        rest = rest.get(length..).unwrap_or_default();
                    }
                }
                Err(bad) => self.note(span.offset, &bad),
            }
        }
        self.spans = spans;
    }

    /// Connections of one topic and type are one topic.
    fn take_connections(&mut self, connections: &BTreeMap<u32, (String, String)>) {
        let mut counts: BTreeMap<&(String, String), u64> = BTreeMap::new();
        for (id, topic) in connections {
            let found = self.spans.iter().filter_map(|span| span.counts.as_ref()?.get(id));
            *counts.entry(topic).or_default() += found.sum::<u64>();
        }
        let topics: BTreeMap<&(String, String), Rc<Topic>> = counts
            .into_iter()
            .map(|(key, count)| {
                let (name, schema) = key.clone();
                (key, Rc::new(Topic { name, schema, wire: Wire::Ros1, count: Some(count) }))
            })
            .collect();
        self.connections = connections
            .iter()
            .filter_map(|(id, key)| Some((*id, Rc::clone(topics.get(key)?))))
            .collect();
    }

    fn note(&mut self, offset: u64, bad: &BadBag) {
        if self.faults.len() < FAULTS_MAX {
            let place = format!("{}, byte {offset}", self.name);
            self.faults.push(FrameFault { place, reason: bad.to_string() });
        }
    }
}

impl MessageStore for Rosbag1File {
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

impl SpannedFile for Rosbag1File {
    type Stream = u32;
    type Span = Span;
    type Bad = BadBag;

    const LONG: BadBag = BadBag::Long;

    fn path(&self) -> &Path {
        &self.path
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn streams(&self) -> &BTreeMap<u32, Rc<Topic>> {
        &self.connections
    }

    fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn offset(span: &Span) -> u64 {
        span.offset
    }

    fn may_have(span: &Span, is_wanted: &dyn Fn(&u32) -> bool) -> bool {
        span.counts.as_ref().is_none_or(|counts| counts.keys().any(is_wanted))
    }

    fn unpack(file: &File, span: &Span) -> Result<Vec<u8>, BadBag> {
        unpack(file, span.offset, span.length, span.is_chunk)
    }

    fn first_record(records: &[u8]) -> Option<(usize, Option<Recorded<'_, u32>>)> {
        let (head, data, length) = first_record(records)?;
        let is_message = head.op() == Some(MESSAGE);
        let of_connection = head.number("conn").filter(|_| is_message).zip(head.time());
        Some((length, of_connection.map(|(connection, time)| (connection, time, data))))
    }
}

/// What is said before a record's data: fields `name=value`, each with its length.
#[derive(Clone, Copy)]
struct Head<'a>(&'a [u8]);

impl<'a> Head<'a> {
    fn field(self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.0;
        loop {
            let (field, behind) = sized(rest)?;
            let value = field.strip_prefix(name.as_bytes()).and_then(|it| it.strip_prefix(b"="));
            if value.is_some() {
                return value;
            }
            rest = behind;
        }
    }

    fn op(self) -> Option<u8> {
        self.field("op")?.first().copied()
    }

    fn number(self, name: &str) -> Option<u32> {
        Some(u32::from_le_bytes(self.field(name)?.try_into().ok()?))
    }

    fn text(self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(self.field(name)?).into_owned())
    }

    /// Seconds, then nanoseconds.
    fn time(self) -> Option<Stamp> {
        let (seconds, rest) = self.field("time")?.split_first_chunk()?;
        let nanos = u32::from_le_bytes(rest.try_into().ok()?);
        Some(Stamp(i64::from(u32::from_le_bytes(*seconds)) * 1_000_000_000 + i64::from(nanos)))
    }

    /// Connection and count of an index.
    fn index(self) -> Option<(u32, u32)> {
        self.number("conn").zip(self.number("count"))
    }

    /// Number of a connection, its topic and its type, which its data says as a head does.
    fn connection(self, data: &[u8]) -> Option<(u32, (String, String))> {
        Some((self.number("conn")?, (self.text("topic")?, Head(data).text("type")?)))
    }
}

/// Bytes with their length before them, and what is behind.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Head, data and length of the first record.
fn first_record(bytes: &[u8]) -> Option<(Head<'_>, &[u8], usize)> {
    let (head, rest) = sized(bytes)?;
    let (data, rest) = sized(rest)?;
    Some((Head(head), data, bytes.len() - rest.len()))
}

fn read(file: &File, offset: u64, length: u64) -> Result<Vec<u8>, BadBag> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// The records of a span, one after the other.
fn unpack(file: &File, offset: u64, length: u64, is_chunk: bool) -> Result<Vec<u8>, BadBag> {
    if length > CHUNK_BYTES_MAX {
        return Err(BadBag::TooLarge { bytes: length });
    }
    let bytes = read(file, offset, length)?;
    if !is_chunk {
        return Ok(bytes);
    }
    let (head, data, _) = first_record(&bytes).ok_or(BadBag::Record)?;
    let size = u64::from(head.number("size").ok_or(BadBag::Record)?);
    if size > CHUNK_BYTES_MAX {
        return Err(BadBag::TooLarge { bytes: size });
    }
    let unpacked: Box<dyn io::Read> = match head.text("compression").unwrap_or_default().as_str() {
        "none" => Box::new(data),
        "lz4" => Box::new(Lz4Decoder::new(data)),
        "bz2" => Box::new(BzDecoder::new(data)),
        other => return Err(BadBag::Compression(other.to_owned())),
    };
    let mut records = Vec::new();
    // One more than is said, so that more is noticed.
    let taken = unpacked.take(size + 1).read_to_end(&mut records);
    taken.map_err(|error| BadBag::Packed(error.to_string()))?;
    if records.len() as u64 != size {
        return Err(BadBag::Packed(format!("it has not the {size} bytes that it should have")));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bzip2::Compression;
    use bzip2::write::BzEncoder;
    use std::io::Write as _;

    /// A chunk by bz2 that says it has `size` bytes.
    fn chunk(size: u32, packed: &[u8]) -> Vec<u8> {
        let number = |length: usize| u32::try_from(length).unwrap().to_le_bytes();
        let fields =
            [&b"op=\x05"[..], b"compression=bz2", &[b"size=", &size.to_le_bytes()[..]].concat()];
        let head: Vec<u8> =
            fields.iter().flat_map(|it| [&number(it.len())[..], it].concat()).collect();
        [&number(head.len())[..], &head, &number(packed.len()), packed].concat()
    }

    fn check(size: u32, packed: &[u8], expect: &str) {
        let mut file = tempfile::tempfile().unwrap();
        let chunk = chunk(size, packed);
        file.write_all(&chunk).unwrap();
        let unpacked = unpack(&file, 0, chunk.len() as u64, true);
        let said = unpacked.map_or_else(|bad| bad.to_string(), |it| format!("{} bytes", it.len()));
        assert!(said.contains(expect), "{said}, not {expect}");
    }

    #[test]
    fn a_chunk_by_bz2_is_unpacked_to_as_much_as_it_says_and_no_more() {
        let mut packed = BzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&vec![0; 5_000_000]).unwrap();
        let packed = packed.finish().unwrap();
        check(5_000_000, &packed, "5000000 bytes");
        check(5, &packed, "it has not the 5 bytes");
        check(200_000_000, &packed, "it has not the 200000000 bytes");
        check(u32::MAX, &packed, "a chunk has 4294967295 bytes, accepted are at most");
        for length in 0..packed.len() {
            check(5_000_000, &packed[..length], "a chunk cannot be unpacked: ");
        }
    }
}
