"""Chroma: a persistent collection in the process, the time among the metadata."""

from __future__ import annotations

from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings

from stores import CONSTRUCTION_WIDTH, THREADS, WIDTHS, M

BATCH = 2_000


class Chroma:
    packages = ("chromadb",)
    widths = WIDTHS
    filters = True

    def build(self, base: np.ndarray, folder: Path) -> None:
        hnsw = {
            "space": "ip",
            "max_neighbors": M,
            "ef_construction": CONSTRUCTION_WIDTH,
            "num_threads": THREADS,
        }
        collection = self.client(folder).create_collection(
            "captions", configuration={"hnsw": hnsw}, embedding_function=None
        )
        for first in range(0, len(base), BATCH):
            rows = range(first, min(first + BATCH, len(base)))
            collection.add(
                ids=[str(row) for row in rows],
                embeddings=base[rows.start : rows.stop],
                metadatas=[{"time": row} for row in rows],
            )

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.folder = folder
        self.opened = self.client(folder)
        self.collection = self.opened.get_collection("captions", embedding_function=None)

    def set_width(self, width: int) -> None:
        """A collection reads its width when it is loaded, so it is opened anew."""
        self.collection.modify(configuration={"hnsw": {"ef_search": width}})
        self.opened.close()
        self.open(self.folder, 0, 0)

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        within = None
        if window is not None:
            within = {"$and": [{"time": {"$gte": window[0]}}, {"time": {"$lt": window[1]}}]}
        found = self.collection.query(query_embeddings=query[None], n_results=k, where=within, include=[])
        return [int(row) for row in found["ids"][0]]

    @staticmethod
    def client(folder: Path) -> chromadb.ClientAPI:
        return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
