//! How a recall went about it, for whoever asks with `explain: true`.

mod evidence;
mod ranking;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::RecordId;
use crate::base::time::{Timestamp, Zone};
use crate::retrieval::recall::{Explanation, RecallOrder};
use crate::store::segment_meta::SegmentNumber;
use crate::tools::args::{Kind, Param};
pub(crate) use crate::tools::explain::evidence::CertaintyReply;
use crate::tools::explain::evidence::EvidenceReply;
use crate::tools::explain::ranking::RankingReply;

pub(crate) const EXPLAIN: Param =
    Param::optional("explain", Kind::Flag, "Also say how they were found.");

// Why these records were found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ExplanationReply {
    Ranking(RankingReply),
    Evidence(EvidenceReply),
}

impl ExplanationReply {
    pub(crate) fn of(explanation: &Explanation, order: RecallOrder, zone: Zone) -> Self {
        match explanation {
            Explanation::Ranking(explained) => Self::Ranking(RankingReply::of(explained, zone)),
            Explanation::Evidence(explained) => {
                Self::Evidence(EvidenceReply::of(explained, order.certainty(), zone))
            }
        }
    }

    /// In words.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Ranking(ranking) => ranking.lines(),
            Self::Evidence(evidence) => evidence.lines(),
        }
    }
}

// Which segment of the index it is, and what of the memory it holds.
#[derive(Debug, Serialize, JsonSchema)]
struct Extent {
    segment: Option<u64>,
    first_id: Option<u64>,
    last_id: Option<u64>,
    first: Option<String>,
    last: Option<String>,
}

impl Extent {
    fn of(
        segment: Option<SegmentNumber>,
        records: Option<(RecordId, RecordId)>,
        span: Option<(Timestamp, Timestamp)>,
        zone: Zone,
    ) -> Self {
        Self {
            segment: segment.map(|it| it.0),
            first_id: records.map(|(first, _)| first.0),
            last_id: records.map(|(_, last)| last.0),
            first: span.map(|(first, _)| zone.format(first)),
            last: span.map(|(_, last)| zone.format(last)),
        }
    }
}
