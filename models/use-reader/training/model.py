"""The network: a deep averaging network (Iyyer et al. 2015) that reads a use, and a vector for each name."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn.functional import gelu, normalize, softplus

TABLE = "embeddings.word_embeddings.weight"
HIDDEN, SIZE = 512, 256
TOKENS_MAX = 32


class UseReader(nn.Module):
    """Log-odds that a use tells of each name, up to what they all share."""

    def __init__(self, table: torch.Tensor, names: torch.Tensor):
        """Of the vectors of tokens, which stay, and of what is known of each name, which is learnt on."""
        super().__init__()
        width = table.shape[1]
        self.table = nn.Embedding.from_pretrained(normalize(table.float(), dim=1))
        self.words = nn.Linear(width, HIDDEN)
        self.importance = nn.Linear(width, 1)
        self.inner = nn.Linear(HIDDEN, HIDDEN)
        self.outer = nn.Linear(HIDDEN, SIZE)
        self.dropout = nn.Dropout(0.2)
        self.register_buffer("known", names)
        self.told = nn.Linear(names.shape[1], SIZE)
        self.own = nn.Parameter(torch.zeros(len(names), SIZE))
        self.scale = nn.Parameter(torch.tensor(3.0))

    def uses(self, ids: torch.Tensor) -> torch.Tensor:
        """Vectors of length 1 of uses, rows of tokens with 0 behind their ends."""
        rows = self.table(ids)
        weights = softplus(self.importance(rows)) * (ids != 0)[..., None]
        rows = gelu(self.words(self.dropout(rows)))
        mean = (rows * weights).sum(1) / weights.sum(1).clamp(min=1e-6)
        return normalize(self.outer(gelu(self.inner(self.dropout(mean))) + mean), dim=1)

    def names(self, numbers: torch.Tensor | None = None) -> torch.Tensor:
        """Vectors of length 1 of names, all of them where no numbers are given."""
        known, own = (self.known, self.own) if numbers is None else (self.known[numbers], self.own[numbers])
        return normalize(self.told(known) + own, dim=1)

    def forward(self, ids: torch.Tensor, numbers: torch.Tensor | None = None) -> torch.Tensor:
        return self.scale.exp() * self.uses(ids) @ self.names(numbers).T


def table_of(request_reader: Path) -> torch.Tensor:
    tensors = load_file(request_reader / "model.safetensors")
    return next(it for name, it in tensors.items() if name.endswith(TABLE))


class Words:
    """Tokens of a use, without special ones."""

    def __init__(self, request_reader: Path):
        self.tokenizer = Tokenizer.from_file(str(request_reader / "tokenizer.json"))

    def of(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids[:TOKENS_MAX]

    def rows(self, texts: list[str]) -> torch.Tensor:
        rows = [self.of(it) for it in texts]
        width = max(map(len, rows))
        return torch.tensor([row + [0] * (width - len(row)) for row in rows])
