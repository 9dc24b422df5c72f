#!/bin/sh
# Lints what is written in Python (ruff, by pyproject.toml) and runs its tests: the
# simulated home, the comparison with peers, the grammar of requests, and the
# captioner's world where there is torch; and reads what the program writes with others' readers. Needs python3 (3.10 or newer); installs the requirements beside it into
# target/python, once. Where they cannot be installed, what needs none is tested,
# and the last lines say what was not: a registry that is down fails nothing.
#
# ENGRAM_TORCH_PYTHON names a Python with the requirements of
# models/household-captioner/training; torch is too large to be installed here.
set -eu

cd "$(dirname "$0")/../.."
root=$PWD
venv=$root/target/python
wanted=$(cat tests/python/requirements.txt)
export PYTHONDONTWRITEBYTECODE=1
not_run=""

if [ "$(cat "$venv/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$venv/installed"
    if python3 -m venv --clear "$venv" &&
        "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 \
            -r tests/python/requirements.txt; then
        echo "$wanted" >"$venv/installed"
    fi
fi

# Each folder in a process of its own: they have modules of the same names.
tests_in() {
    echo "$2"
    (cd "$2" && "$1" -m pytest -q -p no:cacheprovider)
}

if [ -f "$venv/installed" ]; then
    "$venv/bin/ruff" check --no-cache
    "$venv/bin/ruff" format --no-cache --check
    "$venv/bin/mypy" --strict --cache-dir=/dev/null src/cli/client_library/engram.py
    # The first reads what the program writes, where one is built.
    for folder in tests/exports benches/home benches/peers models/request-reader/training models/caption-reader/training; do
        tests_in "$venv/bin/python" "$folder"
    done
else
    not_run="$not_run
  lint, types, tests/exports, benches/home, benches/peers: numpy, OpenCV, pytest, ruff and mypy could not be installed"
    (cd models/request-reader/training && python3 -m unittest -q)
fi

torch_python=${ENGRAM_TORCH_PYTHON:-python3}
needed="cv2, matplotlib, PIL, pytest, safetensors, tokenizers, torch, transformers"
if "$torch_python" -c "import $needed" 2>/dev/null; then
    tests_in "$torch_python" models/household-captioner/training
else
    not_run="$not_run
  models/household-captioner/training: $torch_python lacks one of $needed (ENGRAM_TORCH_PYTHON)"
fi

if [ -n "$not_run" ]; then
    echo "PYTHON TESTS THAT WERE NOT RUN:$not_run" >&2
fi
