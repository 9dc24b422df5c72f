//! Which directory a model's name means: a path, the hub's cache, or the models directories.

use std::path::PathBuf;

use super::{Config, ConfigError, Places};
use crate::model::hub_cache::{self, HubCache, HubModel, Revision};
use crate::model::known_models::KnownModel;

impl Config {
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

    /// `None` where none is set.
    pub fn caption_matcher_dir(&self, places: &Places) -> Result<Option<PathBuf>, ConfigError> {
        self.optional_model_dir("reader.matches", &self.settings.reader.matches, places)
    }

    /// `None` where none is set.
    pub fn use_reader_dir(&self, places: &Places) -> Result<Option<PathBuf>, ConfigError> {
        self.optional_model_dir("reader.uses", &self.settings.reader.uses, places)
    }

    fn optional_model_dir(
        &self,
        key: &str,
        model: &str,
        places: &Places,
    ) -> Result<Option<PathBuf>, ConfigError> {
        let model = Some(model).filter(|it| !it.is_empty());
        model.map(|it| self.model_dir(key, it, places)).transpose()
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
}
