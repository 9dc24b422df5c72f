"""The reader: the lower layers of a BERT, a role for each token, and two answers for the whole request."""

from __future__ import annotations

from pathlib import Path

import torch
from grammar import ORDERS, ROLES, TENSES
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertModel

LAYERS, POSITIONS = 3, 256


class Reader(nn.Module):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=False)
        self.roles = nn.Linear(config.hidden_size, len(ROLES))
        self.order = nn.Linear(config.hidden_size, len(ORDERS))
        self.tense = nn.Linear(config.hidden_size, len(TENSES))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return self.roles(hidden), self.order(hidden[:, 0]), self.tense(hidden[:, 0])


def config_of(vocabulary: int, dropout: float = 0.1) -> BertConfig:
    """The shape of all-MiniLM-L6-v2 with half of its layers."""
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=384,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=POSITIONS,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )


def start_from_teacher(model: Reader, teacher: Path, teacher_ids: list[int]) -> None:
    """Begins with the teacher's lower layers and the rows of its kept tokens: they know English already."""
    known = load_file(teacher / "model.safetensors")
    known = {name.removeprefix("bert."): tensor.float() for name, tensor in known.items()}
    own = model.bert.state_dict()
    known["embeddings.word_embeddings.weight"] = known["embeddings.word_embeddings.weight"][torch.tensor(teacher_ids)]
    known["embeddings.position_embeddings.weight"] = known["embeddings.position_embeddings.weight"][:POSITIONS]
    model.bert.load_state_dict({name: known[name] if name in known else tensor for name, tensor in own.items()})
