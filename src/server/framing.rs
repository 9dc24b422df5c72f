//! Cuts a client's byte stream into lines.
//!
//! Knows no JSON and no MCP. What it holds of a client is bounded: a line that grows past
//! [`SMALL_LINE_BYTES`] takes room in a budget that all clients share, for what came of it and
//! as much again, each time that it has filled that; past [`MEDIUM_LINE_BYTES`] in another, so
//! that who sends large lines keeps nobody from sending frames. It must end, or fill its room,
//! within a time limit in which nobody needs to wait for a client that means it. A line past the
//! byte limit is skipped unread. A whole line waits for room for what its request takes until it
//! is answered.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, timeout, timeout_at};

use crate::server::budget::{Budget, Charge, LineNumber};
use crate::server::fair::Client;

/// An unfinished line up to this size is held without room in the budget.
const SMALL_LINE_BYTES: usize = 64 << 10;

/// Images of cameras are smaller, as a rule.
const MEDIUM_LINE_BYTES: usize = 1 << 20;

/// Room made for one read when the buffer is empty.
const READ_BYTES: usize = 8 << 10;

/// What came next on the stream.
#[derive(Debug)]
pub(super) enum StreamEvent {
    /// A whole line without its line feed, and the room that it takes.
    Line(Vec<u8>, Charge),
    /// A line over the byte limit. Given once, before its rest is skipped.
    TooLong,
    /// A line that is not small did not end in time; nothing follows.
    Stalled,
    /// There was no room for a line in time; nothing follows.
    NoRoom,
    /// The stream ended; `inside_line` when the last line had no line feed.
    End { inside_line: bool },
}

/// Limits on the lines of one client.
#[derive(Debug, Clone)]
pub(super) struct LineLimits {
    pub(super) bytes_max: usize,
    /// Time for a line that is not small, from when it has room, to its end or until it has
    /// filled that.
    pub(super) large_deadline: Duration,
    /// Time to wait for that room.
    pub(super) room_deadline: Duration,
    /// For lines of up to [`MEDIUM_LINE_BYTES`].
    pub(super) medium: Arc<Budget>,
    /// For longer ones.
    pub(super) large: Arc<Budget>,
    /// What a request takes until it is answered, by its line.
    pub(super) cost: fn(&[u8]) -> u64,
}

/// No room for a line in time.
#[derive(Debug)]
struct NoRoom;

/// Reads lines within limits. Dropping the future of [`LineReader::next`]
/// loses nothing: the next call goes on where it was.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    stream: R,
    limits: LineLimits,
    client: Client,
    buffer: Vec<u8>,
    /// So many bytes of the buffer hold no line feed.
    searched: usize,
    /// The line in the buffer was too long; its rest is thrown away.
    skipping: bool,
    /// What the unfinished line holds, once it is not small.
    unfinished: Option<Unfinished>,
    /// A whole line that waits for room.
    whole: Option<(Vec<u8>, Option<Charge>)>,
    /// Where the line stands among those that wait for room.
    number: Option<LineNumber>,
}

#[derive(Debug)]
struct Unfinished {
    /// Bytes that it may come to.
    bytes_max: usize,
    charge: Charge,
    until: Instant,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(stream: R, client: Client, limits: LineLimits) -> Self {
        Self {
            stream,
            limits,
            client,
            buffer: Vec::new(),
            searched: 0,
            skipping: false,
            unfinished: None,
            whole: None,
            number: None,
        }
    }

    /// Waits for the next frame. Lines of white space only are passed over.
    pub(super) async fn next(&mut self) -> io::Result<StreamEvent> {
        loop {
            if self.whole.is_some() {
                return self.admit().await;
            }
            if let Some(frame) = self.cut() {
                return Ok(frame);
            }
            if self.whole.is_some() {
                continue;
            }
            let Ok(until) = self.hold().await else { return Ok(StreamEvent::NoRoom) };
            let read = match until {
                Some(until) => match timeout_at(until, self.read_some()).await {
                    Ok(read) => read?,
                    Err(_elapsed) => return Ok(StreamEvent::Stalled),
                },
                None => self.read_some().await?,
            };
            if read == 0 {
                let inside_line = !self.skipping && !is_blank(&self.buffer);
                return Ok(StreamEvent::End { inside_line });
            }
        }
    }

    /// Takes room for the line if it needs some; when it must have ended then.
    async fn hold(&mut self) -> Result<Option<Instant>, NoRoom> {
        let bytes = self.buffer.len();
        if bytes <= SMALL_LINE_BYTES || self.skipping {
            return Ok(None);
        }
        let held = self.unfinished.as_ref();
        if let Some(held) = held.filter(|it| bytes <= it.bytes_max) {
            return Ok(Some(held.until));
        }
        let is_medium = bytes <= MEDIUM_LINE_BYTES;
        let most = if is_medium { MEDIUM_LINE_BYTES } else { self.limits.bytes_max };
        let bytes_max = bytes.next_power_of_two().min(most).max(bytes);
        // Past the one budget it gives back what it held there once it has room in the other.
        let stays = held.is_some_and(|it| is_medium == (it.bytes_max <= MEDIUM_LINE_BYTES));
        let has = held.filter(|_| stays).map_or(0, |it| it.charge.bytes());
        let more = self.take_room(is_medium, bytes_max as u64 - has).await?;
        let until = Instant::now() + self.limits.large_deadline;
        match &mut self.unfinished {
            Some(held) if stays => {
                held.charge.join(more);
                (held.bytes_max, held.until) = (bytes_max, until);
            }
            unfinished => *unfinished = Some(Unfinished { bytes_max, charge: more, until }),
        }
        Ok(Some(until))
    }

    async fn take_room(&mut self, is_medium: bool, bytes: u64) -> Result<Charge, NoRoom> {
        let LineLimits { medium, large, room_deadline, .. } = &self.limits;
        let budget = if is_medium { medium } else { large };
        // One order for both.
        let number = *self.number.get_or_insert_with(|| medium.line());
        let charge = timeout(*room_deadline, budget.take(self.client, number, bytes)).await;
        charge.ok().flatten().ok_or(NoRoom)
    }

    /// Gives the whole line once there is room for its request. One that is not small has
    /// room already and changes what it holds: were it to wait with that, others would wait
    /// for it.
    async fn admit(&mut self) -> io::Result<StreamEvent> {
        let Some((line, charge)) = &mut self.whole else {
            return Ok(StreamEvent::End { inside_line: false });
        };
        let cost = (self.limits.cost)(line);
        let charge = match charge.take() {
            Some(charge) => Ok(charge),
            None => self.take_room(true, cost).await,
        };
        let Ok(mut charge) = charge else { return Ok(StreamEvent::NoRoom) };
        charge.settle(cost);
        self.number = None;
        let line = self.whole.take().map(|(line, _)| line).unwrap_or_default();
        Ok(StreamEvent::Line(line, charge))
    }

    /// Takes what the buffer already decides: a whole line, which then waits for room, or
    /// that the line is too long.
    fn cut(&mut self) -> Option<StreamEvent> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(offset) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.buffer.len();
                return self.cut_unfinished();
            };
            let line = self.take_line(self.searched + offset);
            let unfinished = self.unfinished.take();
            if std::mem::take(&mut self.skipping) || is_blank(&line) {
                continue;
            }
            if line.len() > self.limits.bytes_max {
                return Some(StreamEvent::TooLong);
            }
            self.whole = Some((line, unfinished.map(|it| it.charge)));
            return None;
        }
    }

    fn cut_unfinished(&mut self) -> Option<StreamEvent> {
        if self.skipping {
            self.buffer.clear();
            self.searched = 0;
            return None;
        }
        if self.buffer.len() <= self.limits.bytes_max {
            return None;
        }
        self.skipping = true;
        self.unfinished = None;
        self.buffer = Vec::new();
        self.searched = 0;
        Some(StreamEvent::TooLong)
    }

    /// The line that ends before `end`; a large one is moved, not copied.
    fn take_line(&mut self, end: usize) -> Vec<u8> {
        self.searched = 0;
        let rest = self.buffer.split_off((end + 1).min(self.buffer.len()));
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.truncate(end);
        line
    }

    async fn read_some(&mut self) -> io::Result<usize> {
        // Doubling, so that a long line is not copied for each read.
        self.buffer.reserve(self.buffer.len().max(READ_BYTES));
        self.stream.read_buf(&mut self.buffer).await
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::ReadBuf;

    /// Gives the pieces one read at a time, and is not ready in between.
    struct Pieces(VecDeque<Vec<u8>>, bool);

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.1 = !self.1;
            if self.1 {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if let Some(mut piece) = self.0.pop_front() {
                let rest = piece.split_off(piece.len().min(room.remaining()));
                room.put_slice(&piece);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            Poll::Ready(Ok(()))
        }
    }

    fn read_all(pieces: Vec<Vec<u8>>, bytes_max: usize) -> Vec<String> {
        let limits = LineLimits {
            bytes_max,
            large_deadline: Duration::from_mins(1),
            room_deadline: Duration::from_mins(1),
            medium: Budget::new(1 << 20, 1),
            large: Budget::new(1 << 20, 1),
            cost: |line| line.len() as u64,
        };
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let mut reader =
            LineReader::new(Pieces(pieces, false), Client { uid: 1, connection: 1 }, limits);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut frames = Vec::new();
            loop {
                // Dropped once before it is ready, as rmcp's loop does.
                drop(
                    timeout_at(Instant::now(), reader.next())
                        .await
                        .map(|it| frames.push(describe(it))),
                );
                if frames.last().is_some_and(|it| it.starts_with("end")) {
                    return frames;
                }
                frames.push(describe(reader.next().await));
                if frames.last().is_some_and(|it| it.starts_with("end")) {
                    return frames;
                }
            }
        })
    }

    fn describe(frame: io::Result<StreamEvent>) -> String {
        match frame.unwrap() {
            StreamEvent::Line(line, _room) => format!("{line:?}"),
            StreamEvent::TooLong => "too long".to_owned(),
            StreamEvent::Stalled => "stalled".to_owned(),
            StreamEvent::NoRoom => "no room".to_owned(),
            StreamEvent::End { inside_line } => format!("end {inside_line}"),
        }
    }

    /// The same by splitting the whole.
    fn split_whole(bytes: &[u8], bytes_max: usize) -> Vec<String> {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let rest = lines.pop().unwrap();
        let mut frames = Vec::new();
        for line in lines.into_iter().filter(|line| !is_blank(line)) {
            let is_long = line.len() > bytes_max;
            frames.push(if is_long { "too long".to_owned() } else { format!("{line:?}") });
        }
        if rest.len() > bytes_max {
            frames.push("too long".to_owned());
            frames.push("end false".to_owned());
        } else {
            frames.push(format!("end {}", !is_blank(rest)));
        }
        frames
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_the_bytes_arrive(
            // Blank lines over the limit are told as too long or passed over,
            // as they arrive; they are left out here.
            pieces in prop::collection::vec("[ab\n]{0,9}", 0..12),
            bytes_max in 1_usize..8,
        ) {
            let pieces: Vec<Vec<u8>> = pieces.into_iter().map(String::into_bytes).collect();
            let whole = pieces.concat();
            prop_assert_eq!(read_all(pieces, bytes_max), split_whole(&whole, bytes_max));
        }
    }

    #[test]
    fn a_large_line_comes_whole() {
        let line = vec![b'x'; 300_000];
        let mut pieces: Vec<Vec<u8>> = line.chunks(50_000).map(<[u8]>::to_vec).collect();
        pieces.push(b"\n{}\n".to_vec());
        let frames = read_all(pieces, 300_000);
        assert_eq!(frames, [format!("{line:?}"), "[123, 125]".to_owned(), "end false".to_owned()]);
    }
}
