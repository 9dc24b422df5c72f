//! What stands at each address.

mod cell;
mod density;
mod explanation;
mod forget;
mod health;
mod kept;
mod map;
mod record;
mod search;
mod sections;
mod sessions;
mod spool;
mod timeline;
mod values;
mod words;

use crate::base::time::{Clock as _, SystemClock};
use crate::page::Page;
use crate::page::daemon::DaemonError;
use crate::page::filter::Filter;
use crate::page::request::{Method, Request};
use crate::page::response::Response;

/// The answer to a request that may be answered; `segments` are its path.
pub(super) fn answer(page: &Page, request: &Request, segments: &[&str]) -> Result<Response, Fault> {
    match (request.method, segments) {
        (Method::Get | Method::Head, segments) => look(page, request, segments),
        (Method::Post, ["forget", "now"]) => forget::carry_out(page, request),
        (Method::Post, _) => Err(Fault::nowhere(request)),
    }
}

/// What changes nothing.
fn look(page: &Page, request: &Request, segments: &[&str]) -> Result<Response, Fault> {
    match segments {
        [""] => timeline::show(page, request),
        ["cells"] => timeline::cells(page, request),
        ["sections"] => timeline::older(page, request),
        ["record", id] => record::show(page, request, number(id, request)?),
        ["frame", id] => record::frame(page, number(id, request)?),
        ["spool", id] => spool::picture(page, number(id, request)?),
        ["thumb", id] => record::thumbnail(page, number(id, request)?),
        ["forget"] => forget::show(page, request),
        ["map"] => map::show(page, request),
        ["map", "grid"] => map::grid(page, request),
        ["search"] => search::show(page, request),
        ["kept"] => kept::show(page, request),
        ["metrics"] => health::metrics(page),
        ["health"] => health::show(page, request),
        _ => Err(Fault::nowhere(request)),
    }
}

/// Why there is nothing to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing is at this address, any more.
    Nothing(String),
    /// The address or the form holds what is not accepted.
    Wrong(String),
    Daemon(DaemonError),
}

impl From<DaemonError> for Fault {
    fn from(error: DaemonError) -> Self {
        Self::Daemon(error)
    }
}

impl Fault {
    fn nowhere(request: &Request) -> Self {
        Self::Nothing(format!("there is nothing at {}", request.path))
    }

    /// The answer's status and words.
    pub(super) fn told(&self) -> (u16, &str) {
        match self {
            Self::Nothing(why) => (404, why),
            Self::Wrong(why) | Self::Daemon(DaemonError::Refused(why)) => (400, why),
            Self::Daemon(DaemonError::Unavailable(why)) => (503, why),
        }
    }

    pub(super) fn title(&self) -> &'static str {
        match self {
            Self::Nothing(_) => "Not here",
            Self::Wrong(_) => "Not understood",
            Self::Daemon(DaemonError::Refused(_)) => "Refused",
            Self::Daemon(DaemonError::Unavailable(_)) => "No daemon",
        }
    }
}

/// The id in a path.
fn number(text: &str, request: &Request) -> Result<u64, Fault> {
    text.parse().map_err(|_no_number| Fault::nowhere(request))
}

/// The filter in an address.
fn filter(page: &Page, request: &Request) -> Result<Filter, Fault> {
    Filter::parse(&request.query, page.zone, SystemClock.now()).map_err(Fault::Wrong)
}
