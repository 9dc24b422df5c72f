//! What the daemon takes of the machine's memory once its models have been used.

use serde_json::json;

use crate::running::Running;

/// Of the unoptimised program, a third of which is its own text: 75 MiB when this was
/// written, 152 when tables of tokens were widened and what loading took stayed; 115 with
/// the reader of captions (14 MiB of weights) and the lexicon.
const BYTES_MAX: u64 = 128 << 20;

#[test]
fn the_daemon_stays_small_after_the_first_request() {
    let running = Running::start();
    running.ask("observe", json!({"caption": "a red mug on a desk"}));
    running.ask("recall_last_seen", json!({"query": "a red mug"}));
    // That nobody knows where the desk is costs nothing.
    running.call("retrieve_object", json!({"task": "bring me the red mug on the desk"}));
    let resident = running.ask("memory_stats", json!({}))["daemon_resident_bytes"].as_u64();
    assert!(resident.is_some_and(|it| it < BYTES_MAX), "{resident:?}");
}
