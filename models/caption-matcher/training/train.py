"""Trains a matcher on places: which captions show what was asked for.

    python train.py --minilm MINILM --request-reader ../../request-reader
        --places places ../../../benches/language --names names --out WORK/matcher.pt

It begins with all six layers of all-MiniLM-L6-v2, or with `--start`. Of a caption that shows what was asked for
nobody said which sentence does: the likeliest of the three nearest counts (multiple-instance learning). Captions
that only may show it are left out.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

import torch
from model import Matcher, as_tensors, begin, load, optimiser_of, step_towards, tokenizer_of
from names import places_of_names
from nearest import Embedder, Sentences
from places import HELD_OUT, Place, Question, places_of
from torch.nn import functional

QUESTIONS = 8
"""Questions of a step."""
SHOWN_MAX, OF_SHOWN = 3, 3
"""Of a question captions that show it, and sentences of each."""
NEAREST, OF_ALL, NEAR, FAR = 20, 3, 8, 1
"""Captions that are near a question and do not show it, and of how many at least one is near; how many of these
are read, and of the rest."""
WARM_UP = 0.06
FIRST_NEAREST = 0.3
"""Share of the first pass in which the nearest sentence counts, as the model knows nothing yet."""
TOGETHER = 32
"""Pairs of about one length that are read together."""

Asked = tuple[Question, dict[int, list[tuple[float, str]]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True)
    parser.add_argument("--names", type=Path, nargs="*", default=[], help="folders of names of things")
    parser.add_argument("--without", nargs="*", default=HELD_OUT, help="groups that are held out")
    parser.add_argument("--start", type=Path, help="a matcher to train further")
    parser.add_argument("--share", type=float, default=1.0, help="of the questions of places those in a pass")
    parser.add_argument("--names-share", type=float, nargs="*", help="the same of each folder of names")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--peak", type=float, default=5e-5)
    parser.add_argument("--bf16", action="store_true", help="read in half precision")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    random.seed(args.seed), torch.manual_seed(args.seed)
    embedder = Embedder(args.minilm)
    sources = [asked_at(places_of(args.places, args.without).values(), embedder)]
    sources += [asked_at(places_of_names(it, args.seed), embedder) for it in args.names]
    shares = [args.share, *(args.names_share or [1.0] * len(args.names))]
    counts = [round(share * len(it)) for share, it in zip(shares, sources, strict=True)]
    model = load(args.start, args.request_reader) if args.start else begin(args.minilm, args.request_reader)
    tokenizer = tokenizer_of(args.request_reader)
    steps = args.passes * -(-sum(counts) // QUESTIONS)
    optimiser, schedule = optimiser_of(model, args.peak, steps, WARM_UP)
    for number in range(args.passes):
        asked = [it for source, count in zip(sources, counts) for it in random.sample(source, count)]
        random.shuffle(asked)
        for start in range(0, len(asked), QUESTIONS):
            is_first = not args.start and number == 0 and start < FIRST_NEAREST * len(asked)
            captions, shown = batch(asked[start : start + QUESTIONS], 1 if is_first else OF_SHOWN)
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                loss = loss_of(model, tokenizer, captions, torch.tensor(shown))
            step_towards(loss, model, optimiser, schedule)
            if start // QUESTIONS % 50 == 0:
                print(number, start // QUESTIONS, steps, f"{loss.item():.3f}", flush=True)
                torch.save(model.state_dict(), args.out)
        torch.save(model.state_dict(), args.out)


def asked_at(places: Iterable[Place], embedder: Embedder) -> list[Asked]:
    """The questions of places, each with the sentences that are near it."""
    asked: list[Asked] = []
    for place in places:
        of = Sentences(embedder, place)
        asked += [(it, of.nearest(it)) for it in place.questions]
    return asked


def batch(asked: list[Asked], of_shown: int) -> tuple[list[list[tuple[str, str]]], list[float]]:
    """Of captions the pairs of which one must say it, and whether it is said."""
    captions: list[list[tuple[str, str]]] = []
    shown: list[float] = []
    for question, near in asked:
        others = [it for it in near if it not in question.shown | question.maybe]
        nearest = min(NEAREST, len(others) // OF_ALL)
        for number in some(others[:nearest], NEAR) + some(others[nearest:], FAR):
            said = near[number]
            at = 0 if random.random() < 0.75 or len(said) < 2 else 1
            captions.append([(question.text, said[at][1])]), shown.append(0.0)
        for number in some(sorted(question.shown), SHOWN_MAX):
            captions.append([(question.text, it) for _, it in near[number][:of_shown]]), shown.append(1.0)
    return captions, shown


def some(numbers: list[int], count: int) -> list[int]:
    return random.sample(numbers, min(count, len(numbers)))


def loss_of(model: Matcher, tokenizer, captions, shown: torch.Tensor) -> torch.Tensor:
    model.train()
    pairs = sorted(((pair, at) for at, it in enumerate(captions) for pair in it), key=lambda it: len(it[0][1]))
    parts = [pairs[start : start + TOGETHER] for start in range(0, len(pairs), TOGETHER)]
    answers = torch.cat([model(*as_tensors(tokenizer, [pair for pair, _ in part])) for part in parts]).float()
    of = torch.tensor([at for _, at in pairs])
    likeliest = torch.full_like(shown, float("-inf")).scatter_reduce(0, of, answers, "amax")
    return functional.binary_cross_entropy_with_logits(likeliest, shown)


if __name__ == "__main__":
    main()
