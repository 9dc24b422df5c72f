//! What a daemon acknowledged, and whether a store holds exactly that.
//!
//! Everything that is handed in bears a token of its own, of a kind, a slot and a version.
//! A slot says which versions it may hold: one, where the last call about it was answered;
//! two, while a call is under way.

use std::collections::{BTreeMap, BTreeSet};

use engram::base::FrameTicket;
use engram::base::frame::FrameMeta;
use engram::store::Store;

/// What a slot is of; the letter stands in its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A ready caption.
    Caption,
    /// A caption with its image.
    Captioned,
    /// An image that is captioned by the daemon.
    Frame,
    /// The name of a frame's source.
    Source,
    Note,
    Memo,
    State,
    Session,
}

impl Kind {
    const ALL: [(Self, char); 8] = [
        (Self::Caption, 'c'),
        (Self::Captioned, 'i'),
        (Self::Frame, 'f'),
        (Self::Source, 's'),
        (Self::Note, 'n'),
        (Self::Memo, 'm'),
        (Self::State, 't'),
        (Self::Session, 'y'),
    ];

    fn letter(self) -> char {
        Self::ALL.iter().find(|(kind, _)| *kind == self).unwrap().1
    }

    /// Whether its name bears a token, too: that of version 0.
    fn is_named(self) -> bool {
        matches!(self, Self::State | Self::Session)
    }
}

/// Every token begins so; no other text does.
pub(super) const MARK: &str = "zqvxkw";
/// Records that clients forget between two kills, at most.
const FORGOTTEN_IN_A_LIFE: usize = 60;
const TOKEN_BYTES: usize = MARK.len() + 1 + 5 + 2;

pub(super) type SlotId = (Kind, u32);

pub(super) fn token((kind, slot): SlotId, version: u8) -> String {
    format!("{MARK}{}{slot:05}{version:02}", kind.letter())
}

/// The first token in a text.
fn read_token(text: &str) -> Option<(SlotId, u8)> {
    let at = text.find(MARK)?;
    let body = text.get(at + MARK.len()..at + TOKEN_BYTES)?;
    let letter = body.chars().next()?;
    let kind = Kind::ALL.iter().find(|(_, it)| *it == letter)?.0;
    Some(((kind, body.get(1..6)?.parse().ok()?), body.get(6..)?.parse().ok()?))
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    /// Versions that it may hold; `None`: nothing.
    allowed: Vec<Option<u8>>,
    /// Every version that the daemon said, or showed, that it held.
    answered: BTreeSet<u8>,
    /// By what the daemon knows it.
    pub(super) id: Option<String>,
    pub(super) record: Option<u64>,
    /// When it was seen, in seconds.
    pub(super) at: u32,
    /// Of a frame.
    pub(super) source: Option<u32>,
    /// Forgetting it was cut short after its image went.
    has_lost_image: bool,
}

impl Slot {
    fn hold(&mut self, version: Option<u8>, kind: Kind) {
        self.allowed = vec![version];
        self.answered.extend(version);
        if version.is_some() && kind.is_named() {
            self.answered.insert(0);
        }
    }

    /// The version that it holds, where that is certain.
    pub(super) fn version(&self) -> Option<u8> {
        if let [Some(version)] = self.allowed.as_slice() { Some(*version) } else { None }
    }
}

/// What was found, in numbers.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Found {
    pub(super) entries: usize,
    pub(super) images: usize,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    slots: BTreeMap<SlotId, Slot>,
    next: u32,
    /// Calls that were answered.
    pub(super) writes: u64,
    pub(super) erasures: u64,
    dropped: BTreeSet<SlotId>,
}

impl Ledger {
    /// A new slot of a kind, which is about to hold version 1.
    pub(super) fn open(&mut self, kind: Kind) -> SlotId {
        self.next += 1;
        let id = (kind, self.next);
        let slot = self.slots.entry(id).or_default();
        slot.allowed = vec![None];
        self.send(id, Some(1));
        id
    }

    /// A call is under way that makes a slot hold this.
    pub(super) fn send(&mut self, id: SlotId, version: Option<u8>) {
        let slot = self.slots.get_mut(&id).unwrap();
        slot.allowed.push(version);
    }

    /// The call was answered.
    pub(super) fn settle(&mut self, id: SlotId) {
        let slot = self.slots.get_mut(&id).unwrap();
        let last = slot.allowed.pop().unwrap();
        slot.hold(last, id.0);
        if last.is_some() {
            self.writes += 1;
        } else {
            self.erasures += 1;
        }
    }

    /// As [`Ledger::settle`], of what is no call of its own.
    pub(super) fn settle_silently(&mut self, id: SlotId) {
        self.slot(id).hold(Some(1), id.0);
    }

    pub(super) fn slot(&mut self, id: SlotId) -> &mut Slot {
        self.slots.get_mut(&id).unwrap()
    }

    /// Slots of a kind of which it is certain that they hold something.
    pub(super) fn held(&self, kind: Kind) -> Vec<SlotId> {
        let of_kind = self.slots.range((kind, 0)..=(kind, u32::MAX));
        of_kind.filter(|(_, it)| it.version().is_some()).map(|(id, _)| *id).collect()
    }

    pub(super) fn frames_of(&self, source: u32) -> Vec<SlotId> {
        let frames = self.slots.range((Kind::Frame, 0)..=(Kind::Frame, u32::MAX));
        frames.filter(|(_, it)| it.source == Some(source)).map(|(id, _)| *id).collect()
    }

    /// Tokens that nothing may hold any more. What was never answered is not among them: nobody
    /// could forget it, and sled's log may have bytes of it.
    pub(super) fn gone(&self) -> Vec<String> {
        let mut gone = Vec::new();
        for (id, slot) in &self.slots {
            let is_held = |version: &u8| {
                let is_name = *version == 0 && id.0.is_named();
                slot.allowed.iter().any(|it| *it == Some(*version) || (is_name && it.is_some()))
            };
            gone.extend(slot.answered.iter().filter(|it| !is_held(it)).map(|it| token(*id, *it)));
        }
        gone
    }

    /// Holds a store against what was acknowledged; from now on what was uncertain is as found.
    ///
    /// Beyond `records_max` those that were seen first may be gone, also of frames that were
    /// captioned since.
    pub(super) fn audit(
        &mut self,
        store: &Store,
        records_max: u64,
        image_of: impl Fn(SlotId) -> Vec<u8>,
    ) -> Result<Found, String> {
        let frames = self.slots.iter().filter(|(id, _)| id.0 == Kind::Frame);
        let frames = frames.map(|(id, it)| (it.at, *id)).collect();
        let mut holdings = Holdings { frames, ..Holdings::default() };
        holdings.read(store)?;
        let states =
            self.slots.keys().filter(|id| id.0 == Kind::State).copied().collect::<Vec<_>>();
        let states = holdings.read_states(store, &states)?;
        let all = store.agent_state_count().map_err(|error| error.to_string())?;
        if states != all {
            return Err(format!("{all} agents have a state, {states} were sent"));
        }
        let seen_at = |id: &SlotId| self.slots.get(id).map(|it| it.at);
        let mut present: Vec<u32> =
            holdings.records.iter().filter_map(|it| seen_at(&it.0)).collect();
        present.sort_unstable();
        // So many less may be there as were forgotten since the oldest went.
        let kept = usize::try_from(records_max).unwrap() - FORGOTTEN_IN_A_LIFE;
        let oldest = present.len().checked_sub(kept).map_or(0, |at| present[at]);
        for (id, record) in &holdings.records {
            if let Some(slot) = self.slots.get_mut(id) {
                slot.record = Some(*record);
                slot.id = Some(record.to_string());
            }
        }
        for (id, known) in &holdings.ids {
            if let Some(slot) = self.slots.get_mut(id) {
                slot.id = Some(known.clone());
            }
        }
        let sources: BTreeSet<u32> =
            holdings.held.keys().filter_map(|id| self.slots.get(id)?.source).collect();
        for (id, version) in &holdings.held {
            let Some(slot) = self.slots.get(id) else {
                return Err(format!("{id:?} was never sent and is there"));
            };
            if !slot.allowed.contains(&Some(*version)) {
                let allowed = &slot.allowed;
                return Err(format!("{id:?} holds version {version}, allowed are {allowed:?}"));
            }
        }
        for (id, slot) in &mut self.slots {
            let found = if id.0 == Kind::Source {
                sources.contains(&id.1).then_some(1)
            } else {
                holdings.held.get(id).copied()
            };
            let is_record = matches!(id.0, Kind::Caption | Kind::Captioned | Kind::Frame);
            let is_dropped = is_record && slot.at < oldest;
            if found.is_none() && !slot.allowed.contains(&None) {
                if !is_dropped && id.0 != Kind::Source {
                    let (record, allowed) = (slot.record, &slot.allowed);
                    return Err(format!(
                        "{id:?} is lost: record {record:?}, seen at {}, those from {oldest} on are kept, \
                         allowed are {allowed:?}",
                        slot.at
                    ));
                }
                self.dropped.insert(*id);
            }
            if let Some(image) = holdings.images.get(id) {
                slot.has_lost_image |= image.is_none() && slot.allowed.contains(&None);
                match image {
                    Some(image) if *image != image_of(*id) => {
                        return Err(format!("{id:?} has another image"));
                    }
                    // Images go first.
                    None if !slot.has_lost_image => {
                        return Err(format!("{id:?} has lost its image"));
                    }
                    _ => {}
                }
            }
            slot.hold(found, id.0);
        }
        Ok(Found { entries: holdings.held.len(), images: holdings.images.len() })
    }

    /// Records that retention dropped, as far as that was seen.
    pub(super) fn dropped(&self) -> usize {
        self.dropped.len()
    }
}

/// What a store holds, by tokens.
#[derive(Debug, Default)]
struct Holdings {
    held: BTreeMap<SlotId, u8>,
    records: Vec<(SlotId, u64)>,
    images: BTreeMap<SlotId, Option<Vec<u8>>>,
    ids: Vec<(SlotId, String)>,
    /// The frames that were sent, by their seconds.
    frames: BTreeMap<u32, SlotId>,
}

impl Holdings {
    fn read(&mut self, store: &Store) -> Result<(), String> {
        for record in store.scan() {
            let (record, _vector) = record.map_err(|error| error.to_string())?;
            let id = match read_token(&record.caption) {
                Some((id, version)) => {
                    let whole = caption(id);
                    if record.caption != whole {
                        return Err(format!("{:?} is there, {whole:?} was sent", record.caption));
                    }
                    self.hold(id, version)?;
                    if id.0 == Kind::Captioned {
                        self.look_at(store, id, record.image)?;
                    }
                    id
                }
                None => self.hold_frame(store, &record.meta, record.image)?,
            };
            self.records.push((id, record.id.0));
        }
        let mut after = None;
        while let Some(frame) = store.next_pending(after).map_err(|error| error.to_string())? {
            self.hold_frame(store, &frame.meta, Some(frame.ticket))?;
            after = Some(frame.ticket);
        }
        for frame in store.set_asides(None, usize::MAX).map_err(|error| error.to_string())? {
            self.hold_frame(store, &frame.meta, Some(frame.ticket))?;
        }
        for note in store.notes() {
            let note = note.map_err(|error| error.to_string())?.0;
            let id = self.hold_text(&note.text)?;
            self.ids.push((id, note.id.to_string()));
        }
        for memo in store.memos() {
            let memo = memo.map_err(|error| error.to_string())?.0;
            let id = self.hold_text(&memo.content)?;
            self.ids.push((id, memo.id.to_string()));
            if read_token(&memo.content) != read_token(&memo.user_message) {
                return Err(format!("half of a memo: {memo:?}"));
            }
        }
        for session in store.sessions().map_err(|error| error.to_string())? {
            let Some((id, 0)) = read_token(&session.name) else { continue };
            let content = read_token(&session.content);
            if content.is_none_or(|(it, _)| it != id) {
                return Err(format!("half of a session: {session:?}"));
            }
            self.hold(id, content.unwrap().1)?;
        }
        Ok(())
    }

    /// The states of these agents: the store has no list of them.
    pub(super) fn read_states(&mut self, store: &Store, ids: &[SlotId]) -> Result<usize, String> {
        let mut found = 0;
        for id in ids {
            let state = store.agent_state(&token(*id, 0)).map_err(|error| error.to_string())?;
            let Some(state) = state else { continue };
            found += 1;
            match read_token(&state.memory) {
                Some((held, version)) if held == *id => self.hold(*id, version)?,
                _ => return Err(format!("{id:?} holds another's state: {state:?}")),
            }
        }
        Ok(found)
    }

    fn hold_text(&mut self, text: &str) -> Result<SlotId, String> {
        let (id, version) = read_token(text).ok_or_else(|| format!("nobody sent {text:?}"))?;
        self.hold(id, version)?;
        Ok(id)
    }

    fn hold(&mut self, id: SlotId, version: u8) -> Result<(), String> {
        match self.held.insert(id, version) {
            None => Ok(()),
            Some(other) => Err(format!("{id:?} is there twice, as version {other} and {version}")),
        }
    }

    /// A frame, whatever became of it.
    fn hold_frame(
        &mut self,
        store: &Store,
        meta: &FrameMeta,
        image: Option<FrameTicket>,
    ) -> Result<SlotId, String> {
        let seconds = u32::try_from(meta.taken_at.micros() / 1_000_000).unwrap_or(u32::MAX);
        let id = self.frames.get(&seconds).copied();
        let id = id.ok_or_else(|| format!("nobody sent a frame of {meta:?}"))?;
        self.hold(id, 1)?;
        self.look_at(store, id, image)?;
        Ok(id)
    }

    /// Reads an image, which says of what it is.
    fn look_at(
        &mut self,
        store: &Store,
        id: SlotId,
        ticket: Option<FrameTicket>,
    ) -> Result<(), String> {
        let image = match ticket {
            Some(ticket) => store.image(ticket).map_err(|error| error.to_string())?,
            None => None,
        };
        if image.as_deref().is_some_and(|image| token_of_image(image) != Some(id)) {
            return Err(format!("{id:?} has the image of another"));
        }
        self.images.insert(id, image);
        Ok(())
    }
}

fn token_of_image(image: &[u8]) -> Option<SlotId> {
    let at = image.windows(MARK.len()).position(|it| it == MARK.as_bytes())?;
    let text = std::str::from_utf8(image.get(at..at + TOKEN_BYTES)?).ok()?;
    read_token(text).map(|(id, _)| id)
}

/// The caption of a slot.
pub(super) fn caption(id: SlotId) -> String {
    format!("a red mug beside the {} on a wooden table", token(id, 1))
}
