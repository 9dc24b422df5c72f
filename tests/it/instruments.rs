//! What is asked for without its name: by what somebody did with it, and by where it lay.

use serde_json::json;

use crate::running::Running;

fn observe(daemon: &Running, time: &str, caption: &str, x: f64) {
    let seen = json!({
        "caption": caption, "time": format!("2025-01-03 {time}:00"),
        "position": [x, 0.0, 0.0], "frame_id": "map",
    });
    daemon.ask("observe", seen);
}

#[test]
fn what_a_deed_was_done_with_is_searched_for_by_the_deed() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (time, caption, x) in [
        ("10:00", "The father is repairing the drawer of a desk with an electric drill.", 1.0),
        ("11:00", "The mother is listening to a portable radio. A lamp stands beside her.", 9.0),
        ("12:00", "A cordless electric drill lies on a shelf.", 5.0),
    ] {
        observe(&daemon, time, caption, x);
    }
    for (task, x) in [
        ("bring me what dad was fixing the drawer with", 5.0),
        ("bring me what mum was listening to", 9.0),
    ] {
        let now = "2025-01-03 13:00:00";
        let reply = daemon.ask("retrieve_object", json!({"task": task, "now": now}));
        assert_eq!(reply["goals"][0]["position"][0], json!(x), "{task}: {reply:#}");
    }
}

#[test]
fn what_lay_there_last_goes_by_time_and_not_by_when_it_was_told() {
    let daemon = Running::start_in(tempfile::tempdir().unwrap(), &[]);
    for (time, caption, x) in [
        ("12:00", "A violin lies on the sofa.", 1.0),
        ("10:00", "A harmonica lies on the sofa.", 5.0),
    ] {
        observe(&daemon, time, caption, x);
    }
    let task = json!({"task": "bring me what I left on the sofa", "now": "2025-01-03 13:00:00"});
    let reply = daemon.ask("retrieve_object", task);
    assert_eq!(reply["goals"][0]["position"][0], json!(1.0), "{reply:#}");
}
