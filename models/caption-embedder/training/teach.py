"""Writes the teacher's vectors for every text of the corpus, shard by shard, resumable.

The teacher is all-MiniLM-L6-v2: mean pooling over the last layer, normalised. It teaches in bf16
(cosine to f32 at least .9999; on a processor with AVX512-BF16 2.7 times as fast), on small batches of
texts of about the same length. A shard is a file ``NNNN.safetensors`` with ``vectors`` (f16, texts x 384)
next to ``NNNN.jsonl`` (text, group and source).

    python teach.py --teacher TEACHER --corpus WORK/corpus.jsonl --out WORK/shards
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertModel

SHARD_TEXTS = 8_192
CHUNK_TOKENS = 1_024
MAX_TOKENS = 256


def chunks(tokens: list[list[int]], most: int = CHUNK_TOKENS) -> Iterator[list[list[int]]]:
    """Texts sorted by length in runs of at most ``most`` padded tokens."""
    chunk: list[list[int]] = []
    for row in tokens:
        if chunk and len(row) * (len(chunk) + 1) > most:
            yield chunk
            chunk = []
        chunk.append(row)
    yield chunk


def mean_pooled(model: BertModel, rows: list[list[int]]) -> torch.Tensor:
    """The normalised mean of the last layer over the real tokens; the longest text comes last."""
    width = len(rows[-1])
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    mask = (torch.arange(width)[None] < lengths[:, None]).long()
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    return F.normalize((hidden.float() * mask[..., None]).sum(1) / lengths[:, None], dim=-1)


class Teacher:
    """all-MiniLM-L6-v2 as sentence-transformers runs it."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.float32) -> None:
        self.model = BertModel.from_pretrained(folder, add_pooling_layer=False, dtype=dtype).eval()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    @torch.no_grad()
    def encode(self, texts: list[str]) -> torch.Tensor:
        encodings = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
        pooled = [mean_pooled(self.model, chunk) for chunk in chunks([encodings[i] for i in order])]
        vectors = torch.empty(len(texts), self.model.config.hidden_size)
        vectors[order] = torch.cat(pooled)
        return vectors


def shards(corpus: Path) -> list[list[dict[str, object]]]:
    """Rows (text, group number, source) in shards of about SHARD_TEXTS, never splitting a group."""
    result: list[list[dict[str, object]]] = [[]]
    with corpus.open() as lines:
        for number, line in enumerate(lines):
            group = json.loads(line)
            if len(result[-1]) >= SHARD_TEXTS:
                result.append([])
            result[-1] += [{"text": t, "group": number, "source": group["source"]} for t in group["texts"]]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)

    teacher = Teacher(args.teacher, torch.bfloat16)
    work = shards(args.corpus)
    args.out.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(work):
        vectors_file = args.out / f"{number:04}.safetensors"
        if vectors_file.exists():
            continue
        begin = time.monotonic()
        vectors = teacher.encode([str(row["text"]) for row in rows])
        (args.out / f"{number:04}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        partial = vectors_file.with_suffix(".part")
        save_file({"vectors": vectors.half()}, str(partial))
        partial.rename(vectors_file)
        print(f"shard {number + 1}/{len(work)}: {len(rows) / (time.monotonic() - begin):.0f} texts/s", flush=True)


if __name__ == "__main__":
    main()
