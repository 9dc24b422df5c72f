//! How much of one text others say, word by word: `MaxSim` of late interaction (`ColBERT`,
//! Khattab & Zaharia 2020), here of the vectors that tokens have by themselves.

use std::collections::BTreeSet;

use candle_core::{Result, Tensor};

use crate::model::table::EmbeddingTable;

/// Vectors shorter than this have no direction.
const LENGTH_MIN: f64 = 1e-6;

/// Of each of `passages` the mean over the tokens of `query` of the highest cosine with a token
/// of the passage, in -1..=1; 0 where either has none. `vectors` gives unit vectors of tokens, one
/// a row, and `weights` say how much each token of the query counts in the mean.
pub(super) fn max_similarity(
    query: &[u32],
    passages: &[Vec<u32>],
    vectors: impl Fn(&[u32]) -> Result<Tensor>,
    weights: &[f32],
) -> Result<Vec<f32>> {
    let said: BTreeSet<u32> = passages.iter().flatten().copied().collect();
    let said: Vec<u32> = said.into_iter().collect();
    if query.is_empty() || said.is_empty() {
        return Ok(vec![0.0; passages.len()]);
    }
    let cosines = vectors(query)?.matmul(&vectors(&said)?.t()?)?;
    let cosines: Vec<Vec<f32>> = cosines.to_vec2()?;
    let columns = |passage: &[u32]| -> Vec<usize> {
        passage.iter().filter_map(|id| said.binary_search(id).ok()).collect()
    };
    let total: f32 = weights.iter().sum();
    let similarity = |passage: &Vec<u32>| {
        let columns = columns(passage);
        let best = |of_token: &Vec<f32>| {
            let cosines = columns.iter().filter_map(|at| of_token.get(*at));
            cosines.copied().reduce(f32::max).unwrap_or(0.0)
        };
        cosines.iter().zip(weights).map(|(it, weight)| best(it) * weight).sum::<f32>() / total
    };
    Ok(passages.iter().map(similarity).collect())
}

/// Vectors of tokens as `table` has them, of length 1.
pub(super) fn unit_rows(table: &EmbeddingTable, ids: &[u32]) -> Result<Tensor> {
    of_unit_length(&table.rows(ids)?)
}

/// The rows of `vectors`, of length 1.
pub(super) fn of_unit_length(vectors: &Tensor) -> Result<Tensor> {
    let lengths = vectors.sqr()?.sum_keepdim(1)?.sqrt()?;
    vectors.broadcast_div(&lengths.maximum(LENGTH_MIN)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    /// Four tokens: two alike, one across, one against the first.
    fn table() -> EmbeddingTable {
        let rows = [[2.0_f32, 0.0], [1.0, 1.0], [0.0, 3.0], [-1.0, 0.0]];
        EmbeddingTable::InMemory(Tensor::new(&rows, &Device::Cpu).unwrap())
    }

    fn check(query: &[u32], weights: &[f32], passages: &[&[u32]], expect: &[f32]) {
        let passages: Vec<Vec<u32>> = passages.iter().map(|it| it.to_vec()).collect();
        let table = table();
        let vectors = |ids: &[u32]| unit_rows(&table, ids);
        let found = max_similarity(query, &passages, vectors, weights).unwrap();
        let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        let is_same = found.len() == expect.len() && found.iter().zip(expect).all(is_near);
        assert!(is_same, "{found:?}, not {expect:?}");
    }

    #[test]
    fn each_token_counts_by_the_nearest_of_the_passage() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        check(&[0], &[1.0], &[&[0], &[1], &[2], &[3], &[3, 1]], &[1.0, half, 0.0, -1.0, half]);
        check(&[0, 2], &[1.0, 1.0], &[&[0], &[0, 2], &[1]], &[0.5, 1.0, half]);
    }

    #[test]
    fn a_token_counts_by_its_weight() {
        check(&[0, 2], &[3.0, 1.0], &[&[0], &[2], &[0, 2]], &[0.75, 0.25, 1.0]);
    }

    #[test]
    fn no_tokens_are_like_nothing() {
        check(&[], &[], &[&[0]], &[0.0]);
        check(&[0], &[1.0], &[&[], &[0]], &[0.0, 1.0]);
        check(&[0], &[1.0], &[], &[]);
    }
}
