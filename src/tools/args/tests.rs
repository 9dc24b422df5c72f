//! What is accepted, what is refused, and in which words.

use super::*;

const PARAMS: &[Param] = &[
    Param::required("query", Kind::Text { bytes_max: 10 }, "What to look for."),
    Param::optional("k", Kind::Whole { least: 1, most: 50, default: 8 }, ""),
    Param::optional("from", Kind::Time, "Start."),
    Param::optional("to", Kind::Time, "End."),
    Param::optional("position", Kind::Position, "Where."),
    Param::optional("ids", Kind::RecordIds { most: 3 }, "Which."),
    Param::optional("object", Kind::Object, "What."),
    Param::optional("flag", Kind::Flag, "Whether."),
    Param::optional("share", Kind::Share { default: 0.6 }, "How much."),
    Param::optional("word", Kind::Word { of: &["notes", "all"] }, "Of what."),
    Param::optional("names", Kind::Names { most: 2 }, "Whose."),
    Param::optional("positive", Kind::Positive, "How long."),
    Param::optional("texts", Kind::Texts { most: 2, bytes_max: 9 }, "Which."),
];

#[expect(clippy::needless_pass_by_value, reason = "so that tests read as calls")]
fn args(values: Value) -> Result<Args, ToolError> {
    Args::new(PARAMS, values.as_object().unwrap().clone())
}

fn refusal<T: std::fmt::Debug>(result: Result<T, ToolError>) -> String {
    let ToolError::Argument(sentence) = result.unwrap_err() else { panic!("no refusal") };
    sentence
}

fn reading() -> TimeReading {
    let now = Timestamp::from_seconds(1_735_895_647.0).unwrap();
    TimeReading { zone: Zone::from_name("UTC").unwrap(), now }
}

#[test]
fn unknown_and_missing_are_named() {
    let text = refusal(args(json!({"query": "mug", "q": 1})));
    assert_eq!(
        text,
        "unknown argument \"q\"; accepted are query, k, from, to, position, ids, object, flag, share, word, names, positive, texts, \
         session"
    );
    let text = refusal(args(json!({"query": ""})));
    assert_eq!(
        text,
        "argument \"query\" is missing or empty; accepted is a text of at most 10 bytes"
    );
    let blank = args(json!({"query": "  "})).unwrap();
    assert!(refusal(blank.required_text("query")).contains("not blank"));
}

#[test]
fn an_empty_text_is_an_absent_argument() {
    let it = args(json!({"query": "mug", "k": "", "from": "", "ids": null})).unwrap();
    assert_eq!(it.whole("k"), Ok(8));
    assert_eq!(it.time("from", reading()), Ok(None));
}

#[test]
fn numbers_are_read_as_models_write_them_and_bounded() {
    for eight in [json!(8), json!(8.0), json!("8")] {
        assert_eq!(args(json!({"query": "mug", "k": eight})).unwrap().count("k"), Ok(8));
    }
    for bad in [json!(0), json!(51), json!(2.5), json!("many"), json!([8]), json!(true)] {
        let text = refusal(args(json!({"query": "mug", "k": bad})).unwrap().whole("k"));
        assert!(text.contains("a whole number from 1 to 50 (8 where absent)"), "{text}");
    }
}

#[test]
fn texts_are_bounded_and_the_refusal_too() {
    let it = args(json!({"query": "x".repeat(10_000)})).unwrap();
    let text = refusal(it.text("query"));
    assert!(text.len() < 200 && text.contains("at most 10 bytes"), "{text}");
    assert!(refusal(args(json!({"query": 7})).unwrap().text("query")).contains("is 7"));
}

#[test]
fn the_end_of_a_window_means_its_whole_second() {
    let it =
        args(json!({"query": "mug", "from": "2025-01-03 09:00:00", "to": "2025-01-03 09:00:00"}));
    let window = it.unwrap().window("from", "to", reading()).unwrap();
    let moment = Timestamp::from_seconds(1_735_894_800.9).unwrap();
    assert!(window.touches(moment, moment));
}

#[test]
fn windows_are_refused_backward_and_before_1970() {
    let it = args(json!({"query": "m", "from": "-1h", "to": "-2h"})).unwrap();
    let text = refusal(it.window("from", "to", reading()));
    assert!(
        text.starts_with("argument \"from\" (2025-01-03 08:14:07) lies after \"to\""),
        "{text}"
    );
    let it = args(json!({"query": "m", "from": "1969-01-01 00:00:00"})).unwrap();
    let text = refusal(it.window("from", "to", reading()));
    assert!(text.contains("before 1970") && text.contains("YYYY-MM-DD HH:MM:SS"), "{text}");
}

#[test]
fn positions_and_ids() {
    let it = args(json!({"query": "m", "position": [1, 2.5], "ids": "3, 5"})).unwrap();
    assert_eq!(it.position("position"), Ok(Some([1.0, 2.5, 0.0])));
    assert_eq!(it.record_ids("ids"), Ok(vec![RecordId(3), RecordId(5)]));
    let it = args(json!({"query": "m", "position": [1], "ids": [1, 2, 3, 4]})).unwrap();
    assert!(refusal(it.position("position")).contains("[x, y, z]"));
    assert!(refusal(it.record_ids("ids")).contains("1 to 3 record ids"));
    let it = args(json!({"query": "m", "position": "1,2", "ids": [-1]})).unwrap();
    assert!(it.position("position").is_err() && it.record_ids("ids").is_err());
}

#[test]
fn objects_and_flags_are_read_as_models_write_them() {
    for object in [json!({"b": 1.0, "a": 1}), json!("{\"b\": 1.0, \"a\": 1}")] {
        let it = args(json!({"query": "m", "object": object})).unwrap();
        let object = it.object("object").unwrap().unwrap();
        assert_eq!(Value::Object(object).to_string(), r#"{"b":1.0,"a":1}"#);
    }
    for yes in [json!(true), json!("true"), json!("True ")] {
        assert_eq!(args(json!({"query": "m", "flag": yes})).unwrap().flag("flag"), Ok(true));
    }
    let it = args(json!({"query": "m"})).unwrap();
    assert_eq!((it.object("object"), it.flag("flag")), (Ok(None), Ok(false)));
    let it = args(json!({"query": "m", "object": [1], "flag": 1})).unwrap();
    assert!(refusal(it.object("object")).contains("is [1]; accepted is a JSON object"));
    assert!(refusal(it.flag("flag")).contains("is 1; accepted is true or false"));
}

#[test]
fn shares_words_and_names() {
    let it = args(json!({"query": "m"})).unwrap();
    assert_eq!((it.share("share"), it.word("word")), (Ok(0.6), Ok("notes")));
    let it = args(json!({"query": "m", "share": "0.75", "word": "all", "names": " a, b,"}));
    let it = it.unwrap();
    assert_eq!((it.share("share"), it.word("word")), (Ok(0.75), Ok("all")));
    let both = || Ok(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(it.names("names"), both());
    assert_eq!(args(json!({"query": "m", "names": ["a", "b"]})).unwrap().names("names"), both());
    for bad in [json!(1.01), json!(-0.1), json!("half"), json!(true)] {
        let text = refusal(args(json!({"query": "m", "share": bad})).unwrap().share("share"));
        assert!(text.ends_with("accepted is a number from 0 to 1 (0.6 where absent)"), "{text}");
    }
    let it = args(json!({"query": "m", "word": "some", "names": "a,b,c"})).unwrap();
    assert!(refusal(it.word("word")).ends_with("accepted is one of notes, all"));
    assert!(refusal(it.names("names")).contains("1 to 2 of them"));
    assert_eq!(
        args(json!({"query": "m", "names": [1, "b"]})).unwrap().names("names").unwrap(),
        ["1", "b"]
    );
    for bad in [json!(","), json!([1.5]), json!([true])] {
        args(json!({"query": "m", "names": bad})).unwrap().names("names").unwrap_err();
    }
}

#[test]
fn positive_numbers_and_lists_of_texts() {
    let it = args(json!({"query": "m", "positive": 0.5, "texts": ["a", " ", "b"]})).unwrap();
    assert_eq!(it.positive("positive"), Ok(Some(0.5)));
    assert!(refusal(it.texts("texts")).contains("at most 2 texts of together at most 9 bytes"));
    let it = args(json!({"query": "m", "positive": 0, "texts": ["a", " "]})).unwrap();
    assert!(refusal(it.positive("positive")).ends_with("is 0; accepted is a number above 0"));
    assert_eq!(it.texts("texts"), Ok(vec!["a".to_owned()]));
    for bad in [json!("a"), json!([1]), json!(["12345", "67890"])] {
        args(json!({"query": "m", "texts": bad})).unwrap().texts("texts").unwrap_err();
    }
}

#[test]
fn the_schema_says_what_the_checks_accept() {
    let schema = Value::Object(schema(PARAMS));
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["properties"]["k"]["maximum"], json!(50));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert!(schema["properties"]["session"].is_object());
}
