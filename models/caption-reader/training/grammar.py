"""Captions with what each of their words is, made from hand-written templates and word lists.

`templates/*.txt` hold one template a line. `{a|b}` is one of several, `(? … )` may be left out. Then each
word is one of these, or stands for itself:

    a:thing#t                  a noun phrase: ARTICLE:KIND, named t
    the:support.thing>r        its role after a dot (else its kind's own), what it belongs to after `>`
    @rel>t#r                   a slot: words for it are drawn
    =picks_up/deed>p#d         literal words with their role

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


class Words:
    """What fills the slots."""

    def __init__(self, lists: dict, nouns: list[str]):
        self.lists, self.nouns = lists, nouns

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
        """Word, role, and the number or the name of the word it belongs to."""
        self.known: dict[str, int] = {}

    def add(self, word: str, role: str = "none", to: int | str = -1) -> int:
        self.said.append((word, role, to))
        return len(self.said) - 1

    def fill(self, template: str) -> None:
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
        self.known["it"] = head
        self.fill(self.lexicon.pick(self.rng, "after"))

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
        else:
            raise ValueError(f"@{kind}: no such slot")

    def caption(self) -> Caption:
        text, words = "", []
        for said, role, to in self.said:
            if text and said not in (",", ".", ";", ":", "!", "'s"):
                text += " "
            at = self.known[to] if isinstance(to, str) else to
            words.append(Word(len(text), len(text) + len(said), role, at))
            text += said
        for word in words:
            if word.to >= 0 and words[word.to].role == "none":
                raise ValueError(f"{text!r}: {text[word.start : word.end]!r} belongs to a word of no role")
        return Caption(text, words)


class Grammar:
    def __init__(self, files: list[Path], words: Words):
        self.words = words
        lines = [[it.strip() for it in file.read_text().splitlines()] for file in files]
        self.files = [[it for it in some if it and not it.startswith("#")] for some in lines]

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
    lists = json.loads((HERE / "words.json").read_text())
    return Grammar(sorted((HERE / "templates").glob("*.txt")), Words(lists, nouns or []))


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
