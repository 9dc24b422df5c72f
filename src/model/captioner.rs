//! Captioner of a directory, of whichever kind it is.

use std::io::Cursor;
use std::path::Path;

use image::{ImageFormat, ImageResult, Rgb, RgbImage};

use crate::base::picture::ImageLimits;
use crate::model::compute::{Compute, ComputeDevice};
use crate::model::weights;
use crate::model::{
    CaptionTask, Captioner, ModelError, ModelIdentity, blip, detector, florence, scene_text,
    smolvlm,
};

/// Loads the captioner in `path`, by the `model_type` of its `config.json`. It captions in this
/// process: a daemon wants [`crate::model::worker`]. With a directory in `scene_text` it also
/// says what is written in a picture.
pub fn load(
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
    device: ComputeDevice,
    scene_text: Option<&Path>,
) -> Result<Box<dyn Captioner>, ModelError> {
    let captioner = load_on(device, path, limits, task)?;
    match scene_text {
        Some(dir) => scene_text::add_to(captioner, dir, limits),
        None => Ok(captioner),
    }
}

fn load_on(
    device: ComputeDevice,
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
) -> Result<Box<dyn Captioner>, ModelError> {
    let kind = kind_for(task, path)?;
    match device {
        ComputeDevice::Cuda => load_on_gpu(kind, path, limits, task),
        ComputeDevice::Auto if cfg!(feature = "cuda") && kind.runs_on_gpu() => {
            load_on_gpu(kind, path, limits, task).or_else(|error| {
                log::warn!("the captioner computes on the CPU: {error}");
                kind.load(path, limits, task, Compute::on_cpu())
            })
        }
        ComputeDevice::Auto | ComputeDevice::Cpu => {
            kind.load(path, limits, task, Compute::on_cpu())
        }
    }
}

/// With a first picture, so that what a device cannot do shows now.
fn load_on_gpu(
    kind: CaptionerKind,
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
) -> Result<Box<dyn Captioner>, ModelError> {
    let unusable = |reason: &str| ModelError::Unusable {
        path: path.display().to_string(),
        reason: format!("captioner.device is \"cuda:0\": {reason}"),
    };
    if !kind.runs_on_gpu() {
        return Err(unusable(
            "BLIP and SmolVLM compute there, this one on the CPU only; accepted are \"auto\" and \
             \"cpu\"",
        ));
    }
    let compute = Compute::on_gpu().map_err(|reason| unusable(&reason))?;
    let mut captioner = kind.load(path, limits, task, compute)?;
    let picture = first_picture().map_err(|error| unusable(&error.to_string()))?;
    let first = captioner.caption(&picture);
    first.map_err(|error| unusable(&format!("its first picture failed: {error}")))?;
    Ok(captioner)
}

fn first_picture() -> ImageResult<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    RgbImage::from_pixel(64, 48, Rgb([127; 3])).write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// Name and fingerprint of the captioner in `path`, without loading it.
pub fn identity(
    path: &Path,
    task: CaptionTask,
    scene_text: Option<&Path>,
) -> Result<ModelIdentity, ModelError> {
    let own = match kind_for(task, path)? {
        CaptionerKind::Blip | CaptionerKind::Detector => weights::identity(path),
        CaptionerKind::Florence2 => florence::identity(path, task),
        CaptionerKind::SmolVlm => smolvlm::identity(path, task),
    }?;
    match scene_text {
        Some(dir) => scene_text::identity(own, dir),
        None => Ok(own),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaptionerKind {
    Blip,
    Detector,
    Florence2,
    SmolVlm,
}

impl CaptionerKind {
    fn load(
        self,
        path: &Path,
        limits: ImageLimits,
        task: CaptionTask,
        compute: Compute,
    ) -> Result<Box<dyn Captioner>, ModelError> {
        match self {
            Self::Blip => blip::load_for(path, limits, compute),
            Self::Detector => detector::load(path, limits),
            Self::Florence2 => florence::load(path, limits, task),
            Self::SmolVlm => smolvlm::load(path, limits, task, compute),
        }
    }

    /// Whether it finds things with their boxes.
    fn detects(self) -> bool {
        matches!(self, Self::Detector | Self::Florence2)
    }

    /// Florence-2 and the detector have operations of their own, in place on the CPU.
    fn runs_on_gpu(self) -> bool {
        matches!(self, Self::Blip | Self::SmolVlm)
    }
}

/// The kind, if it can do what it is asked for.
fn kind_for(task: CaptionTask, path: &Path) -> Result<CaptionerKind, ModelError> {
    let kind = kind_of(path)?;
    if task.detects && !kind.detects() {
        return Err(ModelError::Unusable {
            path: path.display().to_string(),
            reason: "captioner.detect is true, and BLIP and SmolVLM find no boxes; accepted with \
                     them is false, and true with a Florence-2 or everyday-detector"
                .to_owned(),
        });
    }
    Ok(kind)
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
        for refused in [load_on_cpu(dir.path()).err(), identity(dir.path(), task, None).err()] {
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
    fn boxes_are_refused_of_a_model_that_finds_none() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let task = CaptionTask { detects: true, ..CaptionTask::default() };
        for (model, is_accepted) in [("blip", false), ("smolvlm", false), ("florence", true)] {
            let found = identity(&fixtures.join(model), task, None);
            assert_eq!(found.is_ok(), is_accepted, "{model}");
            if let Err(error) = found {
                assert!(error.to_string().contains("captioner.detect is true"), "{error}");
            }
        }
    }

    fn load_on_cpu(path: &Path) -> Result<Box<dyn Captioner>, ModelError> {
        load(path, ImageLimits::default(), CaptionTask::default(), ComputeDevice::Cpu, None)
    }

    #[test]
    fn a_gpu_that_cannot_be_used_is_refused_and_any_other_word_than_that_takes_the_cpu() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let load_on = |model: &str, device| {
            let task = CaptionTask::default();
            load(&fixtures.join(model), ImageLimits::default(), task, device, None)
        };
        let refused = |model: &str| load_on(model, ComputeDevice::Cuda).err().unwrap().to_string();
        let text = refused("florence");
        assert!(text.contains("captioner.device is \"cuda:0\""), "{text}");
        assert!(text.contains("accepted are \"auto\" and \"cpu\""), "{text}");
        if !cfg!(feature = "cuda") {
            for model in ["blip", "smolvlm"] {
                assert!(refused(model).contains("the cargo feature `cuda`"));
                load_on(model, ComputeDevice::Auto).unwrap();
            }
        }
        let picture = first_picture().unwrap();
        let mut captioner = load_on("florence", ComputeDevice::Auto).unwrap();
        captioner.caption(&picture).unwrap();
    }

    #[test]
    fn weights_of_a_known_kind_are_missed_by_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), r#"{"model_type": "nanodet-g"}"#).unwrap();
        let text = identity(dir.path(), CaptionTask::default(), None).err().unwrap().to_string();
        assert!(text.contains("no model.safetensors"), "{text}");
        fs::write(dir.path().join("config.json"), "{}").unwrap();
        let text = identity(dir.path(), CaptionTask::default(), None).err().unwrap().to_string();
        assert!(text.contains("it is a \"\" model"), "{text}");
    }
}
