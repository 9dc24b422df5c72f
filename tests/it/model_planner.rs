//! A language model in the place of the rules: whatever it says, a task ends.

use std::time::Duration;

use engram::agent::Agent;
use engram::agent::model;
use engram::base::caller::Caller;
use engram::model::endpoint::{self, Address};
use engram::tools::{ToolBox as _, ToolError};
use serde_json::{Value, json};

use crate::running::Running;
use crate::schemas;
use crate::scripted_model::{Answers, ScriptedModel, answer};
use crate::tools::Memory;

const STEPS_MAX: usize = 8;

struct Planning {
    agent: Agent,
    model: ScriptedModel,
    _state: tempfile::TempDir,
}

impl Planning {
    fn with(script: Vec<Answers>, time_max: Duration) -> Self {
        let model = ScriptedModel::new(script);
        let Memory { tools, state } = Memory::new();
        let address = Address::parse(&model.url).unwrap();
        let timeout = Duration::from_secs(30);
        let endpoint = endpoint::Options { address, model: String::new(), timeout };
        let agent =
            tools.with_model(Some(model::Options { endpoint, steps_max: STEPS_MAX, time_max }));
        let planning = Self { agent, model, _state: state };
        for (minute, caption) in ["a red mug on a desk", "a blue mug in a sink"].iter().enumerate()
        {
            let time = format!("2025-01-03 09:{minute:02}:00");
            let seen =
                json!({"caption": caption, "time": time, "position": [minute, 2], "theta": 0});
            planning.call("observe", &seen).unwrap();
        }
        planning
    }

    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
        let reply = self.agent.call(
            &Caller::daemon(),
            "c",
            tool,
            arguments.as_object().unwrap().clone(),
        )?;
        let structured = Value::Object(reply.structured);
        schemas::check(tool, &structured);
        Ok(structured)
    }

    fn retrieve(&self) -> Result<Value, ToolError> {
        let task = json!({"task": "bring me the red mug", "planner": "model"});
        self.call("retrieve_object", &task)
    }

    fn refusal(&self) -> String {
        match self.retrieve() {
            Err(ToolError::Refused(sentence)) => sentence,
            other => panic!("{other:?}"),
        }
    }

    fn questions(&self) -> Vec<String> {
        let content = |it: &Value| it["messages"][0]["content"].as_str().unwrap().to_owned();
        self.model.asked().iter().map(content).collect()
    }
}

const PATIENCE: Duration = Duration::from_mins(1);

/// As the prompt has it.
fn says(tool: &str, input: &str) -> Answers {
    let response = json!({
        "history_summary": "so far", "current_task": format!("call {tool}"), "tool_call": tool,
        "tool_input": input, "search_start_time": "", "search_end_time": "",
    });
    let reply = json!({"tool": "__conversational_response", "tool_input": {"response": response}});
    Answers::With(format!("```json\n{reply}\n```"))
}

fn whole_plan() -> Vec<Answers> {
    vec![
        says("create_or_update_memory_search_instance", ""),
        says("recall_last_seen", "the red mug"),
        says("create_or_update_real_world_search_instance", ""),
        says("search_current_target_instance_in_real_world", ""),
    ]
}

#[test]
fn the_models_calls_lead_to_the_goals() {
    let planning = Planning::with(whole_plan(), PATIENCE);
    let found = planning.retrieve().unwrap();
    assert_eq!(found["goals"][0]["position"], json!([0.0, 2.0, 0.0]), "{found}");
    assert_eq!(found["planner"], "model");
    let trace = found["trace"].as_array().unwrap();
    let calls: Vec<&str> = trace.iter().map(|it| it["tool"].as_str().unwrap()).collect();
    assert_eq!(
        calls,
        [
            "create_or_update_memory_search_instance",
            "recall_last_seen",
            "create_or_update_real_world_search_instance",
            "search_current_target_instance_in_real_world",
        ]
    );
    assert_eq!(trace[1]["arguments"], json!({"query": "the red mug"}));
    assert_eq!(trace[1]["why"], "call recall_last_seen");
    let questions = planning.questions();
    assert_eq!(questions.len(), 4);
    assert!(questions[0].contains("\nbring me the red mug\n"), "{}", questions[0]);
    assert!(questions[2].contains("a red mug on a desk"), "{}", questions[2]);
}

#[test]
fn a_reply_that_cannot_be_used_is_told_to_the_model_and_changes_nothing() {
    let mut script = vec![
        Answers::With("I would look for the mug on the desk.".to_owned()),
        Answers::With(r#"{"tool_call": "fly", "tool_input": ""}"#.to_owned()),
        Answers::With(r#"{"reasoning": "there", "moment_ids": []}"#.to_owned()),
    ];
    script.extend(whole_plan());
    let planning = Planning::with(script, PATIENCE);
    let found = planning.retrieve().unwrap();
    assert_eq!(found["trace"].as_array().unwrap().len(), 4, "{found}");
    let questions = planning.questions();
    let mend = "\nYour last reply could not be used and changed nothing: ";
    assert!(!questions[0].contains(mend));
    assert!(questions[1].contains(&format!("{mend}the reply holds no JSON")), "{}", questions[1]);
    assert!(questions[2].contains(&format!("{mend}the reply's \"tool_call\" is \"fly\"")));
    assert!(questions[3].contains(&format!("{mend}the task is to find a thing")));
    assert!(!questions[4].contains(mend));
}

#[test]
fn a_model_that_does_not_get_done_is_given_up() {
    // Garbage, and the same call again and again.
    let garbage = Planning::with(vec![Answers::With("no".to_owned()); STEPS_MAX + 1], PATIENCE);
    let refused = garbage.refusal();
    assert!(
        refused.starts_with(&format!("the model did not get done in {STEPS_MAX} replies"))
            && refused.contains("(its calls: none); its last reply could not be used: the reply"),
        "{refused}"
    );
    assert_eq!(garbage.model.asked().len(), STEPS_MAX);
    let circles = vec![says("recall_last_seen", "a mug"); STEPS_MAX + 1];
    let refused = Planning::with(circles, PATIENCE).refusal();
    assert!(refused.contains("(its calls: recall_last_seen, recall_last_seen, "), "{refused}");
}

#[test]
fn a_server_that_fails_ends_the_task_with_what_it_did() {
    let failing = Planning::with(vec![Answers::Raw(answer("500 Oops", "out of memory"))], PATIENCE);
    assert!(failing.refusal().ends_with("answered 500: \"out of memory\""));
    let endless = Planning::with(vec![Answers::Endlessly], PATIENCE);
    assert!(endless.refusal().ends_with("answered more than 524288 bytes"));
    // It hangs: the time for all replies ends before that of one.
    for answers in [Answers::Never, Answers::Slowly] {
        let hanging = Planning::with(vec![answers], Duration::from_millis(300));
        let refused = hanging.refusal();
        assert!(refused.contains("did not finish its answer within 0 s"), "{refused}");
    }
}

/// Through the daemon and the command line, with the settings that an operator makes.
#[test]
fn ask_prints_what_the_configured_model_did() {
    let model = ScriptedModel::new(whole_plan());
    let endpoint = format!("agent.endpoint={}", model.url);
    let flags = ["--set", &endpoint, "--set", "agent.model=small"];
    let running = Running::start_in(tempfile::tempdir().unwrap(), &flags);
    let seen = json!({"caption": "a red mug on a desk", "position": [1, 2], "theta": 0});
    running.ask("observe", seen);
    let output = running.engram(&["ask", "--planner", "model", "bring me the red mug"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["go to 1. (1.0, 2.0)", "recall_last_seen(\"the red mug\"): call recall_last_seen"]
    {
        assert!(printed.contains(part), "{printed}");
    }
    assert_eq!(model.asked()[0]["model"], "small");
    // The script is over: the server hangs up.
    let output = running.engram(&["ask", "--planner", "model", "bring me the red mug"]);
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("broke off: "), "{error}");
}

#[test]
fn without_a_model_the_planner_is_refused() {
    let Memory { tools, state: _state } = Memory::new();
    let task = json!({"task": "bring me a mug", "planner": "model"});
    let Err(ToolError::Refused(sentence)) =
        tools.call(&Caller::daemon(), "c", "retrieve_object", task.as_object().unwrap().clone())
    else {
        panic!()
    };
    assert!(sentence.starts_with("no language model is configured"), "{sentence}");
}
