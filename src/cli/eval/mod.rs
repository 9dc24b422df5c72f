//! `engram eval`: how often this program is right, judged by what it cannot see;
//! each file here is one judgement or a part of one.

mod answer;
mod baselines;
mod captions;
mod figures;
mod gold;
mod home;
mod household;
mod loss;
mod memory;
mod report;
mod simulator;
mod slips;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Common;

/// What can be judged.
#[derive(Debug, Subcommand)]
pub(super) enum Eval {
    /// Asks for things in a simulated household and counts how often the right one is found
    Home(home::Flags),
}

pub(super) fn run(eval: &Eval, common: &Common) -> anyhow::Result<ExitCode> {
    match eval {
        Eval::Home(flags) => home::run(flags, common),
    }
}
