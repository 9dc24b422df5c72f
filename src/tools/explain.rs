//! How a recall went about it, for whoever asks with `explain: true`.

use serde_json::{Map, Value, json};

use crate::base::RecordId;
use crate::base::score::Score;
use crate::base::time::{Timestamp, Zone};
use crate::index::mention::fit::{Certainty, Fit};
use crate::index::phrases::ObjectQuery;
use crate::memory::episodic::last_seen::SightingExplanation;
use crate::retrieval::recall::{Explanation, RecallOrder};
use crate::search::evidence::{ObjectEvidence, SegmentEvidence};
use crate::search::plan::SegmentAction;
use crate::search::{Explained, SegmentReport, WEIGHTS};
use crate::store::segment_meta::SegmentNumber;
use crate::tools::args::{Kind, Param};

pub(crate) const EXPLAIN: Param = Param::optional(
    "explain",
    Kind::Flag,
    "Also say how the records were found: what was done in each piece of the index and why, and what \
     decided: the parts of each score, or which phrases of captions show the object.",
);

/// An explanation as an object, and its lines of text.
pub(crate) fn explained(
    explanation: &Explanation,
    order: RecallOrder,
    zone: Zone,
) -> (Map<String, Value>, Vec<String>) {
    match explanation {
        Explanation::Ranking(explained) => ranking(explained, zone),
        Explanation::Evidence(reasons) => {
            let certainty = match order {
                RecallOrder::NewestFirst { certainty } => certainty,
                RecallOrder::BestFirst | RecallOrder::Chronological { .. } => None,
            };
            evidence(reasons, certainty, zone)
        }
    }
}

fn ranking(explained: &Explained, zone: Zone) -> (Map<String, Value>, Vec<String>) {
    let (dense, lexical) = WEIGHTS;
    let pieces: Vec<Value> = explained.segments.iter().map(|it| piece(it, zone)).collect();
    let scores: Vec<Value> = explained
        .hits
        .iter()
        .map(|hit| {
            json!({
                "id": hit.id.0,
                "score": Score(hit.score),
                "dense": Score(hit.dense),
                "lexical": Score(hit.lexical),
            })
        })
        .collect();
    let weights = json!({"dense": Score(dense), "lexical": Score(lexical)});
    let explanation = json!({"weights": weights, "scores": scores, "pieces": pieces});
    let lines = explained.segments.iter().map(|it| format!("{}: {}", name(it), why(it)));
    (object(explanation), lines.collect())
}

/// Why these records show the thing, or none does.
fn evidence(
    reasons: &SightingExplanation,
    certainty: Option<Certainty>,
    zone: Zone,
) -> (Map<String, Value>, Vec<String>) {
    let SightingExplanation { wanted, evidence } = reasons;
    let sought: Vec<&ObjectQuery> = [&wanted.target].into_iter().chain(&wanted.around).collect();
    let things = sought.iter().zip(&evidence.things);
    let json_of_things: Vec<Value> = things.clone().map(|(it, seen)| thing(it, seen)).collect();
    let pieces: Vec<Value> = evidence.segments.iter().map(|it| piece_seen(it, zone)).collect();
    let explanation = json!({
        "certainty": certainty.map(certainty_word), "things": json_of_things, "pieces": pieces,
    });
    let lines = things.map(|(sought, seen)| thing_line(sought, seen));
    (object(explanation), lines.collect())
}

fn object(json: Value) -> Map<String, Value> {
    if let Value::Object(object) = json { object } else { Map::new() }
}

fn thing(sought: &ObjectQuery, seen: &ObjectEvidence) -> Value {
    let phrases: Vec<Value> = seen
        .phrases
        .iter()
        .map(|it| json!({"phrase": it.phrase, "fit": fit_word(it.fit), "records": it.records}))
        .collect();
    let attributes: Vec<&str> = sought.attributes.iter().map(|it| it.word.as_str()).collect();
    json!({
        "stems": sought.stems, "attributes": attributes, "phrases": phrases,
        "more_phrases": seen.more,
    })
}

/// `"red mug, red cup": shown by "red mug" (3); possible in "mug" (2); not "blue mug" (1)`
fn thing_line(sought: &ObjectQuery, seen: &ObjectEvidence) -> String {
    let attributes = sought.attributes.iter().map(|it| it.word.as_str());
    let attributes: Vec<&str> = attributes.collect();
    let name = |stem: &String| [attributes.as_slice(), &[stem.as_str()]].concat().join(" ");
    let names: Vec<String> = sought.stems.iter().map(name).collect();
    let mut parts: Vec<String> = Vec::new();
    for (fit, intro) in
        [(Some(Fit::Full), "shown by"), (Some(Fit::Possible), "possible in"), (None, "not")]
    {
        let phrases = seen.phrases.iter().filter(|it| it.fit == fit);
        let told: Vec<String> =
            phrases.map(|it| format!("{:?} ({})", it.phrase, it.records)).collect();
        if !told.is_empty() {
            parts.push(format!("{intro} {}", told.join(", ")));
        }
    }
    if parts.is_empty() {
        parts.push("named by no caption within the filter".to_owned());
    }
    if seen.more > 0 {
        parts.push(format!("{} phrases more", seen.more));
    }
    format!("\"{}\": {}", names.join(", "), parts.join("; "))
}

fn piece_seen(evidence: &SegmentEvidence, zone: Zone) -> Value {
    let SegmentEvidence { segment, records, span, rows, selected, shown } = evidence;
    let mut json = place(*segment, *records, *span, zone);
    json.insert("rows".to_owned(), json!(rows));
    json.insert("selected".to_owned(), json!(selected));
    for certainty in [Certainty::InPlace, Certainty::Shown, Certainty::Possible] {
        let rows = shown.get(&certainty).copied().unwrap_or(0);
        json.insert(certainty_word(certainty).to_owned(), json!(rows));
    }
    Value::Object(json)
}

fn certainty_word(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Possible => "possible",
        Certainty::Shown => "shown",
        Certainty::InPlace => "in_place",
    }
}

fn fit_word(fit: Option<Fit>) -> &'static str {
    match fit {
        Some(Fit::Full) => "full",
        Some(Fit::Possible) => "possible",
        None => "excluded",
    }
}

/// Which piece it is, and what of the memory it holds.
fn place(
    segment: Option<SegmentNumber>,
    records: Option<(RecordId, RecordId)>,
    span: Option<(Timestamp, Timestamp)>,
    zone: Zone,
) -> Map<String, Value> {
    let mut json = Map::new();
    json.insert("segment".to_owned(), json!(segment.map(|it| it.0)));
    json.insert("first_id".to_owned(), json!(records.map(|(first, _)| first.0)));
    json.insert("last_id".to_owned(), json!(records.map(|(_, last)| last.0)));
    json.insert("first".to_owned(), json!(span.map(|(first, _)| zone.format(first))));
    json.insert("last".to_owned(), json!(span.map(|(_, last)| zone.format(last))));
    json
}

fn piece(report: &SegmentReport, zone: Zone) -> Value {
    let SegmentReport { segment, records, span, rows, selected, action, candidates } = report;
    let mut json = place(*segment, *records, *span, zone);
    json.insert("rows".to_owned(), json!(rows));
    json.insert("selected".to_owned(), json!(selected));
    let (word, ef) = match action {
        SegmentAction::Skip => ("skip", None),
        SegmentAction::Scan => ("scan", None),
        SegmentAction::Graph { ef } => ("walk", Some(ef)),
    };
    json.insert("action".to_owned(), json!(word));
    if let Some(ef) = ef {
        json.insert("ef".to_owned(), json!(ef));
    }
    json.insert("why".to_owned(), json!(why(report)));
    let (meaning, words) = candidates;
    json.insert("candidates".to_owned(), json!({"meaning": meaning, "words": words}));
    Value::Object(json)
}

fn name(report: &SegmentReport) -> String {
    match (report.segment, report.records) {
        (Some(number), Some((first, last))) => {
            format!("segment {} (records {first} to {last})", number.0)
        }
        (None, Some((first, last))) => format!("tail (records {first} to {last})"),
        (_, None) => "tail (empty)".to_owned(),
    }
}

fn why(report: &SegmentReport) -> String {
    let SegmentReport { segment, rows, selected, action, .. } = report;
    match (action, segment) {
        (SegmentAction::Skip, _) if *rows == 0 => "holds nothing".to_owned(),
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

    #[test]
    fn says_of_each_piece_what_was_done_and_why() {
        let check = |report: SegmentReport, expect: &str| {
            assert_eq!(format!("{}: {}", name(&report), why(&report)), expect);
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
    fn gives_the_same_as_numbers() {
        let zone = Zone::from_name("UTC").unwrap();
        let json = piece(&report(Some(4), 5, SegmentAction::Graph { ef: 64 }), zone);
        assert_eq!(json.get("action"), Some(&json!("walk")));
        assert_eq!(json.get("ef"), Some(&json!(64)));
        assert_eq!(json.get("candidates"), Some(&json!({"meaning": 1, "words": 2})));
        let scanned = piece(&report(None, 9, SegmentAction::Scan), zone);
        assert_eq!((scanned.get("segment"), scanned.get("ef")), (Some(&Value::Null), None));
    }
}
