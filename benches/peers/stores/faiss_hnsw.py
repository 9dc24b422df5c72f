"""faiss: IndexHNSWFlat, and HNSW over bytes with the exact vectors for rescoring."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np

from stores import CONSTRUCTION_WIDTH, THREADS, WIDTHS, M


class Faiss:
    packages = ("faiss-cpu",)
    widths = WIDTHS
    filters = True

    def build(self, base: np.ndarray, folder: Path) -> None:
        faiss.omp_set_num_threads(THREADS)
        index = faiss.IndexHNSWFlat(base.shape[1], M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = CONSTRUCTION_WIDTH
        index.add(base)
        faiss.write_index(index, str(folder / "index"))

    def open(self, folder: Path, count: int, dimension: int) -> None:
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(str(folder / "index"))

    def set_width(self, width: int) -> None:
        self.width = width

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        return self.index.search(query[None], k, params=self.parameters(window))[1][0].tolist()

    def parameters(self, window: tuple[int, int] | None) -> faiss.SearchParameters:
        parameters = faiss.SearchParametersHNSW(efSearch=self.width)
        if window is not None:
            self.selector = faiss.IDSelectorRange(*window)
            parameters.sel = self.selector
        return parameters


class FaissBytes(Faiss):
    """IndexHNSWSQ under IndexRefineFlat: what comes closest to engram's own arrangement."""

    filters = False

    def build(self, base: np.ndarray, folder: Path) -> None:
        faiss.omp_set_num_threads(THREADS)
        index = faiss.IndexHNSWSQ(base.shape[1], faiss.ScalarQuantizer.QT_8bit, M, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = CONSTRUCTION_WIDTH
        refined = faiss.IndexRefineFlat(index)
        refined.train(base)
        refined.add(base)
        faiss.write_index(refined, str(folder / "index"))

    def parameters(self, window: tuple[int, int] | None) -> faiss.SearchParameters:
        walk = super().parameters(window)
        return faiss.IndexRefineSearchParameters(k_factor=2, base_index_params=walk)
