//! A record as replies have it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::detection::{BoundingBox, DetectedObject};
use crate::base::score::Score;
use crate::base::time::Zone;
use crate::memory::episodic::Recalled;
use crate::store::Record;
use crate::tools::reply;

// A record as every tool gives it; see the tool contract.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RecordReply {
    pub(crate) id: u64,
    time: String,
    /// Seconds since 1970.
    timestamp: f64,
    end_time: String,
    caption: String,
    /// How likely the caption is right; absent where nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Score>,
    #[schemars(description = "Where the robot stood: metres in frame_id.")]
    position: Option<[f64; 3]>,
    theta: Option<f64>,
    frame_id: String,
    map_id: String,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<String>,
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<Vec<String>>,
    /// How likely it shows the thing asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detections: Option<Vec<DetectionReply>>,
    #[serde(skip)]
    line: String,
}

// A thing that the captioner found in the frame, also one that it was too unsure of to name.
#[derive(Debug, Serialize, JsonSchema)]
struct DetectionReply {
    name: String,
    /// How sure the captioner was of it, from 0 to 1.
    score: Score,
    #[serde(rename = "box")]
    #[schemars(
        description = "Where in the frame: left, top, right and bottom, in shares of its width \
                       and height from the upper left corner."
    )]
    place: [Score; 4],
}

impl DetectionReply {
    fn of(detection: &DetectedObject) -> Self {
        let DetectedObject { name, score, place } = detection;
        let BoundingBox { left, top, right, bottom } = *place;
        Self {
            name: name.clone(),
            score: Score(*score),
            place: [left, top, right, bottom].map(Score),
        }
    }
}

impl RecordReply {
    pub(crate) fn of(record: &Record, zone: Zone) -> Self {
        let Record {
            id,
            meta,
            end_at,
            caption,
            parsed: _,
            confidence,
            detections: _,
            layer,
            image,
        } = record;
        Self {
            id: id.0,
            time: zone.format(meta.taken_at),
            timestamp: meta.taken_at.seconds(),
            end_time: zone.format(*end_at),
            caption: caption.clone(),
            confidence: confidence.map(Score),
            position: meta.pose.map(|pose| pose.position),
            theta: meta.pose.and_then(|pose| pose.heading),
            frame_id: meta.frame_id.clone(),
            map_id: meta.map_id.clone(),
            source: meta.source.clone(),
            layer: layer.clone(),
            image: image.map(|_| reply::image_uri(record)),
            score: None,
            matched: None,
            probability: None,
            detections: None,
            line: reply::line(record, None, zone),
        }
    }

    /// With its score and what of its caption the query names.
    pub(crate) fn of_recalled(recalled: &Recalled, zone: Zone) -> Self {
        Self {
            score: Some(Score(recalled.score)),
            matched: Some(recalled.matched.clone()),
            probability: recalled.probability.map(Score),
            line: reply::line(&recalled.record, Some(recalled), zone),
            ..Self::of(&recalled.record, zone)
        }
    }

    /// With what the captioner found in the frame, where it looked for things.
    pub(crate) fn with_detections(self, record: &Record) -> Self {
        let found = &record.detections;
        let detections =
            (!found.is_empty()).then(|| found.iter().map(DetectionReply::of).collect());
        Self { detections, ..self }
    }

    /// The same where the frame is not kept.
    pub(crate) fn without_image(self) -> Self {
        let line = format!("{} (no image kept)", self.line);
        Self { image: None, line, ..self }
    }

    /// Records in their order.
    pub(crate) fn list(records: &[Record], zone: Zone) -> Vec<Self> {
        records.iter().map(|it| Self::of(it, zone)).collect()
    }

    /// On one line of text.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// The resource that holds its frame.
    pub(crate) fn image(&self) -> Option<&str> {
        self.image.as_deref()
    }
}
