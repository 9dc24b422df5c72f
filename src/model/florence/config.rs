//! Settings of a Florence-2: of Microsoft's `config.json` or of `transformers`', and of
//! `generation_config.json`. Knows no weights.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::ModelError;
use crate::model::florence::MODEL_TYPE;
use crate::model::florence::convolution::Windows;
use crate::model::layers::Activation;
use crate::model::weights::ModelDir;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Florence2Config {
    pub(super) vision: VisionConfig,
    pub(super) text: TextConfig,
    pub(super) answer: AnswerConfig,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct VisionConfig {
    pub(super) stages: Vec<StageConfig>,
    /// Pixels along a window's side.
    pub(super) window_size: usize,
    /// Pixels along the last map's side, at most.
    pub(super) positions_max: usize,
}

/// Of a map and the blocks that work on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StageConfig {
    pub(super) width: usize,
    pub(super) inner_width: usize,
    pub(super) windows: Windows,
    /// Whether the norm comes before the convolution.
    pub(super) norm_first: bool,
    pub(super) heads: usize,
    pub(super) groups: usize,
    pub(super) depth: usize,
    pub(super) activation: Activation,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextConfig {
    /// Rows of the table of tokens.
    pub(super) words: usize,
    pub(super) width: usize,
    pub(super) encoder_layers: usize,
    pub(super) decoder_layers: usize,
    pub(super) encoder_heads: usize,
    pub(super) decoder_heads: usize,
    pub(super) encoder_inner_width: usize,
    pub(super) decoder_inner_width: usize,
    pub(super) positions_max: usize,
    pub(super) activation: Activation,
}

/// How answers begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AnswerConfig {
    /// Around a prompt, and at an answer's end.
    pub(super) begin: u32,
    pub(super) end: u32,
    /// First token of an answer, and the one after it where the model is not asked.
    pub(super) start: u32,
    pub(super) forced: Option<u32>,
    /// So many tokens do not follow one another twice; 0 for no limit.
    pub(super) no_repeat: usize,
    /// With the first token, where the model's files say.
    pub(super) tokens_max: Option<usize>,
}

impl Florence2Config {
    pub(super) fn read(dir: &ModelDir) -> Result<Self, ModelError> {
        let mut config = dir.config(MODEL_TYPE, &defaults())?;
        let unusable = |reason: String| dir.unusable(&format!("config.json: {reason}"));
        if let Some(vision) = config.get_mut("vision_config") {
            from_microsofts(vision).map_err(unusable)?;
        }
        let file: ConfigFile =
            serde_json::from_value(config).map_err(|error| unusable(error.to_string()))?;
        let vision = file.vision_config.checked(file.text_config.d_model).map_err(unusable)?;
        let text = file.text_config.checked().map_err(unusable)?;
        let generation: GenerationFile =
            dir.optional_settings("generation_config.json")?.unwrap_or_default();
        let answer = file.text_config.generation.or(&generation).answer(text.words);
        Ok(Self { vision, text, answer: answer.map_err(unusable)? })
    }
}

impl VisionConfig {
    pub(super) fn last_width(&self) -> usize {
        self.stages.last().map_or(0, |stage| stage.width)
    }

    /// Side of the last map of a picture of `side` × `side` pixels.
    pub(super) fn last_side(&self, side: usize) -> Result<usize, String> {
        let mut last = side;
        for stage in &self.stages {
            last = stage.windows.along(last);
            if last == 0 || !last.is_multiple_of(self.window_size) {
                return Err(format!(
                    "a picture of {side}x{side} has a map of {last}x{last}, which windows of \
                     {} do not fill",
                    self.window_size
                ));
            }
        }
        if last > self.positions_max {
            let max = self.positions_max;
            return Err(format!("a last map of {last}x{last}, the model has {max} places a side"));
        }
        Ok(last)
    }
}

/// What `transformers` leaves out of a file where it is the default.
fn defaults() -> Value {
    json!({
        "vision_config": {
            "depths": [1, 1, 9, 1], "patch_size": [7, 3, 3, 3], "patch_stride": [4, 2, 2, 2],
            "patch_padding": [3, 1, 1, 1], "patch_prenorm": [false, true, true, true],
            "num_heads": [4, 8, 16, 32], "num_groups": [4, 8, 16, 32],
            "projection_dim": 1024, "window_size": 12, "mlp_ratio": 4.0, "qkv_bias": true,
            "activation_function": "gelu",
        },
        "text_config": {
            "vocab_size": 51289, "d_model": 1024, "max_position_embeddings": 1024,
            "encoder_layers": 12, "decoder_layers": 12,
            "encoder_attention_heads": 16, "decoder_attention_heads": 16,
            "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
            "activation_function": "gelu", "scale_embedding": false,
        },
    })
}

/// Gives the settings of Microsoft's layout the names that `transformers` has for them, and
/// refuses what only Microsoft's code can do.
fn from_microsofts(vision: &mut Value) -> Result<(), String> {
    let is = |pointer: &str, accepted: Value| match vision.pointer(pointer) {
        Some(found) if *found != accepted => {
            Err(format!("vision_config{pointer}: {found}, accepted is {accepted}"))
        }
        _ => Ok(()),
    };
    is("/image_pos_embed/type", json!("learned_abs_2d"))?;
    is("/visual_temporal_embedding/type", json!("COSINE"))?;
    is("/image_feature_source", json!(["spatial_avg_pool", "temporal_avg_pool"]))?;
    let width = vision.get("dim_embed").cloned();
    let positions = vision.pointer("/image_pos_embed/max_pos_embeddings").cloned();
    let Some(vision) = vision.as_object_mut() else { return Ok(()) };
    let default_width = json!([128, 256, 512, 1024]);
    vision.entry("embed_dim").or_insert(width.unwrap_or(default_width));
    vision.entry("max_position_embeddings").or_insert(positions.unwrap_or_else(|| json!(50)));
    Ok(())
}

#[derive(Deserialize)]
struct ConfigFile {
    vision_config: VisionFile,
    text_config: TextFile,
}

#[derive(Deserialize)]
struct VisionFile {
    depths: Vec<usize>,
    patch_size: Vec<usize>,
    patch_stride: Vec<usize>,
    patch_padding: Vec<usize>,
    patch_prenorm: Vec<bool>,
    embed_dim: Vec<usize>,
    num_heads: Vec<usize>,
    num_groups: Vec<usize>,
    window_size: usize,
    mlp_ratio: f64,
    qkv_bias: bool,
    activation_function: Activation,
    max_position_embeddings: usize,
    projection_dim: usize,
}

#[derive(Deserialize)]
struct TextFile {
    vocab_size: usize,
    d_model: usize,
    max_position_embeddings: usize,
    encoder_layers: usize,
    decoder_layers: usize,
    encoder_attention_heads: usize,
    decoder_attention_heads: usize,
    encoder_ffn_dim: usize,
    decoder_ffn_dim: usize,
    activation_function: Activation,
    scale_embedding: bool,
    #[serde(flatten)]
    generation: GenerationFile,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct GenerationFile {
    bos_token_id: Option<u32>,
    eos_token_id: Option<u32>,
    decoder_start_token_id: Option<u32>,
    forced_bos_token_id: Option<u32>,
    no_repeat_ngram_size: Option<usize>,
    max_length: Option<usize>,
    max_new_tokens: Option<usize>,
}

impl VisionFile {
    fn checked(&self, projected: usize) -> Result<VisionConfig, String> {
        let Self { window_size, mlp_ratio, qkv_bias, projection_dim, .. } = self;
        if (*mlp_ratio - 4.0).abs() > f64::EPSILON || !qkv_bias {
            return Err(format!(
                "vision_config: mlp_ratio {mlp_ratio} and qkv_bias {qkv_bias}, accepted are 4 \
                 and true"
            ));
        }
        if *projection_dim != projected {
            return Err(format!(
                "vision_config: projection_dim {projection_dim}, the text network has {projected}"
            ));
        }
        if *window_size == 0 || self.embed_dim.is_empty() {
            return Err("vision_config: window_size and embed_dim must not be empty".to_owned());
        }
        let stages = (0..self.embed_dim.len()).map(|at| {
            let stage = self.stage(at);
            let stage = stage.ok_or_else(|| format!("vision_config: no settings of stage {at}"));
            stage.and_then(|stage| check_stage(&stage, at).map(|()| stage))
        });
        Ok(VisionConfig {
            stages: stages.collect::<Result<_, _>>()?,
            window_size: *window_size,
            positions_max: self.max_position_embeddings,
        })
    }

    fn stage(&self, at: usize) -> Option<StageConfig> {
        let width = *self.embed_dim.get(at)?;
        Some(StageConfig {
            width,
            inner_width: 4 * width,
            windows: Windows {
                size: *self.patch_size.get(at)?,
                step: *self.patch_stride.get(at)?,
                padding: *self.patch_padding.get(at)?,
            },
            norm_first: *self.patch_prenorm.get(at)?,
            heads: *self.num_heads.get(at)?,
            groups: *self.num_groups.get(at)?,
            depth: *self.depths.get(at)?,
            activation: self.activation_function,
        })
    }
}

/// candle divides by these without looking.
fn check_stage(stage: &StageConfig, at: usize) -> Result<(), String> {
    let &StageConfig { width, heads, groups, windows, .. } = stage;
    check_parts(&format!("vision_config: embed_dim[{at}] in num_heads"), width, heads)?;
    check_parts(&format!("vision_config: embed_dim[{at}] in num_groups"), width, groups)?;
    let Windows { size, step, padding } = windows;
    if step == 0 || padding >= size {
        return Err(format!(
            "vision_config: stage {at} has windows of {size} with stride {step} and padding \
             {padding}, accepted are a stride above 0 and less padding than that"
        ));
    }
    Ok(())
}

fn check_parts(name: &str, whole: usize, parts: usize) -> Result<(), String> {
    if parts == 0 || !whole.is_multiple_of(parts) {
        return Err(format!("{name}: {whole} in {parts}"));
    }
    Ok(())
}

impl TextFile {
    fn checked(&self) -> Result<TextConfig, String> {
        let Self { d_model, encoder_attention_heads, decoder_attention_heads, .. } = *self;
        if self.scale_embedding {
            return Err("text_config: scale_embedding is true, accepted is false".to_owned());
        }
        check_parts("text_config: d_model in heads", d_model, encoder_attention_heads)?;
        check_parts("text_config: d_model in heads", d_model, decoder_attention_heads)?;
        Ok(TextConfig {
            words: self.vocab_size,
            width: d_model,
            encoder_layers: self.encoder_layers,
            decoder_layers: self.decoder_layers,
            encoder_heads: encoder_attention_heads,
            decoder_heads: decoder_attention_heads,
            encoder_inner_width: self.encoder_ffn_dim,
            decoder_inner_width: self.decoder_ffn_dim,
            positions_max: self.max_position_embeddings,
            activation: self.activation_function,
        })
    }
}

impl GenerationFile {
    /// What `first` says, and what only this one does: `transformers` takes a file of its own
    /// before the model's.
    fn or(self, first: &Self) -> Self {
        Self {
            bos_token_id: first.bos_token_id.or(self.bos_token_id),
            eos_token_id: first.eos_token_id.or(self.eos_token_id),
            decoder_start_token_id: first.decoder_start_token_id.or(self.decoder_start_token_id),
            forced_bos_token_id: first.forced_bos_token_id.or(self.forced_bos_token_id),
            no_repeat_ngram_size: first.no_repeat_ngram_size.or(self.no_repeat_ngram_size),
            // Of its own file only.
            max_length: first.max_length,
            max_new_tokens: first.max_new_tokens,
        }
    }

    fn answer(self, words: usize) -> Result<AnswerConfig, String> {
        let answer = AnswerConfig {
            begin: self.bos_token_id.unwrap_or(0),
            end: self.eos_token_id.unwrap_or(2),
            start: self.decoder_start_token_id.unwrap_or(2),
            forced: self.forced_bos_token_id,
            no_repeat: self.no_repeat_ngram_size.unwrap_or(0),
            tokens_max: self.max_new_tokens.map(|new| new.saturating_add(1)).or(self.max_length),
        };
        let AnswerConfig { begin, end, start, forced, .. } = answer;
        let used = [Some(begin), Some(end), Some(start), forced];
        match used.into_iter().flatten().find(|token| *token as usize >= words) {
            Some(token) => Err(format!("token {token} of {words} is no word")),
            None => Ok(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(config: &Value) -> Result<Florence2Config, ModelError> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), config.to_string()).unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        let generation = json!({"no_repeat_ngram_size": 2, "max_length": 9});
        fs::write(dir.path().join("generation_config.json"), generation.to_string()).unwrap();
        Florence2Config::read(&ModelDir::open(dir.path()).unwrap())
    }

    /// As Microsoft's code reads it.
    fn microsofts_base() -> Value {
        json!({
            "model_type": "florence2", "projection_dim": 768, "vocab_size": 51289,
            "text_config": {
                "vocab_size": 51289, "d_model": 768, "encoder_layers": 6, "decoder_layers": 6,
                "encoder_attention_heads": 12, "decoder_attention_heads": 12,
                "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "bos_token_id": 0,
                "eos_token_id": 2, "decoder_start_token_id": 2, "forced_bos_token_id": 0,
                "no_repeat_ngram_size": 3, "num_beams": 3,
            },
            "vision_config": {
                "model_type": "davit", "dim_embed": [128, 256, 512, 1024],
                "num_heads": [4, 8, 16, 32], "num_groups": [4, 8, 16, 32],
                "projection_dim": 768, "window_size": 12,
                "visual_temporal_embedding": {"type": "COSINE", "max_temporal_embeddings": 100},
                "image_pos_embed": {"type": "learned_abs_2d", "max_pos_embeddings": 40},
                "image_feature_source": ["spatial_avg_pool", "temporal_avg_pool"],
            },
        })
    }

    #[test]
    fn both_layouts_of_settings_say_the_same() {
        let theirs = read(&microsofts_base()).unwrap();
        let mut native = microsofts_base();
        native["vision_config"] = json!({
            "model_type": "florence_vision", "embed_dim": [128, 256, 512, 1024],
            "projection_dim": 768, "max_position_embeddings": 40,
        });
        assert_eq!(read(&native).unwrap(), theirs);
        let widths: Vec<usize> = theirs.vision.stages.iter().map(|it| it.width).collect();
        assert_eq!((widths, theirs.vision.positions_max), (vec![128, 256, 512, 1024], 40));
        assert_eq!(theirs.vision.last_side(768), Ok(24));
        let AnswerConfig { begin, end, start, forced, no_repeat, tokens_max } = theirs.answer;
        assert_eq!((begin, end, start, forced), (0, 2, 2, Some(0)));
        assert_eq!((no_repeat, tokens_max), (2, Some(9)));
    }

    #[test]
    fn settings_that_would_give_another_network_are_refused() {
        let check = |pointer: &str, value: Value, words: &str| {
            let mut config = microsofts_base();
            *config.pointer_mut(pointer).unwrap() = value;
            let text = read(&config).unwrap_err().to_string();
            assert!(text.contains("config.json") && text.contains(words), "{text}");
        };
        check("/model_type", json!("blip"), "accepted is \"florence2\"");
        check("/vision_config/image_pos_embed/type", json!("sine"), "learned_abs_2d");
        check("/vision_config/image_feature_source", json!(["last_frame"]), "temporal_avg_pool");
        check("/vision_config/num_heads", json!([4, 8, 16, 33]), "embed_dim[3] in num_heads");
        check("/vision_config/num_groups", json!([4, 8, 16]), "no settings of stage 3");
        check("/vision_config/projection_dim", json!(512), "the text network has 768");
        check("/vision_config/window_size", json!(0), "window_size");
        check("/text_config/encoder_attention_heads", json!(0), "d_model in heads");
        check("/text_config/bos_token_id", json!(51289), "no word");
    }

    #[test]
    fn pictures_that_windows_do_not_fill_are_refused() {
        let vision = read(&microsofts_base()).unwrap().vision;
        assert!(vision.last_side(512).unwrap_err().contains("512x512"));
        assert!(vision.last_side(1536).unwrap_err().contains("40 places"));
        vision.last_side(0).unwrap_err();
    }
}
