//! The load under which the daemon dies: clients that hand in, change and forget, each by a
//! seed, until it answers no more.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use engram::base::frame::FrameMeta;
use engram::base::time::{Timestamp, Zone};
use engram::cli::client::{Client, ClientOptions};
use serde_json::{Value, json};

use super::ledger::{Kind, Ledger, SlotId, caption, token};

/// When everything was seen, in seconds: 2025-01-01, each a second after the one before.
static NOW: AtomicU32 = AtomicU32::new(1_735_689_600);

/// Slots of a kind that are held before some are forgotten.
const HELD_MAX: usize = 24;

/// A client at work.
pub(super) struct Load {
    client: Client,
    ledger: Arc<Mutex<Ledger>>,
    random: Random,
}

/// What a client does all the time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    Captions,
    Frames,
    Words,
}

impl Work {
    pub(super) const ALL: [Self; 3] = [Self::Captions, Self::Frames, Self::Words];
}

/// The daemon answers no more.
struct Dead;

impl Load {
    /// Works until the daemon is gone.
    pub(super) fn run(socket: &Path, work: Work, ledger: Arc<Mutex<Ledger>>, seed: u64) {
        // A daemon that dies at once takes no connection.
        let Ok(client) = Client::connect(socket, ClientOptions::default()) else { return };
        let mut load = Self { client, ledger, random: Random(seed) };
        let mut step = || match work {
            Work::Captions => load.step_captions(),
            Work::Frames => load.step_frames(),
            Work::Words => load.step_words(),
        };
        while step().is_ok() {}
    }

    fn step_captions(&mut self) -> Result<(), Dead> {
        match self.random.below(20) {
            0..12 => self.caption(),
            12..15 => self.captioned_frame(),
            15..18 => self.forget_records(),
            18 => self.forget_window(),
            _ => self.session(),
        }
    }

    fn caption(&mut self) -> Result<(), Dead> {
        let id = self.open(Kind::Caption);
        let at = now();
        self.lock().slot(id).at = at;
        let seen = json!({"caption": caption(id), "time": time(at), "source": "captions",
            "position": [f64::from(at % 97), 1.0]});
        self.settle(id, "observe", seen)?;
        Ok(())
    }

    fn captioned_frame(&mut self) -> Result<(), Dead> {
        let id = self.open(Kind::Captioned);
        let at = now();
        self.lock().slot(id).at = at;
        let seen = json!({"caption": caption(id), "image": BASE64.encode(image(id)),
            "time": time(at), "position": [f64::from(at % 997), 2.0], "source": "own"});
        self.settle(id, "observe", seen)?;
        Ok(())
    }

    fn forget_records(&mut self) -> Result<(), Dead> {
        let mut held = self.held(Kind::Caption);
        held.extend(self.held(Kind::Captioned));
        let some = self.random.some(held, 3);
        if some.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> =
            some.iter().filter_map(|id| self.lock().slot(*id).id.clone()).collect();
        self.erase(&some, "memory_forget", json!({"scope": "episodic", "ids": ids}))
    }

    /// Forgets what was seen within two seconds of a caption that is there.
    fn forget_window(&mut self) -> Result<(), Dead> {
        let held = self.held(Kind::Caption);
        let Some(id) = self.random.some(held, 1).pop() else { return Ok(()) };
        let at = self.lock().slot(id).at;
        let window = json!({"scope": "episodic", "source": "captions",
            "search_start_time": time(at), "search_end_time": time(at + 1)});
        let within: Vec<SlotId> = self.held(Kind::Caption);
        let within =
            within.into_iter().filter(|id| (at..=at + 1).contains(&self.lock().slot(*id).at));
        let within: Vec<SlotId> = within.collect();
        self.erase(&within, "memory_forget", window)
    }

    fn session(&mut self) -> Result<(), Dead> {
        let held = self.held(Kind::Session);
        if held.len() > HELD_MAX || (!held.is_empty() && self.random.below(3) == 0) {
            let some = self.random.some(held, 1);
            let name = some.first().map(|id| token(*id, 0));
            return self.erase(&some, "session_delete", json!({"session": name}));
        }
        let id = self.open(Kind::Session);
        let task = format!("bring me the {}", token(id, 1));
        self.settle(id, "start_task", json!({"task": task, "session": token(id, 0)}))?;
        Ok(())
    }

    /// Some frames of a camera of their own; some cameras are forgotten.
    fn step_frames(&mut self) -> Result<(), Dead> {
        let source = self.open(Kind::Source);
        let name = token(source, 1);
        for _ in 0..=self.random.below(3) {
            let id = self.open(Kind::Frame);
            let at = now();
            {
                let mut ledger = self.lock();
                (ledger.slot(id).at, ledger.slot(id).source) = (at, Some(source.1));
            }
            let seen = json!({"image": BASE64.encode(image(id)), "time": time(at),
                "position": [f64::from(at % 991), 3.0], "source": name});
            self.settle(id, "observe", seen)?;
            self.lock().settle_silently(source);
        }
        let held = self.held(Kind::Source);
        if held.len() > HELD_MAX || self.random.below(2) == 0 {
            let Some(source) = self.random.some(held, 1).pop() else { return Ok(()) };
            let mut all = self.lock().frames_of(source.1);
            all.push(source);
            let name = token(source, 1);
            self.erase(&all, "memory_forget", json!({"scope": "episodic", "source": name}))?;
        }
        Ok(())
    }

    fn step_words(&mut self) -> Result<(), Dead> {
        let kind =
            [Kind::Note, Kind::Memo, Kind::State][usize::try_from(self.random.below(3)).unwrap()];
        let held = self.held(kind);
        let chance = self.random.below(10);
        if held.len() > HELD_MAX || (chance < 3 && !held.is_empty()) {
            return self.erase_words(kind, held);
        }
        if chance < 6 && kind != Kind::Memo && !held.is_empty() {
            return self.change_words(held);
        }
        let id = self.open(kind);
        let said = token(id, 1);
        if kind == Kind::Note {
            self.settle(id, "memory_save", json!({"text": note(&said)}))?;
        } else if kind == Kind::Memo {
            let message = format!("<sql>SELECT {said} FROM mugs</sql>");
            let prompt = format!("How many mugs has {said}?");
            self.settle(id, "memo_add", json!({"user_message": prompt, "message": message}))?;
        } else {
            let state = json!({"agent": token(id, 0), "memory": {"step": said}});
            self.settle(id, "state_set", state)?;
        }
        Ok(())
    }

    fn change_words(&mut self, held: Vec<SlotId>) -> Result<(), Dead> {
        let Some(id) = self.random.some(held, 1).pop() else { return Ok(()) };
        let (version, known) = {
            let mut ledger = self.lock();
            let next = ledger.slot(id).version().unwrap() + 1;
            if next > 90 {
                return Ok(());
            }
            ledger.send(id, Some(next));
            (next, ledger.slot(id).id.clone())
        };
        let said = token(id, version);
        if id.0 == Kind::Note {
            self.settle(id, "memory_update", json!({"id": known, "text": note(&said)}))?;
        } else {
            let state = json!({"agent": token(id, 0), "memory": {"step": said}});
            self.settle(id, "state_set", state)?;
        }
        Ok(())
    }

    fn erase_words(&mut self, kind: Kind, held: Vec<SlotId>) -> Result<(), Dead> {
        let most = if kind == Kind::Note { 3 } else { 1 };
        let some = self.random.some(held, most);
        let Some(first) = some.first().copied() else { return Ok(()) };
        let ids: Vec<String> =
            some.iter().filter_map(|id| self.lock().slot(*id).id.clone()).collect();
        if kind == Kind::Note {
            let tool = if self.random.below(2) == 0 { "memory_forget" } else { "memory_delete" };
            self.erase(&some, tool, json!({"ids": ids}))
        } else if kind == Kind::Memo {
            let id: u64 = ids.first().unwrap().parse().unwrap();
            self.erase(&[first], "memo_delete", json!({"id": id}))
        } else {
            let state = json!({"agent": token(first, 0), "memory": {}});
            self.erase(&[first], "state_set", state)
        }
    }

    fn open(&self, kind: Kind) -> SlotId {
        self.lock().open(kind)
    }

    fn held(&self, kind: Kind) -> Vec<SlotId> {
        self.lock().held(kind)
    }

    /// Makes a call that hands something in, and learns by which id the daemon knows it.
    fn settle(&mut self, id: SlotId, tool: &str, arguments: Value) -> Result<Value, Dead> {
        let reply = self.call(tool, arguments)?;
        let mut ledger = self.lock();
        let known = &reply["id"];
        let known =
            known.as_str().map(str::to_owned).or_else(|| known.as_u64().map(|it| it.to_string()));
        if let Some(known) = known {
            ledger.slot(id).record = known.parse().ok().filter(|_| tool == "observe");
            ledger.slot(id).id = Some(known);
        }
        ledger.settle(id);
        drop(ledger);
        Ok(reply)
    }

    /// Makes a call that forgets all of these.
    fn erase(&mut self, ids: &[SlotId], tool: &str, arguments: Value) -> Result<(), Dead> {
        {
            let mut ledger = self.lock();
            for id in ids {
                ledger.send(*id, None);
            }
        }
        self.call(tool, arguments)?;
        let mut ledger = self.lock();
        for id in ids {
            ledger.settle(*id);
        }
        Ok(())
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Dead> {
        let Value::Object(map) = arguments else { panic!("{arguments}") };
        match self.client.call(tool, map.clone()) {
            Ok(reply) if !reply.is_error => Ok(Value::Object(reply.structured)),
            Ok(reply) => panic!("{tool} {map:?}: {}", reply.text),
            Err(_dead) => Err(Dead),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }
}

fn now() -> u32 {
    NOW.fetch_add(1, Ordering::Relaxed)
}

/// What a caption's slot is stored with where no daemon does it.
pub(super) fn seen(ledger: &mut Ledger, id: SlotId) -> (FrameMeta, String) {
    let at = now();
    ledger.slot(id).at = at;
    let meta = FrameMeta {
        taken_at: Timestamp::from_seconds(f64::from(at)).unwrap(),
        pose: None,
        frame_id: "map".to_owned(),
        map_id: String::new(),
        source: "captions".to_owned(),
    };
    (meta, caption(id))
}

fn time(at: u32) -> String {
    Zone::from_name("UTC").unwrap().format(Timestamp::from_seconds(f64::from(at)).unwrap())
}

fn note(said: &str) -> String {
    format!("the code of the door of {said} hangs in the hall")
}

/// A photograph that bears a token, as a comment within the JPEG.
pub(super) fn image(id: SlotId) -> Vec<u8> {
    static IMAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let dir =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat/frames");
        let read = |n: u32| fs::read(dir.join(format!("{n:06}.jpg"))).unwrap();
        (1..=8).map(read).collect()
    });
    let plain = &IMAGES[usize::try_from(id.1).unwrap() % IMAGES.len()];
    let (start, rest) = plain.split_at(2);
    let comment = token(id, 1);
    let length = u16::try_from(comment.len() + 2).unwrap().to_be_bytes();
    [start, &[0xFF, 0xFE], &length, comment.as_bytes(), rest].concat()
}

/// The numbers of `SplitMix64` (Steele et al. 2014): the same numbers for a seed everywhere.
#[derive(Debug, Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From one to `most` of them.
    fn some<T>(&mut self, mut from: Vec<T>, most: u64) -> Vec<T> {
        let count = 1 + self.below(most);
        let mut some = Vec::new();
        for _ in 0..count {
            if from.is_empty() {
                break;
            }
            let at = self.below(from.len() as u64);
            some.push(from.swap_remove(usize::try_from(at).unwrap()));
        }
        some
    }
}
