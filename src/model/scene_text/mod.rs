//! Text in the scene: what signs, labels and screens say, added to any captioner's caption.
//!
//! PP-OCR's two networks in a directory as `models/scene-text/fetch.sh` makes it: one finds lines
//! of text, the other reads one. Runs them by tract, with the cargo feature `scene-text`.

#[cfg(feature = "scene-text")]
mod letters;
#[cfg(feature = "scene-text")]
mod network;
#[cfg(test)]
#[cfg(feature = "scene-text")]
mod parity;
#[cfg(feature = "scene-text")]
mod reading;
#[cfg(feature = "scene-text")]
mod regions;
#[cfg(feature = "scene-text")]
mod signs;

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::base::picture::ImageLimits;
use crate::model::{Captioner, Fingerprint, ModelError, ModelIdentity};

/// Files of the directory.
const NETWORKS: [&str; 2] = ["find.onnx", "read.onnx"];

/// `captioner` that also says what is written in the picture, by the networks in `dir`.
#[cfg(feature = "scene-text")]
pub(super) fn add_to(
    captioner: Box<dyn Captioner>,
    dir: &Path,
    limits: ImageLimits,
) -> Result<Box<dyn Captioner>, ModelError> {
    Ok(Box::new(reading::ReadingCaptioner::new(captioner, dir, limits)?))
}

/// Refuses: nothing in this build reads.
#[cfg(not(feature = "scene-text"))]
pub(super) fn add_to(
    _captioner: Box<dyn Captioner>,
    dir: &Path,
    _limits: ImageLimits,
) -> Result<Box<dyn Captioner>, ModelError> {
    let reason = "captioner.scene_text is set, and this build reads no text: accepted is \"\", or a \
                  build with the cargo feature `scene-text`";
    Err(unusable(dir, reason))
}

/// Of a captioner that also reads, without loading anything.
pub(super) fn identity(captioner: ModelIdentity, dir: &Path) -> Result<ModelIdentity, ModelError> {
    let mut hash = Sha256::new();
    hash.update(captioner.fingerprint.0.as_bytes());
    for name in NETWORKS {
        hash.update(Sha256::digest(file(dir, name)?));
    }
    let half = hash.finalize().first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
    Ok(ModelIdentity { fingerprint: Fingerprint(format!("{half:032x}")), ..captioner })
}

fn file(dir: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
    let path = dir.join(name);
    std::fs::read(&path).map_err(|error| ModelError::Missing {
        path: path.display().to_string(),
        reason: format!(
            "{error}; captioner.scene_text wants a directory that models/scene-text/fetch.sh made"
        ),
    })
}

fn unusable(dir: &Path, reason: &str) -> ModelError {
    ModelError::Unusable { path: dir.display().to_string(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scripted::ScriptedCaptioner;

    #[test]
    fn what_is_no_such_directory_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let base = ScriptedCaptioner::by_colour().identity().clone();
        let missing = identity(base.clone(), dir.path()).unwrap_err().to_string();
        assert!(missing.contains("find.onnx") && missing.contains("fetch.sh"), "{missing}");
        for name in NETWORKS {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        let reading = identity(base.clone(), dir.path()).unwrap();
        assert!(reading.name == base.name && reading.fingerprint != base.fingerprint);
        let captioner = Box::new(ScriptedCaptioner::by_colour());
        let refused = add_to(captioner, dir.path(), ImageLimits::default()).err().unwrap();
        let word = if cfg!(feature = "scene-text") { "find.onnx" } else { "`scene-text`" };
        assert!(refused.to_string().contains(word), "{refused}");
    }
}
