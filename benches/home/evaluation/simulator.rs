//! Runs the simulator of households, a Python program beside the sources; knows
//! nothing of what it writes.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

/// What to simulate, as the simulator's flags have it.
#[derive(Debug)]
pub(super) struct Simulation<'a> {
    pub(super) python: &'a Path,
    /// Holds `simulate.py`.
    pub(super) dir: &'a Path,
    pub(super) seed: u64,
    pub(super) days: u32,
    pub(super) tasks: u32,
    pub(super) extra: u32,
    pub(super) wordings: &'a str,
    pub(super) images: bool,
}

const PROGRAM: &str = "simulate.py";
/// Lines of its errors that are shown: the last ones say what went wrong.
const COMPLAINT_LINES: usize = 4;

impl Simulation<'_> {
    /// Leaves a household in `out`, or says what is missing and how to get it.
    pub(super) fn run(&self, out: &Path) -> anyhow::Result<()> {
        let Self { python, dir, seed, days, tasks, extra, wordings, images } = self;
        ensure!(
            dir.join(PROGRAM).is_file(),
            "the simulator {PROGRAM} is not in {}; --simulator names benches/home of a checkout, \
             --home a household that is simulated already",
            dir.display()
        );
        let mut command = Command::new(python);
        // Nothing is left in the sources.
        command.arg("-B").arg(dir.join(PROGRAM)).arg("--out").arg(out);
        command.args(["--seed", &seed.to_string(), "--days", &days.to_string()]);
        command.args(["--tasks", &tasks.to_string(), "--extra", &extra.to_string()]);
        command.args(["--wordings", wordings]);
        if *images {
            command.arg("--images");
        }
        let output = command.stdin(Stdio::null()).output().with_context(|| {
            format!(
                "{} cannot be started; --python names a Python 3.11 or newer, --home a household \
                 that is simulated already",
                python.display()
            )
        })?;
        if output.status.success() {
            return Ok(());
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("ModuleNotFoundError") {
            bail!(
                "{}; install what the simulator needs with\n  {} -m pip install -r {}",
                last_lines(&errors, 1),
                python.display(),
                dir.join("requirements.txt").display()
            );
        }
        bail!("the simulator failed ({}):\n{}", output.status, last_lines(&errors, COMPLAINT_LINES))
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/home");

    /// What a Python that writes `complaint` and fails makes of a simulation.
    fn complaint_of(complaint: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let python = dir.path().join("python");
        fs::write(&python, format!("#!/bin/sh\necho \"{complaint}\" >&2\nexit 1\n")).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let simulation = Simulation {
            python: &python,
            dir: Path::new(HERE),
            seed: 1,
            days: 1,
            tasks: 1,
            extra: 1,
            wordings: "dev",
            images: false,
        };
        format!("{:#}", simulation.run(dir.path()).unwrap_err())
    }

    #[test]
    fn what_is_missing_is_named_with_the_command_that_installs_it() {
        let text = complaint_of("Traceback\nModuleNotFoundError: No module named 'cv2'");
        assert!(text.contains("No module named 'cv2'"), "{text}");
        assert!(text.contains(&format!("-m pip install -r {HERE}/requirements.txt")), "{text}");
        let text = complaint_of("one\ntwo\nthree\nfour\n--seed is x; accepted is a number");
        assert!(text.contains("--seed is x") && !text.contains("one"), "{text}");
    }

    #[test]
    fn a_python_or_a_simulator_that_is_not_there_is_said_with_the_flag_that_names_one() {
        let simulation = Simulation {
            python: Path::new("/nowhere/python"),
            dir: Path::new(HERE),
            seed: 1,
            days: 1,
            tasks: 1,
            extra: 1,
            wordings: "dev",
            images: false,
        };
        let error = simulation.run(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/python") && error.contains("--python"), "{error}");
        let simulation = Simulation { dir: Path::new("/nowhere"), ..simulation };
        let error = simulation.run(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains("/nowhere") && error.contains("--simulator"), "{error}");
    }
}
