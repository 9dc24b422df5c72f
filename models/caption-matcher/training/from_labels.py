"""Trains all six layers of all-MiniLM-L6-v2 on places: which captions show what was asked for.

    python teacher.py --minilm MINILM --places places ../../../benches/language --without J K L --out WORK/teacher.pt

Of a caption that shows it nobody said which sentence does: the likeliest of the three nearest counts
(multiple-instance learning). Captions that only may show it are left out.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import torch
from model import (
    TABLE,
    Matcher,
    as_tensors,
    config_of,
    logits,
    optimiser_of,
    start_from,
    step_towards,
    tokenizer_of,
    weights_of,
)
from nearest import Embedder, Sentences
from places import read
from torch.nn import functional

QUESTIONS, SHOWN_MAX, NEAREST, FAR = 8, 3, 8, 1
WARM_UP = 0.06
FIRST_NEAREST = 0.3
"""Share of the first pass in which the nearest sentence counts, as the model knows nothing yet."""


def files_of(folder: Path) -> tuple[Path, Path]:
    own = folder / "captions.jsonl", folder / "questions.jsonl"
    return own if own[0].exists() else (folder / "long_captions.jsonl", folder / "long_caption_questions.jsonl")


def places_of(folders: list[Path], without: list[str]) -> dict:
    found = {name: it for folder in folders for name, it in read(*files_of(folder)).items()}
    return {name: it for name, it in found.items() if name[0] not in without}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True)
    parser.add_argument("--without", nargs="*", default=["J", "K", "L"], help="groups that are held out")
    parser.add_argument("--start", type=Path, help="a teacher to train further")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--peak", type=float, default=5e-5)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    random.seed(1), torch.manual_seed(1)
    embedder, tokenizer, known = Embedder(args.minilm), tokenizer_of(args.minilm), weights_of(args.minilm)
    asked = []
    for place in places_of(args.places, args.without).values():
        of = Sentences(embedder, place)
        asked += [(it, of.nearest(it)) for it in place.questions]
    model = Matcher(config_of(len(known[TABLE]), 6), has_types=True)
    start_from(model, known, list(range(6)), known[TABLE].float())
    if args.start:
        model.load_state_dict(torch.load(args.start, weights_only=True))
    steps = args.passes * -(-len(asked) // QUESTIONS)
    optimiser, schedule = optimiser_of(model, args.peak, steps, WARM_UP)
    for number in range(args.passes):
        random.shuffle(asked)
        for start in range(0, len(asked), QUESTIONS):
            is_first = number == 0 and start < FIRST_NEAREST * len(asked) and not args.start
            pairs, shown = batch(model, tokenizer, asked[start : start + QUESTIONS], is_first)
            model.train()
            loss = functional.binary_cross_entropy_with_logits(
                model(*as_tensors(tokenizer, pairs)), torch.tensor(shown)
            )
            step_towards(loss, model, optimiser, schedule)
            if start // QUESTIONS % 25 == 0:
                print(number, start // QUESTIONS, f"{loss.item():.3f}", flush=True)
        torch.save(model.state_dict(), args.out)


def batch(model, tokenizer, asked, is_first) -> tuple[list[tuple[str, str]], list[float]]:
    pairs, shown = [], []
    for question, captions in asked:
        others = [it for it in captions if it not in question.shown | question.maybe]
        near, far = others[:NEAREST], others[NEAREST:]
        for number in random.sample(near, min(4, len(near))) + random.sample(far, min(FAR, len(far))):
            said = captions[number]
            at = 0 if random.random() < 0.75 or len(said) < 2 else 1
            pairs.append((question.text, said[at][1])), shown.append(0.0)
        for number in random.sample(sorted(question.shown), min(SHOWN_MAX, len(question.shown))):
            said = [(question.text, it) for _, it in captions[number][:3]]
            scores = [1.0] if is_first else logits(model, tokenizer, said)
            pairs.append(said[scores.index(max(scores))]), shown.append(1.0)
    return pairs, shown


if __name__ == "__main__":
    main()
