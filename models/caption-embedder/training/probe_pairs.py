"""Writes probe pairs: two texts and the teacher's cosine, evenly spread over cosines and kinds of text.

engram fits from them, for any embedder, the map from its cosines to those of the teacher, the scale
that thresholds are given in. The texts are the project's own: written for this (``probe_texts.txt``)
or generated with a seed that training does not use; none is from the tests.

    python probe_pairs.py --teacher TEACHER --text-root WORK/root
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import torch

import corpus
import frames
import grammar
import views
from reserved import names_reserved
from teach import Teacher

LOWEST, BIN, BINS = -0.1, 0.05, 22
PAIRS_PER_BIN = 24
LONGEST = 400


def texts_by_kind(root: Path) -> dict[str, list[str]]:
    """Texts of each kind; neighbours are related."""
    rng = random.Random(90)
    words = corpus.vocabulary(root)
    kinds: dict[str, list[str]] = {
        "written": Path(__file__).with_name("probe_texts.txt").read_text().replace("\t", "\n").splitlines()
    }
    scenes = [views.view_group(rng, words) for _ in range(40)]
    frame_groups = [frames.frame_group(rng, words) for _ in range(60)]
    kinds["captions"] = [text for group in scenes for text in (*group[:2], *group[-2:]) if len(text) < LONGEST]
    kinds["questions"] = [text for group in scenes + frame_groups for text in group[2:4]]
    kinds["notes"] = [text for group in frame_groups for text in (*group[:2], group[4])]
    kinds["dialogue"] = [text for _ in range(25) for text in grammar.dialogue_group(rng)]
    common = {*words.things, *words.people}
    lemmas = [
        lemmas[:2] for _, _, lemmas, *_ in corpus.synsets(root) if len(lemmas) > 1 and common.issuperset(lemmas[:2])
    ]
    kinds["synonyms"] = [word for pair in rng.sample(lemmas, 120) for word in pair]
    return {kind: [t for t in dict.fromkeys(texts) if not names_reserved(t)] for kind, texts in kinds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--text-root", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "probe_pairs.jsonl")
    args = parser.parse_args()
    torch.set_num_threads(1)

    teacher = Teacher(args.teacher)
    rng = random.Random(91)
    bins: list[dict[str, list[tuple[str, str, float]]]] = [{} for _ in range(BINS)]
    for kind, texts in texts_by_kind(args.text_root).items():
        vectors = teacher.encode(texts)
        cosines = vectors @ vectors.T
        for i, j in torch.triu_indices(len(texts), len(texts), 1).T.tolist():
            number = math.floor((cosines[i, j].item() - LOWEST) / BIN)
            if 0 <= number < BINS:
                bins[number].setdefault(kind, []).append((texts[i], texts[j], cosines[i, j].item()))
    chosen: list[tuple[str, str, float]] = []
    for kinds in bins:
        taken: list[tuple[str, str, float]] = []
        for candidates in kinds.values():
            rng.shuffle(candidates)
        while len(taken) < PAIRS_PER_BIN and any(kinds.values()):
            taken += [candidates.pop() for candidates in kinds.values() if candidates]
        chosen += taken[:PAIRS_PER_BIN]
    with args.out.open("w") as out:
        for a, b, cosine in sorted(chosen, key=lambda pair: pair[2]):
            out.write(json.dumps({"a": a, "b": b, "cosine": round(cosine, 4)}, ensure_ascii=False) + "\n")
    print(f"{len(chosen)} pairs, {args.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
