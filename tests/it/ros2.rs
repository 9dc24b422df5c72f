//! A robot's real nodes, over Fast DDS, Cyclone DDS and Zenoh, where `tests/sources/install_ros2.sh` could
//! install them and a network of its own can be made; elsewhere these tests say so and pass.
//! `tests/sources/ros2_gate.py` is also the long run.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use crate::sdk::root;

#[test]
fn what_a_robot_publishes_is_remembered_with_its_poses() {
    run("ros2_gate.py", &["--brief"]);
}

#[test]
fn raw_images_and_odometry_are_remembered_as_well() {
    run("ros2_gate.py", &["--brief", "--raw", "--no-tf"]);
}

#[cfg(feature = "zenoh")]
#[test]
fn what_a_robot_publishes_over_zenoh_is_remembered_as_well() {
    run("ros2_gate.py", &["--brief", "--zenoh"]);
}

#[test]
fn nodes_ask_the_memory_and_are_sent_off() {
    run("ros2_ask.py", &[]);
}

#[cfg(feature = "zenoh")]
#[test]
fn nodes_ask_the_memory_over_zenoh_and_are_sent_off() {
    run("ros2_ask.py", &["--zenoh"]);
}

/// A script of `tests/sources`, in a network of its own.
fn run(script: &str, flags: &[&str]) {
    let is_able = || {
        let mut command = Command::new("unshare");
        command.args(["-rn", "ip", "link"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !root().join("target/ros2/installed").exists() || !is_able() {
        // Written past the test harness, which swallows what a passing test prints.
        let line = "SKIPPED: no ROS 2 publishers (tests/sources/install_ros2.sh), or no unshare\n";
        io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let output = Command::new("unshare")
        .arg("-rn")
        .arg(root().join("target/ros2/venv/bin/python"))
        .arg(root().join("tests/sources").join(script))
        .arg(env!("CARGO_BIN_EXE_engram"))
        .args(flags)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
