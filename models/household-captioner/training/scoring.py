"""Scores captions by what they claim: which things, on what, in which room."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from world import ROOMLESS, Truth, caption, parse


@dataclass
class _Matches:
    """Claims, things that are there, and how many of the one are the other."""

    right: int = 0
    claimed: int = 0
    there: int = 0

    def add(self, claimed: list, there: list) -> None:
        self.right += sum((Counter(claimed) & Counter(there)).values())
        self.claimed += len(claimed)
        self.there += len(there)

    @property
    def precision(self) -> float:
        return self.right / max(self.claimed, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.there, 1)


@dataclass
class Score:
    captions: int = 0
    things: _Matches = field(default_factory=_Matches)
    """Type and colour both right."""
    types: _Matches = field(default_factory=_Matches)
    type_of: dict[str, _Matches] = field(default_factory=dict)
    """For each type, with its colour."""
    all_things: int = 0
    """Captions that name exactly the things that are there."""
    exact: int = 0
    """Captions equal to the true one, word for word."""
    surface: int = 0
    with_room: int = 0
    room: int = 0
    with_person: int = 0
    """Captions of pictures with somebody in them, or that say so."""
    activity: int = 0

    def add(self, text: str, truth: Truth) -> None:
        claims = parse(text)
        there = [seen.thing for seen in truth.objects]
        self.captions += 1
        self.things.add(claims.things, there)
        self.types.add([thing.type for thing in claims.things], [thing.type for thing in there])
        for name in {thing.type for thing in claims.things + there}:
            matches = self.type_of.setdefault(name, _Matches())
            matches.add([t for t in claims.things if t.type == name], [t for t in there if t.type == name])
        self.all_things += Counter(claims.things) == Counter(there)
        self.exact += text == caption(truth)
        self.surface += claims.surface == (truth.furniture, truth.material)
        if truth.furniture not in ROOMLESS:
            self.with_room += 1
            self.room += claims.room == truth.room
        if truth.activity or claims.activity:
            self.with_person += 1
            self.activity += claims.activity == truth.activity

    def summary(self) -> dict[str, Any]:
        rounded = {
            "precision": self.things.precision,
            "recall": self.things.recall,
            "type_precision": self.types.precision,
            "type_recall": self.types.recall,
            "all_things": self.all_things / max(self.captions, 1),
            "exact": self.exact / max(self.captions, 1),
            "surface": self.surface / max(self.captions, 1),
            "room": self.room / max(self.with_room, 1),
            "activity": self.activity / max(self.with_person, 1),
        }
        return {"captions": self.captions, **{name: round(value, 3) for name, value in rounded.items()}}


def score(captions: list[str], truths: list[Truth]) -> Score:
    result = Score()
    for text, truth in zip(captions, truths, strict=True):
        result.add(text, truth)
    return result
