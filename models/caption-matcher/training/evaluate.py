"""How well a matcher tells which captions of held-out places show what was asked for.

    python evaluate.py --model WORK/matcher.pt --minilm MINILM --request-reader ../../request-reader
        --places ../../../benches/language --of J

Read are the sentences with a cosine of .3 or more; of a caption the likeliest counts. `slope` and `offset`
of a logistic regression of these logits make them log-odds (`export.py`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from model import load, logits, tokenizer_of
from nearest import Embedder, Sentences
from places import places_of
from torch.nn import functional

READ_FROM = 0.3
THRESHOLDS = [-1, 0, 1, 2, 3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True)
    parser.add_argument("--of", nargs="+", required=True, help="groups, by the letter of their places")
    args = parser.parse_args()
    model, tokenizer = load(args.model, args.request_reader), tokenizer_of(args.request_reader)
    embedder = Embedder(args.minilm)
    asked, found = [], []
    for name, place in places_of(args.places, []).items():
        if name[0] not in args.of:
            continue
        of = Sentences(embedder, place)
        for question in place.questions:
            near = [
                (number, said)
                for number, all in of.nearest(question).items()
                for cosine, said in all
                if cosine >= READ_FROM
            ]
            pairs, best = [(question.text, said) for _, said in near], dict[int, float]()
            for (number, _), logit in zip(near, logits(model, tokenizer, pairs)):
                best[number] = max(logit, best.get(number, logit))
            asked.append(question), found.append(best)
    for least in THRESHOLDS:
        given = [{number for number, logit in best.items() if logit >= least} for best in found]
        hits = sum(len(some & question.shown) for some, question in zip(given, asked))
        wrong = sum(len(some - question.shown - question.maybe) for some, question in zip(given, asked))
        there = [(some, best, question) for some, best, question in zip(given, found, asked) if question.shown]
        last = sum(max(some or {max(best, key=best.get, default=0)}) == max(of.shown) for some, best, of in there)
        absent = [not some for some, question in zip(given, asked) if not question.shown]
        print(
            f"{least:+d}: precision {hits / max(1, hits + wrong):.3f}, recall {hits / sum(len(it.shown) for it in asked):.3f}, "
            f"last {last}/{len(there)}, absent and nothing given {sum(absent)}/{len(absent)}"
        )
    fit(asked, found)


def fit(asked, found) -> None:
    pairs = [
        (logit, float(number in question.shown))
        for question, best in zip(asked, found)
        for number, logit in best.items()
        if number not in question.maybe
    ]
    x, y = torch.tensor([it for it, _ in pairs]), torch.tensor([it for _, it in pairs])
    line = torch.tensor([1.0, 0.0], requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=100)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(line[0] * x + line[1], y)
        loss.backward()
        return loss

    optimiser.step(loss)
    print(f"slope {line[0].item():.3f}, offset {line[1].item():.3f}")


if __name__ == "__main__":
    main()
