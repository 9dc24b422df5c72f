//! A socket that a service manager hands over, as `sd_listen_fds(3)` says.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::running::{serve, socket, wait_for};

/// Binds the socket named first as descriptor 3 and becomes the program, as systemd does.
const MANAGER: &str = "
import os, socket, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen(8)
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
os.environ['LISTEN_FDS'] = '1'
os.environ['LISTEN_PID'] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
";

/// `engram serve` in `dir`, with a socket at `handed_over`; `None` without Python.
fn serve_handing_over(dir: &Path, handed_over: &Path) -> Option<Command> {
    let Ok(python) = Command::new("python3").arg("--version").output() else {
        // Written past the test harness, which swallows what a passing test prints.
        drop(writeln!(io::stderr(), "SKIPPED: there is no python3"));
        return None;
    };
    assert!(python.status.success());
    let daemon = serve(dir, &[]);
    let mut manager = Command::new("python3");
    manager.arg("-c").arg(MANAGER).arg(handed_over).arg(daemon.get_program());
    manager.args(daemon.get_args()).stdin(Stdio::null()).stderr(Stdio::piped());
    Some(manager)
}

fn end(mut daemon: Child) {
    kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn clients_that_connect_before_the_daemon_is_ready_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let path = socket(dir.path());
    let Some(mut manager) = serve_handing_over(dir.path(), &path) else { return };
    let daemon = manager.spawn().unwrap();
    // The kernel takes them as soon as there is the socket.
    wait_for(|| UnixStream::connect(&path).is_ok());
    let mut early = UnixStream::connect(&path).unwrap();
    writeln!(early, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    let mut answer = String::new();
    BufReader::new(&early).read_line(&mut answer).unwrap();
    assert!(answer.contains(r#""id":1"#), "{answer}");
    end(daemon);
    assert!(path.exists(), "the socket is the manager's, and outlives the daemon");
}

#[test]
fn a_socket_at_another_place_is_refused_by_both_names() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other.sock");
    let Some(mut manager) = serve_handing_over(dir.path(), &other) else { return };
    let refused = manager.output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success());
    assert!(said.contains("other.sock") && said.contains("engram.sock"), "{said}");
    assert!(fs::exists(&other).unwrap());
}
