"""Compares the student with its teacher on held-out text: rank correlation, retrieval, synonyms, attributes.

Spearman's coefficient is between the student's and the teacher's cosines over three equal parts:
random pairs, pairs of one group (same entry, scene, dialogue), and near pairs (one of the teacher's
ten nearest neighbours). Retrieval is the mean reciprocal rank of the one right text.

    python evaluate.py --teacher TEACHER --text-root WORK/root --model ..
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer

import heldout
from teach import Teacher

Encoder = Callable[[list[str]], torch.Tensor]
TEXTS_PER_KIND = 1_000
NEIGHBOURS = 10


def remembering(encode: Encoder, file: Path | None = None) -> Encoder:
    """The encoder with a memory, kept in a file if one is given: the tests share many texts, and the teacher is slow."""
    known: dict[str, torch.Tensor] = torch.load(file) if file and file.exists() else {}

    def encoder(texts: list[str]) -> torch.Tensor:
        missing = sorted(set(texts) - known.keys())
        if missing:
            known.update(zip(missing, encode(missing)))
            if file:
                torch.save(known, file.with_suffix(".part"))
                file.with_suffix(".part").rename(file)
        return torch.stack([known[text] for text in texts])

    return encoder


def ranks(values: torch.Tensor) -> torch.Tensor:
    return values.argsort().argsort().double()


def spearman(one: torch.Tensor, other: torch.Tensor) -> float:
    return torch.corrcoef(torch.stack([ranks(one), ranks(other)]))[0, 1].item()


def held_out_pairs(
    groups: list[list[str]], teacher: Encoder, rng: random.Random
) -> tuple[list[str], dict[str, list[tuple[int, int]]]]:
    """Texts and the pairs of their numbers, in equal parts of the three kinds."""
    rng.shuffle(groups)
    texts: list[str] = []
    related: list[tuple[int, int]] = []
    for group in groups:
        if len(texts) >= TEXTS_PER_KIND:
            break
        first = len(texts)
        texts += group
        related += [(first + i, first + i + 1) for i in range(len(group) - 1)]
    vectors = teacher(texts)
    nearest = (vectors @ vectors.T - 2 * torch.eye(len(texts))).topk(min(NEIGHBOURS, len(texts) - 1)).indices
    count = len(related)
    near = [(i, int(rng.choice(nearest[i].tolist()))) for i in rng.choices(range(len(texts)), k=count)]
    unrelated = [(a, b) for a, b in (rng.sample(range(len(texts)), 2) for _ in range(count))]
    return texts, {"random": unrelated, "group": related, "near": near}


def cosines(vectors: torch.Tensor, pairs: list[tuple[int, int]]) -> torch.Tensor:
    one, other = zip(*pairs)
    return (vectors[list(one)] * vectors[list(other)]).sum(-1)


def report_spearman(groups: dict[str, list[list[str]]], teacher: Encoder, student: Encoder) -> None:
    print("\n| held-out text | pairs | Spearman, all | random | same group | near |\n|---|---|---|---|---|---|")
    ours_all, theirs_all = [], []
    for kind, kind_groups in groups.items():
        texts, parts = held_out_pairs(kind_groups, teacher, random.Random(5))
        ours, theirs = student(texts), teacher(texts)
        columns = {name: (cosines(ours, pairs), cosines(theirs, pairs)) for name, pairs in parts.items()}
        joined = tuple(torch.cat(side) for side in zip(*columns.values()))
        ours_all.append(joined[0])
        theirs_all.append(joined[1])
        by_part = " | ".join(f"{spearman(*columns[name]):.3f}" for name in ("random", "group", "near"))
        print(f"| {kind} | {len(joined[0])} | {spearman(*joined):.3f} | {by_part} |")
    ours, theirs = torch.cat(ours_all), torch.cat(theirs_all)
    print(f"| **all** | {len(ours)} | **{spearman(ours, theirs):.3f}** | | | |")
    print(f"\nmean absolute difference of the cosines: {(ours - theirs).abs().mean():.4f}")


def reciprocal_rank(queries: torch.Tensor, texts: torch.Tensor) -> float:
    scores = queries @ texts.T
    right = scores.diagonal()[:, None]
    return (1 / (1 + (scores > right).sum(-1).double())).mean().item()


def report_retrieval(tests: list[heldout.Retrieval], teacher: Encoder, student: Encoder) -> None:
    print("\n| retrieval | texts | teacher MRR | student MRR | ratio |\n|---|---|---|---|---|")
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for test in tests:
        theirs = reciprocal_rank(teacher(test.queries), teacher(test.texts))
        ours = reciprocal_rank(student(test.queries), student(test.texts))
        ratios[test.of_a_robot].append(ours / theirs)
        print(f"| {test.name} | {len(test.texts)} | {theirs:.3f} | {ours:.3f} | {ours / theirs:.3f} |")
    for name, values in (("captions, questions and notes", ratios[True]), ("prose", ratios[False])):
        print(f"| **mean of the ratios, {name}** | | | | **{sum(values) / len(values):.3f}** |")


def synonym_rank(encode: Encoder) -> float:
    """Mean reciprocal rank of a word's synonym among the synonyms of all pairs."""
    one, other = zip(*(pair.split("/") for pair in heldout.SYNONYMS))
    return reciprocal_rank(encode(list(one)), encode(list(other)))


def synonym_margin(encode: Encoder) -> tuple[float, float]:
    """Mean cosine of synonyms, and of words of different pairs."""
    one, other = zip(*(pair.split("/") for pair in heldout.SYNONYMS))
    scores = encode(list(one)) @ encode(list(other)).T
    same = torch.eye(len(one), dtype=torch.bool)
    return scores[same].mean().item(), scores[~same].mean().item()


def attribute_accuracy(encode: Encoder) -> float:
    """Share of queries that are closer to the caption with the attribute asked for."""
    queries, right, wrong = zip(*heldout.attribute_tests(random.Random(6)))
    vectors = encode(list(queries))
    closer = (vectors * encode(list(right))).sum(-1) > (vectors * encode(list(wrong))).sum(-1)
    return closer.double().mean().item()


def colour_accuracy(encode: Encoder) -> float:
    """Share of queries that are closest to the thing of the asked colour, among the same thing in other colours elsewhere."""
    tests = heldout.colour_tests(random.Random(8))
    queries = encode([query for query, _ in tests])
    captions = encode([caption for _, captions in tests for caption in captions]).unflatten(0, (len(tests), -1))
    return ((captions @ queries[..., None]).squeeze(-1).argmax(-1) == 0).double().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--text-root", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--teacher-vectors", type=Path, help="file that keeps the teacher's vectors from run to run")
    args = parser.parse_args()
    torch.set_num_threads(1)

    teacher = remembering(Teacher(args.teacher).encode, args.teacher_vectors)
    model = SentenceTransformer(str(args.model), device="cpu", model_kwargs={"dtype": torch.float32})

    student = remembering(
        lambda texts: model.encode(texts, batch_size=16, convert_to_tensor=True, normalize_embeddings=True)
    )
    report_spearman(heldout.related_groups(args.text_root, random.Random(4)), teacher, student)
    report_retrieval(heldout.retrievals(args.text_root, random.Random(3)), teacher, student)
    print("\n| | teacher | student |\n|---|---|---|")
    print(f"| synonym among {len(heldout.SYNONYMS)}, MRR | {synonym_rank(teacher):.3f} | {synonym_rank(student):.3f} |")
    margins = [" / ".join(f"{cosine:.3f}" for cosine in synonym_margin(encode)) for encode in (teacher, student)]
    print(f"| mean cosine of synonyms / of others | {margins[0]} | {margins[1]} |")
    print(
        f"| asked colour first of {heldout.COLOURS_AT_ONCE} | {colour_accuracy(teacher):.3f} | {colour_accuracy(student):.3f} |"
    )
    print(f"| asked attribute preferred | {attribute_accuracy(teacher):.3f} | {attribute_accuracy(student):.3f} |")


if __name__ == "__main__":
    main()
