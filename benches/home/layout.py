"""Invents a dwelling: rooms on a map, furniture in them, and where a robot stands to look at it.

Pure but for the generator it is given; knows nothing of things, people or time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import training  # noqa: F401
from world import FURNITURE, ROOMLESS

Point = tuple[float, float]

APART = 1.5
"""Metres between any two of the robot's viewpoints, so that one metre tells pieces of furniture apart."""


class Room(NamedTuple):
    name: str
    low: Point
    high: Point


class Spot(NamedTuple):
    """A piece of furniture and the viewpoint from which the robot looks at it."""

    name: str
    room: str
    furniture: str
    material: str
    at: Point
    seen_from: Point


class Layout(NamedTuple):
    rooms: dict[str, Room]
    spots: dict[str, Spot]
    """In the order of a round."""


# What always stands in a room, and what may.
_FURNISHING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kitchen": (("counter", "table"), ("floor", "windowsill", "shelf")),
    "living room": (("sofa", "table"), ("armchair", "shelf", "floor", "windowsill")),
    "bedroom": (("bed", "nightstand"), ("floor", "windowsill", "shelf")),
    "office": (("desk",), ("shelf", "armchair", "floor", "table", "windowsill")),
    "hallway": (("table",), ("floor", "shelf")),
    "bathroom": (("washing machine",), ("floor",)),
}
_ROOMLESS_MAX = {"shelf": 2, "windowsill": 2}
"""Captions do not name the room of these, so each has a material of its own."""


def invent_layout(rng: np.random.Generator) -> Layout:
    """Four to six rooms, each with one to four pieces of furniture."""
    while True:
        names = ["kitchen", "living room", "bedroom"]
        names += [
            name for name, chance in (("hallway", 0.85), ("office", 0.75), ("bathroom", 0.6)) if rng.random() < chance
        ]
        if len(names) < 4:
            continue
        rooms = _place_rooms(rng, [str(name) for name in rng.permutation(names)])
        spots = _furnish(rng, rooms)
        if spots:
            return Layout(rooms, spots)


def _place_rooms(rng: np.random.Generator, names: list[str]) -> dict[str, Room]:
    """Two rows of rooms with walls of different lengths, from a corner of the map that is anywhere."""
    left, y = rng.uniform(-5, 3), rng.uniform(-5, 3)
    rooms = {}
    half = (len(names) + 1) // 2
    for row in (names[:half], names[half:]):
        x, depth = left, rng.uniform(3.9, 5.0)
        for name in row:
            width = rng.uniform(4.2, 5.8)
            rooms[name] = Room(name, (round(x, 2), round(y, 2)), (round(x + width, 2), round(y + depth, 2)))
            x += width
        y += depth
    return rooms


def _furnish(rng: np.random.Generator, rooms: dict[str, Room]) -> dict[str, Spot] | None:
    left = {kind: list(rng.permutation(FURNITURE[kind].materials))[:most] for kind, most in _ROOMLESS_MAX.items()}
    spots: dict[str, Spot] = {}
    for room in rooms.values():
        always, perhaps = _FURNISHING[room.name]
        count = int(rng.integers(1, 3)) if len(always) > 1 else int(rng.integers(0, 3))
        more = [str(kind) for kind in rng.permutation(perhaps)][:count]
        if room.name == "bedroom" and "office" not in rooms:
            more = ["desk", *more[:1]]
        for kind in (*always, *more):
            if kind in ROOMLESS:
                if not left[kind]:
                    continue
                material = str(left[kind].pop())
            else:
                material = _material(rng, room.name, kind)
            viewpoint = _viewpoint(rng, room, [spot.seen_from for spot in spots.values()])
            if viewpoint is None:
                return None
            name = f"{room.name} {kind}"
            spots[name] = Spot(name, room.name, kind, material, *viewpoint)
    return spots


def _material(rng: np.random.Generator, room: str, kind: str) -> str:
    materials = [material for material in FURNITURE[kind].materials if (room, material) != ("kitchen", "carpet")]
    return materials[rng.integers(len(materials))]


def _viewpoint(rng: np.random.Generator, room: Room, others: list[Point]) -> tuple[Point, Point] | None:
    """The middle of a piece of furniture by a wall, and a place about a metre before it."""
    (x0, y0), (x1, y1) = room.low, room.high
    for _ in range(300):
        along, away = rng.uniform(0.15, 0.85), rng.uniform(1.0, 1.3)
        wall = int(rng.integers(4))
        if wall < 2:
            x = x0 + along * (x1 - x0)
            at = (x, y0 + 0.4) if wall == 0 else (x, y1 - 0.4)
            seen_from = (x + rng.uniform(-0.2, 0.2), at[1] + (away if wall == 0 else -away))
        else:
            y = y0 + along * (y1 - y0)
            at = (x0 + 0.4, y) if wall == 2 else (x1 - 0.4, y)
            seen_from = (at[0] + (away if wall == 2 else -away), y + rng.uniform(-0.2, 0.2))
        at, seen_from = ((round(px, 2), round(py, 2)) for px, py in (at, seen_from))
        inside = x0 + 0.3 < seen_from[0] < x1 - 0.3 and y0 + 0.3 < seen_from[1] < y1 - 0.3
        if inside and all(math.dist(seen_from, other) >= APART for other in others):
            return at, seen_from
    return None
