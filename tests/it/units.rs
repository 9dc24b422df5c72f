//! The units of systemd as they are shipped.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

/// In tenths, as the tool takes it.
const EXPOSURE_MAX: &str = "15";

#[test]
fn the_service_is_exposed_to_little() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/systemd/engram.service");
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE_MAX]);
    let Ok(output) = analyze.arg(&unit).output() else {
        // Written past the test harness, which swallows what a passing test prints.
        drop(writeln!(io::stderr(), "SKIPPED: there is no systemd-analyze"));
        return;
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("Overall exposure level for engram.service"), "{shown}");
    assert!(output.status.success(), "{shown}");
}
