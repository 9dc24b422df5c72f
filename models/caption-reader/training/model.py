"""The reader of captions: the layers of the request reader trained further, a role for each word and a pointer."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertModel

from labels import ROLES

LAYERS, POSITIONS, POINTER = 2, 256, 64
WORDS = "bert.embeddings.word_embeddings.weight"
"""Shared with the request reader, never trained here."""


class Reader(nn.Module):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=False)
        self.roles = nn.Linear(config.hidden_size, len(ROLES))
        self.dependant = nn.Linear(config.hidden_size, POINTER)
        self.governor = nn.Linear(config.hidden_size, POINTER)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each token: a number for each role, and one for each token that it may belong to."""
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        pointed = self.dependant(hidden) @ self.governor(hidden).transpose(1, 2)
        return self.roles(hidden), pointed


def config_of(vocabulary: int, layers: int = LAYERS, dropout: float = 0.1) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=384,
        num_hidden_layers=layers,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )


def words_of(request_reader: Path) -> dict[str, torch.Tensor]:
    return {name: it.float() for name, it in load_file(request_reader / "model.safetensors").items()}


def start_from(model: Reader, request_reader: Path) -> None:
    """Begins with the request reader's layers: they know what a thing is already."""
    known = words_of(request_reader)
    own = model.state_dict()
    heads = ("roles.", "dependant.", "governor.")
    model.load_state_dict({name: it if name.startswith(heads) else known.get(name, it) for name, it in own.items()})


def load(folder: Path, request_reader: Path) -> Reader:
    """The reader as it lies in `folder`, with the words of the request reader."""
    own = {name: it.float() for name, it in load_file(folder / "model.safetensors").items()}
    own[WORDS] = words_of(request_reader)[WORDS]
    layers = 1 + max(int(name.split(".")[3]) for name in own if ".layer." in name)
    model = Reader(config_of(len(own[WORDS]), layers))
    model.load_state_dict(own)
    model.eval()
    return model
