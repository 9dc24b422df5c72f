//! What a memory is filled with and asked: a simulated household's captions and
//! questions, or a person's own from files, a line each.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::base::frame::FrameMeta;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::cli::bench::household::HouseholdWords;
use crate::store::NewObservation;

/// Time between one caption and the next.
const PAUSE: Duration = Duration::from_secs(30);
/// Time of the first caption: 2025-01-01.
const FIRST_SECONDS: f64 = 1_735_689_600.0;

/// Sources of captions and questions; `None` is the household.
#[derive(Debug, Default)]
pub(super) struct Workload {
    captions: Option<Vec<String>>,
    questions: Option<Vec<String>>,
}

impl Workload {
    pub(super) fn read(captions: Option<&Path>, questions: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self {
            captions: captions.map(lines).transpose()?,
            questions: questions.map(lines).transpose()?,
        })
    }

    /// Refuses a size that the captions do not suffice for.
    pub(super) fn check(&self, records: usize) -> anyhow::Result<()> {
        let held = self.captions.as_ref().map_or(usize::MAX, Vec::len);
        ensure!(held >= records, "--captions has {held} lines; --records asks for {records}");
        Ok(())
    }

    /// Observations in the order of their time.
    pub(super) fn observations(&self) -> impl Iterator<Item = NewObservation> {
        let mut household = HouseholdWords::new(0);
        (0..).map_while(move |index| {
            let position = household.position();
            let caption = match &self.captions {
                None => household.caption(),
                Some(captions) => captions.get(index)?.clone(),
            };
            let meta = FrameMeta {
                taken_at: moment(index),
                pose: Pose::new(position, Some(0.0)).ok(),
                frame_id: "map".to_owned(),
                map_id: "bench".to_owned(),
                source: "camera".to_owned(),
            };
            Some(NewObservation { meta, caption, confidence: None, layer: None })
        })
    }

    /// Endless stream of questions, another for each seed.
    pub(super) fn questions(&self, seed: u64) -> impl Iterator<Item = String> {
        let mut household = HouseholdWords::new(seed);
        std::iter::repeat_with(move || match &self.questions {
            None => household.question(),
            Some(questions) => {
                questions.get(household.below(questions.len())).cloned().unwrap_or_default()
            }
        })
    }
}

/// Time of the caption with this number.
pub(super) fn moment(index: usize) -> Timestamp {
    let first = Timestamp::from_seconds(FIRST_SECONDS).unwrap_or(Timestamp::EPOCH);
    first.plus(PAUSE.saturating_mul(u32::try_from(index).unwrap_or(u32::MAX)))
}

fn lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("{} is not read", path.display()))?;
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    ensure!(!lines.is_empty(), "{} is empty; accepted is a text a line", path.display());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_captions_come_in_order_and_end() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("captions");
        fs::write(&file, "a red mug\n\n  a blue mug\n").unwrap();
        let workload = Workload::read(Some(&file), None).unwrap();
        let captions: Vec<String> = workload.observations().map(|it| it.caption).collect();
        assert_eq!(captions, ["a red mug", "a blue mug"]);
        workload.check(2).unwrap();
        let error = workload.check(3).unwrap_err().to_string();
        assert_eq!(error, "--captions has 2 lines; --records asks for 3");
    }

    #[test]
    fn an_empty_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("questions");
        fs::write(&file, "\n").unwrap();
        let error = Workload::read(None, Some(&file)).unwrap_err().to_string();
        assert!(error.ends_with("is empty; accepted is a text a line"), "{error}");
    }

    #[test]
    fn observations_are_half_a_minute_apart() {
        let times: Vec<_> =
            Workload::default().observations().take(3).map(|it| it.meta.taken_at).collect();
        assert_eq!(times, [moment(0), moment(1), moment(2)]);
        assert_eq!(moment(2).since(moment(0)), Duration::from_mins(1));
    }
}
