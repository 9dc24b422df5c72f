"""Prunes the teacher's WordPiece vocabulary and writes the student's tokenizer and token map.

Kept: the five special tokens, every single character and single-character piece (so that nothing
becomes [UNK] that was not), then the tokens of the corpus by frequency and the rest of the teacher's
vocabulary in its own order, which follows their frequency in English.

    python vocabulary.py --teacher TEACHER --corpus WORK/corpus.jsonl --out WORK/vocabulary
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
FREQUENT = 8
"""A token seen this often in the corpus is kept whatever its rank in the teacher's vocabulary."""
MAX_TOKENS = 256


def token_counts(tokenizer: Tokenizer, corpus: Path) -> Counter[int]:
    counts: Counter[int] = Counter()
    with corpus.open() as lines:
        for line in lines:
            for encoding in tokenizer.encode_batch(json.loads(line)["texts"], add_special_tokens=False):
                counts.update(encoding.ids)
    return counts


def kept_tokens(vocabulary: dict[str, int], counts: Counter[int], size: int) -> list[str]:
    """The student's tokens in order of their new ids."""

    def rank(token: str) -> tuple[int, int]:
        if token in SPECIAL_TOKENS:
            return 0, SPECIAL_TOKENS.index(token)
        if len(token.removeprefix("##")) == 1:
            return 1, vocabulary[token]
        return (2 if counts[vocabulary[token]] >= FREQUENT else 3), vocabulary[token]

    candidates = [token for token in vocabulary if not token.startswith("[unused")]
    return sorted(candidates, key=rank)[:size]


def pruned_tokenizer(teacher_json: dict, tokens: list[str]) -> dict:
    """The teacher's tokenizer.json over the new ids, without padding to a fixed length."""
    ids = {token: number for number, token in enumerate(tokens)}
    pruned = json.loads(json.dumps(teacher_json))
    pruned["model"]["vocab"] = ids
    pruned["padding"] = None
    pruned["truncation"] = {"direction": "Right", "max_length": MAX_TOKENS, "strategy": "LongestFirst", "stride": 0}
    for token in pruned["added_tokens"]:
        token["id"] = ids[token["content"]]
    for special in pruned["post_processor"]["special_tokens"].values():
        special["ids"] = [ids[token] for token in special["tokens"]]
    return pruned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=26_000)
    args = parser.parse_args()

    teacher_json = json.loads((args.teacher / "tokenizer.json").read_text())
    tokenizer = Tokenizer.from_file(str(args.teacher / "tokenizer.json"))
    tokenizer.no_padding()
    counts = token_counts(tokenizer, args.corpus)
    vocabulary: dict[str, int] = teacher_json["model"]["vocab"]
    tokens = kept_tokens(vocabulary, counts, args.size)

    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "tokenizer.json").write_text(json.dumps(pruned_tokenizer(teacher_json, tokens), ensure_ascii=False))
    (args.out / "teacher_ids.json").write_text(json.dumps([vocabulary[token] for token in tokens]))
    covered = sum(counts[vocabulary[token]] for token in tokens) / sum(counts.values())
    print(f"kept {len(tokens)} of {len(vocabulary)} tokens, {covered:.4%} of the corpus")


if __name__ == "__main__":
    main()
