"""Names: what people call a thing, sentences that show it, and such that show what could be taken for it.

Folder `names`: of each field of things a file with a line a thing (`asked`, `broad`, `shows`, `near`). They are
read as places, each with a thing of every field, so that the sentences of the others are far from what is asked.
"""

from __future__ import annotations

import json
import random
import re
from itertools import zip_longest
from pathlib import Path

from places import SRC, Place, Question

STOP_WORDS = set((SRC / "language/data/classes/stop_words.txt").read_text().splitlines())


def places_of_names(folder: Path, seed: int) -> list[Place]:
    fields = [[json.loads(line) for line in it.read_text().splitlines()] for it in sorted(folder.glob("*.jsonl"))]
    shuffle = random.Random(seed)
    for things in fields:
        shuffle.shuffle(things)
    return [place_of([it for it in things if it]) for things in zip_longest(*fields)]


def place_of(things: list[dict]) -> Place:
    """What is near a thing may be what its broader names mean, and a sentence of another that has a word of its names
    may show it."""
    captions: dict[int, str] = {}
    own = []
    for thing in things:
        numbers = range(len(captions), len(captions) + len(thing["shows"]) + len(thing["near"]))
        captions.update(zip(numbers, thing["shows"] + thing["near"]))
        shown = set(numbers[: len(thing["shows"])])
        own.append((shown, set(numbers) - shown))
    words = {number: words_of(it) for number, it in captions.items()}
    questions = []
    for thing, (shown, near) in zip(things, own):
        names = [thing["thing"], *thing["asked"], *thing["broad"]]
        named = {word for name in names for word in words_of(name)}
        may = {number for number, it in words.items() if it & named} - shown - near
        questions += [Question(it, shown, may) for it in dict.fromkeys(thing["asked"])]
        questions += [Question(it, shown, may | near) for it in thing["broad"][:1]]
    return Place(captions, questions)


def words_of(text: str) -> set[str]:
    """Words without their endings of the plural; those that tell something."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return {re.sub(r"(?<=[^s])s$", "", it) for it in words if it not in STOP_WORDS}
