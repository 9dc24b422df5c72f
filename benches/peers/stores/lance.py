"""LanceDB: IVF_HNSW_SQ with one partition, hits rescored with the exact vectors, and a B-tree over time."""

from __future__ import annotations

from pathlib import Path

import lancedb
import numpy as np
import pyarrow
from lancedb.index import BTree, HnswSq

from stores import CONSTRUCTION_WIDTH, WIDTHS, M
from vectors import K

BATCH = 10_000
RESCORED = 2
"""Times as many hits are fetched and rescored as are wanted; no search can be narrower."""


class LanceDb:
    packages = ("lancedb", "pyarrow")
    widths = tuple(width for width in WIDTHS if width >= RESCORED * K)
    filters = True

    def build(self, base: np.ndarray, folder: Path) -> None:
        table = lancedb.connect(folder).create_table("captions", schema=self.schema(base.shape[1]))
        for first in range(0, len(base), BATCH):
            table.add(self.rows(base[first : first + BATCH], first))
        table.create_index(
            "vector",
            config=HnswSq(distance_type="dot", num_partitions=1, m=M, ef_construction=CONSTRUCTION_WIDTH),
        )
        table.create_index("time", config=BTree())
        table.optimize()

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.table = lancedb.connect(folder).open_table("captions")

    def set_width(self, width: int) -> None:
        self.width = width

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        search = self.table.search(query, vector_column_name="vector").distance_type("dot")
        search = search.nprobes(1).ef(self.width).refine_factor(RESCORED).limit(k).select(["time"])
        if window is not None:
            search = search.where(f"time >= {window[0]} AND time < {window[1]}", prefilter=True)
        return search.to_arrow()["time"].to_pylist()

    @staticmethod
    def schema(dimension: int) -> pyarrow.Schema:
        vector = pyarrow.list_(pyarrow.float32(), dimension)
        return pyarrow.schema([("time", pyarrow.int64()), ("vector", vector)])

    def rows(self, base: np.ndarray, first: int) -> pyarrow.Table:
        times = pyarrow.array(np.arange(first, first + len(base)))
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(base.ravel()), base.shape[1])
        return pyarrow.table([times, vectors], schema=self.schema(base.shape[1]))
