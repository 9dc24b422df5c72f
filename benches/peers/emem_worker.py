"""Measures eMEM from a question to the text it answers, captions and vectors given.

Its embedding provider looks the vectors up, so that what is timed is eMEM's own: flushing, its HNSW
graph, its SQLite rows, its formatted answer. Each caption is an observation with a time and a place.

    python emem_worker.py build --captions captions.txt --base base.fvecs --records 10000 --folder D
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
from emem import SpatioTemporalMemory
from emem.config import SpatioTemporalMemoryConfig

from vectors import K, read_fvecs
from worker import CALLS_MIN, folder_bytes, resident, status_bytes

PAUSE_SECONDS = 30.0
FIRST_SECONDS = 1_735_689_600.0
SWEEP_SECONDS = 30.0


class Known:
    """eMEM's protocol of an embedder, over vectors that are there already."""

    def __init__(self, texts: list[str], vectors: np.ndarray) -> None:
        self.row = {text: row for row, text in enumerate(texts)}
        self.vectors = vectors

    @property
    def dim(self) -> int:
        return self.vectors.shape[1]

    def embed(self, texts: list[str]) -> np.ndarray:
        return self.vectors[[self.row[text] for text in texts]]


def memory(folder: Path, records: int, known: Known) -> SpatioTemporalMemory:
    config = SpatioTemporalMemoryConfig(
        db_path=str(folder / "memory.db"),
        hnsw_path=str(folder / "memory.hnsw.bin"),
        embedding_dim=known.dim,
        hnsw_max_elements=records,
        flush_batch_size=200,
    )
    last = FIRST_SECONDS + records * PAUSE_SECONDS
    return SpatioTemporalMemory(config=config, embedding_provider=known, get_current_time=lambda: last)


def build(folder: Path, captions: list[str], base: np.ndarray) -> dict[str, object]:
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")
    begin = time.perf_counter()
    store = memory(folder, len(captions), Known([], base))
    for row, (caption, vector) in enumerate(zip(captions, base)):
        store.add(
            caption,
            x=row * 7 % 100 / 10,
            y=row * 13 % 100 / 10,
            timestamp=FIRST_SECONDS + row * PAUSE_SECONDS,
            embedding=vector,
        )
    store.close()
    return {
        "versions": {"emem": version("emem")},
        "build_seconds": time.perf_counter() - begin,
        "build_peak_bytes": max(0, status_bytes("VmHWM") - before),
        "disk_bytes": folder_bytes(folder),
    }


def search(folder: Path, records: int, queries: list[str], vectors: np.ndarray) -> dict[str, object]:
    known = Known(queries, vectors)
    before = resident()
    begin = time.perf_counter()
    store = memory(folder, records, known)
    store.semantic_search(queries[0], n_results=K)
    opened = time.perf_counter() - begin
    took: list[float] = []
    deadline = time.perf_counter() + SWEEP_SECONDS
    for query in queries:
        begin = time.perf_counter()
        store.semantic_search(query, n_results=K)
        took.append(time.perf_counter() - begin)
        if time.perf_counter() > deadline and len(took) >= CALLS_MIN:
            break
    p50, p95, p99 = np.percentile(np.array(took) * 1e3, [50, 95, 99]).tolist()
    return {
        "open_seconds": opened,
        "resident_bytes": resident() - before,
        "recall": {"p50_millis": p50, "p95_millis": p95, "p99_millis": p99},
        "queries": len(took),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=("build", "search"))
    parser.add_argument("--captions", type=Path, help="for build; for search the questions")
    parser.add_argument("--base", type=Path, help="their vectors")
    parser.add_argument("--records", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    texts = args.captions.read_text().splitlines()
    if args.stage == "build":
        result = build(args.folder, texts[: args.records], read_fvecs(args.base, args.records))
    else:
        result = search(args.folder, args.records, texts, read_fvecs(args.base))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
