//! `engram page`: the memory in a browser, served by a process of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use clap::Args;
use serde_json::{Map, Value};

use crate::base::time::Zone;
use crate::cli::client::{Client, ClientError, ClientOptions, ClientReply, ResourceContents};
use crate::cli::output::say;
use crate::page::{self, Call, Daemon, DaemonError, OccupancyGrid, Reply, Resource, Server};

/// Where to serve it, and to whom.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Address to serve it at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7741")]
    listen: SocketAddr,
    /// File with the token that browsers must give; needed beyond this machine's loopback
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Further name under which browsers reach it, such as robot.local (repeatable)
    #[arg(long = "name", value_name = "HOST")]
    names: Vec<String>,
    /// Occupancy grid to lie under a map: its description as ROS' `map_server` writes it (repeatable)
    #[arg(long = "grid", value_name = "MAP=FILE.yaml")]
    grids: Vec<String>,
}

/// Serves until it is stopped.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    zone: &str,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let Flags { listen, token_file, names, grids } = flags;
    let token = token_file.as_ref().map(|path| {
        let text = fs::read_to_string(path);
        text.with_context(|| format!("--token-file {}", path.display()))
            .map(|text| text.trim().to_owned())
    });
    let server = Server::bind(page::Options {
        listen: *listen,
        names: names.clone(),
        token: token.transpose()?,
        zone: Zone::from_name(zone)?,
        grids: grids.iter().map(|it| grid(it)).collect::<anyhow::Result<_>>()?,
    })?;
    say(&format!("http://{}/ shows the memory at {}", server.address(), socket.display()))?;
    server.run(Connections::new(socket, options))?;
    Ok(ExitCode::SUCCESS)
}

fn grid(flag: &str) -> anyhow::Result<OccupancyGrid> {
    let (map, path) = flag
        .split_once('=')
        .with_context(|| format!("--grid {flag:?} has no '='; accepted is MAP=FILE.yaml"))?;
    Ok(OccupancyGrid::read(map, Path::new(path))?)
}

/// Connections to the daemon that are free: a call takes one, or makes one where there is none.
#[derive(Debug)]
struct Connections {
    socket: PathBuf,
    options: ClientOptions,
    free: Mutex<Vec<Client>>,
}

/// Method of an export's steps.
const EXPORT: &str = "engram/export";
const BROWSE: &str = "engram/browse";
/// More are closed after their call.
const FREE_MAX: usize = 8;

impl Connections {
    fn new(socket: &Path, options: ClientOptions) -> Self {
        Self { socket: socket.to_owned(), options, free: Mutex::default() }
    }

    fn use_one<T>(
        &self,
        mut request: impl FnMut(&mut Client) -> Result<T, ClientError>,
    ) -> Result<T, DaemonError> {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = free().pop();
        let was_kept = kept.is_some();
        let connect = || Client::connect(&self.socket, self.options);
        let mut client = kept.map_or_else(connect, Ok).map_err(|error| told(&error))?;
        let mut outcome = request(&mut client);
        if was_kept && is_broken(&outcome) {
            // The daemon was started again since: those that were kept are of no use.
            free().clear();
            client = connect().map_err(|error| told(&error))?;
            outcome = request(&mut client);
        }
        if !is_broken(&outcome) {
            let mut free = free();
            if free.len() < FREE_MAX {
                free.push(client);
            }
        }
        outcome.map_err(|error| told(&error))
    }
}

fn is_broken<T>(outcome: &Result<T, ClientError>) -> bool {
    matches!(outcome, Err(error) if !matches!(error, ClientError::Refused { .. }))
}

fn told(error: &ClientError) -> DaemonError {
    if let ClientError::Refused { message, .. } = error {
        DaemonError::Refused(message.clone())
    } else {
        DaemonError::Unavailable(error.to_string())
    }
}

impl Daemon for Connections {
    fn calls(&self, calls: &[Call]) -> (Vec<Reply>, Option<DaemonError>) {
        let mut replies = Vec::new();
        let made = self.use_one(|client| {
            replies.clear();
            for Call { tool, arguments } in calls {
                let ClientReply { structured, text, is_error, .. } =
                    client.call(tool, arguments.clone())?;
                if is_error {
                    return Ok(Some(DaemonError::Refused(text)));
                }
                replies.push(Reply { structured, text });
            }
            Ok(None)
        });
        let error = made.unwrap_or_else(Some);
        (replies, error)
    }

    fn export(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError> {
        self.use_one(|client| client.transfer(EXPORT, arguments.clone()))
    }

    fn browse(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, DaemonError> {
        self.use_one(|client| client.transfer(BROWSE, arguments.clone()))
    }

    fn resource(&self, address: &str) -> Result<Option<Resource>, DaemonError> {
        let found = self.use_one(|client| client.read_resource(address))?;
        Ok(found.map(|ResourceContents { mime, bytes }| Resource { mime, bytes }))
    }
}
