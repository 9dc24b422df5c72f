//! `cargo bench --bench home [-- FLAGS]`: how often the right thing is found in a
//! simulated household. README.md beside this file tells how it is judged.

#![expect(clippy::print_stderr, reason = "the program's last word")]
#![cfg_attr(
    test,
    expect(dead_code, unused_imports, reason = "tests/it runs the tests; here none has a harness")
)]

mod evaluation;

use std::env;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use engram::cli::interrupt::Interrupt;

fn main() -> ExitCode {
    // Cargo itself passes `--bench`.
    let flags = env::args_os().filter(|flag| flag != "--bench");
    match run(&evaluation::Flags::parse_from(flags)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("home: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &evaluation::Flags) -> anyhow::Result<()> {
    let program = Path::new(env!("CARGO_BIN_EXE_engram"));
    let interrupt = Interrupt::watch()?;
    let figures = evaluation::evaluate(flags, program, &tempfile::env::temp_dir(), &interrupt)?;
    writeln!(io::stdout(), "{figures}")?;
    Ok(())
}
