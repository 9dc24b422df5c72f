"""Surface textures: tileable grey-level patterns that are tinted when they are drawn."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

SIZE = 256
VARIANTS = 6
_SEED = 7

Texture = np.ndarray


def _noise(rng: np.random.Generator, columns: int, rows: int) -> Texture:
    """Smooth noise with so many bumps across and down, which wraps around."""
    grid = rng.random((rows, columns)).astype(np.float32)
    grid = np.concatenate([grid, grid[:1]])
    grid = np.concatenate([grid, grid[:, :1]], 1)
    return cv2.resize(grid, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)


def _wood(rng: np.random.Generator, y: Texture) -> Texture:
    grain = 0.6 * _noise(rng, 4, 40) + 0.4 * _noise(rng, 8, 120)
    return 0.75 + 0.4 * (grain - 0.5) + 0.06 * np.sin(y * 0.35 + 6 * _noise(rng, 3, 3))


def _parquet(rng: np.random.Generator) -> Texture:
    boards = np.ones((SIZE, SIZE), np.float32)
    for row in range(0, SIZE, 32):
        offset = rng.integers(SIZE)
        for start in (0, 128):
            columns = (np.arange(128) + offset + start) % SIZE
            boards[row : row + 32, columns] = rng.uniform(0.7, 1.05)
    boards *= 0.85 + 0.3 * _noise(rng, 4, 120)
    boards[::32] *= 0.55
    boards[1::32] *= 0.75
    return boards


def _tile(rng: np.random.Generator, variant: int, y: Texture, x: Texture) -> Texture:
    size = [32, 64, 128][variant % 3]
    tiles = 0.95 + 0.1 * _noise(rng, 6, 6)
    joints = (x.astype(int) % size < 2) | (y.astype(int) % size < 2)
    tiles[joints] = 0.65 if variant % 2 else 0.72
    if variant == 4:
        tiles *= np.where(((x // size + y // size) % 2) > 0, 1, 0.55)
    return tiles


def _brick(rng: np.random.Generator, y: Texture, x: Texture) -> Texture:
    course = (y // 32).astype(int)
    bricks = np.ones((SIZE, SIZE), np.float32)
    bricks[(y.astype(int) % 32 < 3) | ((x + (course % 2) * 32).astype(int) % 64 < 3)] = 0.7
    return bricks * (0.9 + 0.15 * _noise(rng, 16, 16))


def _one_set(rng: np.random.Generator, variant: int) -> dict[str, Texture]:
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    stripe_width = [32, 64, 16][variant % 3]
    speckle = rng.random((SIZE, SIZE)).astype(np.float32)
    grain = rng.standard_normal((SIZE, SIZE)).astype(np.float32)
    return {
        "wood": _wood(rng, y),
        "parquet": _parquet(rng),
        "tile": _tile(rng, variant, y, x),
        "carpet": 0.8 + 0.35 * (speckle - 0.5) + 0.2 * _noise(rng, 8, 8),
        "plain": 0.95 + 0.08 * _noise(rng, 4, 4) + 0.02 * grain,
        "stripe": np.where((x // stripe_width) % 2 > 0, 1.0, 0.86) + 0.02 * _noise(rng, 8, 8),
        "stone": 0.85 + 0.3 * _noise(rng, 32, 32) * speckle,
        "brick": _brick(rng, y, x),
    }


@cache
def load(seed: int = _SEED) -> dict[str, list[Texture]]:
    """All textures, `VARIANTS` of each kind; another seed gives textures nobody trained on."""
    rng = np.random.default_rng(seed)
    sets = [_one_set(rng, variant) for variant in range(VARIANTS)]
    return {kind: [np.clip(one[kind], 0, 1.3).astype(np.float32) for one in sets] for kind in sets[0]}
