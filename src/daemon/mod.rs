//! Start and stop order of the daemon's parts.
//!
//! Start: models loaded, store opened and checked → corpus filled → captioning resumed →
//! socket. A client can connect only when all parts run. Independent parts start in parallel: a
//! robot's memory is needed as soon as it is switched on.

mod cameras;
pub(crate) mod erasure_scan;
pub mod private;
mod receipts;

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use log::{info, warn};

use crate::agent::Agent;
use crate::audit::{self, Audit};
use crate::base::stop::Stop;
use crate::base::time::{Clock, SystemClock};
use crate::capture::{gate, sharpness};
use crate::config::{Config, ConfigError, DropSettings, Places};
use crate::daemon::cameras::CameraThreads;
use crate::daemon::erasure_scan::ErasureScan;
use crate::daemon::private::{NotPrivate, keep_private};
use crate::daemon::receipts::RetentionReceipts;
use crate::ingest::{self, Ingest, IngestParts};
use crate::memory::embedding_space;
use crate::memory::episodic::captions::CaptionReader;
use crate::memory::episodic::requests::Requests;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::memory::memos::{Memos, MemosError};
use crate::memory::notes::{Notes, NotesError};
use crate::memory::state::AgentStates;
use crate::model::calibration::{Calibration, Knot};
use crate::model::compute::ComputeDevice;
use crate::model::embedder::EmbedderHandle;
use crate::model::served::ServedCaptioner;
use crate::model::worker::child::ChildOptions;
use crate::model::worker::process::WorkerCommand;
use crate::model::worker::{self, Start, WorkerCaptioner};
use crate::model::{
    CaptionTagger, CaptionTask, Captioner, Detail, ModelError, bert, calibration_pairs,
    caption_matcher, caption_reader, request_reader, use_reader,
};
use crate::retrieval::goal_board::GoalBoard;
use crate::retrieval::sessions::Sessions;
use crate::search::compaction;
use crate::server::accounts::Accounts;
use crate::server::{self, Server, ServerError};
use crate::store::salvage;
use crate::store::{self, CheckedStore, Store, StoreError};
use crate::tools::context::{self, Context, Domains};
use crate::tools::dispatch::Tools;

/// How long a start waits to hear that the captioner is not usable.
const CAPTIONER_PATIENCE: Duration = Duration::from_secs(2);

/// Errors of the start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    State(#[from] NotPrivate),
    #[error("the audit log cannot be opened: {0}")]
    Audit(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the memory cannot be filled from the store")]
    Memory(#[from] MemoryError),
    #[error("the notes cannot be read from the store")]
    Notes(#[from] NotesError),
    #[error("the memos cannot be read from the store")]
    Memos(#[from] MemosError),
    #[error("a thread of the daemon cannot be started: {0}")]
    Thread(io::Error),
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// Running daemon.
#[derive(Debug)]
pub struct Daemon {
    server: Server,
    ingest: Arc<Ingest>,
    store: Store,
    goals: Arc<GoalBoard>,
    audit: Arc<Audit>,
    cameras: CameraThreads,
    scan: Option<ErasureScan>,
    verifying: (Stop, JoinHandle<()>),
}

impl Daemon {
    /// Starts everything; clients can connect when it returns.
    pub fn start(config: &Config, places: &Places) -> Result<Self, DaemonError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let started = clock.tick();
        let stop = Stop::default();
        keep_private(&config.state_dir(places))?;
        let server_options = server_options(config, places)?;
        let audit_options = audit_options(config, places);
        let unfinished = audit::receipts::unfinished(&audit_options.dir);
        let unfinished = unfinished.map_err(DaemonError::Audit)?;
        let audit = Audit::open(audit_options, Arc::clone(&clock));
        let audit = Arc::new(audit.map_err(DaemonError::Audit)?);
        // First, so that its worker loads the model while the store is opened.
        let mut captioner = open_captioner(config, places, &clock, &stop)?;
        let embedder_dir = config.embedder_dir(places)?;
        let reader_dir = config.reader_dir(places)?;
        let captions = CaptionReader::new(open_caption_reader(config, places)?);
        let matcher = config.caption_matcher_dir(places)?;
        let matcher = matcher.map(|it| caption_matcher::load(&it)).transpose()?;
        let uses = config.use_reader_dir(places)?;
        let uses = uses.map(|it| use_reader::load(&it)).transpose()?;
        let load_embedder = || bert::load(&embedder_dir);
        let options = store_options(config, places)?;
        let salvages = config.salvages();
        let find_store = || match CheckedStore::open(options.clone()) {
            Err(error @ StoreError::NotWhole { .. }) if salvages => {
                warn!(error:%; "what is whole of the store is saved");
                salvage::salvage_in_place(&options)?;
                CheckedStore::open(options.clone())
            }
            opened => opened,
        };
        let (embedder, found) = beside("embedder-load", load_embedder, find_store)?;
        let embedder = EmbedderHandle::new(embedder?);
        let store = found?.into_store(&embedding_space(&embedder))?;
        let embedder = calibrate(embedder, &store)?;
        let memos = Memos::open(store.clone(), embedder.clone())?;
        let notes = Notes::open(store.clone(), embedder.clone(), config.zone()?)?;
        let idle_max = Duration::from_secs(config.settings.sessions.idle_hours * 60 * 60);
        let sessions = Arc::new(Sessions::open(store.clone(), Arc::clone(&clock), idle_max)?);
        receipts::complete(&unfinished, &audit, &store, &sessions)?;
        let scan_after = Duration::from_secs(config.settings.audit.scan_after_seconds);
        let start_scan = || ErasureScan::start(&audit, &store, options, scan_after, &clock);
        let scan = (!scan_after.is_zero()).then(start_scan).transpose()?;
        let (audit_of, sessions_of) = (Arc::clone(&audit), Arc::clone(&sessions));
        let witness = RetentionReceipts { audit: audit_of, sessions: sessions_of };
        let open_episodic = || {
            let retention = (retention_options(config), Arc::new(witness) as _);
            let read = (embedder, captions);
            Episodic::open_keeping(store.clone(), read, retention, Arc::clone(&clock))
        };
        let load_reader = || request_reader::load(&reader_dir);
        let (reader, episodic) = beside("reader-load", load_reader, open_episodic)?;
        let episodic = Arc::new(episodic?.with_matcher(matcher));
        let requests = Requests::new(reader?).with_uses(uses);
        captioner.check(CAPTIONER_PATIENCE)?;
        let options = context::Options {
            zone: config.zone()?,
            text_max_chars: config.settings.recall.text_max_chars,
            forget_share_max: config.settings.memory.forget_share_max,
            goal_probability_min: config.settings.retrieval.probability_min,
            robot_names: config.robot_names(),
            prompts_dirs: config.prompts_dirs(places),
            image_roots: config.image_roots()?,
            image_limits: config.image_limits(),
        };
        let parts = IngestParts {
            store: store.clone(),
            episodic: Arc::clone(&episodic),
            captioner,
            clock: Arc::clone(&clock),
            stop: stop.clone(),
        };
        let ingest = Ingest::start(parts, ingest_options(config)?).map_err(DaemonError::Thread)?;
        let ingest = Arc::new(ingest);
        let state = AgentStates::new(store.clone());
        let kept_audit = Arc::clone(&audit);
        let domains = Domains { episodic, requests, memos, notes, state, sessions, audit };
        let context = Context::new(domains, Arc::clone(&ingest), Arc::clone(&clock), options);
        let goals = Arc::clone(context.goal_board());
        let tools = Tools::new(context);
        let agent = Agent::new(tools).with_model(config.model()?);
        let tools = Arc::new(agent.listing(&config.toolsets()?));
        let server = Server::start(server_options, tools, Arc::clone(&clock))?;
        let cameras = CameraThreads::start(config.cameras()?, places, &ingest, &clock);
        let cameras = cameras.map_err(DaemonError::Thread)?;
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let records = store.record_count();
        info!(socket:% = server.socket().display(), records, millis; "ready");
        let verifying = verify_beside(store.clone())?;
        Ok(Self { server, ingest, store, goals, audit: kept_audit, cameras, scan, verifying })
    }

    /// Stops everything, clients first. What was acknowledged is on disk before
    /// this; frames that wait for their caption wait for the next start.
    pub fn stop(self) -> Result<(), DaemonError> {
        let Self { server, ingest, store, goals, audit, cameras, scan, verifying } = self;
        let (stop, thread) = verifying;
        stop.ask();
        if thread.join().is_err() {
            warn!("the thread that verifies the store ended in a panic");
        }
        // Clients that wait for a goal would delay the server's end.
        goals.close();
        server.stop();
        cameras.stop();
        ingest.stop();
        if let Some(scan) = scan {
            scan.stop();
        }
        audit.flush();
        store.flush()?;
        info!("stopped");
        Ok(())
    }
}

/// Between a few hundred entries that are verified: nobody is to notice.
const VERIFY_PAUSE: Duration = Duration::from_millis(2);

/// Counts the records in a thread, until the stop at the latest.
fn verify_beside(store: Store) -> Result<(Stop, JoinHandle<()>), DaemonError> {
    let stop = Stop::default();
    let asked = stop.clone();
    let verify = move || {
        if let Err(error) = store.verify(|| asked.sleep(VERIFY_PAUSE)) {
            warn!(error:%; "the store could not be verified");
        }
    };
    let thread = Builder::new().name("store-verify".to_owned()).spawn(verify);
    Ok((stop, thread.map_err(DaemonError::Thread)?))
}

/// Runs `own` while a thread of that name runs `others`.
fn beside<T: Send, U>(
    name: &str,
    others: impl FnOnce() -> T + Send,
    own: impl FnOnce() -> U,
) -> Result<(T, U), DaemonError> {
    thread::scope(|scope| {
        let helper = Builder::new().name(name.to_owned()).spawn_scoped(scope, others);
        let helper = helper.map_err(DaemonError::Thread)?;
        let own = own();
        let others = helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((others, own))
    })
}

/// Loads the configured embedder.
pub fn open_embedder(config: &Config, places: &Places) -> Result<EmbedderHandle, DaemonError> {
    Ok(EmbedderHandle::new(bert::load(&config.embedder_dir(places)?)?))
}

/// The configured reader of captions.
pub fn open_caption_reader(
    config: &Config,
    places: &Places,
) -> Result<Box<dyn CaptionTagger>, DaemonError> {
    Ok(caption_reader::load(&config.caption_reader_dir(places)?)?)
}

/// Calibrated embedder: with the calibration kept in the store, else fitted now, once per
/// embedder.
fn calibrate(embedder: EmbedderHandle, store: &Store) -> Result<EmbedderHandle, DaemonError> {
    let fitted_on = calibration_pairs::checksum();
    if let Some(knots) = store.calibration(fitted_on)? {
        let knots = knots.into_iter().map(|(own, reference)| Knot { own, reference });
        return Ok(embedder.with_calibration(Calibration::through(knots)));
    }
    let calibration = calibration_pairs::fit(&embedder)?;
    let knots = calibration.knots().iter().map(|knot| (knot.own, knot.reference)).collect();
    store.put_calibration(fitted_on, knots)?;
    Ok(embedder.with_calibration(calibration))
}

/// The configured captioner: a worker of its own, or the operator's server. Call it from a
/// thread that lasts.
pub fn open_captioner(
    config: &Config,
    places: &Places,
    clock: &Arc<dyn Clock>,
    stop: &Stop,
) -> Result<Box<dyn Captioner>, DaemonError> {
    if let Some(served) = config.served_captioner()? {
        let captioner = ServedCaptioner::new(served, Arc::clone(clock), stop.clone())?;
        return Ok(Box::new(captioner));
    }
    let options = worker_options(config, places, config.captioner_dir(places)?);
    Ok(Box::new(WorkerCaptioner::new(options, Arc::clone(clock), stop.clone())?))
}

pub fn store_options(config: &Config, places: &Places) -> Result<store::Options, ConfigError> {
    let settings = &config.settings;
    Ok(store::Options {
        dir: config.state_dir(places),
        key: config.key_source(places)?,
        sled_cache_bytes: settings.store.cache_mb << 20,
        images_bytes_max: settings.store.images_max_mb << 20,
        spool_frames_max: settings.ingest.spool_max,
    })
}

/// Retention of records; a setting of 0 keeps everything.
fn retention_options(config: &Config) -> compaction::Options {
    let settings = &config.settings.memory;
    let (days, records) = (settings.retention_days, settings.records_max);
    compaction::Options {
        age_max: (days > 0).then(|| Duration::from_secs(days * 24 * 60 * 60)),
        records_max: (records > 0).then_some(records),
        ..compaction::Options::default()
    }
}

/// Options of the supervised captioner in `model`.
pub fn worker_options(config: &Config, places: &Places, model: PathBuf) -> worker::Options {
    let settings = &config.settings.captioner;
    let memory_limit = settings.memory_limit_mb << 20;
    let detailed = settings.task == "detailed_caption";
    let detail = if detailed { Detail::Sentences } else { Detail::Sentence };
    let child = ChildOptions {
        model,
        limits: config.image_limits(),
        task: CaptionTask { detail, detects: settings.detect },
        // Another word is refused with the settings.
        device: ComputeDevice::of_name(&settings.device).unwrap_or_default(),
        scene_text: (!settings.scene_text.as_os_str().is_empty())
            .then(|| settings.scene_text.clone()),
        memory_bytes_max: (memory_limit > 0).then_some(memory_limit),
    };
    worker::Options {
        command: WorkerCommand::engram(&places.program, &child),
        model: child.model,
        task: child.task,
        scene_text: child.scene_text,
        memory_bytes_max: child.memory_bytes_max,
        start_deadline: Duration::from_secs(settings.start_deadline_seconds),
        caption_deadline: Duration::from_secs(settings.deadline_seconds),
        start: Start::AtOnce,
    }
}

fn ingest_options(config: &Config) -> Result<ingest::Options, ConfigError> {
    let settings = &config.settings.ingest;
    let gate = &settings.gate;
    #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
    let change_max = gate.max_change as f32;
    let DropSettings { dark_below, blurred_below, max_per_second } = settings.drop;
    #[expect(clippy::cast_possible_truncation, reason = "numbers up to 255")]
    let (dark_below, blurred_below) = (dark_below as f32, blurred_below as f32);
    let interval_min = if max_per_second > 0.0 { 1.0 / max_per_second } else { 0.0 };
    Ok(ingest::Options {
        limits: config.image_limits(),
        ahead_max: Duration::from_secs(settings.max_ahead_seconds),
        silent_after: Duration::from_secs(settings.silent_seconds),
        pose_age_max: Duration::from_secs_f64(settings.pose_max_age_seconds),
        gate: gate::Options {
            pause_max: Duration::from_secs_f64(gate.max_pause_seconds),
            span_max: Duration::from_secs_f64(gate.max_span_seconds),
            distance_metres_max: gate.max_distance_metres,
            turn_radians_max: gate.max_turn_degrees.to_radians(),
            change_max,
        },
        flaws: sharpness::Options { dark_below, blurred_below },
        interval_min: Duration::try_from_secs_f64(interval_min).unwrap_or(Duration::MAX),
        zone: config.zone()?,
        ..ingest::Options::default()
    })
}

pub fn audit_options(config: &Config, places: &Places) -> audit::Options {
    let audit = &config.settings.audit;
    // What was erased with the records leaves no trace that outlives them.
    let days = [audit.retention_days, config.settings.memory.retention_days];
    let days = days.into_iter().filter(|days| *days > 0).min();
    audit::Options {
        bytes_max: audit.max_mb << 20,
        age_max: days.map(|days| Duration::from_secs(days * 24 * 60 * 60)),
        ..audit::Options::at(&config.state_dir(places))
    }
}

fn server_options(config: &Config, places: &Places) -> Result<server::Options, ConfigError> {
    let settings = &config.settings.socket;
    let accounts = Accounts::of_machine();
    let options = server::Options {
        mode: config.socket_mode()?,
        group: config.socket_group(&accounts)?,
        access: config.access(accounts)?,
        clients_max: settings.max_clients,
        line_bytes_max: settings.max_line_mb << 20,
        bytes_in_flight_max: settings.max_in_flight_mb << 20,
        call_deadline: config.settings.call_deadline(),
        ..server::Options::at(&config.socket_path(places))
    };
    let is_shared = options.mode != 0o600 || options.group.is_some();
    if is_shared && options.socket.starts_with(config.state_dir(places)) {
        let accepted = "a path outside the state directory, where socket.mode or socket.group \
            lets others connect: nobody else gets into that directory";
        return Err(config.refusal("socket.path", accepted.to_owned()));
    }
    Ok(options)
}
