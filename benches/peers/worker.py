"""Measures one peer in a process of its own, one stage a process, and prints what it found as JSON.

``build`` takes all vectors in; ``search`` opens what was built and asks. A stage that hangs, dies or
takes all memory then costs only itself.

    python worker.py build faiss --base base.fvecs --records 10000 --folder D
    python worker.py search faiss --base base.fvecs --queries queries.fvecs --records 10000 --folder D
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil

import stores
from vectors import K, SHARES, Range, Truth, read_fvecs, windows

ENOUGH = 0.999
"""A wider search than the one that recalls this much tells nothing new."""
GOAL = 0.99
WARM_UP = 50
SWEEP_SECONDS = 2.0
"""Of questions for one width, and a third of it to warm up; a slow peer gets fewer than all of them."""
SLOW_MICROS = 1_000
"""A peer whose median is above is asked in its windows only with widths about those that it needs without."""
CALLS_MIN = 20
CALL_RECORDS = 300

Result = dict[str, object]


def status_bytes(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def resident() -> int:
    """Of this process and its children."""
    process = psutil.Process()
    return sum(it.memory_info().rss for it in [process, *process.children(recursive=True)])


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def build(name: str, base: np.ndarray, folder: Path) -> Result:
    store = stores.create(name)
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")
    begin = time.perf_counter()
    store.build(base, folder)
    return {
        "versions": {package: version(package) for package in store.packages},
        "build_seconds": time.perf_counter() - begin,
        "build_peak_bytes": max(0, status_bytes("VmHWM") - before),
        "disk_bytes": folder_bytes(folder),
    }


def timed(store: stores.Store, queries: np.ndarray, ranges: list[Range] | None) -> tuple[list[list[int]], list[float]]:
    """What was found and how many seconds each question took, for as many as the time allows."""
    found, took = [], []
    window = (lambda i: None) if ranges is None else (lambda i: ranges[i])
    warm = time.perf_counter() + SWEEP_SECONDS / 3
    for i in range(min(WARM_UP, len(queries))):
        store.search(queries[i], K, window(i))
        if time.perf_counter() > warm:
            break
    deadline = time.perf_counter() + SWEEP_SECONDS
    for i, query in enumerate(queries):
        begin = time.perf_counter()
        ids = store.search(query, K, window(i))
        end = time.perf_counter()
        found.append(ids)
        took.append(end - begin)
        if end > deadline and len(took) >= CALLS_MIN:
            break
    return found, took


def point(width: int, took: list[float], recall: float) -> Result:
    p50, p95, p99 = np.percentile(np.array(took) * 1e6, [50, 95, 99]).tolist()
    return {
        "ef": width,
        "recall": recall,
        "p50_micros": p50,
        "p95_micros": p95,
        "p99_micros": p99,
        "queries": len(took),
    }


def sweep(
    store: stores.Store,
    queries: np.ndarray,
    ranges: list[Range] | None,
    recall: Callable[[list[list[int]]], float],
    widths: tuple[int, ...],
    until: float,
) -> list[Result]:
    """Wider and wider searches until the recall is reached."""
    points: list[Result] = []
    for width in widths:
        store.set_width(width)
        found, took = timed(store, queries, ranges)
        points.append(point(width, took, recall(found)))
        if points[-1]["recall"] >= until:
            break
    return points


def call_micros(name: str, base: np.ndarray) -> float | None:
    """The median of a search among a few hundred vectors: what the call itself costs."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            few = stores.create(name)
            few.build(base[:CALL_RECORDS].copy(), Path(folder))
            few.open(Path(folder), CALL_RECORDS, base.shape[1])
            few.set_width(few.widths[0])
            return float(np.median(timed(few, base[:CALL_RECORDS], None)[1]) * 1e6)
        except Exception as error:  # a peer may refuse so few; the figure is then missing
            print(f"{name} does not search {CALL_RECORDS} vectors: {error}", flush=True)
            return None


def search(name: str, base_path: Path, records: int, queries: np.ndarray, folder: Path) -> Result:
    store = stores.create(name)
    before = resident()
    begin = time.perf_counter()
    store.open(folder, records, queries.shape[1])
    store.set_width(store.widths[0])
    store.search(queries[0], K, None)
    opened = time.perf_counter() - begin
    timed(store, queries, None)
    held = resident() - before
    base = read_fvecs(base_path, records)
    truth = Truth.kept(base_path, base, queries)
    unfiltered = sweep(store, queries, None, lambda found: truth.recall(base, queries, found), store.widths, ENOUGH)
    widths = store.widths
    if min(it["p50_micros"] for it in unfiltered) > SLOW_MICROS:
        below = sum(it["recall"] < GOAL for it in unfiltered)
        widths = widths[max(0, below - 1) :: 2]
    filtered = []
    for share in SHARES if store.filters else ():
        ranges = windows(records, len(queries), share)
        exact = Truth.kept(base_path, base, queries, share)
        points = sweep(
            store, queries, ranges, lambda found, exact=exact: exact.recall(base, queries, found), widths, GOAL
        )
        filtered.append({"share": share, "points": points})
    return {
        "open_seconds": opened,
        "resident_bytes": held,
        "unfiltered": unfiltered,
        "windows": filtered,
        "call_micros": call_micros(name, base),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=("build", "search"))
    parser.add_argument("name", choices=sorted(stores.NAMES))
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    if args.stage == "build":
        result = build(args.name, read_fvecs(args.base, args.records), args.folder)
    else:
        result = search(args.name, args.base, args.records, read_fvecs(args.queries), args.folder)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
