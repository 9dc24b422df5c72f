//! A page in a browser over what a daemon remembers.
//!
//! A process of its own: it asks a daemon through [`Daemon`] with the roles of whoever runs it
//! and keeps nothing on disk. Markup is made here, on the server, with everything escaped that
//! was stored ([`html`]); what little script there is only makes the same addresses quicker.
//! Every view is an address: the query holds all of it.
//!
//! A request's way: [`http`] reads it, [`guard`] says whether it comes from this page, a view
//! in [`views`] asks the daemon through [`memory`] and draws the answer.

#![expect(clippy::disallowed_types, reason = "the page's socket; the daemon has none")]

mod assets;
mod daemon;
mod filter;
mod guard;
pub(crate) mod html;
mod http;
mod layout;
mod memory;
mod occupancy;
mod request;
mod response;
mod thumbnails;
mod views;

use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use uuid::Uuid;

use crate::base::time::{Clock as _, SystemClock, Zone};
use crate::page::guard::{Guard, Refusal, TOKEN_FIELD};
use crate::page::html::html;
use crate::page::http::Site;
use crate::page::layout::{Tab, layout};
use crate::page::memory::Memory;
use crate::page::request::{Method, Request};
use crate::page::response::Response;
use crate::page::thumbnails::Thumbnails;

pub use daemon::{Call, Daemon, DaemonError, Reply, Resource};
pub use occupancy::{BadGrid, OccupancyGrid};

/// Where the page is served, and to whom.
#[derive(Debug, Clone)]
pub struct Options {
    pub listen: SocketAddr,
    /// Further names under which browsers reach it, with a port where it is another one.
    pub names: Vec<String>,
    /// Without one only this user of this machine gets an answer.
    pub token: Option<String>,
    /// Zone in which times are written and read.
    pub zone: Zone,
    /// Grids to lie under the maps.
    pub grids: Vec<OccupancyGrid>,
}

/// Errors of the page's start.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error(
        "{0} is not this machine's loopback address: who can reach it would have your roles; \
         accepted is a loopback address such as 127.0.0.1:7741, or any with --token-file"
    )]
    Exposed(SocketAddr),
    #[error("the token is shorter than {TOKEN_CHARS_MIN} characters")]
    ShortToken,
    #[error("nothing can listen at {address}")]
    Bind {
        address: SocketAddr,
        #[source]
        error: io::Error,
    },
    #[error("the page's socket failed")]
    Socket(#[source] io::Error),
}

/// Fewer could be tried one after the other.
const TOKEN_CHARS_MIN: usize = 16;

/// A page that is bound to its address and not yet served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
}

impl Server {
    /// Takes the address.
    pub fn bind(options: Options) -> Result<Self, PageError> {
        match &options.token {
            None if !options.listen.ip().is_loopback() => {
                return Err(PageError::Exposed(options.listen));
            }
            Some(token) if token.chars().count() < TOKEN_CHARS_MIN => {
                return Err(PageError::ShortToken);
            }
            _ => {}
        }
        let address = options.listen;
        let bound = TcpListener::bind(address).and_then(|it| Ok((it.local_addr()?, it)));
        let (address, listener) = bound.map_err(|error| PageError::Bind { address, error })?;
        Ok(Self { listener, address, options })
    }

    /// Where it listens: with the port that was given where none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers browsers until the socket fails.
    pub fn run(self, daemon: impl Daemon) -> Result<(), PageError> {
        let Self { listener, address, options } = self;
        let is_for_all_users = options.token.is_some();
        let page = Arc::new(Page::new(&options, address, Box::new(daemon)));
        expire_thumbnails(&page).map_err(PageError::Socket)?;
        http::serve(&listener, is_for_all_users, &page).map_err(PageError::Socket)
    }
}

/// Small pictures leave while nobody asks for any, too.
fn expire_thumbnails(page: &Arc<Page>) -> io::Result<()> {
    let page = Arc::downgrade(page);
    let work = move || {
        while let Some(page) = page.upgrade() {
            page.thumbnails.expire();
            drop(page);
            std::thread::sleep(Duration::from_secs(10));
        }
    };
    Builder::new().name("page-thumbnails".to_owned()).spawn(work).map(drop)
}

/// The page: answers one request after the other, from many threads.
struct Page {
    daemon: Box<dyn Daemon>,
    guard: Guard,
    thumbnails: Thumbnails,
    zone: Zone,
    grids: Vec<OccupancyGrid>,
}

impl Page {
    fn new(options: &Options, address: SocketAddr, daemon: Box<dyn Daemon>) -> Self {
        let token = options.token.as_deref();
        let secret = Uuid::new_v4().simple().to_string();
        let hosts = hosts(address, &options.names);
        let guard = Guard::new(hosts, token, secret, address.port());
        let Options { zone, grids, .. } = options;
        Self { daemon, guard, thumbnails: Thumbnails::default(), zone: *zone, grids: grids.clone() }
    }

    fn memory(&self) -> Memory<'_> {
        Memory::new(&*self.daemon)
    }

    fn answer(&self, request: &Request) -> Response {
        let path = request.path.as_str();
        if let Some(asset) = assets::find(path) {
            return asset;
        }
        if path == TOKEN_PATH && request.method == Method::Post {
            return self.take_token(request);
        }
        if let Err(refusal) = self.guard.check_token(request) {
            return refuse(&refusal);
        }
        if request.method == Method::Post
            && let Err(refusal) = self.guard.check_form(request)
        {
            return refuse(&refusal);
        }
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        views::answer(self, request, &segments).unwrap_or_else(|fault| {
            let (status, text) = fault.told();
            let is_part = layout::is_part(request);
            if is_part {
                return Response::html(status, html!("<p class=\"notice bad\">{}</p>", text));
            }
            let main = html!(
                "<div class=\"prose\"><h1>{}</h1><p class=\"notice bad\">{}</p></div>",
                fault.title(),
                text
            );
            Response::html(status, layout(Tab::None, fault.title(), &main))
        })
    }

    fn take_token(&self, request: &Request) -> Response {
        let given = request.form.get(TOKEN_FIELD).unwrap_or_default();
        match self.guard.admit(given) {
            Some(cookie) => {
                let mut response = Response::see("/");
                response.set("set-cookie", cookie);
                response
            }
            None => refuse(&Refusal::Token),
        }
    }
}

impl Site for Page {
    fn respond(&self, request: &Request) -> Response {
        let started = SystemClock.tick();
        let mut response = match self.guard.check_origin(request) {
            Ok(()) => self.answer(request),
            Err(refusal) => refuse(&refusal),
        };
        let millis = started.elapsed().as_secs_f64() * 1e3;
        response.set("server-timing", format!("page;dur={millis:.1}"));
        response
    }
}

const TOKEN_PATH: &str = "/token";

fn refuse(refusal: &Refusal) -> Response {
    let status = refusal.status();
    if *refusal != Refusal::Token {
        return Response::text(status, &refusal.to_string());
    }
    let form = html!(
        "<div class=\"prose\"><h1>Token</h1><p>Whoever runs this page has set one: it stands in \
         the file of <code>--token-file</code>.</p>\
         <form method=\"post\" action=\"{}\" class=\"row\">\
         <label>Token <input type=\"password\" name=\"{}\" autocomplete=\"current-password\" \
         required></label><button>Open</button></form></div>",
        TOKEN_PATH,
        TOKEN_FIELD
    );
    let mut response = Response::html(status, layout(Tab::None, "Token", &form));
    response.set("www-authenticate", "Bearer".to_owned());
    response
}

/// What browsers call this page in `Host`.
fn hosts(address: SocketAddr, names: &[String]) -> Vec<String> {
    let port = address.port();
    let mut hosts = vec![address.to_string()];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        let loopback: [IpAddr; 2] = [[127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into()];
        hosts.extend(loopback.map(|ip| SocketAddr::new(ip, port).to_string()));
        hosts.push(format!("localhost:{port}"));
    }
    let has_port = |name: &str| {
        let port = name.rsplit_once(':').map(|(_, port)| port);
        port.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let named = names.iter().flat_map(|name| {
        if has_port(name) {
            vec![name.clone()]
        } else if port == 80 {
            vec![name.clone(), format!("{name}:{port}")]
        } else {
            vec![format!("{name}:{port}")]
        }
    });
    hosts.extend(named);
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_answers_to_the_names_that_lead_to_it() {
        let names = ["robot.local".to_owned(), "robot.lan:8080".to_owned()];
        let of = |address: &str| hosts(address.parse().unwrap(), &names);
        let own = ["127.0.0.1:7741", "[::1]:7741", "localhost:7741"];
        for address in ["127.0.0.1:7741", "0.0.0.0:7741"] {
            let found = of(address);
            assert!(own.iter().all(|it| found.contains(&(*it).to_owned())), "{found:?}");
        }
        let found = of("10.0.0.5:80");
        assert_eq!(found, ["10.0.0.5:80", "robot.local", "robot.local:80", "robot.lan:8080"]);
    }
}
