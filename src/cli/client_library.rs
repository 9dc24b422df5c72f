//! `engram client python`: writes out the client for those who call from their own program.
//!
//! It lies in this repository beside the command that writes it and in the binary itself, so that
//! the two always fit.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use crate::cli::output::say;

const PYTHON: &str = include_str!("client_library/engram.py");

#[derive(Debug, Subcommand)]
pub(super) enum ClientLibrary {
    /// One file, typed, for Python 3.10 and newer, with nothing but numpy for arrays
    Python(Flags),
}

#[derive(Debug, Args)]
pub(super) struct Flags {
    /// File to write, such as engram.py beside your program; standard output where absent
    file: Option<PathBuf>,
}

/// Writes the client.
pub(super) fn run(library: &ClientLibrary) -> anyhow::Result<ExitCode> {
    let ClientLibrary::Python(Flags { file }) = library;
    let text = PYTHON.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    match file {
        None => say(text.trim_end())?,
        Some(file) => {
            fs::write(file, text).with_context(|| format!("{} is not written", file.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
