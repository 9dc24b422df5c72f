"""Fits the confidence of a caption, and shows how far it can be believed.

    python calibrate.py --model .. --fit-seed 606 --test-seed 707 --plot ../reliability.png --photographs DIR

A caption counts as right if everything it claims is true and nothing is left
out: all things with their colours, the surface, the room, and what somebody is
doing. The chance of that follows from how probable the model found the words it
chose: a logistic regression on the mean and the least of their log-probabilities.
Half of the scenes it is fitted on are seen through wide and tilted cameras, so
that it has seen doubt; it is judged on scenes of another seed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import torch
from PIL import Image

from dataset import through_jpeg
from evaluate import JPEG_QUALITY, NONE, WIDEST, Model, Pictures, pictures_of, print_header, print_row
from export import write_json
from invent import clear_scenes, invent_scene, invent_wide_scene
from model import Decoded
from scene import PICTURE_SIZE
from world import ROOMLESS, Truth, parse

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

BINS = 10
_RIDGE = 1e-3
_NEWTON_STEPS = 50


class Confidence(NamedTuple):
    """The chance that a caption is right is the logistic function of this sum."""

    intercept: float
    mean_log_prob: float
    min_log_prob: float

    def of(self, captions: list[Decoded]) -> np.ndarray:
        return 1 / (1 + np.exp(-features_of(captions) @ np.array(self)))


def features_of(captions: list[Decoded]) -> np.ndarray:
    """(n, 3): one, the mean and the least log-probability of the tokens."""
    return np.array([[1, np.mean(c.log_probs), np.min(c.log_probs)] for c in captions])


def is_right(caption: str, truth: Truth) -> bool:
    claims = parse(caption)
    room = None if truth.furniture in ROOMLESS else truth.room
    return (
        Counter(claims.things) == Counter(seen.thing for seen in truth.objects)
        and claims.surface == (truth.furniture, truth.material)
        and claims.room == room
        and claims.activity == truth.activity
    )


def fit(features: np.ndarray, right: np.ndarray) -> Confidence:
    """Logistic regression by Newton's method, with a trace of ridge so that it always ends."""
    weights = np.zeros(features.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (right - chance) - _RIDGE * weights
        curvature = (features * (chance * (1 - chance))[:, None]).T @ features + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, slope)
    return Confidence(*(float(weight) for weight in weights))


class Bin(NamedTuple):
    captions: int
    confidence: float
    right: float


def reliability(confidence: np.ndarray, right: np.ndarray) -> list[Bin]:
    """Captions by their confidence, in steps of a tenth: what was claimed, and what came true."""
    which = np.minimum((confidence * BINS).astype(int), BINS - 1)
    groups = [which == i for i in range(BINS)]
    return [Bin(int(g.sum()), float(confidence[g].mean()), float(right[g].mean())) for g in groups if g.any()]


def calibration_error(bins: list[Bin]) -> float:
    """The expected distance between claim and truth."""
    captions = sum(b.captions for b in bins)
    return sum(b.captions * abs(b.confidence - b.right) for b in bins) / captions


def scenes_to_fit(seed: int, count: int) -> Pictures:
    rng = np.random.default_rng(seed)
    level, wide = clear_scenes(rng, invent_scene), clear_scenes(rng, invent_wide_scene)
    renderings = [next(wide if i % 2 else level)[1] for i in range(count)]
    return [(through_jpeg(rendering.picture, JPEG_QUALITY), rendering.truth) for rendering in renderings]


def judged(model: Model, pictures: Pictures) -> tuple[list[Decoded], np.ndarray]:
    """Captions of pictures, and which are right."""
    captions = model.decode([picture for picture, _ in pictures])
    return captions, np.array([is_right(c.caption, truth) for c, (_, truth) in zip(captions, pictures, strict=True)])


def plot_reliability(rows: dict[str, list[Bin]], out: Path) -> None:
    figure, axes = pyplot.subplots(figsize=(4.5, 4.2), dpi=90)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, bins in rows.items():
        axes.plot([b.confidence for b in bins], [b.right for b in bins], marker="o", markersize=4, label=name)
    axes.set(xlabel="confidence of the caption", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="upper left", frameon=False)
    figure.tight_layout()
    figure.savefig(out)


def photographs_in(directory: Path) -> list[np.ndarray]:
    """Each picture file whole, and its four quarters, as the model's preprocessing makes them."""
    pictures = []
    for path in sorted(directory.iterdir()):
        whole = Image.open(path).convert("RGB")
        w, h = whole.size
        quarters = [(x, y, x + w // 2, y + h // 2) for x in (0, w // 2) for y in (0, h // 2)]
        for part in [(0, 0, w, h), *quarters]:
            small = whole.crop(part).resize((PICTURE_SIZE, PICTURE_SIZE), Image.Resampling.BICUBIC)
            pictures.append(np.asarray(small))
    return pictures


def print_spread(name: str, confidence: np.ndarray) -> None:
    print_row(name, len(confidence), *(float(np.quantile(confidence, q)) for q in (0.1, 0.5, 0.9, 1.0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="gets a confidence.json")
    parser.add_argument("--fit-seed", type=int, required=True)
    parser.add_argument("--test-seed", type=int, required=True)
    parser.add_argument("--scenes", type=int, default=1000, help="to fit on, and as many to judge by")
    parser.add_argument("--shift-scenes", type=int, default=300, help="to judge by through the widest camera")
    parser.add_argument("--plot", type=Path, help="a PNG file")
    parser.add_argument("--photographs", type=Path, help="a directory of pictures that the model was not made for")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = Model(args.model)
    captions, right = judged(model, scenes_to_fit(args.fit_seed, args.scenes))
    confidence = fit(features_of(captions), right)
    write_json(args.model / "confidence.json", confidence._asdict())
    print(confidence)
    rows: dict[str, list[Bin]] = {}
    spreads: dict[str, np.ndarray] = {}
    print_header("scenes", "captions", "right", "mean confidence", "calibration error")
    for shift, scenes in (NONE, args.scenes), (WIDEST, args.shift_scenes):
        captions, right = judged(model, pictures_of(args.test_seed, scenes, shift))
        claimed = confidence.of(captions)
        rows[shift.name] = reliability(claimed, right)
        error = calibration_error(rows[shift.name])
        print_row(shift.name, len(captions), float(right.mean()), float(claimed.mean()), error)
        spreads[shift.name] = claimed
    if args.plot:
        plot_reliability(rows, args.plot)
    print_header("pictures", "number", "10 %", "median", "90 %", "highest")
    for name, claimed in spreads.items():
        print_spread(f"scenes, {name}", claimed)
    if args.photographs:
        print_spread("photographs", confidence.of(model.decode(photographs_in(args.photographs))))


if __name__ == "__main__":
    main()
