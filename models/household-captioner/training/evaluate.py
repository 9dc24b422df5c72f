"""Scores a model directory on scenes of a seed that nobody trained on, and under conditions nobody promised.

    python evaluate.py --model .. --seed 4242 --scenes 1000 --shifts --flat ../flat

Prints Markdown tables. Precision and recall count a thing as right if its type
and its colour are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BlipForConditionalGeneration
from transformers.utils.logging import disable_progress_bar

from dataset import through_jpeg
from invent import invent_scene
from model import Decoded, decode_greedily, to_tensor
from scene import Scene, render
from scoring import Score, score
from world import Truth

JPEG_QUALITY = 90
UNSEEN_TEXTURES = 123

Pictures = list[tuple[np.ndarray, Truth]]


class Shift(NamedTuple):
    """One way in which the world differs from the renderer's: in the scene, in its textures, or in the picture."""

    name: str
    scene: Callable[[Scene], Scene] = lambda scene: scene
    texture_seed: int | None = None
    picture: Callable[[np.ndarray, np.random.Generator], np.ndarray] = lambda picture, rng: picture


def _with_view(**changes: float) -> Callable[[Scene], Scene]:
    def change(scene: Scene) -> Scene:
        return replace(scene, place=replace(scene.place, view=replace(scene.place.view, **changes)))

    return change


def _gained(red: float, green: float, blue: float) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    gains = np.array([red, green, blue])
    return lambda picture, rng: np.clip(picture * gains, 0, 255).astype(np.uint8)


def _noisy(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(picture + rng.normal(0, 20, picture.shape), 0, 255).astype(np.uint8)


def _blurred(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return cv2.GaussianBlur(picture, (0, 0), 1.5)


NONE = Shift("as trained")
WIDEST = Shift("field of view 72 degrees", scene=_with_view(fov=1.25))
SHIFTS = [
    NONE,
    Shift("noise, sigma 20", picture=_noisy),
    Shift("blur, sigma 1.5 px", picture=_blurred),
    Shift("exposure x 0.45", picture=_gained(0.45, 0.45, 0.45)),
    Shift("exposure x 1.25", picture=_gained(1.25, 1.25, 1.25)),
    Shift("warm white balance (1.2, 1, 0.75)", picture=_gained(1.2, 1.0, 0.75)),
    Shift("cool white balance (0.82, 1, 1.2)", picture=_gained(0.82, 1.0, 1.2)),
    Shift("textures never seen", texture_seed=UNSEEN_TEXTURES),
    Shift("camera rolled by 14 degrees", scene=_with_view(roll=0.25)),
    WIDEST,
]


def pictures_of(seed: int, count: int, shift: Shift) -> Pictures:
    """Clear scenes of a seed under a shift, as JPEG files would hold them."""
    return list(islice(_endless_pictures(np.random.default_rng(seed), shift), count))


def _endless_pictures(rng: np.random.Generator, shift: Shift):
    while True:
        rendering = render(shift.scene(invent_scene(rng)), shift.texture_seed)
        if rendering.is_clear:
            picture = shift.picture(rendering.picture, rng)
            yield through_jpeg(picture, JPEG_QUALITY), rendering.truth


def frames_of(flat: Path) -> Pictures:
    lines = [json.loads(line) for line in (flat / "truth.jsonl").read_text().splitlines()]
    return [(cv2.imread(str(flat / line["file"]))[..., ::-1], Truth.from_json(line)) for line in lines]


class Model:
    def __init__(self, directory: Path):
        self._captioner = BlipForConditionalGeneration.from_pretrained(directory, dtype=torch.float32).eval()
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))

    def decode(self, pictures: list[np.ndarray]) -> list[Decoded]:
        return decode_greedily(self._captioner, self._tokenizer, to_tensor(np.stack(pictures)))

    def score(self, pictures: Pictures) -> Score:
        captions = [decoded.caption for decoded in self.decode([picture for picture, _ in pictures])]
        return score(captions, [truth for _, truth in pictures])


def print_row(*cells: object) -> None:
    print("| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")


def print_header(*names: str) -> None:
    print()
    print_row(*names)
    print_row(*["---"] * len(names))


def print_summary(result: Score) -> None:
    print_header("measure", "value")
    for name, value in result.summary().items():
        print_row(name.replace("_", " "), value)


def print_types(result: Score) -> None:
    print_header("type", "seen", "precision", "recall")
    for name, matches in sorted(result.type_of.items()):
        print_row(name, matches.there, matches.precision, matches.recall)


def print_shifts(model: Model, seed: int, count: int) -> None:
    print_header("condition", "precision", "recall", "all things", "surface", "room")
    for shift in SHIFTS:
        row = model.score(pictures_of(seed, count, shift)).summary()
        print_row(shift.name, *(row[name] for name in ("precision", "recall", "all_things", "surface", "room")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--shifts", action="store_true", help="also score under changed conditions")
    parser.add_argument("--shift-scenes", type=int, default=300)
    parser.add_argument("--flat", type=Path, help="also score on the demo data")
    args = parser.parse_args()
    torch.set_num_threads(1)
    disable_progress_bar()
    model = Model(args.model)
    result = model.score(pictures_of(args.seed, args.scenes, NONE))
    print_summary(result)
    print_types(result)
    if args.shifts:
        print_shifts(model, args.seed, args.shift_scenes)
    if args.flat:
        print("\nThe flat:")
        print_summary(model.score(frames_of(args.flat)))


if __name__ == "__main__":
    main()
