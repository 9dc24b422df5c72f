"""Trains a static table (one vector for each token, a text is their mean) as the student's start.

The projection of the teacher's vectors is their uncentred PCA, which keeps dot products best. The
table starts from the teacher's vector of each token alone and learns directions and lengths; the
length is the token's weight in a text. It costs a fiftieth of a step with layers, so what can be
learned without context is learned here.

``SPAN`` is three less than the student's width: see ``distil.new_student``, which hides the lengths
from layer normalisation in the dimensions left over.

    python static.py --teacher TEACHER --shards WORK/shards --vocabulary WORK/vocabulary --out WORK/static.pt
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from loss import distillation_losses, total
from shards import Batch, Shards
from teach import Teacher

SPAN = 253
BATCH_TEXTS = 1_024
PEAK_RATE = 0.01
START_LENGTH = 0.5


def principal_projection(shards: Shards) -> torch.Tensor:
    """The teacher's first SPAN principal directions, uncentred, as a 384 x SPAN matrix."""
    vectors = torch.cat([s.vectors for s in list(shards.loaded.values())[::4]]).float()
    values, directions = torch.linalg.eigh(vectors.T @ vectors)
    print(f"PCA to {SPAN} dimensions keeps {values[-SPAN:].sum() / values.sum():.4f} of the energy")
    return directions[:, -SPAN:].flip(1).contiguous()


@torch.no_grad()
def token_vectors(teacher: Teacher, teacher_ids: list[int]) -> torch.Tensor:
    """The teacher's normalised vector of every token alone between [CLS] and [SEP]."""
    first, last = (teacher.tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))
    result = []
    for start in range(0, len(teacher_ids), 256):
        ids = torch.tensor([[first, token, last] for token in teacher_ids[start : start + 256]])
        result.append(F.normalize(teacher.model(input_ids=ids).last_hidden_state.mean(1), dim=-1))
    return torch.cat(result)


def bounded(table: torch.Tensor) -> torch.Tensor:
    """Rows of at most unit length, so that every length can be hidden in a normalised vector."""
    return table / table.norm(dim=-1, keepdim=True).clamp(min=1.0)


def embed(table: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Normalised sums of the token vectors, without [CLS] and [SEP]."""
    bare = [row[1:-1] or row for row in batch.tokens]
    offsets = torch.tensor([0] + [len(row) for row in bare[:-1]]).cumsum(0)
    ids = torch.tensor([token for row in bare for token in row])
    return F.normalize(F.embedding_bag(ids, table, offsets, mode="sum"), dim=-1)


def train(shards: Shards, table: torch.Tensor, projection: torch.Tensor, steps: int) -> torch.Tensor:
    table = torch.nn.Parameter(table)
    optimiser = torch.optim.Adam([table], betas=(0.9, 0.98), fused=True)
    batches = shards.batches(random.Random(7), BATCH_TEXTS)
    for step in range(steps):
        batch = next(batches)
        optimiser.param_groups[0]["lr"] = PEAK_RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        parts = distillation_losses(embed(bounded(table), batch), batch.vectors, projection)
        optimiser.zero_grad(set_to_none=True)
        total(parts).backward()
        optimiser.step()
        if step % 50 == 0:
            print(step, len(shards.loaded), *(f"{name} {value:.4f}" for name, value in parts.items()), flush=True)
    return bounded(table).detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--shards", type=Path, nargs="+", required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=800)
    args = parser.parse_args()
    torch.set_num_threads(1)

    shards = Shards(args.shards, Tokenizer.from_file(str(args.vocabulary / "tokenizer.json")))
    projection = principal_projection(shards)
    teacher_ids = json.loads((args.vocabulary / "teacher_ids.json").read_text())
    start = F.normalize(token_vectors(Teacher(args.teacher), teacher_ids) @ projection, dim=-1) * START_LENGTH
    table = train(shards, start, projection, args.steps)
    torch.save({"table": table, "projection": projection}, args.out)


if __name__ == "__main__":
    main()
