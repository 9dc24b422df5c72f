//! Templates with places for an agent's memory, and how values read in them.
//!
//! Pure. Values are spelled as Python spells them (`True`, `None`, `1.0`), since
//! the prompts that models were tuned on were rendered by Python.
//!
//! One pass: what stands in a value is never looked at again, so that a value
//! that holds `$name` or `$memory[…]` stays as it is.

use serde_json::{Map, Number, Value};

/// Containers within each other that are rendered; deeper ones are cut short.
pub const DEPTH_MAX: usize = 8;
/// Most bytes of a rendered text: a short template can name a long value often.
pub const RENDERED_BYTES_MAX: usize = 1 << 20;

/// What stands for what is empty, null or missing.
const NONE: &str = "None";
/// What stands for containers beyond [`DEPTH_MAX`].
const CUT: &str = "...";
/// Name under which templates reach the memory: `$memory[key]`.
const MEMORY: &str = "memory";

/// A template with everything filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// What the template names and nobody gave, each once, in the order of the
    /// template: `memory[a][b]` rendered as `None`, and variables, which stay
    /// as they are written.
    pub missing: Vec<String>,
}

/// The text would grow beyond [`RENDERED_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rendered text is longer than {RENDERED_BYTES_MAX} bytes")]
pub struct TooLong;

/// Fills the places of `template`: `$memory[a][b]` from `memory`, `$name` and
/// `${name}` from `variables`, `$$` as a dollar sign. Any other `$` stays.
pub fn render(
    template: &str,
    memory: &Map<String, Value>,
    variables: &Map<String, Value>,
) -> Result<Rendered, TooLong> {
    let mut rendered = Rendered { text: String::new(), missing: Vec::new() };
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        let (before, place) = rest.split_at(at);
        rendered.text.push_str(before);
        let (found, after) = Place::read(place);
        match found {
            Place::Text(text) => rendered.text.push_str(text),
            Place::Memory(path) => {
                let value = path.look_up(memory);
                rendered.text.push_str(&value.map_or_else(|| NONE.to_owned(), self::value));
                if value.is_none() {
                    rendered.miss(format!("{MEMORY}{path}"));
                }
            }
            Place::Variable { name, written } => match variables.get(name) {
                Some(Value::String(text)) => rendered.text.push_str(text),
                Some(value) => rendered.text.push_str(&self::value(value)),
                None => {
                    rendered.text.push_str(written);
                    rendered.miss(name.to_owned());
                }
            },
        }
        if rendered.text.len() > RENDERED_BYTES_MAX {
            return Err(TooLong);
        }
        rest = after;
    }
    rendered.text.push_str(rest);
    if rendered.text.len() > RENDERED_BYTES_MAX { Err(TooLong) } else { Ok(rendered) }
}

impl Rendered {
    fn miss(&mut self, name: String) {
        if !self.missing.contains(&name) {
            self.missing.push(name);
        }
    }
}

/// What a `$` begins.
enum Place<'a> {
    Memory(Path<'a>),
    Variable { name: &'a str, written: &'a str },
    Text(&'static str),
}

impl<'a> Place<'a> {
    /// Reads the place at the start of `text`, which is a `$`, and what follows it.
    fn read(text: &'a str) -> (Self, &'a str) {
        let after = text.strip_prefix('$').unwrap_or(text);
        if let Some(rest) = after.strip_prefix('$') {
            return (Self::Text("$"), rest);
        }
        let (name, rest) = split_name(after);
        if name == MEMORY
            && let (path, rest) = Path::read(rest)
            && !path.keys.is_empty()
        {
            return (Self::Memory(path), rest);
        }
        if !name.is_empty() {
            return (Self::variable(name, text, rest), rest);
        }
        if let Some(inner) = after.strip_prefix('{')
            && let (name, rest) = split_name(inner)
            && !name.is_empty()
            && let Some(rest) = rest.strip_prefix('}')
        {
            return (Self::variable(name, text, rest), rest);
        }
        (Self::Text("$"), after)
    }

    fn variable(name: &'a str, text: &'a str, rest: &str) -> Self {
        let written = text.get(..text.len() - rest.len()).unwrap_or(text);
        Self::Variable { name, written }
    }
}

/// A name as Python's templates have it, and the rest of `text`.
fn split_name(text: &str) -> (&str, &str) {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let end = if starts { text.find(is_end).unwrap_or(text.len()) } else { 0 };
    text.split_at(end)
}

/// Keys into nested objects, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<'a> {
    keys: Vec<&'a str>,
}

/// The text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no path into the memory; accepted are keys of letters, digits, '_' and '-' in brackets, \
     such as [task_process][goal]"
)]
pub struct BadPath;

impl<'a> Path<'a> {
    /// Reads `[a][b]`, also with `memory` or `$memory` before it, and a bare `a`.
    pub fn parse(text: &'a str) -> Result<Self, BadPath> {
        let text = text.trim();
        if !text.is_empty() && text.chars().all(is_key) {
            return Ok(Self { keys: vec![text] });
        }
        let (keys, rest) = text.split_at(text.find('[').ok_or(BadPath)?);
        let first = match keys {
            "" | MEMORY | "$memory" => None,
            key if key.chars().all(is_key) => Some(key),
            _ => return Err(BadPath),
        };
        let (path, rest) = Self::read(rest);
        if path.keys.is_empty() || !rest.is_empty() {
            return Err(BadPath);
        }
        Ok(Self { keys: first.into_iter().chain(path.keys).collect() })
    }

    /// The bracketed keys at the start of `text`, and what follows them.
    fn read(mut text: &'a str) -> (Self, &'a str) {
        let mut keys = Vec::new();
        while let Some(inner) = text.strip_prefix('[')
            && let Some((key, rest)) = inner.split_once(']')
            && !key.is_empty()
            && key.chars().all(is_key)
        {
            keys.push(key);
            text = rest;
        }
        (Self { keys }, text)
    }

    /// The value there; `None` where a key is missing or leads into no object.
    pub fn look_up<'m>(&self, memory: &'m Map<String, Value>) -> Option<&'m Value> {
        let (first, rest) = self.keys.split_first()?;
        rest.iter().try_fold(memory.get(*first)?, |value, key| value.get(*key))
    }
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.keys.iter().try_for_each(|key| write!(f, "[{key}]"))
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A value as text for a prompt.
///
/// A list is a line `- item` each, an item of several lines indented under its
/// dash; an object is a line `key: value` each; a text stands as it is. What is
/// empty reads `None`.
pub fn value(value: &Value) -> String {
    rendered(value, DEPTH_MAX)
}

fn rendered(value: &Value, depth_left: usize) -> String {
    match value {
        Value::Null => NONE.to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => self::number(number),
        Value::String(text) if text.is_empty() => NONE.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => NONE.to_owned(),
        Value::Object(members) if members.is_empty() => NONE.to_owned(),
        Value::Array(_) | Value::Object(_) if depth_left == 0 => CUT.to_owned(),
        Value::Array(items) => {
            let line = |item| {
                let block = rendered(item, depth_left - 1);
                format!("- {}", block.replace('\n', "\n  "))
            };
            items.iter().map(line).collect::<Vec<String>>().join("\n")
        }
        Value::Object(members) => {
            let line =
                |(key, value): (&String, _)| format!("{key}: {}", rendered(value, depth_left - 1));
            members.iter().map(line).collect::<Vec<String>>().join("\n")
        }
    }
}

/// A number as Python's `str` gives it: the shortest digits that mean it, whole
/// ones without a point, others with one, and an exponent from 1e16 and below
/// 1e-4 on.
fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_as_python(float),
        _ => number.to_string(),
    }
}

fn float_as_python(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = float.to_string();
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
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
    fn each_row_of_4_3() {
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
    fn what_is_null_or_empty_inside_reads_none() {
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
    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!("leaf"), |inner, _| json!({"k": inner}))
    }

    #[test]
    fn eight_levels_are_rendered_and_the_ninth_is_cut() {
        check(json!({"x": nested(8)}), "$memory[x]", &format!("{}leaf", "k: ".repeat(8)));
        check(json!({"x": nested(9)}), "$memory[x]", &format!("{}...", "k: ".repeat(8)));
        // A path is no level: what it leads to is rendered whole.
        let path = format!("$memory[x]{}", "[k]".repeat(20));
        check(json!({"x": nested(20)}), &path, "leaf");
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
            check(
                serde_json::from_str(&format!("{{\"n\": {json}}}")).unwrap(),
                "$memory[n]",
                python,
            );
        }
    }

    #[test]
    fn variables_dollars_and_what_is_neither() {
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
    fn the_missing_are_listed_once_in_the_order_of_the_template() {
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
    fn what_a_value_holds_is_not_expanded_again() {
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
        let keys = |text| Path::parse(text).map(|path| path.to_string());
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
}
