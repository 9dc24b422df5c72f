//! Worker's side: loads the captioner, answers requests on its pipes, and ends when they are
//! closed.

use std::io;
use std::io::{Read, Write};
use std::path::PathBuf;

use crate::base::failpoint::failpoint;
use crate::base::picture::ImageLimits;
use crate::base::step_back::StepBack;
use crate::model::captioner;
use crate::model::compute::ComputeDevice;
use crate::model::threads::compute_on_this_thread_only;
use crate::model::worker::protocol;
use crate::model::worker::protocol::{WorkerReply, WorkerRequest};
use crate::model::{CaptionError, CaptionTask, Captioner, ModelError};

/// Niceness: the daemon's answers go first.
const NICENESS: i32 = 10;
/// OOM score, of 1000: when memory runs out, the kernel ends this process before the daemon,
/// and a caption is late instead of a recall lost.
const OOM_SCORE: u16 = 800;

#[derive(Debug, Clone)]
pub struct ChildOptions {
    pub model: PathBuf,
    pub limits: ImageLimits,
    pub task: CaptionTask,
    pub device: ComputeDevice,
    /// Networks that read what is written in a picture.
    pub scene_text: Option<PathBuf>,
    /// Allocating more ends this process. `None` leaves it to the kernel.
    pub memory_bytes_max: Option<u64>,
}

/// Errors that end the worker.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("the pipe to the daemon failed: {0}")]
    Pipe(#[from] io::Error),
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The process does not go on, because what failed may have left the model
    /// in any state; a new one is cheap.
    #[error("a frame could not be captioned: {0}")]
    Caption(CaptionError),
}

/// Runs `engram caption-worker` until `input` ends. `output` must carry nothing else.
pub fn run(
    options: &ChildOptions,
    input: &mut impl Read,
    output: &mut impl Write,
) -> Result<(), ChildError> {
    let memory_bytes_max = options.memory_bytes_max;
    let name = "the caption worker";
    StepBack { name, niceness: NICENESS, oom_score: OOM_SCORE, memory_bytes_max }.apply();
    compute_on_this_thread_only();
    let ChildOptions { model, limits, task, device, scene_text, memory_bytes_max: _ } = options;
    match captioner::load(model, *limits, *task, *device, scene_text.as_deref()) {
        Ok(mut captioner) => serve(captioner.as_mut(), input, output),
        Err(error) => {
            protocol::write(output, &WorkerReply::NoModel { reason: error.to_string() })?;
            Err(error.into())
        }
    }
}

fn serve(
    captioner: &mut dyn Captioner,
    input: &mut impl Read,
    output: &mut impl Write,
) -> Result<(), ChildError> {
    let identity = captioner.identity();
    let hello = WorkerReply::Hello {
        version: protocol::VERSION,
        name: identity.name.clone(),
        fingerprint: identity.fingerprint.0.clone(),
    };
    protocol::write(output, &hello)?;
    while let Some(WorkerRequest::Caption { image }) = protocol::read(input)? {
        failpoint!("worker.asked");
        let reply = match captioner.caption(&image) {
            Ok(caption) => WorkerReply::caption(caption),
            Err(CaptionError::BadImage(reason)) => WorkerReply::BadImage { reason },
            Err(error) => return Err(ChildError::Caption(error)),
        };
        protocol::write(output, &reply)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::caption::Caption;
    use crate::model::scripted::ScriptedCaptioner;

    /// What a captioner answers to these images, hello left out.
    fn answers(
        captioner: &mut dyn Captioner,
        images: &[&str],
    ) -> (Vec<WorkerReply>, Option<ChildError>) {
        let (mut input, mut output) = (Vec::new(), Vec::new());
        for image in images {
            let image = image.as_bytes().to_vec();
            protocol::write(&mut input, &WorkerRequest::Caption { image }).unwrap();
        }
        let error = serve(captioner, &mut input.as_slice(), &mut output).err();
        let mut pipe = output.as_slice();
        let replies = std::iter::from_fn(|| protocol::read(&mut pipe).unwrap());
        let mut replies: Vec<WorkerReply> = replies.collect();
        assert!(matches!(replies.remove(0), WorkerReply::Hello { version: protocol::VERSION, .. }));
        (replies, error)
    }

    #[test]
    fn requests_are_answered_in_order_until_the_pipe_ends() {
        let mut captioner = ScriptedCaptioner::new(|image| match image {
            b"bad" => Err(CaptionError::BadImage("no pixels".to_owned())),
            other => Ok(String::from_utf8_lossy(other).into_owned()),
        })
        .with_confidence(0.25);
        let (replies, error) = answers(&mut captioner, &["mug", "bad", "book"]);
        let caption = |text: &str| {
            WorkerReply::caption(Caption {
                confidence: Some(0.25),
                ..Caption::without_confidence(text)
            })
        };
        let bad = WorkerReply::BadImage { reason: "no pixels".to_owned() };
        assert_eq!(replies, [caption("mug"), bad, caption("book")]);
        assert!(error.is_none());
    }

    #[test]
    fn a_failing_model_ends_the_worker() {
        let failure = CaptionError::Died("shapes differ".to_owned());
        let mut captioner = ScriptedCaptioner::by_colour().failing_first([failure]);
        let (replies, error) = answers(&mut captioner, &["mug", "book"]);
        assert_eq!(replies, []);
        assert!(matches!(error, Some(ChildError::Caption(_))));
    }

    #[test]
    fn half_a_request_is_an_error() {
        let mut captioner = ScriptedCaptioner::by_colour();
        let ended = serve(&mut captioner, &mut &[9, 0][..], &mut Vec::new());
        assert!(matches!(ended, Err(ChildError::Pipe(_))));
    }
}
