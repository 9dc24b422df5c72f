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
    def __init__(self, config: BertConfig, has_types: bool = False):
        """With types of tokens the sentence's are of the second, as the teacher knows them; engram's encoder
        has the first alone."""
        super().__init__()
        self.has_types = has_types
        self.bert = BertModel(config, add_pooling_layer=False)
        self.match = nn.Linear(config.hidden_size, 1)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """The logit of each pair."""
        types = types if self.has_types else torch.zeros_like(types)
        read = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return self.match(read.last_hidden_state[:, 0])[:, 0]


def start_from(model: Matcher, known: dict[str, torch.Tensor], layers: list[int], table: torch.Tensor) -> None:
    """Begins with these layers of a BERT; the vectors of tokens are those of `table`, and stay."""
    own = model.bert.state_dict()
    for name in own:
        of = name
        if name.startswith("encoder.layer."):
            number = int(name.split(".")[2])
            of = name.replace(f"layer.{number}.", f"layer.{layers[number]}.", 1)
        own[name] = table if name == TABLE else known[of].float()[: len(own[name])]
    model.bert.load_state_dict(own)
    model.bert.embeddings.word_embeddings.weight.requires_grad = False


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
    """Tokens, their mask and their types."""
    encoded = tokenizer.encode_batch(pairs)
    rows = [it.ids for it in encoded], [it.attention_mask for it in encoded], [it.type_ids for it in encoded]
    ids, mask, types = (torch.tensor(it, device=device) for it in rows)
    return ids, mask, types


def load(weights: Path, minilm: Path, request_reader: Path) -> tuple[Matcher, Tokenizer]:
    """A matcher and its tokenizer: a teacher or a student as they are trained, or the folder of a student as
    engram has it."""
    if weights.is_dir():
        state = load_file(weights / "model.safetensors")
        state = {name: it.float() for name, it in state.items()}
        state[f"bert.{TABLE}"] = weights_of(request_reader)[TABLE].float()
    else:
        state = torch.load(weights, map_location="cpu")
    layers = 1 + max(int(name.split(".")[3]) for name in state if ".layer." in name)
    tokens = len(state[f"bert.{TABLE}"])
    is_teacher = tokens == len(weights_of(minilm)[TABLE])
    model = Matcher(config_of(tokens, layers), has_types=is_teacher)
    model.load_state_dict(state)
    model.bert.embeddings.word_embeddings.weight.requires_grad = False
    return model, tokenizer_of(minilm if is_teacher else request_reader)


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
