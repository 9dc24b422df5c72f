"""Trains the student's layer from the static table, to reproduce the teacher's vectors.

The student starts as exactly the static model of ``static.py``, written as a BERT whose layer does
(almost) nothing, and learns context from there. A batch is made of whole groups, so every text has
near misses in it.

Training runs for a number of minutes of its own steps; the learning rate follows the elapsed share.
Shards that ``teach.py`` writes meanwhile are picked up. Checkpoints hold everything: ``--resume``. A
new schedule can begin with the weights of a model directory, such as the one that ships: ``--start-from``;
``--layers`` puts new layers that do (almost) nothing below its own.

The layer computes in bf16, on a processor with AVX512-BF16 several times as fast as f32; weights,
sums over tokens and losses stay f32.

    python distil.py --static WORK/static.pt --shards WORK/prose WORK/generated \
        --vocabulary WORK/vocabulary --out WORK/run --minutes 65
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import math
import random
import re
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from loss import distillation_losses, total
from shards import Shards
from teach import MAX_TOKENS, chunks

HIDDEN, LAYERS, HEADS, FEED_FORWARD = 256, 1, 8, 768
SINK = 2
"""The last dimensions, of opposite sign: they hold what a token's length lacks to the longest."""
BATCH_TEXTS = 384
CHUNK_TOKENS = 1_024
LAYER_RATE, TABLE_RATE, WARM_UP = 1.5e-3, 2e-3, 0.02
CHECKPOINT_SECONDS = 180
PROCRUSTES_TEXTS = 8_192


def spanning_basis() -> torch.Tensor:
    """SPAN orthonormal rows in HIDDEN dimensions, free of the sink and of any mean.

    Layer normalisation subtracts the mean over the dimensions, so the table's directions must not
    have one: they lie in the complement of the all-ones vector.
    """
    width = HIDDEN - SINK
    ones_first = torch.eye(width)
    ones_first[:, 0] = 1.0
    orthonormal, _ = torch.linalg.qr(ones_first)
    basis = torch.zeros(width - 1, HIDDEN)
    basis[:, :width] = orthonormal[:, 1:].T
    return basis


def token_table(static: torch.Tensor) -> torch.Tensor:
    """The static table as token embeddings that survive layer normalisation.

    Every row gets the same norm, sqrt(HIDDEN), and mean zero, so that layer normalisation leaves it
    as it is; the shorter the static vector, the more of the norm lies in the sink.
    """
    table = static @ spanning_basis()
    lacking = (1 - static.square().sum(-1)).clamp(min=0).sqrt() / math.sqrt(2)
    table[:, -2], table[:, -1] = lacking, -lacking
    return table * math.sqrt(HIDDEN)


def new_student(table: torch.Tensor, layers: int = LAYERS) -> BertModel:
    """A BERT over the token table, whose layers add next to nothing yet and whose output drops the sink."""
    config = BertConfig(
        vocab_size=len(table),
        hidden_size=HIDDEN,
        num_hidden_layers=layers,
        num_attention_heads=HEADS,
        intermediate_size=FEED_FORWARD,
        max_position_embeddings=MAX_TOKENS,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    model = BertModel(config, add_pooling_layer=False)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.copy_(table)
        model.embeddings.position_embeddings.weight.normal_(std=0.02)
        model.embeddings.token_type_embeddings.weight.zero_()
        for layer in model.encoder.layer:
            layer.attention.self.query.weight.normal_(std=0.05)
            layer.attention.self.key.weight.normal_(std=0.05)
            layer.attention.output.dense.weight.normal_(std=0.01)
            layer.output.dense.weight.normal_(std=0.01)
        model.encoder.layer[-1].output.LayerNorm.weight[-SINK:] = 0.0
    return model


LAYER = re.compile(r"encoder\.layer\.(\d+)\.")


def layers_of(weights: dict[str, torch.Tensor]) -> int:
    return 1 + max(int(found.group(1)) for found in map(LAYER.match, weights) if found)


def above_new_layers(weights: dict[str, torch.Tensor], new: int) -> dict[str, torch.Tensor]:
    """The weights under the names that they have above new layers.

    New ones go below the others, where the lengths of the token vectors are still in the sink.
    """
    return {LAYER.sub(lambda at: f"encoder.layer.{int(at.group(1)) + new}.", name): w for name, w in weights.items()}


def student_from(static: dict[str, torch.Tensor], tokenizer: Tokenizer) -> BertModel:
    table = static["table"].clone()
    table[[tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")]] = 0.0
    return new_student(token_table(table))


def keep_memory() -> None:
    """Lets glibc keep what is freed: else a third of the time goes to the kernel for fresh pages."""
    mmap_threshold, trim_threshold = -3, -1
    libc = ctypes.CDLL(None)
    libc.mallopt(mmap_threshold, 2**31 - 1)
    libc.mallopt(trim_threshold, 2**31 - 1)


def looked_up(model: BertModel, rows: list[list[int]]) -> torch.Tensor:
    """The token vectors of all rows, one after another: looked up at once, as the gradient of every look-up is a whole table."""
    ids = torch.tensor([token for row in rows for token in row])
    return F.embedding(ids, model.embeddings.word_embeddings.weight)


def encode(model: BertModel, rows: list[list[int]]) -> torch.Tensor:
    """Normalised mean-pooled vectors of rows sorted by length, as the reference computes them but for bf16."""
    words = looked_up(model, rows)
    result, start = [], 0
    for chunk in chunks(rows, CHUNK_TOKENS):
        lengths = torch.tensor([len(row) for row in chunk])
        count, width = int(lengths.sum()), int(lengths[-1])
        mask = torch.arange(width)[None] < lengths[:, None]
        padded = words.new_zeros(len(chunk), width, HIDDEN).masked_scatter(
            mask[..., None], words[start : start + count]
        )
        start += count
        with torch.autocast("cpu", torch.bfloat16):
            hidden = model(
                inputs_embeds=padded, attention_mask=None if bool(mask.all()) else mask.long()
            ).last_hidden_state
        result.append(F.normalize((hidden.float() * mask[..., None]).sum(1) / lengths[:, None], dim=-1))
    return torch.cat(result)


def optimiser_of(model: BertModel) -> torch.optim.AdamW:
    named = dict(model.named_parameters())
    table = [p for name, p in named.items() if "word_embeddings" in name]
    matrices = [p for name, p in named.items() if p.ndim == 2 and "embeddings" not in name]
    others = [p for name, p in named.items() if p.ndim == 1 or ("embeddings" in name and "word" not in name)]
    return torch.optim.AdamW(
        [
            {"params": table, "peak": TABLE_RATE, "weight_decay": 0.0},
            {"params": matrices, "peak": LAYER_RATE, "weight_decay": 0.01},
            {"params": others, "peak": LAYER_RATE, "weight_decay": 0.0},
        ],
        lr=LAYER_RATE,
        betas=(0.9, 0.98),
        fused=True,
    )


def rate_at(share: float) -> float:
    """Share of the peak learning rate after this share of the training time: warm-up, then cosine."""
    if share < WARM_UP:
        return 0.05 + 0.95 * share / WARM_UP
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, (share - WARM_UP) / (1 - WARM_UP))))


def resembled_projection(model: BertModel, shards: Shards) -> torch.Tensor:
    """The projection of the teacher that a trained model's vectors follow: orthogonal Procrustes on some texts."""
    batches = shards.batches(random.Random(3), PROCRUSTES_TEXTS // 16)
    products = torch.zeros(shards.dimension(), HIDDEN)
    with torch.no_grad():
        for batch in itertools.islice(batches, 16):
            products += batch.vectors.T @ encode(model, batch.tokens)
    left, _, right = torch.linalg.svd(products, full_matrices=False)
    return left[:, : HIDDEN - SINK - 1] @ right[: HIDDEN - SINK - 1]


class Run:
    """One training run: the model, its optimiser, how far it is, and its checkpoint."""

    def __init__(self, shards: list[Path], tokenizer: Tokenizer, out: Path, resume: bool) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.checkpoint = out / "checkpoint.pt"
        self.state = torch.load(self.checkpoint, weights_only=True) if resume and self.checkpoint.exists() else {}
        self.shards = Shards(shards, tokenizer, self.state.get("uses"))
        self.step, self.elapsed = self.state.get("step", 0), self.state.get("elapsed", 0.0)

    def start_from_table(self, static: Path) -> None:
        start = torch.load(static, weights_only=True)
        self.model = student_from(start, self.shards.tokenizer)
        self.target = start["projection"] @ spanning_basis()
        self._go_on()

    def start_from_model(self, folder: Path, layers: int | None) -> None:
        weights = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
        own = layers_of(weights)
        layers = layers or own
        self.model = new_student(torch.zeros_like(weights["embeddings.word_embeddings.weight"]), layers)
        self.model.load_state_dict(self.model.state_dict() | above_new_layers(weights, layers - own))
        self.target = resembled_projection(self.model, self.shards)
        self._go_on()

    def _go_on(self) -> None:
        self.optimiser = optimiser_of(self.model)
        if self.state:
            self.model.load_state_dict(self.state["model"])
            self.optimiser.load_state_dict(self.state["optimiser"])
            self.state = {}

    def save(self) -> None:
        partial = self.checkpoint.with_suffix(".part")
        state = {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "elapsed": self.elapsed,
            "uses": self.shards.uses(),
        }
        torch.save(state, partial)
        partial.rename(self.checkpoint)

    def train(self, seconds: float) -> None:
        saved = time.monotonic()
        smoothed: dict[str, float] = {}
        for batch in self.shards.batches(random.Random(self.step + 1), BATCH_TEXTS):
            begin = time.monotonic()
            factor = rate_at(self.elapsed / seconds)
            for group in self.optimiser.param_groups:
                group["lr"] = group["peak"] * factor
            vectors = encode(self.model, batch.tokens)
            parts = distillation_losses(vectors, batch.vectors, self.target)
            self.model.zero_grad(set_to_none=True)
            total(parts).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimiser.step()
            self.step += 1
            self.elapsed += time.monotonic() - begin
            for name, value in parts.items():
                smoothed[name] = 0.98 * smoothed.get(name, value.item()) + 0.02 * value.item()
            if self.step % 50 == 0:
                figures = " ".join(f"{name} {value:.4f}" for name, value in smoothed.items())
                print(
                    f"step {self.step} {self.elapsed / 60:.1f} min {len(self.shards.loaded)} shards {figures}",
                    flush=True,
                )
            if self.elapsed >= seconds or time.monotonic() - saved > CHECKPOINT_SECONDS:
                self.save()
                saved = time.monotonic()
            if self.elapsed >= seconds:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--static", type=Path, help="begin with this static table")
    start.add_argument("--start-from", type=Path, help="begin with the weights of this model directory")
    parser.add_argument("--shards", type=Path, nargs="+", required=True)
    parser.add_argument("--vocabulary", type=Path, required=True, help="folder of tokenizer.json")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--layers", type=int, help="with --start-from: as many, new ones below; else as many as it has")
    parser.add_argument("--resume", action="store_true", help="go on where this run's own checkpoint stopped")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(20)
    keep_memory()
    run = Run(args.shards, Tokenizer.from_file(str(args.vocabulary / "tokenizer.json")), args.out, args.resume)
    if args.static:
        run.start_from_table(args.static)
    else:
        run.start_from_model(args.start_from, args.layers)
    run.train(args.minutes * 60)


if __name__ == "__main__":
    main()
