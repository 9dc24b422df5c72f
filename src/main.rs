//! The `engram` command: carries the command line to [`engram::cli`].

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
