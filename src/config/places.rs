//! Places on disk: where the state, the socket, models and prompts lie on this machine.

use std::path::{Path, PathBuf};

use super::{Config, ConfigError};
use crate::store::keyring::master_key::KeySource;

/// Directories of this machine, by the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// `$XDG_STATE_HOME`, or what stands for it.
    pub state_home: PathBuf,
    /// `$XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// This program's file.
    pub program: PathBuf,
    /// `$CREDENTIALS_DIRECTORY`, where systemd puts a service's credentials.
    pub credentials_dir: Option<PathBuf>,
    /// The Hugging Face hub's cache: `$HF_HUB_CACHE`, or what stands for it. It is read only.
    pub hub_cache: PathBuf,
    /// `$XDG_DATA_HOME` and `$XDG_DATA_DIRS`, or what stands for them: what is installed lies
    /// there, the user's own first.
    pub data_dirs: Vec<PathBuf>,
}

impl Config {
    pub fn state_dir(&self, places: &Places) -> PathBuf {
        let set = &self.settings.store.state_dir;
        if set.as_os_str().is_empty() { places.state_home.join("engram") } else { set.clone() }
    }

    /// Where the store's key is: in the store, a file, a credential, or with the kernel.
    pub fn key_source(&self, places: &Places) -> Result<KeySource, ConfigError> {
        let key = &self.settings.store.key;
        if let Some(name) = key.strip_prefix(KEPT).filter(|name| !name.is_empty()) {
            return Ok(KeySource::Kernel(name.to_owned()));
        }
        let Some(name) = key.strip_prefix(CREDENTIAL) else {
            let in_store = key.is_empty();
            return Ok(if in_store { KeySource::InStore } else { KeySource::File(key.into()) });
        };
        let is_name = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
        let dir = places.credentials_dir.as_ref().filter(|_| is_name);
        let accepted = "a file, keyring:NAME of a key that the kernel keeps, or credential:NAME in \
                        a service that systemd gives credentials ($CREDENTIALS_DIRECTORY)";
        dir.map(|dir| KeySource::File(dir.join(name)))
            .ok_or_else(|| self.refusal("store.key", accepted.to_owned()))
    }

    pub fn socket_path(&self, places: &Places) -> PathBuf {
        let set = &self.settings.socket.path;
        if !set.as_os_str().is_empty() {
            return set.clone();
        }
        let dir = places.runtime_dir.clone().unwrap_or_else(|| self.state_dir(places));
        dir.join("engram.sock")
    }

    /// Search path of models by name.
    pub fn models_dirs(&self, places: &Places) -> Vec<PathBuf> {
        shared_dirs(&self.settings.models.dir, "models", "models", places)
    }

    /// Where images lie that clients name by their paths.
    pub fn image_roots(&self) -> Result<Vec<PathBuf>, ConfigError> {
        let roots = self.settings.ingest.image_roots.split(':').filter(|it| !it.is_empty());
        let roots: Vec<PathBuf> = roots.map(PathBuf::from).collect();
        if roots.iter().all(|root| root.is_absolute()) {
            return Ok(roots);
        }
        let accepted = "absolute paths of directories, with colons between them".to_owned();
        Err(self.refusal("ingest.image_roots", accepted))
    }

    /// Search path of prompt templates by name.
    pub fn prompts_dirs(&self, places: &Places) -> Vec<PathBuf> {
        shared_dirs(&self.settings.prompts.dir, "prompts", "config/prompts", places)
    }
}

/// Before the name of a key that the kernel keeps.
const KEPT: &str = "keyring:";
/// Before the name of a credential.
const CREDENTIAL: &str = "credential:";

/// `set` alone where it is set, else where things of this kind are installed: beside the
/// program, in its share directory, in the data directories of the user and the machine, in the
/// source tree that it was built from.
fn shared_dirs(set: &Path, kind: &str, in_sources: &str, places: &Places) -> Vec<PathBuf> {
    if !set.as_os_str().is_empty() {
        return vec![set.to_owned()];
    }
    let beside = places.program.parent().unwrap_or_else(|| Path::new("/"));
    let mut dirs = vec![beside.join(kind), beside.join("../share/engram").join(kind)];
    dirs.extend(places.data_dirs.iter().map(|dir| dir.join("engram").join(kind)));
    dirs.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(in_sources));
    dirs
}
