//! What becomes of a language model's replies: calls made, results and the next
//! prompt told; and moments that were asked for twice.

use engram::agent::Agent;
use engram::base::caller::Caller;
use engram::tools::{ToolBox as _, ToolError};
use serde_json::{Map, Value, json};

use crate::schemas;
use crate::tools::Memory;

struct Stepping {
    agent: Agent,
    _state: tempfile::TempDir,
}

impl Stepping {
    /// Over captions observed at 09:00, 09:01, … of the day.
    fn over(captions: &[&str]) -> Self {
        let Memory { tools, state } = Memory::new();
        let stepping = Self { agent: tools, _state: state };
        for (minute, caption) in captions.iter().enumerate() {
            let time = format!("2025-01-03 09:{minute:02}:00");
            stepping.ask("observe", json!({"caption": caption, "time": time}));
        }
        stepping
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let arguments = arguments.as_object().unwrap().clone();
        let reply = self.agent.call(&Caller::daemon(), "c", tool, arguments)?;
        let mut structured = Value::Object(reply.structured);
        schemas::check(tool, &structured);
        structured["text"] = json!(reply.text);
        Ok(structured)
    }

    fn ask(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments).unwrap()
    }

    fn step(&self, reply: &Value) -> Value {
        self.ask("agent_step", json!({"reply": reply.to_string()}))
    }

    fn refusal(&self, reply: &str) -> String {
        match self.call("agent_step", json!({"reply": reply})) {
            Err(ToolError::Argument(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    }
}

fn reply(tool: &str, input: &str) -> Value {
    let response = json!({
        "history_summary": "nothing so far", "current_task": "find the mugs", "tool_call": tool,
        "tool_input": input, "search_start_time": "", "search_end_time": "",
    });
    json!({"tool": "__conversational_response", "tool_input": {"response": response}})
}

fn retrieval(x: &str) -> Value {
    let input = json!({"x": x, "start_time": "2025-01-03 00:00:00",
        "end_time": "2025-01-03 23:59:59"});
    json!({"context_reasoning": "look", "tool": "retrieve_from_text_with_time",
        "tool_input": input})
}

fn answer(ids: Value) -> Value {
    let response = json!({"reasoning": "seen there", "moment_ids": ids});
    json!([{"tool": "__conversational_response", "tool_input": {"response": response}}])
}

fn ids(records: &Value) -> Vec<u64> {
    records["records"].as_array().unwrap().iter().map(|it| it["id"].as_u64().unwrap()).collect()
}

const PLACES: [&str; 4] = [
    "a red mug on a desk",
    "a blue mug in a sink",
    "a staircase in a hall",
    "an elevator door in a hall",
];

#[test]
fn a_reply_becomes_a_call_and_the_next_prompt() {
    let stepping = Stepping::over(&PLACES);
    let stepped = stepping.step(&reply("recall_last_seen", "a blue mug"));
    assert_eq!(stepped["status"], "continue");
    let call = &stepped["calls"][0];
    assert_eq!((&call["tool"], &call["error"]), (&json!("recall_last_seen"), &Value::Null));
    assert_eq!(call["arguments"], json!({"query": "a blue mug"}));
    assert_eq!(ids(&call["result"]), [2]);
    assert!(stepped["text"].as_str().unwrap().contains("#2 2025-01-03 09:01:00 a blue mug"));
    let prompt = stepped["prompt"].as_str().unwrap();
    for part in [
        "Done so far, in your words: nothing so far",
        "Your last aim: find the mugs",
        "1. recall_last_seen {\"query\":\"a blue mug\"}\n<result>\n1 of 4 records",
        "#2 2025-01-03 09:01:00 a blue mug in a sink",
        "It is now 2025-01-03 12:00:00.",
    ] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    // The call was the session's own: its result is the working memory.
    let second = stepping.step(&reply("recall_best_match", "a mug"));
    let prompt = second["prompt"].as_str().unwrap();
    assert!(prompt.contains("\n2. recall_best_match"), "{prompt}");
}

#[test]
fn a_reply_that_cannot_be_carried_out_changes_nothing() {
    let stepping = Stepping::over(&PLACES);
    let named = |reply: &Value| json!({"reply": reply.to_string(), "session": "s"});
    let before = stepping.ask("agent_step", named(&retrieval("mug")));
    for (reply, expected) in [
        ("I will look.".to_owned(), "the reply holds no JSON"),
        (reply("recall_everything", "").to_string(), "the reply's \"tool_call\" is"),
        (reply("recall_last_seen", "").to_string(), "argument \"query\" is missing or empty"),
        // The first of the two is right; it is not made either.
        (
            json!([retrieval("stairs"), {"tool": "retrieve_from_text_with_time", "tool_input":
            {"x": "y", "start_time": "noon", "end_time": ""}}])
            .to_string(),
            "argument \"end_time\"",
        ),
        (answer(json!([77])).to_string(), "the reply's \"moment_ids\" has 77, which no call of"),
    ] {
        let refused = stepping.call("agent_step", json!({"reply": reply, "session": "s"}));
        let Err(ToolError::Argument(sentence)) = refused else { panic!("{refused:?}") };
        assert!(sentence.starts_with(expected), "{sentence}");
    }
    let after = stepping.ask("agent_step", named(&retrieval("elevator")));
    let prompt = after["prompt"].as_str().unwrap();
    assert!(prompt.contains("\n1. retrieve") && prompt.contains("\n2. retrieve"), "{prompt}");
    assert!(!prompt.contains("\n3. ") && !prompt.contains("stairs"), "{prompt}");
    assert_ne!(before["prompt"], after["prompt"]);
}

/// The moment-retrieval document's example: two queries at once, then the answer.
#[test]
fn several_calls_and_the_closing_answer() {
    let stepping = Stepping::over(&PLACES);
    let stepped = stepping.step(&json!([retrieval("staircase"), retrieval("elevator")]));
    let calls = stepped["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(ids(&calls[0]["result"])[0], 3);
    assert_eq!(ids(&calls[1]["result"])[0], 4);
    assert!(stepped["prompt"].as_str().unwrap().starts_with("You search a robot's memory"));
    let done = stepping.step(&answer(json!("[3, 4, 3]")));
    assert_eq!((&done["status"], &done["prompt"]), (&json!("finished"), &Value::Null));
    assert_eq!(done["answer"], json!({"reasoning": "seen there", "moment_ids": ["3", "4"]}));
    assert_eq!(done["text"], "Answer: moments 3, 4.");
    let refused = stepping.refusal(&answer(json!(["3", "5"])).to_string());
    assert_eq!(
        refused,
        "the reply's \"moment_ids\" has 5, which no call of this session returned; accepted are \
         those that were, such as 1, 2, 3, 4"
    );
    let none = Stepping::over(&[]);
    let empty = none.step(&answer(json!([])));
    assert_eq!(empty["answer"]["moment_ids"], json!([]));
    let refused = none.refusal(&answer(json!([1])).to_string());
    assert!(refused.ends_with("accepted are [], as nothing was retrieved yet"), "{refused}");
}

#[test]
fn the_same_question_has_the_same_answer_in_few_words() {
    let stepping = Stepping::over(&PLACES);
    let window = json!({"start_time": "2025-01-03 00:00:00", "end_time": "2025-01-04 00:00:00"});
    let ask = |x: &str, session: &str| {
        let mut arguments: Map<String, Value> = window.as_object().unwrap().clone();
        arguments.insert("x".to_owned(), json!(x));
        arguments.insert("session".to_owned(), json!(session));
        stepping.ask("retrieve_from_text_with_time", Value::Object(arguments))
    };
    let first = ask("a mug", "s");
    assert!(first["text"].as_str().unwrap().starts_with("4 of 4 records, best first:"));
    assert_eq!(first.get("already_asked"), None);
    let told = |ids: Vec<u64>| {
        let ids: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
        format!("already asked, same answer: {}", ids.join(", "))
    };
    let again = ask("A  mug ", "s");
    assert_eq!(
        (&again["text"], &again["already_asked"]),
        (&json!(told(ids(&first))), &json!(true))
    );
    assert_eq!(again["records"], first["records"]);
    // Another session, another question and another tool did not ask it.
    assert_eq!(ask("a mug", "t").get("already_asked"), None);
    assert_eq!(ask("a cup", "s").get("already_asked"), None);
    let instance = json!({"instance_description": "a mug", "search_start_time": "-1d",
        "search_end_time": "-1m", "session": "s"});
    let shown = stepping.ask("recall_observation_of_instance", instance.clone());
    assert_eq!(shown.get("already_asked"), None);
    let shown_again = stepping.ask("recall_observation_of_instance", instance);
    assert_eq!(shown_again["text"], told(ids(&shown)));
    // What came in since changes the answer, which is told in full.
    stepping.ask("observe", json!({"caption": "a mug", "time": "2025-01-03 10:00:00"}));
    let fresh = ask("a mug", "s");
    assert_eq!(fresh.get("already_asked"), None);
    assert!(fresh["text"].as_str().unwrap().starts_with("5 of 5 records"), "{fresh}");
}

#[test]
fn observations_of_an_instance_really_show_it() {
    let stepping = Stepping::over(&[
        "a red mug on a desk",
        "a blue mug beside a red book",
        "a red mug in a sink",
    ]);
    let observations = |what: &str| {
        let window = json!({"instance_description": what, "search_start_time": "-1d",
            "search_end_time": "-1m"});
        stepping.call("recall_observation_of_instance", window)
    };
    let mut red = ids(&observations("the red mug").unwrap());
    red.sort_unstable();
    assert_eq!(red, [1, 3]);
    let none = observations("a green mug").unwrap();
    assert_eq!(none["records"], json!([]));
    assert_eq!(
        none["why_empty"],
        "none of 3 records shows \"a green mug\"; retrieve_from_text_with_time finds what is similar"
    );
    let Err(ToolError::Argument(sentence)) = observations("where and when") else { panic!() };
    assert!(sentence.starts_with("argument \"query\": "), "{sentence}");
}

#[test]
fn prompts_take_a_task_and_go_on_with_a_session() {
    let stepping = Stepping::over(&PLACES);
    let prompt = |name: &str, arguments: Value| {
        stepping.agent.prompt(&Caller::daemon(), "c", name, arguments.as_object().unwrap().clone())
    };
    let names: Vec<&str> = stepping.agent.prompts().iter().map(|it| it.name).collect();
    assert_eq!(names, ["object-retrieval", "moment-retrieval"]);
    let text = prompt("object-retrieval", json!({"task": "bring me a book"})).unwrap();
    assert!(text.contains("\nbring me a book\n") && text.contains("now 2025-01-03 12:00:00."));
    assert!(text.contains("The memory holds 4 records from 2025-01-03 09:00:00 to"), "{text}");
    stepping.ask("agent_step", json!({"reply": retrieval("mug").to_string(), "session": "s"}));
    let arguments = json!({"task": "a mug", "now": "2025-01-04 08:00:00", "session": "s"});
    let text = prompt("moment-retrieval", arguments).unwrap();
    assert!(
        text.contains("1. retrieve_from_text_with_time") && text.contains("2025-01-04 08:00:00.")
    );
    for (name, arguments, expected) in [
        (
            "poem",
            json!({"task": "x"}),
            "there is no prompt \"poem\"; accepted are object-retrieval",
        ),
        ("object-retrieval", json!({}), "argument \"task\" is missing, empty or too long"),
        ("object-retrieval", json!({"task": 5}), "argument \"task\" is 5; accepted is a text"),
        ("object-retrieval", json!({"task": "x", "now": "soon"}), "argument \"now\": "),
        (
            "object-retrieval",
            json!({"task": "x", "k": 1}),
            "unknown argument \"k\"; accepted are task",
        ),
    ] {
        let Err(ToolError::Argument(sentence)) = prompt(name, arguments) else { panic!("{name}") };
        assert!(sentence.starts_with(expected), "{sentence}");
    }
}

#[test]
fn every_tool_that_a_reply_may_call_is_there() {
    let stepping = Stepping::over(&[]);
    let refused = stepping.refusal(r#"{"tool_call": "fly"}"#);
    let (_, names) = refused.split_once("accepted is one of ").unwrap();
    let names: Vec<&str> = names.split(", ").collect();
    assert!(names.len() >= 10, "{refused}");
    for name in names {
        let called = stepping.call(name, json!({}));
        assert!(!matches!(called, Err(ToolError::UnknownTool(_))), "{name}");
    }
}

/// The object-retrieval document's first example, reply by reply.
#[test]
fn bring_me_a_book() {
    let Memory { tools, state } = Memory::new();
    let stepping = Stepping { agent: tools, _state: state };
    for (minute, caption) in ["a book on a shelf", "a book on a sofa"].iter().enumerate() {
        let time = format!("2025-01-03 09:{minute:02}:00");
        let seen = json!({"caption": caption, "time": time, "position": [minute, 0], "theta": 0});
        stepping.ask("observe", seen);
    }
    stepping.ask("start_task", json!({"task": "Bring me a book"}));
    for (tool, input) in [
        ("create_or_update_memory_search_instance", ""),
        ("recall_last_seen", "a book"),
        ("create_or_update_real_world_search_instance", ""),
    ] {
        let stepped = stepping.step(&reply(tool, input));
        assert_eq!(stepped["status"], "continue", "{stepped}");
        let prompt = stepped["prompt"].as_str().unwrap();
        assert!(prompt.contains("\nBring me a book\n") && prompt.contains(tool), "{prompt}");
    }
    let done = stepping.step(&reply("search_current_target_instance_in_real_world", ""));
    assert_eq!((&done["status"], &done["prompt"]), (&json!("finished"), &Value::Null));
    let result = &done["calls"][0]["result"];
    assert_eq!(result["status"], "dispatched", "{done}");
    assert_eq!(result["goals"][0]["position"], json!([1.0, 0.0, 0.0]), "{done}");
}
