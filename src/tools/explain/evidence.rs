//! Why records show an object, or none does: the phrases of captions that name it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::time::Zone;
use crate::index::phrases::{ObjectQuery, Relation};
use crate::language::fit::{Certainty, Fit};
use crate::memory::episodic::last_seen::SightingExplanation;
use crate::search::evidence::{ObjectEvidence, PhraseEvidence, SegmentEvidence};
use crate::tools::explain::Extent;

/// Names of an object in a line; a class of things has a hundred.
const NAMES_MAX: usize = 8;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EvidenceReply {
    certainty: Option<CertaintyReply>,
    things: Vec<ObjectReply>,
    pieces: Vec<SegmentEvidenceReply>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CertaintyReply {
    Related,
    Possible,
    Partial,
    Shown,
    InPlace,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ObjectReply {
    stems: Vec<String>,
    attributes: Vec<String>,
    phrases: Vec<PhraseReply>,
    more_phrases: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PhraseReply {
    phrase: String,
    fit: FitReply,
    records: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FitReply {
    Full,
    Partial,
    Possible,
    Related,
    Excluded,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SegmentEvidenceReply {
    #[serde(flatten)]
    extent: Extent,
    rows: usize,
    selected: usize,
    in_place: u64,
    shown: u64,
    partial: u64,
    possible: u64,
    related: u64,
}

impl EvidenceReply {
    pub(super) fn of(
        explained: &SightingExplanation,
        certainty: Option<Certainty>,
        zone: Zone,
    ) -> Self {
        let SightingExplanation { wanted, evidence } = explained;
        let queries = [&wanted.target].into_iter().chain(&wanted.around);
        let things = queries.zip(&evidence.things);
        Self {
            certainty: certainty.map(CertaintyReply::of),
            things: things.map(|(query, found)| ObjectReply::of(query, found)).collect(),
            pieces: evidence.segments.iter().map(|it| SegmentEvidenceReply::of(it, zone)).collect(),
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.things.iter().map(ObjectReply::line).collect()
    }
}

impl CertaintyReply {
    pub(crate) fn of(certainty: Certainty) -> Self {
        match certainty {
            Certainty::Related => Self::Related,
            Certainty::Possible => Self::Possible,
            Certainty::Partial => Self::Partial,
            Certainty::Shown => Self::Shown,
            Certainty::InPlace => Self::InPlace,
        }
    }
}

impl ObjectReply {
    fn of(query: &ObjectQuery, found: &ObjectEvidence) -> Self {
        let names =
            query.names.iter().filter(|it| it.needed.is_empty() && it.relation != Relation::Alike);
        Self {
            stems: names.map(|it| it.stem.clone()).collect(),
            attributes: query.attributes.iter().map(|it| it.word.clone()).collect(),
            phrases: found.phrases.iter().map(PhraseReply::of).collect(),
            more_phrases: found.more,
        }
    }

    /// `"red mug, red cup": shown by "red mug" (3); possible in "mug" (2); not "blue mug" (1)`
    fn line(&self) -> String {
        let Self { stems, attributes, phrases: _, more_phrases } = self;
        let names =
            stems.iter().map(|stem| [attributes.as_slice(), std::slice::from_ref(stem)].concat());
        let mut names: Vec<String> = names.map(|words| words.join(" ")).collect();
        let more = names.len().saturating_sub(NAMES_MAX);
        names.truncate(NAMES_MAX);
        names.extend((more > 0).then(|| format!("{more} names more")));
        let by_fit = [
            (FitReply::Full, "shown by"),
            (FitReply::Partial, "in part by"),
            (FitReply::Possible, "possible in"),
            (FitReply::Related, "perhaps meant by"),
            (FitReply::Excluded, "not"),
        ];
        let mut parts: Vec<String> =
            by_fit.into_iter().filter_map(|(fit, intro)| self.part(fit, intro)).collect();
        if parts.is_empty() {
            parts.push("named by no caption within the filter".to_owned());
        }
        if *more_phrases > 0 {
            parts.push(format!("{more_phrases} phrases more"));
        }
        format!("\"{}\": {}", names.join(", "), parts.join("; "))
    }

    fn part(&self, fit: FitReply, intro: &str) -> Option<String> {
        let phrases = self.phrases.iter().filter(|it| it.fit == fit);
        let listed: Vec<String> =
            phrases.map(|it| format!("{:?} ({})", it.phrase, it.records)).collect();
        (!listed.is_empty()).then(|| format!("{intro} {}", listed.join(", ")))
    }
}

impl PhraseReply {
    fn of(evidence: &PhraseEvidence) -> Self {
        let PhraseEvidence { phrase, fit, records } = evidence;
        let fit = match fit {
            Some(Fit::Full) => FitReply::Full,
            Some(Fit::Partial) => FitReply::Partial,
            Some(Fit::Possible) => FitReply::Possible,
            Some(Fit::Related) => FitReply::Related,
            None => FitReply::Excluded,
        };
        Self { phrase: phrase.clone(), fit, records: *records }
    }
}

impl SegmentEvidenceReply {
    fn of(evidence: &SegmentEvidence, zone: Zone) -> Self {
        let SegmentEvidence { segment, records, span, rows, selected, shown } = evidence;
        let rows_of = |certainty| shown.get(&certainty).copied().unwrap_or(0);
        Self {
            extent: Extent::of(*segment, *records, *span, zone),
            rows: *rows,
            selected: *selected,
            in_place: rows_of(Certainty::InPlace),
            shown: rows_of(Certainty::Shown),
            partial: rows_of(Certainty::Partial),
            possible: rows_of(Certainty::Possible),
            related: rows_of(Certainty::Related),
        }
    }
}
