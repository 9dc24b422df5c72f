//! The daemon's tools as the views ask them, with typed answers. Knows no markup.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::base::time::Timestamp;
use crate::page::daemon::{Call, Daemon, DaemonError, Reply, Resource};
use crate::page::filter::{Bounds, Filter};
use crate::tools::admin::memory_stats::MemoryStats;
use crate::tools::moment_retrieval::count_records_by_time::CountRecordsByTime;
use crate::tools::moment_retrieval::list_records::ListRecords;
use crate::tools::reply::{FRAME_URI, RECORD_URI, SPOOL_URI};
use crate::tools::tool::Tool as _;

const WINDOW: Bounds = ("start_time", "end_time");

/// Most records of one list.
pub(crate) const LIST_MAX: usize = 500;
/// Most buckets of one count.
pub(crate) const BUCKETS_MAX: usize = 2_000;

/// A record as the tools have it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: u64,
    pub(crate) time: String,
    /// Seconds since 1970.
    pub(crate) timestamp: f64,
    pub(crate) end_time: String,
    pub(crate) caption: String,
    pub(crate) confidence: Option<f64>,
    pub(crate) position: Option<[f64; 3]>,
    pub(crate) theta: Option<f64>,
    pub(crate) frame_id: String,
    pub(crate) map_id: String,
    pub(crate) source: String,
    pub(crate) layer: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) score: Option<f64>,
    #[serde(default)]
    pub(crate) matched: Vec<String>,
    #[serde(default)]
    pub(crate) detections: Vec<Detection>,
}

/// A thing that the captioner found in a frame.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Detection {
    pub(crate) name: String,
    pub(crate) score: f64,
    /// Left, top, right and bottom in shares of the frame.
    #[serde(rename = "box")]
    pub(crate) place: [f64; 4],
}

/// What was read out of a caption.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Parsed {
    #[serde(default)]
    pub(crate) things: Vec<Thing>,
    #[serde(default)]
    pub(crate) deeds: Vec<String>,
    pub(crate) surface: Option<String>,
    pub(crate) room: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Thing {
    pub(crate) phrase: String,
    pub(crate) head: String,
    #[serde(default)]
    pub(crate) attributes: Vec<String>,
    /// `shown`, `landmark` or `absent`.
    pub(crate) presence: String,
    #[serde(default)]
    pub(crate) is_person: bool,
}

/// A record with everything that is kept of it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WholeRecord {
    #[serde(flatten)]
    pub(crate) record: Record,
    #[serde(default)]
    pub(crate) parsed: Parsed,
}

/// Records in an order.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Listed {
    pub(crate) records: Vec<Record>,
    /// Of all pages.
    pub(crate) count: usize,
    pub(crate) cursor: Option<String>,
    pub(crate) more: bool,
}

/// Order of a list by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Oldest,
    Newest,
}

/// How many records there are over time.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Counts {
    /// In the order of time, those that are empty left out.
    pub(crate) buckets: Vec<Bucket>,
    pub(crate) count: usize,
    pub(crate) why_empty: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Bucket {
    #[serde(rename = "timestamp")]
    pub(crate) start: f64,
    #[serde(rename = "end_timestamp")]
    pub(crate) end: f64,
    /// Records that begin in it.
    pub(crate) count: usize,
}

/// What there is to filter by.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Stats {
    pub(crate) records: usize,
    #[serde(default)]
    pub(crate) origins: Vec<Origin>,
}

/// Records of one source in one map.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Origin {
    pub(crate) source: String,
    pub(crate) map_id: String,
    pub(crate) records: usize,
}

/// A daemon's tools.
pub(crate) struct Memory<'a> {
    daemon: &'a dyn Daemon,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(daemon: &'a dyn Daemon) -> Self {
        Self { daemon }
    }

    /// Calls a tool and reads its reply.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        tool: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<T, DaemonError> {
        let reply = self.daemon.call(Call { tool, arguments })?;
        read(tool, reply.structured)
    }

    /// Some of the items of an export.
    pub(crate) fn export<T: DeserializeOwned>(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<T, DaemonError> {
        read("an export", self.daemon.export(arguments)?)
    }

    /// Sessions, or frames without a caption, from a cursor on.
    pub(crate) fn browse<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        cursor: u64,
    ) -> Result<Browsed<T>, DaemonError> {
        let mut arguments = Map::new();
        arguments.insert("kind".to_owned(), json!(kind));
        arguments.insert("cursor".to_owned(), json!(cursor));
        read("browse", self.daemon.browse(arguments)?)
    }

    /// A small picture of a frame without a caption; `None` where none is kept.
    pub(crate) fn spooled_frame(
        &self,
        frame: u64,
        max_edge: u32,
    ) -> Result<Option<Resource>, DaemonError> {
        self.daemon.resource(&format!("{SPOOL_URI}{frame}?max_edge={max_edge}"))
    }

    /// Makes calls in one session, up to the first that is refused.
    pub(crate) fn ask_all(&self, calls: &[Call]) -> (Vec<Reply>, Option<DaemonError>) {
        self.daemon.calls(calls)
    }

    pub(crate) fn stats(&self) -> Result<Stats, DaemonError> {
        self.ask(MemoryStats::NAME, Map::new())
    }

    /// A record with everything that is kept of it; `None` where there is none.
    pub(crate) fn record(&self, id: u64) -> Result<Option<WholeRecord>, DaemonError> {
        let Some(text) = self.daemon.resource(&format!("{RECORD_URI}{id}"))? else {
            return Ok(None);
        };
        serde_json::from_slice(&text.bytes).map(Some).map_err(|error| {
            DaemonError::Unavailable(format!("record {id} is not understood: {error}"))
        })
    }

    /// What is behind a resource's address.
    pub(crate) fn resource(&self, address: &str) -> Result<Option<Resource>, DaemonError> {
        self.daemon.resource(address)
    }

    /// The frame of a record as it was taken in; `None` where none is kept.
    pub(crate) fn frame(&self, id: u64) -> Result<Option<Resource>, DaemonError> {
        self.daemon.resource(&format!("{FRAME_URI}{id}"))
    }

    /// The first records within a filter, after a cursor.
    pub(crate) fn list(
        &self,
        filter: &Filter,
        order: Order,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Listed, DaemonError> {
        let mut arguments = filter.arguments(WINDOW);
        let order = if order == Order::Oldest { "oldest" } else { "newest" };
        arguments.insert("order".to_owned(), json!(order));
        arguments.insert("limit".to_owned(), json!(limit.clamp(1, LIST_MAX)));
        arguments.extend(cursor.map(|cursor| ("cursor".to_owned(), json!(cursor))));
        self.ask(ListRecords::NAME, arguments)
    }

    /// Counts the records within a filter in at most so many buckets.
    pub(crate) fn counts(&self, filter: &Filter, buckets: usize) -> Result<Counts, DaemonError> {
        let mut arguments = filter.arguments(WINDOW);
        arguments.insert("buckets_max".to_owned(), json!(buckets.clamp(1, BUCKETS_MAX)));
        self.ask(CountRecordsByTime::NAME, arguments)
    }
}

/// Some items of a kind, and where the next ones begin.
#[derive(Debug, Deserialize)]
pub(crate) struct Browsed<T> {
    pub(crate) items: Vec<T>,
    pub(crate) cursor: Option<u64>,
}

/// A tool's reply with its type.
pub(crate) fn read<T: DeserializeOwned>(
    tool: &str,
    structured: Map<String, Value>,
) -> Result<T, DaemonError> {
    serde_json::from_value(Value::Object(structured)).map_err(|error| {
        DaemonError::Unavailable(format!("the reply of {tool} is not understood: {error}"))
    })
}

impl Record {
    pub(crate) fn at(&self) -> Timestamp {
        Timestamp::from_seconds(self.timestamp).unwrap_or(Timestamp::EPOCH)
    }
}
