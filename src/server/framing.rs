//! Cuts a client's byte stream into lines.
//!
//! Knows no JSON and no MCP. What it holds of a client is bounded: a line that
//! grows past [`SMALL_LINE_BYTES`] needs one of the server's few places for
//! large lines and must end within a time limit, and one that grows past the
//! byte limit is skipped unread. So a hundred clients that each send half of a
//! huge line cost a few lines' memory, not a hundred.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// A line up to this size is read without a place for large lines.
const SMALL_LINE_BYTES: usize = 64 << 10;

/// Room made for one read when the buffer is empty.
const READ_BYTES: usize = 8 << 10;

/// What came next on the stream.
#[derive(Debug)]
pub(super) enum StreamEvent {
    /// A whole line without its line feed, and its place if it needed one.
    Line(Vec<u8>, Option<OwnedSemaphorePermit>),
    /// A line over the byte limit. Given once, before its rest is skipped.
    TooLong,
    /// A large line did not end in time; nothing follows.
    Stalled,
    /// The stream ended; `inside_line` when the last line had no line feed.
    End { inside_line: bool },
}

/// Limits on the lines of one client.
#[derive(Debug, Clone)]
pub(super) struct LineLimits {
    pub(super) bytes_max: usize,
    /// Time from getting a place to the line's end.
    pub(super) large_deadline: Duration,
    /// Places for large lines, shared by all clients; taken in order of asking.
    pub(super) large_places: Arc<Semaphore>,
}

/// Reads lines within limits. Dropping the future of [`LineReader::next`]
/// loses nothing: the next call goes on where it was.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    stream: R,
    limits: LineLimits,
    buffer: Vec<u8>,
    /// So many bytes of the buffer hold no line feed.
    searched: usize,
    /// The line in the buffer was too long; its rest is thrown away.
    skipping: bool,
    place: Option<LinePermit>,
}

#[derive(Debug)]
struct LinePermit {
    permit: OwnedSemaphorePermit,
    until: Instant,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(stream: R, limits: LineLimits) -> Self {
        Self { stream, limits, buffer: Vec::new(), searched: 0, skipping: false, place: None }
    }

    /// Waits for the next frame. Lines of white space only are passed over.
    pub(super) async fn next(&mut self) -> io::Result<StreamEvent> {
        loop {
            if let Some(frame) = self.cut() {
                return Ok(frame);
            }
            if self.buffer.len() > SMALL_LINE_BYTES && self.place.is_none() {
                self.take_place().await?;
            }
            let read = match &self.place {
                Some(LinePermit { until, .. }) => {
                    let until = *until;
                    match timeout_at(until, self.read_some()).await {
                        Ok(read) => read?,
                        Err(_elapsed) => return Ok(StreamEvent::Stalled),
                    }
                }
                None => self.read_some().await?,
            };
            if read == 0 {
                let inside_line = !self.skipping && !is_blank(&self.buffer);
                return Ok(StreamEvent::End { inside_line });
            }
        }
    }

    /// Takes what the buffer already decides: a whole line, or that the line
    /// is too long.
    fn cut(&mut self) -> Option<StreamEvent> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(offset) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.buffer.len();
                return self.cut_unfinished();
            };
            let line = self.take_line(self.searched + offset);
            let permit = self.place.take().map(|place| place.permit);
            if std::mem::take(&mut self.skipping) || is_blank(&line) {
                continue;
            }
            if line.len() > self.limits.bytes_max {
                return Some(StreamEvent::TooLong);
            }
            return Some(StreamEvent::Line(line, permit));
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
        self.place = None;
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

    async fn take_place(&mut self) -> io::Result<()> {
        let places = Arc::clone(&self.limits.large_places);
        let permit = places.acquire_owned().await.map_err(io::Error::other)?;
        self.place =
            Some(LinePermit { permit, until: Instant::now() + self.limits.large_deadline });
        Ok(())
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
            large_deadline: Duration::from_secs(60),
            large_places: Arc::new(Semaphore::new(1)),
        };
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let mut reader = LineReader::new(Pieces(pieces, false), limits);
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
            StreamEvent::Line(line, _place) => format!("{line:?}"),
            StreamEvent::TooLong => "too long".to_owned(),
            StreamEvent::Stalled => "stalled".to_owned(),
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
    fn a_large_line_comes_whole_with_its_place() {
        let line = vec![b'x'; 300_000];
        let mut pieces: Vec<Vec<u8>> = line.chunks(50_000).map(<[u8]>::to_vec).collect();
        pieces.push(b"\n{}\n".to_vec());
        let frames = read_all(pieces, 300_000);
        assert_eq!(frames, [format!("{line:?}"), "[123, 125]".to_owned(), "end false".to_owned()]);
    }
}
