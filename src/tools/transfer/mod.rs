//! The memory on its way out of this store and into another: records, notes, memos and states,
//! one a line of JSON.
//!
//! What is exported is a copy outside: what is forgotten here later stays in it. Both are
//! called like tools and are none: no model is offered the memory as a whole.

pub(crate) mod export;
pub(crate) mod import;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::detection::{BoundingBox, DetectedObject};

/// What a line is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Item {
    Record(Box<RecordItem>),
    Note(NoteItem),
    Memo(MemoItem),
    State(StateItem),
}

/// A record; times are RFC 3339 in UTC.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordItem {
    /// In the store that it comes from.
    pub(crate) id: u64,
    pub(crate) time: String,
    pub(crate) end_time: String,
    pub(crate) caption: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) confidence: Option<f32>,
    #[serde(default)]
    pub(crate) position: Option<[f64; 3]>,
    #[serde(default)]
    pub(crate) theta: Option<f64>,
    #[serde(default)]
    pub(crate) frame_id: String,
    #[serde(default)]
    pub(crate) map_id: String,
    pub(crate) source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) layer: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) detections: Vec<DetectionItem>,
    /// What was read out of the caption; read anew where it is imported.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) parsed: Value,
    /// By the embedder of the store that it comes from; made anew where it is imported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) vector: Vec<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<FrameItem>,
}

/// An image file in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrameItem {
    pub(crate) mime: String,
    pub(crate) data: String,
}

/// Something that was found in a frame; its box in shares of the frame's sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DetectionItem {
    pub(crate) name: String,
    pub(crate) score: f32,
    /// Left, top, right and bottom.
    #[serde(rename = "box")]
    pub(crate) place: [f32; 4],
}

impl DetectionItem {
    fn of(found: &DetectedObject) -> Self {
        let BoundingBox { left, top, right, bottom } = found.place;
        let place = [left, top, right, bottom];
        Self { name: found.name.clone(), score: found.score, place }
    }

    fn to_found(&self) -> DetectedObject {
        let [left, top, right, bottom] = self.place;
        let place = BoundingBox { left, top, right, bottom }.within_image();
        DetectedObject { name: self.name.clone(), score: self.score.clamp(0.0, 1.0), place }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NoteItem {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) area: String,
    #[serde(default)]
    pub(crate) metadata: Map<String, Value>,
    pub(crate) time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemoItem {
    pub(crate) id: u64,
    pub(crate) memo: String,
    pub(crate) user_message: String,
    #[serde(default)]
    pub(crate) message_ids: Vec<String>,
    pub(crate) source: String,
    pub(crate) time: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StateItem {
    pub(crate) agent: String,
    pub(crate) memory: Map<String, Value>,
}
