//! Fit of an embedder's [`Calibration`] on pairs of texts whose cosine by the reference is
//! known.

use serde::Deserialize;

use crate::model::calibration::{Calibration, Knot};
use crate::model::embedder::EmbedderHandle;
use crate::model::{ModelError, TextRole};

/// Pairs as people write them, with their cosine by all-MiniLM-L6-v2, in its order.
const PAIRS: &str = include_str!("../../models/caption-embedder/probe_pairs.jsonl");

/// Sampling step: one of four pairs is embedded, since a start must not wait for a thousand
/// texts.
const TAKEN_OF: usize = 4;

/// Batch size.
const BATCH: usize = 32;

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    cosine: f32,
}

/// Calibration of `embedder` between queries and passages.
pub fn fit(embedder: &EmbedderHandle) -> Result<Calibration, ModelError> {
    let pairs = pairs()?;
    let mut knots = Vec::with_capacity(pairs.len());
    for batch in pairs.chunks(BATCH) {
        let queries: Vec<&str> = batch.iter().map(|pair| pair.a.as_str()).collect();
        let passages: Vec<&str> = batch.iter().map(|pair| pair.b.as_str()).collect();
        let queries = embedder.embed_batch(TextRole::Query, &queries)?;
        let passages = embedder.embed_batch(TextRole::Passage, &passages)?;
        for ((pair, a), b) in batch.iter().zip(&queries).zip(&passages) {
            knots.push(Knot { own: a.cosine(b), reference: pair.cosine });
        }
    }
    Ok(Calibration::fit(&knots))
}

/// Checksum of the pairs: with other pairs each kept calibration is fitted again.
pub fn checksum() -> u32 {
    crc32fast::hash(PAIRS.as_bytes())
}

fn pairs() -> Result<Vec<Pair>, ModelError> {
    let lines = PAIRS.lines().step_by(TAKEN_OF);
    let pairs = lines.map(serde_json::from_str).collect::<Result<_, _>>();
    pairs.map_err(|error| ModelError::Failed(format!("probe pairs: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::scripted::ScriptedEmbedder;

    #[test]
    fn every_pair_can_be_read_and_they_span_the_scale() {
        let pairs = pairs().unwrap();
        assert!(pairs.len() > 100);
        let cosines: Vec<f32> = pairs.iter().map(|pair| pair.cosine).collect();
        assert!(cosines.iter().any(|it| *it < 0.0) && cosines.iter().any(|it| *it > 0.9));
    }

    #[test]
    fn another_embedder_comes_nearer_to_the_reference() {
        let embedder = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(256)));
        let map = fit(&embedder).unwrap();
        let (mut raw, mut mapped) = (0.0, 0.0);
        for pair in pairs().unwrap() {
            let of = |text: &str| embedder.embed(TextRole::Passage, text).unwrap();
            let own = of(&pair.a).cosine(&of(&pair.b));
            raw += (own - pair.cosine).abs();
            mapped += (map.reference_cosine(own) - pair.cosine).abs();
        }
        assert!(mapped < 0.9 * raw, "{mapped} of {raw}");
    }
}
