//! `engram manual` and `engram completions`: what an installation has beside the program, made
//! of the command line itself.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;

#[derive(Debug, Args)]
pub(super) struct ManualFlags {
    /// Where to, a page for each command
    dir: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct CompletionFlags {
    /// For which shell
    shell: Shell,
}

pub(super) fn manual(flags: &ManualFlags) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&flags.dir)?;
    clap_mangen::generate_to(Cli::command(), &flags.dir)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn completions(flags: &CompletionFlags) -> ExitCode {
    clap_complete::generate(flags.shell, &mut Cli::command(), "engram", &mut io::stdout());
    ExitCode::SUCCESS
}
