"""Requests with what each of their characters says, made from hand-written templates and word lists.

`templates/*.txt` hold sections `== KIND FLAGS` of one template a line. Kinds: `ask` (a frame with
`__` where a noun phrase goes), `np` (such a noun phrase), `full` (a whole request; `<it>` stands for
a sentence of kind `it`), `hi` and `why` (what is said before and beside a request). Flags: how the
one meant is told from others (`most`, `least`, `latest`, `earliest`; `second`, `third`), the time
it tells of (`once`, `habit`), how many are wanted (`two`, `three`, `all`), what is wanted at all
(`question`, `stop`, `chat`; else it is asked for) and what a question asks (`time`, `count`, ...).
`short`, `also` and `exclude` only keep apart what is named and little more, what has further targets,
and what excludes some, to be drawn as often as they should be. Slots `{like this}` are filled from `lexicon.json`; `[role:words]` are literal.

    python grammar.py --show 20        # some requests with their roles
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent

ROLES = ["none", "thing", "attribute", "place", "not", "deed", "near", "time", "also"]
ORDERS = ["none", "most", "least", "latest", "earliest"]
TENSES = ["none", "once", "habit"]
INTENTS = ["fetch", "where", "question", "stop", "chat"]
ASKS = ["none", "place", "time", "count", "existence", "which", "other"]
RANKS = ["first", "second", "third"]
COUNTS = ["one", "two", "three", "all"]
HEADS = {"order": ORDERS, "tense": TENSES, "intent": INTENTS, "asks": ASKS, "rank": RANKS, "count": COUNTS}
"""What is told of the whole request, with its answers; the first one where nothing else is said."""

GROUPS = {
    "plain": 0.4,
    "short": 0.08,
    "question": 0.14,
    "stop": 0.06,
    "chat": 0.16,
    "also": 0.06,
    "exclude": 0.03,
    "rank": 0.03,
    "count": 0.04,
}
"""How often a request is one of these."""

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
    "also": "also",
}


@dataclass
class Request:
    text: str = ""
    roles: list[int] = field(default_factory=list)
    """Index into ROLES of each character."""
    order: str = "none"
    tense: str = "none"
    intent: str = "fetch"
    asks: str = "none"
    rank: str = "first"
    count: str = "one"

    def of(self, text: str, roles: list[int]) -> Request:
        """The same in other words."""
        return replace(self, text=text, roles=roles)

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

    def __init__(self, lexicon: dict, nouns: list[str] | None = None, sentences: list[str] | None = None):
        self.lexicon = lexicon
        self.nouns = nouns or []
        self.sentences = sentences or ["the sun is shining"]
        self.talk = ["that is how it goes"]
        """What is said before and beside requests, without a slot."""

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


def several(thing: str) -> str:
    """More than one of them, by the rule."""
    head, of, rest = thing.partition(" of ")
    if not head.endswith("s") or head.endswith("ss"):
        if re.search(r"(s|x|z|ch|sh)$", head):
            head += "es"
        elif re.search(r"[^aeiou]y$", head):
            head = head[:-1] + "ies"
        else:
            head += "s"
    return head + of + rest


def noise(rng: random.Random) -> str:
    """No word."""
    letters = rng.choice(["asdfghjkl", "qwertyuiop", "abcdefghijklmnopqrstuvwxyz", "bcdfgklmnprstaeiou"])
    return "".join(rng.choice(letters) for _ in range(rng.randint(2, 9)))


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
        if key in ("thing", "a_thing", "things"):
            thing = self.known.setdefault("thing", words.thing(rng))
            if key == "a_thing":
                request.add(capital(article_of(thing)))
                request.add(thing, "thing")
            else:
                request.add(capital(several(thing) if key == "things" else thing), "thing")
        elif key in ("also", "a_also"):
            thing = words.thing(rng)
            request.add(article_of(thing) if key == "a_also" else "")
            request.add(thing, "also")
        elif key in ("word", "noise", "sentence", "talk"):
            made = {
                "word": words.noun,
                "noise": noise,
                "sentence": lambda rng: rng.choice(words.sentences),
                "talk": lambda rng: rng.choice(words.talk),
            }
            request.add(capital(made[key](rng)))
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
        elif key in ("acting", "acted", "act"):
            form = {"acting": "ing", "acted": "past", "act": "infinitive"}[key]
            request.add(capital(words.pick(rng, "acts")[form]), "deed")
        elif key in ("person", "anyone"):
            request.add(capital(words.pick(rng, "persons" if key == "person" else key)))
        elif key == "aside":
            request.add(capital(words.pick(rng, "asides")))
        else:
            raise ValueError(f"a slot {name!r} is unknown")


_WHERE = re.compile(
    r"\b(where|wheres|whereabouts|seen|became of|become of|happened to|who's got|who has|who took|who moved|did (any|some|you)|"
    r"(come|came|run|ran) across|laid eyes|got to|is there|isn't there|do we|have we|got such|whose|know of|vanish\w*|disappear\w*)\b",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"\b(bring\w*|fetch\w*|get me|get it|get that|getting|go get|grab|hand|give|pass|carry|pick|take|need|want|like|after|do with|deliver|collect)\b",
    re.IGNORECASE,
)


def is_where(text: str) -> bool:
    """Whether a request only asks where something is."""
    return bool(_WHERE.search(text)) and not _WANTED.search(text)


def group_of(flags: list[str]) -> str:
    """The group, of `GROUPS`, of a section with these flags."""
    of_head = {**dict.fromkeys(RANKS[1:], "rank"), **dict.fromkeys(COUNTS[1:], "count")}
    said = [of_head.get(flag, flag) for flag in flags]
    return next((flag for flag in said if flag in GROUPS), "plain")


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
        words.talk = [
            it for it in self.hi + self.why if "{" not in it and "[" not in it and "<" not in it
        ] or words.talk

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
        said = {"a", "the", "short", "also", "exclude"}.union(*HEADS.values())
        if words[0] not in ("np", "full") or not set(words[1:]) <= said:
            raise ValueError(f"{where}: section {' '.join(words)!r}")
        heads = tuple(next((word for word in words[1:] if word in answers), "") for answers in HEADS.values())
        return (self.phrases if words[0] == "np" else self.whole)[(group_of(words), *heads)]

    def request(self, rng: random.Random) -> Request:
        """A request; each kind of phrase as often as the square root of its templates in its group."""
        groups = [group for group in GROUPS if any(kind[0] == group for kind in self.kinds)]
        group = rng.choices(groups, [GROUPS[group] for group in groups])[0]
        kinds = [kind for kind in self.kinds if kind[0] == group]
        kind = rng.choices(kinds, [(len(self.phrases[kind]) + len(self.whole[kind])) ** 0.5 for kind in kinds])[0]
        request = Request(**{head: said for head, said in zip(HEADS, kind[1:]) if said})
        filler = Filler(self.words, rng)
        is_talk = group in ("stop", "chat")
        if rng.random() < (0.1 if is_talk else 0.3):
            self._aside(request, filler, rng.choice(self.hi) + " ")
        if rng.random() < (0.0 if is_talk else 0.15):
            self._aside(request, filler, rng.choice(self.why) + " ")
        whole, phrases = self.whole[kind], self.phrases[kind]
        asked = len(request.text)
        if rng.random() < len(whole) * 1.3 / (len(whole) * 1.3 + len(phrases)):
            filler.fill(request, rng.choice(whole), self.it)
        elif rng.random() < 0.06:
            filler.fill(request, rng.choice(phrases), self.it)
        else:
            before, after = rng.choice(self.asks).split("__", 1)
            filler.fill(request, before, self.it)
            filler.fill(request, rng.choice(phrases), self.it)
            filler.fill(request, after, self.it)
        if group not in ("question", "stop", "chat") and rng.random() < 0.2:
            self._aside(request, filler, " " + rng.choice(self.why if rng.random() < 0.7 else self.it))
        elif group == "question" and rng.random() < 0.08:
            self._aside(request, filler, " " + rng.choice(self.why))
        if not kind[1 + list(HEADS).index("intent")]:
            request.intent = "where" if is_where(request.text[asked:]) else "fetch"
        return request

    def _aside(self, request: Request, filler: Filler, template: str) -> None:
        filler.fill(request, template, self.it)


def wordnet_nouns(folder: Path) -> list[str]:
    """One to four words for artefacts, food and plants, from WordNet's `data.noun`."""
    nouns = set()
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith(" "):
            continue
        parts = line.split(" ")
        if parts[1] in ("06", "13"):
            for word in (it.replace("_", " ") for it in parts[4 : 4 + 2 * int(parts[3], 16) : 2]):
                if word.islower() and word.replace(" ", "").isalpha() and word.count(" ") < 4:
                    nouns.add(word)
    return sorted(nouns)


_ASKED = re.compile(
    r"\b(bring|fetch|get|give me|hand me|find|where|need|want|like|looking for|pass|search|seek|how|when|which)\b|\?",
    re.IGNORECASE,
)


def wordnet_sentences(folder: Path) -> list[str]:
    """What WordNet's glosses quote that asks for nothing."""
    found = set()
    for name in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{name}").read_text().splitlines():
            for said in re.findall(r'"([^"]{8,90})"', line.partition(" | ")[2]):
                # A noun phrase by itself would be asked for.
                has_subject = re.match(
                    r"(he|she|we|they|I|you|it|the \w+ \w+(ed|s)\b|[Dd]on't|\w+ (is|are|was|were))\b", said
                )
                if has_subject and not _ASKED.search(said):
                    found.add(said)
    return sorted(found)


def supplied(
    names: list[str] | None = None, nouns: list[str] | None = None, sentences: list[str] | None = None
) -> Grammar:
    """From the files of these names, all without any; one named several times counts as often."""
    words = Words(json.loads((HERE / "lexicon.json").read_text()), nouns, sentences)
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
        print(f"{request.text}\n    {request.spans()} {' '.join(getattr(request, head) for head in HEADS)}")


if __name__ == "__main__":
    main()
