//! Background load on the daemon under measurement: a camera that keeps the captioner busy, and
//! a client that submits ready captions.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{anyhow, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Map, Value, json};

use crate::base::time::{Clock as _, SystemClock};
use crate::cli::bench::household::HouseholdWords;
use crate::cli::client::{Client, ClientOptions};
use crate::tools::ingest::ingest_status::IngestStatus;
use crate::tools::ingest::observe::Observe;
use crate::tools::tool::Tool as _;

/// Pending frames: a second's worth and more of the fastest captioner.
const WAITING: u64 = 200;
/// Deadline of the worker's start and its first caption.
const PATIENCE: Duration = Duration::from_mins(2);

/// Work in a thread of its own until finished.
pub(super) struct Working<'scope> {
    done: Arc<AtomicBool>,
    thread: ScopedJoinHandle<'scope, anyhow::Result<u64>>,
}

impl<'scope> Working<'scope> {
    fn start(
        scope: &'scope Scope<'scope, '_>,
        name: &str,
        mut work: impl FnMut() -> anyhow::Result<u64> + Send + 'scope,
    ) -> anyhow::Result<Self> {
        let done = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&done);
        let thread = Builder::new().name(name.to_owned()).spawn_scoped(scope, move || {
            let mut sent = 0;
            while !asked.load(Ordering::Relaxed) {
                sent += work()?;
            }
            Ok(sent)
        })?;
        Ok(Self { done, thread })
    }

    /// Ends the work; returns how much was handed in and fails where that had failed.
    pub(super) fn finish(self) -> anyhow::Result<u64> {
        self.done.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_panic| anyhow!("a thread beside the questions panicked"))?
    }
}

/// Sends frames that the gate does not merge, so that always some wait for
/// their caption. Returns when the captioner is at work.
pub(super) fn film<'scope>(
    scope: &'scope Scope<'scope, '_>,
    socket: &Path,
) -> anyhow::Result<Working<'scope>> {
    let mut client = Client::connect(socket, ClientOptions::default())?;
    for index in 0..WAITING {
        send_frame(&mut client, index)?;
    }
    let started = SystemClock.tick();
    while ingest_count(&mut client, "captioned")? == 0 {
        ensure!(started.elapsed() < PATIENCE, "no frame was captioned within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(10));
    }
    let mut sent = WAITING;
    Working::start(scope, "camera", move || {
        let pending = ingest_count(&mut client, "pending")?;
        ensure!(pending > 0, "the captioner ran idle; the figures beside it would say nothing");
        let before = sent;
        for _ in pending..WAITING {
            send_frame(&mut client, sent)?;
            sent += 1;
        }
        thread::sleep(Duration::from_millis(20));
        Ok(sent - before)
    })
}

/// Inserts ready captions, the next one as soon as one is on disk.
pub(super) fn tell<'scope>(
    scope: &'scope Scope<'scope, '_>,
    socket: &Path,
) -> anyhow::Result<Working<'scope>> {
    let mut client = Client::connect(socket, ClientOptions::default())?;
    let mut household = HouseholdWords::new(99);
    Working::start(scope, "teller", move || {
        observe(&mut client, json!({"caption": household.caption(), "source": "told"}))?;
        Ok(1)
    })
}

fn ingest_count(client: &mut Client, key: &str) -> anyhow::Result<u64> {
    let status = client.call(IngestStatus::NAME, Map::new())?.structured;
    Ok(status.get(key).and_then(Value::as_u64).unwrap_or(0))
}

/// A frame of its own colours, an hour after the one before: never merged.
fn send_frame(client: &mut Client, index: u64) -> anyhow::Result<()> {
    let shade = |x: u32, y: u32| {
        let value = u64::from(x / 16 * 31 + y / 16 * 17) + index * 53;
        Rgb([251, 239, 233].map(|bound| u8::try_from(value % bound).unwrap_or(u8::MAX)))
    };
    let mut jpeg = Vec::new();
    RgbImage::from_fn(128, 128, shade).write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg)?;
    let time = 1_000_000_000 + index * 3_600;
    observe(client, json!({"image": BASE64.encode(jpeg), "time": time, "source": "busy"}))
}

fn observe(client: &mut Client, arguments: Value) -> anyhow::Result<()> {
    let Value::Object(arguments) = arguments else { return Ok(()) };
    let reply = client.call(Observe::NAME, arguments)?;
    ensure!(!reply.is_error, "observe failed: {}", reply.text);
    Ok(())
}
