//! Settings of a `SmolVLM`: of its `config.json`, as the first or the second was published or as
//! `transformers` 5 saves them, and of `generation_config.json`. Knows no weights.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::ModelError;
use crate::model::layers::Activation;
use crate::model::smolvlm::MODEL_TYPES;
use crate::model::vision_transformer::LayerShape;
use crate::model::weights::ModelDir;

#[derive(Debug, Clone)]
pub(super) struct SmolVlmConfig {
    pub(super) vision: VisionConfig,
    pub(super) text: TextConfig,
    /// Patches along the side of a square of them, which the text network reads as one row.
    pub(super) scale: usize,
    /// Token in whose place a row of the picture stands.
    pub(super) image_token: u32,
    /// Whether a next token is measured by the table of tokens.
    pub(super) is_tied: bool,
    pub(super) generation: GenerationConfig,
}

#[derive(Debug, Clone)]
pub(super) struct VisionConfig {
    /// In pixels.
    pub(super) side: usize,
    pub(super) patch_size: usize,
    pub(super) shape: LayerShape,
    pub(super) layers: usize,
}

#[derive(Debug, Clone)]
pub(super) struct TextConfig {
    /// Rows of the table of tokens.
    pub(super) words: usize,
    pub(super) width: usize,
    pub(super) inner_width: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) key_heads: usize,
    pub(super) head_width: usize,
    pub(super) positions_max: usize,
    pub(super) epsilon: f64,
    /// Of the powers by which positions turn a vector's parts.
    pub(super) turn_base: f64,
}

/// How answers end, where the files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GenerationConfig {
    pub(super) ends: Option<Vec<u32>>,
    pub(super) tokens_max: Option<usize>,
}

impl SmolVlmConfig {
    pub(super) fn read(dir: &ModelDir) -> Result<Self, ModelError> {
        let config: Value = dir.settings("config.json", &defaults())?;
        let unusable = |reason: String| dir.unusable(&format!("config.json: {reason}"));
        let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
        if !MODEL_TYPES.contains(&kind) {
            let accepted = MODEL_TYPES.map(|kind| format!("{kind:?}")).join(" and ");
            return Err(unusable(format!("model_type {kind:?}, accepted are {accepted}")));
        }
        let file: ConfigFile =
            serde_json::from_value(config).map_err(|error| unusable(error.to_string()))?;
        let generation: GenerationFile =
            dir.optional_settings("generation_config.json")?.unwrap_or_default();
        file.checked(generation).map_err(unusable)
    }

    /// Rows that the text network reads of a picture.
    pub(super) fn picture_rows(&self) -> usize {
        let squares = self.vision.side / self.vision.patch_size / self.scale;
        squares * squares
    }
}

/// What `transformers` leaves out of a file where it is the default.
fn defaults() -> Value {
    json!({
        "scale_factor": 2, "image_token_id": 128_257, "tie_word_embeddings": false,
        "vision_config": {
            "hidden_size": 1152, "intermediate_size": 3072, "num_hidden_layers": 12,
            "num_attention_heads": 16, "image_size": 224, "patch_size": 32,
            "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6,
        },
        "text_config": {
            "vocab_size": 32_000, "hidden_size": 4096, "intermediate_size": 11_008,
            "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
            "max_position_embeddings": 2048, "rms_norm_eps": 1e-6,
        },
    })
}

#[derive(Deserialize)]
struct ConfigFile {
    vision_config: VisionFile,
    text_config: TextFile,
    scale_factor: usize,
    image_token_id: u32,
    tie_word_embeddings: bool,
}

#[derive(Deserialize)]
struct VisionFile {
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    image_size: usize,
    patch_size: usize,
    hidden_act: Activation,
    layer_norm_eps: f64,
}

#[derive(Deserialize)]
struct TextFile {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    hidden_act: String,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    rope_theta: Option<f64>,
    rope_scaling: Option<Value>,
    /// Where `transformers` 5 saves both.
    rope_parameters: Option<RopeFile>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// What makes another network of it where it is true.
const SWITCHES: [&str; 5] =
    ["attention_bias", "mlp_bias", "qk_layer_norms", "use_resampler", "rope_interleaved"];

#[derive(Deserialize)]
struct RopeFile {
    rope_theta: Option<f64>,
    rope_type: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GenerationFile {
    eos_token_id: Option<OneOrMore>,
    max_new_tokens: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(u32),
    More(Vec<u32>),
}

impl ConfigFile {
    fn checked(self, generation: GenerationFile) -> Result<SmolVlmConfig, String> {
        let Self { scale_factor: scale, image_token_id: image_token, .. } = self;
        let text = self.text_config.checked()?;
        let vision = self.vision_config.checked(scale)?;
        let ends = generation.eos_token_id.map(|ends| match ends {
            OneOrMore::One(end) => vec![end],
            OneOrMore::More(ends) => ends,
        });
        let mut used = [image_token].into_iter().chain(ends.iter().flatten().copied());
        if let Some(token) = used.find(|token| *token as usize >= text.words) {
            return Err(format!("token {token}, the model has {}", text.words));
        }
        Ok(SmolVlmConfig {
            vision,
            text,
            scale,
            image_token,
            is_tied: self.tie_word_embeddings,
            generation: GenerationConfig { ends, tokens_max: generation.max_new_tokens },
        })
    }
}

impl VisionFile {
    fn checked(self, scale: usize) -> Result<VisionConfig, String> {
        let Self { hidden_size, num_attention_heads, image_size, patch_size, .. } = self;
        check_parts("vision_config: hidden_size in heads", hidden_size, num_attention_heads)?;
        check_parts("vision_config: image_size in patches", image_size, patch_size)?;
        check_parts("scale_factor: a side's patches in squares", image_size / patch_size, scale)?;
        Ok(VisionConfig {
            side: image_size,
            patch_size,
            shape: LayerShape {
                width: hidden_size,
                inner_width: self.intermediate_size,
                heads: num_attention_heads,
                epsilon: self.layer_norm_eps,
                activation: self.hidden_act,
            },
            layers: self.num_hidden_layers,
        })
    }
}

impl TextFile {
    fn checked(self) -> Result<TextConfig, String> {
        self.refuse_others()?;
        let (width, heads) = (self.hidden_size, self.num_attention_heads);
        let key_heads = self.num_key_value_heads.unwrap_or(heads);
        check_parts("text_config: num_attention_heads in num_key_value_heads", heads, key_heads)?;
        let head_width = if let Some(head_width) = self.head_dim {
            head_width
        } else {
            check_parts("text_config: hidden_size in heads", width, heads)?;
            width / heads
        };
        check_parts("text_config: head_dim in halves", head_width, 2)?;
        let saved_by_5 = self.rope_parameters.and_then(|rope| rope.rope_theta);
        Ok(TextConfig {
            words: self.vocab_size,
            width,
            inner_width: self.intermediate_size,
            layers: self.num_hidden_layers,
            heads,
            key_heads,
            head_width,
            positions_max: self.max_position_embeddings,
            epsilon: self.rms_norm_eps,
            turn_base: saved_by_5.or(self.rope_theta).unwrap_or(10_000.0),
        })
    }

    /// Refuses what would be another network.
    fn refuse_others(&self) -> Result<(), String> {
        let Self { model_type, hidden_act, rope_scaling, rope_parameters, .. } = self;
        if model_type != "llama" {
            let accepted = "accepted is \"llama\" (SmolVLM-256M, SmolVLM-500M)";
            return Err(format!("text_config: model_type {model_type:?}, {accepted}"));
        }
        if hidden_act != "silu" {
            return Err(format!("text_config: hidden_act {hidden_act:?}, accepted is \"silu\""));
        }
        let rope_type = rope_parameters.as_ref().and_then(|rope| rope.rope_type.as_deref());
        if rope_scaling.is_some() || rope_type.is_some_and(|it| it != "default") {
            return Err("text_config: positions are scaled; accepted is rope_type \"default\" \
                        without rope_scaling"
                .to_owned());
        }
        match SWITCHES.iter().find(|name| self.others.get(**name) == Some(&Value::Bool(true))) {
            Some(name) => Err(format!("text_config: {name} is true, accepted is false")),
            None => Ok(()),
        }
    }
}

/// candle divides by these without looking.
fn check_parts(name: &str, whole: usize, parts: usize) -> Result<(), String> {
    if parts == 0 || !whole.is_multiple_of(parts) {
        return Err(format!("{name}: {whole} in {parts}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(config: &Value, generation: &str) -> Result<SmolVlmConfig, ModelError> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.json"), config.to_string()).unwrap();
        fs::write(dir.path().join("model.safetensors"), "").unwrap();
        fs::write(dir.path().join("generation_config.json"), generation).unwrap();
        SmolVlmConfig::read(&ModelDir::open(dir.path()).unwrap())
    }

    /// What 500M's settings say of the network, in the form of the published files.
    fn published() -> Value {
        json!({
            "model_type": "idefics3", "image_token_id": 49190, "scale_factor": 4,
            "tie_word_embeddings": false, "vocab_size": 49280,
            "text_config": {
                "model_type": "llama", "head_dim": 64, "hidden_size": 960,
                "intermediate_size": 2560, "is_llama_config": true,
                "max_position_embeddings": 8192, "num_attention_heads": 15,
                "num_hidden_layers": 32, "num_key_value_heads": 5, "pixel_shuffle_factor": 4,
                "qk_layer_norms": false, "rms_norm_eps": 1e-05, "rope_interleaved": false,
                "rope_scaling": null, "rope_theta": 100_000, "use_resampler": false,
                "vocab_size": 49280,
            },
            "vision_config": {
                "hidden_size": 768, "image_size": 512, "model_type": "idefics3_vision",
                "max_image_size": {"longest_edge": 512}, "num_attention_heads": 12,
                "patch_size": 16, "size": {"longest_edge": 2048}, "use_base_siglip": false,
            },
        })
    }

    /// The file that both models were published with.
    const GENERATION: &str = "{\n  \"_from_model_config\": true,\n  \"bos_token_id\": 0,\n  \
        \"eos_token_id\": 49279,\n  \"pad_token_id\": 2,\n  \
        \"transformers_version\": \"4.46.0\"\n}\n";

    #[test]
    fn published_settings_of_either_generation_and_those_of_transformers_5_say_the_same() {
        use sha2::{Digest as _, Sha256};
        let known = crate::model::known_models::KnownModel::of_name("smolvlm-500m").unwrap();
        let file = known.files.iter().find(|it| it.path == "generation_config.json").unwrap();
        let hash = format!("{:x}", Sha256::digest(GENERATION));
        assert_eq!(file.sha256, Some(hash.as_str()));
        let first = read(&published(), GENERATION).unwrap();
        assert_eq!(first.picture_rows(), 64);
        assert_eq!((first.vision.layers, first.vision.shape.inner_width), (12, 3072));
        let expected = GenerationConfig { ends: Some(vec![49_279]), tokens_max: None };
        assert_eq!(first.generation, expected);
        assert_eq!((first.text.heads, first.text.key_heads, first.text.head_width), (15, 5, 64));
        let mut second = published();
        second["model_type"] = json!("smolvlm");
        let mut by_5 = published();
        let text = by_5["text_config"].as_object_mut().unwrap();
        text.remove("rope_theta");
        text.remove("head_dim");
        text.insert(
            "rope_parameters".to_owned(),
            json!({"rope_theta": 100_000.0, "rope_type": "default"}),
        );
        for other in [second, by_5] {
            let other = read(&other, r#"{"eos_token_id": [49279]}"#).unwrap();
            assert_eq!(format!("{other:?}"), format!("{first:?}"));
        }
    }

    #[test]
    fn settings_that_would_give_another_network_are_refused() {
        let check = |pointer: &str, value: Value, words: &str| {
            let mut config = published();
            *config.pointer_mut(pointer).unwrap() = value;
            let text = read(&config, GENERATION).unwrap_err().to_string();
            assert!(text.contains("config.json") && text.contains(words), "{text}");
        };
        check("/model_type", json!("qwen2_vl"), "accepted are \"idefics3\" and \"smolvlm\"");
        check("/text_config/model_type", json!("mistral"), "accepted is \"llama\"");
        check("/text_config/num_key_value_heads", json!(4), "15 in 4");
        check("/text_config/head_dim", json!(63), "in halves: 63 in 2");
        check("/text_config/rope_scaling", json!({"type": "yarn"}), "positions are scaled");
        check("/text_config/qk_layer_norms", json!(true), "qk_layer_norms is true");
        check("/text_config/vocab_size", json!(49_190), "token 49190, the model has 49190");
        check("/vision_config/num_attention_heads", json!(0), "hidden_size in heads");
        check("/vision_config/patch_size", json!(15), "image_size in patches");
        check("/scale_factor", json!(5), "scale_factor");
    }
}
