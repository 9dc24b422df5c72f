"""A labelled caption about other things, persons and deeds: what a word is shall be known by its place in the
sentence and not by heart."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from grammar import Words
from labels import Caption, Word

RENAMED = 0.3
"""Share of the names and deeds that get another word."""


class Renaming:
    """`persons` and `verbs` are single words: "plumber", "solder"."""

    def __init__(self, words: Words, persons: list[str], verbs: list[str]):
        self.words, self.persons, self.verbs = words, persons, verbs

    def renamed(self, caption: Caption, rng: random.Random) -> Caption:
        text, shift, moved = "", 0, []
        numbers: dict[int, int] = {}
        at = 0
        while at < len(caption.words):
            last = at
            while last + 1 < len(caption.words) and caption.words[last].role == "part":
                last += 1
            head = caption.words[last]
            other = self._other(caption, head) if rng.random() < RENAMED else None
            if other:
                start = caption.words[at].start
                text += caption.text[len(text) - shift : start]
                noun = other(rng).split()
                for number in range(at, last + 1):
                    numbers[number] = len(moved) + len(noun) - 1
                for number, part in enumerate(noun):
                    if number:
                        text += " "
                    role = head.role if number == len(noun) - 1 else "part"
                    moved.append((Word(len(text), len(text) + len(part), role), head.to if role != "part" else last))
                    text += part
                shift = len(text) - head.end
            else:
                for number in range(at, last + 1):
                    word = caption.words[number]
                    numbers[number] = len(moved)
                    moved.append((Word(word.start + shift, word.end + shift, word.role), word.to))
                text += caption.text[len(text) - shift : head.end]
            at = last + 1
        text += caption.text[len(text) - shift :]
        for word, to in moved:
            word.to = numbers[to] if to >= 0 else -1
        return Caption(text, [word for word, _ in moved])

    def _other(self, caption: Caption, head: Word) -> Callable[[random.Random], str] | None:
        """What draws another word for a name or deed; None where it stays."""
        said = caption.text[head.start : head.end]
        if head.role in ("thing", "landmark"):
            return self.words.thing
        if head.role == "person" and self.persons and said.islower() and said not in _PRONOUNS:
            several = said.endswith("s") and not said.endswith("ss") or said in ("people", "men", "women", "children")
            return lambda rng: rng.choice(self.persons) + ("s" if several else "")
        if head.role == "deed" and self.verbs and head.to >= 0 and said.endswith("ing") and len(said) > 5:
            return lambda rng: gerund(rng.choice(self.verbs))
        return None


_PRONOUNS = set("he she they we i you it who c user someone somebody anyone everyone nobody".split())
_VOWELS = set("aeiou")


def gerund(verb: str) -> str:
    """In -ing: "soldering", "mopping", "welding", "tying"."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    is_doubled = (
        sum(it in _VOWELS for it in verb) == 1 and len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS
    )
    return verb + (verb[-1] if is_doubled else "") + "ing"


def said_often(folder: Path, index: str) -> list[str]:
    """Single words of one of WordNet's indexes that its texts have in some sense."""
    found = []
    for line in (folder / index).read_text().splitlines():
        if line.startswith(" "):
            continue
        fields = line.split()
        pointers = int(fields[3])
        if fields[0].isalpha() and int(fields[5 + pointers]) > 0:
            found.append(fields[0])
    return sorted(found)
