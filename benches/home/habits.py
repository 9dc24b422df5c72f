"""Invents what a household owns and who moves it when: the story that the robot sees moments of.

Pure but for the generator it is given. Times are hours since the midnight before
the first day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import training  # noqa: F401
from layout import Layout
from world import FURNITURE, OBJECTS, TYPE_NAMES, activities_at


@dataclass(frozen=True)
class Belonging:
    """One particular thing."""

    id: str
    type: str
    colour: str | None
    habit: str
    """How it moves: "stays", "routine", "wanders" or "rare"."""
    stations: tuple[tuple[float, str], ...]
    """The spots it belongs to, each from an hour of the day on."""


class Move(NamedTuple):
    """Somebody puts a thing somewhere while nobody looks; to None: into a cupboard, or out of the house."""

    hour: float
    thing: str
    to: str | None


class Stay(NamedTuple):
    """Somebody is to be seen."""

    begins: float
    ends: float
    spot: str
    activity: str


class Story(NamedTuple):
    belongings: dict[str, Belonging]
    at_first: dict[str, str]
    moves: list[Move]
    stays: list[Stay]
    activities: dict[str, str]
    """The one activity that each inhabited spot ever sees."""


_LOOKALIKES = ("bottle", "bowl", "cushion", "shoe", "ball", "box", "phone", "backpack", "hat", "plant", "car", "lamp")
"""Types of which a household may own two."""
_TWINS = ("plant", "cushion", "box", "lamp", "basket")
"""Types of which it may own two that look the same; those stay where they are."""
_USED_FOR = {
    "reading": ("book",),
    "cooking": ("pan", "bowl", "kettle"),
    "eating": ("bowl",),
    "watching television": ("remote",),
    "sleeping": ("teddy bear", "phone"),
}
_HOURS = {
    "reading": (9.7, 12.2, 14.7, 17.4, 20.0),
    "cooking": (12.2, 17.4),
    "eating": (7.5, 12.2, 17.4),
    "watching television": (20.0, 17.4),
    "sleeping": (7.5,),
}
"""When a day's stay may begin; a round of the robot begins soon after."""
_STAY_HOURS = 1.1
_KEPT_UP = 0.85
"""How often a habit is followed on a day."""


def invent_story(rng: np.random.Generator, layout: Layout, days: int) -> Story:
    activities = _choose_activities(rng, layout)
    belongings = _choose_belongings(rng, layout, activities)
    stays, brought = _plan_stays(rng, layout, belongings, activities, days)
    moves = list(brought)
    for thing in belongings.values():
        moves += _plan_moves(rng, layout, thing, days)
    moves.sort(key=lambda move: (move.hour, move.thing))
    at_first = {thing.id: thing.stations[-1][1] for thing in belongings.values() if thing.habit != "rare"}
    return Story(belongings, at_first, moves, stays, activities)


def _choose_activities(rng: np.random.Generator, layout: Layout) -> dict[str, str]:
    """Two to four spots where somebody is to be seen at times, each with an activity of its own kind."""
    chosen: dict[str, str] = {}
    spots = [str(name) for name in rng.permutation(list(layout.spots))]
    wanted = int(rng.integers(2, 5))
    for name in sorted(spots, key=lambda name: layout.spots[name].furniture != "desk"):
        possible = activities_at(layout.spots[name].room, layout.spots[name].furniture)
        fresh = [activity for activity in possible if activity not in chosen.values()]
        if fresh and len(chosen) < wanted:
            chosen[name] = fresh[rng.integers(len(fresh))]
    return chosen


def _choose_belongings(rng: np.random.Generator, layout: Layout, activities: dict[str, str]) -> dict[str, Belonging]:
    counts = {"mug": 3, "book": 3}
    for kind in rng.permutation(_LOOKALIKES)[: rng.integers(4, 7)]:
        counts[str(kind)] = 2
    singles = [kind for kind in TYPE_NAMES if kind not in counts]
    for kind in rng.permutation(singles)[: rng.integers(5, 8)]:
        counts[str(kind)] = 1
    for activity in activities.values():
        for kind in _USED_FOR[activity]:
            if kind not in ("book", "mug") and kind in TYPE_NAMES and rng.random() < 0.6:
                counts[kind] = 2 if OBJECTS[kind].colours else 1
    belongings: dict[str, Belonging] = {}
    load = dict.fromkeys(layout.spots, 0)
    for kind, count in counts.items():
        colours = [str(colour) for colour in rng.permutation(OBJECTS[kind].colours)] or [None]
        for number in range(min(count, len(colours))):
            thing = _invent_belonging(rng, layout, kind, colours[number], load)
            if thing:
                belongings[thing.id] = thing
    for kind in rng.permutation(_TWINS)[: rng.integers(0, 3)]:
        for thing in _invent_twins(rng, layout, str(kind), belongings, load):
            belongings[thing.id] = thing
    return belongings


def _invent_belonging(
    rng: np.random.Generator, layout: Layout, kind: str, colour: str | None, load: dict[str, int]
) -> Belonging | None:
    fitting = _fitting(layout, kind)
    if not fitting:
        return None
    habit = str(rng.choice(["stays", "routine", "wanders", "rare"], p=[0.15, 0.5, 0.25, 0.1]))
    free = [spot for spot in fitting if load[spot] < 3] or fitting
    base = str(free[rng.integers(len(free))])
    load[base] += 1
    stations: tuple[tuple[float, str], ...] = ((21.8, base),)
    others = [spot for spot in fitting if spot != base]
    if habit == "routine" and others:
        count = min(int(rng.integers(1, 3)), len(others))
        elsewhere = [str(spot) for spot in rng.permutation(others)[:count]]
        hours = sorted(float(hour) for hour in rng.choice([6.8, 9.2, 13.9, 16.8, 19.4], count, replace=False))
        stations = (*zip(hours, elsewhere, strict=True), *stations)
    elif habit == "wanders" and others:
        stations = (*((0.0, str(spot)) for spot in rng.permutation(others)[:2]), *stations)
    return Belonging(
        f"{colour}-{kind}".replace(" ", "-") if colour else kind.replace(" ", "-"), kind, colour, habit, stations
    )


def _invent_twins(
    rng: np.random.Generator, layout: Layout, kind: str, owned: dict[str, Belonging], load: dict[str, int]
) -> list[Belonging]:
    taken = {thing.colour for thing in owned.values() if thing.type == kind}
    colours = [colour for colour in OBJECTS[kind].colours if colour not in taken]
    places = [spot for spot in _fitting(layout, kind) if load[spot] < 2]
    pairs = [(a, b) for a in places for b in places if a < b and layout.spots[a].room != layout.spots[b].room]
    if not colours or not pairs:
        return []
    colour, pair = colours[rng.integers(len(colours))], pairs[rng.integers(len(pairs))]
    for spot in pair:
        load[spot] += 1
    return [
        Belonging(f"{colour}-{kind}-{number}", kind, colour, "stays", ((21.8, spot),))
        for number, spot in enumerate(pair, 1)
    ]


def _fitting(layout: Layout, kind: str) -> list[str]:
    """Where such a thing can lie."""
    return [name for name, spot in layout.spots.items() if kind in FURNITURE[spot.furniture].holds]


def _plan_stays(
    rng: np.random.Generator,
    layout: Layout,
    belongings: dict[str, Belonging],
    activities: dict[str, str],
    days: int,
) -> tuple[list[Stay], list[Move]]:
    """On most days, and what people bring along and leave there, most often their favourite."""
    stays, brought = [], []
    for spot, activity in activities.items():
        tools = [thing for thing in belongings.values() if thing.type in _USED_FOR[activity] and thing.habit != "stays"]
        tools = [thing for thing in tools if thing.type in FURNITURE[layout.spots[spot].furniture].holds]
        hour = _HOURS[activity][rng.integers(len(_HOURS[activity]))]
        favourite = int(rng.integers(len(tools))) if tools else 0
        for day in range(days):
            if rng.random() > 0.8:
                continue
            begins = 24 * day + hour + rng.uniform(0, 0.15)
            stays.append(Stay(begins, begins + _STAY_HOURS, spot, activity))
            if tools:
                chosen = favourite if rng.random() < 0.65 else int(rng.integers(len(tools)))
                brought.append(Move(begins - 0.1, tools[chosen].id, spot))
    return stays, brought


def _plan_moves(rng: np.random.Generator, layout: Layout, thing: Belonging, days: int) -> list[Move]:
    fitting = _fitting(layout, thing.type)
    anywhere = lambda: str(fitting[rng.integers(len(fitting))])  # noqa: E731
    moves = []
    for day in range(days):
        midnight = 24.0 * day
        if thing.habit == "routine":
            for hour, spot in thing.stations:
                if rng.random() < _KEPT_UP:
                    moves.append(Move(midnight + hour + rng.uniform(-0.2, 0.2), thing.id, spot))
                elif rng.random() < 0.4:
                    moves.append(Move(midnight + hour, thing.id, anywhere()))
        elif thing.habit == "wanders":
            for _ in range(int(rng.integers(0, 3))):
                usual = [spot for _, spot in thing.stations]
                to = usual[rng.integers(len(usual))] if rng.random() < 0.7 else anywhere()
                moves.append(Move(midnight + rng.uniform(6.5, 22), thing.id, to))
        elif thing.habit == "rare" and rng.random() < 0.45:
            begins = midnight + rng.uniform(7, 17)
            moves.append(Move(begins, thing.id, anywhere()))
            moves.append(Move(begins + rng.uniform(2, 8), thing.id, None))
        if thing.habit in ("routine", "wanders") and rng.random() < 0.06:
            moves.append(Move(midnight + rng.uniform(8, 20), thing.id, None))
    return moves
