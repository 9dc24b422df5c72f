#!/bin/sh
# Installs the peers in a virtual environment, then measures them and engram on the
# same vectors and writes benches/RESULTS.md. Flags: see compare.py --help.
#
#   benches/peers/run.sh                        what is not measured yet, 100,000 captions
#   benches/peers/run.sh --only engram,faiss    these again
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${PEERS_DIR:-$root/target/peers}
python=${PYTHON:-python3}
mkdir -p "$work"
if [ ! -e "$work/venv/installed" ] || [ "$here/requirements.txt" -nt "$work/venv/installed" ]; then
    [ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
    touch "$work/venv/installed"
fi
if [ -z "${ENGRAM:-}" ]; then
    (cd "$root" && cargo build --release --quiet)
    ENGRAM=${CARGO_TARGET_DIR:-$root/target}/release/engram
fi
export ENGRAM
exec "$work/venv/bin/python" "$here/compare.py" --dir "$work" "$@"
