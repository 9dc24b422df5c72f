//! The arguments that say when a note expires.

use std::time::Duration;

use crate::base::time::Timestamp;
use crate::tools::ToolError;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;

pub(super) const EXPIRES: Param =
    Param::optional("expires", Kind::Time, "When it is removed; never where absent.");
pub(super) const EXPIRES_IN_DAYS: Param =
    Param::optional("expires_in_days", Kind::Positive, "Instead: days from now, also parts.");

/// The moment that the arguments name, if any.
pub(super) fn expiry(args: &Args, context: &Context) -> Result<Option<Timestamp>, ToolError> {
    let reading = context.clock_reading();
    let (at, days) = (args.time(EXPIRES.name, reading)?, args.positive(EXPIRES_IN_DAYS.name)?);
    match (at, days) {
        (Some(_), Some(_)) => Err(argument_error(
            "one of the arguments \"expires\" and \"expires_in_days\" is accepted; both came"
                .to_owned(),
        )),
        (Some(at), None) => Ok(Some(at)),
        (None, Some(days)) => {
            let after = Duration::try_from_secs_f64(f64::from(days) * 86_400.0);
            let after = after.map_err(|_long| {
                argument_error(format!(
                    "argument \"expires_in_days\" is {days}; accepted are fewer days"
                ))
            })?;
            Ok(Some(reading.now.plus(after)))
        }
        (None, None) => Ok(None),
    }
}
