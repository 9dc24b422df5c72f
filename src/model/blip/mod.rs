//! BLIP captioner, from a directory as `transformers` saves it, with greedy decoding on one CPU
//! thread.

mod decoder;
#[cfg(test)]
mod parity;
mod vision;

use std::fmt;
use std::path::Path;

use candle_core::Tensor;
use candle_transformers::models::blip::Config;
use serde::Deserialize;
use serde_json::{Value, json};
use tokenizers::Tokenizer;

use crate::base::caption::Caption;
use crate::base::picture::ImageLimits;
use crate::model::blip::decoder::Decoder;
use crate::model::blip::vision::Vision;
use crate::model::compute::Compute;
use crate::model::confidence::{Confidence, likeliest, single_precision};
use crate::model::jpeg;
use crate::model::preprocess::{CLIP_LEVELS, ImageFamily, Preprocessor};
use crate::model::tensors::Tensors;
use crate::model::weights::ModelDir;
use crate::model::{CaptionError, Captioner, ModelError, ModelIdentity};

/// Of its `config.json`.
pub(super) const MODEL_TYPE: &str = "blip";

/// Longest caption in tokens where the model does not say, as `transformers` has it.
const TOKENS_MAX_DEFAULT: usize = 20;

/// Loads the captioner in `path`: `config.json` with model type "blip",
/// `tokenizer.json`, `model.safetensors`; `preprocessor_config.json` and
/// `generation_config.json` where there are any. It captions in this process:
/// a daemon wants [`crate::model::worker`].
pub fn load(path: &Path, limits: ImageLimits) -> Result<Box<dyn Captioner>, ModelError> {
    load_for(path, limits, Compute::on_cpu())
}

pub(super) fn load_for(
    path: &Path,
    limits: ImageLimits,
    compute: Compute,
) -> Result<Box<dyn Captioner>, ModelError> {
    Ok(Box::new(BlipCaptioner::load(path, limits, compute)?))
}

struct BlipCaptioner {
    identity: ModelIdentity,
    limits: ImageLimits,
    compute: Compute,
    preprocessor: Preprocessor,
    tokenizer: Tokenizer,
    words: TokenSettings,
    confidence: Option<Confidence>,
    vision: Vision,
    decoder: Decoder,
}

/// Token ids and length limit of captions.
#[derive(Debug, Clone, Copy)]
struct TokenSettings {
    begin: u32,
    end: u32,
    /// With `begin`, without `end`.
    tokens_max: usize,
}

impl fmt::Debug for BlipCaptioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, limits, compute, preprocessor, words, confidence, .. } = self;
        f.debug_struct("BlipCaptioner")
            .field("identity", identity)
            .field("limits", limits)
            .field("compute", compute)
            .field("preprocessor", preprocessor)
            .field("words", words)
            .field("confidence", confidence)
            .finish_non_exhaustive()
    }
}

impl Captioner for BlipCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let pixels = self.pixels(image)?;
        let (tokens, log_probs) = self.tokens(&pixels).map_err(|error| to_error(&error))?;
        let text = self.tokenizer.decode(&tokens, true).map_err(|error| to_error(&error))?;
        let confidence = self.confidence.map(|confidence| confidence.of(&log_probs));
        Ok(Caption { text, confidence, detections: Vec::new() })
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    fn restarts(&self) -> u64 {
        0
    }
}

impl BlipCaptioner {
    fn load(path: &Path, limits: ImageLimits, compute: Compute) -> Result<Self, ModelError> {
        let dir = ModelDir::open(path)?;
        let identity = dir.identity()?;
        let (config, words) = configs_of(&dir)?;
        let side = u32::try_from(config.vision_config.image_size).unwrap_or(u32::MAX);
        let (mean, deviation) = CLIP_LEVELS;
        let family = ImageFamily { side, side_is_fixed: true, mean, deviation };
        let preprocessor = Preprocessor::read(&dir, &family)?;
        let tokenizer = dir.tokenizer()?;
        let tensors = with_tied_weights(dir.tensors()?).map_err(|error| dir.unusable(&error))?;
        let builder = compute.weights(tensors);
        let vision = Vision::load(&config.vision_config, &builder.pp("vision_model"))
            .map_err(|error| dir.unusable(&error))?;
        let decoder = Decoder::load(&config.text_config, &builder.pp("text_decoder"))
            .map_err(|error| dir.unusable(&error))?;
        Ok(Self {
            identity,
            limits,
            compute,
            preprocessor,
            tokenizer,
            words,
            confidence: Confidence::read(&dir)?,
            vision,
            decoder,
        })
    }

    fn pixels(&self, image: &[u8]) -> Result<Tensor, CaptionError> {
        let picture = jpeg::decode(image, self.limits)
            .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
        let pixels = self.preprocessor.pixels(&picture);
        pixels.and_then(|pixels| self.compute.put(&pixels)).map_err(|error| to_error(&error))
    }

    /// Greedy decoding until the end token or the limit: the tokens, and the log probability of
    /// each, the end among them.
    fn tokens(&self, pixels: &Tensor) -> candle_core::Result<(Vec<u32>, Vec<f32>)> {
        let TokenSettings { begin, end, tokens_max } = self.words;
        let seen = self.vision.forward(pixels)?;
        let mut caption = self.decoder.begin(&seen)?;
        let (mut tokens, mut log_probs) = (vec![begin], Vec::new());
        let mut last = begin;
        while tokens.len() < tokens_max {
            let (next, log_prob) = likeliest(&single_precision(&caption.next_logits(last)?)?, &[]);
            log_probs.push(log_prob);
            if next == end {
                break;
            }
            tokens.push(next);
            last = next;
        }
        Ok((tokens, log_probs))
    }
}

fn to_error(error: &dyn fmt::Display) -> CaptionError {
    CaptionError::Died(error.to_string())
}

fn configs_of(dir: &ModelDir) -> Result<(Config, TokenSettings), ModelError> {
    #[derive(Deserialize)]
    struct TextFile {
        bos_token_id: u32,
        sep_token_id: u32,
        max_length: Option<usize>,
    }
    // What `transformers` leaves out of a file where it is the default.
    let defaults = json!({
        "text_config": {
            "vocab_size": 30524, "hidden_size": 768, "intermediate_size": 3072,
            "projection_dim": 768, "is_decoder": true,
            "num_hidden_layers": 12, "num_attention_heads": 8,
            "max_position_embeddings": 512, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
            "bos_token_id": 30522, "sep_token_id": 102,
        },
        "projection_dim": 512, "image_text_hidden_size": 256,
        "vision_config": {
            "hidden_size": 768, "intermediate_size": 3072, "projection_dim": 512,
            "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 384,
            "patch_size": 16, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
        },
    });
    let mut file = dir.config(MODEL_TYPE, &defaults)?;
    let width = file.pointer("/vision_config/hidden_size").cloned();
    let text = file.get_mut("text_config").and_then(Value::as_object_mut);
    if let (Some(text), Some(width)) = (text, width) {
        // As `transformers` has it, whatever the file says.
        text.insert("encoder_hidden_size".to_owned(), width);
    }
    let unusable = |error| dir.unusable(&format!("config.json: {error}"));
    let text = file.get("text_config").cloned().unwrap_or_default();
    let text: TextFile = serde_json::from_value(text).map_err(unusable)?;
    let config: Config = serde_json::from_value(file).map_err(unusable)?;
    check_shapes(&config).map_err(|reason| dir.unusable(&format!("config.json: {reason}")))?;
    if text.bos_token_id as usize >= config.text_config.vocab_size {
        let reason = format!("config.json: bos_token_id {} is no word", text.bos_token_id);
        return Err(dir.unusable(&reason));
    }
    let generation: GenerationFile =
        dir.optional_settings("generation_config.json")?.unwrap_or_default();
    let tokens_max = generation.tokens_max().or(text.max_length).unwrap_or(TOKENS_MAX_DEFAULT);
    let tokens_max = tokens_max.min(config.text_config.max_position_embeddings);
    Ok((config, TokenSettings { begin: text.bos_token_id, end: text.sep_token_id, tokens_max }))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GenerationFile {
    max_length: Option<usize>,
    max_new_tokens: Option<usize>,
}

impl GenerationFile {
    fn tokens_max(&self) -> Option<usize> {
        self.max_new_tokens.map(|new| new.saturating_add(1)).or(self.max_length)
    }
}

/// candle divides by these without looking.
fn check_shapes(config: &Config) -> Result<(), String> {
    let (text, vision) = (&config.text_config, &config.vision_config);
    let shapes = [
        ("text_config: hidden_size in heads", text.hidden_size, text.num_attention_heads),
        ("vision_config: hidden_size in heads", vision.hidden_size, vision.num_attention_heads),
        ("vision_config: image_size in patches", vision.image_size, vision.patch_size),
    ];
    match shapes.iter().find(|(_, whole, parts)| *parts == 0 || !whole.is_multiple_of(*parts)) {
        Some((name, whole, parts)) => Err(format!("{name}: {whole} in {parts}")),
        None => Ok(()),
    }
}

/// `transformers` saves once what the decoder's output shares with its input.
fn with_tied_weights(mut tensors: Tensors) -> candle_core::Result<Tensors> {
    const HEAD: &str = "text_decoder.cls.predictions";
    let words = "text_decoder.bert.embeddings.word_embeddings.weight";
    tensors.alias(&format!("{HEAD}.decoder.weight"), words)?;
    tensors.alias(words, &format!("{HEAD}.decoder.weight"))?;
    tensors.alias(&format!("{HEAD}.bias"), &format!("{HEAD}.decoder.bias"))?;
    Ok(tensors)
}
