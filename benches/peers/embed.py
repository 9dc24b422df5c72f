"""Writes the vectors of a file of texts, a line each, as .fvecs: a model as sentence-transformers runs it.

bf16 halves the time and moves a vector by a cosine of less than .001, for base and queries alike; what
is measured afterwards is the search among these vectors, whose true neighbours are computed from them.

    python embed.py --model DIRECTORY --texts captions.txt --out captions.384.fvecs
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

CHUNK = 4_096
BATCH = 64


def write_fvecs(path: Path, vectors: np.ndarray) -> None:
    """Rows of a little-endian dimension and as many f32 each."""
    rows = np.empty((len(vectors), vectors.shape[1] + 1), dtype="<f4")
    rows[:, 0] = np.full(len(vectors), vectors.shape[1], dtype="<i4").view("<f4")
    rows[:, 1:] = vectors
    part = path.with_suffix(".part")
    rows.tofile(part)
    part.rename(path)


def embed(model: SentenceTransformer, texts: list[str]) -> np.ndarray:
    """Unit vectors in the order of the texts; embedded by length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), model.get_embedding_dimension()), dtype=np.float32)
    begin = time.monotonic()
    for first in range(0, len(order), CHUNK):
        rows = order[first : first + CHUNK]
        batch = model.encode([texts[i] for i in rows], batch_size=BATCH, convert_to_tensor=True)
        vectors[rows] = torch.nn.functional.normalize(batch.float(), dim=-1).numpy()
        done = first + len(rows)
        print(f"{done}/{len(texts)} texts, {done / (time.monotonic() - begin):.0f}/s", flush=True)
    return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--f32", action="store_true", help="full precision, in twice the time")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = SentenceTransformer(str(args.model), device="cpu")
    if not args.f32:
        model.bfloat16()
    write_fvecs(args.out, embed(model, args.texts.read_text().splitlines()))


if __name__ == "__main__":
    main()
