//! Notes with the default embedder: what its scale means, what words add, and what it
//! cannot read.

use std::path::Path;

use engram::base::time::{Timestamp, Zone};
use engram::memory::embedding_space;
use engram::memory::notes::{NewNote, Notes};
use engram::model::bert;
use engram::model::calibration_pairs;
use engram::model::embedder::EmbedderHandle;
use engram::store::{Options, Store};
use serde_json::Map;

/// What a search takes where nothing else is said.
pub(crate) const THRESHOLD: f32 = 0.6;

pub(crate) fn embedder() -> EmbedderHandle {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = EmbedderHandle::new(bert::load(&dir).unwrap());
    let calibration = calibration_pairs::fit(&embedder).unwrap();
    embedder.with_calibration(calibration)
}

fn kept(embedder: &EmbedderHandle, texts: &[&str]) -> (tempfile::TempDir, Notes) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::at(dir.path().to_owned());
    let store = Store::open(&options, &embedding_space(embedder)).unwrap();
    let notes = Notes::open(store, embedder.clone(), Zone::from_name("UTC").unwrap()).unwrap();
    for text in texts {
        let (text, area) = ((*text).to_owned(), "main".to_owned());
        let note = NewNote { text, area, metadata: Map::new(), expires_at: None };
        notes.save(note, Timestamp::EPOCH).unwrap();
    }
    (dir, notes)
}

fn found(notes: &Notes, query: &str) -> Vec<(f32, String)> {
    let loaded = notes.load(query, (THRESHOLD, 9), None, Timestamp::EPOCH).unwrap();
    loaded.found.into_iter().map(|it| (it.score, it.note.text)).collect()
}

/// Each a note and a question that it answers.
const RELATED: &[(&str, &str)] = &[
    ("wake up at 6:30", "when do I get up"),
    ("The guest WiFi password is birdsong77", "what is the password for guests"),
    ("Leo is allergic to hazelnuts", "what must Leo not eat"),
    ("The spare key is under the third flowerpot", "where is the key for when I am locked out"),
    ("Bins go out on Tuesday evening", "when is the rubbish collected"),
    ("The QC meeting moved to room 4.12", "where is the QC meeting"),
    ("Project Titan ends in May", "deadline of Titan"),
    ("Grandma's birthday is on 12 March", "when was grandma born"),
];

/// Each a note and a question about something else.
const UNRELATED: &[(&str, &str)] = &[
    ("wake up at 6:30", "which paint did we use for the fence"),
    ("The guest WiFi password is birdsong77", "how long do eggs boil"),
    ("Leo is allergic to hazelnuts", "where is the lawn mower"),
    ("The spare key is under the third flowerpot", "who won the chess game"),
    ("Bins go out on Tuesday evening", "what is the name of the dentist"),
    ("The QC meeting moved to room 4.12", "recipe for lentil soup"),
    ("Project Titan ends in May", "how do I change the printer cartridge"),
    ("Grandma's birthday is on 12 March", "what size are the bicycle tyres"),
    ("The red mug belongs to Anna", "what is the weather in Paris"),
];

#[test]
fn related_texts_are_above_the_threshold_and_unrelated_ones_below() {
    let embedder = embedder();
    for (note, question) in RELATED {
        let (_dir, notes) = kept(&embedder, &[note]);
        assert_eq!(found(&notes, question).len(), 1, "{question}: {note}");
    }
    let all: Vec<&str> = RELATED.iter().map(|(note, _)| *note).collect();
    let (_dir, together) = kept(&embedder, &all);
    for (note, question) in UNRELATED {
        let (_dir, notes) = kept(&embedder, &[note]);
        assert_eq!(found(&notes, question), [], "{question}: {note}");
        let near = found(&together, question);
        assert!(near.is_empty(), "{question}: {near:?}");
    }
    for (note, question) in RELATED {
        assert_eq!(found(&together, question)[0].1, *note, "{question}");
    }
}

#[test]
fn korean_notes_are_matched_as_they_are_written() {
    let embedder = embedder();
    assert!(embedder.reads("Zoë's café in Zürich opens at 6:30") && embedder.reads("QC?"));
    for text in [
        "오늘 날씨가 어때요",
        "今天天气怎么样",
        "Какая сегодня погода",
        "كيف الطقس اليوم",
        "นี่คือแก้ว",
    ] {
        assert!(!embedder.reads(text), "{text}");
    }
    let texts = [
        "오늘 날씨는 맑고 따뜻하다",
        "차 열쇠는 현관 서랍에 있다",
        "회의는 목요일 오후 세 시에 시작한다",
        "레오는 땅콩 알레르기가 있다",
        "와이파이 비밀번호는 birdsong77 이다",
    ];
    let (_dir, notes) = kept(&embedder, &texts);
    for (query, expected) in [
        ("오늘 날씨", Some(texts[0])),
        ("차 열쇠", Some(texts[1])),
        ("땅콩 알레르기", Some(texts[3])),
        ("고양이 사료를 어디에 두었나", None),
    ] {
        let found: Vec<String> = found(&notes, query).into_iter().map(|it| it.1).collect();
        assert_eq!(found, expected.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{query}");
    }
    let about = notes.about("오늘의 날씨", 0.75, Timestamp::EPOCH).unwrap();
    let gone: Vec<&str> = about.notes.iter().map(|it| it.found.note.text.as_str()).collect();
    assert_eq!(gone, [texts[0]]);
    let password = found(&notes, "what is birdsong77");
    assert_eq!(password.len(), 1, "{password:?}");
}

#[test]
fn a_topic_is_forgotten_with_the_default_embedder() {
    let embedder = embedder();
    let texts = [
        "Project Titan kicks off on Monday at 10 in room 4.12, Bob brings the projector",
        "Anna signed the contract with the supplier; budget for the Titan project is 40,000 euros",
        "The repository password of project Titan is swordfish, ask Carol for access rights",
        "Project Titan ends in May",
        "Saturn's largest moon is Titan",
        "The door code is 4711",
    ];
    let (_dir, notes) = kept(&embedder, &texts);
    let topic = "all information related to Project Titan";
    let about = notes.about(topic, 0.75, Timestamp::EPOCH).unwrap();
    let mut gone: Vec<&str> = about.notes.iter().map(|it| it.found.note.text.as_str()).collect();
    gone.sort_unstable();
    let mut expected = texts[..4].to_vec();
    expected.sort_unstable();
    assert_eq!(gone, expected);
    let near: Vec<&str> = about.near.iter().map(|it| it.note.text.as_str()).collect();
    assert_eq!(near, [texts[4]]);
}
