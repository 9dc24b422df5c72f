//! What was counted, as it goes out as JSON and into the table.

use serde::{Serialize, Serializer};

use super::gold::{Answer, Verdict};
use super::household::Position;
use super::loss::{Loss, Losses};
use super::slips::Slips;

/// All that was judged, and what it was judged with.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    pub(super) embedder: String,
    /// Absent where captions are true.
    pub(super) captioner: Option<String>,
    pub(super) frames: usize,
    pub(super) records: usize,
    pub(super) overall: Family,
    pub(super) families: Vec<Family>,
    /// What the captioner got wrong.
    pub(super) slips: Option<Slips>,
    pub(super) losses: Losses,
    pub(super) outcomes: Vec<Outcome>,
    /// Beside the six families, and in none of the figures above.
    pub(super) extra_families: Vec<Family>,
    pub(super) extra_outcomes: Vec<Outcome>,
}

/// Tasks of one kind, or all.
#[derive(Debug, Serialize)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) tasks: usize,
    pub(super) planner: Rates,
    #[serde(serialize_with = "thousandths")]
    pub(super) calls_mean: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) p50_millis: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) p95_millis: f64,
    pub(super) baselines: Vec<Baseline>,
}

#[derive(Debug, Serialize)]
pub(super) struct Baseline {
    pub(super) name: &'static str,
    pub(super) rates: Rates,
}

/// Shares of the tasks, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Rates {
    #[serde(serialize_with = "thousandths")]
    pub(super) right_object: f64,
    #[serde(serialize_with = "thousandths")]
    pub(super) right_place: f64,
}

/// One task, its answer and what it should have been.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) id: String,
    pub(super) family: String,
    pub(super) kind: String,
    pub(super) task: String,
    pub(super) right_object: bool,
    pub(super) right_place: bool,
    pub(super) loss: Option<Loss>,
    pub(super) record: Option<u64>,
    pub(super) position: Option<Position>,
    pub(super) is_guess: bool,
    pub(super) calls: Vec<String>,
    #[serde(serialize_with = "thousandths")]
    pub(super) millis: f64,
    /// What the tool said.
    pub(super) text: String,
    /// In words.
    pub(super) gold: Vec<String>,
    #[serde(skip)]
    pub(super) baselines: Vec<Verdict>,
}

impl Outcome {
    pub(super) fn answer(&mut self, answer: &Answer, verdict: Verdict) {
        let Answer { record, position, is_guess, probability: _, target: _ } = *answer;
        (self.record, self.position, self.is_guess) = (record, position, is_guess);
        (self.right_object, self.right_place) = (verdict.object, verdict.place);
    }

    pub(super) fn given(&self) -> Answer {
        let Self { record, position, is_guess, .. } = *self;
        Answer { record, position, is_guess, probability: None, target: 0 }
    }
}

impl Family {
    /// Sums outcomes up; `baselines` are the names of theirs.
    pub(super) fn of(name: &str, outcomes: &[&Outcome], baselines: &[&'static str]) -> Self {
        let count = outcomes.len();
        let rates = |verdict: &dyn Fn(&Outcome) -> Verdict| {
            let share = |is_right: &dyn Fn(Verdict) -> bool| {
                outcomes.iter().filter(|it| is_right(verdict(it))).count() as f64 / count as f64
            };
            Rates {
                right_object: share(&|verdict| verdict.object),
                right_place: share(&|verdict| verdict.place),
            }
        };
        let wrong = Verdict { object: false, place: false };
        let baseline = |(at, name): (usize, &&'static str)| Baseline {
            name,
            rates: rates(&|it| it.baselines.get(at).copied().unwrap_or(wrong)),
        };
        let calls: usize = outcomes.iter().map(|it| it.calls.len()).sum();
        let mut millis: Vec<f64> = outcomes.iter().map(|it| it.millis).collect();
        millis.sort_unstable_by(f64::total_cmp);
        Self {
            name: name.to_owned(),
            tasks: count,
            planner: rates(&|it| Verdict { object: it.right_object, place: it.right_place }),
            calls_mean: calls as f64 / count as f64,
            p50_millis: percentile(&millis, 50),
            p95_millis: percentile(&millis, 95),
            baselines: baselines.iter().enumerate().map(baseline).collect(),
        }
    }
}

/// By nearest rank, of what is sorted.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (percent * sorted.len()).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn thousandths<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((value * 1e3).round() / 1e3)
}
