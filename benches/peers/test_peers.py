"""Tests of what the comparison computes itself: `python -m pytest benches/peers`."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import captions
import report
from vectors import K, Truth, read_fvecs, windows, write_vecs


def unit(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return unit(rng, 300), unit(rng, 20)


def test_vectors_come_back_from_disk(tmp_path: Path, data: tuple[np.ndarray, np.ndarray]) -> None:
    base, _ = data
    write_vecs(tmp_path / "base.fvecs", base)
    np.testing.assert_array_equal(read_fvecs(tmp_path / "base.fvecs"), base)
    np.testing.assert_array_equal(read_fvecs(tmp_path / "base.fvecs", 7), base[:7])


def test_truth_is_a_full_sort(data: tuple[np.ndarray, np.ndarray]) -> None:
    base, queries = data
    truth = Truth.scan(base, queries)
    for query, ids in zip(queries, truth.ids):
        assert ids.tolist() == np.argsort(-(base @ query), kind="stable")[:K].tolist()
    assert truth.recall(base, queries, truth.ids.tolist()) == 1.0
    half = [[*ids[:5], *[0] * 5] for ids in truth.ids.tolist() if 0 not in ids]
    kept = [i for i, ids in enumerate(truth.ids.tolist()) if 0 not in ids]
    some = Truth(truth.ids[kept], truth.tenth[kept])
    assert some.recall(base, queries[kept], half) == 0.5, "a row given twice counts once"


def test_kept_truth_is_that_of_its_window(tmp_path: Path, data: tuple[np.ndarray, np.ndarray]) -> None:
    base, queries = data
    path = tmp_path / "base.fvecs"
    write_vecs(path, base)
    for share in (1.0, 0.1, 1.0, 0.1):
        kept = Truth.kept(path, base, queries, share)
        ranges = None if share == 1.0 else windows(len(base), len(queries), share)
        np.testing.assert_array_equal(kept.ids, Truth.scan(base, queries, ranges).ids)
    asked = queries[::-1].copy()
    assert Truth.kept(path, base, asked).ids.tolist() == Truth.scan(base, asked).ids.tolist()
    write_vecs(path, base[::-1])
    assert Truth.kept(path, base[::-1], queries).ids.tolist() != Truth.scan(base, queries).ids.tolist()


def test_truth_of_a_window_lies_in_it(data: tuple[np.ndarray, np.ndarray]) -> None:
    base, queries = data
    ranges = windows(len(base), len(queries), 0.1)
    truth = Truth.scan(base, queries, ranges)
    for query, ids, (first, last) in zip(queries, truth.ids, ranges):
        assert last - first == 30
        assert ids.tolist() == (np.argsort(-(base[first:last] @ query))[:K] + first).tolist()


def test_an_equally_near_hit_is_no_miss() -> None:
    base = np.tile(np.eye(2, dtype=np.float32)[:1], (40, 1))
    query = np.eye(2, dtype=np.float32)[:1]
    truth = Truth.scan(base, query)
    assert truth.recall(base, query, [list(range(30, 40))]) == 1.0


def test_latency_is_interpolated_at_the_goal() -> None:
    points = [{"recall": 0.98, "p50_micros": 100.0}, {"recall": 1.0, "p50_micros": 200.0}]
    assert report.at_goal(points)[0] == pytest.approx(0.15)
    assert report.at_goal(points[1:])[0] == pytest.approx(0.2)
    assert report.at_goal(points[:1]) == (None, "– (recall .980)")


def test_captions_differ_and_more_of_them_begin_alike() -> None:
    def said(count: int) -> list[str]:
        rng = random.Random(4)
        places = [captions.new_place(rng) for _ in range(20)]
        return list(captions.captions(rng, count, places))

    few, many = said(500), said(2_000)
    assert many[:500] == few
    assert len(set(many)) == 2_000
