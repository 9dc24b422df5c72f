//! Why a ranking came out as it did: the parts of each score, and how each segment was
//! searched.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::score::Score;
use crate::base::time::Zone;
use crate::search::plan::SegmentAction;
use crate::search::{Explained, Hit, SegmentReport, WEIGHTS};
use crate::tools::explain::Extent;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RankingReply {
    weights: Weights,
    scores: Vec<HitScores>,
    pieces: Vec<SegmentSearchReply>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Weights {
    dense: Score,
    lexical: Score,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HitScores {
    id: u64,
    score: Score,
    dense: Score,
    lexical: Score,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SegmentSearchReply {
    #[serde(flatten)]
    extent: Extent,
    rows: usize,
    selected: usize,
    action: SegmentStrategy,
    #[serde(skip_serializing_if = "Option::is_none")]
    ef: Option<usize>,
    why: String,
    candidates: Candidates,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SegmentStrategy {
    Skip,
    Scan,
    Walk,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Candidates {
    meaning: usize,
    words: usize,
}

impl RankingReply {
    pub(super) fn of(explained: &Explained, zone: Zone) -> Self {
        let (dense, lexical) = WEIGHTS;
        Self {
            weights: Weights { dense: Score(dense), lexical: Score(lexical) },
            scores: explained.hits.iter().map(HitScores::of).collect(),
            pieces: explained.segments.iter().map(|it| SegmentSearchReply::of(it, zone)).collect(),
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.pieces.iter().map(SegmentSearchReply::line).collect()
    }
}

impl HitScores {
    fn of(hit: &Hit) -> Self {
        let Hit { id, score, dense, lexical } = *hit;
        Self { id: id.0, score: Score(score), dense: Score(dense), lexical: Score(lexical) }
    }
}

impl SegmentSearchReply {
    fn of(report: &SegmentReport, zone: Zone) -> Self {
        let SegmentReport { segment, records, span, rows, selected, action, candidates } = report;
        let (meaning, words) = *candidates;
        let (word, ef) = match action {
            SegmentAction::Skip => (SegmentStrategy::Skip, None),
            SegmentAction::Scan => (SegmentStrategy::Scan, None),
            SegmentAction::Graph { ef } => (SegmentStrategy::Walk, Some(*ef)),
        };
        Self {
            extent: Extent::of(*segment, *records, *span, zone),
            rows: *rows,
            selected: *selected,
            action: word,
            ef,
            why: why(report),
            candidates: Candidates { meaning, words },
        }
    }

    fn line(&self) -> String {
        let Extent { segment, first_id, last_id, .. } = self.extent;
        let name = match (segment, first_id.zip(last_id)) {
            (Some(number), Some((first, last))) => {
                format!("segment {number} (records {first} to {last})")
            }
            (None, Some((first, last))) => format!("tail (records {first} to {last})"),
            (_, None) => "tail (empty)".to_owned(),
        };
        format!("{name}: {}", self.why)
    }
}

fn why(report: &SegmentReport) -> String {
    let SegmentReport { segment, rows, selected, action, .. } = report;
    match (action, segment) {
        (SegmentAction::Skip, _) if *rows == 0 => "holds nothing".to_owned(),
        (SegmentAction::Skip, _) if *selected > 0 => {
            format!("{selected} of {rows} rows looked up by their words alone")
        }
        (SegmentAction::Skip, _) => {
            format!("passed over, none of {rows} rows is within the filter")
        }
        (SegmentAction::Scan, None) => {
            format!("{selected} of {rows} rows compared, it has no graph yet")
        }
        (SegmentAction::Scan, Some(_)) => {
            format!("{selected} of {rows} rows compared, which takes less time than a walk")
        }
        (SegmentAction::Graph { ef }, _) => format!(
            "graph walked among {selected} of {rows} rows with {ef} in view, as comparing all takes longer"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RecordId;
    use crate::store::segment_meta::SegmentNumber;
    use serde_json::{Value, json};

    fn report(segment: Option<u64>, selected: usize, action: SegmentAction) -> SegmentReport {
        SegmentReport {
            segment: segment.map(SegmentNumber),
            records: Some((RecordId(1), RecordId(9))),
            span: None,
            rows: 9,
            selected,
            action,
            candidates: (1, 2),
        }
    }

    fn reply(report: &SegmentReport) -> SegmentSearchReply {
        SegmentSearchReply::of(report, Zone::from_name("UTC").unwrap())
    }

    #[test]
    fn a_line_says_what_was_done_in_a_segment_and_why() {
        let check = |report: SegmentReport, expect: &str| {
            assert_eq!(reply(&report).line(), expect);
        };
        check(
            report(Some(4), 0, SegmentAction::Skip),
            "segment 4 (records 1 to 9): passed over, none of 9 rows is within the filter",
        );
        check(
            report(Some(4), 5, SegmentAction::Graph { ef: 64 }),
            "segment 4 (records 1 to 9): graph walked among 5 of 9 rows with 64 in view, as comparing all takes longer",
        );
        check(
            report(None, 9, SegmentAction::Scan),
            "tail (records 1 to 9): 9 of 9 rows compared, it has no graph yet",
        );
        let empty =
            SegmentReport { records: None, rows: 0, ..report(None, 0, SegmentAction::Skip) };
        check(empty, "tail (empty): holds nothing");
    }

    #[test]
    fn the_json_has_the_same_as_numbers() {
        let json = json!(reply(&report(Some(4), 5, SegmentAction::Graph { ef: 64 })));
        assert_eq!(json.get("action"), Some(&json!("walk")));
        assert_eq!(json.get("ef"), Some(&json!(64)));
        assert_eq!(json.get("candidates"), Some(&json!({"meaning": 1, "words": 2})));
        let scanned = json!(reply(&report(None, 9, SegmentAction::Scan)));
        assert_eq!((scanned.get("segment"), scanned.get("ef")), (Some(&Value::Null), None));
    }
}
