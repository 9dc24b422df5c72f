//! Request reader: a small BERT that tags each token with a role, and classifies the whole
//! request: its intent, order, tense, and how many are wanted.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use candle_core::Tensor;
use serde::Deserialize;
use serde_json::Value;
use tokenizers::Encoding;

use crate::language::request_tags::{
    Asked, Count, Intent, Rank, Role, Superlative, TaggedRequest, TaggedSpan, Tense,
};
use crate::model::encoder::{Encoder, Precision};
use crate::model::encoder_files::EncoderFiles;
use crate::model::layers::Linear;
use crate::model::tensors::Tensors;
use crate::model::threads::multiply_on_one_thread;
use crate::model::weights::ModelDir;
use crate::model::{ModelError, ModelIdentity, RequestTagger};

/// Opens the reader in `path`: a BERT as [`crate::model::bert::load`] takes it, whose
/// `config.json` also lists its labels, and whose weights have a layer for each kind of them.
///
/// Files are checked now; the network is read with the first request, since a robot that is
/// never asked for objects does without it. The embedding table, half of the weights, stays in
/// its file.
pub fn load(path: &Path) -> Result<Box<dyn RequestTagger>, ModelError> {
    multiply_on_one_thread();
    let dir = ModelDir::open(path)?;
    let identity = dir.identity()?;
    let labels = dir.settings("config.json", &Value::Null)?;
    let mut files = EncoderFiles::read(&dir, Tensors::table_in_file)?;
    files.cut_texts().map_err(|error| dir.unusable(&error))?;
    Ok(Box::new(RequestReader { identity, labels, dir, files, network: OnceLock::new() }))
}

/// Labels of the model's outputs.
#[derive(Debug, Deserialize)]
struct RequestLabels {
    roles: Vec<Role>,
    orders: Vec<Superlative>,
    tenses: Vec<Tense>,
    intents: Vec<Intent>,
    asks: Vec<Asked>,
    ranks: Vec<Rank>,
    counts: Vec<Count>,
}

struct RequestReader {
    identity: ModelIdentity,
    labels: RequestLabels,
    dir: ModelDir,
    files: EncoderFiles,
    network: OnceLock<Result<RequestNetwork, ModelError>>,
}

struct RequestNetwork {
    encoder: Encoder,
    roles: Linear,
    whole: OfWhole,
}

/// What is read of the whole request, from the row that begins it.
struct OfWhole {
    order: Linear,
    tense: Linear,
    intent: Linear,
    asks: Linear,
    rank: Linear,
    count: Linear,
}

impl fmt::Debug for RequestReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, labels, dir: _, files: _, network: _ } = self;
        f.debug_struct("RequestReader")
            .field("identity", identity)
            .field("labels", labels)
            .finish_non_exhaustive()
    }
}

impl RequestTagger for RequestReader {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn tag(&self, request: &str) -> Result<TaggedRequest, ModelError> {
        let network = self.network.get_or_init(|| {
            RequestNetwork::load(&self.files, &self.labels)
                .map_err(|error| self.dir.unusable(&error))
        });
        let network = network.as_ref().map_err(Clone::clone)?;
        let tokens =
            self.files.tokenizer.encode(request, true).map_err(|error| to_error(&error))?;
        network.classify(request, &tokens, &self.labels).map_err(|error| to_error(&error))
    }
}

impl RequestNetwork {
    fn load(files: &EncoderFiles, labels: &RequestLabels) -> candle_core::Result<Self> {
        let layer = |name: &str, outputs| {
            Linear::load_transposed(files.config.hidden_size, outputs, &files.weights.pp(name))
        };
        Ok(Self {
            encoder: Encoder::load(files, Precision::Quantized)?,
            roles: layer("roles", labels.roles.len())?,
            whole: OfWhole {
                order: layer("order", labels.orders.len())?,
                tense: layer("tense", labels.tenses.len())?,
                intent: layer("intent", labels.intents.len())?,
                asks: layer("asks", labels.asks.len())?,
                rank: layer("rank", labels.ranks.len())?,
                count: layer("count", labels.counts.len())?,
            },
        })
    }

    fn classify(
        &self,
        request: &str,
        tokens: &Encoding,
        labels: &RequestLabels,
    ) -> candle_core::Result<TaggedRequest> {
        let Self { encoder, roles, whole } = self;
        let rows = encoder.forward(&[tokens.get_ids()])?.flatten(0, 1)?;
        let of_tokens: Vec<Role> = argmax(&roles.forward(&rows)?, &labels.roles, Role::None)?;
        let places = tokens.get_word_ids().iter().zip(tokens.get_offsets());
        let tokens = places.zip(of_tokens).map(|((word, (start, end)), role)| TaggedToken {
            word: *word,
            at: *start..*end,
            role,
        });
        let spans = spans(request, tokens);
        whole.classify(&rows.narrow(0, 0, 1)?, labels, spans)
    }
}

/// Logit by which it must be likelier that nothing is to be fetched: a robot that does not go
/// where it is sent is worse than one that goes in vain. On the 353 requests and others of
/// `models/request-reader/training/lists` but the last, it takes two more requests for what
/// they are, and three more others for requests.
const NO_REQUEST_MARGIN: f32 = 1.5;

impl OfWhole {
    fn classify(
        &self,
        first: &Tensor,
        labels: &RequestLabels,
        spans: Vec<TaggedSpan>,
    ) -> candle_core::Result<TaggedRequest> {
        let Self { order, tense, intent, asks, rank, count } = self;
        Ok(TaggedRequest {
            spans,
            order: one(order, first, &labels.orders)?,
            tense: one(tense, first, &labels.tenses)?,
            intent: likely_intent(&intent.forward(first)?, &labels.intents)?,
            asked: one(asks, first, &labels.asks)?,
            rank: one(rank, first, &labels.ranks)?,
            count: one(count, first, &labels.counts)?,
        })
    }
}

fn one<T: Copy + Default>(layer: &Linear, row: &Tensor, labels: &[T]) -> candle_core::Result<T> {
    let best = argmax(&layer.forward(row)?, labels, T::default())?;
    Ok(best.into_iter().next().unwrap_or_default())
}

fn likely_intent(row: &Tensor, labels: &[Intent]) -> candle_core::Result<Intent> {
    let logits: Vec<f32> = row.flatten_all()?.to_vec1()?;
    let likelihood = |(logit, intent): &(f32, Intent)| match intent {
        Intent::Fetch | Intent::Where => logit + NO_REQUEST_MARGIN,
        Intent::Question | Intent::Stop | Intent::Chat => *logit,
    };
    let intents = logits.into_iter().zip(labels.iter().copied());
    let likeliest = intents.max_by(|a, b| likelihood(a).total_cmp(&likelihood(b)));
    Ok(likeliest.map_or_else(Intent::default, |(_, intent)| intent))
}

/// Label with the highest logit of each row.
fn argmax<T: Copy>(rows: &Tensor, labels: &[T], none: T) -> candle_core::Result<Vec<T>> {
    let best = |row: &Vec<f32>| {
        let best = row.iter().zip(labels).max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.map_or(none, |(_, answer)| *answer)
    };
    Ok(rows.to_vec2()?.iter().map(best).collect())
}

/// Tagged word piece or sign.
struct TaggedToken {
    /// Number of the word; `None` for the special tokens.
    word: Option<u32>,
    /// In bytes.
    at: Range<usize>,
    role: Role,
}

/// Merges adjacent tokens of one role into spans.
fn spans(request: &str, tokens: impl Iterator<Item = TaggedToken>) -> Vec<TaggedSpan> {
    let mut spans: Vec<TaggedSpan> = Vec::new();
    let mut before: Option<(u32, Role)> = None;
    for TaggedToken { word, at, role } in tokens {
        let Some(word) = word else { continue };
        // All pieces of a word take the role of the first.
        let role = before.filter(|(last, _)| *last == word).map_or(role, |(_, role)| role);
        before = Some((word, role));
        if role == Role::None || at.is_empty() {
            continue;
        }
        match spans.last_mut().filter(|it| it.role == role) {
            Some(last) if request.get(last.at.end..at.start).is_some_and(joins) => {
                last.at.end = at.end;
            }
            _ => spans.push(TaggedSpan { role, at }),
        }
    }
    spans
}

/// Whether the text between two tokens joins them: "hand-made", "dog's".
fn joins(between: &str) -> bool {
    between.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '\'' | '’'))
}

fn to_error(error: &dyn fmt::Display) -> ModelError {
    ModelError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `words` are pieces with the number of their word and their role.
    fn check(request: &str, words: &[(&str, u32, Role)], expect: &[(Role, &str)]) {
        let mut from = 0;
        let token = |(text, word, role): &(&str, u32, Role)| {
            let start = from + request[from..].find(text).unwrap();
            from = start + text.len();
            TaggedToken { word: Some(*word), at: start..from, role: *role }
        };
        let found = spans(request, words.iter().map(token).collect::<Vec<_>>().into_iter());
        let found: Vec<(Role, &str)> =
            found.into_iter().map(|it| (it.role, &request[it.at])).collect();
        assert_eq!(found, expect, "{request}");
    }

    #[test]
    fn neighbouring_words_of_one_role_are_one_span() {
        use Role::{None, Place, Thing};
        check(
            "a dark red mug on my desk",
            &[
                ("a", 0, None),
                ("dark", 1, Thing),
                ("red", 2, Thing),
                ("mug", 3, Thing),
                ("on", 4, None),
                ("desk", 6, Place),
            ],
            &[(Thing, "dark red mug"), (Place, "desk")],
        );
        check(
            "a hand-made mug, mugs",
            &[
                ("hand", 1, Thing),
                ("-", 2, None),
                ("made", 3, Thing),
                ("mug", 4, Thing),
                ("mugs", 6, Thing),
            ],
            &[(Thing, "hand-made mug"), (Thing, "mugs")],
        );
    }

    #[test]
    fn a_word_in_pieces_has_the_role_of_its_first() {
        use Role::{Deed, None, Thing};
        check(
            "a windowsill, used",
            &[("window", 1, Thing), ("sill", 1, None), ("use", 3, None), ("d", 3, Deed)],
            &[(Thing, "windowsill")],
        );
    }
}
