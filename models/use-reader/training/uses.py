"""What things are told by: their uses, as people say them, and what a dictionary says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

_PLACEHOLDER = re.compile(r"(some|any)?(thing|body|one)s?\b|what\b|that (thing|stuff)\b|the (thing|stuff|one)\b")


def told(path: Path) -> list[tuple[str, list[str]]]:
    """Of each thing its uses, of a file or of all files of a folder: of text with lines `thing | use | use`, and of
    what is asked for in JSON lines."""
    if path.is_dir():
        return [pair for it in sorted(path.iterdir()) for pair in told(it)]
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        found = [(row["thing"], [it for it in row["asked"] if _PLACEHOLDER.match(it.lower())]) for row in rows]
    else:
        found = [(thing, uses) for thing, *uses in (line.split("|") for line in path.read_text().splitlines())]
    said = [(thing.strip().lower(), [it.strip().lower() for it in uses]) for thing, uses in found]
    return [(thing, without_name(thing, uses)) for thing, uses in said if uses]


def without_name(thing: str, uses: list[str]) -> list[str]:
    """Of the uses those that do not say the name."""
    said = re.compile(rf"\b{re.escape(thing)}")
    return [it for it in uses if not said.search(it)]


class Dictionary:
    """WordNet's first sense of each noun."""

    def __init__(self, folder: Path):
        senses, self.glosses = {}, {}
        for line in (folder / "index.noun").read_text().splitlines():
            if not line.startswith(" "):
                fields = line.split()
                senses[fields[0]] = fields[-int(fields[2])]
        glosses = {}
        for line in (folder / "data.noun").read_text(errors="replace").splitlines():
            if not line.startswith(" "):
                said, _, gloss = line.partition("|")
                glosses[said.split()[0]] = gloss.strip().split('; "')[0]
        for noun, sense in senses.items():
            self.glosses[noun.replace("_", " ")] = glosses[sense]

    def described(self, name: str) -> str:
        """The name with what the dictionary says of it, or of the last words of it that it knows."""
        words = name.split(" ")
        for start in range(len(words)):
            for noun in forms(" ".join(words[start:])):
                if noun in self.glosses:
                    return f"{name}: {self.glosses[noun]}"
        return name


def forms(name: str) -> list[str]:
    """The name, and what it may be one of."""
    endings = [("ies", "y"), ("ves", "f"), ("es", ""), ("s", "")]
    return [name] + [name[: -len(end)] + one for end, one in endings if name.endswith(end)]
