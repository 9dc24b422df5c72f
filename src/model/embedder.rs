//! Text embedder, shared by any number of threads.
//!
//! The caller computes, in parallel with others: the model is read only, and a query would wait
//! longer for another thread to wake than for its vector. A panic in the model is that
//! request's error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::base::embedding::Embedding;
use crate::base::panic::panic_text;
use crate::model::calibration::Calibration;
use crate::model::{Embedder, ModelError, ModelIdentity, TextRole};

/// Share of a text's letters from which on its vector counts.
const READ_MIN: f32 = 0.7;

/// A shared embedder; clones ask the same model.
#[derive(Debug, Clone)]
pub struct EmbedderHandle {
    model: Arc<dyn Embedder>,
    calibration: Arc<Calibration>,
}

impl EmbedderHandle {
    pub fn new(model: Box<dyn Embedder>) -> Self {
        Self { model: model.into(), calibration: Arc::default() }
    }

    pub fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    /// Dimension of its vectors.
    pub fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// The same model with a calibration; without one, cosines are taken as they are.
    #[must_use]
    pub fn with_calibration(self, calibration: Calibration) -> Self {
        Self { calibration: Arc::new(calibration), ..self }
    }

    /// Similarity of two texts, from 0 to 1, on the scale common to all embedders (see
    /// [`Calibration`]); thresholds are on this scale.
    pub fn similarity(&self, a: &Embedding, b: &Embedding) -> f32 {
        self.calibration.similarity(a.cosine(b))
    }

    /// Calibration, for callers that have the cosine already.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Whether the model knows the script of a text. Where not, its vector says nothing
    /// and must not count; its words can still be matched as they are written.
    pub fn reads(&self, text: &str) -> bool {
        self.model.share_read(text) >= READ_MIN
    }

    pub fn embed(&self, role: TextRole, text: &str) -> Result<Embedding, ModelError> {
        self.embed_batch(role, &[text])?.pop().ok_or_else(incomplete)
    }

    /// One vector a text, in the order of `texts`.
    pub fn embed_batch(
        &self,
        role: TextRole,
        texts: &[&str],
    ) -> Result<Vec<Embedding>, ModelError> {
        let vectors = unless_it_panics(|| self.model.embed(role, texts))?;
        if vectors.len() == texts.len() { Ok(vectors) } else { Err(incomplete()) }
    }

    /// See [`Embedder::max_similarity`].
    pub fn max_similarity(
        &self,
        query: &str,
        passages: &[&str],
    ) -> Result<Option<Vec<f32>>, ModelError> {
        let found = unless_it_panics(|| self.model.max_similarity(query, passages))?;
        let is_whole = found.as_ref().is_none_or(|it| it.len() == passages.len());
        if is_whole { Ok(found) } else { Err(incomplete()) }
    }
}

fn unless_it_panics<T>(ask: impl FnOnce() -> Result<T, ModelError>) -> Result<T, ModelError> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        Err(ModelError::Failed(format!("it panicked: {}", panic_text(panic.as_ref()))))
    })
}

fn incomplete() -> ModelError {
    ModelError::Failed("it did not answer every text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scripted::ScriptedEmbedder;

    use std::sync::Barrier;

    /// Panics, answers too little, or waits for another, as the text tells.
    #[derive(Debug)]
    struct Moody {
        inner: ScriptedEmbedder,
        gate: Barrier,
    }

    impl Embedder for Moody {
        fn identity(&self) -> &ModelIdentity {
            self.inner.identity()
        }

        fn dimension(&self) -> usize {
            self.inner.dimension()
        }

        fn embed(&self, role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
            match texts {
                ["panic"] => panic!("a bad day"),
                ["nothing"] => return Ok(Vec::new()),
                ["wait"] => drop(self.gate.wait()),
                _ => {}
            }
            self.inner.embed(role, texts)
        }
    }

    fn moody() -> EmbedderHandle {
        let inner = ScriptedEmbedder::new(16);
        EmbedderHandle::new(Box::new(Moody { inner, gate: Barrier::new(2) }))
    }

    #[test]
    fn the_handle_answers_as_the_model_does() {
        let model = ScriptedEmbedder::new(32);
        let handle = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(32)));
        assert_eq!((handle.identity(), handle.dimension()), (model.identity(), 32));
        let texts = ["a red mug", "keys"];
        let expected = model.embed(TextRole::Query, &texts).unwrap();
        assert_eq!(handle.embed_batch(TextRole::Query, &texts).unwrap(), expected);
        assert_eq!(handle.embed(TextRole::Passage, "keys").unwrap(), expected[1]);
        assert_eq!(handle.embed_batch(TextRole::Query, &[]), Ok(Vec::new()));
    }

    #[test]
    fn a_panic_is_an_error_and_the_next_request_is_answered() {
        let handle = moody();
        let error = handle.embed(TextRole::Query, "panic").unwrap_err();
        assert_eq!(error, ModelError::Failed("it panicked: a bad day".to_owned()));
        let error = handle.embed(TextRole::Query, "nothing").unwrap_err();
        assert!(matches!(error, ModelError::Failed(_)));
        handle.embed(TextRole::Query, "mug").unwrap();
    }

    /// Each of the two waits until the other is being computed as well.
    #[test]
    fn requests_are_computed_beside_each_other() {
        let handle = moody();
        let vectors: Vec<Embedding> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| handle.embed(TextRole::Query, "wait").unwrap());
            [ask(), ask()].map(|asked| asked.join().unwrap()).into()
        });
        assert_eq!(vectors[0], vectors[1]);
    }
}
