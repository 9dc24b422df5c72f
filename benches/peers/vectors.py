"""Vectors on disk (.fvecs, .ivecs), time windows, and the true neighbours that recall is counted by.

A caption's row is its place in time, so that a window of time is a range of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

K = 10
SHARES = (0.5, 0.1, 0.01, 0.001)
TIE = 1e-6
"""Two similarities this close are the same: a hit as near as the tenth true one is no miss."""
BLOCK = 256

Range = tuple[int, int]
"""Rows from the first on, up to but without the second."""


def read_fvecs(path: Path, count: int | None = None) -> np.ndarray:
    """The first `count` rows (default: all) as contiguous f32."""
    dimension = int(np.fromfile(path, dtype="<i4", count=1)[0])
    raw = np.fromfile(path, dtype="<f4", count=-1 if count is None else count * (dimension + 1))
    return np.ascontiguousarray(raw.reshape(-1, dimension + 1)[:, 1:])


def write_vecs(path: Path, rows: np.ndarray) -> None:
    """Rows of f32 (.fvecs) or i32 (.ivecs), each after its length."""
    width = rows.shape[1]
    out = np.empty((len(rows), width + 1), dtype="<f4" if rows.dtype == np.float32 else "<i4")
    out[:, 0] = np.full(len(rows), width, dtype="<i4").view(out.dtype)
    out[:, 1:] = rows
    part = path.with_name(path.name + ".part")
    out.tofile(part)
    part.rename(path)


def windows(count: int, queries: int, share: float) -> list[Range]:
    """A window of that share of the rows for each query, somewhere in time."""
    rng = np.random.default_rng(round(share * 1e6))
    width = max(K, round(count * share))
    first = rng.integers(0, count - width + 1, queries)
    return [(int(it), int(it) + width) for it in first]


@dataclass(frozen=True)
class Truth:
    """What an exact scan finds."""

    ids: np.ndarray
    tenth: np.ndarray
    """Similarity of the K-th best."""

    @classmethod
    def scan(cls, base: np.ndarray, queries: np.ndarray, ranges: list[Range] | None = None) -> Truth:
        ids = np.empty((len(queries), K), dtype=np.int32)
        tenth = np.empty(len(queries), dtype=np.float32)
        for begin in range(0, len(queries), BLOCK if ranges is None else 1):
            rows = slice(begin, begin + (BLOCK if ranges is None else 1))
            first, last = (0, len(base)) if ranges is None else ranges[begin]
            similarity = queries[rows] @ base[first:last].T
            best = np.argpartition(-similarity, K - 1, axis=1)[:, :K]
            values = np.take_along_axis(similarity, best, axis=1)
            order = np.argsort(-values, axis=1)
            ids[rows] = np.take_along_axis(best, order, axis=1) + first
            tenth[rows] = values.min(axis=1)
        return cls(ids, tenth)

    @classmethod
    def kept(cls, base_path: Path, base: np.ndarray, queries: np.ndarray, share: float = 1.0) -> Truth:
        """The same for the base's windows of a share, kept beside it for the next peer."""
        path = base_path.with_name(f"{base_path.stem}.{len(base)}.{share:g}.truth.npz")
        if path.exists() and path.stat().st_mtime >= base_path.stat().st_mtime:
            kept = np.load(path)
            if np.array_equal(kept["queries"], queries):
                return cls(kept["ids"], kept["tenth"])
        ranges = None if share == 1.0 else windows(len(base), len(queries), share)
        truth = cls.scan(base, queries, ranges)
        part = path.with_suffix(".part.npz")
        np.savez(part, queries=queries, ids=truth.ids, tenth=truth.tenth)
        part.rename(path)
        return truth

    def recall(self, base: np.ndarray, queries: np.ndarray, found: list[list[int]]) -> float:
        """Share of the K places filled with something as near as the true ones, over all queries."""
        hits = 0
        for query, ids, tenth in zip(queries, found, self.tenth):
            rows = base[sorted(set(ids[:K]))]
            hits += int((rows @ query >= tenth - TIE).sum())
        return hits / (len(found) * K)
