#!/bin/sh
# Fuzzes each reader of foreign bytes for some seconds (60), or those that are named:
#     tests/fuzz/run.sh [SECONDS [TARGET...]]
# Needs a C++ compiler; installs cargo-fuzz into target/tools. Stable Rust will do: there is no
# unsafe code to watch, so no sanitizer is built in. What it finds lies in
# target/fuzz/artifacts/TARGET; a mended one goes into tests/fuzz/corpus/TARGET, which
# `cargo test` runs. The grown corpora stay in target/fuzz/corpus.
set -eu

cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
cargo_fuzz=0.13.2
tools=$PWD/target/tools
if [ "$("$tools/bin/cargo-fuzz" --version 2>/dev/null)" != "cargo-fuzz $cargo_fuzz" ]; then
    cargo install --quiet --locked --root "$tools" --target-dir "$tools/build" \
        --version "$cargo_fuzz" cargo-fuzz
    rm -rf "$tools/build"
fi
export CARGO_TARGET_DIR="$PWD/target/fuzz/build"
[ $# -gt 0 ] || set -- $("$tools/bin/cargo-fuzz" list --fuzz-dir tests/fuzz)
found=0
for target in "$@"; do
    grown=target/fuzz/corpus/$target
    artifacts=target/fuzz/artifacts/$target
    mkdir -p "$grown" "$artifacts"
    log=target/fuzz/$target.log
    if "$tools/bin/cargo-fuzz" run --fuzz-dir tests/fuzz --sanitizer none "$target" \
        "$grown" "tests/fuzz/corpus/$target" -- -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$artifacts/" >"$log" 2>&1
    then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        edges=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -1)
        peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
        echo "$target: $runs runs, $edges edges, $peak MiB at most, nothing found"
    else
        found=1
        echo "$target: FOUND SOMETHING, see $log and $artifacts/"
        grep -m 3 -E "panicked|SUMMARY|ERROR|error" "$log" || true
    fi
done
exit $found
