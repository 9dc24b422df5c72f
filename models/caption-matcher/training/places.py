"""Places: the captions of a robot's round, and what was asked of them, with which captions show it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

SRC = Path(__file__).resolve().parents[3] / "src"
PRONOUNS = set((SRC / "language/data/classes/pronouns.txt").read_text().split("\n")[1:])

HELD_OUT = ["A", "J", "K", "L", "Z", "e"]
"""Groups of places, by the letter of their names, on which nothing is trained."""


@dataclass
class Question:
    text: str
    shown: set[int]
    maybe: set[int]
    """Numbers of captions that show it, and of those that may."""


@dataclass
class Place:
    captions: dict[int, str]
    questions: list[Question]


def places_of(folders: list[Path], without: list[str]) -> dict[str, Place]:
    """The places of these folders, but those of the groups `without`."""
    found = {name: it for folder in folders for name, it in read(*files_of(folder)).items()}
    return {name: it for name, it in found.items() if name[0] not in without}


def files_of(folder: Path) -> tuple[Path, Path]:
    own = folder / "captions.jsonl", folder / "questions.jsonl"
    return own if own[0].exists() else (folder / "long_captions.jsonl", folder / "long_caption_questions.jsonl")


def read(captions: Path, questions: Path) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for line in captions.read_text().splitlines():
        row = json.loads(line)
        places.setdefault(row["building"], Place({}, [])).captions[row["n"]] = row["text"]
    for line in questions.read_text().splitlines():
        row = json.loads(line)
        question = Question(row["question"], set(row["all"]), set(row.get("maybe", ())))
        places[row["building"]].questions.append(question)
    return places


def sentences(caption: str) -> list[str]:
    """As `sentences_in_context` of the program has them: each after the one before where it begins with a pronoun."""
    alone = [it.rstrip(";") for it in re.split(r"(?<=[.;!?])\s+|\n", caption.strip()) if it.rstrip(";")]
    first = [re.search(r"[^\W\d_]+", it) for it in alone]
    is_told_before = [it is not None and it.group().lower() in PRONOUNS for it in first]
    return [f"{alone[at - 1]} {it}" if at and is_told_before[at] else it for at, it in enumerate(alone)]
