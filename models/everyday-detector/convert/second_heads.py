"""Makes second.* in tests/fixtures/photographs: what LiteRT answers to the photographs there that
heads.py made, and the boxes of that.

    npm pack @mediapipe/objectron@0.4.1675468480 && tar xf mediapipe-objectron-0.4.1675468480.tgz
    pip install numpy pillow safetensors tflite==2.18.0 ai-edge-litert==2.3.0
    python second_heads.py package ../../../tests/fixtures/photographs
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from convert import SECOND_CLASSES
from convert_second import GRAPH, PACKED, graph_of
from heads import KEPT_EVERY, OVERLAP_MAX, PHOTOGRAPHS, overlap
from PIL import Image
from safetensors.numpy import save_file

SIDE = 300
THRESHOLD = 0.3
# As MediaPipe's graph for it sets its calculator of anchors.
STRIDES = (16, 32, 64, 128, 256, 512)
SCALES = (0.2, 0.95)
RATIOS = (1.0, 2.0, 0.5, 3.0, 0.3333)


def anchors():
    """Middle and size of each box, x first."""
    found = []
    scales = [*np.linspace(*SCALES, len(STRIDES)), 1.0]
    for level, stride in enumerate(STRIDES):
        grid = math.ceil(SIDE / stride)
        sizes = [(scales[level], ratio) for ratio in RATIOS]
        sizes.append((math.sqrt(scales[level] * scales[level + 1]), 1.0))
        if level == 0:
            sizes = [(0.1, 1.0), *sizes[1:3]]
        for y in range(grid):
            for x in range(grid):
                for scale, ratio in sizes:
                    size = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
                    found.append(((x + 0.5) / grid, (y + 0.5) / grid, *size))
    return np.array(found)


def tensor_of(photograph):
    """Input of the network, as the reference feeds it."""
    picture = Image.open(photograph).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR)
    return np.asarray(picture).astype(np.float32)[None] / 127.5 - 1


def boxes_of(moved, scores):
    """[class, score, left, top, right, bottom] of what is found, best first."""
    x, y, width, height = anchors().T
    x, y = x + moved[:, 1] / 10 * width, y + moved[:, 0] / 10 * height
    width, height = width * np.exp(moved[:, 3] / 5), height * np.exp(moved[:, 2] / 5)
    boxes = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], 1).clip(0, 1)
    chances = 1 / (1 + np.exp(-scores[:, 1:]))
    found = zip(*np.where(chances > THRESHOLD), strict=True)
    kept = []
    for at, kind in sorted(found, key=lambda it: -chances[it]):
        box = [float(it) for it in boxes[at]]
        if all(kind != best[0] or overlap(box, best[2:]) < OVERLAP_MAX for best in kept):
            kept.append([int(kind), float(chances[at, kind]), *box])
    return kept


def main(package, out):
    """Writes second.safetensors and second.json."""
    graph_of(Path(package))  # Only the file that the converter reads.
    out = Path(out)
    network = Interpreter(model_content=(Path(package) / PACKED).read_bytes()[GRAPH], num_threads=1)
    network.allocate_tensors()
    (given,), answers = network.get_input_details(), network.get_output_details()
    kept, boxes = {}, {}
    for name in PHOTOGRAPHS:
        network.set_tensor(given["index"], tensor_of(out / f"{name}.jpg"))
        network.invoke()
        moved, scores = sorted((network.get_tensor(it["index"])[0] for it in answers), key=lambda it: it.shape[1])
        if scores.shape[1] != len(SECOND_CLASSES) + 1:
            sys.exit(f"{scores.shape[1]} classes")
        kept[f"{name}.boxes"] = moved.reshape(-1)[::KEPT_EVERY].copy()
        kept[f"{name}.scores"] = scores.reshape(-1)[::KEPT_EVERY].copy()
        boxes[name] = [[round(it, 5) for it in box] for box in boxes_of(moved, scores)]
    save_file(kept, out / "second.safetensors")
    lines = (f'"{name}": {json.dumps(found)}' for name, found in boxes.items())
    (out / "second.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
