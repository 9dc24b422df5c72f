//! `SmolVLM` captioner, from a directory as `transformers` saves it, with greedy decoding on one
//! CPU thread. It sees a picture as one tile.

mod config;
mod llama;
#[cfg(test)]
mod parity;
mod tile;
mod vision;

use std::fmt;
use std::path::Path;

use candle_core::Tensor;
use tokenizers::Tokenizer;

use crate::base::caption::{Caption, whole_sentences};
use crate::base::picture::ImageLimits;
use crate::model::compute::Compute;
use crate::model::confidence::{Confidence, likeliest, single_precision};
use crate::model::jpeg;
use crate::model::layers::Product;
use crate::model::smolvlm::config::SmolVlmConfig;
use crate::model::smolvlm::llama::{Llama, Words};
use crate::model::smolvlm::tile::Tile;
use crate::model::smolvlm::vision::Vision;
use crate::model::tensors::Tensors;
use crate::model::weights::{self, ModelDir};
use crate::model::{CaptionError, CaptionTask, Captioner, Detail, ModelError, ModelIdentity};

/// Of the `config.json` of the first and of the second `SmolVLM`.
pub(super) const MODEL_TYPES: [&str; 2] = ["idefics3", "smolvlm"];

/// Longest answers in tokens: a sentence, some sentences.
const SENTENCE_TOKENS_MAX: usize = 64;
const SENTENCES_TOKENS_MAX: usize = 192;

/// What the model is asked; the second as its authors ask it.
const SENTENCE_QUESTION: &str = "Describe this image in one sentence.";
const SENTENCES_QUESTION: &str = "Can you describe this image?";

/// Tokens of the chat that the model was trained on.
const BEGIN: &str = "<|im_start|>";
const AROUND_PICTURE: &str = "<fake_token_around_image>";
const WHOLE_PICTURE: &str = "<global-img>";
const PICTURE: &str = "<image>";
const END: &str = "<end_of_utterance>";

/// Loads the captioner in `path`: `config.json` with model type "idefics3" or "smolvlm",
/// `tokenizer.json`, `model.safetensors`; `preprocessor_config.json`, `generation_config.json`
/// and `confidence.json` where there are any.
pub(super) fn load(
    path: &Path,
    limits: ImageLimits,
    task: CaptionTask,
    compute: Compute,
) -> Result<Box<dyn Captioner>, ModelError> {
    Ok(Box::new(SmolVlmCaptioner::load(path, limits, task, compute)?))
}

/// Name and fingerprint, without loading it. Another task is another captioner; it finds no
/// boxes in any.
pub(super) fn identity(path: &Path, task: CaptionTask) -> Result<ModelIdentity, ModelError> {
    let task = CaptionTask { detects: false, ..task };
    Ok(weights::identity(path)?.with_task(task))
}

struct SmolVlmCaptioner {
    identity: ModelIdentity,
    limits: ImageLimits,
    compute: Compute,
    tile: Tile,
    tokenizer: Tokenizer,
    question: Question,
    confidence: Option<Confidence>,
    vision: Vision,
    llama: Llama,
}

/// What the model is asked about a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Question {
    /// Tokens before the picture's rows and after them.
    before: Vec<u32>,
    after: Vec<u32>,
    /// Tokens that end an answer.
    ends: Vec<u32>,
    tokens_max: usize,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    tokens: Vec<u32>,
    /// Log probability of each, and of the end where it came.
    log_probs: Vec<f32>,
    /// Whether it was longer than it may be.
    is_cut: bool,
}

impl fmt::Debug for SmolVlmCaptioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, limits, compute, tile, question, confidence, .. } = self;
        f.debug_struct("SmolVlmCaptioner")
            .field("identity", identity)
            .field("limits", limits)
            .field("compute", compute)
            .field("tile", tile)
            .field("question", question)
            .field("confidence", confidence)
            .finish_non_exhaustive()
    }
}

impl Captioner for SmolVlmCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let picture = jpeg::decode(image, self.limits)
            .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
        let answer = self.tile.pixels(&picture).and_then(|pixels| self.answer(&pixels));
        let Answer { tokens, log_probs, is_cut } = answer.map_err(|error| to_error(&error))?;
        let text = self.tokenizer.decode(&tokens, true).map_err(|error| to_error(&error))?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Caption {
            text: if is_cut { whole_sentences(&text).to_owned() } else { text },
            confidence: self.confidence.map(|confidence| confidence.of(&log_probs)),
            detections: Vec::new(),
        })
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    fn restarts(&self) -> u64 {
        0
    }
}

impl SmolVlmCaptioner {
    fn load(
        path: &Path,
        limits: ImageLimits,
        task: CaptionTask,
        compute: Compute,
    ) -> Result<Self, ModelError> {
        let dir = ModelDir::open(path)?;
        let identity = identity(path, task)?;
        let config = SmolVlmConfig::read(&dir)?;
        let tile = Tile::read(&dir, config.vision.side)?;
        let tokenizer = dir.tokenizer()?;
        let question = Question::of(task.detail, &tokenizer, &config)
            .map_err(|reason| dir.unusable(&format!("tokenizer.json: {reason}")))?;
        let positions = question.positions(&config);
        let (vision, llama) = networks(dir.tensors()?, &config, positions, &compute)
            .map_err(|error| dir.unusable(&error))?;
        Ok(Self {
            identity,
            limits,
            compute,
            tile,
            tokenizer,
            question,
            confidence: Confidence::read(&dir)?,
            vision,
            llama,
        })
    }

    /// Greedy decoding until an end or the limit.
    fn answer(&self, pixels: &Tensor) -> candle_core::Result<Answer> {
        let Question { before, after, ends, tokens_max } = &self.question;
        let seen = self.vision.forward(&self.compute.put(pixels)?)?;
        let prompt = [&self.llama.rows(before)?, &seen, &self.llama.rows(after)?];
        let mut text = self.llama.begin();
        let mut logits = text.next_logits(&Tensor::cat(&prompt, 0)?)?;
        let (mut tokens, mut log_probs) = (Vec::new(), Vec::new());
        while tokens.len() < *tokens_max {
            let (next, log_prob) = likeliest(&single_precision(&logits)?, &[]);
            log_probs.push(log_prob);
            if ends.contains(&next) {
                return Ok(Answer { tokens, log_probs, is_cut: false });
            }
            tokens.push(next);
            if tokens.len() < *tokens_max {
                logits = text.next_logits(&self.llama.rows(&[next])?)?;
            }
        }
        Ok(Answer { tokens, log_probs, is_cut: true })
    }
}

fn to_error(error: &dyn fmt::Display) -> CaptionError {
    CaptionError::Died(error.to_string())
}

/// Eye and text network; `positions` is the length of the longest text.
fn networks(
    tensors: Tensors,
    config: &SmolVlmConfig,
    positions: usize,
    compute: &Compute,
) -> candle_core::Result<(Vision, Llama)> {
    const WORDS: &str = "model.text_model.embed_tokens.weight";
    const HEAD: &str = "lm_head.weight";
    let shape = (config.text.words, config.text.width);
    let words = tensors.table_in_memory(WORDS, shape)?;
    let weights = compute.weights(tensors);
    let is_tied = config.is_tied || !weights.contains_tensor(HEAD);
    let head = weights.get(shape, if is_tied { WORDS } else { HEAD })?;
    let weights = weights.pp("model");
    let vision = Vision::load(config, &weights)?;
    let words = Words { table: words, head: Product::new(&head)?, compute: compute.clone() };
    let llama = Llama::load(&config.text, words, positions, &weights.pp("text_model"))?;
    Ok((vision, llama))
}

impl Question {
    fn of(detail: Detail, tokenizer: &Tokenizer, config: &SmolVlmConfig) -> Result<Self, String> {
        let (question, tokens_max) = match detail {
            Detail::Sentence => (SENTENCE_QUESTION, SENTENCE_TOKENS_MAX),
            Detail::Sentences => (SENTENCES_QUESTION, SENTENCES_TOKENS_MAX),
        };
        let token = |name: &str| {
            tokenizer.token_to_id(name).ok_or_else(|| format!("it has no token {name}"))
        };
        for name in [BEGIN, AROUND_PICTURE, WHOLE_PICTURE] {
            token(name)?;
        }
        let (image, own) = (config.image_token, token(PICTURE)?);
        if own != image {
            return Err(format!("{PICTURE} is token {own}, config.json says {image}"));
        }
        let before = format!("{BEGIN}User:{AROUND_PICTURE}{WHOLE_PICTURE}");
        let after = format!("{AROUND_PICTURE}{question}{END}\nAssistant:");
        let read = |text: &str| {
            let text = tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
            Ok::<_, String>(text.get_ids().to_vec())
        };
        let ends = config.generation.ends.clone().unwrap_or(vec![token(END)?]);
        let tokens_max = tokens_max.min(config.generation.tokens_max.unwrap_or(tokens_max));
        let made = Self { before: read(&before)?, after: read(&after)?, ends, tokens_max };
        made.check(config)?;
        Ok(made)
    }

    fn check(&self, config: &SmolVlmConfig) -> Result<(), String> {
        let Self { before, after, ends, .. } = self;
        let (words, positions_max) = (config.text.words, config.text.positions_max);
        let mut tokens = before.iter().chain(after).chain(ends);
        if let Some(token) = tokens.find(|token| **token as usize >= words) {
            return Err(format!("token {token}, the model has {words}"));
        }
        let positions = self.positions(config);
        if positions > positions_max {
            return Err(format!(
                "a picture, a prompt and an answer take {positions} positions, the model has \
                 {positions_max}"
            ));
        }
        Ok(())
    }

    /// Of a prompt with its picture and its longest answer.
    fn positions(&self, config: &SmolVlmConfig) -> usize {
        let Self { before, after, tokens_max, .. } = self;
        before.len() + config.picture_rows() + after.len() + tokens_max
    }
}
