//! The state's template language: the tables and examples of its seed.

use super::*;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("no object: {value}") };
    object
}

#[track_caller]
fn check(memory: Value, template: &str, expected: &str) {
    let rendered = render(template, &object(memory), &Map::new()).unwrap();
    assert_eq!(rendered.text, expected, "{template}");
    assert_eq!(rendered.missing, Vec::<String>::new(), "{template}");
}

/// Section 4.1 of the seed.
fn reasoning_context() -> Value {
    json!({
        "spatial_description":
            "Left room has wall at E3. Corridor connects to restroom at G4.",
        "high-level_planning": [
            "Move to corridor",
                "Turn toward restroom",
            "Enter restroom",
            "Locate target object",
            "Return to start"
        ],
        "historical_summrization": "Reached corridor. Currently facing restroom door.",
        "immidate_action_instruction": "Take one step east into the restroom."
    })
}

/// Section 4.2 of the seed.
fn task_process() -> Value {
    json!({
        "task_process": {
            "status": "in_progress",
            "current_subgoal_id": 1,
            "subgoals": [
                {
                    "subgoal_id": 1,
                    "subgoal_type": "navigation",
                    "target": "restroom",
                    "explicit_completion_condition": "AGENT occupies any cell within E1-G3",
                    "subgoal_status": "in_progress"
                },
                {
                    "subgoal_id": 2,
                    "subgoal_type": "navigation",
                    "target": "storage",
                    "explicit_completion_condition": "AGENT occupies any cell within J6-K6",
                    "subgoal_status": "pending"
                }
            ]
        },
        "previous_action": "move right"
    })
}

const SUBGOALS: &str = "\
- subgoal_id: 1
  subgoal_type: navigation
  target: restroom
  explicit_completion_condition: AGENT occupies any cell within E1-G3
  subgoal_status: in_progress
- subgoal_id: 2
  subgoal_type: navigation
  target: storage
  explicit_completion_condition: AGENT occupies any cell within J6-K6
  subgoal_status: pending";

#[test]
fn the_reasoning_context_reads_as_in_4_1() {
    let scene = "Left room has wall at E3. Corridor connects to restroom at G4.";
    check(reasoning_context(), "$memory[spatial_description]", scene);
    let plan = "- Move to corridor\n- Turn toward restroom\n- Enter restroom\n\
                - Locate target object\n- Return to start";
    check(reasoning_context(), "$memory[high-level_planning]", plan);
    let history = "Reached corridor. Currently facing restroom door.";
    check(reasoning_context(), "$memory[historical_summrization]", history);
    let next = "Take one step east into the restroom.";
    check(reasoning_context(), "$memory[immidate_action_instruction]", next);
    let template = "## Memory (State Continuity)\n\
        - Scene: $memory[spatial_description]\n\
        - Plan: $memory[high-level_planning]\n\
        - History: $memory[historical_summrization]\n\
        - Next: $memory[immidate_action_instruction]\n";
    let whole = format!(
        "## Memory (State Continuity)\n- Scene: {scene}\n- Plan: {plan}\n\
         - History: {history}\n- Next: {next}\n"
    );
    check(reasoning_context(), template, &whole);
}

#[test]
fn the_task_process_reads_as_in_4_2() {
    check(task_process(), "$memory[previous_action]", "move right");
    let whole = format!("status: in_progress\ncurrent_subgoal_id: 1\nsubgoals: {SUBGOALS}");
    check(task_process(), "$memory[task_process]", &whole);
    check(task_process(), "$memory[task_process][status]", "in_progress");
    check(task_process(), "$memory[task_process][current_subgoal_id]", "1");
    check(task_process(), "$memory[task_process][subgoals]", SUBGOALS);
}

#[test]
fn values_are_spelled_as_in_each_row_of_4_3() {
    let missing = render("$memory[previous_action]", &Map::new(), &Map::new()).unwrap();
    assert_eq!(missing.text, "None");
    assert_eq!(missing.missing, ["memory[previous_action]"]);
    check(json!({"previous_action": "north"}), "$memory[previous_action]", "north");
    check(json!({"reason": ""}), "$memory[reason]", "None");
    check(json!({"count": 3}), "$memory[count]", "3");
    check(json!({"done": true}), "$memory[done]", "True");
    check(json!({"steps": ["a", "b"]}), "$memory[steps]", "- a\n- b");
    check(json!({"ids": [1, 2, 3]}), "$memory[ids]", "- 1\n- 2\n- 3");
    let nested = json!({"task_process": {"goal": "restroom", "status": "in_progress"}});
    let whole = "goal: restroom\nstatus: in_progress";
    check(nested.clone(), "$memory[task_process]", whole);
    check(nested.clone(), "$memory[task_process][goal]", "restroom");
    check(nested, "$memory[task_process][status]", "in_progress");
    check(json!({"high-level_planning": ["step1"]}), "$memory[high-level_planning]", "- step1");
    check(json!({"a": {"b": {"c": "leaf"}}}), "$memory[a][b][c]", "leaf");
}

#[test]
fn null_and_empty_values_inside_read_none() {
    let memory = json!({"x": {"a": null, "b": "", "c": [], "d": {}, "e": false}});
    check(memory, "$memory[x]", "a: None\nb: None\nc: None\nd: None\ne: False");
    check(
        json!({"x": ["", null, [1, [2, 3]]]}),
        "$memory[x]",
        "- None\n- None\n- - 1\n  - - 2\n    - 3",
    );
    check(json!({"x": ["two\nlines", "one"]}), "$memory[x]", "- two\n  lines\n- one");
}

/// `levels` objects within each other, a text in the innermost.
fn nest(levels: usize) -> Value {
    (0..levels).fold(json!("leaf"), |inner, _| json!({"k": inner}))
}

#[test]
fn eight_levels_are_rendered_and_the_ninth_is_cut() {
    check(json!({"x": nest(8)}), "$memory[x]", &format!("{}leaf", "k: ".repeat(8)));
    check(json!({"x": nest(9)}), "$memory[x]", &format!("{}...", "k: ".repeat(8)));
    // A path is no level: what it leads to is rendered whole.
    let path = format!("$memory[x]{}", "[k]".repeat(20));
    check(json!({"x": nest(20)}), &path, "leaf");
}

/// What Python 3 prints for the same JSON: `str(json.loads(text))`.
#[test]
fn numbers_are_spelled_as_python_spells_them() {
    for (json, python) in [
        ("1", "1"),
        ("1.0", "1.0"),
        ("-0.0", "-0.0"),
        ("0.1", "0.1"),
        ("1.50", "1.5"),
        ("1e3", "1000.0"),
        ("123456789012345.6", "123456789012345.6"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("1.5e300", "1.5e+300"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("-2.5e-10", "-2.5e-10"),
        ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
    ] {
        check(serde_json::from_str(&format!("{{\"n\": {json}}}")).unwrap(), "$memory[n]", python);
    }
}

#[test]
fn variables_are_replaced_and_other_dollars_stay() {
    let memory = object(json!({"a": "A"}));
    let variables = object(json!({
        "name": "Ada", "n": 1.0, "yes": true, "empty": "", "list": [1, 2], "memory": "all"
    }));
    let text = |template: &str| render(template, &memory, &variables).unwrap().text;
    assert_eq!(text("$name ${name}s $n $yes <$empty>"), "Ada Adas 1.0 True <>");
    assert_eq!(text("$list"), "- 1\n- 2");
    assert_eq!(text("$$name costs $$5 or $5, 3$ and $"), "$name costs $5 or $5, 3$ and $");
    assert_eq!(text("$$memory[a]"), "$memory[a]");
    assert_eq!(text("$memory[a]s $memory[a][bad key] $memory[]"), "As A[bad key] all[]");
    assert_eq!(text("$memory ${memory}[a] $memory[높]"), "all all[a] all[높]");
    assert_eq!(text("${not a name} ${name ${}"), "${not a name} ${name ${}");
}

#[test]
fn missing_variables_are_listed_once_in_the_order_of_the_template() {
    let memory = object(json!({"a": {"b": 1}, "null": null, "list": ["x"]}));
    let template = "$who $memory[a][c] ${who} $memory[z] $memory[a][c] $memory[a][b][c] \
                    $memory[null] $memory[list][0]";
    let rendered = render(template, &memory, &Map::new()).unwrap();
    assert_eq!(rendered.text, "$who None ${who} None None None None None");
    assert_eq!(
        rendered.missing,
        ["who", "memory[a][c]", "memory[z]", "memory[a][b][c]", "memory[list][0]"]
    );
}

#[test]
fn variables_within_values_are_not_expanded() {
    let memory = object(json!({"a": "$memory[b] $name $$ ${name}", "b": "no"}));
    let variables = object(json!({"name": "$memory[b]"}));
    let rendered = render("$memory[a] $name", &memory, &variables).unwrap();
    assert_eq!(rendered.text, "$memory[b] $name $$ ${name} $memory[b]");
}

#[test]
fn a_text_that_would_explode_is_refused() {
    let memory = object(json!({"a": "x".repeat(1 << 16)}));
    assert_eq!(render(&"$memory[a]".repeat(17), &memory, &Map::new()), Err(TooLong));
    render(&"$memory[a]".repeat(16), &memory, &Map::new()).unwrap();
}

#[test]
fn paths_are_read_as_templates_write_them() {
    let keys = |text| KeyPath::parse(text).map(|path| path.to_string());
    for text in ["[a-1][b_2]", "memory[a-1][b_2]", "$memory[a-1][b_2]", "a-1[b_2]"] {
        assert_eq!(keys(text), Ok("[a-1][b_2]".to_owned()), "{text}");
    }
    assert_eq!(keys("goal"), Ok("[goal]".to_owned()));
    for text in ["", "[]", "a.b", "[a", "[a]b", "a b[c]", "[a][b c]"] {
        assert_eq!(keys(text), Err(BadPath), "{text}");
    }
}

proptest! {
    #[test]
    fn any_template_renders_and_one_without_dollars_stays(template in any::<String>()) {
        let rendered = render(&template, &Map::new(), &Map::new()).unwrap();
        if !template.contains('$') {
            prop_assert_eq!(&rendered.text, &template);
        }
        let escaped = render(&template.replace('$', "$$"), &Map::new(), &Map::new()).unwrap();
        prop_assert_eq!(escaped.text, template);
        prop_assert!(escaped.missing.is_empty());
    }

    #[test]
    fn places_of_any_shape_do_not_panic(template in "[$\\[\\]{}a-z_ -]{0,40}") {
        render(&template, &Map::new(), &Map::new()).unwrap();
    }
}
