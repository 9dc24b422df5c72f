"""Chooses tasks of all families and puts them into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

import training  # noqa: F401
from golds import Candidate, Household, Place, candidates
from moments import stamp
from wording import Grammar, with_article
from world import ROOMLESS

_HARD = 0.75
"""How often a task is chosen whose object is not where the words point."""
_TRIED = 12


def invent_tasks(rng: np.random.Generator, home: Household, grammar: Grammar, count: int) -> Iterator[dict]:
    """As many tasks of each family as there are; lines of `tasks.jsonl`."""
    left = {family: sayable(grammar, found) for family, found in candidates(home).items()}
    asked: Counter[str] = Counter()
    number = 0
    while number < count and any(left.values()):
        for family in left:
            if number == count or not left[family]:
                continue
            task = choose(rng, left[family], asked)
            left[family].remove(task)
            asked.update(task.objects)
            asked[task.kind] += 1
            number += 1
            yield line(number, family, task, home, say(rng, home, grammar, task))


def sayable(grammar: Grammar, found: list[Candidate]) -> list[Candidate]:
    """Those for which the grammar has words."""
    return [
        task
        for task in found
        if grammar.can_say("families", _template(task))
        and (task.moment is None or grammar.can_say("when", task.moment.key))
        and (task.daily is None or grammar.can_say("daily", task.daily))
    ]


def _template(task: Candidate) -> str:
    return "never" if task.kind.startswith("never") else task.kind


def choose(rng: np.random.Generator, left: list[Candidate], asked: Counter[str]) -> Candidate:
    """A kind that was least asked for, mostly hard, of objects not asked for before."""
    fewest = min(asked[task.kind] for task in left)
    pool = [task for task in left if asked[task.kind] == fewest]
    wants_hard = rng.random() < _HARD
    pool = [task for task in pool if task.is_hard == wants_hard] or pool
    tried = [pool[rng.integers(len(pool))] for _ in range(_TRIED)]
    return min(tried, key=lambda task: sum(asked[thing] for thing in task.objects))


def say(rng: np.random.Generator, home: Household, grammar: Grammar, task: Candidate) -> str:
    slots = name_thing(rng, grammar, task)
    if task.place:
        slots |= _name_place(rng, home, grammar, task.place)
    if task.moment:
        slots["when"] = grammar.phrase(rng, "when", task.moment.key, task.moment.slots)
        slots["When"] = _capital(slots["when"])
    if task.daily:
        slots["daily"] = grammar.phrase(rng, "daily", task.daily, {})
        slots["Daily"] = _capital(slots["daily"])
    if task.activity:
        slots["doing"] = grammar.word(rng, "doing", task.activity)
    return grammar.say(rng, _template(task), slots)


def name_thing(rng: np.random.Generator, grammar: Grammar, task: Candidate) -> dict[str, str]:
    noun = grammar.word(rng, "nouns", task.type)
    slots = {"thing": noun, "a_thing": with_article(noun)}
    named = noun if task.named is None else _with_colour(task.type, noun, task.named)
    if task.type not in ("plant", "box"):
        # "The plant that is red" is another plant, and brown boxes are of cardboard.
        slots |= {"colour": task.named} if task.named else {}
    slots |= {"named": named, "a_named": with_article(named)}
    return slots | {key.capitalize(): _capital(slots[key]) for key in ("a_thing", "a_named")}


def _with_colour(type_name: str, noun: str, colour: str) -> str:
    if type_name == "plant":
        return f"{noun} in the {colour} pot"
    if (type_name, colour) == ("box", "brown"):
        return "cardboard box"
    return f"{colour} {noun}"


def _name_place(rng: np.random.Generator, home: Household, grammar: Grammar, place: Place) -> dict[str, str]:
    if place.kind == "in":
        return {"the_room": f"the {place.name}"}
    if place.kind == "on":
        spot = _name_spot(rng, home, grammar, place.name)
        return {"the_spot": spot, "on_spot": f"on {spot}"}
    thing = home.belongings[place.name]
    noun = grammar.word(rng, "nouns", thing.type)
    alone = sum(other.type == thing.type for other in home.belongings.values()) == 1
    if thing.colour and not alone:
        noun = _with_colour(thing.type, noun, thing.colour)
    return {"other": f"the {noun}"}


def _name_spot(rng: np.random.Generator, home: Household, grammar: Grammar, name: str) -> str:
    """By what tells it from the other furniture: nothing, its room or its material."""
    spot = home.layout.spots[name]
    others = [other for other in home.layout.spots.values() if other.name != name]
    noun = "carpet" if spot.material == "carpet" else grammar.word(rng, "furniture", spot.furniture)
    ways = []
    if not any(_called(other) == _called(spot) for other in others):
        ways.append(f"the {noun}")
    if spot.material != "carpet" and not any(
        (other.furniture, other.material) == (spot.furniture, spot.material) for other in others
    ):
        ways.append(f"the {spot.material} {noun}")
    if spot.furniture not in ROOMLESS and spot.furniture != "counter":
        ways += [f"the {noun} in the {spot.room}", f"the {spot.room} {noun}"]
    return ways[rng.integers(len(ways))]


def _called(spot) -> str:
    return "carpet" if spot.material == "carpet" else spot.furniture


def line(number: int, family: str, task: Candidate, home: Household, text: str) -> dict:
    fields = {
        "id": f"{family}-{number}",
        "family": family,
        "kind": task.kind,
        "task": text,
        "now": stamp(home.now),
        "objects": list(task.objects),
        "asks": _asks(task),
    }
    if not task.objects:
        fields["spots"] = list(task.spots)
    return fields


def _asks(task: Candidate) -> dict:
    """What the words mean, for whoever wants to check the gold or explain a miss."""
    asks = {"type": task.type, "colour": task.named, "activity": task.activity, "daily": task.daily}
    if task.place:
        asks[task.place.kind] = task.place.name
    if task.moment:
        asks |= {"from": stamp(task.moment.sure[0]), "to": stamp(task.moment.sure[1])}
    return {key: value for key, value in asks.items() if value is not None}


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]
