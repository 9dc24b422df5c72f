//! A daemon that runs out of file descriptors, of memory, or whose disk takes no writes: it says
//! so, nothing that was answered is lost, and it goes on once there is some again.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use engram::cli::client::{Client, ClientError};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use crate::running::{Running, flat, refusal_to_start, wait_for};

/// What a call came to: its reply, or why it was refused.
fn ask(client: &mut Client, tool: &str, arguments: Value) -> Result<Value, String> {
    let arguments = arguments.as_object().unwrap().clone();
    match client.call(tool, arguments) {
        Ok(reply) if reply.is_error => Err(reply.text),
        Ok(reply) => Ok(Value::Object(reply.structured)),
        Err(ClientError::Refused { message, .. }) => Err(message),
        Err(error) => Err(format!("gone: {error}")),
    }
}

/// One of the demo's frames, sent as bytes.
fn frame(n: usize) -> Value {
    let mut frame = flat().remove(n);
    let fields = frame.as_object_mut().unwrap();
    let path = fields.shift_remove("image_path").unwrap();
    let image = fs::read(path.as_str().unwrap()).unwrap();
    fields.insert("image".to_owned(), BASE64.encode(image).into());
    frame
}

fn limit(daemon: &Running, resource: Resource, current: Option<u64>) -> Rlimit {
    let pid = Pid::from_raw(daemon.process().cast_signed());
    // The daemon has this process's.
    let maximum = getrlimit(resource).maximum;
    prlimit(pid, resource, Rlimit { current, maximum }).unwrap()
}

/// Keeps notes and frames, and says which were answered and why others were not.
fn keep(client: &mut Client, words: &str, kept: &mut Vec<String>) -> Vec<String> {
    let mut refusals = Vec::new();
    for n in 0..6 {
        let text = format!("the {words} number {n} hangs in the hall");
        match ask(client, "memory_save", json!({"text": text})) {
            Ok(_) => kept.push(text),
            Err(reason) => refusals.push(reason),
        }
    }
    refusals
}

fn check(daemon: &Running, kept: &[String]) {
    for text in kept {
        let query: String = text.chars().take(400).collect();
        let found = daemon.ask("memory_load", json!({"query": query, "limit": 100}));
        let texts = found["memories"].as_array().unwrap().iter();
        assert_eq!(texts.filter(|it| it["text"] == text.as_str()).count(), 1, "{text:.80}");
    }
}

#[test]
fn without_file_descriptors_it_says_so_and_goes_on_when_there_are_some() {
    let daemon = Running::start();
    let mut client = daemon.client();
    let mut kept = Vec::new();
    assert_eq!(keep(&mut client, "key", &mut kept), Vec::<String>::new());
    let before = limit(&daemon, Resource::Nofile, Some(5));
    let refused = ask(&mut client, "observe", frame(0)).unwrap_err();
    assert!(refused.contains("Too many open files"), "{refused}");
    // Some are kept: not every write opens a file.
    for refused in keep(&mut client, "coat", &mut kept) {
        assert!(refused.contains("Too many open files"), "{refused}");
    }
    let health = ask(&mut client, "health", json!({})).unwrap();
    assert_eq!(health["status"], "degraded");
    assert!(health["problems"].to_string().contains("Too many open files"), "{health}");
    limit(&daemon, Resource::Nofile, before.current);
    // By itself, and for new clients as well.
    wait_for(|| ask(&mut client, "observe", frame(1)).is_ok());
    wait_for(|| keep(&mut daemon.client(), "hat", &mut kept).is_empty());
    check(&daemon, &kept);
    let daemon = Running::start_in(daemon.kill(), &[]);
    check(&daemon, &kept);
}

#[test]
fn without_memory_nothing_that_was_answered_is_lost() {
    let daemon = Running::start();
    let mut client = daemon.client();
    let mut kept = Vec::new();
    keep(&mut client, "key", &mut kept);
    let status = fs::read_to_string(format!("/proc/{}/statm", daemon.process())).unwrap();
    let pages: u64 = status.split(' ').next().unwrap().parse().unwrap();
    limit(&daemon, Resource::As, Some(pages * 4_096 + (2 << 20)));
    // It may answer, refuse or end: an allocation that fails ends a process.
    for n in 0..4 {
        let words = format!("coat {n} {}", "and a hat ".repeat(2_000));
        if !keep(&mut client, &words, &mut kept).is_empty() {
            break;
        }
        drop(ask(&mut client, "observe", frame(n)));
    }
    let daemon = Running::start_in(daemon.kill(), &[]);
    check(&daemon, &kept);
    assert_eq!(daemon.ask("health", json!({}))["status"], "ok");
}

fn run(program: &str, arguments: &[&str], at: &Path) -> bool {
    let ran = Command::new(program).args(arguments).arg(at).output();
    ran.is_ok_and(|it| it.status.success())
}

/// A state directory on a file system of its own, unmounted with this.
struct OwnDisk(PathBuf);

impl OwnDisk {
    /// In memory; `None`, which is said, where nobody may mount.
    fn in_memory(dir: &Path) -> Option<Self> {
        let state = dir.join("state");
        fs::create_dir(&state).unwrap();
        if !run("mount", &["-t", "tmpfs", "-o", "size=96m,mode=0700", "tmpfs"], &state) {
            // Written past the test harness, which swallows what a passing test prints.
            drop(writeln!(io::stderr(), "SKIPPED: only root may mount a file system"));
            return None;
        }
        Some(Self(state))
    }

    /// Of the file `disk` beside it, with ext4 in it.
    fn of_file(dir: &Path) -> Option<Self> {
        let (state, disk) = (dir.join("state"), dir.join("disk"));
        fs::create_dir(&state).unwrap();
        fs::File::create(&disk).unwrap().set_len(160 << 20).unwrap();
        let made = run("mkfs.ext4", &["-q", "-F"], &disk);
        let own = Self(state);
        if !made || !own.mount_file(&disk) {
            drop(writeln!(io::stderr(), "SKIPPED: there is no ext4 in a file here"));
            return None;
        }
        fs::remove_dir(own.0.join("lost+found")).unwrap();
        fs::set_permissions(&own.0, fs::Permissions::from_mode(0o700)).unwrap();
        Some(own)
    }

    fn mount_file(&self, disk: &Path) -> bool {
        let options = ["-o", "loop,errors=remount-ro", disk.to_str().unwrap()];
        run("mount", &options, &self.0)
    }

    fn remount(&self, how: &str) {
        assert!(run("mount", &["-o", &format!("remount,{how}")], &self.0), "{how}");
    }

    fn unmount(&self) {
        assert!(run("umount", &["-l"], &self.0));
    }
}

impl Drop for OwnDisk {
    fn drop(&mut self) {
        run("umount", &["-l"], &self.0);
    }
}

#[test]
fn a_read_only_file_system_refuses_the_start_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = OwnDisk::in_memory(dir.path()) else { return };
    let mut kept = Vec::new();
    let daemon = Running::start_in(dir, &[]);
    keep(&mut daemon.client(), "key", &mut kept);
    let (dir, status) = daemon.stop();
    assert!(status.success());
    disk.remount("ro");
    let refused = refusal_to_start(dir.path(), &[]);
    assert!(refused.contains("Read-only file system"), "{refused}");
    assert!(!refused.contains("damaged"), "{refused}");
    disk.remount("rw");
    let daemon = Running::start_in(dir, &[]);
    check(&daemon, &kept);
    drop(daemon);
}

#[test]
fn a_file_system_that_turns_read_only_refuses_writes_and_takes_them_when_mounted_anew() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = OwnDisk::of_file(dir.path()) else { return };
    let file = dir.path().join("disk");
    let anew = dir.path().join("disk.anew");
    let mut kept = Vec::new();
    let daemon = Running::start_in(dir, &[]);
    let mut client = daemon.client();
    assert_eq!(keep(&mut client, "key", &mut kept), Vec::<String>::new());
    ask(&mut client, "observe", frame(0)).unwrap();
    let item = json!({"kind": "record", "id": 1, "time": "2025-01-03T09:14:07Z",
        "end_time": "2025-01-03T09:14:07Z", "caption": "a mug", "source": "front"});
    let header = json!({"kind": "engram_export", "version": 1});
    let export = daemon.dir.path().join("export.jsonl");
    fs::write(&export, format!("{header}\n{item}\n")).unwrap();
    // What was under way at that moment fails in another way.
    let is_told =
        |it: &str| ["Read-only file system", "Input/output"].iter().any(|why| it.contains(why));
    // As ext4 does by itself where its disk fails: a plain remount is refused while files are open.
    disk.remount("abort");
    let agent = json!({"agent": "a", "memory": {"step": 1}});
    let others = [
        ask(&mut client, "observe", frame(1)),
        ask(&mut client, "observe", json!({"caption": "a red mug"})),
        ask(&mut client, "state_set", agent),
    ];
    let refusals = keep(&mut client, "coat", &mut kept);
    assert_eq!(refusals.len(), 6);
    let imported = daemon.engram(&["import", export.to_str().unwrap()]);
    let imported = String::from_utf8_lossy(&imported.stderr).into_owned();
    let others = others.into_iter().map(Result::unwrap_err);
    for refused in refusals.into_iter().chain(others).chain([imported]) {
        assert!(is_told(&refused), "{refused}");
        assert!(!refused.contains("fault"), "{refused}");
    }
    let health = ask(&mut client, "health", json!({})).unwrap();
    assert_eq!(health["status"], "degraded");
    assert!(is_told(&health["problems"].to_string()), "{health}");
    // Checked and mounted anew, under the feet of the daemon.
    disk.unmount();
    fs::copy(&file, &anew).unwrap();
    run("e2fsck", &["-fy"], &anew);
    assert!(disk.mount_file(&anew));
    wait_for(|| ask(&mut client, "state_set", json!({"memory": {"step": 2}})).is_ok());
    assert_eq!(keep(&mut client, "hat", &mut kept), Vec::<String>::new());
    wait_for(|| ask(&mut client, "observe", frame(2)).is_ok());
    check(&daemon, &kept);
    let daemon = Running::start_in(daemon.kill(), &[]);
    check(&daemon, &kept);
    assert_eq!(daemon.ask("health", json!({}))["problems"], json!([]));
    drop(daemon);
}

#[test]
fn a_full_disk_refuses_a_write_with_the_reason_and_takes_it_when_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = OwnDisk::in_memory(dir.path()) else { return };
    let mut kept = Vec::new();
    let daemon = Running::start_in(dir, &[]);
    let mut client = daemon.client();
    assert_eq!(keep(&mut client, "key", &mut kept), Vec::<String>::new());
    let ballast = disk.0.join("ballast");
    let mut file = fs::File::create(&ballast).unwrap();
    let some = vec![1; 1 << 16];
    while file.write_all(&some).is_ok() {}
    let refusals = keep(&mut client, "coat", &mut kept);
    assert!(!refusals.is_empty());
    let agent = json!({"agent": "a", "memory": {"step": 1}});
    let others = [ask(&mut client, "observe", frame(0)), ask(&mut client, "state_set", agent)];
    for refused in refusals.into_iter().chain(others.into_iter().filter_map(Result::err)) {
        assert!(refused.contains("disk"), "{refused}");
        assert!(!refused.contains("fault"), "{refused}");
    }
    drop(file);
    fs::remove_file(&ballast).unwrap();
    wait_for(|| keep(&mut client, "hat", &mut kept).is_empty());
    check(&daemon, &kept);
    drop(daemon);
}
