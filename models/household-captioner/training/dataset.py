"""The training data: shards of rendered scenes on disk, and what is done to them in every batch.

    python dataset.py --seed 1 --scenes 100000 --out data/train

A shard is a directory that appears under its name only when it is complete, and
its content depends on the seed and its number alone: rendering can be killed and
started again, and training can begin as soon as the first shards are there.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from invent import clear_scenes, invent_wide_scene
from render import jpeg_bytes
from scene import LABEL_SIZE, PICTURE_SIZE
from world import Truth

SCENES_PER_SHARD = 500
_IMAGES, _LABELS, _TRUTH = "images.npy", "labels.npy", "truth.jsonl"

_DRAWN_SIZE = 256
"""Positions in a `Truth` are in pixels of the picture as it was drawn."""


class Sample(NamedTuple):
    image: np.ndarray
    """RGB, 128×128, 8 bits."""
    labels: np.ndarray
    """(2, 16, 16): types and colours."""
    truth: Truth


# Writing


def render_shard(seed: int, number: int, out: Path, varied: bool) -> None:
    """Renders shard `number` of the data set of a seed, unless it is there already.

    Of varied scenes every other one is seen through a wide and tilted camera.
    """
    final = out / f"{number:05}"
    if final.exists():
        return
    rng = np.random.default_rng([seed, number])
    unfinished = out / f".{number:05}.unfinished"
    unfinished.mkdir(parents=True, exist_ok=True)
    images = np.zeros((SCENES_PER_SHARD, PICTURE_SIZE, PICTURE_SIZE, 3), np.uint8)
    labels = np.zeros((SCENES_PER_SHARD, 2, LABEL_SIZE, LABEL_SIZE), np.uint8)
    with (unfinished / _TRUTH).open("w") as truths:
        level, wide = clear_scenes(rng), clear_scenes(rng, invent_wide_scene)
        for i in range(SCENES_PER_SHARD):
            _, rendering = next(wide if varied and i % 2 else level)
            images[i] = through_jpeg(rendering.picture, int(rng.integers(75, 97)))
            labels[i] = np.stack(rendering.labels)
            truths.write(json.dumps(rendering.truth.to_json()) + "\n")
    np.save(unfinished / _IMAGES, images)
    np.save(unfinished / _LABELS, labels)
    unfinished.rename(final)


def through_jpeg(picture: np.ndarray, quality: int) -> np.ndarray:
    """Cameras deliver JPEG, so the model learns from what JPEG leaves."""
    data = np.frombuffer(jpeg_bytes(picture, quality), np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1]


# Reading


class _Shard:
    def __init__(self, directory: Path):
        self.images = np.load(directory / _IMAGES, mmap_mode="r")
        self.labels = np.load(directory / _LABELS, mmap_mode="r")
        lines = (directory / _TRUTH).read_text().splitlines()
        self.truths = [Truth.from_json(json.loads(line)) for line in lines]


class Shards:
    """All finished shards of a directory; `refresh` takes in those finished since."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._shards: dict[str, _Shard] = {}
        self.refresh()

    def refresh(self) -> None:
        for path in sorted(self._directory.glob("[0-9]*")):
            if path.name not in self._shards:
                self._shards[path.name] = _Shard(path)
        self._in_order = list(self._shards.values())

    def __len__(self) -> int:
        return len(self._in_order) * SCENES_PER_SHARD

    def __getitem__(self, index: int) -> Sample:
        shard, row = self._in_order[index // SCENES_PER_SHARD], index % SCENES_PER_SHARD
        return Sample(shard.images[row], shard.labels[row], shard.truths[row])


# Augmentation


class Augment:
    """Shows each scene differently each time: mirrored, moved, and through worse cameras than the renderer's.

    Half of the samples get mild changes of light and noise, half get the whole
    range, because a model that saw only hard pictures would learn more slowly.
    """

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        # Slices of one array at random offsets are far cheaper than fresh normal numbers for each picture.
        self._noise = rng.standard_normal(PICTURE_SIZE * PICTURE_SIZE * 3 * 24, np.float32)

    def __call__(self, sample: Sample) -> Sample:
        if self._rng.random() < 0.5:
            sample = _mirrored(sample)
        if self._rng.random() < 0.6:
            sample = self._moved(sample)
        hard = self._rng.random() < 0.5
        return sample._replace(image=self._photographed(sample.image, hard))

    def _moved(self, sample: Sample) -> Sample:
        """Rolled, shifted and zoomed a little; left alone if an object would leave the picture."""
        rng = self._rng
        angle, zoom = rng.normal(0, 0.07), rng.uniform(0.86, 1.08)
        shift = rng.uniform(-8, 8, 2)
        c, s = math.cos(angle) * zoom, math.sin(angle) * zoom
        middle = PICTURE_SIZE / 2
        linear = np.array([[c, -s], [s, c]])
        offset = middle + shift - linear @ [middle, middle]
        drawn = _DRAWN_SIZE / PICTURE_SIZE
        objects = []
        for seen in sample.truth.objects:
            u, v = (linear @ [seen.u / drawn, seen.v / drawn] + offset) * drawn
            if not (16 < u < _DRAWN_SIZE - 16 and 16 < v < _DRAWN_SIZE - 8):
                return sample
            objects.append(replace(seen, u=u, v=v))
        return Sample(
            _warped(sample.image, linear, offset, cv2.INTER_LINEAR, cv2.BORDER_REPLICATE),
            _warped_labels(sample.labels, linear, offset),
            replace(sample.truth, objects=objects),
        )

    def _photographed(self, image: np.ndarray, hard: bool) -> np.ndarray:
        rng = self._rng
        if rng.random() < 0.2:
            image = cv2.GaussianBlur(np.ascontiguousarray(image), (0, 0), rng.uniform(0.4, 1.5 if hard else 0.8))
        if hard:
            exposure, warmth, sigma = rng.uniform(0.42, 1.3), rng.uniform(-0.25, 0.25), rng.uniform(0, 21)
        else:
            exposure, warmth, sigma = rng.uniform(0.85, 1.15), rng.normal(0, 0.05), rng.uniform(0, 5)
        gains = np.array([1 + 0.8 * warmth, 1 + rng.normal(0, 0.02), 1 - warmth], np.float32) * np.float32(exposure)
        picture = image.astype(np.float32) * gains
        start = rng.integers(len(self._noise) - picture.size)
        picture += np.float32(sigma) * self._noise[start : start + picture.size].reshape(picture.shape)
        return np.clip(picture, 0, 255).astype(np.uint8)


def _mirrored(sample: Sample) -> Sample:
    objects = [replace(seen, u=_DRAWN_SIZE - seen.u) for seen in sample.truth.objects]
    return Sample(sample.image[:, ::-1], sample.labels[:, :, ::-1], replace(sample.truth, objects=objects))


def _warped(image: np.ndarray, linear: np.ndarray, offset: np.ndarray, interpolation: int, border: int) -> np.ndarray:
    """Pixel p of the image goes to linear @ p + offset; OpenCV counts pixels from their centres."""
    shift = offset + linear @ [0.5, 0.5] - 0.5
    matrix = np.column_stack([linear, shift])
    size = (image.shape[1], image.shape[0])
    return cv2.warpAffine(np.ascontiguousarray(image), matrix, size, flags=interpolation, borderMode=border)


def _warped_labels(labels: np.ndarray, linear: np.ndarray, offset: np.ndarray) -> np.ndarray:
    cells = np.ascontiguousarray(labels.transpose(1, 2, 0))
    offset = offset * (LABEL_SIZE / PICTURE_SIZE)
    return _warped(cells, linear, offset, cv2.INTER_NEAREST, cv2.BORDER_CONSTANT).transpose(2, 0, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--scenes", type=int, required=True, help=f"a multiple of {SCENES_PER_SHARD}")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--varied", action="store_true", help="half of the scenes through wide and tilted cameras")
    args = parser.parse_args()
    for number in range(args.scenes // SCENES_PER_SHARD):
        render_shard(args.seed, number, args.out, args.varied)


if __name__ == "__main__":
    main()
