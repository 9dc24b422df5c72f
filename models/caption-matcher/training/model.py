"""The network: a BERT of a few layers and one logit, of a query and a sentence."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

POSITIONS, TOKENS_MAX = 256, 112
TABLE = "embeddings.word_embeddings.weight"


def config_of(vocabulary: int, layers: int, dropout: float = 0.1) -> BertConfig:
    return BertConfig(
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        vocab_size=vocabulary,
        hidden_size=384,
        intermediate_size=1536,
        num_attention_heads=12,
        num_hidden_layers=layers,
        max_position_embeddings=POSITIONS,
    )


class Matcher(nn.Module):
    def __init__(self, config: BertConfig):
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=False)
        self.match = nn.Linear(config.hidden_size, 1)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The logit of each pair; all tokens are of the first type, the one that engram's encoder has."""
        read = self.bert(input_ids=ids, attention_mask=mask)
        return self.match(read.last_hidden_state[:, 0])[:, 0]


def begin(minilm: Path, request_reader: Path) -> Matcher:
    """Begins with all layers of all-MiniLM-L6-v2; the vectors of tokens are those of request-reader, and stay."""
    known, table = weights_of(minilm), weights_of(request_reader)[TABLE].float()
    model = Matcher(config_of(len(table), 6))
    own = model.bert.state_dict()
    model.bert.load_state_dict(
        {name: table if name == TABLE else known[name].float()[: len(it)] for name, it in own.items()}
    )
    model.bert.embeddings.word_embeddings.weight.requires_grad = False
    return model


def weights_of(model: Path) -> dict[str, torch.Tensor]:
    """Of a BERT, without the prefix of a whole language model."""
    return {name.removeprefix("bert."): it for name, it in load_file(model / "model.safetensors").items()}


def tokenizer_of(model: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(TOKENS_MAX)
    return tokenizer


def as_tensors(
    tokenizer: Tokenizer, pairs: list[tuple[str, str]], device: torch.device | str = "cpu"
) -> tuple[torch.Tensor, ...]:
    """Tokens and their mask."""
    encoded = tokenizer.encode_batch(pairs)
    rows = [it.ids for it in encoded], [it.attention_mask for it in encoded]
    return tuple(torch.tensor(it, device=device) for it in rows)


def load(weights: Path, request_reader: Path) -> Matcher:
    """A matcher as it is trained, or the folder of one as engram has it."""
    if weights.is_dir():
        state = {name: it.float() for name, it in load_file(weights / "model.safetensors").items()}
        state = {name: it for name, it in state.items() if not name.startswith("glance.")}
        state[f"bert.{TABLE}"] = weights_of(request_reader)[TABLE].float()
    else:
        state = torch.load(weights, map_location="cpu")
    layers = 1 + max(int(name.split(".")[3]) for name in state if ".layer." in name)
    model = Matcher(config_of(len(state[f"bert.{TABLE}"]), layers))
    model.load_state_dict(state)
    model.bert.embeddings.word_embeddings.weight.requires_grad = False
    return model


def optimiser_of(model: Matcher, peak: float, steps: int, warm_up: float):
    """The optimiser of what is trained, and its rate: up to the peak, then down to nothing."""

    def share(step: int) -> float:
        return min(1, (step + 1) / (warm_up * steps)) * max(0, 1 - step / steps)

    trained = [it for it in model.parameters() if it.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=peak, weight_decay=0.01)
    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, share)


def step_towards(loss: torch.Tensor, model: Matcher, optimiser, schedule) -> None:
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([it for it in model.parameters() if it.requires_grad], 1.0)
    optimiser.step()
    schedule.step()


@torch.no_grad()
def logits(model: Matcher, tokenizer: Tokenizer, pairs: list[tuple[str, str]], batch: int = 64) -> list[float]:
    model.eval()
    device = model.match.weight.device
    order = sorted(range(len(pairs)), key=lambda at: sum(map(len, pairs[at])))
    found = [0.0] * len(pairs)
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        tensors = as_tensors(tokenizer, [pairs[at] for at in rows], device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            answers = model(*tensors)
        for at, logit in zip(rows, answers.tolist()):
            found[at] = logit
    return found
