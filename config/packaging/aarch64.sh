#!/bin/sh
# The program for 64-bit ARM, such as a Jetson, built on a PC: cargo-zigbuild with Zig from PyPI
# links against the GLIBC of JetPack 5 (2.31) and newer.
#   aarch64.sh [CARGO'S FLAGS…]
set -eu
target=aarch64-unknown-linux-gnu
rustup target add "$target"
command -v cargo-zigbuild >/dev/null || cargo install --locked cargo-zigbuild
python3 -m ziglang version >/dev/null 2>&1 || python3 -m pip install --user ziglang
cargo zigbuild --release --target "$target.2.31" "$@"
ls -l "${CARGO_TARGET_DIR:-target}/$target/release/engram"
