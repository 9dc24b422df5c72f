//! Florence-2 captioner, from a directory in Microsoft's layout or as `transformers` saves it,
//! with greedy decoding on one CPU thread. It finds things with their boxes, too.

mod bart;
mod config;
mod convolution;
mod decoding;
mod layout;
mod objects;
#[cfg(test)]
mod parity;
mod projector;
mod vision;

use std::fmt;
use std::path::Path;

use candle_core::Tensor;
use tokenizers::{AddedToken, Tokenizer};

use crate::base::caption::Caption;
use crate::base::detection::DetectedObject;
use crate::base::picture::ImageLimits;
use crate::model::confidence::Confidence;
use crate::model::florence::bart::Bart;
use crate::model::florence::config::{AnswerConfig, Florence2Config};
use crate::model::florence::decoding::{Decoded, decode};
use crate::model::florence::objects::{PLACES, Said};
use crate::model::florence::projector::Projector;
use crate::model::florence::vision::Vision;
use crate::model::jpeg;
use crate::model::preprocess::{IMAGENET_LEVELS, ImageFamily, Preprocessor};
use crate::model::weights::{self, ModelDir};
use crate::model::{CaptionError, CaptionTask, Captioner, Detail, ModelError, ModelIdentity};

/// Of its `config.json`.
pub(super) const MODEL_TYPE: &str = "florence2";

/// Side of pictures where no file says.
const SIDE: u32 = 768;

/// Longest answers in tokens: a sentence, some sentences, the boxes of a full picture.
const SENTENCE_TOKENS_MAX: usize = 64;
const SENTENCES_TOKENS_MAX: usize = 192;
const OBJECTS_TOKENS_MAX: usize = 512;

/// What the model was trained to be asked.
const SENTENCE_PROMPT: &str = "What does the image describe?";
const SENTENCES_PROMPT: &str = "Describe in detail what is shown in the image.";
const OBJECTS_PROMPT: &str = "Locate the objects with category name in the image.";

/// Loads the captioner in `path`: `config.json` with model type "florence2", `tokenizer.json`,
/// `model.safetensors`; `preprocessor_config.json`, `generation_config.json` and
/// `confidence.json` where there are any.
pub fn load(
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
) -> Result<Box<dyn Captioner>, ModelError> {
    Ok(Box::new(Florence2Captioner::load(path, limits, task)?))
}

/// Name and fingerprint, without loading it. Another task is another captioner.
pub(super) fn identity(path: &Path, task: CaptionTask) -> Result<ModelIdentity, ModelError> {
    Ok(weights::identity(path)?.with_task(task))
}

struct Florence2Captioner {
    identity: ModelIdentity,
    limits: ImageLimits,
    preprocessor: Preprocessor,
    tokenizer: Tokenizer,
    /// Token of place 0.
    first_place: u32,
    answer: AnswerConfig,
    caption: Question,
    objects: Option<Question>,
    confidence: Option<Confidence>,
    vision: Vision,
    projector: Projector,
    bart: Bart,
}

/// What the model is asked about a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Question {
    prompt: Vec<u32>,
    tokens_max: usize,
}

impl fmt::Debug for Florence2Captioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, limits, preprocessor, answer, caption, objects, confidence, .. } =
            self;
        f.debug_struct("Florence2Captioner")
            .field("identity", identity)
            .field("limits", limits)
            .field("preprocessor", preprocessor)
            .field("answer", answer)
            .field("caption", caption)
            .field("objects", objects)
            .field("confidence", confidence)
            .finish_non_exhaustive()
    }
}

impl Captioner for Florence2Captioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let seen = self.see(image)?;
        let Decoded { tokens, log_probs } = self.ask(&seen, &self.caption)?;
        let text = self.tokenizer.decode(&tokens, true).map_err(|error| to_error(&error))?;
        Ok(Caption {
            text: text.trim().to_owned(),
            confidence: self.confidence.map(|confidence| confidence.of(&log_probs)),
            detections: self.detect(&seen)?,
        })
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    fn restarts(&self) -> u64 {
        0
    }
}

impl Florence2Captioner {
    fn load(path: &Path, limits: ImageLimits, task: CaptionTask) -> Result<Self, ModelError> {
        let dir = ModelDir::open(path)?;
        let identity = identity(path, task)?;
        let config = Florence2Config::read(&dir)?;
        let (mean, deviation) = IMAGENET_LEVELS;
        let family = ImageFamily { side: SIDE, side_is_fixed: false, mean, deviation };
        let preprocessor = Preprocessor::read(&dir, &family)?;
        let side = config.vision.last_side(preprocessor.side() as usize);
        let side = side.map_err(|reason| dir.unusable(&reason))?;
        let mut tokenizer = dir.tokenizer()?;
        let unusable = |reason: String| dir.unusable(&format!("tokenizer.json: {reason}"));
        let first_place = with_places(&mut tokenizer, config.text.words).map_err(unusable)?;
        let questions = Questions { tokenizer: &tokenizer, config: &config, pixels: side * side };
        let caption = match task.detail {
            Detail::Sentence => questions.of(SENTENCE_PROMPT, SENTENCE_TOKENS_MAX),
            Detail::Sentences => questions.of(SENTENCES_PROMPT, SENTENCES_TOKENS_MAX),
        };
        let objects =
            task.detects.then(|| questions.of(OBJECTS_PROMPT, OBJECTS_TOKENS_MAX)).transpose();
        let (caption, objects) = (caption.map_err(unusable)?, objects.map_err(unusable)?);
        let unusable = |error| dir.unusable(&error);
        let tensors = layout::under_one_name(dir.tensors()?).map_err(unusable)?;
        let builder = tensors.into_builder();
        let projector = builder.pp("multi_modal_projector");
        Ok(Self {
            identity,
            limits,
            preprocessor,
            first_place,
            answer: config.answer,
            caption,
            objects,
            confidence: Confidence::read(&dir)?,
            vision: Vision::load(&config.vision, &builder.pp("vision_tower")).map_err(unusable)?,
            projector: Projector::load(&config, side, &projector).map_err(unusable)?,
            bart: Bart::load(&config.text, &builder.pp("language_model")).map_err(unusable)?,
            tokenizer,
        })
    }

    fn pixels(&self, image: &[u8]) -> Result<Tensor, CaptionError> {
        let picture = jpeg::decode(image, self.limits)
            .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
        self.preprocessor.pixels(&picture).map_err(|error| to_error(&error))
    }

    /// The picture's rows.
    fn see(&self, image: &[u8]) -> Result<Tensor, CaptionError> {
        let pixels = self.pixels(image)?;
        let seen = self.vision.forward(&pixels).and_then(|map| self.projector.forward(&map));
        seen.map_err(|error| to_error(&error))
    }

    fn ask(&self, seen: &Tensor, question: &Question) -> Result<Decoded, CaptionError> {
        let Question { prompt, tokens_max } = question;
        let encoded = self.bart.encode(seen, prompt);
        encoded
            .and_then(|encoded| decode(&self.bart, &encoded, self.answer, *tokens_max))
            .map_err(|error| to_error(&error))
    }

    fn detect(&self, seen: &Tensor) -> Result<Vec<DetectedObject>, CaptionError> {
        let Some(question) = &self.objects else { return Ok(Vec::new()) };
        let Decoded { tokens, log_probs } = self.ask(seen, question)?;
        let said = tokens.into_iter().zip(log_probs);
        let said: Vec<Said> = said.map(|(token, log_prob)| Said { token, log_prob }).collect();
        Ok(objects::objects(&said, self.first_place, |tokens| {
            self.tokenizer.decode(tokens, true).unwrap_or_default()
        }))
    }
}

fn to_error(error: &dyn fmt::Display) -> CaptionError {
    CaptionError::Died(error.to_string())
}

/// Token of place 0. Microsoft's `tokenizer.json` is BART's: what its own code adds is added
/// here, in the same order.
fn with_places(tokenizer: &mut Tokenizer, words: usize) -> Result<u32, String> {
    const BEFORE: [&str; 4] = ["<od>", "</od>", "<ocr>", "</ocr>"];
    let name = |place: u32| format!("<loc_{place}>");
    if tokenizer.token_to_id(&name(0)).is_none() {
        let names = BEFORE.map(str::to_owned).into_iter().chain((0..PLACES).map(name));
        let added = tokenizer.add_special_tokens(names.map(|name| AddedToken::from(name, true)));
        added.map_err(|error| error.to_string())?;
    }
    let ids = [0, PLACES - 1].map(|place| tokenizer.token_to_id(&name(place)));
    let [Some(first), Some(last)] = ids else {
        return Err(format!("it has no {}", name(PLACES - 1)));
    };
    if last.checked_sub(first) != Some(PLACES - 1) || last as usize >= words {
        return Err(format!(
            "the tokens of places are {first} to {last}; accepted are {PLACES} in a row, below \
             {words}"
        ));
    }
    Ok(first)
}

struct Questions<'a> {
    tokenizer: &'a Tokenizer,
    config: &'a Florence2Config,
    /// Of the last map.
    pixels: usize,
}

impl Questions<'_> {
    fn of(&self, prompt: &str, tokens_max: usize) -> Result<Question, String> {
        let AnswerConfig { begin, end, tokens_max: own_max, .. } = self.config.answer;
        let text = self.tokenizer.encode_fast(prompt, false).map_err(|error| error.to_string())?;
        let prompt = [&[begin], text.get_ids(), &[end]].concat();
        let (words, positions) = (self.config.text.words, self.config.text.positions_max);
        if let Some(token) = prompt.iter().find(|token| **token as usize >= words) {
            return Err(format!("token {token}, the model has {words}"));
        }
        let rows = 1 + self.pixels + prompt.len();
        if rows > positions {
            return Err(format!(
                "a picture and a prompt take {rows} positions, the model has {positions}"
            ));
        }
        let tokens_max = tokens_max.min(own_max.unwrap_or(tokens_max)).min(positions);
        Ok(Question { prompt, tokens_max })
    }
}
