//! What a request was understood as, for replies: what is wanted, of what, and what of the
//! request was put right or could not be met.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::language::reference::{Order, Reference, Respelling};
use crate::language::request_tags::Intent;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Understood {
    #[serde(with = "Wanted")]
    intent: Intent,
    // In the order in which they are wanted.
    things: Vec<String>,
    // What the first was beside, on or in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    around: Vec<String>,
    // Which one it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    // What somebody did with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doing: Option<String>,
    // The times that the request names, in its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    times: Vec<String>,
    // Which of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    // Words that nobody knows, with what they were read as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    respelled: Vec<String>,
    // The thing as the request calls it, where only what has a near name was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renamed: Option<String>,
    // What is asked for and could not be met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unmet: Vec<String>,
}

// What somebody wants who says this: a thing, to know where it is, to know something else,
// that nothing is done, or nothing that a memory is for.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Intent", rename_all = "snake_case")]
enum Wanted {
    Fetch,
    Where,
    Question,
    Stop,
    Chat,
}

impl Understood {
    pub(super) fn of(reference: &Reference, unmet: Vec<String>) -> Self {
        let Reference { thing, also, intent, respelled, around, without, doing, when, .. } =
            reference;
        let things = [thing].into_iter().chain(also).filter(|it| !it.is_empty());
        let read =
            |Respelling { said, read }: &Respelling| format!("{said:?} was read as {read:?}");
        Self {
            intent: *intent,
            things: things.cloned().collect(),
            around: around.clone(),
            without: without.clone(),
            doing: doing.clone(),
            times: when.iter().map(|it| it.text.clone()).collect(),
            order: order_words(reference),
            respelled: respelled.iter().map(read).collect(),
            renamed: reference
                .renamed
                .as_ref()
                .map(|it| format!("no {:?} was seen; this may be it: {:?}", it.said, it.read)),
            unmet,
        }
    }

    /// What somebody said who is sent nothing.
    pub(super) fn explain_intent(&self) -> String {
        let of = match self.things.as_slice() {
            [] => String::new(),
            things => format!(" (of {})", things.join(", ")),
        };
        format!("this was understood as {}{of}", self.intent.in_words())
    }

    /// What was put right and what could not be met, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let unmet = self.unmet.iter().map(|it| format!("  not as asked: {it}"));
        let read = self.respelled.iter().chain(&self.renamed);
        read.map(|it| format!("  {it}")).chain(unmet).collect()
    }
}

/// "the second most often", "the latest".
fn order_words(reference: &Reference) -> Option<String> {
    let superlative = match reference.order.as_ref()? {
        Order::MostOften => "most often".to_owned(),
        Order::LeastOften => "least often".to_owned(),
        Order::Latest => "latest".to_owned(),
        Order::Earliest => "earliest".to_owned(),
        Order::LongestAgo => "the longest ago".to_owned(),
        Order::NearestTo(what) => format!("nearest to {what}"),
    };
    let number =
        |rank: usize| if rank == 0 { String::new() } else { format!("number {} ", rank + 1) };
    Some(format!("{}{superlative}", number(reference.rank)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_right_and_what_is_unmet_is_told() {
        let reference = Reference {
            thing: "bottle".to_owned(),
            also: vec!["mug".to_owned()],
            respelled: vec![Respelling { said: "botle".to_owned(), read: "bottle".to_owned() }],
            ..Reference::default()
        };
        let understood = Understood::of(&reference, vec!["only 1 was seen".to_owned()]);
        let lines = ["  \"botle\" was read as \"bottle\"", "  not as asked: only 1 was seen"];
        assert_eq!(understood.lines(), lines);
        assert_eq!(understood.things, ["bottle", "mug"]);
    }

    #[test]
    fn what_singles_the_thing_out_is_told() {
        let reference = Reference {
            thing: "mug".to_owned(),
            around: vec!["desk".to_owned()],
            doing: Some("using".to_owned()),
            order: Some(Order::MostOften),
            rank: 1,
            ..Reference::default()
        };
        let understood = serde_json::to_value(Understood::of(&reference, Vec::new())).unwrap();
        assert_eq!(
            understood,
            serde_json::json!({
                "intent": "fetch", "things": ["mug"], "around": ["desk"], "doing": "using",
                "order": "number 2 most often",
            })
        );
    }

    #[test]
    fn an_order_to_stop_is_told_as_that() {
        let reference =
            Reference { thing: "red mug".to_owned(), intent: Intent::Stop, ..Reference::default() };
        let taken_for = Understood::of(&reference, Vec::new()).explain_intent();
        assert_eq!(taken_for, "this was understood as an order not to (of red mug)");
    }
}
