//! Domains of the memory: what the robot saw (`episodic`), what an agent wants to
//! keep (`notes`), what users rated up (`memos`), and what an agent carries from
//! step to step (`state`).
//!
//! The domains do not know each other.

pub mod episodic;
pub mod memos;
pub mod notes;
pub mod state;

use crate::model::embedder::EmbedderHandle;
use crate::store::EmbeddingSpace;

/// The space of the vectors that an embedder makes.
pub fn embedding_space(embedder: &EmbedderHandle) -> EmbeddingSpace {
    let identity = embedder.identity();
    EmbeddingSpace {
        model: identity.name.clone(),
        fingerprint: identity.fingerprint.0.clone(),
        dimension: embedder.dimension(),
    }
}
