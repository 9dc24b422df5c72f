//! Entries, their retention, their bounds and what a crash does to them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Barrier;

use super::*;
use crate::base::time::StandingClock;

const DAY: Duration = Duration::from_hours(24);

struct Log {
    dir: tempfile::TempDir,
    clock: Arc<StandingClock>,
}

impl Log {
    fn new() -> Self {
        let start = Timestamp::from_seconds(1_800_000_000.0).unwrap();
        Self { dir: tempfile::tempdir().unwrap(), clock: Arc::new(StandingClock::at(start)) }
    }

    fn options(&self) -> Options {
        Options::at(self.dir.path())
    }

    fn open(&self, options: Options) -> Audit {
        Audit::open(options, Arc::clone(&self.clock) as Arc<dyn Clock>).unwrap()
    }

    fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now().plus(time));
    }

    fn entries(&self) -> Vec<Map<String, Value>> {
        read(&self.dir.path().join("audit")).unwrap()
    }

    fn deeds(&self) -> Vec<(String, u64)> {
        let entry = |it: &Map<String, Value>| {
            (it["deed"].as_str().unwrap().to_owned(), it["count"].as_u64().unwrap())
        };
        self.entries().iter().map(entry).collect()
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.dir.path().join("audit")).unwrap();
        let mut names: Vec<String> =
            files.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn anna() -> Caller {
    let user = "anna".to_owned();
    Caller { uid: 1001, user, pid: Some(42), is_own: false, ..Caller::daemon() }
}

fn write(audit: &Audit, name: &str, urgency: Urgency) {
    audit.write(&Deed::done(&anna(), name, 1, vec!["#7".to_owned()]), urgency);
}

#[test]
fn an_entry_says_who_did_what_when() {
    let log = Log::new();
    let audit = log.open(log.options());
    let ids: Vec<String> = (0..IDS_MAX + 5).map(|id| id.to_string()).collect();
    let caller = anna();
    let deed = Deed::done(&caller, "memory_forget", 105, ids);
    let deed = Deed { outcome: Outcome::Failed, ..deed };
    audit.write(&deed, Urgency::OnDisk);
    let entries = log.entries();
    let entry = Value::Object(entries[0].clone());
    assert_eq!(entry["at"], "2027-01-15T08:00:00.000000Z");
    assert_eq!((entry["uid"].as_u64(), entry["pid"].as_u64()), (Some(1001), Some(42)));
    assert_eq!((&entry["user"], &entry["deed"]), (&"anna".into(), &"memory_forget".into()));
    assert_eq!((&entry["outcome"], &entry["count"]), (&"failed".into(), &105.into()));
    assert_eq!(entry["ids"].as_array().unwrap().len(), IDS_MAX);
    assert_eq!(entry["more_ids"], 5);
    let file = log.dir.path().join("audit").join(&log.names()[0]);
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let dir = fs::metadata(log.dir.path().join("audit")).unwrap();
    assert_eq!(dir.permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_comes_often_is_summed_up_by_the_minute() {
    let log = Log::new();
    let audit = log.open(log.options());
    for _ in 0..100 {
        write(&audit, "observe", Urgency::Summed);
    }
    assert_eq!(log.deeds(), [("observe".to_owned(), 1)]);
    log.pass(SUMMED_FOR);
    write(&audit, "memory_save", Urgency::Written);
    let deeds = [("observe", 1), ("observe", 99), ("memory_save", 1)];
    let deeds = deeds.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(log.deeds(), deeds);
    write(&audit, "observe", Urgency::Summed);
    write(&audit, "observe", Urgency::Summed);
    drop(audit);
    let counted: u64 = log.deeds().iter().filter(|it| it.0 == "observe").map(|it| it.1).sum();
    assert_eq!(counted, 102);
}

#[test]
fn entries_go_with_their_retention_and_a_day_at_a_time() {
    let log = Log::new();
    let options = Options { age_max: Some(DAY * 2), ..log.options() };
    let audit = log.open(options);
    for day in 0..5 {
        write(&audit, &format!("day {day}"), Urgency::Written);
        log.pass(DAY);
    }
    let kept = ["2027-01-17-0001.jsonl", "2027-01-18-0001.jsonl", "2027-01-19-0001.jsonl"];
    assert_eq!(log.names(), kept);
    drop(audit);
    log.pass(DAY * 9);
    fs::write(log.dir.path().join("audit/notes.txt"), "mine").unwrap();
    drop(log.open(Options { age_max: Some(DAY * 2), ..log.options() }));
    assert_eq!(log.names(), ["notes.txt"]);
}

#[test]
fn the_log_is_bounded() {
    let log = Log::new();
    let bytes_max = 8_000;
    let audit = log.open(Options { bytes_max, ..log.options() });
    for number in 0..500 {
        write(&audit, &format!("deed {number}"), Urgency::Written);
    }
    let dir = log.dir.path().join("audit");
    let sizes = log.names().into_iter().map(|it| fs::metadata(dir.join(it)).unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes <= bytes_max + bytes_max / 8, "{bytes}");
    let deeds = log.deeds();
    assert_eq!(deeds.last().unwrap().0, "deed 499");
    assert!(deeds.len() > 20, "{}", deeds.len());
}

#[test]
fn a_cut_line_costs_itself_alone() {
    let log = Log::new();
    let audit = log.open(log.options());
    write(&audit, "first", Urgency::Written);
    drop(audit);
    let file = log.dir.path().join("audit").join(&log.names()[0]);
    let mut cut = fs::read(&file).unwrap();
    cut.extend_from_slice(b"{\"at\":\"20");
    fs::write(&file, cut).unwrap();
    write(&log.open(log.options()), "second", Urgency::Written);
    let deeds: Vec<String> = log.deeds().into_iter().map(|it| it.0).collect();
    assert_eq!(deeds, ["first", "second"]);
}

#[test]
fn a_log_that_cannot_be_written_is_a_problem_until_it_can() {
    let log = Log::new();
    let audit = log.open(log.options());
    let dir = log.dir.path().join("audit");
    fs::remove_dir(&dir).unwrap();
    fs::write(&dir, "in its place").unwrap();
    write(&audit, "a", Urgency::Written);
    assert!(audit.problem().unwrap().contains("cannot be written"));
    fs::remove_file(&dir).unwrap();
    fs::create_dir(&dir).unwrap();
    write(&audit, "b", Urgency::Written);
    assert_eq!(audit.problem(), None);
    assert_eq!(log.deeds(), [("b".to_owned(), 1)]);
}

#[test]
fn calls_at_once_end_what_they_began() {
    let log = Log::new();
    let audit = log.open(log.options());
    let [first_began, both_began, first_ended] = [(); 3].map(|()| Barrier::new(2));
    let begin = |id: &str| audit.begin(&anna(), "memory_forget", vec![id.to_owned()]);
    let end = |id: &str| {
        let gone = vec![id.to_owned()];
        assert!(audit.end_own(Deed::done(&anna(), "memory_forget", 1, gone)));
    };
    thread::scope(|calls| {
        calls.spawn(|| {
            begin("#1");
            first_began.wait();
            both_began.wait();
            end("#1");
            first_ended.wait();
        });
        calls.spawn(|| {
            first_began.wait();
            begin("#2");
            both_began.wait();
            first_ended.wait();
            end("#2");
        });
    });
    let begun_of = |outcome: &str, id: &str| {
        let entries = log.entries();
        let found = entries.iter().find(|it| it["outcome"] == outcome && it["ids"][0] == id);
        receipts::begun(found.unwrap()).unwrap()
    };
    for id in ["#1", "#2"] {
        assert_eq!(begun_of("begun", id), begun_of("done", id), "{id}");
    }
    assert_ne!(begun_of("done", "#1"), begun_of("done", "#2"));
    // Nobody else's.
    assert!(!audit.end_own(Deed::done(&anna(), "memory_forget", 1, Vec::new())));
}

#[test]
fn an_entry_is_written_by_the_files_name_where_its_handle_is_dead() {
    let log = Log::new();
    let audit = log.open(log.options());
    write(&audit, "one", Urgency::OnDisk);
    // As when the file system was mounted anew: what is open leads nowhere.
    {
        let mut state = audit.lock();
        let dead = fs::File::open("/dev/null").unwrap();
        state.files.as_mut().unwrap().replace_handle(dead);
    }
    write(&audit, "two", Urgency::OnDisk);
    assert_eq!(audit.problem(), None);
    assert_eq!(log.deeds(), [("one".to_owned(), 1), ("two".to_owned(), 1)]);
}
