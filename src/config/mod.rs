//! Settings: defaults < file < environment < flags, each value with its origin.
//!
//! `config/default.toml` is the one list of keys, defaults and their meaning. Reads the file it
//! is given, and neither the environment nor the command line: those come in as plain text from
//! `cli`.

mod accepted;
mod layers;
mod models;
mod options;
mod places;
mod settings;
mod sources;

use std::fmt;
use std::path::PathBuf;

use layers::Values;
pub use places::Places;
pub use settings::*;
pub use sources::{CameraOptions, CameraOrigin};

/// Every key with its default and a comment, as shipped.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

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
    values: Values,
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
impl Config {
    /// Applies the overrides to the defaults and checks every value.
    pub fn load(overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut values = layers::defaults();
        if let Some(path) = &overrides.file {
            layers::lay_file(&mut values, path)?;
        }
        layers::lay_environment(&mut values, &overrides.environment)?;
        for (flag, key, text) in &overrides.flags {
            layers::lay_text(&mut values, key, text, Origin::Flag(flag.clone()))?;
        }
        accepted::check(&values)?;
        layers::check_entries::<SourceSettings>(&values, "sources")?;
        let settings = layers::nest(&values).try_into().map_err(|error: toml::de::Error| {
            ConfigError::BadValue {
                key: "(the whole)".to_owned(),
                found: error.message().to_owned(),
                origin: Origin::Default,
                accepted: "the shape of config/default.toml".to_owned(),
            }
        })?;
        let config = Self { settings, values };
        config.zone()?;
        config.toolsets()?;
        config.endpoint()?;
        config.served_captioner()?;
        config.socket_mode()?;
        config.image_roots()?;
        config.cameras()?;
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
    /// Refusal of `key`'s value, with its origin.
    pub fn refusal(&self, key: &str, accepted: String) -> ConfigError {
        let (found, origin) = match self.values.get(key) {
            Some((value, origin)) => (value.to_string(), origin.clone()),
            None => (String::new(), Origin::Default),
        };
        ConfigError::BadValue { key: key.to_owned(), found, origin, accepted }
    }
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
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::store::keyring::master_key::KeySource;
    use crate::tools::Toolset;

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
        let (_dir, overrides) = file("[store]\non_damage = \"ignore\"");
        assert!(refusal(&overrides).contains("one of refuse, salvage"));
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
    fn the_key_is_in_the_store_a_file_a_credential_or_with_the_kernel() {
        let places = |credentials_dir: Option<&str>| Places {
            state_home: "/s".into(),
            runtime_dir: None,
            program: "/p".into(),
            credentials_dir: credentials_dir.map(PathBuf::from),
            hub_cache: "/h".into(),
            data_dirs: Vec::new(),
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
        let kept = KeySource::Kernel("robot".to_owned());
        assert_eq!(source("keyring:robot", None).unwrap(), kept);
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
            data_dirs: vec!["/home/r/.local/share".into(), "/usr/share".into()],
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
        assert!(
            text.contains("/home/r/.local/share/engram/models/no-such-model, /usr/share"),
            "{text}"
        );
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
