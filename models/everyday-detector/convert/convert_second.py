"""Writes second.safetensors and model.safetensors.index.json: the second detector, of the
TFLite graph that MediaPipe's Objectron finds things with.

    npm pack @mediapipe/objectron@0.4.1675468480 && tar xf mediapipe-objectron-0.4.1675468480.tgz
    pip install numpy safetensors tflite==2.18.0
    python convert.py human-models/package/models .. && python convert_second.py package ..

The package keeps the weights in half precision, and so does the file: nothing is rounded. The
index tells that the model's weights lie in two files.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import tflite
from safetensors import safe_open
from safetensors.numpy import save_file

PACKED = "objectron_solution_packed_assets.data"
SHA256 = "470986ca5df183f41698da6de74b027d838fe289d77b5ab094497d350bee664e"
# Where the graph lies in it, behind the names of its classes.
GRAPH = slice(184, 9987912)

BLOCKS = 17
# The block after whose first convolution the finest level is taken.
FINEST_BLOCK = 13
LEVELS = 6
CONVOLUTIONS = (tflite.BuiltinOperator.CONV_2D, tflite.BuiltinOperator.DEPTHWISE_CONV_2D)


def layer_names():
    """Names of the convolutions in the order in which the graph has them."""
    names = ["stem"]
    for block in range(BLOCKS):
        if block > 0:
            names.append(f"blocks.{block}.expand")
        if block == FINEST_BLOCK:
            names += ["levels.0.boxes", "levels.0.scores"]
        names += [f"blocks.{block}.depthwise", f"blocks.{block}.project"]
    names.append("last")
    for level in range(1, LEVELS):
        if level > 1:
            names += [f"coarser.{level - 2}.{part}" for part in ("narrow", "halve")]
        names += [f"levels.{level}.{part}" for part in ("boxes", "scores")]
    return [f"second.{it}" for it in names]


def graph_of(package):
    """The graph, if the package's file is the one that this was written for."""
    data = (package / PACKED).read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        sys.exit(f"{package / PACKED} is not the file of @mediapipe/objectron 0.4.1675468480")
    return tflite.Model.GetRootAs(data[GRAPH])


def constants_of(model):
    """Numbers that the graph holds, by the tensor that the operators read them from."""
    graph = model.Subgraphs(0)
    found = {}
    for at in range(graph.OperatorsLength()):
        operator = graph.Operators(at)
        if model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode() == tflite.BuiltinOperator.DEQUANTIZE:
            tensor = graph.Tensors(operator.Inputs(0))
            stored = model.Buffers(tensor.Buffer()).DataAsNumpy().tobytes()
            found[operator.Outputs(0)] = np.frombuffer(stored, "<f2").reshape(tensor.ShapeAsNumpy())
    return found


def tensors_of(model):
    """Weight and bias of each convolution: as one matrix product takes them, a depthwise one as
    windows × channels."""
    graph, constants, names = model.Subgraphs(0), constants_of(model), iter(layer_names())
    tensors = {}
    for at in range(graph.OperatorsLength()):
        operator = graph.Operators(at)
        kind = model.OperatorCodes(operator.OpcodeIndex()).BuiltinCode()
        if kind not in CONVOLUTIONS:
            continue
        kernel, name = constants[operator.Inputs(1)], next(names)
        if kind == tflite.BuiltinOperator.CONV_2D:
            kernel = kernel.transpose(1, 2, 3, 0)
        tensors[f"{name}.weight"] = np.ascontiguousarray(kernel.reshape(-1, kernel.shape[-1]))
        tensors[f"{name}.bias"] = constants[operator.Inputs(2)].copy()
    if next(names, None):
        sys.exit("the graph has fewer convolutions than it should")
    return tensors


def names_in(file):
    """Of the tensors of a safetensors file."""
    with safe_open(file, "numpy") as opened:
        return sorted(opened.keys())


def main(package, out):
    """Writes both files."""
    out = Path(out)
    tensors = tensors_of(graph_of(Path(package)))
    save_file(tensors, out / "second.safetensors")
    files = ("model.safetensors", "second.safetensors")
    index = {"weight_map": {name: file for file in files for name in names_in(out / file)}}
    (out / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")
    print(f"{sum(it.size for it in tensors.values())} parameters in {len(tensors)} tensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
