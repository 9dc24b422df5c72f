"""Reads the taught shards and makes training batches of whole groups."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

SHARDS_AT_ONCE = 4
ALIKE_SHARE = 0.4
"""Share of the groups that meet only groups of their own source in a batch: harder to tell apart."""

SKIPPED = {"views": 0.5, "scenes": 0.5}
"""Share of a source's groups that one pass leaves out: long, and learned before the rest is."""


@dataclass
class Shard:
    """Tokenised texts of one shard with their teacher vectors, and how often it was trained on."""

    tokens: list[list[int]]
    groups: list[tuple[str, list[int]]]
    vectors: torch.Tensor
    uses: int = 0


@dataclass
class Batch:
    """Texts sorted by length, as token numbers with [CLS] and [SEP], and their teacher vectors."""

    tokens: list[list[int]]
    vectors: torch.Tensor


Row = tuple[Shard, int]


class Shards:
    """All shards written to some folders so far, the least used first."""

    def __init__(self, folders: list[Path], tokenizer: Tokenizer, earlier_uses: dict[str, int] | None = None) -> None:
        self.folders = folders
        self.tokenizer = tokenizer
        self.earlier_uses = earlier_uses or {}
        self.loaded: dict[str, Shard] = {}
        self.refresh()

    def refresh(self) -> None:
        for path in sorted(path for folder in self.folders for path in folder.glob("*.safetensors")):
            name = f"{path.parent.name}/{path.stem}"
            if name not in self.loaded:
                self.loaded[name] = self._load(path, name)

    def _load(self, path: Path, name: str) -> Shard:
        rows = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
        groups: dict[tuple[str, int], list[int]] = {}
        for number, row in enumerate(rows):
            groups.setdefault((row["source"], row["group"]), []).append(number)
        tokens = [e.ids for e in self.tokenizer.encode_batch([row["text"] for row in rows])]
        by_source = [(source, numbers) for (source, _), numbers in groups.items()]
        return Shard(tokens, by_source, load_file(path)["vectors"], self.earlier_uses.get(name, 0))

    def uses(self) -> dict[str, int]:
        return {name: shard.uses for name, shard in self.loaded.items()}

    def dimension(self) -> int:
        """Of the teacher's vectors."""
        return next(iter(self.loaded.values())).vectors.shape[1]

    def batches(self, rng: random.Random, texts: int) -> Iterator[Batch]:
        """Batches of about ``texts`` texts in whole groups from a few shards at a time, without end."""
        while True:
            self.refresh()
            chosen = sorted(self.loaded.values(), key=lambda s: (s.uses, rng.random()))[:SHARDS_AT_ONCE]
            mixed: list[list[Row]] = []
            alike: dict[str, list[list[Row]]] = {}
            for shard in chosen:
                for source, group in shard.groups:
                    if rng.random() < SKIPPED.get(source, 0.0):
                        continue
                    pool = alike.setdefault(source, []) if rng.random() < ALIKE_SHARE else mixed
                    pool.append([(shard, number) for number in group])
            batches = [batch for groups in alike.values() for batch in _cut(rng, groups, texts, rest_to=mixed)]
            batches += _cut(rng, mixed, texts, rest_to=[])
            rng.shuffle(batches)
            yield from map(_batch, batches)
            for shard in chosen:
                shard.uses += 1


def _cut(rng: random.Random, groups: list[list[Row]], texts: int, rest_to: list[list[Row]]) -> list[list[Row]]:
    """Shuffled groups joined to lists of at least ``texts`` rows; groups that do not fill one are the rest."""
    rng.shuffle(groups)
    batches: list[list[Row]] = []
    pending: list[list[Row]] = []
    for group in groups:
        pending.append(group)
        if sum(map(len, pending)) >= texts:
            batches.append([row for rows in pending for row in rows])
            pending = []
    rest_to += pending
    return batches


def _batch(rows: list[Row]) -> Batch:
    rows = sorted(rows, key=lambda row: len(row[0].tokens[row[1]]))
    return Batch([s.tokens[i] for s, i in rows], torch.stack([s.vectors[i] for s, i in rows]).float())
