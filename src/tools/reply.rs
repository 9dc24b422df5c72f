//! Replies in words: records, counts and what the memory holds, as short lines that a
//! language model reads.

use crate::base::plain;
use crate::base::time::{Window, Zone};
use crate::memory::episodic::Recalled;
use crate::store::Record;
use crate::tools::context::Context;

/// The resource that holds a record's frame.
pub(crate) fn image_uri(record: &Record) -> String {
    format!("{FRAME_URI}{}", record.id)
}

/// What the URI of every stored frame starts with; the record's id follows.
pub(crate) const FRAME_URI: &str = "engram://frames/";

/// What the URI of every frame starts with that has no caption; its number follows.
pub(crate) const SPOOL_URI: &str = "engram://spool/";

/// What the URI of every record starts with.
pub(crate) const RECORD_URI: &str = "engram://records/";

/// Said where a query is in a script that the embedder does not know.
pub(crate) const LITERAL: &str = "this memory reads English; the words were matched as written";

/// Below this the text says how likely a record shows the thing.
const SURE_FROM: f32 = 0.9;

/// Captions below this are more likely wrong than right, and the text says so.
const UNSURE_BELOW: f32 = 0.5;

/// `#42 2025-01-03 09:14:07 (1.2, -0.4) a red mug on a desk [.83 red mug]`
pub(crate) fn line(record: &Record, recalled: Option<&Recalled>, zone: Zone) -> String {
    let mut line = format!("#{} {}", record.id, zone.format(record.meta.taken_at));
    if record.end_at.since(record.meta.taken_at).as_secs() > 0 {
        let end = zone.format(record.end_at);
        line.push_str(&format!(" to {}", end.split(' ').next_back().unwrap_or(&end)));
    }
    if let Some(pose) = record.meta.pose {
        let [x, y, _] = pose.position;
        line.push_str(&format!(" ({x:.1}, {y:.1})"));
    }
    // A caption is a record's words, not a record of its own.
    line.push_str(&format!(" {}", plain::one_line(&record.caption)));
    if let Some(confidence) = record.confidence.filter(|it| *it < UNSURE_BELOW) {
        line.push_str(&format!(" (caption unsure, {:.0} % likely right)", 100.0 * confidence));
    }
    if let Some(it) = recalled {
        let matched = it.matched.join(", ");
        let matched = if matched.is_empty() { matched } else { format!(" {matched}") };
        line.push_str(&format!(" [{:.2}{matched}]", it.score));
        if let Some(probability) = it.probability.filter(|it| *it < SURE_FROM) {
            line.push_str(&format!(" (shows it with {:.0} %)", 100.0 * probability));
        }
    }
    line
}

/// Why a window holds nothing, and what the memory does hold.
pub(crate) fn nothing_within(context: &Context, window: &Window) -> String {
    let zone = context.options.zone;
    let asked = match (window.start(), window.end()) {
        (None, None) => "no record".to_owned(),
        (Some(start), None) => format!("no record since {}", zone.format(start)),
        (None, Some(end)) => format!("no record until {}", zone.format(end)),
        (Some(start), Some(end)) => {
            format!("no record between {} and {}", zone.format(start), zone.format(end))
        }
    };
    format!("{asked}; {}", holdings(context))
}

/// "memory holds 12,482 records from … to …"
pub(crate) fn holdings(context: &Context) -> String {
    let zone = context.options.zone;
    let pending = context.ingest.pending();
    let waiting = if pending == 0 {
        String::new()
    } else {
        format!(", {} frames pending", group_thousands(pending))
    };
    match context.episodic.span() {
        None => format!("memory holds no records{waiting}"),
        Some((first, last)) => format!(
            "memory holds {} records from {} to {}{waiting}",
            group_thousands(context.episodic.len()),
            zone.format(first),
            zone.format(last)
        ),
    }
}

/// The beginning of a text, its further lines indented.
pub(crate) fn indented_excerpt(text: &str, chars_max: usize) -> String {
    let cut: String = text.chars().take(chars_max).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", cut.replace('\n', "\n  "))
}

/// `12482` as `12,482`.
fn group_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let shown: Vec<String> = [0, 999, 1_000, 12_482, 1_000_000].map(group_thousands).into();
        assert_eq!(shown, ["0", "999", "1,000", "12,482", "1,000,000"]);
    }
}
