//! The tools that still make their JSON and their schemas by hand.

use serde_json::{Map, Value, json};

use crate::tools::action::{Action, SEARCH_WINDOW, TextInput};
use crate::tools::args;
use crate::tools::tool::Untyped;
use crate::tools::{Hints, ToolSpec, Toolset, inspect, memos, notes, observe, state};

pub(crate) const INSPECT_MEMORY_RECORD: Untyped = Untyped {
    name: "inspect_memory_record",
    aliases: &[],
    is_brief: false,
    action: Some(Action::object(TextInput::RecordIds)),
    params: inspect::INSPECT,
    spec: || listed("inspect_memory_record"),
    check: |args, _context, _session| {
        let _checked = args.record_ids("record_ids")?;
        Ok(())
    },
    call: |args, context, session| {
        let request = args.record_ids("record_ids")?;
        inspect::inspect(context, session.name, request)
    },
};

pub(crate) const GET_RECORD_COUNT: Untyped = Untyped {
    name: "get_record_count_within_time_range",
    aliases: &[],
    is_brief: true,
    action: Some(Action::object(TextInput::Nothing).within(SEARCH_WINDOW)),
    params: inspect::COUNT,
    spec: || listed("get_record_count_within_time_range"),
    check: |args, context, session| {
        let _checked = inspect::window(args, context.reading(session.name))?;
        Ok(())
    },
    call: |args, context, session| {
        let request = inspect::window(args, context.reading(session.name))?;
        Ok(inspect::count(context, request))
    },
};

pub(crate) const MEMORY_SAVE: Untyped = Untyped {
    name: "memory_save",
    aliases: &[],
    is_brief: false,
    action: None,
    params: notes::SAVE,
    spec: || listed("memory_save"),
    check: |args, _context, _session| {
        let _checked = notes::Request::save(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = notes::Request::save(args)?;
        notes::run(context, request)
    },
};

pub(crate) const MEMORY_LOAD: Untyped = Untyped {
    name: "memory_load",
    aliases: &[],
    is_brief: false,
    action: None,
    params: notes::LOAD,
    spec: || listed("memory_load"),
    check: |args, _context, _session| {
        let _checked = notes::Request::load(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = notes::Request::load(args)?;
        notes::run(context, request)
    },
};

pub(crate) const MEMORY_DELETE: Untyped = Untyped {
    name: "memory_delete",
    aliases: &[],
    is_brief: false,
    action: None,
    params: notes::DELETE,
    spec: || listed("memory_delete"),
    check: |args, _context, _session| {
        let _checked = notes::Request::delete(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = notes::Request::delete(args)?;
        notes::run(context, request)
    },
};

pub(crate) const MEMORY_FORGET: Untyped = Untyped {
    name: "memory_forget",
    aliases: &[],
    is_brief: false,
    action: None,
    params: notes::FORGET,
    spec: || listed("memory_forget"),
    check: |args, _context, _session| {
        let _checked = notes::Request::forget(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = notes::Request::forget(args)?;
        notes::run(context, request)
    },
};

pub(crate) const MEMO_ADD: Untyped = Untyped {
    name: "memo_add",
    aliases: &[],
    is_brief: false,
    action: None,
    params: memos::ADD,
    spec: || listed("memo_add"),
    check: |args, _context, _session| {
        let _checked = memos::Request::add(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = memos::Request::add(args)?;
        memos::run(context, request)
    },
};

pub(crate) const MEMO_DELETE: Untyped = Untyped {
    name: "memo_delete",
    aliases: &[],
    is_brief: false,
    action: None,
    params: memos::DELETE,
    spec: || listed("memo_delete"),
    check: |args, _context, _session| {
        let _checked = memos::Request::delete(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = memos::Request::delete(args)?;
        memos::run(context, request)
    },
};

pub(crate) const MEMO_RECALL: Untyped = Untyped {
    name: "memo_recall",
    aliases: &[],
    is_brief: false,
    action: None,
    params: memos::RECALL,
    spec: || listed("memo_recall"),
    check: |args, _context, _session| {
        let _checked = memos::Request::recall(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = memos::Request::recall(args)?;
        memos::run(context, request)
    },
};

pub(crate) const MEMO_EXPAND: Untyped = Untyped {
    name: "memo_expand",
    aliases: &[],
    is_brief: false,
    action: None,
    params: memos::EXPAND,
    spec: || listed("memo_expand"),
    check: |args, _context, _session| {
        let _checked = memos::Request::expand(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = memos::Request::expand(args)?;
        memos::run(context, request)
    },
};

pub(crate) const MEMO_LIST: Untyped = Untyped {
    name: "memo_list",
    aliases: &[],
    is_brief: false,
    action: None,
    params: memos::LIST,
    spec: || listed("memo_list"),
    check: |args, _context, _session| {
        let _checked = memos::Request::list(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = memos::Request::list(args)?;
        memos::run(context, request)
    },
};

pub(crate) const STATE_SET: Untyped = Untyped {
    name: "state_set",
    aliases: &[],
    is_brief: false,
    action: None,
    params: state::SET,
    spec: || listed("state_set"),
    check: |args, _context, _session| {
        let _checked = state::Request::set(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = state::Request::set(args)?;
        state::run(context, request)
    },
};

pub(crate) const STATE_MERGE: Untyped = Untyped {
    name: "state_merge",
    aliases: &[],
    is_brief: false,
    action: None,
    params: state::MERGE,
    spec: || listed("state_merge"),
    check: |args, _context, _session| {
        let _checked = state::Request::merge(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = state::Request::merge(args)?;
        state::run(context, request)
    },
};

pub(crate) const STATE_GET: Untyped = Untyped {
    name: "state_get",
    aliases: &[],
    is_brief: false,
    action: None,
    params: state::GET,
    spec: || listed("state_get"),
    check: |args, _context, _session| {
        let _checked = state::Request::get(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = state::Request::get(args)?;
        state::run(context, request)
    },
};

pub(crate) const STATE_UPDATE_FROM_REPLY: Untyped = Untyped {
    name: "state_update_from_reply",
    aliases: &[],
    is_brief: false,
    action: None,
    params: state::UPDATE,
    spec: || listed("state_update_from_reply"),
    check: |args, _context, _session| {
        let _checked = state::Request::update(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = state::Request::update(args)?;
        state::run(context, request)
    },
};

pub(crate) const PROMPT_RENDER: Untyped = Untyped {
    name: "prompt_render",
    aliases: &[],
    is_brief: false,
    action: None,
    params: state::RENDER,
    spec: || listed("prompt_render"),
    check: |args, _context, _session| {
        let _checked = state::Request::render(args)?;
        Ok(())
    },
    call: |args, context, _session| {
        let request = state::Request::render(args)?;
        state::run(context, request)
    },
};

pub(crate) const OBSERVE: Untyped = Untyped {
    name: "observe",
    aliases: &[],
    is_brief: false,
    action: None,
    params: observe::OBSERVE,
    spec: || listed("observe"),
    check: |args, context, session| {
        let _checked = observe::Request::parse(
            args,
            context.reading(session.name),
            context.options.image_limits,
        )?;
        Ok(())
    },
    call: |args, context, session| {
        let request = observe::Request::parse(
            args,
            context.reading(session.name),
            context.options.image_limits,
        )?;
        observe::observe(context, request)
    },
};

fn listed(name: &str) -> ToolSpec {
    let all = [looks(), kept_notes(), kept_memos(), states(), ingest()];
    #[expect(clippy::expect_used, reason = "each tool of this file is listed here")]
    all.into_iter().flatten().find(|spec| spec.name == name).expect("is listed")
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
            hints: Hints::READS,
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
            hints: Hints::READS,
            toolset: Toolset::ObjectRetrieval,
        },
    ]
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
            Hints::ADDS,
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
            Hints::READS,
        ),
        spec(
            "memory_delete",
            "Delete kept texts by id",
            "Permanently removes the saved texts with these ids, which memory_load tells.",
            notes::DELETE,
            object(&json!({"deleted": ids, "not_found": ids}), &["deleted", "not_found"]),
            Hints::REPLACES,
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
            Hints::REPLACES,
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
            Hints::ADDS,
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
            Hints::REPLACES,
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
            Hints::ADDS,
        ),
        spec(
            "memo_expand",
            "Answer the recalls in a text",
            "Finds each <recall>query</recall> in a model's output and returns the <memo> to \
             inject for it, in order.",
            memos::EXPAND,
            object(&json!({"blocks": {"type": "array", "items": block}}), &["blocks"]),
            Hints::ADDS,
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
            Hints::READS,
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
            Hints::REPLACES,
        ),
        spec(
            "state_merge",
            "Change part of an agent's memory",
            "Lays an object over the agent's memory: objects are merged key by key, every other \
             value replaces what was there. Returns the whole memory.",
            state::MERGE,
            Hints::REPLACES,
        ),
        spec(
            "state_get",
            "Read an agent's memory",
            "Returns the memory that an agent carries from step to step, or the part under a path.",
            state::GET,
            Hints::READS,
        ),
        spec(
            "state_update_from_reply",
            "Take an agent's memory from a model's reply",
            "Replaces the agent's memory by the \"memory\" object in a language model's JSON reply. \
             A reply without one changes nothing and is refused with what to mend.",
            state::UPDATE,
            Hints::REPLACES,
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
                Hints::READS,
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
    vec![ToolSpec {
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
        hints: Hints::ADDS,
        toolset: Toolset::Ingest,
    }]
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

pub(crate) fn object(properties: &Value, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.clone());
    schema.insert("required".to_owned(), json!(required));
    schema
}
