"""Trains the reader of uses.

    python train.py --minilm MINILM --wordnet DICT --request-reader ../../request-reader --uses uses ../../caption-matcher/training/names --out WORK/uses.pt

`--hold-out uses/writer_6.txt` leaves a writer's file out and measures on it; `--names` says where other names of a thing
stand, which are then not learnt to be wrong.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import torch
from model import UseReader, Words, table_of
from sentence_transformers import SentenceTransformer
from torch.nn.functional import cross_entropy
from uses import Dictionary, told

BATCH = 256
OTHERS = 300
LEFT_OUT = 0.15
"""Share of the words that are left out of a use while training."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--uses", type=Path, nargs="+", required=True)
    parser.add_argument("--names", type=Path, required=True)
    parser.add_argument("--hold-out", type=Path)
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--peak", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    pairs = [pair for folder in args.uses for pair in told(folder)]
    names = sorted({thing for thing, _ in pairs})
    held = told(args.hold_out) if args.hold_out else []
    is_held = {(thing, use) for thing, uses in held for use in uses}
    numbers = {name: number for number, name in enumerate(names)}
    words, dictionary = Words(args.request_reader), Dictionary(args.wordnet)
    known = SentenceTransformer(str(args.minilm), device="cpu").float()
    described = [dictionary.described(it) for it in names]
    model = UseReader(table_of(args.request_reader), torch.tensor(known.encode(described, normalize_embeddings=True)))
    rows = [(use, numbers[thing]) for thing, uses in pairs for use in uses if (thing, use) not in is_held]
    print(f"{len(names)} names, {len(rows)} uses")
    same = other_names(args.names, numbers)
    optimizer = torch.optim.AdamW(
        [
            {"params": [it for name, it in model.named_parameters() if name != "own"], "weight_decay": 0.02},
            {"params": [model.own], "weight_decay": 0.5},
        ],
        lr=args.peak,
    )
    steps = args.passes * -(-len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for number in range(args.passes):
        rng.shuffle(rows)
        total = 0.0
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            tokens = words.rows([use for use, _ in batch])
            logits = model(tokens.masked_fill(torch.rand(tokens.shape) < LEFT_OUT, 0))
            hidden = torch.zeros_like(logits, dtype=torch.bool)
            for row, (_, thing) in enumerate(batch):
                hidden[row, same.get(thing, [])] = True
            loss = cross_entropy(
                logits.masked_fill(hidden, -1e4), torch.tensor([thing for _, thing in batch]), label_smoothing=0.1
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        print(number, f"loss {total / len(rows):.3f}", flush=True)
    if held:
        measure(model.eval(), words, held, numbers, rng)
    torch.save({"names": names, "state": model.state_dict()}, args.out)


def other_names(path: Path, numbers: dict[str, int]) -> dict[int, list[int]]:
    """Of each name the other names of the same thing: lines of `name, name | near, near`."""
    same: dict[int, set[int]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        called = [numbers[it] for it in map(str.strip, line.split("|")[0].split(",")) if it in numbers]
        for name in called:
            same.setdefault(name, set()).update(it for it in called if it != name)
    return {name: sorted(others) for name, others in same.items() if others}


@torch.no_grad()
def measure(model: UseReader, words: Words, held: list, numbers: dict[str, int], rng: random.Random) -> None:
    """How often the thing is the likeliest, and one of the three likeliest, among it and some others."""
    ranks = []
    for thing, uses in held:
        for row in model(words.rows(uses)):
            others = torch.tensor(rng.sample([it for it in range(len(numbers)) if it != numbers[thing]], OTHERS))
            ranks.append(int((row[others] > row[numbers[thing]]).sum()))
    first, three = (sum(it < most for it in ranks) / len(ranks) for most in (1, 3))
    print(f"of {len(ranks)} uses held out, among {OTHERS} others: first {first:.3f}, of the first three {three:.3f}")


if __name__ == "__main__":
    main()
