"""Milvus Lite through pymilvus, as STAR and ReMEmbR use it: HNSW, and an index over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pymilvus import DataType, MilvusClient

from stores import CONSTRUCTION_WIDTH, WIDTHS, M

BATCH = 2_000
NAME = "captions"


class MilvusLite:
    packages = ("milvus-lite", "pymilvus")
    widths = WIDTHS
    filters = True

    def build(self, base: np.ndarray, folder: Path) -> None:
        client = MilvusClient(str(folder / "milvus.db"))
        schema = client.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("time", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=base.shape[1])
        client.create_collection(NAME, schema=schema)
        for first in range(0, len(base), BATCH):
            rows = range(first, min(first + BATCH, len(base)))
            client.insert(NAME, [{"id": row, "time": row, "vector": base[row]} for row in rows])
        client.flush(NAME)
        indexes = client.prepare_index_params()
        indexes.add_index(
            "vector",
            index_type="HNSW",
            metric_type="IP",
            params={"M": M, "efConstruction": CONSTRUCTION_WIDTH},
        )
        indexes.add_index("time", index_type="INVERTED")
        client.create_index(NAME, indexes)
        client.load_collection(NAME)
        client.close()

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.client = MilvusClient(str(folder / "milvus.db"))
        self.client.load_collection(NAME)

    def set_width(self, width: int) -> None:
        self.width = width

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        found = self.client.search(
            NAME,
            data=[query],
            limit=k,
            filter="" if window is None else f"time >= {window[0]} and time < {window[1]}",
            search_params={"metric_type": "IP", "params": {"ef": self.width}},
        )
        return [hit["id"] for hit in found[0]]
