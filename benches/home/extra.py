"""Tasks of the families beside the six: what else people say, and what later looks have shown.

Their right answers are of other kinds, so that they are counted apart. README.md says
what each asks and when it is right; `extra.json` has the words of three of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import training  # noqa: F401
from commonsense import UNLISTED
from golds import Candidate, Household, candidates, gone, never_owned
from moments import Moment, moments
from tasks import choose, line, name_thing, say, sayable
from wording import Grammar

WORDS = json.loads((Path(__file__).resolve().parent / "extra.json").read_text())
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_SLIP_LETTERS = 4
"""Shorter words are not mistyped, and these keep their letters: else a shoe is a she."""


def invent_extra(rng: np.random.Generator, home: Household, grammar: Grammar, count: int) -> Iterator[dict]:
    """As many tasks of each family as there are, in turn; lines of `tasks.jsonl`."""
    left = {
        "gone": _gone(rng, home, grammar),
        "chat": _chat(rng, home, grammar),
        "typo": _typo(rng, home, grammar),
        "no-request": _no_request(rng, home, grammar),
        "question": _questions(rng, home, grammar),
        "several": _several(rng, home, grammar),
        "never-unlisted": _of_candidates(rng, home, grammar, never_owned(home, UNLISTED)),
    }
    number = 0
    while number < count and left:
        for family in list(left):
            task = next(left[family], None) if number < count else None
            if task is None:
                del left[family]
                continue
            number += 1
            yield task | {"id": f"{family}-{number}", "family": family, "extra": True}


def _of_candidates(
    rng: np.random.Generator, home: Household, grammar: Grammar, found: Iterator[Candidate]
) -> Iterator[dict]:
    for task in _shuffled(rng, sayable(grammar, list(found))):
        yield line(0, "", task, home, say(rng, home, grammar, task))


def _gone(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """What was seen last where later looks did not show it."""
    for task in _of_candidates(rng, home, grammar, gone(home)):
        yield task | {"kind": "gone", "gone": True}


def _of_the_six(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[tuple[Candidate, str]]:
    """Tasks of the six families, in turn, and how they are said."""
    left = {family: sayable(grammar, found) for family, found in candidates(home).items()}
    asked: Counter[str] = Counter()
    while any(left.values()):
        for found in left.values():
            if found:
                task = choose(rng, found, asked)
                found.remove(task)
                asked.update([*task.objects, task.kind])
                yield task, say(rng, home, grammar, task)


def _chat(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """In lower case and without a mark, as typed in a chat."""
    for task, text in _of_the_six(rng, home, grammar):
        plain = re.sub(r"[^\w\s]", "", text.replace("-", " ").lower())
        yield line(0, "", task, home, plain) | {"kind": f"chat.{task.kind}"}


def _typo(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """With one slip in the noun of what is asked for."""
    for task, text in _of_the_six(rng, home, grammar):
        words = [word for noun in grammar.words("nouns", task.type) for word in noun.split()]
        said = [word for word in words if len(word) >= _SLIP_LETTERS and re.search(rf"\b{word}", text)]
        if said:
            word = max(said, key=len)
            slipped = re.sub(rf"\b{word}", slip(rng, word), text, count=1)
            yield line(0, "", task, home, slipped) | {"kind": f"typo.{task.kind}"}


def slip(rng: np.random.Generator, word: str) -> str:
    """Two letters change places, one is left out or one comes twice; never the first."""
    ways = set()
    for at in range(1, len(word)):
        ways.add(word[:at] + word[at] + word[at:])
        if len(word) > _SLIP_LETTERS:
            ways.add(word[:at] + word[at + 1 :])
        if at + 1 < len(word):
            ways.add(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    ways = sorted(ways - {word})
    return ways[rng.integers(len(ways))]


def _no_request(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """What asks for nothing to be fetched."""
    things = [thing for thing in home.sightings.seen() if home.is_named_by_looks(thing)]
    for template in _shuffled(rng, WORDS["no-request"]):
        thing = things[rng.integers(len(things))]
        text = template.format(named=_named(rng, home, grammar, thing))
        yield _answered(home, Candidate("no-request", ()), text, [])


def _questions(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """What is answered and not driven to: how many, when, where then."""
    kinds = [_how_many(rng, home, grammar), _when(rng, home, grammar), _where_then(rng, home, grammar)]
    while kinds:
        for kind in list(kinds):
            task = next(kind, None)
            if task is None:
                kinds.remove(kind)
            else:
                yield task


def _how_many(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    for type_name in _shuffled(rng, home.types()):
        things = home.individuals(type_name)
        # Twins that look the same may be one, and keys are always several.
        if type_name != "keys" and all(home.is_named_by_looks(thing) for thing in things):
            noun = grammar.word(rng, "nouns", type_name)
            text = _one_of(rng, WORDS["question.count"]).format(things=_plural(noun))
            task = Candidate("question.count", (), type_name)
            yield _answered(home, task, text, [str(len(things)), _NUMBERS[len(things)]])


def _when(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    for thing in _shuffled(rng, home.sightings.seen()):
        if home.is_named_by_looks(thing):
            text = _one_of(rng, WORDS["question.when"]).format(named=_named(rng, home, grammar, thing))
            task = Candidate("question.when", (), home.belongings[thing].type)
            yield _answered(home, task, text, [f"{home.sightings.last(thing).time:%H:%M}"], thing)


def _where_then(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    said = [it for it in moments(home.now, home.first) if grammar.can_say("when", it.key)]
    things = [thing for thing in home.sightings.seen() if home.is_named_by_looks(thing)]
    places = [(thing, moment) for thing in things for moment in said if _only_spot(home, thing, moment)]
    for thing, moment in _shuffled(rng, places):
        when = grammar.phrase(rng, "when", moment.key, moment.slots)
        named = _named(rng, home, grammar, thing)
        text = _one_of(rng, WORDS["question.where"]).format(named=named, when=when)
        spot = home.layout.spots[_only_spot(home, thing, moment)]
        task = Candidate("question.where", (), home.belongings[thing].type, moment=moment)
        yield _answered(home, task, text, ["carpet" if spot.material == "carpet" else spot.furniture], thing)


def _only_spot(home: Household, thing: str, moment: Moment) -> str | None:
    """Where it was seen at a time, however the time is meant."""
    surely = {it.spot for it in home.sightings.within(thing, moment.sure)}
    perhaps = {it.spot for it in home.sightings.within(thing, moment.perhaps)}
    return next(iter(surely)) if len(surely) == 1 and surely == perhaps else None


def _several(rng: np.random.Generator, home: Household, grammar: Grammar) -> Iterator[dict]:
    """Two things one after the other, seen last in different places."""
    things = [thing for thing in home.sightings.seen() if home.is_named_by_looks(thing)]
    last = {thing: home.sightings.last(thing).spot for thing in things}
    for pair in _shuffled(rng, [(a, b) for a, b in combinations(things, 2) if last[a] != last[b]]):
        first, second = _shuffled(rng, pair)
        names = {"first": _named(rng, home, grammar, first), "second": _named(rng, home, grammar, second)}
        task = Candidate("several", (first,), home.belongings[first].type)
        yield line(0, "", task, home, _one_of(rng, WORDS["several"]).format(**names)) | {"then": [second]}


def _named(rng: np.random.Generator, home: Household, grammar: Grammar, thing: str) -> str:
    """What it is called with what tells it from the others of its type."""
    it = home.belongings[thing]
    is_alone = sum(other.type == it.type for other in home.belongings.values()) == 1
    return name_thing(rng, grammar, Candidate("", (), it.type, None if is_alone else it.colour))["named"]


def _answered(home: Household, task: Candidate, text: str, answers: list[str], thing: str | None = None) -> dict:
    fields = line(0, "", task, home, text[0].upper() + text[1:])
    del fields["spots"]
    asks = fields["asks"] | ({"thing": thing} if thing else {})
    return fields | {"asks": asks, "nothing": True, "answers": answers}


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith(("s", "x", "sh", "ch")) else f"{noun}s"


def _one_of(rng: np.random.Generator, texts: list[str]) -> str:
    return texts[rng.integers(len(texts))]


def _shuffled(rng: np.random.Generator, things) -> list:
    things = list(things)
    return [things[at] for at in rng.permutation(len(things))]
