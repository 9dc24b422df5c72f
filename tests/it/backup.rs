//! Backups of a running daemon by the command, and what comes back of them: under load, beside
//! kills, and for who may not make one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;

use engram::base::stop::Stop;
use serde_json::{Value, json};

use crate::running::{Running, engram, flat, refusal_to_start, wait_for};

/// Ends writers also where the test fails.
struct Ends<'a>(&'a Stop);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.ask();
    }
}

fn shown(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    texts.join("\n")
}

fn back_up(daemon: &Running, to: &Path) -> String {
    let output = daemon.engram(&["backup", to.to_str().unwrap()]);
    assert!(output.status.success(), "{}", shown(&output));
    shown(&output)
}

/// `engram restore` into the state directory of `dir`.
fn restore(from: &Path, dir: &Path, flags: &[&str]) -> Output {
    let state = dir.join("state");
    let flags =
        [&["restore", from.to_str().unwrap(), "--state-dir", state.to_str().unwrap()], flags];
    engram(&dir.join("engram.sock"), &flags.concat())
}

/// A daemon over what is restored.
fn restored(from: &Path) -> Running {
    let dir = tempfile::tempdir().unwrap();
    let output = restore(from, dir.path(), &[]);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("and whole"), "{}", shown(&output));
    Running::start_in(dir, &[])
}

/// An observation with an image and a caption of its own, from a place of its own.
fn observation(n: usize) -> Value {
    let frames = flat();
    let mut observation = frames[n % frames.len()].clone();
    let fields = observation.as_object_mut().unwrap();
    fields.retain(|name, _| name == "image_path");
    fields.insert("caption".to_owned(), json!(format!("a mug numbered {n} on a desk")));
    fields.insert("source".to_owned(), json!(format!("camera {n}")));
    observation
}

fn note(n: usize) -> Value {
    json!({"text": format!("The parcel numbered {n} is in the hall"), "area": "parcels"})
}

fn state(n: usize) -> Value {
    json!({"agent": format!("agent {n}"), "memory": {"parcels": n}})
}

/// What a client stores, each acknowledged when this returns; in a session of its own.
fn store(daemon: &Running, n: usize) {
    daemon.ask("observe", observation(n));
    daemon.ask("memory_save", note(n));
    daemon.ask("state_set", state(n));
    daemon.ask("memo_add", json!({"user_message": format!("What of {n}?"), "message": format!("<reasoning>Answer {n} was liked</reasoning>")}));
    let session = format!("session {n}");
    daemon.ask("start_task", json!({"task": format!("bring parcel {n}"), "session": session}));
}

/// Asserts that everything of client `n` is there, as it was acknowledged.
fn assert_stored(daemon: &Running, n: usize) {
    let query = json!({"query": format!("mug numbered {n}"), "k": 50});
    let found = daemon.ask("recall_best_match", query);
    let caption = format!("a mug numbered {n} on a desk");
    let records = found["records"].as_array().unwrap();
    let record = records.iter().find(|it| it["caption"] == json!(caption));
    let id = record.unwrap_or_else(|| panic!("{caption}: {found}"))["id"].clone();
    let inspected = daemon.call("inspect_memory_record", json!({"record_ids": [id]}));
    let path = observation(n)["image_path"].as_str().unwrap().to_owned();
    assert_eq!(inspected.images[0].bytes, fs::read(path).unwrap());
    let notes =
        daemon.ask("memory_load", json!({"query": format!("parcel numbered {n}"), "limit": 50}));
    assert!(notes.to_string().contains(note(n)["text"].as_str().unwrap()), "{notes}");
    let kept = daemon.ask("state_get", json!({"agent": format!("agent {n}")}));
    assert_eq!(kept["memory"], json!({"parcels": n}));
    let memos = daemon.ask("memo_list", json!({"limit": 100}));
    assert!(memos.to_string().contains(&format!("Answer {n} was liked")), "{memos}");
}

fn assert_well(daemon: &Running) {
    let health = daemon.ask("health", json!({}));
    assert_eq!(health["problems"], json!([]));
}

/// Clients' worth of things that are stored before a backup begins.
const BEFORE: usize = 8;

#[test]
fn what_was_acknowledged_before_a_backup_is_in_it_while_clients_write() {
    let daemon = Running::start();
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("backup");
    (0..BEFORE).for_each(|n| store(&daemon, n));
    let stop = Stop::default();
    let acknowledged = Mutex::new(Vec::new());
    let before_last = thread::scope(|scope| {
        for client in 1..=3 {
            let (daemon, stop, acknowledged) = (&daemon, &stop, &acknowledged);
            scope.spawn(move || {
                // Few enough for one list of all.
                let own = client * 1_000..client * 1_000 + 25;
                for n in own.take_while(|_| !stop.is_asked()) {
                    store(daemon, n);
                    acknowledged.lock().unwrap().push(n);
                }
            });
        }
        let _ends = Ends(&stop);
        back_up(&daemon, &to);
        wait_for(|| acknowledged.lock().unwrap().len() > 6);
        let before_last = acknowledged.lock().unwrap().clone();
        let second = back_up(&daemon, &to);
        assert!(second.contains("all of it was read back"), "{second}");
        before_last
    });
    let _gone = daemon.kill();
    let checked = restore(&to, place.path(), &["--check"]);
    assert!(shown(&checked).contains("is whole"), "{}", shown(&checked));
    let daemon = restored(&to);
    (0..BEFORE).chain(before_last).for_each(|n| assert_stored(&daemon, n));
    assert_well(&daemon);
    // It goes on, and its backups too.
    store(&daemon, 9_000);
    back_up(&daemon, &to);
    assert_stored(&restored(&to), 9_000);
}

#[test]
fn kills_of_command_and_daemon_leave_the_backup_before_them() {
    let mut daemon = Running::start();
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("backup");
    (0..6).for_each(|n| store(&daemon, n));
    back_up(&daemon, &to);
    let mut killed = 0;
    for round in 0..4 {
        (0..6).for_each(|n| store(&daemon, 100 + round * 10 + n));
        let before = files_in(&to);
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.arg("backup").arg(&to).arg("--socket").arg(daemon.socket());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // As soon as it has written something.
        wait_for(|| files_in(&to) != before || child.try_wait().unwrap().is_some());
        if round % 2 == 0 {
            drop(child.kill());
            child.wait().unwrap();
        } else {
            let dir = daemon.kill();
            child.wait().unwrap();
            daemon = Running::start_in(dir, &[]);
        }
        killed += 1;
        let checked = restore(&to, place.path(), &["--check"]);
        assert!(checked.status.success(), "{}", shown(&checked));
    }
    assert_eq!(killed, 4);
    (0..6).for_each(|n| assert_stored(&restored(&to), n));
    back_up(&daemon, &to);
    let daemon = restored(&to);
    (0..6).for_each(|n| assert_stored(&daemon, 130 + n));
    assert_well(&daemon);
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        files.extend(files_in(&path));
        files.push(path);
    }
    files.sort();
    files
}

#[test]
fn a_daemon_that_does_not_run_is_backed_up_from_its_directory() {
    let daemon = Running::start();
    store(&daemon, 1);
    let socket = daemon.socket();
    let (dir, _) = daemon.stop();
    let (state, to) = (dir.path().join("state"), dir.path().join("backup"));
    let run = |to: &Path, state: &Path| {
        let flags = ["backup", to.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
        engram(&socket, &flags)
    };
    let inside = run(&state.join("backups/nightly"), &state);
    assert!(shown(&inside).contains("lies in the state directory"), "{}", shown(&inside));
    let missing = run(&to, &dir.path().join("nowhere"));
    assert!(shown(&missing).contains("there is no store yet"), "{}", shown(&missing));
    assert!(!dir.path().join("nowhere").exists() && !to.exists());
    let output = run(&to, &state);
    assert!(output.status.success(), "{}", shown(&output));
    assert_stored(&restored(&to), 1);
    let listed = restore(&to, dir.path(), &["--list"]);
    assert!(shown(&listed).contains("1 records, 1 notes"), "{}", shown(&listed));
    let over = restore(&to, dir.path(), &[]);
    assert!(shown(&over).contains("there is something already"), "{}", shown(&over));
    // The doctor knows of it.
    let doctor = engram(&socket, &["doctor", "--state-dir", state.to_str().unwrap()]);
    let shown = shown(&doctor);
    assert!(shown.contains(&format!("ago, to {}", to.display())), "{shown}");
    assert!(shown.lines().any(|it| it.starts_with("ok  index")), "{shown}");
}

#[test]
fn a_restore_that_was_cut_short_keeps_the_daemon_out() {
    let daemon = Running::start();
    store(&daemon, 1);
    let to = daemon.dir.path().join("backup");
    back_up(&daemon, &to);
    let half = tempfile::tempdir().unwrap();
    fs::create_dir_all(half.path().join("state/frames")).unwrap();
    fs::write(half.path().join("state/restoring"), "").unwrap();
    let refused = refusal_to_start(half.path(), &[]);
    assert!(refused.contains("restore into this directory was cut short"), "{refused}");
    fs::remove_dir_all(half.path().join("state/audit")).unwrap();
    let output = restore(&to, half.path(), &[]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_stored(&Running::start_in(half, &[]), 1);
}

#[test]
fn only_who_looks_after_the_daemon_backs_it_up() {
    const STRANGER: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let to = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(to.path(), Some(STRANGER), Some(STRANGER)).unwrap();
    let try_with = |dir, role: &str| {
        let flags = ["--set", "socket.mode=0666", "--set", role];
        let daemon = Running::start_in(dir, &flags);
        store(&daemon, 1);
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.uid(STRANGER).gid(STRANGER).current_dir("/").env("HOME", "/");
        let command = command.arg("backup").arg(to.path()).arg("--socket").arg(daemon.socket());
        let output = command.output().ok();
        let entries = engram::audit::read(&daemon.dir.path().join("state/audit")).unwrap();
        let deeds = entries.iter().filter(|it| it["deed"] == "backup");
        let outcomes: Vec<String> = deeds.map(|it| it["outcome"].to_string()).collect();
        let _gone = daemon.stop();
        output.map(|it| (it, outcomes))
    };
    let other = tempfile::tempdir().unwrap();
    fs::set_permissions(other.path(), Permissions::from_mode(0o755)).unwrap();
    let Some((output, outcomes)) = try_with(dir, "access.read=65534") else { return };
    assert!(!output.status.success());
    assert!(shown(&output).contains("backup needs the role admin"), "{}", shown(&output));
    assert_eq!(outcomes, ["\"refused\""]);
    assert_eq!(files_in(to.path()), Vec::<PathBuf>::new());
    let (output, outcomes) = try_with(other, "access.admin=65534").unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(outcomes, ["\"done\""]);
    assert!(to.path().join("contents").exists());
}

#[test]
fn two_backups_at_once_do_not_mix() {
    let daemon = Running::start();
    (0..3).for_each(|n| store(&daemon, n));
    let place = tempfile::tempdir().unwrap();
    let start = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        let command = command.arg("backup").arg(place.path().join(name));
        let command = command.arg("--socket").arg(daemon.socket());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start("a"), start("b")].map(|it| it.wait_with_output().unwrap());
    let done = both.iter().filter(|it| it.status.success()).count();
    assert!(done >= 1);
    for refused in both.iter().filter(|it| !it.status.success()) {
        assert!(shown(refused).contains("another backup is under way"), "{}", shown(refused));
    }
    back_up(&daemon, &place.path().join("a"));
    let checked = restore(&place.path().join("a"), place.path(), &["--check"]);
    assert!(checked.status.success(), "{}", shown(&checked));
}
