"""Whether what is linked says that it builds with the Rust that Cargo.toml promises.

Reads `cargo metadata`, nothing else, and names the crate where a build by that compiler
(tests/checks/run.sh) would only fail.
"""

from __future__ import annotations

import json
import subprocess
import sys

Version = tuple[int, ...]


def main() -> int:
    metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--locked", "--format-version", "1"]))
    ours = next(it for it in metadata["packages"] if it["id"] == metadata["resolve"]["root"])
    promised = ours["rust_version"]
    others = [it for it in metadata["packages"] if it is not ours]
    newer = [it for it in others if it["rust_version"] and version(it["rust_version"]) > version(promised)]
    for it in newer:
        print(f"{it['name']} {it['version']} needs Rust {it['rust_version']}; Cargo.toml promises {promised}")
    silent = sum(not it["rust_version"] for it in others)
    print(f"{len(others)} crates in Cargo.lock: {len(newer)} need more than Rust {promised}, {silent} do not say")
    return 1 if newer else 0


def version(text: str) -> Version:
    """`1.88` is `1.88.0`."""
    parts = [int(part) for part in text.split(".")]
    return (*parts, 0, 0)[:3]


if __name__ == "__main__":
    sys.exit(main())
