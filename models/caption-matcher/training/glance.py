"""Trains what tells at a glance which sentences are worth to be read.

    python glance.py --request-reader ../../request-reader --places places ../../../benches/language --names names
        --out WORK/glance.pt

Late interaction (ColBERT, Khattab & Zaharia 2020) of the vectors that tokens have by themselves: a projection of
them, how much each token of a query counts, and the line that makes log-odds of the likeness.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import torch
from model import TABLE, weights_of
from names import STOP_WORDS, places_of_names
from places import HELD_OUT, Place, Question, places_of, sentences
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

SIZE = 64
PEAK, QUESTIONS = 2e-3, 16
"""Rate at the first step, and questions of a step."""
NEVER = -30.0


class Glance(nn.Module):
    def __init__(self, table: torch.Tensor, size: int = SIZE):
        super().__init__()
        self.table = functional.normalize(table.float(), dim=-1)
        self.projection = nn.Linear(table.shape[1], size, bias=False)
        self.importance = nn.Linear(table.shape[1], 1)
        self.answer = nn.Parameter(torch.tensor([8.0, -5.0]))
        nn.init.orthogonal_(self.projection.weight)
        nn.init.zeros_(self.importance.weight), nn.init.zeros_(self.importance.bias)

    def forward(self, query: torch.Tensor, tokens: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
        """The logit of each sentence; `of` says of each of the tokens whose it is."""
        vectors = [functional.normalize(self.projection(self.table[it]), dim=-1) for it in (query, tokens)]
        cosines = vectors[0] @ vectors[1].T
        best = torch.full((len(query), int(of.max()) + 1), -1.0)
        best = best.scatter_reduce(1, of.expand(len(query), -1), cosines, "amax")
        weights = functional.softplus(self.importance(self.table[query]))[:, 0]
        return self.answer[0] * (weights @ best) / weights.sum() + self.answer[1]


class Words:
    """Texts as tokens, without special ones."""

    def __init__(self, request_reader: Path):
        self.tokenizer = Tokenizer.from_file(str(request_reader / "tokenizer.json"))
        self.tokenizer.no_padding(), self.tokenizer.no_truncation()

    def of(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def asked(self, query: str) -> torch.Tensor:
        """Of the words of a query that tell anything, as the program's `telling_words` has them."""
        return torch.tensor(self.of(" ".join(it for it in query.split() if it.lower() not in STOP_WORDS)))


@dataclass
class Said:
    """The sentences of a place: their tokens, whose sentence each is, and whose caption each sentence."""

    tokens: torch.Tensor
    of: torch.Tensor
    captions: torch.Tensor
    numbers: list[int]

    @classmethod
    def at(cls, place: Place, words: Words) -> Said:
        numbers = sorted(place.captions)
        said = [(at, words.of(it)) for at, number in enumerate(numbers) for it in sentences(place.captions[number])]
        tokens = torch.tensor([token for _, it in said for token in it])
        of = torch.tensor([number for number, (_, it) in enumerate(said) for _ in it])
        return cls(tokens, of, torch.tensor([at for at, _ in said]), numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True)
    parser.add_argument("--names", type=Path, help="folder of names of things")
    parser.add_argument("--without", nargs="*", default=HELD_OUT, help="groups that are held out")
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    random.seed(args.seed), torch.manual_seed(args.seed)
    words, asked = Words(args.request_reader), []
    places = list(places_of(args.places, args.without).values())
    for place in places + (places_of_names(args.names, args.seed) if args.names else []):
        said = Said.at(place, words)
        shown = [(words.asked(it.text), it) for it in place.questions if it.shown]
        asked += [(query, said, it) for query, it in shown if len(query)]
    model = Glance(weights_of(args.request_reader)[TABLE])
    optimiser = torch.optim.AdamW(model.parameters(), lr=PEAK, weight_decay=0.01)
    steps = args.passes * -(-len(asked) // QUESTIONS)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for number in range(args.passes):
        random.shuffle(asked)
        for start in range(0, len(asked), QUESTIONS):
            some = asked[start : start + QUESTIONS]
            loss = torch.stack([loss_of(model, *it) for it in some]).mean()
            optimiser.zero_grad(), loss.backward(), optimiser.step(), schedule.step()
            if start // QUESTIONS % 50 == 0:
                print(number, start // QUESTIONS, f"{loss.item():.3f}", flush=True)
    torch.save(model.state_dict(), args.out)


def loss_of(model: Glance, query: torch.Tensor, said: Said, question: Question) -> torch.Tensor:
    """Each caption by itself, and each that shows it against all that do not; the likeliest sentence of a caption
    counts."""
    of_sentences = model(query, said.tokens, said.of)
    logits = torch.full((len(said.numbers),), NEVER).scatter_reduce(0, said.captions, of_sentences, "amax")
    shown = torch.tensor([float(it in question.shown) for it in said.numbers])
    told = torch.tensor([float(it not in question.maybe) for it in said.numbers])
    alone = functional.binary_cross_entropy_with_logits(logits, shown, reduction="none")
    others = logits.masked_fill((shown > 0) | (told == 0), NEVER).logsumexp(0)
    first = functional.softplus(others - logits[shown > 0])
    return ((alone * told).sum() / told.sum() + first.mean()) / 2


if __name__ == "__main__":
    main()
