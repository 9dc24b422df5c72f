//! The reader of captions: a small BERT that tells what each word of a sentence is, and
//! which word it belongs to.
//!
//! What a word belongs to is pointed at: the product of two projections, as in biaffine
//! parsing (Dozat & Manning 2017) without the affine part; `[CLS]` stands for none.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::Encoding;

use crate::language::tagged::{TaggedWord, WordRole};
use crate::model::encoder::{Encoder, Precision};
use crate::model::encoder_files::EncoderFiles;
use crate::model::layers::Linear;
use crate::model::tensors::Tensors;
use crate::model::threads::multiply_on_one_thread;
use crate::model::weights::ModelDir;
use crate::model::{CaptionTagger, ModelError, ModelIdentity};

/// Opens the reader in `path`: a BERT as [`crate::model::bert::load`] takes it, whose
/// `config.json` also names its `roles` and the `pointer_size`, and whose weights have the
/// layers `roles`, `dependant` and `governor`. Where it says `words_of`, tokens and their
/// vectors are those of the model of that name in the folder beside it.
///
/// That the files are there and whole is known now; the network is read when the first
/// caption comes. The vectors of tokens stay in their file.
pub fn load(path: &Path) -> Result<Box<dyn CaptionTagger>, ModelError> {
    multiply_on_one_thread();
    let dir = ModelDir::open(path)?;
    let identity = dir.identity()?;
    let answers: CaptionLabels = dir.settings("config.json", &Value::Null)?;
    let words = match &answers.words_of {
        Some(name) => ModelDir::open(&path.join("..").join(name))?,
        None => ModelDir::open(path)?,
    };
    let mut files = EncoderFiles::read_with_words_of(&dir, &words, Tensors::table_in_file)?;
    files.cut_texts().map_err(|error| dir.unusable(&error))?;
    Ok(Box::new(BertCaptionReader { identity, answers, dir, files, network: OnceLock::new() }))
}

/// What the numbers mean that the model answers with.
#[derive(Debug, Deserialize)]
struct CaptionLabels {
    roles: Vec<WordRole>,
    pointer_size: usize,
    #[serde(default)]
    words_of: Option<String>,
}

struct BertCaptionReader {
    identity: ModelIdentity,
    answers: CaptionLabels,
    dir: ModelDir,
    files: EncoderFiles,
    network: OnceLock<Result<CaptionNetwork, ModelError>>,
}

struct CaptionNetwork {
    encoder: Encoder,
    roles: Linear,
    dependant: Linear,
    governor: Linear,
}

impl fmt::Debug for BertCaptionReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, answers, dir: _, files: _, network: _ } = self;
        let mut shown = f.debug_struct("BertCaptionReader");
        shown.field("identity", identity).field("answers", answers).finish_non_exhaustive()
    }
}

impl CaptionTagger for BertCaptionReader {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn tag(&self, sentence: &str) -> Result<Vec<TaggedWord>, ModelError> {
        let network = self.network.get_or_init(|| {
            CaptionNetwork::load(&self.files, &self.answers)
                .map_err(|error| self.dir.unusable(&error))
        });
        let network = network.as_ref().map_err(Clone::clone)?;
        let tokens =
            self.files.tokenizer.encode(sentence, true).map_err(|error| to_error(&error))?;
        network.tag(&tokens, &self.answers.roles).map_err(|error| to_error(&error))
    }
}

impl CaptionNetwork {
    fn load(files: &EncoderFiles, answers: &CaptionLabels) -> candle_core::Result<Self> {
        let layer = |name: &str, outputs| {
            Linear::load_transposed(files.config.hidden_size, outputs, &files.weights.pp(name))
        };
        Ok(Self {
            encoder: Encoder::load(files, Precision::Quantized)?,
            roles: layer("roles", answers.roles.len())?,
            dependant: layer("dependant", answers.pointer_size)?,
            governor: layer("governor", answers.pointer_size)?,
        })
    }

    fn tag(&self, tokens: &Encoding, roles: &[WordRole]) -> candle_core::Result<Vec<TaggedWord>> {
        let words = words_of(tokens);
        let rows = self.encoder.forward(&[tokens.get_ids()])?.flatten(0, 1)?;
        let scores = self.roles.forward(&rows)?.to_vec2::<f32>()?;
        let dependants = self.dependant.forward(&rows)?;
        let governors = self.governor.forward(&rows)?;
        let pointed = dependants.matmul(&governors.t()?)?.to_vec2::<f32>()?;
        let role = |(token, _): &(usize, Range<usize>)| {
            let scores = scores.get(*token).map(Vec::as_slice).unwrap_or_default();
            let best = scores.iter().zip(roles).max_by(|(a, _), (b, _)| a.total_cmp(b));
            best.map_or(WordRole::None, |(_, role)| *role)
        };
        let said = settle(words.iter().map(role).collect());
        let firsts: Vec<usize> = words.iter().map(|(token, _)| *token).collect();
        let tagged = words.iter().enumerate().map(|(at, (token, span))| {
            let scores = pointed.get(*token).map(Vec::as_slice).unwrap_or_default();
            let to = governor_of(at, &said, &firsts, scores);
            let role = said.get(at).copied().unwrap_or(WordRole::None);
            TaggedWord { at: span.clone(), role, to }
        });
        Ok(tagged.collect())
    }
}

/// The first token of each word, and where the word stands.
fn words_of(tokens: &Encoding) -> Vec<(usize, Range<usize>)> {
    let mut words: Vec<(usize, Range<usize>)> = Vec::new();
    let mut before = None;
    let places = tokens.get_word_ids().iter().zip(tokens.get_offsets());
    for (token, (word, (start, end))) in places.enumerate() {
        let Some(word) = word.filter(|_| end > start) else { continue };
        match words.last_mut().filter(|_| before == Some(word)) {
            Some((_, span)) => span.end = *end,
            None => words.push((token, *start..*end)),
        }
        before = Some(word);
    }
    words
}

/// A part that no name follows is the name itself.
fn settle(mut roles: Vec<WordRole>) -> Vec<WordRole> {
    for at in 0..roles.len() {
        let goes_on = roles.get(at + 1).is_some_and(|it| *it == WordRole::Part || it.is_name());
        if let Some(role) = roles.get_mut(at).filter(|it| **it == WordRole::Part && !goes_on) {
            *role = WordRole::Thing;
        }
    }
    roles
}

/// The word that a word belongs to: of those that it may belong to the likeliest, where
/// that is likelier than none. `scores` are of all tokens, the first standing for none.
fn governor_of(at: usize, roles: &[WordRole], firsts: &[usize], scores: &[f32]) -> Option<usize> {
    let role = roles.get(at).copied()?;
    if role == WordRole::Part {
        let rest = roles.get(at..)?.iter().position(|it| *it != WordRole::Part)?;
        return Some(at + rest);
    }
    let is_relation = |it: &usize| roles.get(*it) == Some(&WordRole::Relation);
    if role == WordRole::Relation && at.checked_sub(1).is_some_and(|it| is_relation(&it)) {
        // "on top of": the first word of the run.
        return (0..at).rev().take_while(is_relation).last();
    }
    let score = |word: usize| firsts.get(word).and_then(|it| scores.get(*it)).copied();
    let may = |it: usize, other: WordRole| {
        it != at && role.may_belong_to(other) && (other != WordRole::Relation || it < at)
    };
    let allowed = roles.iter().enumerate().filter(|(it, other)| may(*it, **other));
    let scored = allowed.filter_map(|(it, _)| Some((score(it)?, it)));
    // Of equals the first.
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let always = matches!(role, WordRole::Attribute | WordRole::Count);
    let none = scores.first().copied().unwrap_or(f32::NEG_INFINITY);
    (always || best.0 > none).then_some(best.1)
}

fn to_error(error: &dyn fmt::Display) -> ModelError {
    ModelError::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_name_is_the_name() {
        use WordRole::{None, Part, Relation, Thing};
        let roles = settle(vec![Part, Thing, Relation, Part, Part, None]);
        assert_eq!(roles, [Part, Thing, Relation, Part, Thing, None]);
    }

    #[test]
    fn a_word_belongs_to_the_likeliest_that_it_may_belong_to() {
        use WordRole::{Attribute, Landmark, Relation, Thing};
        let roles = [Attribute, Thing, Relation, Landmark];
        let firsts = [1, 2, 3, 4];
        let of = |at, scores: [f32; 5]| governor_of(at, &roles, &firsts, &scores);
        assert_eq!(of(0, [9.0, 0.0, 1.0, 8.0, 2.0]), Some(3), "an attribute always has one");
        assert_eq!(of(3, [1.0, 0.0, 5.0, 2.0, 9.0]), Some(2), "never a thing, nor itself");
        assert_eq!(of(3, [3.0, 0.0, 5.0, 2.0, 9.0]), None, "none is likelier");
        let roles = [Relation, Relation, Landmark, Relation];
        let of = |at, scores: [f32; 5]| governor_of(at, &roles, &firsts, &scores);
        assert_eq!(of(1, [9.0, 0.0, 0.0, 9.0, 0.0]), Some(0), "a run has one governor");
        assert_eq!(of(2, [1.0, 2.0, 3.0, 0.0, 9.0]), Some(1), "no relation after the name");
    }
}
