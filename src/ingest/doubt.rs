//! Whether a captioner seems not to know what it sees, by how sure it was of its last captions.
//! Pure.

use std::collections::VecDeque;

use crate::base::caption::Caption;

/// Captions that are looked back at: some minutes of a robot that moves.
const WINDOW: usize = 50;

/// Of them, so many that are likely wrong make a doubt, and so few end it: what lies between
/// changes nothing, so that a doubt does not come and go.
const DOUBT_FROM: usize = 45;
const DOUBT_ENDS_AT: usize = 35;

/// Confidence below which a caption is likely wrong.
const CONFIDENCE_MIN: f32 = 0.35;

/// A thing of this score is known, however long and therefore unsure the caption.
const SCORE_MIN: f32 = 0.5;

/// The last captions of a captioner, the newest at the end.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    likely_wrong: VecDeque<bool>,
    is_doubted: bool,
}

/// What a caption changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DoubtChange {
    Begins,
    Ends,
    None,
}

impl Doubt {
    /// Takes a caption into account. One without a confidence says nothing of its captioner.
    pub(super) fn note(&mut self, caption: &Caption) -> DoubtChange {
        let Some(confidence) = caption.confidence else { return DoubtChange::None };
        let is_known = caption.detections.iter().any(|it| it.score >= SCORE_MIN);
        self.likely_wrong.push_back(confidence < CONFIDENCE_MIN && !is_known);
        if self.likely_wrong.len() > WINDOW {
            self.likely_wrong.pop_front();
        }
        let wrong = self.likely_wrong.iter().filter(|it| **it).count();
        match self.is_doubted {
            false if wrong >= DOUBT_FROM => {
                self.is_doubted = true;
                DoubtChange::Begins
            }
            true if wrong <= DOUBT_ENDS_AT => {
                self.is_doubted = false;
                DoubtChange::Ends
            }
            false | true => DoubtChange::None,
        }
    }
}

/// The doubt in words, with what helps.
pub(super) fn describe(captioner: &str) -> String {
    format!(
        "the captioner {captioner} seems not to know what it sees: of its last {WINDOW} captions \
         {DOUBT_FROM} or more are likely wrong by its own confidence. Try another one on a few \
         frames, `engram caption --model DIR IMAGE...`, then `engram serve --set \
         captioner.model=DIR`; everyday-detector is for photographs, household-captioner for the \
         demo's rendered scenes, a BLIP, Florence-2 or SmolVLM model for anything"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::detection::{BoundingBox, DetectedObject};

    fn caption(confidence: Option<f32>, score: Option<f32>) -> Caption {
        let place = BoundingBox { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };
        let detection = |score| DetectedObject { name: "cup".to_owned(), score, place };
        let detections = score.map(detection).into_iter().collect();
        Caption { text: "a cup".to_owned(), confidence, detections }
    }

    /// Number of the caption at which something changed.
    fn changes(captions: impl Iterator<Item = Caption>) -> Vec<(usize, DoubtChange)> {
        let mut doubt = Doubt::default();
        let noted = captions.map(|it| doubt.note(&it)).enumerate();
        noted.filter(|(_, change)| *change != DoubtChange::None).collect()
    }

    #[test]
    fn many_unsure_captions_make_a_doubt_that_sure_ones_end() {
        let unsure = (0..60).map(|_| caption(Some(0.1), None));
        let sure = (0..60).map(|_| caption(Some(0.9), None));
        assert_eq!(
            changes(unsure.chain(sure)),
            [(44, DoubtChange::Begins), (74, DoubtChange::Ends)]
        );
    }

    #[test]
    fn a_known_thing_or_no_confidence_is_no_doubt() {
        assert_eq!(changes((0..99).map(|_| caption(Some(0.1), Some(0.6)))), []);
        assert_eq!(changes((0..99).map(|_| caption(None, None))), []);
        assert_eq!(changes((0..99).map(|at| caption(Some([0.1, 0.9][at % 2]), None))), []);
    }
}
