"""Writes the teacher's vectors for every text of the corpus, shard by shard, resumable.

The teacher is all-MiniLM-L6-v2: mean pooling over the last layer, normalised. It runs in bf16 with
batches of equal length; ``--check`` compares that with f32 on a sample first. A shard is a file
``NNNN.safetensors`` with ``vectors`` (f16, texts x 384) next to ``NNNN.jsonl`` (text and group).

    python teach.py --teacher TEACHER --corpus WORK/corpus.jsonl --out WORK/shards
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertModel

SHARD_TEXTS = 8_192
TOKENS_PER_BATCH = 4_096
MAX_TOKENS = 256


class Teacher:
    """all-MiniLM-L6-v2 as sentence-transformers runs it."""

    def __init__(self, folder: Path) -> None:
        self.model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    @torch.no_grad()
    def encode(self, texts: list[str], low_precision: bool = True) -> torch.Tensor:
        encodings = [e.ids for e in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i]))
        vectors = torch.empty(len(texts), self.model.config.hidden_size)
        start = 0
        while start < len(order):
            longest = len(encodings[order[min(start + 255, len(order) - 1)]])
            rows = order[start : start + max(8, TOKENS_PER_BATCH // longest)]
            vectors[rows] = self._pooled([encodings[i] for i in rows], low_precision)
            start += len(rows)
        return vectors

    def _pooled(self, batch: list[list[int]], low_precision: bool) -> torch.Tensor:
        width = max(map(len, batch))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in batch])
        lengths = torch.tensor([len(row) for row in batch])
        mask = (torch.arange(width)[None] < lengths[:, None]).long()
        with torch.autocast("cpu", torch.bfloat16, enabled=low_precision):
            hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        pooled = (hidden * mask[..., None]).sum(1) / lengths[:, None]
        return torch.nn.functional.normalize(pooled, dim=-1)


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


def check_precision(teacher: Teacher, texts: list[str]) -> None:
    exact, fast = teacher.encode(texts, low_precision=False), teacher.encode(texts)
    cosine = (exact * fast).sum(-1)
    error = (exact @ exact.T - fast @ fast.T).abs()
    print(f"bf16 against f32: cosine mean {cosine.mean():.5f}, least {cosine.min():.5f}; pair error mean {error.mean():.5f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="compare bf16 with f32 on 256 texts and stop")
    args = parser.parse_args()
    torch.set_num_threads(1)

    teacher = Teacher(args.teacher)
    work = shards(args.corpus)
    if args.check:
        check_precision(teacher, [str(row["text"]) for row in work[0][:256]])
        return
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
