"""Trains the student to reproduce the teacher's vectors under a projection to fewer dimensions.

The projection is the uncentred PCA of the teacher's vectors (it keeps dot products best). The token
table starts from the teacher's vector of each token alone, so that the untrained student is already
a static embedding model. The loss has three parts: the cosine to the projected vector, the squared
error of the batch's similarity matrix, and the divergence of each text's ranking of its batch. A
batch is made of whole groups, so every text has near misses in it.

Training runs for a number of minutes of wall-clock; the learning rate follows the elapsed share.
Shards that ``teach.py`` writes meanwhile are picked up. Checkpoints hold everything: ``--resume``.

    python distil.py --teacher TEACHER --shards WORK/shards --vocabulary WORK/vocabulary \
        --out WORK/run --minutes 50
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

from teach import MAX_TOKENS, Teacher

HIDDEN, LAYERS, HEADS, FEED_FORWARD = 256, 2, 4, 512
BATCH_TEXTS = 512
CHUNKS = 6
RANKING_TEMPERATURE = 0.05
SIMILARITY_WEIGHT, RANKING_WEIGHT = 20.0, 0.5
PEAK_RATE, TABLE_RATE, WARM_UP = 1.5e-3, 1e-3, 0.02
CHECKPOINT_SECONDS = 180
PCA_SHARDS = 4


@dataclass
class Shard:
    """Tokenised texts of one shard with their teacher vectors, and how often it was trained on."""

    tokens: list[list[int]]
    groups: list[list[int]]
    vectors: torch.Tensor
    uses: int = 0


class Shards:
    """All shards written so far, the least used first."""

    def __init__(self, folder: Path, tokenizer: Tokenizer, uses: dict[str, int]) -> None:
        self.folder, self.tokenizer, self.loaded = folder, tokenizer, dict[str, Shard]()
        self.earlier_uses = uses

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

    def batches(self, rng: random.Random) -> Iterator[tuple[list[list[int]], torch.Tensor]]:
        """Batches of whole groups from pairs of shards, without end."""
        while True:
            self.refresh()
            chosen = sorted(self.loaded.values(), key=lambda s: (s.uses, rng.random()))[:2]
            groups = [(shard, group) for shard in chosen for group in shard.groups]
            rng.shuffle(groups)
            rows: list[tuple[Shard, int]] = []
            for shard, group in groups:
                rows += [(shard, number) for number in group]
                if len(rows) >= BATCH_TEXTS:
                    yield _batch(rows)
                    rows = []
            for shard in chosen:
                shard.uses += 1


def _batch(rows: list[tuple[Shard, int]]) -> tuple[list[list[int]], torch.Tensor]:
    rows = sorted(rows, key=lambda row: len(row[0].tokens[row[1]]))
    return [s.tokens[i] for s, i in rows], torch.stack([s.vectors[i] for s, i in rows]).float()


def embed(model: BertModel, tokens: list[list[int]], low_precision: bool) -> torch.Tensor:
    """Mean-pooled, normalised vectors; texts come sorted by length and run in chunks of little padding."""
    size = math.ceil(len(tokens) / CHUNKS)
    pooled = []
    for start in range(0, len(tokens), size):
        rows = tokens[start : start + size]
        width = max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(width)[None] < lengths[:, None]).long()
        with torch.autocast("cpu", torch.bfloat16, enabled=low_precision):
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        pooled.append((hidden * mask[..., None]).sum(1) / lengths[:, None])
    return F.normalize(torch.cat(pooled), dim=-1)


def losses(student: torch.Tensor, teacher: torch.Tensor, projection: torch.Tensor) -> dict[str, torch.Tensor]:
    target = F.normalize(teacher @ projection, dim=-1)
    same = torch.eye(len(student), dtype=torch.bool)
    ours = (student @ student.T).masked_fill(same, 0.0)
    theirs = (teacher @ teacher.T).masked_fill(same, 0.0)
    ranking = F.kl_div(
        F.log_softmax((ours / RANKING_TEMPERATURE).masked_fill(same, -1e4), dim=-1),
        F.softmax((theirs / RANKING_TEMPERATURE).masked_fill(same, -1e4), dim=-1),
        reduction="batchmean",
    )
    return {
        "cosine": 1 - (student * target).sum(-1).mean(),
        "similarity": F.mse_loss(ours, theirs),
        "ranking": ranking,
    }


def principal_projection(shards: Shards) -> torch.Tensor:
    """The teacher's first HIDDEN principal directions, uncentred, as a 384 x HIDDEN matrix."""
    vectors = torch.cat([s.vectors for s in list(shards.loaded.values())[:PCA_SHARDS]]).float()
    values, directions = torch.linalg.eigh(vectors.T @ vectors)
    kept = values[-HIDDEN:].sum() / values.sum()
    print(f"PCA to {HIDDEN} dimensions keeps {kept:.4f} of the energy")
    return directions[:, -HIDDEN:].flip(1).contiguous()


@torch.no_grad()
def token_vectors(teacher: Teacher, teacher_ids: list[int]) -> torch.Tensor:
    """The teacher's normalised vector of every token alone between [CLS] and [SEP]."""
    first, last = (teacher.tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))
    result = []
    for start in range(0, len(teacher_ids), 1024):
        ids = torch.tensor([[first, token, last] for token in teacher_ids[start : start + 1024]])
        with torch.autocast("cpu", torch.bfloat16):
            hidden = teacher.model(input_ids=ids).last_hidden_state.float()
        result.append(F.normalize(hidden.mean(1), dim=-1))
    return torch.cat(result)


def new_student(table: torch.Tensor) -> BertModel:
    """A BERT of two layers whose token table is ``table``; layers start near the identity."""
    config = BertConfig(
        vocab_size=len(table),
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=FEED_FORWARD,
        max_position_embeddings=MAX_TOKENS,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertModel(config, add_pooling_layer=False)
    embeddings = model.embeddings
    with torch.no_grad():
        # The layer norm rescales each row; the scale only sets how strongly positions are felt.
        embeddings.word_embeddings.weight.copy_(table * math.sqrt(HIDDEN) * 0.25)
        embeddings.position_embeddings.weight.normal_(std=0.01)
        embeddings.token_type_embeddings.weight.zero_()
    return model


def optimiser_of(model: BertModel) -> torch.optim.AdamW:
    table = [p for n, p in model.named_parameters() if "word_embeddings" in n]
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embeddings" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim == 1 or ("embeddings" in n and "word" not in n)]
    return torch.optim.AdamW(
        [
            {"params": table, "peak": TABLE_RATE, "weight_decay": 0.0},
            {"params": matrices, "peak": PEAK_RATE, "weight_decay": 0.01},
            {"params": others, "peak": PEAK_RATE, "weight_decay": 0.0},
        ],
        betas=(0.9, 0.98),
    )


def rate_at(share: float) -> float:
    """Share of the peak learning rate after this share of the training time: warm-up, then cosine."""
    if share < WARM_UP:
        return share / WARM_UP
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1.0, (share - WARM_UP) / (1 - WARM_UP))))


def save(path: Path, **state: object) -> None:
    partial = path.with_suffix(".part")
    torch.save(state, partial)
    partial.rename(path)


def train(args: argparse.Namespace) -> None:
    tokenizer = Tokenizer.from_file(str(args.vocabulary / "tokenizer.json"))
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "checkpoint.pt"
    state = torch.load(checkpoint, weights_only=False) if args.resume and checkpoint.exists() else None
    shards = Shards(args.shards, tokenizer, state["uses"] if state else {})
    shards.refresh()

    if state:
        projection, model = state["projection"], new_student(torch.empty(tokenizer.get_vocab_size(), HIDDEN))
        model.load_state_dict(state["model"])
    else:
        projection = principal_projection(shards)
        teacher_ids = json.loads((args.vocabulary / "teacher_ids.json").read_text())
        model = new_student(token_vectors(Teacher(args.teacher), teacher_ids) @ projection)
    optimiser = optimiser_of(model)
    step, elapsed = 0, 0.0
    if state:
        optimiser.load_state_dict(state["optimiser"])
        step, elapsed = state["step"], state["elapsed"]

    budget = args.minutes * 60
    rng = random.Random(step + 1)
    last_save = time.monotonic()
    running: dict[str, float] = {}

    def checkpoint_now() -> None:
        save(checkpoint, model=model.state_dict(), optimiser=optimiser.state_dict(), projection=projection,
             step=step, elapsed=elapsed, uses=shards.uses())

    for tokens, vectors in shards.batches(rng):
        begin = time.monotonic()
        factor = rate_at(elapsed / budget)
        for group in optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        # The last stretch runs in f32, as the exported model will.
        parts = losses(embed(model, tokens, low_precision=elapsed < 0.9 * budget), vectors, projection)
        loss = parts["cosine"] + SIMILARITY_WEIGHT * parts["similarity"] + RANKING_WEIGHT * parts["ranking"]
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        elapsed += time.monotonic() - begin
        for name, value in parts.items():
            running[name] = 0.98 * running.get(name, value.item()) + 0.02 * value.item()
        if step % 50 == 0:
            figures = " ".join(f"{name} {value:.4f}" for name, value in running.items())
            print(f"step {step} {elapsed / 60:.1f} min {len(shards.loaded)} shards {figures}", flush=True)
        if time.monotonic() - last_save > CHECKPOINT_SECONDS or elapsed >= budget:
            checkpoint_now()
            last_save = time.monotonic()
        if elapsed >= budget:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--shards", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(20)
    train(args)


if __name__ == "__main__":
    main()
