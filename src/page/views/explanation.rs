//! Why a search found what it found, drawn: the tools' `explain`. Pure.

use serde::Deserialize;

use crate::page::html::{Html, html};
use crate::page::memory::Record;
use crate::page::views::words;

/// What a recall says of itself: a ranking by meaning and words, or evidence that a thing is
/// shown.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Explanation {
    Ranking { weights: Weights, scores: Vec<HitScores>, pieces: Vec<Piece> },
    Evidence { certainty: Option<String>, things: Vec<Thing>, pieces: Vec<Piece> },
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Weights {
    dense: f64,
    lexical: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct HitScores {
    id: u64,
    score: f64,
    dense: f64,
    lexical: f64,
}

/// A segment of the index and what was done in it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Piece {
    segment: Option<u64>,
    rows: usize,
    selected: usize,
    #[serde(default)]
    why: String,
}

/// A thing of the query and the phrases of captions that were held against it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Thing {
    stems: Vec<String>,
    attributes: Vec<String>,
    phrases: Vec<Phrase>,
    more_phrases: usize,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Phrase {
    #[serde(rename = "phrase")]
    text: String,
    fit: String,
    records: u64,
}

/// Why this record was found: its score in parts, or what of its caption names the thing.
pub(super) fn of_record(explanation: &Explanation, record: &Record) -> Html {
    let matched = record.matched.iter().map(|it| html!("<mark>{}</mark> ", it));
    let matched: Html = matched.collect();
    let bar = match explanation {
        Explanation::Ranking { weights, scores, .. } => {
            scores.iter().find(|it| it.id == record.id).map(|it| score_bar(*weights, *it))
        }
        Explanation::Evidence { .. } => record
            .score
            .map(|score| html!("<span class=\"soft\">score {}</span>", format!("{score:.2}"))),
    };
    html!("<span class=\"why\">{}{}</span>", matched, bar)
}

/// The two parts of a score, as long as they weigh.
fn score_bar(weights: Weights, scores: HitScores) -> Html {
    let HitScores { score, dense, lexical, .. } = scores;
    let meaning = 100.0 * (weights.dense * dense).clamp(0.0, 1.0);
    let words = 100.0 * (weights.lexical * lexical).clamp(0.0, 1.0);
    let title = format!(
        "score {score:.2}: meaning {dense:.2} × {:.2}, words {lexical:.2} × {:.2}",
        weights.dense, weights.lexical
    );
    html!(
        "<svg class=\"score\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{}\"><title>{}</title><rect class=\"meaning\" width=\"{}\" height=\"6\"/>\
         <rect class=\"words\" x=\"{}\" width=\"{}\" height=\"6\"/></svg>",
        title,
        title,
        format!("{meaning:.1}"),
        format!("{meaning:.1}"),
        format!("{words:.1}")
    )
}

/// How all were found.
pub(super) fn of_all(explanation: &Explanation) -> Html {
    let (head, pieces) = match explanation {
        Explanation::Ranking { pieces, .. } => (
            html!(
                "<p class=\"legend\"><span class=\"meaning\"></span> by meaning \
                 <span class=\"words\"></span> by words</p>"
            ),
            pieces,
        ),
        Explanation::Evidence { certainty, things, pieces } => {
            let things: Html = things.iter().map(thing).collect();
            let certainty = certainty
                .as_ref()
                .map(|it| html!("<p class=\"soft\">certainty: {}</p>", it.replace('_', " ")));
            (html!("{}{}", things, certainty), pieces)
        }
    };
    let rows: usize = pieces.iter().map(|it| it.rows).sum();
    let selected: usize = pieces.iter().map(|it| it.selected).sum();
    html!(
        "{}<details><summary>{} of {} within the filter, in {} of the index</summary>\
         <table><thead><tr><th>segment</th><th>records</th><th>within</th><th>how</th></tr></thead>\
         <tbody>{}</tbody></table></details>",
        head,
        words::thousands(selected),
        words::quantity(rows, "record"),
        words::quantity(pieces.len(), "part"),
        pieces.iter().map(piece).collect::<Html>()
    )
}

fn piece(piece: &Piece) -> Html {
    let Piece { segment, rows, selected, why } = piece;
    let name = segment.map_or_else(|| "newest".to_owned(), |it| it.to_string());
    html!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        name,
        words::thousands(*rows),
        words::thousands(*selected),
        why
    )
}

fn thing(thing: &Thing) -> Html {
    let Thing { stems, attributes, phrases, more_phrases } = thing;
    let name = format!("{} {}", attributes.join(" "), stems.first().map_or("", String::as_str));
    let chip = |it: &Phrase| {
        let Phrase { text, fit, records } = it;
        html!(
            "<li class=\"chip fit-{}\" title=\"{}: {}\">{} <b>{}</b></li>",
            fit,
            fit,
            words::quantity(usize::try_from(*records).unwrap_or(usize::MAX), "record"),
            text,
            records
        )
    };
    let more = (*more_phrases > 0).then(|| html!("<li class=\"soft\">{} more</li>", more_phrases));
    html!(
        "<div class=\"evidence\"><span class=\"soft\">{}</span><ul class=\"chips\">{}{}</ul></div>",
        name.trim(),
        phrases.iter().map(chip).collect::<Html>(),
        more
    )
}
