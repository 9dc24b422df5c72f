//! A writer in a process of its own, killed while it writes, and observations for it.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use engram::base::embedding::Embedding;
use engram::language::caption::ParsedCaption;
use engram::store::NewObservation;

/// How the writer is started and when it is killed.
pub(crate) struct KilledWriter<'a> {
    /// The test that writes where it finds the variable; it prints `ACK` and what is on disk.
    pub(crate) test: &'static str,
    /// Environment variable of the directory.
    pub(crate) variable: &'static str,
    pub(crate) dir: &'a Path,
    /// Acknowledgements before it is killed, and the longest random wait after them.
    pub(crate) acknowledgements: u32,
    pub(crate) delay_max: Duration,
}

impl KilledWriter<'_> {
    /// Starts the writer, kills it, and passes on each acknowledgement.
    pub(crate) fn run(&self, mut note: impl FnMut(&str)) {
        let Self { test, variable, dir, acknowledgements, delay_max } = self;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(variable, dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut note_next = || {
            let mut line = String::new();
            let read = lines.read_line(&mut line).unwrap();
            // The last line may be cut short: what it says was not acknowledged.
            if let Some((_, said)) = line.split_once("ACK ").filter(|_| line.ends_with('\n')) {
                note(said);
                return Some(true);
            }
            (read > 0).then_some(false)
        };
        let mut acknowledged = 0;
        while acknowledged < *acknowledgements {
            acknowledged += u32::from(note_next().unwrap());
        }
        let micros = u64::try_from(delay_max.as_micros()).unwrap();
        thread::sleep(Duration::from_micros(RandomState::new().hash_one(0) % micros));
        child.kill().unwrap();
        while note_next().is_some() {}
        assert!(!child.wait().unwrap().success(), "the writer ended by itself");
    }
}

/// Observations with what the rules read in their captions.
pub(crate) fn parse(
    observations: &[(NewObservation, Embedding)],
) -> Vec<(NewObservation, ParsedCaption, Embedding)> {
    let read = |(observation, vector): &(NewObservation, Embedding)| {
        let parsed = ParsedCaption::by_rules(&observation.caption);
        (observation.clone(), parsed, vector.clone())
    };
    observations.iter().map(read).collect()
}
