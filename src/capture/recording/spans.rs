//! Messages of a file that is read span by span, whatever its format.
//!
//! One span of each reader is in memory at a time; what is damaged of one is a fault, and the next
//! ones follow. A file is open while it is read: a recording may be split into more files than a
//! process may hold open.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::Path;
use std::rc::Rc;

use crate::capture::FrameFault;
use crate::capture::recording::messages::Stamp;
use crate::capture::recording::store::{Message, Messages, Topic};

/// File whose messages lie in spans: in chunks, or as they lie, some at once.
pub(super) trait SpannedFile: 'static {
    /// Number of a stream of messages: of a channel, of a connection.
    type Stream: Copy + Ord;
    type Span;
    type Bad: Display + From<io::Error>;

    /// A record that is longer than its span.
    const LONG: Self::Bad;

    fn path(&self) -> &Path;
    fn name(&self) -> &str;
    /// Topic of each stream; those of one topic share it.
    fn streams(&self) -> &BTreeMap<Self::Stream, Rc<Topic>>;
    fn spans(&self) -> &[Self::Span];

    /// Byte of the file at which a span begins.
    fn offset(span: &Self::Span) -> u64;
    /// Whether it may have messages of streams of which `is_wanted` holds.
    fn may_have(span: &Self::Span, is_wanted: &dyn Fn(&Self::Stream) -> bool) -> bool;
    /// Its records, one after the other.
    fn unpack(file: &File, span: &Self::Span) -> Result<Vec<u8>, Self::Bad>;
    /// Bytes of the first of these records, and what it is if it is a message.
    fn first_record(records: &[u8]) -> Option<(usize, Option<Recorded<'_, Self::Stream>>)>;
}

/// Message of a stream, when it was recorded, and its data.
pub(super) type Recorded<'a, Stream> = (Stream, Stamp, &'a [u8]);

/// Each topic once, in the order of the streams.
pub(super) fn topics<F: SpannedFile>(file: &F) -> Vec<Rc<Topic>> {
    let mut topics: Vec<Rc<Topic>> = Vec::new();
    for topic in file.streams().values() {
        if !topics.iter().any(|it| Rc::ptr_eq(it, topic)) {
            topics.push(Rc::clone(topic));
        }
    }
    topics
}

/// The messages of the wanted topics, in the order of the file's spans.
pub(super) fn read<F: SpannedFile>(file: Rc<F>, wanted: &dyn Fn(&Topic) -> bool) -> Messages {
    let streams = file.streams().iter().filter(|(_, topic)| wanted(topic));
    let wanted = streams.map(|(stream, topic)| (*stream, Rc::clone(topic))).collect();
    let (records, at) = (Vec::new(), 0);
    Box::new(Cursor { file, open: None, wanted, next_span: 0, records, at })
}

struct Cursor<F: SpannedFile> {
    file: Rc<F>,
    /// `None` until the first message is asked for.
    open: Option<File>,
    wanted: BTreeMap<F::Stream, Rc<Topic>>,
    next_span: usize,
    /// Of the present span.
    records: Vec<u8>,
    at: usize,
}

impl<F: SpannedFile> Cursor<F> {
    /// The next span with wanted messages; `None` behind the last.
    fn load(&mut self) -> Option<Result<(), FrameFault>> {
        loop {
            let span = self.file.spans().get(self.next_span)?;
            self.next_span += 1;
            if !F::may_have(span, &|stream| self.wanted.contains_key(stream)) {
                continue;
            }
            (self.records, self.at) = (Vec::new(), 0);
            let file = match self.open.take() {
                Some(file) => Ok(file),
                None => File::open(self.file.path()).map_err(F::Bad::from),
            };
            let unpacked = file.and_then(|file| F::unpack(self.open.insert(file), span));
            let offset = F::offset(span);
            return Some(match unpacked {
                Ok(records) => {
                    self.records = records;
                    Ok(())
                }
                Err(bad) => Err(self.fault(offset, &bad)),
            });
        }
    }

    fn fault(&self, offset: u64, bad: &F::Bad) -> FrameFault {
        let place = format!("{}, byte {offset}", self.file.name());
        FrameFault { place, reason: bad.to_string() }
    }
}

impl<F: SpannedFile> Iterator for Cursor<F> {
    type Item = Result<Message, FrameFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.wanted.is_empty() {
            return None;
        }
        loop {
            let rest = self.records.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                match self.load()? {
                    Ok(()) => continue,
                    Err(fault) => return Some(Err(fault)),
                }
            }
            let Some((length, recorded)) = F::first_record(rest) else {
                let offset = self.file.spans().get(self.next_span - 1).map_or(0, F::offset);
                self.at = self.records.len();
                return Some(Err(self.fault(offset, &F::LONG)));
            };
            self.at += length;
            let Some((stream, log_time, data)) = recorded else { continue };
            let Some(topic) = self.wanted.get(&stream) else { continue };
            return Some(Ok(Message { topic: Rc::clone(topic), log_time, data: data.to_vec() }));
        }
    }
}
