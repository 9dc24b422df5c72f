//! Accepted values: bounds of numbers, words of choices.

use super::ConfigError;
use super::layers::Values;

/// Refuses the first value that is out of its bounds.
pub(super) fn check(values: &Values) -> Result<(), ConfigError> {
    for (key, (value, origin)) in values {
        let refusal = |accepted: String| ConfigError::BadValue {
            key: key.clone(),
            found: value.to_string(),
            origin: origin.clone(),
            accepted,
        };
        #[expect(clippy::cast_precision_loss, reason = "compared with a bound only")]
        let number = value.as_integer().map(|whole| whole as f64).or_else(|| value.as_float());
        if let (Some(number), Some((_, least, most))) =
            (number, RANGES.iter().find(|(ranged, ..)| ranged == key))
            && !(*least..=*most).contains(&number)
        {
            return Err(refusal(format!("a number from {least} to {most}")));
        }
        if let (Some(word), Some((_, words))) =
            (value.as_str(), CHOICES.iter().find(|(chosen, _)| chosen == key))
            && !words.contains(&word)
        {
            return Err(refusal(format!("one of {}", words.join(", "))));
        }
    }
    Ok(())
}

/// Smallest and largest accepted number of each key that has bounds.
const RANGES: &[(&str, f64, f64)] = &[
    ("store.cache_mb", 1.0, 65_536.0),
    ("store.images_max_mb", 0.0, 1e9),
    ("memory.retention_days", 0.0, 36_500.0),
    ("memory.records_max", 0.0, 1e9),
    ("memory.forget_share_max", 0.0, 1.0),
    ("socket.max_clients", 1.0, 65_536.0),
    ("socket.max_line_mb", 1.0, 1_024.0),
    ("socket.max_in_flight_mb", 4.0, 65_536.0),
    ("socket.call_deadline_seconds", 1.0, 86_400.0),
    ("audit.retention_days", 0.0, 36_500.0),
    ("audit.max_mb", 1.0, 65_536.0),
    ("audit.scan_after_seconds", 0.0, 86_400.0),
    ("captioner.start_deadline_seconds", 1.0, 86_400.0),
    ("captioner.deadline_seconds", 1.0, 86_400.0),
    ("captioner.memory_limit_mb", 0.0, 1e6),
    ("ingest.spool_max", 1.0, 10_000_000.0),
    ("ingest.image_max_mb", 1.0, 1_024.0),
    ("ingest.image_max_megapixels", 1.0, 1_000.0),
    ("ingest.max_ahead_seconds", 0.0, 1e9),
    ("ingest.silent_seconds", 0.0, 1e6),
    ("ingest.pose_max_age_seconds", 0.0, 3_600.0),
    ("ingest.gate.max_pause_seconds", 0.0, 86_400.0),
    ("ingest.gate.max_span_seconds", 0.0, 86_400.0),
    ("ingest.gate.max_distance_metres", 0.0, 1_000.0),
    ("ingest.gate.max_turn_degrees", 0.0, 180.0),
    ("ingest.gate.max_change", 0.0, 1.0),
    ("ingest.drop.dark_below", 0.0, 255.0),
    ("ingest.drop.blurred_below", 0.0, 1.0),
    ("ingest.drop.max_per_second", 0.0, 1_000.0),
    ("recall.text_max_chars", 200.0, 1_000_000.0),
    ("retrieval.probability_min", 0.0, 1.0),
    ("agent.timeout_seconds", 1.0, 3_600.0),
    ("agent.steps_max", 1.0, 100.0),
    ("sessions.idle_hours", 1.0, 876_000.0),
];

/// Accepted words of each key that takes one of a few.
const CHOICES: &[(&str, &[&str])] = &[
    ("captioner.device", &["auto", "cpu", "cuda:0"]),
    ("captioner.task", &["caption", "detailed_caption"]),
    ("store.on_damage", &["refuse", "salvage"]),
    ("log.level", &["error", "warn", "info", "debug", "trace"]),
    ("log.format", &["text", "json"]),
];
