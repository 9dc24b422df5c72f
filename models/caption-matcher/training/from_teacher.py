"""Trains three layers to answer as the teacher does, with the vectors of tokens of request-reader.

    python from_teacher.py --teacher WORK/teacher.pt --minilm MINILM --request-reader ../../request-reader
        --places places ../../../benches/language --out WORK/student.pt

Pairs are each question with the sentences of its place that are nearest to it, and with five of another
place. Where captions are labelled their labels count two fifths, the teacher's answer the rest.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import torch
from model import (
    TABLE,
    Matcher,
    as_tensors,
    config_of,
    load,
    logits,
    optimiser_of,
    start_from,
    step_towards,
    tokenizer_of,
    weights_of,
)
from nearest import Embedder, Sentences
from places import HELD_OUT, Place, places_of
from torch.nn import functional

LAYERS = [1, 3, 5]
NOT_SHOWN, OF_SHOWN, ELSEWHERE = 9, 3, 5
LABEL_SHARE = 0.4
BATCH, POOLED = 64, 16
"""Pairs of a step, and steps whose pairs are sorted by length together."""
WARM_UP = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True)
    parser.add_argument("--without", nargs="*", default=HELD_OUT, help="groups that are held out")
    parser.add_argument("--start", type=Path, help="a student to train further, at a lower peak")
    parser.add_argument("--passes", type=float, default=3)
    parser.add_argument("--peak", type=float, default=1.5e-4)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    random.seed(1), torch.manual_seed(1)
    teacher, teachers_tokenizer = load(args.teacher, args.minilm, args.request_reader)
    kept = args.out.with_suffix(".pairs.json")
    if not kept.exists():
        places = places_of(args.places, args.without)
        kept.write_text(json.dumps(labelled(teacher, teachers_tokenizer, places, Embedder(args.minilm))))
    pairs = json.loads(kept.read_text())
    tokenizer, table = tokenizer_of(args.request_reader), weights_of(args.request_reader)[TABLE].float()
    model = Matcher(config_of(len(table), len(LAYERS)))
    start_from(model, teacher.bert.state_dict(), LAYERS, table)
    model.match.load_state_dict(teacher.match.state_dict())
    if args.start:
        model.load_state_dict(torch.load(args.start, weights_only=True))
    train(model, tokenizer, pairs, args)


def labelled(teacher, tokenizer, places: dict[str, Place], embedder: Embedder) -> list[tuple[str, str, float]]:
    """Pairs of a question and a sentence, and how likely the one shows the other."""
    said = {name: Sentences(embedder, place) for name, place in places.items()}
    pairs: list[tuple[str, str]] = []
    shown_by: list[tuple[str, str, int] | None] = []
    not_shown: set[int] = set()
    for name, place in places.items():
        for question in place.questions:
            others = 0
            for number, near in said[name].nearest(question).items():
                is_shown, may = number in question.shown, number in question.maybe
                if not is_shown and not may and others == NOT_SHOWN:
                    continue
                others += not is_shown and not may
                for _, sentence in near[: OF_SHOWN if is_shown else 1]:
                    if not is_shown and not may:
                        not_shown.add(len(pairs))
                    pairs.append((question.text, sentence))
                    shown_by.append((name, question.text, number) if is_shown else None)
            elsewhere = said[random.choice(list(places))].nearest(question, said[name]).values()
            for near in list(elsewhere)[:ELSEWHERE]:
                pairs.append((question.text, near[0][1])), shown_by.append(None)
    found = [1 / (1 + math.exp(-it)) for it in logits(teacher, tokenizer, pairs)]
    likeliest: dict[tuple[str, str, int], int] = {}
    for at, of in enumerate(shown_by):
        if of is not None and found[at] > found[likeliest.setdefault(of, at)]:
            likeliest[of] = at
    label = dict.fromkeys(likeliest.values(), 1.0) | dict.fromkeys(not_shown, 0.0)
    mixed = [(1 - LABEL_SHARE) * it + LABEL_SHARE * label[at] if at in label else it for at, it in enumerate(found)]
    return [(*pair, it) for pair, it in zip(pairs, mixed)]


def train(model, tokenizer, pairs, args) -> None:
    length = [len(question) + len(said) for question, said, _ in pairs]
    steps = int(args.passes * -(-len(pairs) // BATCH))
    optimiser, schedule = optimiser_of(model, args.peak, steps, WARM_UP)
    batches: list[list[int]] = []
    for step in range(steps):
        if not batches:
            order = random.sample(range(len(pairs)), len(pairs))
            for start in range(0, len(order), BATCH * POOLED):
                pool = sorted(order[start : start + BATCH * POOLED], key=length.__getitem__)
                batches += [pool[at : at + BATCH] for at in range(0, len(pool), BATCH)]
            random.shuffle(batches)
        rows = [pairs[at] for at in batches.pop()]
        model.train()
        answers = model(*as_tensors(tokenizer, [(question, said) for question, said, _ in rows]))
        loss = functional.binary_cross_entropy_with_logits(answers, torch.tensor([it for *_, it in rows]))
        step_towards(loss, model, optimiser, schedule)
        if step % 50 == 0:
            print(step, steps, f"{loss.item():.4f}", flush=True)
        if step % 400 == 399 or step + 1 == steps:
            torch.save(model.state_dict(), args.out)


if __name__ == "__main__":
    main()
