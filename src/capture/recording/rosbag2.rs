//! Recordings in `SQLite`, as rosbag2's `sqlite3` storage writes them.
//!
//! By the time of recording, some messages at a time. A database that is damaged gives what comes
//! before the damage, and a fault. A file is open while it is read, as with MCAP.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, params_from_iter};
use ruzstd::decoding::StreamingDecoder;

use crate::capture::FrameFault;
use crate::capture::recording::messages::Stamp;
use crate::capture::recording::store::{Message, MessageStore, Messages, Topic, Wire};

/// Messages that are read at once: images of megabytes, or transforms.
const ROWS: usize = 16;
/// Longest message; `SQLite` itself takes a thousand times as much.
const MESSAGE_BYTES_MAX: i64 = 256 << 20;
/// How a message that was packed by itself begins; CDR begins otherwise.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A `.db3` file and its topics.
#[derive(Debug)]
pub(super) struct Rosbag2File {
    path: PathBuf,
    name: String,
    topics: BTreeMap<i64, Rc<Topic>>,
    faults: Vec<FrameFault>,
}

impl Rosbag2File {
    pub(super) fn open(path: &Path, name: String) -> Result<Self, rusqlite::Error> {
        let database = connect(path)?;
        let mut faults = Vec::new();
        let counts = count(&database).unwrap_or_else(|error| {
            faults.push(FrameFault { place: name.clone(), reason: error.to_string() });
            BTreeMap::new()
        });
        let is_counted = faults.is_empty();
        let mut topics = BTreeMap::new();
        {
            let mut rows =
                database.prepare("SELECT id, name, type, serialization_format FROM topics")?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let (id, wire): (i64, String) = (row.get(0)?, row.get(3)?);
                let count = is_counted.then(|| counts.get(&id).copied().unwrap_or(0));
                let (name, schema, wire) = (row.get(1)?, row.get(2)?, Wire::of(&wire));
                topics.insert(id, Rc::new(Topic { name, schema, wire, count }));
            }
        }
        Ok(Self { path: path.to_owned(), name, topics, faults })
    }

    fn message(&self, row: BagRow) -> Result<Message, FrameFault> {
        let BagRow { id, topic, timestamp, data } = row;
        let fault =
            |reason: String| FrameFault { place: format!("{}, message {id}", self.name), reason };
        let topic = self.topics.get(&topic).ok_or_else(|| fault("it is of no topic".to_owned()))?;
        let too_long = || format!("it has more than the accepted {MESSAGE_BYTES_MAX} bytes");
        let data = data.ok_or_else(|| fault(too_long()))?;
        let data = if data.starts_with(ZSTD) { unpack(&data).map_err(fault)? } else { data };
        Ok(Message { topic: Rc::clone(topic), log_time: Stamp(timestamp), data })
    }
}

impl MessageStore for Rosbag2File {
    fn topics(&self) -> Vec<Rc<Topic>> {
        self.topics.values().cloned().collect()
    }

    fn faults(&self) -> &[FrameFault] {
        &self.faults
    }

    fn read(self: Rc<Self>, wanted: &dyn Fn(&Topic) -> bool) -> Messages {
        let ids = self.topics.iter().filter(|(_, topic)| wanted(topic)).map(|(id, _)| *id);
        let (ids, after) = (ids.collect(), Some((i64::MIN, i64::MIN)));
        Box::new(Reading { file: self, database: None, ids, after, ready: VecDeque::new() })
    }
}

struct Reading {
    file: Rc<Rosbag2File>,
    /// `None` until the first message is asked for.
    database: Option<Connection>,
    ids: Vec<i64>,
    /// Time and number of the last message; `None` at the end.
    after: Option<(i64, i64)>,
    ready: VecDeque<BagRow>,
}

impl Reading {
    /// Messages of the topics behind the one recorded then, of this number.
    fn next_rows(&mut self, after: (i64, i64)) -> Result<Vec<BagRow>, rusqlite::Error> {
        let database = match self.database.take() {
            Some(database) => database,
            None => connect(&self.file.path)?,
        };
        let database = self.database.insert(database);
        // SQLite's limit of parameters is far beyond the topics of a robot.
        let marks = vec!["?"; self.ids.len()].join(", ");
        let query = format!(
            "SELECT id, topic_id, timestamp, CASE WHEN length(data) <= {MESSAGE_BYTES_MAX} \
             THEN data END FROM messages WHERE (timestamp, id) > (?, ?) AND topic_id IN ({marks}) \
             ORDER BY timestamp, id LIMIT {ROWS}"
        );
        let mut rows = database.prepare(&query)?;
        let values =
            [after.0, after.1].into_iter().chain(self.ids.iter().copied()).map(Value::Integer);
        let rows = rows.query_map(params_from_iter(values), BagRow::of)?;
        rows.collect()
    }
}

impl Iterator for Reading {
    type Item = Result<Message, FrameFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() && !self.ids.is_empty() {
            let after = self.after.take()?;
            match self.next_rows(after) {
                Ok(rows) => {
                    self.after = rows.last().map(|row| (row.timestamp, row.id));
                    self.ready.extend(rows);
                }
                // What lies behind cannot be reached in order.
                Err(error) => {
                    let place = self.file.name.clone();
                    let reason = format!("{error}; messages behind are left out");
                    return Some(Err(FrameFault { place, reason }));
                }
            }
        }
        let row = self.ready.pop_front()?;
        Some(self.file.message(row))
    }
}

/// Message as it lies in the table.
struct BagRow {
    id: i64,
    topic: i64,
    timestamp: i64,
    data: Option<Vec<u8>>,
}

impl BagRow {
    fn of(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let (id, topic) = (row.get(0)?, row.get(1)?);
        Ok(Self { id, topic, timestamp: row.get(2)?, data: row.get(3)? })
    }
}

/// A recorder that was switched off leaves a journal, which is read without a change to the file;
/// where that cannot be, as on a medium that is read only, the file is read without it.
fn connect(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let is_readable = |database: &Connection| {
        database.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
    };
    let database = Connection::open_with_flags(path, flags)?;
    match is_readable(&database) {
        Ok(()) => Ok(database),
        Err(error) => {
            let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f");
            let address = format!("file:{}?immutable=1", escaped.replace('#', "%23"));
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            let database = Connection::open_with_flags(address, flags)?;
            is_readable(&database).map_err(|_as_before| error)?;
            Ok(database)
        }
    }
}

fn count(database: &Connection) -> Result<BTreeMap<i64, u64>, rusqlite::Error> {
    let mut rows = database.prepare("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")?;
    let rows = rows.query_map([], |row| {
        let count: i64 = row.get(1)?;
        Ok((row.get(0)?, u64::try_from(count).unwrap_or(0)))
    })?;
    rows.collect()
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let decoder = StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    let mut data = Vec::new();
    let max = u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(0);
    decoder.take(max + 1).read_to_end(&mut data).map_err(|error| error.to_string())?;
    if data.len() as u64 > max {
        return Err(format!("unpacked it has more than the accepted {max} bytes"));
    }
    Ok(data)
}
