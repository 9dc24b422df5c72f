"""Requests with what each of their characters says, made from hand-written templates and word lists.

`templates/*.txt` hold sections `== KIND FLAGS` of one template a line. Kinds: `ask` (a frame with
`__` where a noun phrase goes), `np` (such a noun phrase), `full` (a whole request; `<it>` stands for
a sentence of kind `it`), `hi` and `why` (what is said before and beside a request). Flags: how the
one meant is told from others (`most`, `least`, `latest`, `earliest`), and the time it tells of
(`once`, `habit`). Slots `{like this}` are filled from `lexicon.json`; `[role:words]` are literal.

    python grammar.py --show 20        # some requests with their roles
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

ROLES = ["none", "thing", "attribute", "place", "not", "deed", "near", "time"]
ORDERS = ["none", "most", "least", "latest", "earliest"]
TENSES = ["none", "once", "habit"]

_SECTION = re.compile(r"^== *(.+)$")
_PIECE = re.compile(r"\{(\w+)\}|\[(\w+):([^\]]*)\]|<it>")
_LITERAL = {
    "thing": "thing",
    "attr": "attribute",
    "place": "place",
    "not": "not",
    "deed": "deed",
    "near": "near",
    "time": "time",
}


@dataclass
class Request:
    text: str = ""
    roles: list[int] = field(default_factory=list)
    """Index into ROLES of each character."""
    order: str = "none"
    tense: str = "none"

    def add(self, text: str, role: str = "none") -> None:
        self.text += text
        self.roles += [ROLES.index(role)] * len(text)

    def spans(self) -> list[tuple[str, str]]:
        """(role, words), of what has one."""
        found, start = [], 0
        for end in range(1, len(self.text) + 1):
            if end == len(self.text) or self.roles[end] != self.roles[start]:
                if self.roles[start]:
                    found.append((ROLES[self.roles[start]], self.text[start:end].strip()))
                start = end
        return found


class Words:
    """What fills the slots."""

    def __init__(self, lexicon: dict, nouns: list[str] | None = None):
        self.lexicon = lexicon
        self.nouns = nouns or []

    def pick(self, rng: random.Random, name: str):
        return rng.choice(self.lexicon[name])

    def noun(self, rng: random.Random) -> str:
        if self.nouns and rng.random() < 0.3:
            return rng.choice(self.nouns)
        return self.pick(rng, "things")

    def thing(self, rng: random.Random) -> str:
        count = rng.choices([0, 1, 2], [0.62, 0.33, 0.05])[0]
        words = [self.pick(rng, "attributes") for _ in range(count)] + [self.noun(rng)]
        if rng.random() < 0.03:
            article = rng.choice(["a", "the"])
            words.append(
                f"in {article} {self.pick(rng, 'attributes')} {rng.choice(['pot', 'box', 'case', 'sleeve', 'cover'])}"
            )
        return " ".join(words)


def article_of(words: str) -> str:
    if words.endswith("s") and not words.endswith("ss"):
        return "some "
    return "an " if words[0].lower() in "aeiou" else "a "


class Filler:
    """Fills the slots of one request; what is named twice is the same."""

    def __init__(self, words: Words, rng: random.Random):
        self.words, self.rng = words, rng
        self.known: dict[str, str] = {}

    def fill(self, request: Request, template: str, it: list[str]) -> None:
        at = 0
        for found in _PIECE.finditer(template):
            request.add(template[at : found.start()])
            at = found.end()
            if found.group(1):
                self.slot(request, found.group(1))
            elif found.group(2):
                request.add(found.group(3), _LITERAL[found.group(2)])
            else:
                self.fill(request, self.rng.choice(it), it)
        request.add(template[at:])

    def slot(self, request: Request, name: str) -> None:
        rng, words = self.rng, self.words
        key = name.lower()
        starts = name[0].isupper()
        capital = (lambda text: text[0].upper() + text[1:]) if starts else (lambda text: text)
        if key in ("thing", "a_thing"):
            thing = self.known.setdefault("thing", words.thing(rng))
            if key == "a_thing":
                request.add(capital(article_of(thing)))
                request.add(thing, "thing")
            else:
                request.add(capital(thing), "thing")
        elif key in ("colour", "not_colour"):
            request.add(capital(words.pick(rng, "attributes")), "attribute" if key == "colour" else "not")
        elif key in ("spot", "not_spot"):
            spot = words.pick(rng, "spots")
            request.add(capital(words.pick(rng, "determiners") + " "))
            request.add(spot, "place" if key == "spot" else "not")
        elif key in ("room", "not_room"):
            room = words.pick(rng, "rooms")
            lead = re.match(r"(the|my|our|his|her|a|an) ", room)
            if lead:
                request.add(capital(lead.group(0)))
                room, capital = room[lead.end() :], str
            request.add(capital(room), "place" if key == "room" else "not")
        elif key in ("other", "not_other", "near"):
            other = words.pick(rng, "spots") if key == "near" and rng.random() < 0.5 else words.thing(rng)
            request.add(capital(words.pick(rng, "determiners") + " "))
            request.add(other, {"other": "place", "not_other": "not", "near": "near"}[key])
        elif key in ("when", "daily"):
            request.add(capital(words.pick(rng, key)), "time")
        elif key in ("doing", "did", "do"):
            form = {"doing": "ing", "did": "past", "do": "infinitive"}[key]
            request.add(capital(words.pick(rng, "deeds")[form]), "deed")
        elif key == "person":
            request.add(capital(words.pick(rng, "persons")))
        elif key == "aside":
            request.add(capital(words.pick(rng, "asides")))
        else:
            raise ValueError(f"a slot {name!r} is unknown")


class Grammar:
    def __init__(self, files: list[Path], words: Words):
        self.words = words
        self.asks: list[str] = []
        self.hi: list[str] = []
        self.why: list[str] = []
        self.it: list[str] = []
        self.phrases: dict[tuple, list[str]] = defaultdict(list)
        self.whole: dict[tuple, list[str]] = defaultdict(list)
        for file in files:
            self._read(file)
        self.kinds = sorted(set(self.phrases) | set(self.whole))

    def _read(self, file: Path) -> None:
        into: list[str] | None = None
        for number, line in enumerate(file.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if section := _SECTION.match(line):
                into = self._section(section.group(1).split(), f"{file.name}:{number}")
                continue
            if into is None:
                raise ValueError(f"{file.name}:{number} stands before any section")
            try:
                Filler(self.words, random.Random(0)).fill(Request(), line, ["it"])
            except (ValueError, KeyError) as error:
                raise ValueError(f"{file.name}:{number}: {error}") from error
            into.append(line)

    def _section(self, words: list[str], where: str) -> list[str]:
        plain = {"ask": self.asks, "hi": self.hi, "why": self.why, "it": self.it}
        if words[0] in plain:
            return plain[words[0]]
        known = {"a", "the", *ORDERS, *TENSES}
        if words[0] not in ("np", "full") or not set(words[1:]) <= known:
            raise ValueError(f"{where}: section {' '.join(words)!r}")
        order = next((word for word in words[1:] if word in ORDERS), "none")
        tense = next((word for word in words[1:] if word in TENSES), "none")
        return (self.phrases if words[0] == "np" else self.whole)[(order, tense)]

    def request(self, rng: random.Random) -> Request:
        """A request; each kind of phrase as often as the square root of its templates."""
        kind = rng.choices(
            self.kinds, [(len(self.phrases[kind]) + len(self.whole[kind])) ** 0.5 for kind in self.kinds]
        )[0]
        order, tense = kind
        request = Request(order=order, tense=tense)
        filler = Filler(self.words, rng)
        if rng.random() < 0.3:
            self._aside(request, filler, rng.choice(self.hi) + " ")
        if rng.random() < 0.15:
            self._aside(request, filler, rng.choice(self.why) + " ")
        whole, phrases = self.whole[kind], self.phrases[kind]
        if rng.random() < len(whole) * 1.3 / (len(whole) * 1.3 + len(phrases)):
            filler.fill(request, rng.choice(whole), self.it)
        elif rng.random() < 0.06:
            filler.fill(request, rng.choice(phrases), self.it)
        else:
            before, after = rng.choice(self.asks).split("__", 1)
            filler.fill(request, before, self.it)
            filler.fill(request, rng.choice(phrases), self.it)
            filler.fill(request, after, self.it)
        if rng.random() < 0.2:
            self._aside(request, filler, " " + rng.choice(self.why if rng.random() < 0.7 else self.it))
        return request

    def _aside(self, request: Request, filler: Filler, template: str) -> None:
        filler.fill(request, template, self.it)


def wordnet_nouns(folder: Path) -> list[str]:
    """Single words and pairs for artefacts, food and plants, from WordNet's `data.noun`."""
    nouns = set()
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith(" "):
            continue
        parts = line.split(" ")
        if parts[1] in ("06", "13"):
            word = parts[4].replace("_", " ")
            if word.islower() and word.replace(" ", "").isalpha() and word.count(" ") < 2:
                nouns.add(word)
    return sorted(nouns)


def supplied(names: list[str] | None = None, nouns: list[str] | None = None) -> Grammar:
    words = Words(json.loads((HERE / "lexicon.json").read_text()), nouns)
    """From the files of these names, all without any; one named several times counts as often."""
    files = sorted((HERE / "templates").glob("*.txt"))
    return Grammar([file for file in files for _ in range(1 if names is None else names.count(file.stem))], words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    grammar, rng = supplied(), random.Random(args.seed)
    for kind in grammar.kinds:
        print(kind, len(grammar.phrases[kind]), len(grammar.whole[kind]))
    for _ in range(args.show):
        request = grammar.request(rng)
        print(f"{request.text}\n    {request.spans()} {request.order} {request.tense}")


if __name__ == "__main__":
    main()
