//! `engram metrics`: the daemon's numbers as Prometheus reads them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::cli::client::{Client, ClientError, ClientOptions};
use crate::cli::output::say;
use crate::cli::whole_file::{self, Taken};
use crate::tools::metrics::URI;

/// Where the numbers go.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// File to write, as a whole: of the node exporter's textfile collector, one that ends in
    /// .prom
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Prints or writes the numbers. Where no daemon runs that is what they say, and the command
/// fails.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let scraped = scrape(socket, options);
    let text = match &scraped {
        Ok(text) => text.clone(),
        Err(_) => up(false),
    };
    match &flags.output {
        Some(path) => whole_file::write(path, text.as_bytes(), Taken::Replaced)
            .with_context(|| format!("cannot write {}", path.display()))?,
        None => say(text.trim_end())?,
    }
    scraped?;
    Ok(ExitCode::SUCCESS)
}

/// All numbers, and that there are some.
pub(crate) fn scrape(socket: &Path, options: ClientOptions) -> Result<String, ClientError> {
    let contents = Client::connect(socket, options)?.read_resource(URI)?;
    let text = contents.map(|it| it.bytes).unwrap_or_default();
    Ok(format!("{}{}", up(true), String::from_utf8_lossy(&text)))
}

fn up(is_up: bool) -> String {
    let value = u8::from(is_up);
    format!(
        "# HELP engram_up Whether the daemon answers.\n# TYPE engram_up gauge\nengram_up {value}\n"
    )
}
