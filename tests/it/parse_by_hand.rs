//! What the reader of captions finds in captions that were labelled by hand
//! (`benches/language/parse_200.jsonl`), as the memory keeps it. Prints a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs};

use engram::language::caption::{ParsedCaption, ParsedThing, Presence};
use engram::language::mention::{AttributeKind, Mention};
use engram::language::verbs;
use engram::memory::episodic::captions::CaptionReader;
use engram::model::caption_reader;
use serde_json::Value;

/// Least precision and recall of names: a little below what was measured.
const NAMES_MIN: (f64, f64) = (0.88, 0.9);

/// Answers of one sort, each as often as it is given.
type Answers = BTreeMap<&'static str, Vec<String>>;

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    right: usize,
    said: usize,
    labelled: usize,
}

impl Counts {
    fn add(&mut self, said: &[String], labelled: &[String]) {
        let mut left = labelled.to_vec();
        for answer in said {
            if let Some(at) = left.iter().position(|it| it == answer) {
                left.swap_remove(at);
                self.right += 1;
            }
        }
        self.said += said.len();
        self.labelled += labelled.len();
    }

    fn precision(self) -> f64 {
        self.right as f64 / self.said.max(1) as f64
    }

    fn recall(self) -> f64 {
        self.right as f64 / self.labelled.max(1) as f64
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:.3} / {:.3} of {}", self.precision(), self.recall(), self.labelled)
    }
}

/// In lower case, hyphens and quotes as blanks.
fn plain(words: &str) -> String {
    let blanks = words.to_lowercase().replace(['-', '_', '"', '\''], " ");
    blanks.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_label(row: &Value) -> Answers {
    let mut answers = Answers::new();
    let text = |it: &Value| plain(it.as_str().unwrap());
    for it in row["names"].as_array().unwrap() {
        let (role, name) = (it["role"].as_str().unwrap(), text(&it["name"]));
        let list = if role == "absent" { "absent" } else { "names" };
        answers.entry(list).or_default().push(name.clone());
        if role == "person" {
            answers.entry("persons").or_default().push(name.clone());
        }
        for attribute in it["attributes"].as_array().unwrap().iter().filter(|_| role != "absent") {
            let attribute = format!("{} {name}", text(attribute));
            answers.entry("attributes").or_default().push(attribute);
        }
    }
    for it in row["deeds"].as_array().unwrap() {
        let verb = text(&it["verb"]);
        let verb = verb.split(' ').next().and_then(verbs::activity);
        answers.entry("deeds").or_default().extend(verb);
    }
    answers
}

fn of_parse(parsed: &ParsedCaption) -> Answers {
    let mut answers = Answers::new();
    for ParsedThing { mention, presence, is_person, .. } in &parsed.things {
        let (own, said): (Vec<_>, Vec<_>) =
            mention.attributes.iter().partition(|it| it.kind == AttributeKind::Compound);
        let name = whole_name(mention, own.iter().map(|it| it.word.as_str()));
        let list = if *presence == Presence::Absent { "absent" } else { "names" };
        answers.entry(list).or_default().push(name.clone());
        if *is_person {
            answers.entry("persons").or_default().push(name.clone());
        }
        let said = said.iter().filter(|it| it.kind != AttributeKind::Number);
        let said = said.filter(|_| *presence != Presence::Absent);
        let attributes = said.map(|it| format!("{} {name}", plain(&it.word)));
        answers.entry("attributes").or_default().extend(attributes);
    }
    answers.entry("deeds").or_default().extend(parsed.deeds.iter().map(|it| it.verb.clone()));
    answers
}

fn whole_name<'a>(mention: &'a Mention, own: impl Iterator<Item = &'a str>) -> String {
    plain(&own.chain([mention.head.as_str()]).collect::<Vec<_>>().join(" "))
}

#[test]
fn names_in_captions_labelled_by_hand_are_found_as_a_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let model = caption_reader::load(&root.join("models/caption-reader")).unwrap();
    let reader = CaptionReader::new(model);
    let labelled = fs::read_to_string(root.join("benches/language/parse_200.jsonl")).unwrap();
    let mut counts: BTreeMap<(&str, String), Counts> = BTreeMap::new();
    for line in labelled.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let said = of_parse(&reader.read(row["text"].as_str().unwrap()));
        let labels = of_label(&row);
        for list in ["names", "persons", "absent", "attributes", "deeds"] {
            let of = |answers: &Answers| answers.get(list).cloned().unwrap_or_default();
            for kind in ["all", row["kind"].as_str().unwrap()] {
                let counts = counts.entry((list, kind.to_owned())).or_default();
                counts.add(&of(&said), &of(&labels));
            }
        }
    }
    for ((list, kind), counts) in &counts {
        println!("{list:10} {kind:11} {counts}");
    }
    let names = counts[&("names", "all".to_owned())];
    assert!(names.precision() >= NAMES_MIN.0 && names.recall() >= NAMES_MIN.1, "{names}");
}
