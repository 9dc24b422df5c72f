"""The labels of a caption's words, and a caption that carries them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROLES = [
    "none",
    "part",
    "thing",
    "landmark",
    "absent",
    "person",
    "place",
    "attribute",
    "count",
    "deed",
    "relation",
]
NAMED = ("thing", "landmark", "absent", "person", "place")
"""Roles of the last word of a name; its other words are `part`."""
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|;\s+")
"""Between the sentences of a caption, which are read one by one."""
TARGETS = {
    "thing": ("relation", "deed"),
    "landmark": ("relation", "deed"),
    "absent": ("relation", "deed"),
    "person": ("relation", "deed"),
    "place": ("relation", "deed"),
    "attribute": (*NAMED, "attribute"),
    "count": NAMED,
    "deed": (*NAMED, "deed"),
    "relation": (*NAMED, "deed", "attribute"),
}
"""Which roles the word that a role's word belongs to may have; beside these, none at all."""


@dataclass
class Word:
    start: int
    end: int
    role: str = "none"
    to: int = -1
    """Number of the word it belongs to; -1: of none."""


@dataclass
class Caption:
    text: str
    words: list[Word] = field(default_factory=list)

    def as_json(self) -> str:
        said = [[it.start, it.end, it.role, it.to] for it in self.words]
        return json.dumps({"text": self.text, "words": said}, ensure_ascii=False)

    def shown(self) -> str:
        """For a person to read."""
        said = []
        for word in self.words:
            if word.role != "none":
                to = self.words[word.to] if word.to >= 0 else None
                target = f"→{self.text[to.start : to.end]}" if to else ""
                said.append(f"{self.text[word.start : word.end]}/{word.role}{target}")
        return self.text + "\n    " + "  ".join(said)

    @classmethod
    def from_json(cls, line: str) -> Caption:
        it = json.loads(line)
        return cls(it["text"], [Word(*word) for word in it["words"]])


def read_captions(path: Path) -> list[Caption]:
    with path.open() as lines:
        return [Caption.from_json(line) for line in lines]


def write_captions(path: Path, captions: Iterable[Caption]) -> None:
    path.write_text("".join(it.as_json() + "\n" for it in captions))


@dataclass
class Named:
    """A name with what belongs to it."""

    role: str
    name: str
    attributes: list[str]
    count: str = ""
    links: list[tuple[str, int]] = field(default_factory=list)
    """(words of the relation, number of the name that is related to it)."""


@dataclass
class Deed:
    words: str
    who: int = -1
    objects: list[int] = field(default_factory=list)
    links: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Parse:
    names: list[Named] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)


def parse(caption: Caption) -> Parse:
    """What the labels come to: the same rules as in the card."""
    return _Parser(caption).parsed()


class _Parser:
    def __init__(self, caption: Caption):
        self.text, self.words = caption.text, caption.words
        self.names: dict[int, int] = {}
        """Number of a word -> number of the name that it ends."""
        self.deeds: dict[int, int] = {}
        self.relations: dict[int, int] = {}
        """Number of a word -> that of the first word of its relation."""
        self.described: dict[int, int] = {}
        """Number of an attribute's word -> which of its name's attributes it is."""
        self.found = Parse()

    def parsed(self) -> Parse:
        self._collect()
        for at, word in enumerate(self.words):
            if word.role in ("attribute", "count"):
                self._describe(at, word)
            elif word.role == "deed" and at in self.deeds:
                self.found.deeds[self.deeds[at]].who = self.names.get(word.to, -1)
            elif word.role in NAMED and word.to >= 0:
                self._link(at, word)
        return self.found

    def _said(self, start: int, end: int) -> str:
        return self.text[self.words[start].start : self.words[end].end]

    def _collect(self) -> None:
        first = 0
        for at, word in enumerate(self.words):
            before = self.words[at - 1] if at else None
            if word.role == "part" and not (before and before.role == "part"):
                first = at
            if word.role in NAMED:
                start = first if before and before.role == "part" else at
                self.names[at] = len(self.found.names)
                self.found.names.append(Named(word.role, self._said(start, at), []))
            elif word.role == "deed":
                self._collect_deed(at, word)
            elif word.role == "relation":
                joins = before is not None and before.role == "relation"
                self.relations[at] = self.relations[at - 1] if joins else at

    def _collect_deed(self, at: int, word: Word) -> None:
        if word.to >= 0 and word.to in self.deeds:  # "up" of "picks up".
            verb = self.found.deeds[self.deeds[word.to]]
            verb.words += " " + self._said(at, at)
            return
        self.deeds[at] = len(self.found.deeds)
        self.found.deeds.append(Deed(self._said(at, at)))

    def _describe(self, at: int, word: Word) -> None:
        root, seen = at, 0
        while self.words[root].role == "attribute" and seen < 4:
            to = self.words[root].to
            if to < 0 or self.words[to].role != "attribute":
                break
            root, seen = to, seen + 1
        to = self.words[root].to
        if to not in self.names:
            return
        name = self.found.names[self.names[to]]
        if word.role == "count":
            name.count = (name.count + " " + self._said(at, at)).strip()
        elif root in self.described:  # "light" of "light green", "Best" of "labeled Best Dad".
            before = name.attributes[self.described[root]]
            name.attributes[self.described[root]] = before + self._glue(at) + self._said(at, at)
        else:
            self.described[root] = len(name.attributes)
            name.attributes.append(self._said(at, at))

    def _glue(self, at: int) -> str:
        """Between a word and the one before: nothing inside "half-eaten", else (as after a quote) a blank."""
        before = self.words[at - 1]
        return "" if before.role == "attribute" and before.end == self.words[at].start else " "

    def _link(self, at: int, word: Word) -> None:
        name = self.names[at]
        if word.to in self.deeds:
            self.found.deeds[self.deeds[word.to]].objects.append(name)
        elif word.to in self.relations:
            first = self.relations[word.to]
            last = max(it for it, begins in self.relations.items() if begins == first)
            words, governor = self._said(first, last), self.words[first].to
            if governor in self.deeds:
                self.found.deeds[self.deeds[governor]].links.append((words, name))
            elif governor in self.names:
                self.found.names[name].links.append((words, self.names[governor]))
