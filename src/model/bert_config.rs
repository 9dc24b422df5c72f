//! Configuration of a model of the BERT family, as in its `config.json`.

use serde::Deserialize;
use serde_json::json;

use crate::model::ModelError;
use crate::model::layers::Activation;
use crate::model::weights::ModelDir;

/// Sizes of the network.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct BertConfig {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(super) hidden_act: Activation,
    pub(crate) max_position_embeddings: usize,
    pub(crate) type_vocab_size: usize,
    pub(crate) layer_norm_eps: f64,
}

impl BertConfig {
    /// Reads the file and checks it.
    pub(super) fn read(dir: &ModelDir) -> Result<Self, ModelError> {
        // What `transformers` leaves out of a file where it is the default.
        let defaults = json!({
            "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu",
            "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        });
        let file = dir.config("bert", &defaults)?;
        let config: Self = serde_json::from_value(file)
            .map_err(|error| dir.unusable(&format!("config.json: {error}")))?;
        let heads = config.num_attention_heads;
        if heads == 0 || !config.hidden_size.is_multiple_of(heads) {
            let reason = format!("hidden_size {} in {heads} heads", config.hidden_size);
            return Err(dir.unusable(&reason));
        }
        Ok(config)
    }
}
