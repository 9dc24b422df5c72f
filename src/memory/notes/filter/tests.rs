//! The filter language: the examples of its seed, its refusals, and what Python makes of the same.

use super::*;
use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};
use serde_json::json;

/// The names of a note about the lab.
fn note() -> Value {
    json!({
        "area": "main", "year": 2024, "ratio": 1.5, "tags": ["lab", "key"], "done": true,
        "empty": "", "nothing": null, "who": {"name": "Ada"}, "größe": 3,
    })
}

fn admits(filter: &str, note: &Value) -> bool {
    let filter = NoteFilter::parse(filter).unwrap_or_else(|bad| panic!("{filter}: {bad}"));
    filter.admits(&|name| note.get(name).map(Cow::Borrowed))
}

#[track_caller]
fn check(filter: &str, expected: bool) {
    assert_eq!(admits(filter, &note()), expected, "{filter}");
}

#[test]
fn filters_of_the_documents_examples_select_what_they_say() {
    check("area=='main'", true);
    check("area == 'main' and year >= 2024 and 'lab' in tags", true);
    check("area == 'main' and year > 2024 and 'lab' in tags", false);
}

#[test]
fn comparisons_follow_python() {
    for (filter, expected) in [
        ("year == 2024.0 and ratio < 2 and -1 < ratio <= 1.5e0", true),
        ("2020 <= year < 2024", false),
        ("year != '2024'", true),
        ("area < 'n' and area >= \"main\"", true),
        ("done == 1 and done is not None", true),
        ("tags == ['lab', 'key'] and tags != ['lab']", true),
        ("['lab'] < tags and tags > ['lab', 'a']", true),
        ("'ai' in area and 'x' not in area and 'name' in who", true),
        ("area in ('main', 'solutions') and year in [2023, 2024,]", true),
        ("(area) in [(\"main\")]", true),
        ("year in (2024.0, 1)", true),
        ("größe == 3", true),
    ] {
        check(filter, expected);
    }
}

#[test]
fn parts_of_metadata_are_named() {
    for (filter, expected) in [
        ("who.name == 'Ada'", true),
        ("who['name'] == 'Ada' and tags[0] == 'lab'", true),
        ("who.age is None and who.name.first is None and tags[9] is None", true),
        ("who.name == who['name']", true),
        ("'key' in tags and year.x == 3", false),
    ] {
        check(filter, expected);
    }
}

#[test]
fn missing_names_are_none_and_in_no_order() {
    for (filter, expected) in [
        ("colour is None and nothing is None and area is not None", true),
        ("colour == None and colour != 'red'", true),
        ("colour >= 0 or colour < 0 or colour == 0", false),
        ("'a' in colour", false),
        ("'a' not in colour", true),
        ("area > 3 or area < 3", false),
        ("None in [colour]", true),
        ("1 in area", false),
    ] {
        check(filter, expected);
    }
}

#[test]
fn truth_and_precedence_follow_python() {
    for (filter, expected) in [
        ("done and tags and ratio and who", true),
        ("empty or nothing or colour or 0 or False or [] or ''", false),
        ("not done", false),
        ("not not done", true),
        ("not empty and done", true),
        ("done or done and empty", true),
        ("(done or done) and empty", false),
        ("not (year == 2024 or empty)", false),
        ("not year == 2023", true),
    ] {
        check(filter, expected);
    }
}

#[test]
fn texts_take_either_quote_and_escapes() {
    let note = json!({"said": "it's \"quoted\"\n\\"});
    assert!(admits(r#"said == 'it\'s "quoted"\n\\'"#, &note));
    assert!(admits(r#""\"quoted\"" in said"#, &note));
}

#[test]
fn text_outside_the_language_is_refused_with_its_place() {
    for (filter, expected) in [
        ("", "the filter ends too early at character 1;"),
        ("area ==", "the filter ends too early at character 8;"),
        ("area = 'main'", "write == for \"=\" at character 6 (= 'main');"),
        ("a && b", "write and for \"&&\" at character 3 (&& b);"),
        ("a || b", "write or for \"||\" at character 3 (|| b);"),
        ("!a", "write not for \"!\" at character 1 (!a);"),
        ("done == true", "write True for \"true\" at character 9 (true);"),
        ("a is null", "write None for \"null\" at character 6 (null);"),
        ("a AND b", "write and for \"AND\" at character 3 (AND b);"),
        ("len(tags) > 1", "calls are not part of the filter language at character 4 ((tags) > 1);"),
        ("__import__('os')", "calls are not part of the filter language at character 11"),
        ("tags[-1] == 'a'", "a subscript is a text or a whole number from 0 at character 6"),
        ("tags[0", "the filter ends too early at character 7;"),
        ("area.lower() == 'x'", "calls are not part of the filter language at character 11"),
        ("who. == 3", "this is unexpected at character 6 (== 3);"),
        (
            "area == main",
            "two names are compared: write 'main' for the text main, at character 9 (main);",
        ),
        (
            "main == area",
            "two names are compared: write 'main' for the text main, at character 9 (area);",
        ),
        (
            "area in ['x', main]",
            "two names are compared: write 'main' for the text main, at character 9",
        ),
        (
            "year > old and 1 == 1",
            "two names are compared: write 'old' for the text old, at character 8",
        ),
        (
            "'rep' in text",
            "the text is searched by \"query\", and a filter reads area, time, timestamp, id and metadata: this is unexpected at character 10 (text);",
        ),
        ("year + 1 == 2", "unexpected '+' at character 6 (+ 1 == 2);"),
        ("{'a': 1}", "dictionaries and sets are not part of the filter language at character 1"),
        ("lambda: 1", "\"lambda\" is not part of the filter language at character 1"),
        ("a is 3", "\"is\" is accepted before None only: write == here, at character 6 (3);"),
        ("a not b", "this is unexpected at character 7 (b);"),
        ("(a == 1) == c", "this is unexpected at character 10 (== c);"),
        ("c == (a == 1)", "a comparison is compared at character 6 ((a == 1));"),
        ("a b", "this is unexpected at character 3 (b);"),
        ("(a", "the filter ends too early at character 3;"),
        ("[a", "the filter ends too early at character 3;"),
        ("a == 'x", "a text without its closing quote begins at character 6 ('x);"),
        (r"a == '\d'", "the escape \\d is not known in a text at character 6"),
        ("a == f'x'", "texts take no prefix such as \"f\" at character 6"),
        ("a == 12ab", "\"12ab\" is no number at character 6 (12ab);"),
        ("a == 1e999", "\"1e999\" is no number at character 6 (1e999);"),
        ("größe == €", "unexpected '€' at character 10 (€);"),
    ] {
        let error = NoteFilter::parse(filter).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{filter}: {error}");
        assert!(error.ends_with(ACCEPTED), "{error}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let nested = |levels| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    NoteFilter::parse(&nested(DEPTH_MAX)).unwrap();
    for deep in [nested(DEPTH_MAX + 1), "not ".repeat(400) + "a", "[".repeat(1_000)] {
        let error = NoteFilter::parse(&deep).unwrap_err().to_string();
        assert!(error.starts_with("more than 32 levels within each other"), "{error}");
    }
    let long = format!("a == '{}'", "x".repeat(FILTER_BYTES_MAX));
    let error = NoteFilter::parse(&long).unwrap_err().to_string();
    assert!(error.starts_with("the filter has 2007 bytes, more than 2000,"), "{error}");
    assert!(error.len() < 400, "{error}");
}

/// Filters as text with what they mean, worked out beside the parser.
fn meant() -> impl Strategy<Value = (String, bool)> {
    let leaf = (0..4_i64, 0..4_i64, 0..6_usize).prop_map(|(a, b, n)| {
        let (sign, holds) = [
            ("==", a == b),
            ("!=", a != b),
            ("<", a < b),
            ("<=", a <= b),
            (">", a > b),
            (">=", a >= b),
        ][n];
        (format!("n{a} {sign} {b}"), holds)
    });
    leaf.prop_recursive(4, 24, 3, |inner| {
        let group = |(text, holds): (String, bool)| (format!("({text})"), holds);
        prop_oneof![
            inner.clone().prop_map(move |it| {
                let (text, holds) = group(it);
                (format!("not {text}"), !holds)
            }),
            prop::collection::vec(inner.clone().prop_map(group), 1..4).prop_map(|parts| {
                let texts: Vec<&str> = parts.iter().map(|it| it.0.as_str()).collect();
                (texts.join(" and "), parts.iter().all(|it| it.1))
            }),
            prop::collection::vec(inner.prop_map(group), 1..4).prop_map(|parts| {
                let texts: Vec<&str> = parts.iter().map(|it| it.0.as_str()).collect();
                (texts.join(" or "), parts.iter().any(|it| it.1))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn filters_mean_what_they_say((filter, expected) in meant()) {
        let numbers = json!({"n0": 0, "n1": 1, "n2": 2, "n3": 3.0});
        if filter.len() <= FILTER_BYTES_MAX {
            assert_eq!(admits(&filter, &numbers), expected, "{filter}");
        }
    }

    #[test]
    fn any_text_is_a_filter_or_an_error(text in any::<String>(), near in "[a-z0-9=<>!()\\[\\],.'\" \\\\-]{0,40}") {
        drop(NoteFilter::parse(&text));
        if let Ok(filter) = NoteFilter::parse(&near) {
            filter.admits(&|_| None);
        }
    }
}
