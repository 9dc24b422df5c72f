//! Captioner of a directory, of whichever kind it is.

use std::path::Path;

use crate::base::picture::ImageLimits;
use crate::model::weights;
use crate::model::{
    CaptionTask, Captioner, ModelError, ModelIdentity, blip, detector, florence, smolvlm,
};

/// Loads the captioner in `path`, by the `model_type` of its `config.json`. It captions in this
/// process: a daemon wants [`crate::model::worker`].
pub fn load(
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
) -> Result<Box<dyn Captioner>, ModelError> {
    match kind_of(path)? {
        CaptionerKind::Blip => blip::load(path, limits),
        CaptionerKind::Detector => detector::load(path, limits),
        CaptionerKind::Florence2 => florence::load(path, limits, task),
        CaptionerKind::SmolVlm => smolvlm::load(path, limits, task),
    }
}

/// Name and fingerprint of the captioner in `path`, without loading it.
pub fn identity(path: &Path, task: CaptionTask) -> Result<ModelIdentity, ModelError> {
    match kind_of(path)? {
        CaptionerKind::Blip | CaptionerKind::Detector => weights::identity(path),
        CaptionerKind::Florence2 => florence::identity(path, task),
        CaptionerKind::SmolVlm => smolvlm::identity(path, task),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaptionerKind {
    Blip,
    Detector,
    Florence2,
    SmolVlm,
}

/// Says what a directory is before anything in it is missed.
fn kind_of(path: &Path) -> Result<CaptionerKind, ModelError> {
    let found = weights::model_type(path)?;
    match found.as_str() {
        blip::MODEL_TYPE => Ok(CaptionerKind::Blip),
        detector::MODEL_TYPE => Ok(CaptionerKind::Detector),
        florence::MODEL_TYPE => Ok(CaptionerKind::Florence2),
        kind if smolvlm::MODEL_TYPES.contains(&kind) => Ok(CaptionerKind::SmolVlm),
        other => Err(ModelError::Unusable {
            path: path.display().to_string(),
            reason: format!(
                "it is a {other:?} model by its config.json; as a captioner are accepted {:?} \
                 (BLIP-base, BLIP-large, household-captioner), {:?} (Florence-2-base, \
                 Florence-2-large), {} (SmolVLM-256M, SmolVLM-500M) and {:?} \
                 (everyday-detector); {}",
                blip::MODEL_TYPE,
                florence::MODEL_TYPE,
                smolvlm::MODEL_TYPES.map(|kind| format!("{kind:?}")).join(", "),
                detector::MODEL_TYPE,
                advice(other),
            ),
        }),
    }
}

/// What a model of another kind is for.
fn advice(kind: &str) -> &'static str {
    match kind {
        "bert" | "distilbert" | "mpnet" | "roberta" | "xlm-roberta" => {
            "a model of texts goes into embedder.model"
        }
        _ => {
            "a vision-language model of another kind captions through a server: start it in \
             llama-server, Ollama or vLLM, and set captioner.endpoint to the address, such as \
             http://127.0.0.1:8080"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_of_another_kind_is_named_before_its_weights_are_missed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), r#"{"model_type": "qwen2_vl"}"#).unwrap();
        let task = CaptionTask::default();
        for refused in
            [load(dir.path(), ImageLimits::default(), task).err(), identity(dir.path(), task).err()]
        {
            let text = refused.unwrap().to_string();
            assert!(text.contains("it is a \"qwen2_vl\" model"), "{text}");
            for kind in
                ["accepted \"blip\"", "\"florence2\"", "\"idefics3\", \"smolvlm\"", "\"nanodet-g\""]
            {
                assert!(text.contains(kind), "{text}");
            }
            assert!(
                text.contains("llama-server, Ollama or vLLM, and set captioner.endpoint"),
                "{text}"
            );
        }
    }

    #[test]
    fn weights_of_a_known_kind_are_missed_by_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), r#"{"model_type": "nanodet-g"}"#).unwrap();
        let text = identity(dir.path(), CaptionTask::default()).err().unwrap().to_string();
        assert!(text.contains("no model.safetensors"), "{text}");
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        let text = identity(dir.path(), CaptionTask::default()).err().unwrap().to_string();
        assert!(text.contains("it is a \"\" model"), "{text}");
    }
}
