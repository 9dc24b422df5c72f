//! `cargo bench --bench recall [-- FLAGS]`: an optimised build's `engram bench recall`.

use std::error::Error;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo itself passes `--bench`.
    let flags = std::env::args_os().skip(1).filter(|flag| flag != "--bench");
    Err(Command::new(env!("CARGO_BIN_EXE_engram"))
        .args(["bench", "recall"])
        .args(flags)
        .exec()
        .into())
}
