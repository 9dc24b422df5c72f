"""usearch. Its Python package has no filter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from usearch.index import Index

from stores import CONSTRUCTION_WIDTH, THREADS, WIDTHS, M


class Usearch:
    packages = ("usearch",)
    widths = WIDTHS
    filters = False

    def build(self, base: np.ndarray, folder: Path) -> None:
        index = self.index_of(base.shape[1])
        index.add(np.arange(len(base)), base, threads=THREADS)
        index.save(str(folder / "index"))

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.index = self.index_of(dimension)
        self.index.load(str(folder / "index"))

    def set_width(self, width: int) -> None:
        self.index.expansion_search = width

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        return self.index.search(query, k, threads=1).keys.tolist()

    @staticmethod
    def index_of(dimension: int) -> Index:
        return Index(ndim=dimension, metric="ip", dtype="f32", connectivity=M, expansion_add=CONSTRUCTION_WIDTH)
