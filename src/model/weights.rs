//! Model directory as Hugging Face lays it out: `config.json`, `tokenizer.json`, and weights in
//! one `model.safetensors`, in several with an index, or in PyTorch's `pytorch_model.bin`. Knows
//! files, not what kind of model they make.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::fs::File;
use std::io;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokenizers::Tokenizer;

use crate::model::git_lfs::refuse_pointer;
use crate::model::hub_cache::name_of_snapshot;
use crate::model::tensors::{Tensors, header_of};
use crate::model::{Fingerprint, ModelError, ModelIdentity};

const WEIGHTS: &str = "model.safetensors";
const WEIGHTS_INDEX: &str = "model.safetensors.index.json";
/// Where there are no others.
const PYTORCH_WEIGHTS: &str = "pytorch_model.bin";
const PYTORCH_WEIGHTS_INDEX: &str = "pytorch_model.bin.index.json";

/// Settings files that determine a model's answers; absent ones are skipped.
const SETTINGS: [&str; 11] = [
    "1_Pooling/config.json",
    "confidence.json",
    "config.json",
    "config_sentence_transformers.json",
    "generation_config.json",
    "modules.json",
    "preprocessor_config.json",
    "processor_config.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
];

/// Settings files are read whole: no sane one is larger (the tokenizers of
/// multilingual models take about 17 MB).
const SETTINGS_BYTES_MAX: u64 = 64 << 20;

/// Weights up to this size are hashed whole.
const HASHED_WHOLE_BYTES_MAX: u64 = 32 << 20;
/// Of larger ones, this many blocks, evenly spread, first and last included.
const SAMPLED_BLOCKS: u64 = 256;
const SAMPLED_BLOCK_BYTES: u64 = 64 << 10;

/// Name and fingerprint of the model in `path`, without loading it.
///
/// The fingerprint is SHA-256 (cut to 128 bits) over the settings files and the
/// weights. Weights above 32 MB enter with their size, their header (every
/// tensor's name, type and place) and 256 blocks of 64 KB, so that a start does
/// not read a gigabyte: training changes every block, and only a file doctored
/// between the samples would go unnoticed.
pub fn identity(path: &Path) -> Result<ModelIdentity, ModelError> {
    ModelDir::open(path)?.identity()
}

/// `model_type` of the model in `path`, empty where its `config.json` has none. Says nothing of
/// the weights.
pub(crate) fn model_type(path: &Path) -> Result<String, ModelError> {
    check_config_is_there(path)?;
    let dir = ModelDir { path: path.to_owned(), weights: Vec::new() };
    let config: Value = dir.settings("config.json", &Value::Null)?;
    Ok(config.get("model_type").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn check_config_is_there(path: &Path) -> Result<(), ModelError> {
    let reason = if !path.is_dir() {
        "no such directory"
    } else if !path.join("config.json").is_file() {
        "it has no config.json"
    } else {
        return Ok(());
    };
    Err(ModelError::Missing { path: path.display().to_string(), reason: reason.to_owned() })
}

/// Checked directory of a model.
#[derive(Debug)]
pub(crate) struct ModelDir {
    path: PathBuf,
    weights: Vec<PathBuf>,
}

impl ModelDir {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let missing = |reason: &str| ModelError::Missing {
            path: path.display().to_string(),
            reason: reason.to_owned(),
        };
        check_config_is_there(path)?;
        let mut dir = Self { path: path.to_owned(), weights: vec![path.join(WEIGHTS)] };
        if path.join(WEIGHTS_INDEX).is_file() {
            dir.weights = dir.shards()?;
        } else if !path.join(WEIGHTS).is_file() && path.join(PYTORCH_WEIGHTS).is_file() {
            dir.weights = vec![path.join(PYTORCH_WEIGHTS)];
        }
        if let Some(absent) = dir.weights.iter().find(|file| !file.is_file()) {
            let converted = if path.join(PYTORCH_WEIGHTS_INDEX).is_file() {
                "; the parts of pytorch_model.bin must be converted to safetensors first"
            } else {
                ""
            };
            let name = absent.file_name().unwrap_or_default().to_string_lossy();
            return Err(missing(&format!("it has no {name}{converted}")));
        }
        Ok(dir)
    }

    pub(crate) fn identity(&self) -> Result<ModelIdentity, ModelError> {
        let full = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        // In the hub's cache a directory is called by its commit, which says nothing to people.
        let name = name_of_snapshot(&full)
            .unwrap_or_else(|| full.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let fingerprint = self.fingerprint().map_err(|error| self.unusable(&error))?;
        Ok(ModelIdentity { name, fingerprint })
    }

    /// `ModelError::Unusable` for this directory.
    pub(crate) fn unusable(&self, reason: &dyn Display) -> ModelError {
        ModelError::Unusable { path: self.path.display().to_string(), reason: reason.to_string() }
    }

    /// A settings file that must be there; keys absent from it come from `defaults`.
    pub(crate) fn settings<T: DeserializeOwned>(
        &self,
        name: &str,
        defaults: &Value,
    ) -> Result<T, ModelError> {
        let Some(mut found) = self.optional_settings::<Value>(name)? else {
            return Err(self.unusable(&format!("it has no {name}")));
        };
        fill_in(&mut found, defaults);
        serde_json::from_value(found).map_err(|error| self.unusable(&format!("{name}: {error}")))
    }

    /// `config.json`, if it is of a model of `kind`.
    pub(crate) fn config(&self, kind: &str, defaults: &Value) -> Result<Value, ModelError> {
        let config: Value = self.settings("config.json", defaults)?;
        match config.get("model_type").and_then(Value::as_str) {
            Some(found) if found == kind => Ok(config),
            found => {
                let found = found.unwrap_or_default();
                let reason = format!("config.json: model_type {found:?}, accepted is {kind:?}");
                Err(self.unusable(&reason))
            }
        }
    }

    pub(crate) fn optional_settings<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ModelError> {
        let fault = |error: &dyn Display| self.unusable(&format!("{name}: {error}"));
        match self.read_settings(name).map_err(|error| fault(&error))? {
            Some(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| fault(&error)),
            None => Ok(None),
        }
    }

    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, ModelError> {
        let fault = |error: &dyn Display| self.unusable(&format!("tokenizer.json: {error}"));
        let bytes = self.read_settings("tokenizer.json").map_err(|error| fault(&error))?;
        let bytes = bytes.ok_or_else(|| self.unusable(&"it has no tokenizer.json"))?;
        Tokenizer::from_bytes(bytes).map_err(|error| fault(&error))
    }

    /// The weights, of which none is read yet: every file is there and as long as its
    /// header says.
    pub(crate) fn tensors(&self) -> Result<Tensors, ModelError> {
        let mut tensors = Tensors::default();
        for path in &self.weights {
            tensors.add_file(path).map_err(|error| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.unusable(&format!("{name}: {error}"))
            })?;
        }
        Ok(tensors)
    }

    /// `None` when there is no such file.
    fn read_settings(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let file = match File::open(self.path.join(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length > SETTINGS_BYTES_MAX {
            let limit = format!("{length} bytes, accepted are at most {SETTINGS_BYTES_MAX}");
            return Err(io::Error::other(limit));
        }
        let mut bytes = Vec::new();
        file.take(SETTINGS_BYTES_MAX).read_to_end(&mut bytes)?;
        refuse_pointer(&bytes)?;
        Ok(Some(bytes))
    }

    fn shards(&self) -> Result<Vec<PathBuf>, ModelError> {
        #[derive(Deserialize)]
        struct ShardIndex {
            weight_map: BTreeMap<String, String>,
        }
        let index: ShardIndex = self.settings(WEIGHTS_INDEX, &Value::Null)?;
        let names: BTreeSet<String> = index.weight_map.into_values().collect();
        if let Some(name) = names.iter().find(|name| name.contains(['/', '\\'])) {
            return Err(self.unusable(&format!("{WEIGHTS_INDEX} names {name:?}, not a file name")));
        }
        Ok(names.iter().map(|name| self.path.join(name)).collect())
    }

    fn fingerprint(&self) -> io::Result<Fingerprint> {
        let mut hash = Sha256::new();
        hash.update(b"engram model 1");
        for name in SETTINGS {
            if let Some(bytes) = self.read_settings(name)? {
                update_with_part(&mut hash, name, bytes.len() as u64);
                hash.update(&bytes);
            }
        }
        for path in &self.weights {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut file = File::open(path)?;
            let length = file.metadata()?.len();
            update_with_part(&mut hash, &name, length);
            // Of a pickle the places of its tensors are in the samples, at its two ends.
            let has_header = name != PYTORCH_WEIGHTS;
            update_with_weights(&mut hash, &mut file, length, has_header)?;
        }
        let digest = hash.finalize();
        let half = digest.first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
        Ok(Fingerprint(format!("{half:032x}")))
    }
}

/// Puts into `found` what `defaults` has and it has not.
pub(crate) fn fill_in(found: &mut Value, defaults: &Value) {
    let (Value::Object(found), Value::Object(defaults)) = (found, defaults) else { return };
    for (key, default) in defaults {
        match found.get_mut(key) {
            None | Some(Value::Null) => {
                found.insert(key.clone(), default.clone());
            }
            Some(present) => fill_in(present, default),
        }
    }
}

/// Name and length, so that bytes cannot move from one file to the next unnoticed.
fn update_with_part(hash: &mut Sha256, name: &str, length: u64) {
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
    hash.update(length.to_le_bytes());
}

fn update_with_weights(
    hash: &mut Sha256,
    file: &mut File,
    length: u64,
    has_header: bool,
) -> io::Result<()> {
    if length <= HASHED_WHOLE_BYTES_MAX {
        io::copy(file, hash)?;
        return Ok(());
    }
    if has_header {
        hash.update(header_of(file, length)?);
    }
    let last_start = length - SAMPLED_BLOCK_BYTES;
    for block in 0..SAMPLED_BLOCKS {
        let start = u128::from(last_start) * u128::from(block) / u128::from(SAMPLED_BLOCKS - 1);
        file.seek(SeekFrom::Start(u64::try_from(start).unwrap_or(last_start)))?;
        io::copy(&mut file.take(SAMPLED_BLOCK_BYTES), hash)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;
    use tempfile::TempDir;

    /// A directory with settings and one file of weights.
    fn model_dir(weights: &[u8]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        fs::write(dir.path().join(WEIGHTS), weights).unwrap();
        dir
    }

    fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    /// 1.0 and −2.0 in half precision, with a name of their own.
    fn two_halves() -> Vec<u8> {
        let header = r#"{"w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}"#;
        safetensors(header, &[0x00, 0x3c, 0x00, 0xc0])
    }

    #[test]
    fn shards_are_read_through_their_index() {
        let dir = model_dir(&[]);
        fs::remove_file(dir.path().join(WEIGHTS)).unwrap();
        fs::write(dir.path().join("model-1.safetensors"), two_halves()).unwrap();
        let index = json!({"weight_map": {"w": "model-1.safetensors"}});
        fs::write(dir.path().join(WEIGHTS_INDEX), index.to_string()).unwrap();
        let tensors = ModelDir::open(dir.path()).unwrap().tensors().unwrap();
        assert!(tensors.into_builder().contains_tensor("w"));
        let index = json!({"weight_map": {"w": "../model-1.safetensors"}});
        fs::write(dir.path().join(WEIGHTS_INDEX), index.to_string()).unwrap();
        assert!(matches!(ModelDir::open(dir.path()), Err(ModelError::Unusable { .. })));
    }

    #[test]
    fn missing_files_are_named() {
        let reason = |path: &Path| match ModelDir::open(path) {
            Err(ModelError::Missing { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(reason(&dir.path().join("nowhere")), "no such directory");
        assert_eq!(reason(dir.path()), "it has no config.json");
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        assert_eq!(reason(dir.path()), "it has no model.safetensors");
        fs::write(dir.path().join(PYTORCH_WEIGHTS_INDEX), "{}").unwrap();
        assert!(reason(dir.path()).contains("converted"));
        fs::write(dir.path().join(PYTORCH_WEIGHTS), "").unwrap();
        let error = ModelDir::open(dir.path()).unwrap().tensors().unwrap_err().to_string();
        assert!(error.contains("pytorch_model.bin: no zip"), "{error}");
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
        fs::write(dir.path().join(PYTORCH_WEIGHTS), pointer).unwrap();
        let error = ModelDir::open(dir.path()).unwrap().tensors().unwrap_err().to_string();
        assert!(error.contains("a Git LFS pointer"), "{error}");
    }

    #[test]
    fn damaged_weights_are_an_error() {
        let whole = two_halves();
        let long =
            safetensors(r#"{"w":{"dtype":"F16","shape":[3],"data_offsets":[0,4]}}"#, &[0; 4]);
        for damaged in [&whole[..0], &whole[..7], &whole[..20], &whole[..whole.len() - 1], &long] {
            let dir = model_dir(damaged);
            let read = ModelDir::open(dir.path()).unwrap().tensors();
            assert!(matches!(read, Err(ModelError::Unusable { .. })), "{} bytes", damaged.len());
        }
    }

    #[test]
    fn a_pointer_into_git_lfs_is_called_one() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        let dir = model_dir(pointer);
        let error = ModelDir::open(dir.path()).unwrap().tensors().err().unwrap().to_string();
        assert!(error.contains("model.safetensors: it is a Git LFS pointer"), "{error}");
        fs::remove_file(dir.path().join(WEIGHTS)).unwrap();
        fs::write(dir.path().join("pytorch_model.bin"), pointer).unwrap();
        let error = ModelDir::open(dir.path()).unwrap().tensors().err().unwrap().to_string();
        assert!(error.contains("pytorch_model.bin: it is a Git LFS pointer"), "{error}");
        fs::write(dir.path().join("config.json"), pointer).unwrap();
        let error = model_type(dir.path()).unwrap_err().to_string();
        assert!(error.contains("config.json: it is a Git LFS pointer"), "{error}");
    }

    #[test]
    fn fingerprints_depend_on_every_part_and_not_on_the_place() {
        let first = model_dir(&two_halves());
        let fingerprint = |dir: &TempDir| identity(dir.path()).unwrap().fingerprint;
        let original = fingerprint(&first);
        assert_eq!(original, fingerprint(&model_dir(&two_halves())));
        assert_eq!(original.0.len(), 32);
        let mut other = two_halves();
        *other.last_mut().unwrap() ^= 1;
        assert_ne!(original, fingerprint(&model_dir(&other)));
        fs::write(first.path().join("tokenizer.json"), "{}").unwrap();
        assert_ne!(original, fingerprint(&first));
    }

    #[test]
    fn large_weights_are_sampled() {
        let length = usize::try_from(HASHED_WHOLE_BYTES_MAX).unwrap() + 4096;
        let header =
            format!(r#"{{"w":{{"dtype":"U8","shape":[{length}],"data_offsets":[0,{length}]}}}}"#);
        let mut data = vec![7; length];
        let fingerprint =
            |data: &[u8]| identity(model_dir(&safetensors(&header, data)).path()).unwrap();
        let original = fingerprint(&data).fingerprint;
        for place in [0, length - 1] {
            data[place] = 8;
            assert_ne!(fingerprint(&data).fingerprint, original, "{place}");
            data[place] = 7;
        }
        assert_eq!(fingerprint(&data).fingerprint, original);
    }

    #[test]
    fn absent_settings_come_from_the_defaults() {
        let mut found = json!({"a": 1, "inner": {"x": 2}, "none": null});
        fill_in(&mut found, &json!({"a": 9, "b": 3, "inner": {"x": 9, "y": 4}, "none": 5}));
        assert_eq!(found, json!({"a": 1, "b": 3, "inner": {"x": 2, "y": 4}, "none": 5}));
    }
}
