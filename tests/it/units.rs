//! The units of systemd as they are shipped.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

fn unit(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/systemd").join(name)
}

fn skipped() {
    // Written past the test harness, which swallows what a passing test prints.
    drop(writeln!(io::stderr(), "SKIPPED: there is no systemd-analyze"));
}

#[test]
fn the_services_are_exposed_to_little() {
    // In tenths, as the tool takes it; a camera has network and devices.
    let services = [
        ("engram.service", "15"),
        ("engram-backup.service", "15"),
        ("engram-camera@.service", "20"),
    ];
    for (name, exposure_max) in services {
        let mut analyze = Command::new("systemd-analyze");
        analyze.args(["security", "--offline=true", "--no-pager", "--threshold", exposure_max]);
        let Ok(output) = analyze.arg(unit(name)).output() else { return skipped() };
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("Overall exposure level for engram"), "{shown}");
        assert!(output.status.success(), "{shown}");
    }
}

#[test]
fn the_timers_time_is_one() {
    let timer = std::fs::read_to_string(unit("engram-backup.timer")).unwrap();
    let time = timer.lines().find_map(|line| line.strip_prefix("OnCalendar=")).unwrap();
    let mut analyze = Command::new("systemd-analyze");
    let Ok(output) = analyze.args(["calendar", "--iterations=2", time]).output() else {
        return skipped();
    };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("03:30:00"), "{shown}");
}

/// It would fail for ever in the same way.
#[test]
fn the_service_is_not_started_anew_where_what_it_is_told_is_wrong() {
    let service = std::fs::read_to_string(unit("engram.service")).unwrap();
    let codes = service.lines().find_map(|it| it.strip_prefix("RestartPreventExitStatus="));
    let codes: Vec<&str> = codes.unwrap().split(' ').collect();
    for told in [&["--set", "store.cash_mb=1"][..], &["--config", "/nowhere.toml"], &["--colour"]] {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_engram"));
        let output = serve.arg("serve").args(told).output().unwrap();
        let code = output.status.code().unwrap().to_string();
        assert!(codes.contains(&code.as_str()), "{told:?}: {code}, {output:?}");
    }
}
