//! Sentence-transformers' settings around a text encoder: pooling, longest text, prompts.

use serde::Deserialize;
use serde_json::{Map, Value};
use tokenizers::{Tokenizer, TruncationParams};

use crate::model::weights::ModelDir;
use crate::model::{ModelError, TextRole};

/// Fewer tokens than this leave no room for words between the special ones.
const TOKENS_MIN: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentenceSettings {
    pub(crate) pooling: Pooling,
    /// Longer texts are cut.
    pub(crate) tokens_max: usize,
    lowercase: bool,
    query_prefix: String,
    passage_prefix: String,
}

/// Pooling of token vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    /// That of the first token.
    First,
}

impl SentenceSettings {
    /// Reads what `dir` has of sentence-transformers' files; a bare encoder is
    /// pooled by the mean, as there. `positions` is the encoder's own limit.
    pub(crate) fn read(dir: &ModelDir, positions: usize) -> Result<Self, ModelError> {
        let transformer: TransformerFile =
            dir.optional_settings("sentence_bert_config.json")?.unwrap_or_default();
        let tokenizer: TokenizerFile =
            dir.optional_settings("tokenizer_config.json")?.unwrap_or_default();
        let prompts: PromptsFile =
            dir.optional_settings("config_sentence_transformers.json")?.unwrap_or_default();
        let tokens_max = transformer.max_seq_length.or_else(|| tokenizer.longest());
        let tokens_max = tokens_max.unwrap_or(positions);
        if tokens_max.min(positions) < TOKENS_MIN {
            let reason = format!("max_seq_length {tokens_max}: at least {TOKENS_MIN} are needed");
            return Err(dir.unusable(&reason));
        }
        Ok(Self {
            pooling: pooling_of(dir)?,
            tokens_max: tokens_max.min(positions),
            lowercase: transformer.do_lower_case,
            query_prefix: prompts.prefix(&["query"]),
            passage_prefix: prompts.prefix(&["document", "passage", "corpus"]),
        })
    }

    /// Makes `tokenizer` cut at the longest text and never pad: padding a query
    /// to a fixed length, as the file of all-MiniLM-L6-v2 asks, costs five
    /// times the work for the same vector.
    pub(crate) fn apply_to(&self, tokenizer: &mut Tokenizer) -> tokenizers::Result<()> {
        tokenizer.with_padding(None);
        let cut = TruncationParams { max_length: self.tokens_max, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut))?;
        Ok(())
    }

    /// Text with its prompt prefix.
    pub(crate) fn with_prompt(&self, role: TextRole, text: &str) -> String {
        let prefix = match role {
            TextRole::Query => &self.query_prefix,
            TextRole::Passage => &self.passage_prefix,
        };
        let whole = format!("{prefix}{text}");
        if self.lowercase { whole.to_lowercase() } else { whole }
    }
}

/// One entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TransformerFile {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenizerFile {
    /// A float where the model has no limit: 1e30.
    model_max_length: Option<f64>,
}

impl TokenizerFile {
    fn longest(&self) -> Option<usize> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small, just checked"
        )]
        self.model_max_length.filter(|max| (1.0..1e9).contains(max)).map(|max| max as usize)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptsFile {
    prompts: Map<String, Value>,
    default_prompt_name: Option<String>,
}

impl PromptsFile {
    /// The first of `names` that there is, else the default prompt, else nothing.
    fn prefix(&self, names: &[&str]) -> String {
        names
            .iter()
            .copied()
            .chain(self.default_prompt_name.as_deref())
            .find_map(|name| self.prompts.get(name).and_then(Value::as_str))
            .unwrap_or_default()
            .to_owned()
    }
}

fn pooling_of(dir: &ModelDir) -> Result<Pooling, ModelError> {
    let modules: Vec<Module> = dir.optional_settings("modules.json")?.unwrap_or_default();
    let mut pooling = Pooling::Mean;
    for module in &modules {
        match module.kind.rsplit('.').next().unwrap_or_default() {
            // Every embedding is normalised, whether the model says so or not.
            "Transformer" | "Normalize" => {}
            "Pooling" => pooling = pooling_mode(dir, &format!("{}/config.json", module.path))?,
            other => {
                let reason = format!(
                    "modules.json: {other:?} is not supported; accepted are \
                     Transformer, Pooling, Normalize"
                );
                return Err(dir.unusable(&reason));
            }
        }
    }
    Ok(pooling)
}

/// Both spellings: `pooling_mode: "mean"`, and the older `pooling_mode_mean_tokens: true`.
fn pooling_mode(dir: &ModelDir, name: &str) -> Result<Pooling, ModelError> {
    let file: Map<String, Value> = dir.settings(name, &Value::Null)?;
    let mut modes: Vec<&str> = Vec::new();
    for (key, value) in &file {
        match (key.strip_prefix("pooling_mode"), value) {
            (Some(""), Value::String(mode)) => modes.push(mode),
            (Some(""), Value::Array(list)) => modes.extend(list.iter().filter_map(Value::as_str)),
            (Some(mode), Value::Bool(true)) => {
                modes.push(mode.trim_start_matches('_').trim_end_matches("_tokens"));
            }
            _ => {}
        }
    }
    if file.get("include_prompt") == Some(&Value::Bool(false)) {
        return Err(dir.unusable(&format!("{name}: include_prompt = false is not supported")));
    }
    match modes.as_slice() {
        ["mean"] | [] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::First),
        other => {
            let reason = format!("{name}: pooling {other:?}, accepted are \"mean\" and \"cls\"");
            Err(dir.unusable(&reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use serde_json::json;
    use tempfile::TempDir;

    fn model_dir(files: &[(&str, Value)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        write("config.json", "{}");
        write("model.safetensors", "");
        for (name, value) in files {
            write(name, &value.to_string());
        }
        dir
    }

    fn read(path: &Path) -> Result<SentenceSettings, ModelError> {
        SentenceSettings::read(&ModelDir::open(path).unwrap(), 512)
    }

    fn read_pooling(config: Value) -> Result<Pooling, ModelError> {
        let modules = json!([
            {"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ]);
        let dir = model_dir(&[("modules.json", modules), ("1_Pooling/config.json", config)]);
        read(dir.path()).map(|settings| settings.pooling)
    }

    #[test]
    fn a_bare_encoder_is_pooled_by_the_mean() {
        let settings = read(model_dir(&[]).path()).unwrap();
        assert_eq!(settings.pooling, Pooling::Mean);
        assert_eq!(settings.tokens_max, 512);
        assert_eq!(settings.with_prompt(TextRole::Query, "A mug"), "A mug");
    }

    #[test]
    fn pooling_is_read_in_both_writings() {
        let old = |mode: &str| {
            let on = |name: &str| Value::Bool(name == mode);
            json!({"word_embedding_dimension": 8,
                "pooling_mode_cls_token": on("cls"), "pooling_mode_mean_tokens": on("mean")})
        };
        assert_eq!(read_pooling(old("mean")), Ok(Pooling::Mean));
        assert_eq!(read_pooling(old("cls")), Ok(Pooling::First));
        assert_eq!(read_pooling(json!({"pooling_mode": "cls"})), Ok(Pooling::First));
        assert_eq!(read_pooling(json!({"pooling_mode": ["mean"]})), Ok(Pooling::Mean));
    }

    #[test]
    fn settings_that_would_give_other_vectors_are_refused() {
        for config in [
            json!({"pooling_mode": "max"}),
            json!({"pooling_mode": ["mean", "cls"]}),
            json!({"pooling_mode": "mean", "include_prompt": false}),
        ] {
            assert!(matches!(read_pooling(config), Err(ModelError::Unusable { .. })));
        }
        let dense = json!([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]);
        let error = read(model_dir(&[("modules.json", dense)]).path()).unwrap_err();
        assert!(error.to_string().contains("Dense"), "{error}");
        let short = json!({"max_seq_length": 2});
        let error = read(model_dir(&[("sentence_bert_config.json", short)]).path()).unwrap_err();
        assert!(error.to_string().contains("max_seq_length 2"), "{error}");
    }

    #[test]
    fn the_shortest_of_all_limits_holds() {
        let tokens = |transformer: Value, tokenizer: Value| {
            let dir = model_dir(&[
                ("sentence_bert_config.json", transformer),
                ("tokenizer_config.json", tokenizer),
            ]);
            read(dir.path()).unwrap().tokens_max
        };
        assert_eq!(tokens(json!({"max_seq_length": 256}), json!({"model_max_length": 512})), 256);
        assert_eq!(tokens(json!({}), json!({"model_max_length": 128})), 128);
        assert_eq!(tokens(json!({}), json!({"model_max_length": 1e30})), 512);
        assert_eq!(tokens(json!({"max_seq_length": 8192}), json!({})), 512);
    }

    #[test]
    fn prompts_stand_before_the_text_by_role() {
        let prompts = json!({"prompts": {"query": "query: ", "document": "passage: "}});
        let lower = json!({"do_lower_case": true});
        let dir = model_dir(&[
            ("config_sentence_transformers.json", prompts),
            ("sentence_bert_config.json", lower),
        ]);
        let settings = read(dir.path()).unwrap();
        assert_eq!(settings.with_prompt(TextRole::Query, "A mug"), "query: a mug");
        assert_eq!(settings.with_prompt(TextRole::Passage, "A mug"), "passage: a mug");
    }
}
