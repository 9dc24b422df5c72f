"""Writes a checkpoint as engram loads it: f16 weights, configuration, tokenizer and golden readings.

    python export.py --checkpoint WORK/run/checkpoint.pt --vocabulary WORK/vocabulary --out ..

`--before` mixes in the checkpoint that the run was started from: what is new is learnt, and less
of what was known is lost. Of several checkpoints of runs from the same one the mean is taken.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from pathlib import Path

import torch
from evaluate import load
from grammar import HEADS, ROLES, supplied
from model import config_of
from safetensors.torch import save_file
from train import read

GOLDEN = 60
SHARE = 0.6
"""Weight of what is newer, where nothing else is said."""


def plural_of(head: str) -> str:
    """The name in `config.json` of what a head can answer."""
    return head if head.endswith("s") else head + "s"


_SAID = [
    "architectures", "hidden_act", "hidden_size", "intermediate_size", "layer_norm_eps", "max_position_embeddings",
    "model_type", "num_attention_heads", "num_hidden_layers", "pad_token_id", "type_vocab_size", "vocab_size",
    "roles", *(plural_of(head) for head in HEADS),
]  # fmt: skip


def mixed(shares: list[tuple[float, dict[str, torch.Tensor]]]) -> dict[str, torch.Tensor]:
    return {
        name: sum(share * state[name] for share, state in shares) if tensor.is_floating_point() else tensor
        for name, tensor in shares[-1][1].items()
    }


def state_of(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["model"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, nargs="+", required=True)
    parser.add_argument("--before", type=Path, help="checkpoint to mix it with")
    parser.add_argument("--share", type=float, default=SHARE, help="of what is newer, in that mix")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    shutil.copy(args.vocabulary / "tokenizer.json", args.out / "tokenizer.json")
    state = mixed([(1 / len(args.checkpoint), state_of(path)) for path in args.checkpoint])
    if args.before:
        state = mixed([(1 - args.share, state_of(args.before)), (args.share, state)])
    weights = {name: tensor.half().contiguous() for name, tensor in state.items() if "position_ids" not in name}
    save_file(weights, args.out / "model.safetensors", metadata={"format": "pt"})
    config = config_of(len(state["bert.embeddings.word_embeddings.weight"])).to_dict()
    config |= {
        "architectures": ["RequestReader"],
        "roles": ROLES,
        **{plural_of(head): answers for head, answers in HEADS.items()},
    }
    kept = {key: config[key] for key in _SAID}
    (args.out / "config.json").write_text(json.dumps(kept, indent=2) + "\n")

    model, tokenizer = load(args.out)
    rng, grammar = random.Random(77), supplied()
    lines = []
    for request in read(model, tokenizer, [grammar.request(rng).text for _ in range(GOLDEN)]):
        spans, start = [], 0
        for end in range(1, len(request.text) + 1):
            if end == len(request.text) or request.roles[end] != request.roles[start]:
                if request.roles[start]:
                    spans.append([ROLES[request.roles[start]], start, end])
                start = end
        whole = {head: getattr(request, head) for head in HEADS}
        lines.append(json.dumps({"text": request.text, "spans": spans, **whole}, ensure_ascii=False))
    (args.out / "golden.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
