//! A language model's server, whatever it does: an answer or an error in time.

use std::time::Duration;

use engram::base::time::{Clock as _, SystemClock};
use engram::model::endpoint::{Address, Endpoint, EndpointError, Form, Options, Question};
use serde_json::json;

use crate::scripted_model::{Answers, ScriptedModel, answer};

fn endpoint(model: &ScriptedModel, timeout: Duration) -> Endpoint {
    let address = Address::parse(&model.url).unwrap();
    Endpoint::new(Options { address, model: "small".to_owned(), timeout })
}

const LONG: Duration = Duration::from_secs(30);

fn ask(answers: Answers, timeout: Duration) -> Result<String, EndpointError> {
    let model = ScriptedModel::new(vec![answers]);
    let question = Question { system: None, user: "where?", image: None, form: Form::default() };
    endpoint(&model, timeout).ask(question, LONG).map(|answer| answer.text)
}

#[test]
fn a_question_goes_out_as_openai_has_it() {
    let model = ScriptedModel::new(vec![Answers::With("there".to_owned())]);
    let image = Some(("image/png", b"\x89PNG".as_slice()));
    let question =
        Question { system: Some("You plan."), user: "where?", image, form: Form::default() };
    assert_eq!(endpoint(&model, LONG).ask(question, LONG).unwrap().text, "there");
    let expected = json!({
        "messages": [
            {"role": "system", "content": "You plan."},
            {"role": "user", "content": [
                {"type": "text", "text": "where?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
            ]},
        ],
        "temperature": 0, "seed": 0, "max_tokens": 2048, "stream": false, "model": "small",
    });
    assert_eq!(model.asked(), [expected]);
}

#[test]
fn what_a_server_does_wrong_is_named() {
    let error = |answers: Answers| ask(answers, LONG).unwrap_err().to_string();
    let failed = error(Answers::Raw(answer("500 Oops", "model not loaded")));
    assert!(failed.ends_with("answered 500: \"model not loaded\""), "{failed}");
    let garbage = error(Answers::Raw(answer("200 OK", "<html>")));
    assert!(garbage.ends_with("without choices[0].message.content: \"<html>\""), "{garbage}");
    let no_http = error(Answers::Raw("220 smtp ready\r\n\r\n".to_owned()));
    assert!(no_http.contains("broke off: "), "{no_http}");
    let gone = error(Answers::Raw(String::new()));
    assert!(gone.contains("broke off: "), "{gone}");
    let half = error(Answers::Raw(
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"".to_owned(),
    ));
    assert!(half.contains("broke off: "), "{half}");
    let endless = error(Answers::Endlessly);
    assert!(endless.ends_with("answered more than 524288 bytes"), "{endless}");
}

/// Elsewhere may be anywhere.
#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = ScriptedModel::new(vec![Answers::With("caught".to_owned())]);
    let url = &elsewhere.url;
    for status in ["302 Found", "307 Temporary Redirect"] {
        let moved = format!("HTTP/1.1 {status}\r\nlocation: {url}/\r\ncontent-length: 0\r\n\r\n");
        ask(Answers::Raw(moved), LONG).unwrap_err();
    }
    assert_eq!(elsewhere.asked(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_server_that_does_not_get_done_is_given_up() {
    for answers in [Answers::Never, Answers::Slowly] {
        let started = SystemClock.tick();
        let error = ask(answers.clone(), Duration::from_millis(300)).unwrap_err();
        assert!(matches!(error, EndpointError::Slow { .. }), "{answers:?}: {error}");
        assert!(started.elapsed() < LONG, "{answers:?}");
    }
}

#[test]
fn where_nothing_listens_the_error_says_so() {
    let address = Address::parse("http://127.0.0.1:1").unwrap();
    let endpoint = Endpoint::new(Options { address, model: String::new(), timeout: LONG });
    let question = Question { system: None, user: "where?", image: None, form: Form::default() };
    let error = endpoint.ask(question, LONG).unwrap_err().to_string();
    let start = "the model's server at http://127.0.0.1:1/v1/chat/completions cannot be reached: ";
    assert!(error.starts_with(start), "{error}");
}
