//! Greedy decoding of an answer, as the model's settings bound it.

use candle_core::{Result, Tensor};

use crate::model::confidence::likeliest;
use crate::model::florence::bart::Bart;
use crate::model::florence::config::AnswerConfig;

/// What was answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decoded {
    /// Without those that every answer begins and ends with.
    pub(super) tokens: Vec<u32>,
    /// Log probability of each, and of the end where it came.
    pub(super) log_probs: Vec<f32>,
}

/// Takes the likeliest token after the other, until the end or `tokens_max`.
pub(super) fn decode(
    bart: &Bart,
    encoded: &Tensor,
    config: AnswerConfig,
    tokens_max: usize,
) -> Result<Decoded> {
    let mut answer = bart.begin(encoded)?;
    let mut said: Vec<u32> = [config.start].into_iter().chain(config.forced).collect();
    let begun = said.len();
    let mut logits = None;
    for token in &said {
        logits = Some(answer.next_logits(*token)?);
    }
    let mut log_probs = Vec::new();
    while let Some(now) = logits.take().filter(|_| said.len() < tokens_max) {
        let (next, log_prob) = likeliest(&now.to_vec1()?, &repeating(&said, config.no_repeat));
        log_probs.push(log_prob);
        if next == config.end {
            break;
        }
        said.push(next);
        if said.len() < tokens_max {
            logits = Some(answer.next_logits(next)?);
        }
    }
    Ok(Decoded { tokens: said.split_off(begun), log_probs })
}

/// Tokens after which the last `count` would be there a second time.
fn repeating(said: &[u32], count: usize) -> Vec<u32> {
    let Some(last) = count.checked_sub(1).and_then(|it| said.len().checked_sub(it)) else {
        return Vec::new();
    };
    let (_, last) = said.split_at(last);
    said.windows(count)
        .filter_map(|run| run.split_last())
        .filter_map(|(next, before)| (before == last).then_some(*next))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_repeat_a_run_of_tokens_is_barred() {
        let said = [5, 1, 2, 3, 1, 2, 4, 1, 2];
        assert_eq!(repeating(&said, 3), [3, 4]);
        assert_eq!(repeating(&said, 2), [3, 4]);
        assert_eq!(repeating(&said, 1), said);
        assert_eq!(repeating(&said, 0), [0; 0]);
        assert_eq!(repeating(&said[..1], 3), [0; 0]);
        assert_eq!(repeating(&said[..2], 3), [0; 0]);
    }
}
