//! What a query of `memory_forget` says of time: not read as a part of what is named, since a
//! moment that was meant otherwise would be gone. The refusal says which window is meant.

use crate::base::time::Timestamp;
use crate::language::time::PhraseTime;
use crate::language::told_time::{ToldTimes, is_visit, told_times};
use crate::language::topic::{Forgotten, topic};
use crate::search::Filter;
use crate::tools::ToolError;
use crate::tools::args::argument_error;
use crate::tools::context::Context;
use crate::tools::notes::forget::Scope;
use crate::tools::recall::{END, START};

/// Refuses a query that names a stretch of time where no window is given.
pub(super) fn check(
    query: Option<&str>,
    (scope, filter): (Scope, &Filter),
    context: &Context,
) -> Result<(), ToolError> {
    let Some(query) = query.filter(|_| filter.window.is_unbounded()) else { return Ok(()) };
    let ToldTimes { times, rest } = told_times(topic(query, Forgotten::Seen));
    let is_visit = is_visit(&rest);
    // What was told of a day is found by its words.
    let is_of_time = is_visit || scope != Scope::Notes && !times.is_empty();
    let quoted =
        || context.episodic.is_quoted(query).map_err(|error| ToolError::of_failure(&error));
    if !is_of_time || quoted()? {
        return Ok(());
    }
    let said = times.first().map(|it| &it.time);
    let what = match said {
        Some(time) => format!("says when ({:?})", time.text),
        None => "names a stretch of time".to_owned(),
    };
    let window = said.and_then(|it| window_of(it, context)).unwrap_or_else(names_of_bounds);
    let scope = if scope == Scope::Notes { ", with scope episodic or all" } else { "" };
    let beside = if is_visit || rest.is_empty() { " instead of it" } else { "" };
    Err(argument_error(format!(
        "argument \"query\" {what}; accepted{beside} is its window: {window}{scope}"
    )))
}

fn names_of_bounds() -> String {
    format!("{:?} and {:?}", START.name, END.name)
}

/// As the arguments take it; `None` where there are many: "every morning".
fn window_of(time: &PhraseTime, context: &Context) -> Option<String> {
    let zone = context.options.zone;
    let window = time.resolve(context.clock.now(), zone).window;
    let bound =
        |name: &str, at: Option<Timestamp>| at.map(|it| format!("{name:?}: {:?}", zone.format(it)));
    let bounds = [bound(START.name, window.start()), bound(END.name, window.end())];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(", "))
}
