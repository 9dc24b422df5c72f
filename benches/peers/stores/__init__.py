"""The stores that are compared, one file each; ``create`` makes one by its name.

Each runs as its documentation suggests for this size: HNSW with M = 16 and a construction width of 200
where it has a graph, durable where it keeps records, and with an index over time where it filters.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

M = 16
CONSTRUCTION_WIDTH = 200
THREADS = 2
WIDTHS = (10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)


class Store(Protocol):
    """What is measured of every peer."""

    packages: tuple[str, ...]
    """Whose versions the report names."""
    widths: tuple[int, ...]
    """How many candidates a search may keep, ascending; a single 0 for an exact scan."""
    filters: bool

    def build(self, base: np.ndarray, folder: Path) -> None:
        """Takes in all vectors, builds the index and leaves both on disk."""

    def open(self, folder: Path, count: int, dimension: int) -> None: ...

    def set_width(self, width: int) -> None: ...

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        """The rows found, best first."""


NAMES = {
    "faiss": "faiss_hnsw.Faiss",
    "hnswlib": "hnswlib_hnsw.Hnswlib",
    "qdrant-edge": "qdrant.QdrantEdge",
    "milvus-lite": "milvus.MilvusLite",
    "usearch": "usearch_hnsw.Usearch",
    "faiss-sq8": "faiss_hnsw.FaissBytes",
    "qdrant-edge-int8": "qdrant.QdrantEdgeBytes",
    "sqlite-vec": "sqlite.SqliteVec",
    "chroma": "chroma.Chroma",
    "lancedb": "lance.LanceDb",
}


def create(name: str) -> Store:
    module, _, kind = NAMES[name].partition(".")
    return getattr(import_module(f"stores.{module}"), kind)()
