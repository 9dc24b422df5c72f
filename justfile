# The commands of this repository; `just` lists them.

default:
    @just --list

# A robot's three days captioned, remembered and asked about.
demo:
    cargo run --release -- demo

# Everything that CI checks.
check: test python checks
    cargo fmt --check
    cargo clippy --all-targets --features failpoints -- -D warnings

test:
    cargo test --features failpoints

# Of the simulated home, the comparison and the training; says what it could not run.
python:
    tests/python/run.sh

# The page in Chromium; says what it could not run.
page *flags:
    tests/page/install.sh
    tests/page/run.sh {{flags}}

# Text in the scene, which CI leaves out: tract is 56 more crates to compile.
scene-text:
    models/scene-text/fetch.sh target/scene-text
    cargo clippy --all-targets --features scene-text -- -D warnings
    cargo test --lib --features scene-text scene_text -- --include-ignored

# Licences, unused dependencies, spelling, the Rust that is promised.
checks:
    tests/checks/install.sh
    tests/checks/run.sh

# Recall latency through the real socket; see benches/README.md.
bench:
    cargo bench --bench recall

# The official MCP clients that the tests drive the daemon with.
sdk:
    tests/sdk/install.sh

# engram and its peers on the same vectors, into benches/RESULTS.md.
peers *flags:
    benches/peers/run.sh {{flags}}

# Every file of a store x every damage: what a start or a repair makes of it, as a table.
damage:
    cargo test --lib every_damage -- --nocapture
    cargo test --lib every_pair_of_damaged -- --ignored --nocapture

# Each reader of foreign bytes fuzzed for a minute; see tests/fuzz/run.sh.
fuzz *flags:
    tests/fuzz/run.sh {{flags}}

# Half an hour of everything at once, then an exact audit; see benches/README.md.
soak *flags:
    cargo build --release
    benches/soak/soak.py {{flags}}

# The daemon killed at every failpoint and at random under load, then audited; as a table.
crash kills="200" seed="1":
    CRASH_KILLS={{kills}} CRASH_SEED={{seed}} cargo test --features failpoints --test it crash_daemon -- --nocapture
