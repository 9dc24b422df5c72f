//! The command line: flags, environment, exit codes, printing.
//!
//! The one place that reads the environment and writes to standard output.

mod ask;
mod audit;
mod backup;
mod bench;
pub mod call;
mod caption;
pub mod client;
mod client_library;
mod demo;
mod dev_memory;
mod doctor;
mod export;
mod frame;
mod import;
pub mod ingest;
pub mod interrupt;
mod log;
mod logging;
mod manual;
pub mod mcp;
mod metrics;
mod models;
mod output;
pub mod own_daemon;
mod page;
mod patient_client;
mod pose;
mod purge;
mod record_scope;
mod reindex;
mod ros2;
mod serve;
mod service;
mod status;
mod tools;
mod watch;
mod whole_file;

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::time::Duration;

use ::log::LevelFilter;
use clap::{Args, Parser, Subcommand};

use crate::cli::client::ClientOptions;
use crate::cli::models::hub_settings::HubSettings;
use crate::cli::output::say;
use crate::config::{Config, ConfigError, Overrides, Places};
use crate::daemon::DaemonError;
use crate::store::panics::hide_database_panics;

/// A robot's memory as one offline process.
#[derive(Debug, Parser)]
#[command(name = "engram", version, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// Configuration file (TOML); see config/default.toml for the keys
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Directory of everything that the memory keeps
    #[arg(long, value_name = "DIR", global = true)]
    state_dir: Option<PathBuf>,
    /// Unix socket of the daemon
    #[arg(long, value_name = "PATH", global = true)]
    socket: Option<PathBuf>,
    /// Any setting, such as captioner.model=/opt/models/blip (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    settings: Vec<String>,
    /// Longest time that a command waits for an answer of the daemon [default: 65]
    #[arg(long, value_name = "SECONDS", global = true, value_parser = seconds)]
    timeout: Option<Duration>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows a robot's three days in a flat being captioned, remembered and asked about
    Demo,
    /// Runs the daemon until SIGTERM or Ctrl-C
    Serve,
    /// Sends frames to the daemon: of a recording, of a directory, of a camera as they arrive
    Ingest(Box<ingest::Flags>),
    /// Puts goals, events and answers on a ROS 2 robot's topics, until Ctrl-C
    Ros2(ros2::Flags),
    /// Tells the daemon where the robot is, line by line from standard input
    Pose(pose::Flags),
    /// Captions images, or directories of them, without a daemon
    Caption(caption::Flags),
    /// Finds the object of a request: engram ask "bring me the mug I use the most"
    Ask(ask::Flags),
    /// Calls one tool: engram call health
    Call(call::Flags),
    /// Carries MCP between standard input and output and the daemon, for agent hosts
    Mcp(mcp::Flags),
    /// Prints what happens in the daemon, as it happens
    Watch {
        #[command(subcommand)]
        watch: watch::Watch,
    },
    /// Prints records, and others as they come
    Log(log::Flags),
    /// Saves the frame of a record: engram frame 42 -o mug.jpg
    Frame(frame::Flags),
    /// Prints the daemon's numbers for Prometheus, or writes them for the node exporter
    Metrics(metrics::Flags),
    /// Serves the memory as a page for a browser on this machine
    Page(page::Flags),
    /// Shows what the daemon holds and does
    Status(status::Flags),
    /// Says what is wrong with this installation or its store, and what helps; repairs
    Doctor(doctor::Flags),
    /// Backs the memory up while the daemon runs: whole, as of one moment, and read back
    Backup(backup::BackupFlags),
    /// Makes a store of a backup in a new state directory, or says what is in it
    Restore(backup::RestoreFlags),
    /// Writes records, notes, memos and states to a file for other programs, or another memory
    Export(export::Flags),
    /// Keeps what was exported as jsonl
    Import(import::Flags),
    /// Embeds every record again with the configured embedder (the daemon must be stopped)
    Reindex,
    /// Shows what a model's reply makes of an agent's memory and of a prompt
    DevMemory(dev_memory::Flags),
    /// Lists the tools that an agent is shown, also as OpenAI function definitions
    Tools(tools::Flags),
    /// Lists, fetches, checks and carries models by name
    Models {
        #[command(subcommand)]
        models: models::Models,
    },
    /// Forgets for good what is of a source, a time, a place or a topic; lists it first
    Purge(purge::Flags),
    /// Shows what was forgotten, and proves that it is gone
    Audit {
        #[command(subcommand)]
        audit: audit::AuditCommand,
    },
    /// Writes out a client for your own program: engram client python engram.py
    Client {
        #[command(subcommand)]
        library: client_library::ClientLibrary,
    },
    /// Prints the settings in force and where each came from
    Config,
    /// Prints completions for a shell: engram completions bash
    Completions(manual::CompletionFlags),
    /// Writes manual pages, as packages have them
    #[command(hide = true)]
    Manual(manual::ManualFlags),
    /// Measures this program on this machine
    Bench {
        #[command(subcommand)]
        bench: bench::Bench,
    },
    /// The captioner's own process; started by the daemon
    #[command(hide = true)]
    CaptionWorker(serve::WorkerFlags),
    /// A camera's command within its bounds; started for `engram ingest --command`
    #[command(hide = true)]
    SourceChild(serve::SourceChildFlags),
    /// A robot's listener; started for `engram ingest --ros2`
    #[command(hide = true)]
    Ros2Child(ros2::ChildFlags),
}

#[cfg(feature = "failpoints")]
#[expect(clippy::disallowed_methods, reason = "the crash test's, and no setting")]
fn arm_failpoints() {
    crate::base::failpoint::arm(&env::var("FAILPOINT_KILLS").unwrap_or_default());
}

/// Runs the command line to its end.
///
/// Exit codes: 0 done, 1 failed (the reason is on standard error), 2 the command line is wrong,
/// 78 the settings are.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    #[cfg(feature = "failpoints")]
    arm_failpoints();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nothing is left to do for a terminal that cannot be written to.
            drop(error.print());
            return ExitCode::from(code);
        }
    };
    match execute(cli) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            if is_of_settings(&error) { ExitCode::from(EX_CONFIG) } else { ExitCode::FAILURE }
        }
    }
}

/// Of sysexits.h. Services of systemd are not started anew after it: it would be the same again.
const EX_CONFIG: u8 = 78;

fn is_of_settings(error: &anyhow::Error) -> bool {
    error.is::<ConfigError>() || matches!(error.downcast_ref(), Some(DaemonError::Config(_)))
}

fn complain(error: &anyhow::Error) {
    output::complain(&format!("engram: {error:#}"));
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { common, command } = cli;
    // The worker reads no settings: the daemon tells it everything.
    if let Command::CaptionWorker(flags) = command {
        return serve::caption_worker(&flags);
    }
    if let Command::SourceChild(flags) = &command {
        return serve::source_child(flags);
    }
    if let Command::Ros2Child(flags) = &command {
        return ros2::child(flags);
    }
    if let Command::Client { library } = &command {
        return client_library::run(library);
    }
    if let Command::Completions(flags) = &command {
        return Ok(manual::completions(flags));
    }
    if let Command::Manual(flags) = &command {
        return manual::manual(flags);
    }
    if matches!(command, Command::Serve | Command::Reindex | Command::Bench { .. }) {
        set_up_process();
    }
    hide_database_panics();
    let config = common.load()?;
    // It has its progress bar on the same terminal.
    let has_bar = matches!(command, Command::Bench { .. } | Command::Models { .. });
    let least = if has_bar { LevelFilter::Warn } else { LevelFilter::Trace };
    logging::start(&config.settings.log, least);
    let places = places()?;
    let socket = config.socket_path(&places);
    let options = ClientOptions::within(common.timeout);
    match command {
        Command::Demo => demo::run(&common),
        Command::Serve => serve::run(&config, &places),
        Command::Ingest(flags) => {
            let flags = (*flags).with_zone(&config.settings.time.zone);
            ingest::run(&socket, options, &flags, &places.program)
        }
        Command::Ros2(flags) => ros2::run(&socket, options, &flags),
        Command::Pose(flags) => pose::run(&socket, options, &flags),
        Command::Caption(flags) => caption::run(&config, &places, &flags),
        Command::Ask(flags) => ask::run(&socket, options, &flags),
        Command::Call(flags) => call::run(&socket, options, &flags),
        Command::Mcp(flags) => {
            let patience = common.timeout.unwrap_or(mcp::PATIENCE);
            mcp::run(&socket, (&flags, patience), io::stdin(), io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Watch { watch } => watch::run(&socket, options, &watch),
        Command::Log(flags) => log::run(&socket, options, &flags),
        Command::Frame(flags) => frame::run(&socket, options, &flags),
        Command::Metrics(flags) => metrics::run(&socket, options, &flags),
        Command::Page(flags) => page::run(&socket, options, &config.settings.time.zone, &flags),
        Command::Status(flags) => status::run(&socket, options, &flags),
        Command::Doctor(flags) => doctor::run(&config, &places, (&socket, options), &flags),
        Command::Backup(flags) => backup::back_up(&config, &places, (&socket, options), &flags),
        Command::Restore(flags) => backup::restore(&config, &places, &flags),
        Command::Export(flags) => export::run(&socket, options, &flags),
        Command::Import(flags) => import::run(&socket, options, &flags),
        Command::Purge(flags) => purge::run(&socket, options, &flags),
        Command::Reindex => reindex::run(&config, &places),
        Command::Tools(flags) => tools::run(&config, &flags),
        Command::Models { models } => models::run(&models, &config, &places, &hub_settings()),
        Command::Audit { audit: audit::AuditCommand::Forget(flags) } => {
            audit::run(&config, &places, &flags)
        }
        Command::Config => print_config(&config, &places),
        Command::Bench { bench } => bench::run(&bench, &common),
        Command::DevMemory(flags) => dev_memory::run(&config, &flags),
        Command::CaptionWorker(_)
        | Command::SourceChild(_)
        | Command::Ros2Child(_)
        | Command::Client { .. }
        | Command::Completions(_)
        | Command::Manual(_) => Ok(ExitCode::SUCCESS),
    }
}

fn print_config(config: &Config, places: &Places) -> anyhow::Result<ExitCode> {
    say(&config.describe())?;
    for (name, path) in [
        ("state directory", config.state_dir(places)),
        ("socket", config.socket_path(places)),
        ("captioner", config.captioner_dir(places)?),
        ("embedder", config.embedder_dir(places)?),
        ("reader", config.reader_dir(places)?),
        ("reader of captions", config.caption_reader_dir(places)?),
    ] {
        say(&format!("# {name}: {}", path.display()))?;
    }
    if let Some(path) = config.caption_matcher_dir(places)? {
        say(&format!("# matcher of captions: {}", path.display()))?;
    }
    if let Some(path) = config.use_reader_dir(places)? {
        say(&format!("# reader of uses: {}", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What rayon, and through it candle, reads the number of threads from. Without it candle
/// counts the machine's cores before each product, from `/proc`: a third of the time of
/// embedding a query of ten words (.95 ms against .62).
const THREADS: (&str, &str) = ("RAYON_NUM_THREADS", "1");

/// glibc gives each thread that finds another allocating a heap of its own, up to eight a core, and
/// what is freed in one serves nobody else: the daemon's memory rose with the number of threads that
/// had ever been busy at once.
///
/// From how many bytes on an allocation is a mapping of its own, and how much free memory
/// glibc's allocator keeps at the end of its heap. Left alone it raises both to twice what
/// was once freed at a time, up to 64 MiB: what reading the models takes for a moment would
/// stay with the process. Half a MiB and one took 8 MiB less, but with a million records the
/// 99th percentile while captions came in rose to 20 ms, 45 ms and 21 times that without in
/// three of four runs; with wider bounds it was some 4 ms in eight of eight.
const ALLOCATOR: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "2"),
    ("MALLOC_MMAP_THRESHOLD_", "4194304"),
    ("MALLOC_TRIM_THRESHOLD_", "8388608"),
];

/// Starts this program again, as the same process, with the variables set that have to be
/// there from the beginning: a running program cannot set its own environment safely. What
/// somebody has set stays.
fn set_up_process() {
    if env::var_os(THREADS.0).is_some() {
        return;
    }
    if let Ok(program) = env::current_exe() {
        let mut again = process::Command::new(program);
        let unset = ALLOCATOR.into_iter().filter(|(name, _)| env::var_os(name).is_none());
        again.args(env::args_os().skip(1)).envs(unset).env(THREADS.0, THREADS.1);
        // Returns only if it failed; then everything works, a little slower.
        drop(again.exec());
    }
}

impl Common {
    fn load(&self) -> anyhow::Result<Config> {
        let mut flags = Vec::new();
        for (flag, key, path) in [
            ("--state-dir", "store.state_dir", &self.state_dir),
            ("--socket", "socket.path", &self.socket),
        ] {
            if let Some(path) = path {
                let path = std::path::absolute(path)?;
                flags.push((flag.to_owned(), key.to_owned(), path.to_string_lossy().into_owned()));
            }
        }
        for setting in &self.settings {
            let Some((key, value)) = setting.split_once('=') else {
                anyhow::bail!("--set {setting:?} has no '='; accepted is KEY=VALUE");
            };
            flags.push((format!("--set {key}"), key.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(Config::load(&Overrides {
            file: self.config.clone(),
            environment: environment(),
            flags,
        })?)
    }
}

/// A time above zero, in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let given = text.trim().parse().ok().and_then(|it| Duration::try_from_secs_f64(it).ok());
    given.filter(|it| !it.is_zero()).ok_or_else(|| "accepted is a number above 0".to_owned())
}

/// The variables that are text; ours are.
fn environment() -> Vec<(String, String)> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What the environment says of the Hugging Face hub.
fn hub_settings() -> HubSettings {
    HubSettings::from_environment(&environment())
}

fn places() -> anyhow::Result<Places> {
    let directory = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = directory("HOME");
    let state_home =
        directory("XDG_STATE_HOME").or_else(|| home.as_ref().map(|it| it.join(".local/state")));
    let data_home =
        directory("XDG_DATA_HOME").or_else(|| home.as_ref().map(|it| it.join(".local/share")));
    let machine = env::var_os("XDG_DATA_DIRS").filter(|it| !it.is_empty());
    let machine = machine.unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let data_dirs = data_home.into_iter().chain(env::split_paths(&machine));
    Ok(Places {
        data_dirs: data_dirs.filter(|dir| dir.is_absolute()).collect(),
        state_home: state_home.unwrap_or_else(|| PathBuf::from("/var/lib")),
        runtime_dir: directory("XDG_RUNTIME_DIR"),
        credentials_dir: directory("CREDENTIALS_DIRECTORY"),
        program: env::current_exe()?,
        hub_cache: hub_settings().cache,
    })
}
