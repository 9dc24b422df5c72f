//! How long calls took, and which were not carried out, by reason.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::histogram::Histogram;
use crate::tools::ToolError;
use crate::tools::metrics::exposition::{Exposition, Kind};

/// Bounds of calls, in seconds: a recall takes some tenths of a millisecond, a model's plan a
/// minute.
const CALL_BOUNDS: &[f64] =
    &[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Why a call was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The caller has none of the roles for it.
    Forbidden,
    UnknownTool,
    WrongArgument,
    NotNow,
    /// Our fault.
    Failed,
    /// No message, or one that asks for nothing that there is in the form of a request.
    Malformed,
    UnknownMethod,
    /// Of the protocol.
    UnknownVersion,
    /// A line of too many bytes, or too many values.
    TooLarge,
    /// A line that did not end in time.
    TooSlow,
    /// None in memory, among the requests of all clients.
    NoRoom,
    TooManyClients,
    /// A user without any.
    NoRole,
    /// It may have been carried out after its caller was told.
    TookTooLong,
}

impl Reason {
    /// Those for which a call may not reach a tool: told from zero on, so that the first is seen
    /// as an increase.
    const WITHOUT_TOOL: [Self; 11] = [
        Self::UnknownTool,
        Self::Failed,
        Self::Malformed,
        Self::UnknownMethod,
        Self::UnknownVersion,
        Self::TooLarge,
        Self::TooSlow,
        Self::NoRoom,
        Self::TooManyClients,
        Self::NoRole,
        Self::TookTooLong,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::UnknownTool => "unknown_tool",
            Self::WrongArgument => "wrong_argument",
            Self::NotNow => "not_now",
            Self::Failed => "failed",
            Self::Malformed => "malformed",
            Self::UnknownMethod => "unknown_method",
            Self::UnknownVersion => "unknown_version",
            Self::TooLarge => "too_large",
            Self::TooSlow => "too_slow",
            Self::NoRoom => "no_room",
            Self::TooManyClients => "too_many_clients",
            Self::NoRole => "no_role",
            Self::TookTooLong => "took_too_long",
        }
    }
}

impl From<&ToolError> for Reason {
    fn from(error: &ToolError) -> Self {
        match error {
            ToolError::Argument(_) => Self::WrongArgument,
            ToolError::UnknownTool(_) => Self::UnknownTool,
            ToolError::Forbidden(_) => Self::Forbidden,
            ToolError::Refused(_) => Self::NotNow,
            ToolError::Fault(_) => Self::Failed,
        }
    }
}

/// Of a call that reached no tool: there are as many names as clients think of.
const NO_TOOL: &str = "";

/// Calls since the start. Many threads at once.
#[derive(Debug, Default)]
pub struct CallMetrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: BTreeMap<&'static str, Histogram>,
    refused: BTreeMap<(&'static str, Reason), u64>,
}

impl CallMetrics {
    /// Notes what came of a tool's call.
    pub(crate) fn note<T>(
        &self,
        tool: &'static str,
        result: &Result<T, ToolError>,
        took: Duration,
    ) {
        match result {
            Ok(_) => {
                let mut counts = self.lock();
                let done = counts.done.entry(tool);
                done.or_insert_with(|| Histogram::new(CALL_BOUNDS)).observe(took);
            }
            Err(error) => self.refused_by(tool, error),
        }
    }

    /// Counts one that a tool, or a method beside the tools, refused.
    pub(crate) fn refused_by(&self, tool: &'static str, error: &ToolError) {
        *self.lock().refused.entry((tool, error.into())).or_insert(0) += 1;
    }

    /// Counts one that reached no tool.
    pub(crate) fn refused(&self, reason: Reason) {
        *self.lock().refused.entry((NO_TOOL, reason)).or_insert(0) += 1;
    }

    #[cfg(test)]
    pub(crate) fn without_tool(&self) -> BTreeMap<Reason, u64> {
        let counts = self.lock();
        let own = counts.refused.iter().filter(|((tool, _), _)| *tool == NO_TOOL);
        own.map(|((_, reason), count)| (*reason, *count)).collect()
    }

    pub(super) fn write(&self, text: &mut Exposition) {
        let counts = self.lock();
        text.family(
            "engram_call_duration_seconds",
            Kind::Histogram,
            "How long calls of tools took that were carried out.",
        );
        for (tool, done) in &counts.done {
            text.histogram(&[("tool", tool)], done);
        }
        text.family(
            "engram_calls_refused_total",
            Kind::Counter,
            "Calls that were not carried out, by reason; without a tool those that reached none. \
             One that took too long may have been carried out when its caller was told so.",
        );
        let zeros = Reason::WITHOUT_TOOL.map(|reason| ((NO_TOOL, reason), 0));
        let mut refused = BTreeMap::from(zeros);
        refused.extend(counts.refused.iter().map(|(key, count)| (*key, *count)));
        for ((tool, reason), count) in refused {
            text.count(&[("tool", tool), ("reason", reason.name())], count);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Counters: each is whole whatever a holder did.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happened_is_told_as_zero_and_has_no_durations() {
        let calls = CallMetrics::default();
        calls.refused(Reason::NoRoom);
        calls.refused_by("observe", &ToolError::Forbidden("no".to_owned()));
        calls.note("observe", &Ok(()), Duration::from_millis(1));
        calls.note("health", &Err::<(), _>(ToolError::Argument("no".to_owned())), Duration::ZERO);
        let mut text = Exposition::default();
        calls.write(&mut text);
        let text = text.finish();
        let told = |sample: &str| text.lines().any(|line| line == sample);
        for (tool, reason, count) in [
            ("", "no_room", 1),
            ("", "malformed", 0),
            ("", "took_too_long", 0),
            ("observe", "forbidden", 1),
            ("health", "wrong_argument", 1),
        ] {
            let labels = format!("tool=\"{tool}\",reason=\"{reason}\"");
            let sample = format!("engram_calls_refused_total{{{labels}}} {count}");
            assert!(told(&sample), "{sample}: {text}");
        }
        assert!(told("engram_call_duration_seconds_count{tool=\"observe\"} 1"), "{text}");
        assert!(!text.contains("_count{tool=\"health\"}"), "{text}");
    }
}
