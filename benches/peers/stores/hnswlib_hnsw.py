"""hnswlib. Its filter is a Python function called for each candidate, so windows are left out."""

from __future__ import annotations

from pathlib import Path

import hnswlib
import numpy as np

from stores import CONSTRUCTION_WIDTH, THREADS, WIDTHS, M


class Hnswlib:
    packages = ("hnswlib",)
    widths = WIDTHS
    filters = False

    def build(self, base: np.ndarray, folder: Path) -> None:
        index = hnswlib.Index(space="ip", dim=base.shape[1])
        index.init_index(max_elements=len(base), M=M, ef_construction=CONSTRUCTION_WIDTH)
        index.add_items(base, num_threads=THREADS)
        index.save_index(str(folder / "index"))

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.index = hnswlib.Index(space="ip", dim=dimension)
        self.index.load_index(str(folder / "index"), max_elements=count)

    def set_width(self, width: int) -> None:
        self.index.set_ef(width)

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        return self.index.knn_query(query, k=k, num_threads=1)[0][0].tolist()
