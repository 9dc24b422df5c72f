"""The reader: the lower layers of a BERT, a role for each token, and some answers for the whole request."""

from __future__ import annotations

from pathlib import Path

import torch
from grammar import HEADS, ROLES
from safetensors.torch import load_file
from torch import nn
from transformers import BertConfig, BertModel

LAYERS, POSITIONS = 6, 256


class Reader(nn.Module):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=False)
        self.roles = nn.Linear(config.hidden_size, len(ROLES))
        for head, answers in HEADS.items():
            self.add_module(head, nn.Linear(config.hidden_size, len(answers)))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        hidden = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        return self.roles(hidden), {head: self.get_submodule(head)(hidden[:, 0]) for head in HEADS}


def config_of(vocabulary: int, dropout: float = 0.1) -> BertConfig:
    """The shape of all-MiniLM-L6-v2."""
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


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """From a checkpoint, or from a folder with a finished model."""
    if path.is_dir():
        return {name: it.float() for name, it in load_file(path / "model.safetensors").items()}
    return torch.load(path, weights_only=True)["model"]


def start_from(model: Reader, known: dict[str, torch.Tensor]) -> None:
    """Begins with a finished model; answers that it does not know yet are unlikely at first."""
    own = model.state_dict()
    for name, tensor in known.items():
        if name.startswith("bert.") or own[name].shape == tensor.shape:
            own[name] = tensor
        else:
            own[name][: len(tensor)] = tensor
            own[name][len(tensor) :] = tensor.min() if tensor.dim() == 1 else 0.0
    model.load_state_dict(own)


TABLE = "embeddings.word_embeddings.weight"


def start_from_teacher(model: Reader, teacher: Path, table: torch.Tensor | list[int]) -> None:
    """Begins with the teacher's layers, which know English already; `table` is that of the tokens, or
    tells which of the teacher's are kept."""
    known = load_file(teacher / "model.safetensors")
    known = {name.removeprefix("bert."): tensor.float() for name, tensor in known.items()}
    own = model.bert.state_dict()
    known[TABLE] = table if isinstance(table, torch.Tensor) else known[TABLE][torch.tensor(table)]
    known["embeddings.position_embeddings.weight"] = known["embeddings.position_embeddings.weight"][:POSITIONS]
    model.bert.load_state_dict({name: known[name] if name in known else tensor for name, tensor in own.items()})
