//! The tools over a real store with scripted models: what a call means, and what
//! its reply looks like.

use std::cell::Cell;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engram::agent::Agent;
use engram::audit::Audit;
use engram::base::caller::Caller;
use engram::base::picture::ImageLimits;
use engram::base::stop::Stop;
use engram::base::time::{Clock, StandingClock, Timestamp, Zone};
use engram::ingest::{self, Ingest, IngestParts};
use engram::language::request_tags::TaggedRequest;
use engram::memory::embedding_space;
use engram::memory::episodic::Episodic;
use engram::memory::episodic::requests::Requests;
use engram::memory::memos::Memos;
use engram::memory::notes::Notes;
use engram::memory::state::AgentStates;
use engram::model::embedder::EmbedderHandle;
use engram::model::request_reader;
use engram::model::scripted::{ScriptedCaptioner, ScriptedEmbedder};
use engram::model::use_reader;
use engram::model::{ModelError, ModelIdentity, RequestTagger};
use engram::retrieval::sessions::Sessions;
use engram::store::{Options, Store};
use engram::tools::context::{self, Context, Domains};
use engram::tools::dispatch::Tools;
use engram::tools::{Image, Resource, ToolBox as _, ToolError, ToolReply};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use crate::running::wait_for;
use crate::schemas;

/// The shipped readers of requests and of uses, loaded once for all tests.
static REQUESTS: LazyLock<Requests> = LazyLock::new(|| {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let tagger = CountingTagger(request_reader::load(&models.join("request-reader")).unwrap());
    let uses = use_reader::load(&models.join("use-reader")).unwrap();
    Requests::new(Box::new(tagger)).with_uses(Some(uses))
});

thread_local! {
    /// Requests that calls of this thread have had read.
    static READS: Cell<usize> = const { Cell::new(0) };
}

/// Counts what it is asked.
#[derive(Debug)]
struct CountingTagger(Box<dyn RequestTagger>);

impl RequestTagger for CountingTagger {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn tag(&self, request: &str) -> Result<TaggedRequest, ModelError> {
        READS.set(READS.get() + 1);
        self.0.tag(request)
    }
}

/// 2025-01-03 12:00:00 UTC.
const NOON: f64 = 1_735_905_600.0;

pub(crate) struct Memory {
    pub(crate) tools: Agent,
    pub(crate) state: tempfile::TempDir,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self::with(|captioner| captioner)
    }

    fn with(adapted: impl FnOnce(ScriptedCaptioner) -> ScriptedCaptioner) -> Self {
        let state = tempfile::tempdir().unwrap();
        let tools = Self::tools_in(state.path(), adapted);
        Self { tools, state }
    }

    /// The tools over the memory that lies in `state`.
    pub(crate) fn tools_in(
        state: &Path,
        adapted: impl FnOnce(ScriptedCaptioner) -> ScriptedCaptioner,
    ) -> Agent {
        let handle = EmbedderHandle::new(Box::new(ScriptedEmbedder::new(64)));
        let store = Store::open(&Options::at(state.join("s")), &embedding_space(&handle)).unwrap();
        let episodic = Arc::new(Episodic::open(store.clone(), handle.clone()).unwrap());
        let now = Timestamp::from_seconds(NOON).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(StandingClock::at(now));
        let captioner = ScriptedCaptioner::new(|_| Ok("a green ball on the floor".to_owned()));
        let zone = Zone::from_name("UTC").unwrap();
        let memos = Memos::open(store.clone(), handle.clone()).unwrap();
        let notes = Notes::open(store.clone(), handle.clone(), zone).unwrap();
        let state_domain = AgentStates::new(store.clone());
        let idle_max = Duration::from_hours(24);
        let sessions = Sessions::open(store.clone(), Arc::clone(&clock), idle_max).unwrap();
        let parts = IngestParts {
            store,
            episodic: Arc::clone(&episodic),
            captioner: adapted(captioner),
            clock: Arc::clone(&clock),
            stop: Stop::default(),
        };
        let ingest = Arc::new(Ingest::start(parts, ingest::Options::default()).unwrap());
        let options = context::Options {
            zone,
            text_max_chars: 400,
            forget_share_max: 0.2,
            goal_probability_min: 0.0,
            robot_names: Vec::new(),
            prompts_dirs: vec![state.join("prompts")],
            image_roots: vec![state.join("images")],
            image_limits: ImageLimits::default(),
        };
        let context = Context::new(
            Domains {
                episodic,
                requests: REQUESTS.clone(),
                memos,
                notes,
                state: state_domain,
                sessions: Arc::new(sessions),
                audit: Arc::new(Audit::none(Arc::clone(&clock))),
            },
            ingest,
            clock,
            options,
        );
        Agent::new(Tools::new(context))
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<ToolReply, ToolError> {
        let reply = self.tools.call(
            &Caller::daemon(),
            "connection-1",
            tool,
            arguments.as_object().unwrap().clone(),
        )?;
        schemas::check(tool, &Value::Object(reply.structured.clone()));
        Ok(reply)
    }

    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Value {
        Value::Object(self.call(tool, arguments).unwrap().structured)
    }

    pub(crate) fn refusal(&self, tool: &str, arguments: Value) -> String {
        let ToolError::Argument(sentence) = self.call(tool, arguments).unwrap_err() else {
            panic!("{tool} did not refuse")
        };
        sentence
    }

    /// Captions at 09:00, 09:01, … of the day.
    pub(crate) fn observe(&self, captions: &[&str]) {
        for (minute, caption) in captions.iter().enumerate() {
            let time = format!("2025-01-03 09:{minute:02}:00");
            let stored = self.ask(
                "observe",
                json!({"caption": caption, "time": time, "position": [minute, -1.5],
                    "theta": 0.5, "map_id": "home", "source": "camera"}),
            );
            assert_eq!(stored, json!({"frame": null, "id": minute + 1, "state": "stored"}));
        }
    }
}

pub(crate) fn ids(reply: &Value) -> Vec<u64> {
    reply["records"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
}

pub(crate) fn png(level: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = RgbImage::from_pixel(32, 32, Rgb([level, level, level]));
    image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    bytes
}

#[test]
fn a_record_has_the_shape_of_the_contract() {
    let memory = Memory::new();
    memory.observe(&["a purple book next to a red mug on a wooden table in the kitchen"]);
    let reply = memory.ask("recall_best_match", json!({"query": "purple book"}));
    let mut record = reply["records"][0].clone();
    let score = record.as_object_mut().unwrap().shift_remove("score").unwrap();
    assert!((0.0..=1.0).contains(&score.as_f64().unwrap()), "{score}");
    assert_eq!(
        record,
        json!({
            "id": 1, "time": "2025-01-03 09:00:00", "timestamp": 1_735_894_800.0,
            "end_time": "2025-01-03 09:00:00",
            "caption": "a purple book next to a red mug on a wooden table in the kitchen",
            "position": [0.0, -1.5, 0.0], "theta": 0.5, "frame_id": "map", "map_id": "home",
            "source": "camera", "image": null, "matched": ["purple book"],
        })
    );
    assert_eq!(reply["index"], json!({"searchable": 1, "pending": 0}));
    assert_eq!(reply["session"], "connection-1");
    assert_eq!(reply.get("why_empty"), None);
}

#[test]
fn a_recall_explains_itself_when_asked_to() {
    let memory = Memory::new();
    memory.observe(&["a red mug on a desk", "a blue book on a shelf"]);
    let query = json!({"query": "a red mug", "k": 1, "explain": true});
    let reply = memory.call("recall_best_match", query).unwrap();
    let explanation = &reply.structured["explanation"];
    let weight = explanation["weights"]["lexical"].as_f64().unwrap();
    assert_eq!(explanation["weights"]["dense"], json!(1.0));
    let score = &explanation["scores"][0];
    assert_eq!(
        (&score["id"], &score["score"]),
        (&json!(1), &reply.structured["records"][0]["score"])
    );
    let part = |name: &str| score[name].as_f64().unwrap();
    assert!(
        (part("score") - (part("dense") + weight * part("lexical")) / (1.0 + weight)).abs() < 1e-3
    );
    let piece = &explanation["pieces"][0];
    assert_eq!((&piece["action"], &piece["selected"]), (&json!("scan"), &json!(2)));
    assert!(
        reply.text.ends_with("tail (records 1 to 2): 2 of 2 rows compared, it has no graph yet")
    );
    let plain = memory.ask("recall_best_match", json!({"query": "a red mug"}));
    assert_eq!(plain.get("explanation"), None);
    let stats = memory.ask("memory_stats", json!({}));
    assert_eq!((&stats["index"]["tail"], &stats["index"]["tombstones"]), (&json!(2), &json!(0)));
}

#[test]
fn a_plan_reads_its_request_once() {
    let memory = Memory::new();
    memory.observe(&[
        "a laptop on a wooden desk in the office",
        "a red mug on a white counter in the kitchen",
        "a blue mug on a grey sofa in the living room",
    ]);
    for task in ["bring me the mug next to the laptop", "the mug that I use the most", "a mug"] {
        READS.set(0);
        memory.ask("retrieve_object", json!({"task": task}));
        assert_eq!(READS.get(), 1, "{task}");
    }
}

#[test]
fn last_seen_is_the_newest_that_shows_it_not_the_newest_of_the_similar() {
    let memory = Memory::new();
    memory.observe(&[
        "a red mug on a desk",
        "a red mug next to a blue book on a table",
        "a blue mug next to a red book on a table",
        "a red book on a table",
    ]);
    assert_eq!(ids(&memory.ask("recall_last_seen", json!({"query": "a red mug"}))), [2]);
    assert_eq!(ids(&memory.ask("recall_last_seen", json!({"query": "a mug", "k": 5}))), [3, 2, 1]);
    let on_desk = memory.ask("recall_last_seen", json!({"query": "the red mug on the desk"}));
    assert_eq!(ids(&on_desk), [1]);
    assert_eq!(on_desk["records"][0]["matched"], json!(["red mug", "desk"]));
    let never = memory.ask("recall_last_seen", json!({"query": "a green mug"}));
    assert_eq!(never["records"], json!([]));
    assert_eq!(never["why_empty"], "none of 4 records shows \"a green mug\"");
    let sentence = memory.refusal("recall_last_seen", json!({"query": "something red"}));
    assert!(
        sentence.starts_with("argument \"query\": \"something red\" names no thing"),
        "{sentence}"
    );
}

#[test]
fn a_sighting_that_is_only_possible_says_so() {
    let memory = Memory::new();
    memory.observe(&["a mug on a desk"]);
    let text = |query: &str| memory.call("recall_last_seen", json!({"query": query})).unwrap().text;
    let possible = text("a red mug");
    assert!(possible.starts_with("1 of 1 records, newest first, possible ones: "), "{possible}");
    let sure = text("a mug");
    assert!(sure.starts_with("1 of 1 records, newest first:"), "{sure}");
}

#[test]
fn windows_sources_and_maps_narrow_a_recall_and_an_empty_one_says_why() {
    let memory = Memory::new();
    memory.observe(&["a red mug", "a red mug", "a red mug"]);
    let within = |start: &str, end: &str| {
        memory.ask(
            "retrieve_from_text_with_time",
            json!({"x": "mug", "start_time": start, "end_time": end}),
        )
    };
    assert_eq!(ids(&within("2025-01-03 09:01:00", "2025-01-03 09:02:00")), [2, 3]);
    assert_eq!(ids(&within("-3h", "-1h")), [1, 2, 3]);
    let from = |source: &str| {
        ids(&memory.ask("recall_last_seen", json!({"query": "mug", "source": source})))
    };
    assert_eq!(from("camera"), [3]);
    assert_eq!(from("another").len(), 0);
}

#[test]
fn an_empty_window_names_what_the_memory_holds() {
    let memory = Memory::new();
    let empty = memory.ask("recall_best_match", json!({"query": "mug"}));
    assert_eq!(empty["why_empty"], "no record; memory holds no records");
    memory.observe(&["a red mug", "a red mug"]);
    let early = json!({"query": "mug", "search_start_time": "2025-01-02 00:00:00",
        "search_end_time": "2025-01-02 23:59:59"});
    let expect = "no record between 2025-01-02 00:00:00 and 2025-01-02 23:59:59; \
        memory holds 2 records from 2025-01-03 09:00:00 to 2025-01-03 09:01:00";
    assert_eq!(memory.ask("recall_best_match", early)["why_empty"], expect);
    let elsewhere = memory.ask("recall_best_match", json!({"query": "mug", "map_id": "lab"}));
    let why = elsewhere["why_empty"].as_str().unwrap();
    assert!(why.starts_with("no record of map_id \"lab\" there; memory holds 2"), "{why}");
    let count = memory.ask(
        "get_record_count_within_time_range",
        json!({"search_start_time": "2025-01-03 09:01:00", "search_end_time": ""}),
    );
    assert_eq!(count, json!({"count": 1}));
}

#[test]
fn a_caption_of_the_far_future_is_refused_as_a_frame_is() {
    let memory = Memory::new();
    let image = STANDARD.encode(png(90));
    for content in [json!({"caption": "a mug"}), json!({"image": image})] {
        let mut arguments = content;
        arguments["time"] = json!("9999-01-01 00:00:00");
        let sentence = memory.refusal("observe", arguments);
        assert!(sentence.contains("time") && sentence.contains("clock"), "{sentence}");
    }
    assert_eq!(memory.ask("memory_stats", json!({}))["records"], 0);
}

#[test]
fn frames_are_stored_merged_and_inspected() {
    let memory = Memory::new();
    let image = png(90);
    let frame = |second: u32, image: &[u8]| json!({"image": STANDARD.encode(image), "time": format!("2025-01-03 09:00:{second:02}"), "source": "camera"});
    let first = memory.ask("observe", frame(0, &image));
    assert_eq!(first, json!({"frame": 1, "id": null, "state": "pending"}));
    wait_for(|| memory.ask("ingest_status", json!({}))["pending"] == 0);
    let second = memory.ask("observe", frame(5, &image));
    assert_eq!(second, json!({"frame": 1, "id": 1, "state": "merged"}));
    let reply = memory.call("inspect_memory_record", json!({"record_ids": [1, 9]})).unwrap();
    assert_eq!(reply.images.len(), 1);
    assert_eq!((reply.images[0].mime, &reply.images[0].bytes), ("image/png", &image));
    let structured = Value::Object(reply.structured);
    assert_eq!(structured["not_found"], json!([9]));
    assert_eq!(structured["records"][0]["image"], "engram://frames/1");
    assert_eq!(structured["records"][0]["end_time"], "2025-01-03 09:00:05");
    let frame = Resource::Image(Image { mime: "image/png", bytes: image });
    let kept = memory.tools.resource(&Caller::daemon(), "engram://frames/1").unwrap();
    assert_eq!(kept, Some(frame));
    assert_eq!(memory.tools.resource(&Caller::daemon(), "engram://frames/2").unwrap(), None);
    assert_eq!(memory.tools.resource(&Caller::daemon(), "file:///etc/passwd").unwrap(), None);
    let text = memory.refusal("inspect_memory_record", json!({"record_ids": [7]}));
    assert!(text.contains("[7], none of which exists; memory holds 1 records"), "{text}");
}

#[test]
fn a_recall_becomes_the_working_memory_of_its_session() {
    let memory = Memory::new();
    memory.observe(&["a red mug", "a blue book", "a red mug on a desk"]);
    let empty = memory.refusal("inspect_memory_record", json!({}));
    assert!(empty.contains("the working memory of this session is empty"), "{empty}");
    memory.ask("recall_last_seen", json!({"query": "mug", "k": 2}));
    memory.ask("recall_last_seen", json!({"query": "book", "session": "another"}));
    assert_eq!(ids(&memory.ask("inspect_memory_record", json!({}))), [3, 1]);
    assert_eq!(ids(&memory.ask("inspect_memory_record", json!({"session": "another"}))), [2]);
    memory.tools.close_session(&Caller::daemon(), "connection-1");
    memory.refusal("inspect_memory_record", json!({}));
    assert_eq!(ids(&memory.ask("inspect_memory_record", json!({"session": "another"}))), [2]);
}

#[test]
fn what_cannot_be_observed_is_refused_by_argument() {
    let memory = Memory::new();
    let check = |arguments: Value, expect: &str| {
        let sentence = memory.refusal("observe", arguments);
        assert!(sentence.contains(expect), "{sentence}");
    };
    let image = STANDARD.encode(png(91));
    check(json!({}), "one of the arguments \"image\", \"image_path\" and \"caption\" is needed");
    check(
        json!({"image": image, "image_path": "/a.png"}),
        "only one of the arguments \"image\" and",
    );
    check(json!({"caption": "a", "image": image, "layer": "x"}), "a frame has no layer");
    check(json!({"image": "%%%"}), "argument \"image\" is no base64");
    check(
        json!({"image": STANDARD.encode(b"GIF89a")}),
        "argument \"image\": the image is neither JPEG nor PNG nor WebP",
    );
    check(json!({"image_path": "frame.png"}), "not an absolute path");
    for path in ["/nowhere/frame.png", "/tmp", "/dev/zero", "/etc/passwd"] {
        check(json!({"image_path": path}), "no file within the directories");
    }
    let roots = memory.state.path().join("images");
    fs::create_dir_all(&roots).unwrap();
    check(json!({"image_path": roots}), "not a regular file");
    check(json!({"image_path": roots.join("absent.png")}), "(ingest.image_roots)");
    check(json!({"caption": "a", "theta": 1}), "argument \"theta\" is 1 without \"position\"");
    check(json!({"caption": "a", "position": [1e12, 0]}), "argument position[0] is 1000000000000");
    check(
        json!({"caption": "a", "time": "noon"}),
        "argument \"time\": \"noon\" is no time; accepted are",
    );
    check(json!({"image": image, "layer": "x"}), "argument \"layer\" goes with \"caption\" only");
    check(json!({"image": image, "confidence": 0.5}), "argument \"confidence\" goes with");
    for bad in [json!(1.5), json!(-0.1)] {
        let expect = format!("argument \"confidence\" is {bad}; accepted is a number from 0 to 1");
        check(json!({"caption": "a", "confidence": bad}), &expect);
    }
    check(json!({"image": image, "time": "2025-01-03 14:00:00"}), "argument \"time\"");
    check(json!({"caption": "a", "source": "a\nb"}), "control character");
    let later = json!({"image": image, "time": "2025-01-03 10:00:00", "source": "c"});
    assert_eq!(memory.ask("observe", later)["state"], "pending");
    check(
        json!({"image": image, "time": "2025-01-03 09:59:59", "source": "c"}),
        "argument \"time\"",
    );
    assert_eq!(memory.ask("ingest_status", json!({}))["seen"], 1);
}

#[test]
fn an_own_caption_is_stored_as_it_is_never_merged() {
    let memory = Memory::new();
    let note = json!({"caption": "battery at 40 %", "layer": "body_status"});
    assert_eq!(memory.ask("observe", note.clone())["id"], 1);
    assert_eq!(memory.ask("observe", note)["id"], 2);
    let found = memory.ask("recall_best_match", json!({"query": "battery"}));
    assert_eq!(ids(&found), [1, 2]);
    assert_eq!(found["records"][0]["layer"], "body_status");
    assert_eq!(found["records"][0]["time"], "2025-01-03 12:00:00");
    assert_eq!(found["records"][0]["position"], Value::Null);
}

#[test]
fn a_robot_that_captions_itself_keeps_its_image() {
    let memory = Memory::new();
    let seen = |at: &str, caption: &str| {
        let image = STANDARD.encode(png(91));
        memory.ask(
            "observe",
            json!({"image": image, "time": at, "caption": caption, "confidence": 0.5}),
        )
    };
    let stored = seen("2025-01-03 09:00:00", "a red mug on a desk");
    assert_eq!((&stored["state"], &stored["id"]), (&json!("stored"), &json!(1)));
    let merged = seen("2025-01-03 09:00:05", "a red mug on a desk, still");
    assert_eq!((&merged["state"], &merged["id"]), (&json!("merged"), &json!(1)));
    let found = memory.ask("recall_last_seen", json!({"query": "a red mug"}));
    assert_eq!(found["records"][0]["image"], "engram://frames/1");
    assert_eq!(found["records"][0]["confidence"], 0.5);
    assert_eq!(found["records"][0]["end_time"], "2025-01-03 09:00:05");
    let status = memory.ask("ingest_status", json!({}));
    assert_eq!((&status["seen"], &status["captioned"]), (&json!(2), &json!(1)));
}

#[test]
fn texts_are_bounded_and_say_where_they_were_cut() {
    let memory = Memory::new();
    let caption = "a red mug next to a blue book ".repeat(4);
    memory.observe(&[caption.as_str(); 6]);
    let reply = memory.call("recall_best_match", json!({"query": "mug"})).unwrap();
    assert!(reply.text.chars().count() <= 400, "{}", reply.text);
    assert!(reply.text.ends_with("whole in structuredContent)"), "{}", reply.text);
    assert_eq!(reply.structured["records"].as_array().unwrap().len(), 6);
}

#[test]
fn every_tool_refuses_unknown_arguments_and_replies_within_its_schema() {
    let memory = Memory::new();
    memory.observe(&["a red mug"]);
    assert_eq!(
        memory.call("recall_everything", json!({})),
        Err(ToolError::UnknownTool("recall_everything".to_owned()))
    );
    let arguments = |tool: &str| match tool {
        "recall_best_match" | "recall_last_seen" | "recall_all" => json!({"query": "mug"}),
        "start_task" | "retrieve_object" => json!({"task": "bring me the mug"}),
        "report_search_result" => json!({"found": true}),
        "retrieve_from_text_with_time" => {
            json!({"x": "mug", "start_time": "-1d", "end_time": "-1m"})
        }
        "recall_observation_of_instance" => {
            json!({"instance_description": "mug", "search_start_time": "-1d", "search_end_time": "-1m"})
        }
        "agent_step" => {
            json!({"reply": "{\"tool_call\": \"recall_best_match\", \"tool_input\": \"mug\"}"})
        }
        "inspect_memory_record" => json!({"record_ids": [1]}),
        "observe" => json!({"caption": "a blue mug"}),
        "observe_pose" => json!({"position": [1, 2]}),
        "memo_add" => json!({"user_message": "users", "message": "<sql>SELECT 1</sql>"}),
        "memo_delete" => json!({"id": 1}),
        "memo_recall" => json!({"query": "users"}),
        "memo_expand" => json!({"text": "<recall>users</recall>"}),
        "memory_save" => json!({"text": "the door code is 4711"}),
        "memory_load" | "memory_forget" => json!({"query": "door code"}),
        "memory_update" => {
            json!({"id": "d1306e36-6a9c-4112-80e2-33b795548116", "text": "door code 4711"})
        }
        "memory_delete" => json!({"ids": "d1306e36-6a9c-4112-80e2-33b795548116"}),
        "state_set" | "state_merge" => json!({"memory": {"goal": "restroom"}}),
        "state_update_from_reply" => json!({"reply": "{\"memory\": {\"a\": 1}}"}),
        "prompt_render" => json!({"template": "$memory[goal]"}),
        _ => json!({}),
    };
    for spec in memory.tools.catalog() {
        let sentence = memory.refusal(spec.name, json!({"colour": "red"}));
        assert!(sentence.starts_with("unknown argument \"colour\"; accepted are"), "{sentence}");
        // Held against the schema by `ask`.
        let mut reply = memory.ask(spec.name, arguments(spec.name));
        reply["colour"] = json!("red");
        let faults = schemas::faults(spec.name, &reply).unwrap();
        assert!(faults.contains("colour"), "{}: {faults}", spec.name);
    }
}

#[test]
fn a_captions_confidence_is_told_where_there_is_one() {
    for (confidence, told) in [(0.25, true), (0.75, false)] {
        let memory = Memory::with(|captioner| captioner.with_confidence(confidence));
        memory.ask(
            "observe",
            json!({"image": STANDARD.encode(png(99)), "time": "2025-01-03 09:00:00"}),
        );
        wait_for(|| memory.ask("ingest_status", json!({}))["captioned"] == 1);
        let reply = memory.call("recall_best_match", json!({"query": "a green ball"})).unwrap();
        assert_eq!(reply.structured["records"][0]["confidence"], json!(confidence));
        let unsure = "a green ball on the floor (caption unsure, 25 % likely right) [";
        assert_eq!(reply.text.contains(unsure), told, "{}", reply.text);
    }
}
