"""Counts what the held-out tests share with the training text: whole texts, and runs of five words.

python overlap.py --text-root WORK/root --corpus WORK/prose.jsonl WORK/generated.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

import heldout

RUN = 5


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def runs(text: str) -> set[tuple[str, ...]]:
    tokens = words(text)
    return {tuple(tokens[i : i + RUN]) for i in range(len(tokens) - RUN + 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text-root", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, nargs="+", required=True)
    args = parser.parse_args()

    trained: set[tuple[str, ...]] = set()
    whole: set[str] = set()
    for file in args.corpus:
        with file.open() as lines:
            for line in lines:
                for text in json.loads(line)["texts"]:
                    whole.add(" ".join(words(text)))
                    trained |= runs(text)
    for test in heldout.retrievals(args.text_root, random.Random(3)):
        for side, texts in (("queries", test.queries), ("texts", test.texts)):
            equal = sum(" ".join(words(text)) in whole for text in texts)
            shared = sum(not trained.isdisjoint(runs(text)) for text in texts)
            print(
                f"{test.name}, {side}: {len(texts)}, {equal} in the training text as a whole, {shared} share {RUN} words in a row"
            )


if __name__ == "__main__":
    main()
