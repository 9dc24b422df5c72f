//! `engram frame`: the frame of a record, as a file.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::cli::client::{Client, ClientOptions, ResourceContents};
use crate::cli::output::say;
use crate::cli::whole_file::{self, Taken};

/// Which frame, and where it goes.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// Id of the record
    id: u64,
    /// File to write, or - for standard output; as it was kept, JPEG, PNG or WebP
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A JPEG whose longer edge has at most so many pixels, from 16 to 4096
    #[arg(long, value_name = "PIXELS")]
    max_edge: Option<u32>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

/// Writes the file as a whole or not at all.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let Flags { id, output, max_edge, force } = flags;
    let is_piped = output.as_os_str() == "-";
    if is_piped && io::stdout().is_terminal() {
        anyhow::bail!("a picture is no text for a terminal; name a file: -o FILE");
    }
    let query = max_edge.map_or_else(String::new, |edge| format!("?max_edge={edge}"));
    let uri = format!("engram://frames/{id}{query}");
    let mut client = Client::connect(socket, options)?;
    let ResourceContents { mime, bytes } = client
        .read_resource(&uri)?
        .with_context(|| format!("record #{id} has no frame, or there is no such record"))?;
    if is_piped {
        io::stdout().lock().write_all(&bytes)?;
        return Ok(ExitCode::SUCCESS);
    }
    let taken = if *force { Taken::Replaced } else { Taken::Refused };
    whole_file::write(output, &bytes, taken)
        .with_context(|| format!("cannot write {}", output.display()))?;
    let output = output.display();
    say(&format!("{output}: {mime}, {} bytes", bytes.len()))?;
    Ok(ExitCode::SUCCESS)
}
