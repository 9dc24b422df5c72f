//! The tools as clients see them listed: names, words for the model, schemas.

use serde_json::{Map, Value, json};

use crate::tools::args::{self, Param};
use crate::tools::moment_retrieval::{
    recall_observation_of_instance, retrieve_from_text_with_time,
};
use crate::tools::object_retrieval::{listing, recall_all, recall_best_match, recall_last_seen};
use crate::tools::{Hints, ToolSpec, Toolset, inspect, memos, notes, observe, state};

/// Every tool, in the order of listing.
pub(crate) fn all() -> Vec<ToolSpec> {
    [
        object_retrieval(),
        moment_retrieval(),
        kept_notes(),
        kept_memos(),
        states(),
        ingest(),
        admin(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true };
/// A recall sets the session's working memory, which repeating it sets again.
const RECALLS: Hints = READS;
const ADDS: Hints = Hints { read_only: false, destructive: false, idempotent: false };
/// A recall of a memo counts as a use of it.
const NOTES_USE: Hints = Hints { read_only: false, destructive: false, idempotent: false };
/// What is gone is gone; the same once more changes nothing.
const REMOVES: Hints = Hints { read_only: false, destructive: true, idempotent: true };
/// What was there before is gone; the same once more changes nothing.
const REPLACES: Hints = Hints { read_only: false, destructive: true, idempotent: true };

fn object_retrieval() -> Vec<ToolSpec> {
    [vec![listing::start()], recalls(), listing::steps(), looks()].concat()
}

fn recalls() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "recall_best_match",
            title: "Recall what best matches a description",
            description: "Finds the records of past observations that best match a vague or \
                descriptive reference, optionally within a window of time. Best first. The result \
                becomes the working memory.",
            input_schema: args::schema(recall_best_match::PARAMS),
            output_schema: records_schema(),
            hints: RECALLS,
            toolset: Toolset::ObjectRetrieval,
        },
        ToolSpec {
            name: "recall_last_seen",
            title: "Recall where a thing was last seen",
            description: "Finds the most recent record that really shows a clearly described \
                object, such as 'a red mug': attributes must belong to the object, synonyms count. \
                Newest first. The result becomes the working memory.",
            input_schema: args::schema(recall_last_seen::PARAMS),
            output_schema: records_schema(),
            hints: RECALLS,
            toolset: Toolset::ObjectRetrieval,
        },
        ToolSpec {
            name: "recall_all",
            title: "Recall every sighting of a thing",
            description: "Finds every record that really shows a described object, in the order \
                of time; of more than k the newest. For how often and where a thing is seen. The \
                result becomes the working memory.",
            input_schema: args::schema(recall_all::PARAMS),
            output_schema: records_schema(),
            hints: RECALLS,
            toolset: Toolset::ObjectRetrieval,
        },
    ]
}

fn looks() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "inspect_memory_record",
            title: "Look at stored frames",
            description: "Returns the stored camera frames of one to eight records as images, to \
                check what a caption says: those with the given ids, or the first of the working \
                memory.",
            input_schema: args::schema(inspect::INSPECT),
            output_schema: inspected_schema(),
            hints: READS,
            toolset: Toolset::ObjectRetrieval,
        },
        ToolSpec {
            name: "get_record_count_within_time_range",
            title: "Count records",
            description: "Counts the records of past observations within a window of time; of \
                all where no bound is given.",
            input_schema: args::schema(inspect::COUNT),
            output_schema: object(
                &json!({
                    "count": {"type": "integer"},
                    "why_empty": {"type": "string"},
                }),
                &["count"],
            ),
            hints: READS,
            toolset: Toolset::ObjectRetrieval,
        },
    ]
}

fn moment_retrieval() -> Vec<ToolSpec> {
    let spec = |name, title, description, params| ToolSpec {
        name,
        title,
        description,
        input_schema: args::schema(params),
        output_schema: moments_schema(),
        hints: RECALLS,
        toolset: Toolset::MomentRetrieval,
    };
    vec![
        spec(
            "retrieve_from_text_with_time",
            "Retrieve moments by text and time",
            "Finds past observations by a search phrase within a window of time. Best first. Use \
             several phrases where a thing has several names; the same phrase has the same answer.",
            retrieve_from_text_with_time::PARAMS,
        ),
        spec(
            "recall_observation_of_instance",
            "Recall the moments that show an object",
            "Finds the past observations within a window of time that really show a described \
             object: attributes must belong to it, synonyms count. Best first.",
            recall_observation_of_instance::PARAMS,
        ),
    ]
}

/// As [`records_schema`], with whether the session had this answer before.
fn moments_schema() -> Map<String, Value> {
    let mut schema = records_schema();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("already_asked".to_owned(), json!({"type": "boolean"}));
    }
    schema
}

fn kept_notes() -> Vec<ToolSpec> {
    let spec = |name, title, description, params, output_schema, hints| ToolSpec {
        name,
        title,
        description,
        input_schema: args::schema(params),
        output_schema,
        hints,
        toolset: Toolset::Notes,
    };
    let ids = json!({"type": "array", "items": {"type": "string"}});
    vec![
        spec(
            "memory_save",
            "Keep a piece of information",
            "Persists a text in long-term memory, where memory_load finds it by meaning. For what \
             has a clear, long-term purpose. Returns its id.",
            notes::SAVE,
            object(&json!({"id": {"type": "string"}}), &["id"]),
            ADDS,
        ),
        spec(
            "memory_load",
            "Recall what was kept",
            "Finds the saved texts that are similar in meaning to a query, best first, with their \
             ids; all that pass the filter are looked at.",
            notes::LOAD,
            object(
                &json!({
                    "memories": {"type": "array", "items": memory_note_schema()},
                    "why_empty": {"type": "string"},
                }),
                &["memories"],
            ),
            READS,
        ),
        spec(
            "memory_delete",
            "Delete kept texts by id",
            "Permanently removes the saved texts with these ids, which memory_load tells.",
            notes::DELETE,
            object(&json!({"deleted": ids, "not_found": ids}), &["deleted", "not_found"]),
            REMOVES,
        ),
        spec(
            "memory_forget",
            "Forget a topic",
            "Permanently removes every saved text that is similar to a query; with scope, also or \
             only observations. Broad: try it with dry_run first.",
            notes::FORGET,
            object(
                &json!({
                    "deleted": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "count": {"type": "integer"},
                    "dry_run": {"type": "boolean"},
                }),
                &["deleted", "count", "dry_run"],
            ),
            REMOVES,
        ),
    ]
}

fn memory_note_schema() -> Value {
    Value::Object(object(
        &json!({
            "id": {"type": "string"},
            "text": {"type": "string"},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "area": {"type": "string"},
            "metadata": {"type": "object"},
            "time": {"type": "string"},
        }),
        &["id", "text", "score", "area", "metadata", "time"],
    ))
}

fn kept_memos() -> Vec<ToolSpec> {
    let spec = |name, title, description, params, output_schema, hints| ToolSpec {
        name,
        title,
        description,
        input_schema: args::schema(params),
        output_schema,
        hints,
        toolset: Toolset::Memos,
    };
    let ids = json!({"type": "array", "items": {"type": "integer"}});
    let status = json!({"type": "string", "enum": ["queued", "stored"]});
    let memo = object(
        &json!({
            "id": {"type": "integer"},
            "memo": {"type": "string"},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
        }),
        &["id", "memo", "score"],
    );
    let block = object(
        &json!({
            "query": {"type": "string"},
            "memo_id": {"type": ["integer", "null"]},
            "memo": {"type": ["string", "null"]},
        }),
        &["query", "memo_id", "memo"],
    );
    vec![
        spec(
            "memo_add",
            "Keep an answer that was rated up",
            "Keeps the <reasoning>, <sql> and <chart> of an assistant's messages that a user rated \
             up, as a <memo> for later prompts; a <dataframe> is left out. Found a moment later.",
            memos::ADD,
            object(&json!({"id": {"type": "integer"}, "status": status}), &["id", "status"]),
            ADDS,
        ),
        spec(
            "memo_delete",
            "Delete a memo",
            "Removes a memo by its id, or those of a message by the message's id, on downvote or \
             undo; one whose creation is still queued is cancelled.",
            memos::DELETE,
            object(
                &json!({"deleted": ids, "cancelled": ids, "why_empty": {"type": "string"}}),
                &["deleted", "cancelled"],
            ),
            REMOVES,
        ),
        spec(
            "memo_recall",
            "Recall a memo",
            "Finds the <memo> that best answers a query in words, such as 'examples of run-level \
             QC summary queries'.",
            memos::RECALL,
            object(
                &json!({
                    "memos": {"type": "array", "items": memo},
                    "why_empty": {"type": "string"},
                }),
                &["memos"],
            ),
            NOTES_USE,
        ),
        spec(
            "memo_expand",
            "Answer the recalls in a text",
            "Finds each <recall>query</recall> in a model's output and returns the <memo> to \
             inject for it, in order.",
            memos::EXPAND,
            object(&json!({"blocks": {"type": "array", "items": block}}), &["blocks"]),
            NOTES_USE,
        ),
        spec(
            "memo_list",
            "List the memos",
            "Lists memos, newest first, with where they come from and how often each answered; \
             with recalls, also which memo answered which recall.",
            memos::LIST,
            object(
                &json!({
                    "memos": {"type": "array", "items": {"type": "object"}},
                    "total": {"type": "integer"},
                    "queued": {"type": "integer"},
                    "recalls": {"type": "array", "items": {"type": "object"}},
                }),
                &["memos", "total", "queued", "recalls"],
            ),
            READS,
        ),
    ]
}

fn states() -> Vec<ToolSpec> {
    let spec = |name, title, description, params, hints| ToolSpec {
        name,
        title,
        description,
        input_schema: args::schema(params),
        output_schema: memory_schema(),
        hints,
        toolset: Toolset::State,
    };
    vec![
        spec(
            "state_set",
            "Replace an agent's memory",
            "Replaces the whole memory that an agent carries from step to step: one JSON object.",
            state::SET,
            REPLACES,
        ),
        spec(
            "state_merge",
            "Change part of an agent's memory",
            "Lays an object over the agent's memory: objects are merged key by key, every other \
             value replaces what was there. Returns the whole memory.",
            state::MERGE,
            REPLACES,
        ),
        spec(
            "state_get",
            "Read an agent's memory",
            "Returns the memory that an agent carries from step to step, or the part under a path.",
            state::GET,
            READS,
        ),
        spec(
            "state_update_from_reply",
            "Take an agent's memory from a model's reply",
            "Replaces the agent's memory by the \"memory\" object in a language model's JSON reply. \
             A reply without one changes nothing and is refused with what to mend.",
            state::UPDATE,
            REPLACES,
        ),
        ToolSpec {
            output_schema: object(
                &json!({
                    "text": {"type": "string"},
                    "missing": {"type": "array", "items": {"type": "string"}},
                }),
                &["text", "missing"],
            ),
            ..spec(
                "prompt_render",
                "Render a prompt",
                "Fills a prompt template with the agent's memory ($memory[key][inner]) and with \
                 variables ($name). What is missing in the memory reads None and is listed.",
                state::RENDER,
                READS,
            )
        },
    ]
}

fn memory_schema() -> Map<String, Value> {
    object(
        &json!({
            "agent": {"type": "string"},
            "memory": {},
            "why_empty": {"type": "string"},
        }),
        &["agent", "memory"],
    )
}

fn ingest() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "observe",
            title: "Put an observation into memory",
            description: "Takes a camera frame (image or image_path), which is captioned in the \
                background, or a ready caption, which is stored at once. When it answers, the \
                observation is safe on disk.",
            input_schema: args::schema(observe::OBSERVE),
            output_schema: object(
                &json!({
                    "frame": {"type": ["integer", "null"]},
                    "id": {"type": ["integer", "null"]},
                    "state": {"type": "string", "enum": ["stored", "merged", "pending"]},
                }),
                &["frame", "id", "state"],
            ),
            hints: ADDS,
            toolset: Toolset::Ingest,
        },
        ToolSpec {
            name: "ingest_status",
            title: "What became of the frames",
            description: "Counts of frames seen, gated, pending, captioned, failed and refused, \
                the newest time of each source, and the last error.",
            input_schema: args::schema(NO_ARGUMENTS),
            output_schema: ingest_status_schema(),
            hints: READS,
            toolset: Toolset::Ingest,
        },
    ]
}

fn admin() -> Vec<ToolSpec> {
    vec![
        ToolSpec {
            name: "memory_stats",
            title: "What the memory holds",
            description: "Number of records and the time they span, the models that made them, \
                and the memory and disk they take.",
            input_schema: args::schema(NO_ARGUMENTS),
            output_schema: memory_stats_schema(),
            hints: READS,
            toolset: Toolset::Admin,
        },
        ToolSpec {
            name: "health",
            title: "Whether the memory is well",
            description: "Says ok, or degraded with the problems.",
            input_schema: args::schema(NO_ARGUMENTS),
            output_schema: object(
                &json!({
                    "status": {"type": "string", "enum": ["ok", "degraded"]},
                    "problems": {"type": "array", "items": {"type": "string"}},
                    "version": {"type": "string"},
                    "uptime_seconds": {"type": "integer"},
                }),
                &["status", "problems", "version", "uptime_seconds"],
            ),
            hints: READS,
            toolset: Toolset::Admin,
        },
        listing::watch(),
    ]
}

pub(crate) const NO_ARGUMENTS: &[Param] = &[];

fn records_schema() -> Map<String, Value> {
    object(
        &json!({
            "records": {"type": "array", "items": record_schema()},
            "session": {"type": "string"},
            "index": {
                "type": "object",
                "properties": {"searchable": {"type": "integer"}, "pending": {"type": "integer"}},
                "required": ["searchable", "pending"],
            },
            "why_empty": {"type": "string"},
            "explanation": {"type": "object"},
        }),
        &["records", "session", "index"],
    )
}

fn inspected_schema() -> Map<String, Value> {
    object(
        &json!({
            "records": {"type": "array", "items": record_schema()},
            "not_found": {"type": "array", "items": {"type": "integer"}},
        }),
        &["records", "not_found"],
    )
}

pub(crate) fn record_schema() -> Value {
    let nullable_number = json!({"type": ["number", "null"]});
    Value::Object(object(
        &json!({
            "id": {"type": "integer"},
            "time": {"type": "string"},
            "timestamp": {"type": "number", "description": "Seconds since 1970."},
            "end_time": {"type": "string"},
            "caption": {"type": "string"},
            "confidence": {
                "type": "number", "minimum": 0, "maximum": 1,
                "description": "How likely the caption is right; absent where nobody says.",
            },
            "position": {
                "type": ["array", "null"], "items": {"type": "number"},
                "description": "Where the robot stood: metres in frame_id.",
            },
            "theta": nullable_number,
            "frame_id": {"type": "string"},
            "map_id": {"type": "string"},
            "source": {"type": "string"},
            "layer": {"type": "string"},
            "image": {"type": ["string", "null"]},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "matched": {"type": "array", "items": {"type": "string"}},
        }),
        &[
            "id",
            "time",
            "timestamp",
            "end_time",
            "caption",
            "position",
            "theta",
            "frame_id",
            "map_id",
            "source",
            "image",
        ],
    ))
}

fn ingest_status_schema() -> Map<String, Value> {
    let count = json!({"type": "integer"});
    object(
        &json!({
            "seen": count, "gated": count, "pending": count, "captioned": count, "failed": count,
            "refused": count, "captioning": {"type": "boolean"},
            "captioner_pid": {"type": ["integer", "null"]}, "captioner_restarts": count,
            "sources": {"type": "array", "items": {"type": "object"}},
            "set_aside": {"type": "array", "items": {"type": "object"}},
            "last_error": {"type": ["object", "null"]},
        }),
        &[
            "seen",
            "gated",
            "pending",
            "captioned",
            "failed",
            "refused",
            "captioning",
            "captioner_pid",
            "captioner_restarts",
            "sources",
            "set_aside",
            "last_error",
        ],
    )
}

fn memory_stats_schema() -> Map<String, Value> {
    let count = json!({"type": "integer"});
    let time = json!({"type": ["string", "null"]});
    let model = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "fingerprint": {"type": "string"}},
    });
    object(
        &json!({
            "records": count, "first": time, "last": time, "pending": count,
            "captioner": model, "embedder": model, "disk_bytes": count,
            "daemon_resident_bytes": {"type": ["integer", "null"]},
            "worker_resident_bytes": {"type": ["integer", "null"]},
            "index": {
                "type": "object",
                "properties": {
                    "segments": {"type": "array", "items": {"type": "object"}},
                    "tail": count, "tail_pieces": count, "tombstones": count,
                    "memory_bytes": count, "disk_bytes": count,
                },
            },
        }),
        &[
            "records",
            "first",
            "last",
            "pending",
            "captioner",
            "embedder",
            "disk_bytes",
            "daemon_resident_bytes",
            "worker_resident_bytes",
            "index",
        ],
    )
}

pub(crate) fn object(properties: &Value, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.clone());
    schema.insert("required".to_owned(), json!(required));
    schema
}
