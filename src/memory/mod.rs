//! Memory domains: what the robot saw (`episodic`), notes that agents keep (`notes`), answers
//! that users rated up (`memos`), and working state of agents (`state`).
//!
//! The domains do not know each other.

pub mod episodic;
pub mod memos;
pub mod notes;
pub mod state;

use crate::model::embedder::EmbedderHandle;
use crate::store::EmbeddingSpace;

/// Embedding space of an embedder.
pub fn embedding_space(embedder: &EmbedderHandle) -> EmbeddingSpace {
    let identity = embedder.identity();
    EmbeddingSpace {
        model: identity.name.clone(),
        fingerprint: identity.fingerprint.0.clone(),
        dimension: embedder.dimension(),
    }
}
