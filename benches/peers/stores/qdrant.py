"""Qdrant Edge: one shard in the process, optimised to one segment, with an index over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    PayloadSchemaType,
    Point,
    QuantizationSearchParams,
    Query,
    RangeFloat,
    ScalarQuantizationConfig,
    ScalarType,
    SearchParams,
    SearchRequest,
    UpdateOperation,
)

from stores import CONSTRUCTION_WIDTH, THREADS, WIDTHS, M

BATCH = 1_000
INDEX_FROM_KILOBYTES = 1_000
FULL_SCAN_KILOBYTES = 10_000


class QdrantEdge:
    packages = ("qdrant-edge-py",)
    widths = WIDTHS
    filters = True
    quantization: ScalarQuantizationConfig | None = None

    def build(self, base: np.ndarray, folder: Path) -> None:
        config = EdgeConfig(
            vectors=EdgeVectorParams(size=base.shape[1], distance=Distance.Dot),
            hnsw_config=HnswIndexConfig(
                m=M,
                ef_construct=CONSTRUCTION_WIDTH,
                full_scan_threshold=FULL_SCAN_KILOBYTES,
                max_indexing_threads=THREADS,
            ),
            quantization_config=self.quantization,
            optimizers=EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=INDEX_FROM_KILOBYTES),
            max_search_threads=1,
        )
        shard = EdgeShard.create(str(folder), config)
        shard.update(UpdateOperation.create_field_index("time", PayloadSchemaType.Integer))
        for first in range(0, len(base), BATCH):
            rows = range(first, min(first + BATCH, len(base)))
            points = [Point(row, base[row].tolist(), {"time": row}) for row in rows]
            shard.update(UpdateOperation.upsert_points(points))
        while shard.optimize():
            pass
        shard.flush()
        shard.close()

    def open(self, folder: Path, count: int, dimension: int) -> None:
        self.shard = EdgeShard.load(str(folder))

    def set_width(self, width: int) -> None:
        self.parameters = SearchParams(hnsw_ef=width, quantization=self.rescoring())

    def rescoring(self) -> QuantizationSearchParams | None:
        return None

    def search(self, query: np.ndarray, k: int, window: tuple[int, int] | None) -> list[int]:
        within = None
        if window is not None:
            times = RangeFloat(gte=window[0], lt=window[1])
            within = Filter(must=[FieldCondition(key="time", range=times)])
        request = SearchRequest(query=Query.Nearest(query.tolist()), limit=k, filter=within, params=self.parameters)
        return [point.id for point in self.shard.search(request)]


class QdrantEdgeBytes(QdrantEdge):
    """The walk over int8, rescored with the exact vectors."""

    quantization = ScalarQuantizationConfig(type=ScalarType.Int8, always_ram=True)

    def rescoring(self) -> QuantizationSearchParams | None:
        return QuantizationSearchParams(rescore=True, oversampling=2.0)
