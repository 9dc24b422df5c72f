"""Captions with what each of their words is, made from hand-written templates and word lists.

`templates/*.txt` hold one template a line. `{a|b}` is one of several, `(? … )` may be left out. Then each
word is one of these, or stands for itself:

    a:thing#t                  a noun phrase: ARTICLE:KIND, named t
    the:support.thing>r        its role after a dot (else its kind's own), what it belongs to after `>`
    @rel>t#r                   a slot: words for it are drawn
    =picks_up/deed>p#d         literal words with their role
    @gone                      a clause, drawn from `templates/clauses/gone.txt`; its names are its own

    python grammar.py --show 20        # some captions with their labels
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

from labels import NAMED, Caption, Word

HERE = Path(__file__).resolve().parent
_CHOICE = re.compile(r"\{([^{}]*)\}")
_OPTION = re.compile(r"\(\?([^()]*)\)")
_PHRASE = re.compile(r"^(\w+):(\w+)(?:\.(\w+))?(?:>(\w+))?(?:#(\w+))?$")
_SLOT = re.compile(r"^@(\w+)(?:>(\w+))?(?:#(\w+))?$")
_LITERAL = re.compile(r"^=([^/]+)/(\w+)(?:>(\w+))?(?:#(\w+))?$")
_OWN_ROLE = {"thing": "thing", "support": "landmark", "person": "person", "room": "place", "stuff": "thing"}
_OWN_ROLE |= {"animal": "thing", "people": "person"}
PARTICLES = ("on", "off", "up", "down", "in", "out", "over", "away", "together", "apart")
QUOTES = [("'", "'"), ("'", "'"), ('"', '"'), ('"', '"'), ("“", "”"), ("‘", "’"), ("", "")]
"""The last: none, as in what was heard."""


class Words:
    """What fills the slots."""

    def __init__(self, lists: dict, nouns: list[str], clauses: dict[str, list[str]] | None = None):
        self.lists, self.nouns, self.clauses = lists, nouns, clauses or {}

    def pick(self, rng: random.Random, name: str) -> str:
        return rng.choice(self.lists[name])

    def thing(self, rng: random.Random) -> str:
        """A name: a household word, WordNet's, or a compound that may be nobody's."""
        kind = rng.random()
        if kind < 0.42 or not self.nouns:
            return self.pick(rng, "things")
        if kind < 0.62:
            return rng.choice(self.nouns)
        if kind < 0.80:
            return f"{self.pick(rng, 'first_parts')} {self.pick(rng, 'last_parts')}"
        if kind < 0.92:
            first = self.pick(rng, "things") if rng.random() < 0.5 else rng.choice(self.nouns)
            return f"{first} {self.pick(rng, 'last_parts')}"
        return self.numbered(rng)

    def text(self, rng: random.Random) -> str:
        """What may be written on something: also names of things, rooms and people."""
        kind = rng.random()
        if kind < 0.5:
            return self.pick(rng, "texts")
        if kind < 0.72:
            return self.thing(rng).upper()
        if kind < 0.82:
            return self.pick(rng, rng.choice(["room", "named", "stuff", "people"])).upper()
        number = str(rng.randrange(1, 1000))
        return rng.choice([number, f"{rng.choice('ABCDEFGH')}{number}", f"ROOM {number}", f"{rng.randrange(1, 60)} KM"])

    def numbered(self, rng: random.Random) -> str:
        noun = self.pick(rng, "things").split()[-1]
        number = rng.choice([str(rng.randrange(1, 100)), f"{rng.choice('ABCDEX')}{rng.randrange(1, 500)}"])
        return rng.choice([f"{noun}_{number}", f"{noun} {number}", f"{noun}-{number}"])


def with_article(article: str, words: str, rng: random.Random) -> str:
    """The article's word; "any" of the usual ones."""
    if article == "any":
        article = rng.choice(["a", "the", "a", "the", "bare", "my", "this"])
    if article == "bare":
        return ""
    if article != "a":
        return rng.choice(["my", "his", "her", "their", "our"]) if article == "my" else article
    last = words.split()[-1]
    if last.endswith("s") and not last.endswith(("ss", "us")):
        return rng.choice(["some", "the", ""])
    return "an" if words[0].lower() in "aeiou" else "a"


class Sentence:
    """One caption while it grows."""

    def __init__(self, words: Words, rng: random.Random):
        self.lexicon, self.rng = words, rng
        self.said: list[tuple[str, str, int | str]] = []
        """Word, role, and the number of the word it belongs to, or its name while the template is filled."""
        self.known: dict[str, int] = {}

    def add(self, word: str, role: str = "none", to: int | str = -1) -> int:
        self.said.append((word, role, to))
        return len(self.said) - 1

    def fill(self, template: str, **known: int) -> None:
        """Adds what a template says. It knows the names that it gives itself, and `known`."""
        outer, self.known, start = self.known, known, len(self.said)
        self._say(template)
        for at in range(start, len(self.said)):
            word, role, to = self.said[at]
            self.said[at] = (word, role, self.known[to] if isinstance(to, str) else to)
        self.known = outer

    def _say(self, template: str) -> None:
        while _CHOICE.search(template) or _OPTION.search(template):
            template = _OPTION.sub(lambda it: it.group(1) if self.rng.random() < 0.4 else "", template)
            template = _CHOICE.sub(lambda it: self.rng.choice(it.group(1).split("|")), template)
        for token in template.split():
            self._token(token)

    def _token(self, token: str) -> None:
        if found := _PHRASE.match(token):
            article, kind, role, to, name = found.groups()
            self.phrase(article, kind, role or _OWN_ROLE[kind], to or -1, name)
        elif found := _SLOT.match(token):
            kind, to, name = found.groups()
            self._slot(kind, to or -1, name)
        elif found := _LITERAL.match(token):
            words, role, to, name = found.groups()
            self.literal(words.replace("_", " "), role, to or -1, name)
        elif len(token) > 1 and (":" in token or token[0] in "@="):
            raise ValueError(f"{token!r}: no phrase ARTICLE:KIND.ROLE>TO#NAME, slot @KIND or literal =WORDS/ROLE")
        else:
            self.add(token)

    def literal(self, words: str, role: str, to: int | str, name: str | None) -> int:
        """Words of one role; the last of a name is its head, the first of anything else."""
        parts = words.split()
        if role in NAMED:
            at = len(self.said) + len(parts) - 1
            for part in parts[:-1]:
                self.add(part, "part", at)
            self.add(parts[-1], role, to)
        else:
            at = self.add(parts[0], role, to)
            for part in parts[1:]:
                self.add(part, role, at)
        if name:
            self.known[name] = at
        return at

    def phrase(self, article: str, kind: str, role: str, to: int | str, name: str | None) -> None:
        count = ""
        if article in ("some", "several"):
            article, count = "bare", self.lexicon.pick(self.rng, "counts")
        noun = self._noun(kind, bool(count))
        attributes = self._attributes(kind)
        first = count.split()
        words = " ".join(first + attributes + [noun])
        if said := with_article(article, words, self.rng):
            self.add(said)
        if role == "none":
            # What something is only likened to: nothing of it is there.
            for word in words.split():
                self.add(word)
            return
        describing = [self.add(it, "count", "") for it in first]
        for attribute in attributes:
            parts = attribute.split()
            at = len(self.said) + len(parts) - 1
            for part in parts[:-1]:
                self.add(part, "attribute", at)
            describing.append(self.add(parts[-1], "attribute", ""))
        head = self.literal(noun, role, to, name)
        for at in describing:
            self.said[at] = (*self.said[at][:2], head)
        if kind == "thing":
            self._after(head, role)

    def _noun(self, kind: str, plural: bool) -> str:
        noun = self.lexicon.thing(self.rng) if kind == "thing" else self.lexicon.pick(self.rng, kind)
        if plural and kind in ("thing", "support") and not noun.endswith("s") and noun[-1].isalpha():
            noun += "es" if noun.endswith(("sh", "ch", "x")) else "s"
        return noun

    def _attributes(self, kind: str) -> list[str]:
        most = {"thing": [0.5, 0.35, 0.15], "support": [0.6, 0.35, 0.05]}.get(kind, [0.85, 0.15, 0.0])
        source = "person_attributes" if kind in ("person", "people") else "attributes"
        if kind in ("room", "stuff"):
            most = [0.93, 0.07, 0.0]
        count = self.rng.choices([0, 1, 2], most)[0]
        return [self.lexicon.pick(self.rng, source) for _ in range(count)]

    def _after(self, head: int, role: str) -> None:
        """What may follow a thing's name: "that is red", "labeled Best Dad", "of water"."""
        if self.rng.random() > 0.16 or role == "absent":
            return
        self.fill(self.lexicon.pick(self.rng, "after"), it=head)

    def _slot(self, kind: str, to: int | str, name: str | None) -> None:
        if kind == "rel":
            self.literal(self.lexicon.pick(self.rng, "relations"), "relation", to, name)
        elif kind == "attr":
            words = self.lexicon.pick(self.rng, "attributes").split()
            at = len(self.said) + len(words) - 1
            for word in words[:-1]:
                self.add(word, "attribute", at)
            self.add(words[-1], "attribute", to)
        elif kind in ("ing", "verb", "verbs", "doing", "does"):
            self.literal(self.lexicon.pick(self.rng, kind), "deed", to, name)
        elif kind == "chatter":
            for word in self.lexicon.pick(self.rng, "chatter").split():
                self.add(word)
        elif kind == "state":
            self._state(self.lexicon.pick(self.rng, "states").split(), to)
        elif kind == "text":
            self._text(to)
        elif kind in self.lexicon.clauses:
            self.fill(self.rng.choice(self.lexicon.clauses[kind]))
        else:
            raise ValueError(f"@{kind}: no such slot")

    def _state(self, words: list[str], to: int | str) -> None:
        """How something is found: "switched off" belongs to its first word, "wide open" to its last.

        Of nothing (as after "is no longer") it says nothing.
        """
        if to == -1:
            for word in words:
                self.add(word)
            return
        first = words[-1] in PARTICLES
        main = len(self.said) + (0 if first else len(words) - 1)
        for word in words:
            self.add(word, "attribute", to if len(self.said) == main else main)

    def _text(self, to: int | str) -> None:
        """What is written on a thing. Of what a thing is "labelled", all words belong to that word."""
        opening, closing = self.rng.choice(QUOTES)
        first = -1
        if opening:
            self.add(opening)
        named = self.known.get(to, -1) if isinstance(to, str) else to
        of_attribute = named >= 0 and self.said[named][1] == "attribute"
        for number, word in enumerate(self.lexicon.text(self.rng).split()):
            if to == -1:
                self.add(word)
            elif number and not of_attribute:
                self.add(word, "attribute", first)
            else:
                first = self.add(word, "attribute", to)
        if closing:
            self.add(closing)

    def caption(self) -> Caption:
        text, words = "", []
        for said, role, to in self.said:
            if text and said not in (",", ".", ";", ":", "!", "'s"):
                text += " "
            words.append(Word(len(text), len(text) + len(said), role, to))
            text += said
        for word in words:
            if word.to >= 0 and words[word.to].role == "none":
                raise ValueError(f"{text!r}: {text[word.start : word.end]!r} belongs to a word of no role")
        return Caption(text, words)


def lines_of(file: Path) -> list[str]:
    lines = [it.strip() for it in file.read_text().splitlines()]
    return [it for it in lines if it and not it.startswith("#")]


class Grammar:
    def __init__(self, files: list[Path], words: Words):
        self.words = words
        self.files = [lines_of(file) for file in files]

    def caption(self, rng: random.Random) -> Caption:
        sentence = Sentence(self.words, rng)
        sentence.fill(rng.choice(rng.choices(self.files, [len(it) ** 0.5 for it in self.files])[0]))
        return styled(sentence.caption(), rng)


def styled(caption: Caption, rng: random.Random) -> Caption:
    """As some write: a capital first, lower case only, or without punctuation."""
    kind = rng.random()
    if kind < 0.45:
        return Caption(caption.text[:1].upper() + caption.text[1:], caption.words)
    if kind < 0.6:
        return Caption(caption.text.lower(), caption.words)
    if kind < 0.75:
        return unpunctuated(caption)
    return caption


def unpunctuated(caption: Caption) -> Caption:
    """Without full stops and commas, in lower case."""
    blank = {",": " ", ".": " ", ";": " ", ":": " "}
    return Caption("".join(blank.get(char, char) for char in caption.text.lower()), caption.words)


def wordnet_nouns(folder: Path) -> list[str]:
    """Single words and pairs for artefacts, food and plants, from WordNet's `data.noun`."""
    nouns = set()
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith(" "):
            continue
        parts = line.split(" ")
        word = parts[4].replace("_", " ")
        if parts[1] in ("06", "13") and word.islower() and word.replace(" ", "").isalpha() and word.count(" ") < 2:
            nouns.add(word)
    return sorted(nouns)


def supplied(nouns: list[str] | None = None) -> Grammar:
    lists, templates = json.loads((HERE / "words.json").read_text()), HERE / "templates"
    clauses = {file.stem: lines_of(file) for file in sorted((templates / "clauses").glob("*.txt"))}
    return Grammar(sorted(templates.glob("*.txt")), Words(lists, nouns or [], clauses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nouns", type=Path, help="folder of WordNet's data.noun")
    args = parser.parse_args()
    grammar, rng = supplied(wordnet_nouns(args.nouns) if args.nouns else None), random.Random(args.seed)
    for _ in range(args.show):
        print(grammar.caption(rng).shown())


if __name__ == "__main__":
    main()
