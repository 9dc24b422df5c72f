//! Settings: defaults < file < environment < flags, each value with its origin.
//!
//! `config/default.toml` is the one list of keys, defaults and their meaning. Reads the file it
//! is given, and neither the environment nor the command line: those come in as plain text from
//! `cli`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::{Table, Value};

use crate::agent::model;
use crate::base::caller::Role;
use crate::base::time::Zone;
use crate::base::wording::article;
use crate::model::endpoint::{self, Address};
use crate::model::hub_cache::{self, HubCache, HubModel, Revision};
use crate::model::known_models::KnownModel;
use crate::model::served;
use crate::server::access::AccessTable;
use crate::server::accounts::Accounts;
use crate::store::keyring::master_key::KeySource;
use crate::tools::Toolset;

/// Every key with its default and a comment, as shipped.
pub const DEFAULTS: &str = include_str!("../config/default.toml");

/// Prefix of engram's environment variables.
pub const ENVIRONMENT_PREFIX: &str = "ENGRAM_";

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(String),
}

/// Overrides of the defaults.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub file: Option<PathBuf>,
    /// All environment variables; those of other programs are ignored.
    pub environment: Vec<(String, String)>,
    /// Flag as typed, key, value.
    pub flags: Vec<(String, String, String)>,
}

/// Effective settings.
#[derive(Debug, Clone)]
pub struct Config {
    pub settings: Settings,
    values: BTreeMap<String, (Value, Origin)>,
}

/// Errors of the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file {path} cannot be read: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    #[error("the configuration file {path} is no TOML: {reason}")]
    NoToml { path: PathBuf, reason: String },
    #[error("unknown setting {key:?} ({origin}); the nearest known one is {nearest:?}")]
    UnknownKey { key: String, origin: Origin, nearest: String },
    #[error("setting {key} is {found} ({origin}), accepted is {accepted}")]
    BadValue { key: String, found: String, origin: Origin, accepted: String },
}

/// Mirror of the file, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub store: StoreSettings,
    pub memory: MemorySettings,
    pub socket: SocketSettings,
    pub access: AccessSettings,
    pub audit: AuditSettings,
    pub captioner: CaptionerSettings,
    pub embedder: EmbedderSettings,
    pub reader: ReaderSettings,
    pub models: ModelsSettings,
    pub prompts: PromptsSettings,
    pub ingest: IngestSettings,
    pub time: TimeSettings,
    pub recall: RecallSettings,
    pub retrieval: RetrievalSettings,
    pub sessions: SessionsSettings,
    pub tools: ToolsSettings,
    pub agent: AgentSettings,
    pub log: LogSettings,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    pub state_dir: PathBuf,
    pub key: String,
    pub cache_mb: u64,
    pub images_max_mb: u64,
    pub on_damage: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySettings {
    pub retention_days: u64,
    pub records_max: u64,
    pub forget_share_max: f32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSettings {
    pub path: PathBuf,
    pub mode: String,
    pub group: String,
    pub max_clients: usize,
    pub max_line_mb: usize,
    pub max_in_flight_mb: u64,
    pub call_deadline_seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessSettings {
    pub observe: String,
    pub read: String,
    pub write: String,
    pub erase: String,
    pub admin: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditSettings {
    pub retention_days: u64,
    pub max_mb: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptionerSettings {
    pub model: String,
    pub endpoint: String,
    pub endpoint_model: String,
    pub task: String,
    pub detect: bool,
    pub device: String,
    pub start_deadline_seconds: u64,
    pub deadline_seconds: u64,
    pub memory_limit_mb: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderSettings {
    pub model: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReaderSettings {
    pub model: String,
    pub captions: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsSettings {
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsSettings {
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestSettings {
    pub spool_max: usize,
    pub image_roots: String,
    pub image_max_mb: usize,
    pub image_max_megapixels: u64,
    pub max_ahead_seconds: u64,
    pub silent_seconds: u64,
    pub gate: GateSettings,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    pub max_pause_seconds: f64,
    pub max_span_seconds: f64,
    pub max_distance_metres: f64,
    pub max_turn_degrees: f64,
    pub max_change: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    pub zone: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallSettings {
    pub text_max_chars: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalSettings {
    pub probability_min: f32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsSettings {
    pub idle_hours: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsSettings {
    pub listed: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub endpoint: String,
    pub model: String,
    pub timeout_seconds: u64,
    pub steps_max: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub level: String,
    pub format: String,
}

impl Config {
    /// Applies the overrides to the defaults and checks every value.
    pub fn load(overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut values = defaults();
        if let Some(path) = &overrides.file {
            lay_file(&mut values, path)?;
        }
        lay_environment(&mut values, &overrides.environment)?;
        for (flag, key, text) in &overrides.flags {
            lay_text(&mut values, key, text, Origin::Flag(flag.clone()))?;
        }
        check_ranges(&values)?;
        let settings =
            nest(&values).try_into().map_err(|error: toml::de::Error| ConfigError::BadValue {
                key: "(the whole)".to_owned(),
                found: error.message().to_owned(),
                origin: Origin::Default,
                accepted: "the shape of config/default.toml".to_owned(),
            })?;
        let config = Self { settings, values };
        config.zone()?;
        config.toolsets()?;
        config.endpoint()?;
        config.served_captioner()?;
        config.socket_mode()?;
        config.image_roots()?;
        Ok(config)
    }

    /// `key = value  # origin`, a line each, in the order of the keys.
    pub fn describe(&self) -> String {
        let mut lines = String::new();
        for (key, (value, origin)) in &self.values {
            lines.push_str(&format!("{key} = {value}  # {origin}\n"));
        }
        lines
    }

    pub fn zone(&self) -> Result<Zone, ConfigError> {
        Zone::from_name(&self.settings.time.zone)
            .map_err(|error| self.refusal("time.zone", error.to_string()))
    }

    /// The toolsets that clients are shown.
    pub fn toolsets(&self) -> Result<Vec<Toolset>, ConfigError> {
        let set = &self.settings.tools.listed;
        let names = set.split(',').map(str::trim).filter(|name| !name.is_empty());
        let named: Option<Vec<Toolset>> = names.map(Toolset::from_name).collect();
        match named {
            Some(none) if none.is_empty() => Ok(Toolset::ALL.to_vec()),
            Some(toolsets) => Ok(toolsets),
            None => {
                let known = Toolset::ALL.map(Toolset::name).join(", ");
                Err(self.refusal("tools.listed", format!("any of {known}, with commas between")))
            }
        }
    }

    /// Whether a start goes on with what is whole of a damaged store.
    pub fn salvages(&self) -> Result<bool, ConfigError> {
        match self.settings.store.on_damage.as_str() {
            "refuse" => Ok(false),
            "salvage" => Ok(true),
            _ => Err(self.refusal("store.on_damage", "\"refuse\" or \"salvage\"".to_owned())),
        }
    }

    /// Mode of the socket's file.
    pub fn socket_mode(&self) -> Result<u32, ConfigError> {
        let mode = u32::from_str_radix(self.settings.socket.mode.trim(), 8).ok();
        // Its own user must be able to connect, and a socket is not executed.
        mode.filter(|mode| mode & 0o600 == 0o600 && mode & !0o666 == 0).ok_or_else(|| {
            let accepted = "an octal mode such as \"0600\" (the daemon's user) or \"0660\" (its \
                group, too)";
            self.refusal("socket.mode", accepted.to_owned())
        })
    }

    /// Group of the socket's file.
    pub fn socket_group(&self, accounts: &Accounts) -> Result<Option<u32>, ConfigError> {
        let group = self.settings.socket.group.trim();
        if group.is_empty() {
            return Ok(None);
        }
        accounts.gid(group).map(Some).ok_or_else(|| {
            let accepted = "the name or number of a group of this machine".to_owned();
            self.refusal("socket.group", accepted)
        })
    }

    /// Who may do what.
    pub fn access(&self, accounts: Accounts) -> Result<AccessTable, ConfigError> {
        let AccessSettings { observe, read, write, erase, admin } = &self.settings.access;
        let mut table = AccessTable::own_user_only(accounts);
        for (role, names) in [
            (Role::Observe, observe),
            (Role::Read, read),
            (Role::Write, write),
            (Role::Erase, erase),
            (Role::Admin, admin),
        ] {
            table.grant(role, names).map_err(|unknown| {
                let accepted = format!(
                    "users and, after an @, groups of this machine by name or number, with commas \
                     between them; there is no {unknown}"
                );
                self.refusal(&format!("access.{}", role.name()), accepted)
            })?;
        }
        Ok(table)
    }

    /// The language model's server, where one is set.
    pub fn endpoint(&self) -> Result<Option<endpoint::Options>, ConfigError> {
        let settings = &self.settings.agent;
        if settings.endpoint.trim().is_empty() {
            return Ok(None);
        }
        let address = Address::parse(&settings.endpoint)
            .map_err(|error| self.refusal("agent.endpoint", error.to_string()))?;
        let (model, timeout) = (settings.model.clone(), settings.timeout_seconds);
        let timeout = Duration::from_secs(timeout);
        Ok(Some(endpoint::Options { address, model, timeout }))
    }

    /// The server that captions, where one is set.
    pub fn served_captioner(&self) -> Result<Option<served::Options>, ConfigError> {
        let settings = &self.settings.captioner;
        if settings.endpoint.trim().is_empty() {
            return Ok(None);
        }
        let address = Address::parse(&settings.endpoint)
            .map_err(|error| self.refusal("captioner.endpoint", error.to_string()))?;
        let model = settings.endpoint_model.trim().to_owned();
        let deadline = Duration::from_secs(settings.deadline_seconds);
        Ok(Some(served::Options { address, model, deadline }))
    }

    /// The language model that plans, where a server is set.
    pub fn model(&self) -> Result<Option<model::Options>, ConfigError> {
        // The call that waits for the model has its own deadline, just after.
        let deadline = self.settings.call_deadline();
        let time_max = deadline.saturating_sub(Duration::from_secs(1)).max(deadline / 2);
        let steps_max = self.settings.agent.steps_max;
        let options = |endpoint| model::Options { endpoint, steps_max, time_max };
        Ok(self.endpoint()?.map(options))
    }

    /// Refusal of `key`'s value, with its origin.
    pub fn refusal(&self, key: &str, accepted: String) -> ConfigError {
        let (found, origin) = match self.values.get(key) {
            Some((value, origin)) => (value.to_string(), origin.clone()),
            None => (String::new(), Origin::Default),
        };
        ConfigError::BadValue { key: key.to_owned(), found, origin, accepted }
    }
}

/// Before the name of a credential.
const CREDENTIAL: &str = "credential:";

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
}

impl Config {
    pub fn state_dir(&self, places: &Places) -> PathBuf {
        let set = &self.settings.store.state_dir;
        if set.as_os_str().is_empty() { places.state_home.join("engram") } else { set.clone() }
    }

    /// Where the store's key is: in the store, a file, or a credential.
    pub fn key_source(&self, places: &Places) -> Result<KeySource, ConfigError> {
        let key = &self.settings.store.key;
        let Some(name) = key.strip_prefix(CREDENTIAL) else {
            let in_store = key.is_empty();
            return Ok(if in_store { KeySource::InStore } else { KeySource::File(key.into()) });
        };
        let is_name = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
        let dir = places.credentials_dir.as_ref().filter(|_| is_name);
        let accepted = "a file, or credential:NAME in a service that systemd gives credentials \
                        ($CREDENTIALS_DIRECTORY)";
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

    pub fn captioner_dir(&self, places: &Places) -> Result<PathBuf, ConfigError> {
        let model = &self.settings.captioner.model;
        let is_known = model.starts_with(hub_cache::PREFIX) || KnownModel::of_name(model).is_some();
        let dir = self.model_dir("captioner.model", model, places);
        dir.map_err(|error| match error {
            ConfigError::BadValue { key, found, origin, accepted } if !is_known => {
                let accepted = format!(
                    "{accepted}; a GGUF file or a model of Ollama captions through its server: set \
                     captioner.endpoint"
                );
                ConfigError::BadValue { key, found, origin, accepted }
            }
            other @ (ConfigError::BadValue { .. }
            | ConfigError::Unreadable { .. }
            | ConfigError::NoToml { .. }
            | ConfigError::UnknownKey { .. }) => other,
        })
    }

    pub fn embedder_dir(&self, places: &Places) -> Result<PathBuf, ConfigError> {
        self.model_dir("embedder.model", &self.settings.embedder.model, places)
    }

    pub fn reader_dir(&self, places: &Places) -> Result<PathBuf, ConfigError> {
        self.model_dir("reader.model", &self.settings.reader.model, places)
    }

    pub fn caption_reader_dir(&self, places: &Places) -> Result<PathBuf, ConfigError> {
        self.model_dir("reader.captions", &self.settings.reader.captions, places)
    }

    /// A path where `model` is one; a model of the hub's cache where it begins with `hf:`; else
    /// the directory of that name in the first of the models directories that has it, and then
    /// the cache's, where the name is of a known model.
    fn model_dir(&self, key: &str, model: &str, places: &Places) -> Result<PathBuf, ConfigError> {
        let cache = HubCache::new(places.hub_cache.clone());
        let has_config = |dir: &PathBuf| dir.join("config.json").is_file();
        let missing = |wanted: &HubModel| {
            let root = cache.root().display();
            let fetched =
                format!("{model} is not in the cache {root}; run: engram models pull {model}");
            // Another commit may be there, of which nobody here knows what it answers.
            let main =
                HubModel { repository: wanted.repository.clone(), revision: Revision::main() };
            let other = cache.snapshot(&main).filter(has_config).and_then(|_| cache.commit(&main));
            match other {
                Some(other) if main != *wanted => {
                    format!("{fetched}, or take {main}, which is there at {}", other.short())
                }
                _ => fetched,
            }
        };
        let cached = |wanted: &HubModel| {
            cache.snapshot(wanted).filter(has_config).ok_or_else(|| {
                self.refusal(key, format!("a model that is there; {}", missing(wanted)))
            })
        };
        if model.starts_with(hub_cache::PREFIX) {
            let wanted =
                HubModel::parse(model).map_err(|error| self.refusal(key, error.to_string()))?;
            return cached(&wanted);
        }
        let candidates = if model.contains('/') {
            vec![PathBuf::from(model)]
        } else {
            self.models_dirs(places).iter().map(|dir| dir.join(model)).collect()
        };
        if let Some(found) = candidates.iter().find(|dir| has_config(dir)) {
            return Ok(found.clone());
        }
        if let Some(wanted) = KnownModel::of_name(model).and_then(KnownModel::on_hub) {
            return cached(&wanted);
        }
        let looked: Vec<String> = candidates.iter().map(|dir| dir.display().to_string()).collect();
        Err(self.refusal(
            key,
            format!(
                "a model directory with a config.json, hf:ORGANISATION/NAME, or a name of `engram \
                 models list`; looked at {}",
                looked.join(", ")
            ),
        ))
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

/// `set` alone where it is set, else where things of this kind are installed:
/// beside the program, in its share directory, in the source tree.
fn shared_dirs(set: &Path, kind: &str, in_sources: &str, places: &Places) -> Vec<PathBuf> {
    if !set.as_os_str().is_empty() {
        return vec![set.to_owned()];
    }
    let beside = places.program.parent().unwrap_or_else(|| Path::new("/"));
    vec![
        beside.join(kind),
        beside.join("../share/engram").join(kind),
        Path::new(env!("CARGO_MANIFEST_DIR")).join(in_sources),
    ]
}

impl Settings {
    pub fn call_deadline(&self) -> Duration {
        Duration::from_secs(self.socket.call_deadline_seconds)
    }
}

/// Leaf keys such as `ingest.gate.max_pause_seconds` with their defaults.
fn defaults() -> BTreeMap<String, (Value, Origin)> {
    let mut values = BTreeMap::new();
    #[expect(clippy::expect_used, reason = "compiled in, and parsed by a test")]
    let table: Table = DEFAULTS.parse().expect("config/default.toml is TOML");
    for (key, value) in leaves(&table, "") {
        values.insert(key, (value, Origin::Default));
    }
    values
}

fn leaves(table: &Table, prefix: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value.as_table() {
            Some(inner) => found.extend(leaves(inner, &key)),
            None => found.push((key, value.clone())),
        }
    }
    found
}

fn lay_file(
    values: &mut BTreeMap<String, (Value, Origin)>,
    path: &Path,
) -> Result<(), ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| ConfigError::NoToml {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    for (key, value) in leaves(&table, "") {
        lay(values, &key, value, Origin::File(path.to_owned()))?;
    }
    Ok(())
}

fn lay_environment(
    values: &mut BTreeMap<String, (Value, Origin)>,
    environment: &[(String, String)],
) -> Result<(), ConfigError> {
    let names: BTreeMap<String, String> =
        values.keys().map(|key| (variable_of(key), key.clone())).collect();
    for (name, text) in environment {
        if !name.starts_with(ENVIRONMENT_PREFIX) {
            continue;
        }
        let origin = Origin::Environment(name.clone());
        let Some(key) = names.get(name) else {
            let nearest = nearest(name, names.keys());
            return Err(ConfigError::UnknownKey { key: name.clone(), origin, nearest });
        };
        lay_text(values, key, text, origin)?;
    }
    Ok(())
}

fn variable_of(key: &str) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// Applies a value that came as text, parsed as the default's type.
fn lay_text(
    values: &mut BTreeMap<String, (Value, Origin)>,
    key: &str,
    text: &str,
    origin: Origin,
) -> Result<(), ConfigError> {
    let value = match values.get(key).map(|(default, _)| default) {
        Some(Value::Integer(_)) => text.parse().map(Value::Integer).ok(),
        Some(Value::Float(_)) => text.parse().map(Value::Float).ok(),
        Some(Value::Boolean(_)) => text.parse().map(Value::Boolean).ok(),
        _ => None,
    };
    // Text that is no number of the right kind stays text, and is refused as such.
    lay(values, key, value.unwrap_or_else(|| Value::String(text.to_owned())), origin)
}

fn lay(
    values: &mut BTreeMap<String, (Value, Origin)>,
    key: &str,
    value: Value,
    origin: Origin,
) -> Result<(), ConfigError> {
    let Some((current, _)) = values.get(key) else {
        let nearest = nearest(key, values.keys());
        return Err(ConfigError::UnknownKey { key: key.to_owned(), origin, nearest });
    };
    let value = match (current, value) {
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        (Value::Float(_), Value::Integer(whole)) => Value::Float(whole as f64),
        (_, other) => other,
    };
    if current.type_str() != value.type_str() {
        let kind = current.type_str();
        let accepted = format!("{} {kind} such as {current}", article(kind));
        let found = value.to_string();
        return Err(ConfigError::BadValue { key: key.to_owned(), found, origin, accepted });
    }
    values.insert(key.to_owned(), (value, origin));
    Ok(())
}

/// Smallest and largest accepted number of each key that has bounds.
const RANGES: &[(&str, f64, f64)] = &[
    ("store.cache_mb", 1.0, 65_536.0),
    ("store.images_max_mb", 0.0, 1e9),
    ("memory.retention_days", 0.0, 36_500.0),
    ("memory.records_max", 0.0, 1e9),
    ("memory.forget_share_max", 0.0, 1.0),
    ("socket.max_clients", 1.0, 65_536.0),
    ("socket.max_line_mb", 1.0, 1_024.0),
    ("socket.max_in_flight_mb", 4.0, 65_536.0),
    ("socket.call_deadline_seconds", 1.0, 86_400.0),
    ("audit.retention_days", 0.0, 36_500.0),
    ("audit.max_mb", 1.0, 65_536.0),
    ("captioner.start_deadline_seconds", 1.0, 86_400.0),
    ("captioner.deadline_seconds", 1.0, 86_400.0),
    ("captioner.memory_limit_mb", 0.0, 1e6),
    ("ingest.spool_max", 1.0, 10_000_000.0),
    ("ingest.image_max_mb", 1.0, 1_024.0),
    ("ingest.image_max_megapixels", 1.0, 1_000.0),
    ("ingest.max_ahead_seconds", 0.0, 1e9),
    ("ingest.silent_seconds", 0.0, 1e6),
    ("ingest.gate.max_pause_seconds", 0.0, 86_400.0),
    ("ingest.gate.max_span_seconds", 0.0, 86_400.0),
    ("ingest.gate.max_distance_metres", 0.0, 1_000.0),
    ("ingest.gate.max_turn_degrees", 0.0, 180.0),
    ("ingest.gate.max_change", 0.0, 1.0),
    ("recall.text_max_chars", 200.0, 1_000_000.0),
    ("retrieval.probability_min", 0.0, 1.0),
    ("agent.timeout_seconds", 1.0, 3_600.0),
    ("agent.steps_max", 1.0, 100.0),
    ("sessions.idle_hours", 1.0, 876_000.0),
];

/// Accepted words of each key that takes one of a few.
const CHOICES: &[(&str, &[&str])] = &[
    ("captioner.device", &["auto", "cpu", "cuda:0"]),
    ("captioner.task", &["caption", "detailed_caption"]),
    ("log.level", &["error", "warn", "info", "debug", "trace"]),
    ("log.format", &["text", "json"]),
];

fn check_ranges(values: &BTreeMap<String, (Value, Origin)>) -> Result<(), ConfigError> {
    for (key, (value, origin)) in values {
        let refusal = |accepted: String| ConfigError::BadValue {
            key: key.clone(),
            found: value.to_string(),
            origin: origin.clone(),
            accepted,
        };
        #[expect(clippy::cast_precision_loss, reason = "compared with a bound only")]
        let number = value.as_integer().map(|whole| whole as f64).or_else(|| value.as_float());
        if let (Some(number), Some((_, least, most))) =
            (number, RANGES.iter().find(|(ranged, ..)| ranged == key))
            && !(*least..=*most).contains(&number)
        {
            return Err(refusal(format!("a number from {least} to {most}")));
        }
        if let (Some(word), Some((_, words))) =
            (value.as_str(), CHOICES.iter().find(|(chosen, _)| chosen == key))
            && !words.contains(&word)
        {
            return Err(refusal(format!("one of {}", words.join(", "))));
        }
    }
    Ok(())
}

/// Nested tables of the flat keys.
fn nest(values: &BTreeMap<String, (Value, Origin)>) -> Table {
    let mut root = Table::new();
    for (key, (value, _)) in values {
        let path: Vec<&str> = key.split('.').collect();
        insert_at(&mut root, &path, value);
    }
    root
}

fn insert_at(table: &mut Table, path: &[&str], value: &Value) {
    match path {
        [] => {}
        [last] => {
            table.insert((*last).to_owned(), value.clone());
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert_at(inner, rest, value);
            }
        }
    }
}

/// Known name with the least Levenshtein distance.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> String {
    known.min_by_key(|candidate| strsim::levenshtein(name, candidate)).cloned().unwrap_or_default()
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, Overrides) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robot.toml");
        fs::write(&path, text).unwrap();
        (dir, Overrides { file: Some(path), ..Overrides::default() })
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_owned(), b.to_owned())
    }

    #[test]
    fn the_defaults_fit_their_own_checks() {
        let config = Config::load(&Overrides::default()).unwrap();
        assert_eq!(config.settings.captioner.model, "everyday-detector");
        assert!(config.describe().lines().all(|line| line.ends_with("# default")));
    }

    #[test]
    fn the_example_is_accepted() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/robot.toml");
        Config::load(&Overrides { file: Some(path), ..Overrides::default() }).unwrap();
    }

    #[test]
    fn later_layers_win_and_are_named() {
        let (_dir, mut overrides) = file(
            "[store]\ncache_mb = 8\n[log]\nlevel = \"warn\"\n[ingest.gate]\nmax_pause_seconds = 5",
        );
        overrides.environment = vec![
            pair("ENGRAM_LOG_LEVEL", "debug"),
            pair("ENGRAM_STORE_STATE_DIR", "/data/7"),
            pair("HOME", "/root"),
        ];
        overrides.flags =
            vec![("--log-level".to_owned(), "log.level".to_owned(), "trace".to_owned())];
        let config = Config::load(&overrides).unwrap();
        assert_eq!(config.settings.store.cache_mb, 8);
        assert_eq!(config.settings.store.state_dir, Path::new("/data/7"));
        assert_eq!(config.settings.ingest.gate.max_pause_seconds.to_string(), "5");
        let described = config.describe();
        assert!(described.contains("log.level = \"trace\"  # --log-level"), "{described}");
        assert!(described.contains("# $ENGRAM_STORE_STATE_DIR"), "{described}");
        assert!(described.contains("robot.toml"), "{described}");
    }

    fn refusal(overrides: &Overrides) -> String {
        Config::load(overrides).unwrap_err().to_string()
    }

    #[test]
    fn a_models_server_is_near_or_none() {
        assert_eq!(Config::load(&Overrides::default()).unwrap().endpoint().unwrap(), None);
        let (_dir, overrides) =
            file("[agent]\nendpoint = \"http://127.0.0.1:8080/v1\"\nmodel = \"small\"");
        let model = Config::load(&overrides).unwrap().model().unwrap().unwrap();
        assert_eq!(model.endpoint.address.to_string(), "http://127.0.0.1:8080/v1/chat/completions");
        // Before the call that waits for it is given up.
        assert_eq!((model.time_max.as_secs(), model.steps_max), (59, 16));
        let (_dir, overrides) = file("[agent]\nendpoint = \"http://example.org\"");
        let text = refusal(&overrides);
        assert!(text.starts_with("setting agent.endpoint is \"http://example.org\" ("), "{text}");
        assert!(text.contains("accepted is http://HOST:PORT"), "{text}");
    }

    #[test]
    fn a_captioners_server_is_near_or_none() {
        assert_eq!(Config::load(&Overrides::default()).unwrap().served_captioner().unwrap(), None);
        let (_dir, overrides) = file(
            "[captioner]\nendpoint = \"http://10.0.0.7:11434\"\nendpoint_model = \" gemma3:4b\"\n\
             deadline_seconds = 90",
        );
        let options = Config::load(&overrides).unwrap().served_captioner().unwrap().unwrap();
        assert_eq!(options.address.server(), "http://10.0.0.7:11434");
        assert_eq!((options.model.as_str(), options.deadline.as_secs()), ("gemma3:4b", 90));
        let (_dir, overrides) = file("[captioner]\nendpoint = \"https://api.openai.com/v1\"");
        let text = refusal(&overrides);
        assert!(text.starts_with("setting captioner.endpoint is \"https://api"), "{text}");
        assert!(text.contains("accepted is https needs TLS"), "{text}");
    }

    #[test]
    fn unknown_keys_are_refused_by_name() {
        let (_dir, overrides) = file("[store]\ncash_mb = 8");
        let text = refusal(&overrides);
        assert!(
            text.contains("\"store.cash_mb\"") && text.contains("\"store.cache_mb\""),
            "{text}"
        );
        let environment = vec![pair("ENGRAM_LOG_LEVLE", "debug")];
        let text = refusal(&Overrides { environment, ..Overrides::default() });
        assert!(text.contains("ENGRAM_LOG_LEVLE") && text.contains("ENGRAM_LOG_LEVEL"), "{text}");
    }

    #[test]
    fn bad_values_name_key_value_origin_and_what_is_accepted() {
        let (_dir, overrides) = file("[store]\ncache_mb = \"lots\"");
        let text = refusal(&overrides);
        assert!(text.contains("store.cache_mb is \"lots\"") && text.contains("integer"), "{text}");
        let (_dir, overrides) = file("[socket]\nmax_clients = 0");
        assert!(refusal(&overrides).contains("from 1 to 65536"));
        let (_dir, overrides) = file("[log]\nformat = \"xml\"");
        assert!(refusal(&overrides).contains("one of text, json"));
        let (_dir, overrides) = file("[captioner]\ndevice = \"cuda\"");
        assert!(refusal(&overrides).contains("one of auto, cpu, cuda:0"));
        let (_dir, overrides) = file("[captioner]\ntask = \"ocr\"");
        assert!(refusal(&overrides).contains("one of caption, detailed_caption"));
        let (_dir, overrides) = file("[time]\nzone = \"Mars/Olympus\"");
        assert!(refusal(&overrides).contains("IANA"));
        let environment = vec![pair("ENGRAM_STORE_CACHE_MB", "-")];
        let text = refusal(&Overrides { environment, ..Overrides::default() });
        assert!(text.contains("$ENGRAM_STORE_CACHE_MB"), "{text}");
    }

    #[test]
    fn toolsets_are_all_or_those_named() {
        let toolsets = |listed: &str| {
            let (_dir, overrides) = file(&format!("[tools]\nlisted = {listed:?}"));
            Config::load(&overrides).map(|config| config.toolsets().unwrap())
        };
        assert_eq!(toolsets("").unwrap(), Toolset::ALL);
        assert_eq!(toolsets("notes, state,").unwrap(), [Toolset::Notes, Toolset::State]);
        let text = toolsets("notes, stat").unwrap_err().to_string();
        assert!(text.contains("tools.listed is \"notes, stat\""), "{text}");
        assert!(text.contains("any of object-retrieval, moment-retrieval, notes"), "{text}");
    }

    #[test]
    fn the_key_is_in_the_store_a_file_or_a_credential() {
        let places = |credentials_dir: Option<&str>| Places {
            state_home: "/s".into(),
            runtime_dir: None,
            program: "/p".into(),
            credentials_dir: credentials_dir.map(PathBuf::from),
            hub_cache: "/h".into(),
        };
        let source = |key: &str, dir: Option<&str>| {
            let (_dir, overrides) = file(&format!("[store]\nkey = {key:?}"));
            Config::load(&overrides).unwrap().key_source(&places(dir))
        };
        assert_eq!(source("", None).unwrap(), KeySource::InStore);
        let stick = KeySource::File("/media/stick/key".into());
        assert_eq!(source("/media/stick/key", None).unwrap(), stick);
        let given = KeySource::File("/run/credentials/engram.service/key".into());
        let dir = Some("/run/credentials/engram.service");
        assert_eq!(source("credential:key", dir).unwrap(), given);
        for (key, dir) in
            [("credential:key", None), ("credential:../key", dir), ("credential:", dir)]
        {
            let text = source(key, dir).unwrap_err().to_string();
            assert!(text.contains("store.key is") && text.contains("credential:NAME"), "{text}");
        }
    }

    #[test]
    fn paths_follow_the_environment_unless_set() {
        let places = Places {
            state_home: "/home/r/.local/state".into(),
            runtime_dir: Some("/run/user/7".into()),
            program: "/opt/engram/bin/engram".into(),
            credentials_dir: None,
            hub_cache: "/nowhere/hub".into(),
        };
        let config = Config::load(&Overrides::default()).unwrap();
        assert_eq!(config.state_dir(&places), Path::new("/home/r/.local/state/engram"));
        assert_eq!(config.socket_path(&places), Path::new("/run/user/7/engram.sock"));
        let bare = Places { runtime_dir: None, ..places.clone() };
        let in_state = Path::new("/home/r/.local/state/engram/engram.sock");
        assert_eq!(config.socket_path(&bare), in_state);
        let (_dir, overrides) = file("[captioner]\nmodel = \"no-such-model\"");
        let text =
            Config::load(&overrides).unwrap().captioner_dir(&places).unwrap_err().to_string();
        assert!(text.contains("captioner.model is \"no-such-model\""), "{text}");
        assert!(text.contains("/opt/engram/bin/models/no-such-model"), "{text}");
        assert!(text.ends_with("set captioner.endpoint"), "{text}");
    }

    #[test]
    fn a_file_that_is_missing_or_no_toml_is_named() {
        let missing = Overrides { file: Some("/nowhere/x.toml".into()), ..Overrides::default() };
        assert!(matches!(Config::load(&missing), Err(ConfigError::Unreadable { .. })));
        let (_dir, overrides) = file("store = [");
        assert!(matches!(Config::load(&overrides), Err(ConfigError::NoToml { .. })));
    }
}
