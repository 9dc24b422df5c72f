//! The `engram` command: hands the command line to [`engram::cli`].

fn main() -> std::process::ExitCode {
    engram::cli::run(std::env::args_os())
}
