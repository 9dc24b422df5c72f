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


@dataclass
class Shard:
    """Tokenised texts of one shard with their teacher vectors, and how often it was trained on."""

    tokens: list[list[int]]
    groups: list[list[int]]
    vectors: torch.Tensor
    uses: int = 0


@dataclass
class Batch:
    """Texts sorted by length, as token numbers with [CLS] and [SEP], and their teacher vectors."""

    tokens: list[list[int]]
    vectors: torch.Tensor


class Shards:
    """All shards written so far, the least used first."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, earlier_uses: dict[str, int] | None = None) -> None:
        self.folder = folder
        self.tokenizer = tokenizer
        self.earlier_uses = earlier_uses or {}
        self.loaded: dict[str, Shard] = {}
        self.refresh()

    def refresh(self) -> None:
        for path in sorted(self.folder.glob("*.safetensors")):
            if path.stem not in self.loaded:
                self.loaded[path.stem] = self._load(path)

    def _load(self, path: Path) -> Shard:
        rows = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
        groups: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            groups.setdefault(row["group"], []).append(number)
        tokens = [e.ids for e in self.tokenizer.encode_batch([row["text"] for row in rows])]
        vectors = load_file(path)["vectors"]
        return Shard(tokens, list(groups.values()), vectors, self.earlier_uses.get(path.stem, 0))

    def uses(self) -> dict[str, int]:
        return {name: shard.uses for name, shard in self.loaded.items()}

    def batches(self, rng: random.Random, texts: int) -> Iterator[Batch]:
        """Batches of about ``texts`` texts in whole groups from pairs of shards, without end."""
        while True:
            self.refresh()
            chosen = sorted(self.loaded.values(), key=lambda s: (s.uses, rng.random()))[:2]
            groups = [(shard, group) for shard in chosen for group in shard.groups]
            rng.shuffle(groups)
            rows: list[tuple[Shard, int]] = []
            for shard, group in groups:
                rows += [(shard, number) for number in group]
                if len(rows) >= texts:
                    yield _batch(rows)
                    rows = []
            for shard in chosen:
                shard.uses += 1


def _batch(rows: list[tuple[Shard, int]]) -> Batch:
    rows = sorted(rows, key=lambda row: len(row[0].tokens[row[1]]))
    return Batch([s.tokens[i] for s, i in rows], torch.stack([s.vectors[i] for s, i in rows]).float())
