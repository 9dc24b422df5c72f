"""Trains the captioner: the encoder alone at first, on what every cell of the picture shows, then the captions too.

    python train.py --train data/train --valid data/valid --out runs/main --minutes 80 --start-from .. --bf16

The learning rate follows the time budget, so a busy machine gets fewer steps and
a whole schedule. `--start-from` begins with the weights of a finished model, also
one of an older and smaller world: words that both know keep their embeddings.
`--resume` goes on from the last checkpoint with the optimizer,
the random generators and the time already spent; with `--restart RATE` the
learning rate begins a new cosine there, from RATE down over the time that is left.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from dataset import Augment, Sample, Shards
from model import (
    COLOUR_CLASSES,
    DEC,
    PAD,
    SEP,
    TYPE_CLASSES,
    TrainingHeads,
    greedy_captions,
    make_captioner,
    make_tokenizer,
    to_tensor,
)
from muon import Muon
from scoring import score
from world import ACTIVITY_NAMES, ROOM_NAMES, ROOMLESS, SURFACES, caption

PEAK_RATE, FLOOR = 1.5e-3, 0.02
MUON_RATE = 2.0
"""Of the matrices inside the layers, as a multiple of the rate of everything else."""
WARM_UP_STEPS = 150
BACKGROUND_WEIGHT = 0.4
"""Most cells show no object, and telling that is easy."""
IGNORED = -100

_PER_WORD = ("word_embeddings.weight", "cls.predictions.bias")
"""Tensors with a row for each word."""

LOG_EVERY, SAVE_EVERY = 50, 200
VALIDATED = 300


@dataclass
class Progress:
    step: int = 0
    samples: int = 0
    seconds: float = 0.0
    cosine_from: float = 0.0
    """When the present cosine of the learning rate began, in seconds of training."""
    peak: float = PEAK_RATE


class Batch(NamedTuple):
    pixels: torch.Tensor
    cells: torch.Tensor
    """(batch, 2, 16, 16): types and colours."""
    surfaces: torch.Tensor
    rooms: torch.Tensor
    activities: torch.Tensor
    tokens: torch.Tensor
    """From [DEC] to [SEP], padded."""


class Batches:
    """Draws augmented samples from whatever shards are finished."""

    def __init__(self, shards: Shards, rng: np.random.Generator, size: int):
        self._shards, self._rng, self._size = shards, rng, size
        self._augment = Augment(rng)
        self._tokenizer = make_tokenizer()

    def draw(self) -> Batch:
        picks = self._rng.integers(0, len(self._shards), self._size)
        samples = [self._augment(self._shards[int(i)]) for i in picks]
        return Batch(
            to_tensor(np.stack([sample.image for sample in samples])),
            torch.from_numpy(np.stack([sample.labels for sample in samples])).long(),
            torch.tensor([SURFACES.index((s.truth.furniture, s.truth.material)) for s in samples]),
            torch.tensor([_room_label(sample) for sample in samples]),
            torch.tensor([_activity_label(sample) for sample in samples]),
            self._tokens([caption(sample.truth) for sample in samples]),
        )

    def _tokens(self, captions: list[str]) -> torch.Tensor:
        encoded = [e.ids for e in self._tokenizer.encode_batch(captions, add_special_tokens=False)]
        tokens = torch.full((len(encoded), max(map(len, encoded)) + 2), PAD)
        for row, ids in zip(tokens, encoded, strict=True):
            row[: len(ids) + 2] = torch.tensor([DEC, *ids, SEP])
        # An index beyond the embeddings reads foreign memory in some builds instead of failing.
        assert int(tokens.max()) < self._tokenizer.get_vocab_size()
        return tokens


def _room_label(sample: Sample) -> int:
    return IGNORED if sample.truth.furniture in ROOMLESS else ROOM_NAMES.index(sample.truth.room)


def _activity_label(sample: Sample) -> int:
    return 0 if sample.truth.activity is None else ACTIVITY_NAMES.index(sample.truth.activity) + 1


class Trainer:
    def __init__(self, args: argparse.Namespace):
        torch.manual_seed(args.seed)
        self._args = args
        self._rng = np.random.default_rng(args.seed)
        self._shards = Shards(args.train)
        self._valid = Shards(args.valid)
        self._tokenizer = make_tokenizer()
        self._batches = Batches(self._shards, self._rng, args.batch)
        self._captioner = make_captioner(self._tokenizer.get_vocab_size())
        if args.start_from:
            start_from(args.start_from, self._captioner, self._tokenizer)
        self._heads = TrainingHeads()
        # Only the training step runs compiled: other shapes would be compiled anew.
        encoder = self._captioner.vision_model
        self._encoder = torch.compile(encoder) if args.compile else encoder
        self._optimizers = self._make_optimizers()
        self._progress = Progress()
        self._type_weights = _class_weights(TYPE_CLASSES)
        self._colour_weights = _class_weights(COLOUR_CLASSES)
        args.out.mkdir(parents=True, exist_ok=True)
        if args.resume:
            self._load()

    @property
    def _checkpoint(self) -> Path:
        return self._args.out / "checkpoint.pt"

    def _parameters(self) -> list[nn.Parameter]:
        return [*self._captioner.parameters(), *self._heads.parameters()]

    def _make_optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the matrices inside the layers, AdamW for the rest.

        In a first trial of 20,000 samples, encoder only, Muon's losses were those that
        AdamW alone had after about 1.7 times as many, for a tenth more time a step.
        """
        inner = [p for name, p in self._captioner.named_parameters() if p.dim() == 2 and _is_inside_layer(name)]
        rest = [p for p in self._parameters() if all(p is not q for q in inner)]
        groups = [
            {"params": [p for p in rest if p.dim() >= 2], "weight_decay": 0.05},
            {"params": [p for p in rest if p.dim() < 2], "weight_decay": 0.0},
        ]
        precision = torch.bfloat16 if self._args.bf16 else torch.float32
        return [
            torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.98)),
            Muon(inner, lr=MUON_RATE * PEAK_RATE, weight_decay=0.05, precision=precision),
        ]

    def _set_rate(self, done: float) -> float:
        """Warms up, then falls along a cosine."""
        warm_up = min(1, (self._progress.step + 1) / WARM_UP_STEPS)
        rate = self._progress.peak * warm_up * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * done)))
        for optimizer, factor in zip(self._optimizers, (1.0, MUON_RATE), strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
        return rate

    def run(self) -> None:
        budget = self._args.minutes * 60
        start = self._progress.cosine_from
        last_validation = self._progress.seconds
        before = time.monotonic()
        while self._progress.seconds < budget:
            done = (self._progress.seconds - start) / (budget - start)
            losses = self._step(done)
            now = time.monotonic()
            self._progress.seconds += now - before
            before = now
            if self._progress.step % LOG_EVERY == 0:
                self._report(losses)
            if self._progress.step % SAVE_EVERY == 0:
                self._save()
            captions_known = done > self._args.encoder_only
            if captions_known and self._progress.seconds - last_validation > self._args.validate_every * 60:
                last_validation = self._progress.seconds
                self._validate()
                before = time.monotonic()
        self._save()
        self._validate()

    def _step(self, done: float) -> dict[str, float]:
        rate = self._set_rate(done)
        batch = self._batches.draw()
        with torch.autocast("cpu", torch.bfloat16, enabled=self._args.bf16):
            loss, losses = self._losses(batch, encoder_only=done < self._args.encoder_only)
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters(), 1.0)
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self._progress.step += 1
        self._progress.samples += len(batch.pixels)
        return {"rate": rate, **losses}

    def _losses(self, batch: Batch, encoder_only: bool) -> tuple[torch.Tensor, dict[str, float]]:
        encoded = self._encoder(pixel_values=batch.pixels).last_hidden_state
        cells = self._heads.cells(encoded)
        types = _cell_loss(cells.types, batch.cells[:, 0], self._type_weights)
        colours = _cell_loss(cells.colours, batch.cells[:, 1], self._colour_weights)
        surface_logits, room_logits, activity_logits = self._heads.whole_picture(encoded)
        whole = functional.cross_entropy(surface_logits, batch.surfaces)
        whole = whole + functional.cross_entropy(room_logits, batch.rooms, ignore_index=IGNORED)
        whole = whole + functional.cross_entropy(activity_logits, batch.activities)
        loss = (2.0 if encoder_only else 1.0) * (types + colours) + 0.2 * whole
        losses = {"types": types.item(), "colours": colours.item(), "whole": whole.item()}
        if not encoder_only:
            words = self._word_loss(encoded, batch.tokens)
            loss = loss + words
            losses["words"] = words.item()
        return loss, losses

    def _word_loss(self, encoded: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """In two halves, short captions and long ones, so that the short ones carry less padding."""
        lengths = (tokens != PAD).sum(1)
        total = torch.zeros(())
        for half in lengths.argsort().chunk(2):
            part = tokens[half, : int(lengths[half].max())]
            logits = self._captioner.text_decoder(
                input_ids=part[:, :-1], encoder_hidden_states=encoded[half], use_cache=False
            ).logits.float()
            total = total + functional.cross_entropy(
                logits.flatten(0, 1), part[:, 1:].flatten(), ignore_index=PAD, reduction="sum"
            )
        return total / (lengths - 1).sum()

    def _report(self, losses: dict[str, float]) -> None:
        self._shards.refresh()
        figures = " ".join(f"{name} {value:.4f}" for name, value in losses.items())
        done = self._progress
        print(
            f"step {done.step} samples {done.samples} seconds {done.seconds:.0f} scenes {len(self._shards)} {figures}",
            flush=True,
        )

    def _validate(self) -> None:
        samples = [self._valid[i] for i in range(min(VALIDATED, len(self._valid)))]
        self._captioner.eval()
        pixels = to_tensor(np.stack([sample.image for sample in samples]))
        captions = greedy_captions(self._captioner, self._tokenizer, pixels)
        self._captioner.train()
        summary = score(captions, [sample.truth for sample in samples]).summary()
        print("validation", summary, flush=True)
        with (self._args.out / "curve.jsonl").open("a") as curve:
            curve.write(json.dumps({**asdict(self._progress), **summary}) + "\n")

    def _save(self) -> None:
        state = {
            "captioner": self._captioner.state_dict(),
            "heads": self._heads.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers],
            "random": self._rng.bit_generator.state,
            "progress": asdict(self._progress),
        }
        unfinished = self._checkpoint.with_suffix(".unfinished")
        torch.save(state, unfinished)
        os.replace(unfinished, self._checkpoint)

    def _load(self) -> None:
        state = torch.load(self._checkpoint, weights_only=True)
        self._captioner.load_state_dict(state["captioner"])
        self._heads.load_state_dict(state["heads"])
        for optimizer, saved in zip(self._optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self._rng.bit_generator.state = state["random"]
        self._progress = Progress(**state["progress"])
        if self._args.restart:
            self._progress.cosine_from = self._progress.seconds
            self._progress.peak = self._args.restart


def start_from(directory: Path, captioner: nn.Module, tokenizer: Tokenizer) -> None:
    """Takes over the weights of a model directory of the same architecture, each word's by its spelling."""
    weights = {name: tensor.float() for name, tensor in load_file(directory / "model.safetensors").items()}
    words = Tokenizer.from_file(str(directory / "tokenizer.json")).get_vocab()
    shared = [(new, words[word]) for word, new in tokenizer.get_vocab().items() if word in words]
    to, of = (torch.tensor(rows) for rows in zip(*shared, strict=True))
    state = captioner.state_dict()
    for name, tensor in weights.items():
        if name.endswith(_PER_WORD):
            tensor = state[name].index_copy(0, to, tensor[of])
        state[name].copy_(tensor)


def _is_inside_layer(name: str) -> bool:
    return "embed" not in name and "cls.predictions" not in name


def _class_weights(classes: int) -> torch.Tensor:
    weights = torch.ones(classes)
    weights[0] = BACKGROUND_WEIGHT
    return weights


def _cell_loss(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.flatten(0, 2), labels.flatten(), weight=weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="shards; more may appear while it runs")
    parser.add_argument("--valid", type=Path, required=True, help="shards of another seed")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True, help="how long to train altogether")
    parser.add_argument("--encoder-only", type=float, default=0.25, help="the first part, without captions")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--start-from", type=Path, help="a model directory, of this world or an older one")
    parser.add_argument("--bf16", action="store_true", help="three times as fast on a CPU with AVX512-BF16 or AMX")
    parser.add_argument("--compile", action="store_true", help="a fifth faster in f32, after two minutes of compiling")
    parser.add_argument("--validate-every", type=float, default=5, help="minutes")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--restart", type=float, help="with --resume: a new cosine from this learning rate")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    Trainer(args).run()


if __name__ == "__main__":
    main()
