//! The tools of a search as clients see them listed.

use serde_json::{Map, Value, json};

use crate::tools::args;
use crate::tools::object_retrieval::{
    determine_unique_instances, memory_search_instance, real_world_search_instance,
    report_search_result, start_task, watch_goals,
};
use crate::tools::untyped::{object, record_schema};
use crate::tools::{Hints, ToolSpec, Toolset};

/// Sets what belongs to the session, which repeating it sets again.
const SETS: Hints = Hints { read_only: true, destructive: false, idempotent: true };
/// Begins anew what the session was about.
const BEGINS: Hints = Hints { read_only: false, destructive: false, idempotent: true };
/// The robot drives.
const ACTS: Hints = Hints { read_only: false, destructive: false, idempotent: false };

fn spec(
    name: &'static str,
    (title, description): (&'static str, &'static str),
    params: &[args::Param],
    output_schema: Map<String, Value>,
    hints: Hints,
) -> ToolSpec {
    let (input_schema, toolset) = (args::schema(params), Toolset::ObjectRetrieval);
    ToolSpec { name, title, description, input_schema, output_schema, hints, toolset }
}

/// `start_task`, which comes first.
pub(crate) fn start() -> ToolSpec {
    let text = json!({"type": "string"});
    spec(
        "start_task",
        (
            "Begin a task",
            "Takes the user's request in words and clears what this session was about before. \
             With now, relative times of later calls count from then.",
        ),
        start_task::PARAMS,
        object(&json!({"task": text, "now": text, "session": text}), &["task", "now", "session"]),
        BEGINS,
    )
}

/// From the working memory to the robot, in the order of a search.
pub(crate) fn steps() -> Vec<ToolSpec> {
    let records = json!({"type": "array", "items": record_schema()});
    let text_or_null = json!({"type": ["string", "null"]});
    let known = json!({"type": "string", "enum": ["yes", "no", "unknown"]});
    let goals = json!({"type": "array", "items": goal_schema()});
    vec![
        spec(
            "determine_unique_instances_from_latest_working_memory",
            (
                "Tell the objects in working memory apart",
                "Divides the records of the newest recall into distinct physical objects, by \
                 attributes, places, times and what was seen with them, in the order that the \
                 query asks for ('find most frequently used mug'). Knows the recalled records \
                 only: for how often, recall with a large k or with recall_all first. The objects \
                 become the working memory.",
            ),
            determine_unique_instances::PARAMS,
            object(
                &json!({
                    "instances": {"type": "array", "items": instance_schema()},
                    "session": {"type": "string"},
                    "why_empty": {"type": "string"},
                }),
                &["instances", "session"],
            ),
            SETS,
        ),
        spec(
            "create_or_update_memory_search_instance",
            (
                "Decide what is searched for",
                "Sets the search target from the newest working memory and the task; needs no \
                 argument. Before any recall it is the request itself.",
            ),
            memory_search_instance::PARAMS,
            object(
                &json!({
                    "found_in_memory": known, "instance_desc": {"type": "string"},
                    "instance_viz_path": text_or_null, "past_observations": records,
                }),
                &["found_in_memory", "instance_desc", "instance_viz_path", "past_observations"],
            ),
            SETS,
        ),
        spec(
            "create_or_update_real_world_search_instance",
            (
                "Decide where to search",
                "Sets the place to search for the target: where that object was last seen, \
                 wherever it was used; needs no argument. Never seen: places that resemble where \
                 such things are kept, marked as a guess.",
            ),
            real_world_search_instance::PARAMS,
            object(
                &json!({
                    "found_in_world": known, "instance_desc": {"type": "string"},
                    "position": {"type": ["array", "null"], "items": {"type": "number"}},
                    "theta": {"type": ["number", "null"]},
                    "frame_id": text_or_null, "map_id": text_or_null, "last_seen": text_or_null,
                    "past_observations": records, "alternatives": goals,
                    "guess": {"type": "boolean"},
                }),
                &[
                    "found_in_world",
                    "instance_desc",
                    "position",
                    "theta",
                    "frame_id",
                    "map_id",
                    "last_seen",
                    "past_observations",
                    "alternatives",
                ],
            ),
            SETS,
        ),
        spec(
            "search_current_target_instance_in_real_world",
            (
                "Search now",
                "Gives the places to the robot, in the order to visit. This ends the reasoning.",
            ),
            &[],
            object(
                &json!({
                    "status": {"type": "string", "enum": ["dispatched"]},
                    "target": {"type": "string"}, "goals": goals,
                }),
                &["status", "target", "goals"],
            ),
            ACTS,
        ),
        spec(
            "report_search_result",
            (
                "Report what the robot found",
                "Says whether the target was at the goal; the reply is the next goal, or that the \
                 search is open again.",
            ),
            report_search_result::PARAMS,
            object(
                &json!({
                    "status": {"type": "string", "enum": ["found", "next", "reopened"]},
                    "target": {"type": "string"},
                    "next": {"anyOf": [goal_schema(), {"type": "null"}]},
                    "remaining": {"type": "integer"},
                }),
                &["status", "target", "next", "remaining"],
            ),
            ACTS,
        ),
    ]
}

/// `watch_goals`, for who drives the robot.
pub(crate) fn watch() -> ToolSpec {
    let spec = spec(
        "watch_goals",
        (
            "Follow the goals that were given out",
            "Returns the goals of searches and what was reported of them since an event; waits \
             for the next one where it is asked to.",
        ),
        watch_goals::PARAMS,
        object(
            &json!({
                "events": {"type": "array", "items": {"type": "object"}},
                "next": {"type": "integer"},
            }),
            &["events", "next"],
        ),
        SETS,
    );
    ToolSpec { toolset: Toolset::Admin, ..spec }
}

fn instance_schema() -> Value {
    let (text, count) = (json!({"type": "string"}), json!({"type": "integer"}));
    let position = json!({"type": ["array", "null"], "items": {"type": "number"}});
    let place = object(
        &json!({"position": position, "count": count, "place": text}),
        &["position", "count", "place"],
    );
    let properties = json!({
        "instance_desc": text,
        "record_ids": {"type": "array", "items": count},
        "count": {"type": "integer", "description": "Occasions on which it was seen."},
        "days_seen": count,
        "first_seen": text,
        "last_seen": text,
        "places": {"type": "array", "items": place},
        "seen_with": {"type": "array", "items": text},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    });
    let required = [
        "instance_desc",
        "record_ids",
        "count",
        "days_seen",
        "first_seen",
        "last_seen",
        "places",
        "seen_with",
        "confidence",
    ];
    Value::Object(object(&properties, &required))
}

fn goal_schema() -> Value {
    let text = json!({"type": "string"});
    let properties = json!({
        "position": {"type": "array", "items": {"type": "number"}},
        "theta": {"type": ["number", "null"]},
        "frame_id": text, "map_id": text, "reason": text,
        "record_id": {"type": ["integer", "null"]},
        "probability": {"type": "number", "minimum": 0, "maximum": 1},
        "guess": {"type": "boolean"},
    });
    let required =
        ["position", "theta", "frame_id", "map_id", "reason", "record_id", "probability"];
    Value::Object(object(&properties, &required))
}
