"""Trains the reader on captions that the teacher labelled and on captions that are made anew for each step.

    python train.py --request-reader ../../request-reader --coco WORK/coco.jsonl --nouns WORDNET --out WORK/run

`--resume` goes on; `--start` trains a finished model further, with a schedule of its own.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn import functional

from grammar import Grammar, styled, supplied, wordnet_nouns
from labels import Caption, read_captions
from lexicon import Lexicon
from model import LAYERS, Reader, config_of, load, start_from
from reading import IGNORED, as_tensors
from renaming import Renaming, said_often

BATCH = 64
RATE, HEAD_RATE = 3e-4, 2e-3
WARM_UP = 60
DECAY = 0.35
"""Share of the steps, at the end, in which the rate falls."""
LENGTH_MAX = 64
MADE_RENAMED = 0.3
"""Share of the made captions whose deeds and persons get other words, as half of the real ones do."""
POOL = 8
"""Batches that are drawn together and parted by length, so that little is padded."""


class Source:
    """Captions for training, real ones and made ones."""

    def __init__(self, real: list[Caption], grammar: Grammar, made: float, renaming: Renaming):
        self.real, self.grammar, self.made, self.renaming = real, grammar, made, renaming

    def caption(self, rng: random.Random) -> Caption:
        if rng.random() < self.made:
            caption = self.grammar.caption(rng)
            return self.renaming.renamed(caption, rng) if rng.random() < MADE_RENAMED else caption
        caption = rng.choice(self.real)
        if rng.random() < 0.5:
            caption = self.renaming.renamed(caption, rng)
        return styled(caption, rng)

    def batches(self, rng: random.Random) -> list[list[Caption]]:
        drawn = sorted((self.caption(rng) for _ in range(BATCH * POOL)), key=lambda it: len(it.words))
        batches = [drawn[at : at + BATCH] for at in range(0, len(drawn), BATCH)]
        rng.shuffle(batches)
        return batches


def source_of(args: argparse.Namespace, nouns: list[str]) -> Source:
    persons = sorted(Lexicon(args.nouns).persons & set(said_often(args.nouns, "index.noun")))
    real = read_captions(args.coco)
    if args.descriptions:
        described = read_captions(args.descriptions)
        times = max(1, round(args.described * len(real) / (1 - args.described) / len(described)))
        real += described * times
    grammar = supplied(nouns)
    renaming = Renaming(grammar.words, persons, said_often(args.nouns, "index.verb"))
    return Source(real, grammar, args.made, renaming)


def factor_of(step: int, steps: int) -> float:
    """Of the learning rates: a warm-up, a plain, a slope."""
    left = (steps - step) / (steps * DECAY)
    return min(1.0, (step + 1) / WARM_UP, 0.02 + 0.98 * left)


def loss_of(model: Reader, batch: tuple[torch.Tensor, ...], bf16: bool) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask, roles, to = batch
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        said, pointed = model(ids, mask)
    pointed = pointed.float().masked_fill(mask[:, None, :] == 0, -1e4)
    named = functional.cross_entropy(said.float().flatten(0, 1), roles.flatten(), ignore_index=IGNORED)
    attached = functional.cross_entropy(pointed.flatten(0, 1), to.flatten(), ignore_index=IGNORED)
    return named, attached


def measured(model: Reader, tokenizer: Tokenizer, captions: list[Caption]) -> str:
    """How many words have the right role, and of those with one, how many belong to the right word."""
    right = words = attached = with_role = 0
    model.eval()
    with torch.no_grad():
        for at in range(0, len(captions), BATCH):
            ids, mask, roles, to = as_tensors(tokenizer, captions[at : at + BATCH], LENGTH_MAX)
            said, pointed = model(ids, mask)
            pointed = pointed.masked_fill(mask[:, None, :] == 0, -1e4)
            known, pointing = roles != IGNORED, to != IGNORED
            right += int((said.argmax(-1) == roles)[known].sum())
            words += int(known.sum())
            attached += int((pointed.argmax(-1) == to)[pointing].sum())
            with_role += int(pointing.sum())
    model.train()
    return f"roles {right / words:.4f} attachments {attached / with_role:.4f}"


def begun_with(start: Path, request_reader: Path, model: Reader) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint, or of a folder with an exported model; the lower layers where it has more."""
    if start.is_dir():
        begun = load(start, request_reader).state_dict()
    else:
        begun = torch.load(start, weights_only=True)["model"]
    return {name: begun[name] for name in model.state_dict()}


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.request_reader / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(config_of(tokenizer.get_vocab_size(), args.layers))
    start_from(model, args.request_reader)
    if args.start:
        model.load_state_dict(begun_with(args.start, args.request_reader, model))
    model.bert.requires_grad_(not args.frozen)
    model.bert.embeddings.word_embeddings.requires_grad_(False)
    nouns = wordnet_nouns(args.nouns)
    held = read_captions(args.held)[:200]
    source = source_of(args, nouns)
    layers = [it for name, it in model.named_parameters() if name.startswith("bert.") and it.requires_grad]
    heads = [it for name, it in model.named_parameters() if not name.startswith("bert.")]
    optimiser = torch.optim.AdamW(
        [{"params": layers, "peak": RATE}, {"params": heads, "peak": HEAD_RATE}],
        lr=RATE,
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint, step = args.out / "checkpoint.pt", 0
    if args.resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    rng = random.Random(args.seed + step)
    began, smoothed = time.monotonic(), 0.0
    waiting: list[list[Caption]] = []
    while step < args.steps:
        for group in optimiser.param_groups:
            group["lr"] = group["peak"] * args.peak * factor_of(step, args.steps)
        waiting = waiting or source.batches(rng)
        batch = as_tensors(tokenizer, waiting.pop(), LENGTH_MAX)
        named, attached = loss_of(model, batch, args.bf16)
        optimiser.zero_grad(set_to_none=True)
        (named + 0.5 * attached).backward()
        torch.nn.utils.clip_grad_norm_(layers + heads, 1.0)
        optimiser.step()
        step += 1
        loss = named.item() + 0.5 * attached.item()
        smoothed = 0.98 * smoothed + 0.02 * loss if smoothed else loss
        if step % 25 == 0:
            minutes = (time.monotonic() - began) / 60
            print(f"step {step} minutes {minutes:.1f} loss {smoothed:.4f}", flush=True)
        if step % args.measure_every == 0 or step == args.steps:
            source = source_of(args, nouns)  # Labels may be better by now.
            torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, checkpoint)
            print(f"step {step} against the teacher: {measured(model, tokenizer, held)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--coco", type=Path, required=True, help="captions that the teacher labelled")
    parser.add_argument("--descriptions", type=Path, help="sentences of long captions that the teacher labelled")
    parser.add_argument("--described", type=float, default=0.4, help="share of these among the real captions")
    parser.add_argument("--held", type=Path, required=True, help="others, to measure on")
    parser.add_argument("--nouns", type=Path, required=True, help="folder of WordNet's data.noun")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--measure-every", type=int, default=200)
    parser.add_argument("--made", type=float, default=0.5, help="share of captions from the grammar")
    parser.add_argument("--frozen", action="store_true", help="train the heads alone, to compare")
    parser.add_argument("--start", type=Path, help="checkpoint, or folder of a model, to train further")
    parser.add_argument("--peak", type=float, default=1.0, help="factor of all learning rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bf16", action="store_true", help="faster where the CPU has instructions for it")
    parser.add_argument("--resume", action="store_true")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
