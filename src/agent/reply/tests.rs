//! Replies of language models as they come: fenced, chatty, cut off, nearly right.

use super::*;
use proptest::prelude::{any, prop, prop_assert_eq, proptest};

fn one(reply: &str) -> Call {
    match parse(reply) {
        Ok(PlannerReply::Calls(mut calls)) if calls.len() == 1 => calls.remove(0),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(reply: &str, tool: &str, arguments: Value) {
    let call = one(reply);
    assert_eq!((call.tool, Value::Object(call.arguments)), (tool, arguments), "{reply}");
}

#[track_caller]
fn check_answer(reply: &str, ids: &[u64]) {
    let Ok(PlannerReply::Answer(answer)) = parse(reply) else { panic!("{:?}", parse(reply)) };
    assert_eq!(answer.moment_ids, ids, "{reply}");
}

fn fault(reply: &str) -> String {
    parse(reply).unwrap_err().to_string()
}

/// The object-retrieval document's example, as it stands there.
const OBJECT: &str = r#"```json
{{
    "tool": "__conversational_response", 
    "tool_input": {{
        "response": {{
            "history_summary": "...",
            "current_task": "resolve the reference - which book was the reading last week?",
            "tool_call": "recall_last_seen",
            "tool_input": "a book user was reading",
            "search_start_time": "2025-01-03 00:00:00",
            "search_end_time": "2025-01-03 23:59:59"
        }}
    }}
}}
```"#;

#[test]
fn the_example_of_object_retrieval() {
    let call = one(OBJECT);
    assert_eq!(call.history_summary, "...");
    assert_eq!(call.current_task, "resolve the reference - which book was the reading last week?");
    let arguments = json!({
        "query": "a book user was reading",
        "search_start_time": "2025-01-03 00:00:00",
        "search_end_time": "2025-01-03 23:59:59",
    });
    check(OBJECT, "recall_last_seen", arguments.clone());
    // Without code fence, with single braces, without the envelope, in a list.
    let single = OBJECT.replace("{{", "{").replace("}}", "}");
    check(single.trim_matches(|c| c != '{' && c != '}'), "recall_last_seen", arguments.clone());
    let inner = &single[single.rfind('{').unwrap()..=single.find('}').unwrap()];
    check(inner, "recall_last_seen", arguments.clone());
    check(&format!("[{inner}]"), "recall_last_seen", arguments.clone());
    check(&format!("Sure {{so}}!\n{inner}\nDone."), "recall_last_seen", arguments.clone());
    check(&format!("<think>{{\"tool\": 1</think>{inner}"), "recall_last_seen", arguments);
}

/// Every field filled in, as the document asks: an empty one is absent.
#[test]
fn the_tools_of_object_retrieval() {
    let reply = |tool: &str, input: &str| {
        let response = json!({
            "history_summary": "", "current_task": "", "tool_call": tool, "tool_input": input,
            "search_start_time": "", "search_end_time": "",
        });
        json!({"tool": ENVELOPE, "tool_input": {"response": response}}).to_string()
    };
    for tool in ["recall_best_match", "recall_last_seen"] {
        check(&reply(tool, "a book"), tool, json!({"query": "a book"}));
        check(&reply(tool, ""), tool, json!({}));
    }
    let determine = "determine_unique_instances_from_latest_working_memory";
    let query = "find most frequently used mug";
    check(&reply(determine, query), determine, json!({"query": query}));
    for tool in [
        "create_or_update_memory_search_instance",
        "create_or_update_real_world_search_instance",
        "search_current_target_instance_in_real_world",
    ] {
        check(&reply(tool, ""), tool, json!({}));
        // They take the newest recall by themselves.
        check(&reply(tool, "a purple book"), tool, json!({}));
        check(&reply(&format!("{tool}()"), ""), tool, json!({}));
    }
    check(
        &reply("`recall_last_seen(\"a purple book\")`", ""),
        "recall_last_seen",
        json!({"query": "a purple book"}),
    );
    check(
        &reply("inspect_memory_record", "#12, 15"),
        "inspect_memory_record",
        json!({"record_ids": [12, 15]}),
    );
    let explicit = r#"{"tool_call": "recall_all", "tool_input": {"query": "a mug", "k": 20},
            "search_start_time": "-2h"}"#;
    check(explicit, "recall_all", json!({"query": "a mug", "k": 20, "search_start_time": "-2h"}));
}

/// The moment-retrieval document's example of two calls, as it stands there.
const MOMENTS: &str = r#"```json
[{{
    "context_reasoning": "The user is asking how they went upstairs yesterday. Since I do not have any context yet, I need to retrieve relevant observations that occurred yesterday and relate to going upstairs. There are two likely ways to go upstairs: using a staircase or using an elevator.",
    "tool": "retrieve_from_text_with_time",
    "tool_input": {{
        "x": "staircase",
        "start_time": "2025-02-03 00:00:00",
        "end_time": "2025-02-03 23:59:59"
    }}
}}, {{
    "context_reasoning": "The user may also have used an elevator. I have already searched for staircase-related observations, so now I will search for elevators during the same time window.",
    "tool": "retrieve_from_text_with_time",
    "tool_input": {{
        "x": "elevator",
        "start_time": "2025-02-03 00:00:00",
        "end_time": "2025-02-03 23:59:59"
    }}
}}]
```"#;

#[test]
fn the_calls_of_moment_retrieval() {
    let Ok(PlannerReply::Calls(calls)) = parse(MOMENTS) else { panic!("{:?}", parse(MOMENTS)) };
    let made: Vec<(&str, Value)> =
        calls.iter().map(|call| (call.tool, Value::Object(call.arguments.clone()))).collect();
    let arguments = |x: &str| json!({"x": x, "start_time": "2025-02-03 00:00:00", "end_time": "2025-02-03 23:59:59"});
    let tool = "retrieve_from_text_with_time";
    assert_eq!(made, [(tool, arguments("staircase")), (tool, arguments("elevator"))]);
    assert!(calls[1].current_task.starts_with("The user may also have used an elevator."));
    // The document's other form names the tool without quotes.
    let bare = r#"[{{
    "context_reasoning": "--think step-by-step about the context--",
    "tool": recall_observation_of_instance,
    "tool_input": {{"instance_description": "the red mug", "search_start_time": "-1d",
        "search_end_time": "-1h"}}
}}]"#;
    check(
        bare,
        "recall_observation_of_instance",
        json!({"instance_description": "the red mug",
        "search_start_time": "-1d", "search_end_time": "-1h"}),
    );
    let text = r#"{"tool": "retrieve_from_text_with_time", "tool_input": "stairs",
            "start_time": "-1d", "search_end_time": "-1h"}"#;
    check(text, tool, json!({"query": "stairs", "start_time": "-1d", "end_time": "-1h"}));
}

/// The moment-retrieval document's example of an answer, as it stands there.
const ANSWER: &str = r#"```json
[{{
    "tool": "__conversational_response", 
    "tool_input": {{ 
        "response":  {{
            "reasoning": "User wants me to find a book on the shelf, and I have seen books at moments 11, 12, 13.",
            "moment_ids": "[12, 11, 13]"
        }}
    }}
}}]
```"#;

#[test]
fn the_answer_of_moment_retrieval() {
    check_answer(ANSWER, &[12, 11, 13]);
    let Ok(PlannerReply::Answer(answer)) = parse(ANSWER) else { panic!() };
    assert!(answer.reasoning.starts_with("User wants me to find a book on the shelf"));
    for (written, ids) in [
        (r#"["12", "11", "13"]"#, &[12, 11, 13][..]),
        ("[12, 11, 13]", &[12, 11, 13]),
        (r##""['12', \"#11\", 13, 12]""##, &[12, 11, 13]),
        (r#""12, 11""#, &[12, 11]),
        (r#""12""#, &[12]),
        ("12", &[12]),
        ("[]", &[]),
        (r#""[]""#, &[]),
        (r#""""#, &[]),
        ("null", &[]),
    ] {
        check_answer(&format!(r#"{{"reasoning": "r", "moment_ids": {written}}}"#), ids);
    }
    let nested = json!({"tool": ENVELOPE, "tool_input": {"response": ANSWER[8..].to_owned()}});
    assert_eq!(
        fault(&nested.to_string()),
        "the reply's \"response\" is \"[{{\\n    \
        \\\"tool\\\": \\\"__conversational_response\\\", \\n    \\\"tool_input\\\": {{ \\n        \
        \\\"res\"…; accepted is an object"
    );
    let stringified = json!({"tool": ENVELOPE, "tool_input":
        json!({"response": json!({"moment_ids": [1]}).to_string()}).to_string()});
    check_answer(&stringified.to_string(), &[1]);
}

#[test]
fn each_fault_says_what_to_mend() {
    for (reply, expected) in [
        ("", "the reply holds no JSON; accepted is one JSON object"),
        ("I will look for the mug.", "the reply holds no JSON; accepted is one JSON object"),
        (
            r#"{"tool_call": "recall_all", "tool_input": "a mu"#,
            "the reply's JSON cannot be read: a text is not closed at character 43",
        ),
        (
            r#"[{"tool": "recall_all" "x" 5}, {"tool_call": "recall_last_seen"}]"#,
            "the reply's JSON cannot be read: a ':' should follow the name",
        ),
        (
            r#"{"answer": "the mug", "why": ""}"#,
            "the reply's JSON has no \"tool_call\", \"tool\" or \"moment_ids\" (it has \
             \"answer\", \"why\")",
        ),
        (
            r#"{"tool_call": "search_in_time"}"#,
            "the reply's \"tool_call\" is \"search_in_time\"; accepted is one of \
             recall_best_match, recall_last_seen, recall_all, determine_unique_instances_from",
        ),
        (r#"{"tool_call": 5}"#, "the reply's \"tool_call\" is 5; accepted is one of"),
        (
            r#"{"tool": "__conversational_response", "tool_input": {"response": "It is there."}}"#,
            "the reply's \"response\" is \"It is there.\"; accepted is an object",
        ),
        (
            r#"{"tool": "__conversational_response"}"#,
            "the reply's \"tool_input\" is missing; accepted is an object",
        ),
        (
            r#"{"moment_ids": ["the second"]}"#,
            "the reply's \"moment_ids\" is a list with \"the second\"; accepted is a list of",
        ),
        (r#"{"moment_ids": {"a": 1}}"#, "the reply's \"moment_ids\" is \"a\"; accepted is"),
        (r#"{"moment_ids": [-1]}"#, "the reply's \"moment_ids\" is a list with \"-1\""),
        (
            r#"{"tool_call": "inspect_memory_record", "tool_input": "the first"}"#,
            "the reply's \"tool_input\" is a list with \"the\"; accepted is a list of ids",
        ),
        (
            r#"[{"tool_call": "recall_last_seen"}, {"tool_call": "recall_all"}]"#,
            "the reply calls 2 tools at once; each step makes one call",
        ),
        (
            r#"[{"tool": "retrieve_from_text_with_time"}, {"moment_ids": [1]}]"#,
            "the reply lists an answer beside something else",
        ),
        (r#"[{"tool": "recall_all"}, 5]"#, "the reply's \"response\" is 5; accepted is"),
    ] {
        assert!(fault(reply).starts_with(expected), "{reply}\n{}", fault(reply));
    }
    let many = vec![json!({"tool": "retrieve_from_text_with_time"}); CALLS_MAX + 1];
    assert!(fault(&json!(many).to_string()).starts_with("the reply lists 9 calls; accepted"));
    let long = json!({"moment_ids": (1..=1_001).collect::<Vec<u32>>()}).to_string();
    assert!(fault(&long).contains("a list of 1001 ids, more than 1000"));
    assert!(fault(&"{".repeat(200_000)).starts_with("the reply's JSON cannot be read: "));
    assert!(fault(&format!("{{\"tool_call\": {:?}}}", "é".repeat(10_000))).len() < 1_000);
}

/// A reply as text again, for the round trip.
fn print(reply: &PlannerReply) -> String {
    match reply {
        PlannerReply::Answer(MomentAnswer { reasoning, moment_ids }) => {
            let ids: Vec<String> = moment_ids.iter().map(u64::to_string).collect();
            json!({"reasoning": reasoning, "moment_ids": ids}).to_string()
        }
        PlannerReply::Calls(calls) => {
            let call = |call: &Call| {
                json!({
                    "history_summary": call.history_summary, "current_task": call.current_task,
                    "tool": call.tool, "tool_input": call.arguments,
                })
            };
            calls.iter().map(call).collect::<Value>().to_string()
        }
    }
}

proptest! {
    #[test]
    fn what_is_accepted_reads_the_same_once_more(
        tool in prop::sample::select(actions().map(|(tool, _)| tool).collect::<Vec<_>>()),
        key in prop::sample::select(vec!["tool", "tool_call"]),
        input in prop::sample::select(vec!["12", "a red mug", "{\"query\": \"x\"}", "", "[3]"]),
        texts in prop::collection::vec(any::<String>(), 3),
        ids in prop::collection::vec(any::<u64>(), 0..9),
        cut in 0..400_usize,
        is_doubled in any::<bool>(),
    ) {
        let call = json!({
            "history_summary": texts[0], key: tool, "tool_input": input,
            "current_task": texts[1], "search_start_time": texts[2],
        });
        let answer = json!({"reasoning": texts[0], "moment_ids": ids});
        for value in [call, answer] {
            let text = json!({"tool": ENVELOPE, "tool_input": {"response": value}}).to_string();
            let doubled = text.replace('{', "{{").replace('}', "}}");
            let text = if is_doubled { doubled } else { text };
            let cut = text.chars().take(cut).collect::<String>();
            for text in [text, cut] {
                if let Ok(reply) = parse(&text) {
                    prop_assert_eq!(parse(&print(&reply)), Ok(reply));
                }
            }
        }
    }

    #[test]
    fn no_text_is_too_odd(text in any::<String>(), near in "[{}\\[\\]\":,tool_cal moent_ids1-9]{0,80}") {
        drop(parse(&text));
        drop(parse(&near));
    }
}
