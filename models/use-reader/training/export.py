"""Writes a reader of uses as engram loads it: f16 weights, configuration, names and golden answers.

python export.py --model WORK/uses.pt --request-reader ../../request-reader --uses uses --out ..
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import torch
from model import HIDDEN, SIZE, UseReader, Words, table_of
from safetensors.torch import save_file
from uses import told

GOLDEN = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--uses", type=Path, required=True, help="for the golden answers")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    saved = torch.load(args.model, weights_only=True)
    names, state = saved["names"], saved["state"]
    model = UseReader(table_of(args.request_reader), state["known"])
    model.load_state_dict(state)
    model.eval()
    layers = [name for name in state if name.split(".")[0] in ("words", "importance", "inner", "outer")]
    kept = {name: state[name].half().contiguous() for name in layers}
    with torch.no_grad():
        kept["names"] = (model.scale.exp() * model.names()).half().contiguous()
    save_file(kept, args.out / "model.safetensors", metadata={"format": "pt"})
    said = {"architectures": ["UseReader"], "words_of": "request-reader", "hidden_size": HIDDEN, "size": SIZE}
    (args.out / "config.json").write_text(json.dumps(said, indent=2) + "\n")
    (args.out / "names.json").write_text(json.dumps(names, indent=0, ensure_ascii=False) + "\n")

    words, pairs = Words(args.request_reader), told(args.uses)
    uses = random.Random(7).sample(sorted({use for _, uses in pairs for use in uses}), GOLDEN)
    with torch.no_grad(), (args.out / "golden.jsonl").open("w") as out:
        for use in uses:
            probabilities = model(words.rows([use]))[0].softmax(0)
            probability, number = probabilities.max(0)
            row = {"use": use, "thing": names[number], "probability": round(probability.item(), 4)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
