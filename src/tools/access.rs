//! Whether a caller may do what it asks for; one that may not is told which role it lacks.

use log::warn;

use crate::audit::{Deed, Outcome, Urgency};
use crate::base::caller::{Caller, Roles};
use crate::tools::ToolError;
use crate::tools::context::Context;

/// Refuses, logs and audits what the caller has none of the roles for.
pub(crate) fn permit(
    context: &Context,
    caller: &Caller,
    what: &str,
    roles: Roles,
) -> Result<(), ToolError> {
    if caller.roles.meet(roles) {
        return Ok(());
    }
    let refused = (caller.uid, what.to_owned());
    if let Some(times) = context.refused_calls.count(&refused, context.clock.now()) {
        warn!(times; "refused: {caller} called {what}, which needs the role {}", alternatives(roles));
    }
    let deed = Deed { outcome: Outcome::Refused, ..Deed::done(caller, what, 1, Vec::new()) };
    context.audit.write(&deed, Urgency::Summed);
    Err(ToolError::Forbidden(format!(
        "{what} needs the role {}; user {} has {}. Who runs the daemon gives roles in [access] of \
         its configuration",
        alternatives(roles),
        caller.user,
        if caller.roles.is_empty() { "none".to_owned() } else { caller.roles.to_string() }
    )))
}

/// `read or admin`
fn alternatives(roles: Roles) -> String {
    let names = roles.to_string();
    match names.rsplit_once(", ") {
        Some((others, last)) => format!("{others} or {last}"),
        None => names,
    }
}
