"""Writes rendered scenes: JPEG frames and `truth.jsonl` with the true caption and the objects of each.

    python render.py --seed 7 --scenes 100 --out /tmp/scenes --sheet

A line of `truth.jsonl` has `file`, `caption`, `room`, `furniture`, `material`, `activity` (of a
person in the picture, or null) and `objects` from left to right: `type`, `colour` (null if it is
not named), `box` (left, top, right, bottom in pixels of the frame), `share` of the frame that
shows it, and `u`, `v` (where it stands) and `pixels` as counted in a picture of twice the size.
"""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from canvas import SIZE
from invent import clear_scenes
from scene import Rendering
from world import caption


def jpeg_bytes(picture: np.ndarray, quality: int) -> bytes:
    """An RGB picture as a JPEG file."""
    _, data = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def contact_sheet(pictures: list[np.ndarray], columns: int = 8) -> np.ndarray:
    """Pictures side by side at twice their size, to look at before training on them."""
    blank = np.zeros_like(pictures[0])
    padded = pictures + [blank] * (-len(pictures) % columns)
    rows = [np.concatenate(padded[i : i + columns], 1) for i in range(0, len(padded), columns)]
    return cv2.resize(np.concatenate(rows), None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)


def line_of(name: str, rendering: Rendering) -> dict:
    """What `truth.jsonl` says of a frame."""
    line = {"file": name, **rendering.truth.to_json()}
    for seen, box in zip(line["objects"], rendering.boxes, strict=True):
        seen.update(box=list(box), share=round(seen["pixels"] / SIZE**2, 4))
    return line


def write_scenes(seed: int, count: int, out: Path, quality: int) -> list[np.ndarray]:
    frames = out / "frames"
    frames.mkdir(parents=True, exist_ok=True)
    pictures = []
    with (out / "truth.jsonl").open("w") as truth_file:
        scenes = clear_scenes(np.random.default_rng(seed))
        for number, (_, rendering) in enumerate(islice(scenes, count), 1):
            name = f"frames/{number:06}.jpg"
            (out / name).write_bytes(jpeg_bytes(rendering.picture, quality))
            truth_file.write(json.dumps(line_of(name, rendering)) + "\n")
            pictures.append(rendering.picture)
            if number <= 12:
                print(f"{number:4} {caption(rendering.truth)}")
    return pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--scenes", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quality", type=int, default=90, help="of the JPEG files")
    parser.add_argument("--sheet", action="store_true", help="also write sheet.png with the first 40 frames")
    args = parser.parse_args()
    pictures = write_scenes(args.seed, args.scenes, args.out, args.quality)
    if args.sheet:
        cv2.imwrite(str(args.out / "sheet.png"), contact_sheet(pictures[:40])[..., ::-1])


if __name__ == "__main__":
    main()
