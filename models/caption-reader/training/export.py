"""Writes a checkpoint as engram loads it: f16 weights, configuration and golden readings.

python export.py --checkpoint WORK/run/checkpoint.pt --request-reader ../../request-reader --out ..
    --texts ../../../benches/language/parse_200.jsonl

`--before` mixes in the model that the run was started from: what is new is learnt, and less
of what was known is lost.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from grammar import supplied
from labels import ROLES, write_captions
from model import POINTER, POSITIONS, WORDS, config_of, load
from reading import read

GOLDEN_MADE, GOLDEN_WRITTEN = 40, 40
_SAID = [
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "layer_norm_eps",
    "max_position_embeddings",
    "model_type",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
]


def config_file(vocabulary: int, layers: int) -> dict:
    config = config_of(vocabulary, layers).to_dict()
    said = {"architectures": ["CaptionReader"]} | {key: config[key] for key in _SAID}
    return said | {"words_of": "request-reader", "pointer_size": POINTER, "roles": ROLES}


def golden_texts(written: Path) -> list[str]:
    rng, grammar = random.Random(77), supplied()
    made = [grammar.caption(rng).text for _ in range(GOLDEN_MADE)]
    texts = [json.loads(line)["text"] for line in written.open()]
    step = len(texts) // GOLDEN_WRITTEN
    return [it for it in made + texts[::step] if it.isascii()]


def mixed(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor], share: float) -> dict[str, torch.Tensor]:
    return {name: (1 - share) * before[name] + share * it for name, it in after.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--before", type=Path, help="folder of a model to mix it with")
    parser.add_argument("--share", type=float, default=0.7, help="of the checkpoint in that mixture")
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True, help="captions for the golden readings")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    state = torch.load(args.checkpoint, weights_only=True)["model"]
    if args.before:
        state = mixed(load(args.before, args.request_reader).state_dict(), state, args.share)
    layers = 1 + max(int(name.split(".")[3]) for name in state if ".layer." in name)
    weights = {name: it.half().contiguous() for name, it in state.items() if name != WORDS}
    assert len(weights["bert.embeddings.position_embeddings.weight"]) == POSITIONS
    save_file(weights, args.out / "model.safetensors", metadata={"format": "pt"})
    config = config_file(len(state[WORDS]), layers)
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")

    tokenizer = Tokenizer.from_file(str(args.request_reader / "tokenizer.json"))
    tokenizer.no_padding()
    model = load(args.out, args.request_reader)
    write_captions(args.out / "golden.jsonl", [read(model, tokenizer, it) for it in golden_texts(args.texts)])


if __name__ == "__main__":
    main()
