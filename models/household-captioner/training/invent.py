"""Inventing scenes: places, things and people put together at random, as the training and the tests want them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

import furniture as furniture_shapes
import people
from people import Person
from scene import Individual, Item, Light, Place, Rendering, Scene, Sensor, View, render
from world import FURNITURE, OBJECTS, ROOM_NAMES, ROOMLESS, ROOMS, Thing, activities_at

_SEED_LIMIT = 2**31
_INHABITED, _AT_HOME = 0.34, 0.75
"""How many scenes are looked at as if somebody were there, and how often somebody is."""


def new_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(_SEED_LIMIT))


def invent_place(
    rng: np.random.Generator,
    room: str | None = None,
    furniture: str | None = None,
    material: str | None = None,
    crowd: int = 2,
    inhabited: bool = False,
) -> Place:
    """A place, with what is not given chosen at random.

    The camera steps back for a crowd of objects, and takes in more where somebody is to be seen.
    """
    room = room or ROOM_NAMES[rng.integers(len(ROOM_NAMES))]
    if furniture is None:
        weights = np.array(list(ROOMS[room].values()), float)
        furniture = list(ROOMS[room])[rng.choice(len(weights), p=weights / weights.sum())]
    kind = FURNITURE[furniture]
    if material is None:
        material = kind.materials[rng.integers(len(kind.materials))]
        if (room, material) == ("kitchen", "carpet"):
            material = "tiled"
    height = float(rng.uniform(*kind.height))
    view = _invent_wide_view(rng, furniture) if inhabited else _invent_view(rng, furniture, crowd)
    return Place(room, furniture, material, height, view, new_seed(rng))


def _invent_view(rng: np.random.Generator, furniture: str, crowd: int) -> View:
    on_shelf = furniture in ROOMLESS
    farther = 0.15 if furniture in ("floor", "bed", "sofa", "armchair") else 0
    return View(
        distance=rng.uniform(0.85, 1.2) + farther + 0.08 * max(0, crowd - 2),
        elevation=rng.uniform(0.06, 0.24) if on_shelf else rng.uniform(0.36, 0.72),
        azimuth=rng.uniform(-0.4, 0.4),
        target=(rng.normal(0, 0.03), rng.normal(0, 0.03), rng.uniform(0.05, 0.12) + (0.03 if on_shelf else 0)),
        fov=rng.uniform(0.85, 1.0),
        roll=rng.normal(0, 0.02),
    )


def _invent_wide_view(rng: np.random.Generator, furniture: str) -> View:
    """From lower down and farther away, so that the head of somebody who sits there is in the picture."""
    high = rng.uniform(0.3, 0.6) if furniture in ("bed", "sofa") else rng.uniform(0.24, 0.46)
    return View(
        distance=rng.uniform(1.25, 1.5),
        elevation=high,
        azimuth=rng.uniform(-0.35, 0.35),
        target=(rng.normal(0, 0.03), rng.normal(0.05, 0.03), rng.uniform(0.12, 0.2)),
        fov=rng.uniform(0.95, 1.08),
        roll=rng.normal(0, 0.02),
    )


def invent_light(rng: np.random.Generator) -> Light:
    towards = np.array([rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.1), rng.uniform(0.7, 1.2)])
    x, y, z = towards / np.linalg.norm(towards)
    return Light((float(x), float(y), float(z)), rng.uniform(0.48, 0.7), rng.uniform(0.3, 0.55))


def invent_sensor(rng: np.random.Generator) -> Sensor:
    return Sensor(
        exposure=rng.uniform(0.78, 1.18),
        red=1 + rng.normal(0, 0.04),
        blue=1 + rng.normal(0, 0.05),
        falloff=rng.uniform(0, 0.3),
        falloff_angle=rng.uniform(0, 2 * np.pi),
        noise=rng.uniform(1, 7),
        blur=rng.uniform(0.3, 0.8) if rng.random() < 0.35 else 0.0,
        smear=(int(rng.integers(5)), int(rng.integers(5))) if rng.random() < 0.12 else None,
        seed=new_seed(rng),
    )


def invent_individual(rng: np.random.Generator, type_name: str, colour: str | None) -> Individual:
    return Individual(type_name, colour, new_seed(rng), rng.uniform(0.88, 1.14))


def put_down(
    rng: np.random.Generator,
    place: Place,
    others: Sequence[Item],
    individual: Individual,
    spread: float = 1.0,
    person: Person | None = None,
) -> Item | None:
    """The thing at a random spot of the surface, or None if that spot is taken."""
    kind = OBJECTS[individual.type]
    scale = kind.scale * individual.size * (0.85 if place.furniture == "shelf" and kind.bulky else 1)
    area = furniture_shapes.surface_of(place.furniture)
    x = rng.uniform(-area.half_width, area.half_width) * spread
    y = area.centre_y + rng.uniform(-area.half_depth, area.half_depth) * spread
    item = Item(individual, x, y, _invent_yaw(rng, kind.facing, place), scale)
    taken = people.area_of(person, place.furniture) if person else None
    if taken and taken.takes(x, y, 0.5 * item.reach):
        return None
    for other in others:
        if math.hypot(x - other.x, y - other.y) < 0.82 * (item.reach + other.reach):
            return None
    return item


def _invent_yaw(rng: np.random.Generator, facing: str, place: Place) -> float:
    if facing == "viewer":
        return -0.5 * place.view.azimuth + rng.normal(0, 0.45)
    if facing == "sideways":
        return float(rng.choice([0, math.pi])) + rng.normal(0, 0.6)
    return rng.uniform(-math.pi, math.pi)


def invent_items(rng: np.random.Generator, place: Place, count: int, person: Person | None = None) -> tuple[Item, ...]:
    """Up to `count` different things that belong on the furniture."""
    items: list[Item] = []
    taken: set[Thing] = set()
    candidates = FURNITURE[place.furniture].holds
    for _ in range(60):
        if len(items) == count:
            break
        type_name = candidates[rng.integers(len(candidates))]
        if type_name in {thing.type for thing in taken} and rng.random() < 0.85:
            continue
        colours = OBJECTS[type_name].colours or (None,)
        thing = Thing(type_name, colours[rng.integers(len(colours))])
        if thing in taken:
            continue
        spread = 0.55 if count == 1 and person is None else 1.0
        item = put_down(rng, place, items, invent_individual(rng, *thing), spread, person)
        if item is not None:
            items.append(item)
            taken.add(thing)
    return tuple(items)


def invent_scene(rng: np.random.Generator) -> Scene:
    count = int(rng.choice(5, p=[0.03, 0.24, 0.36, 0.27, 0.10]))
    room = ROOM_NAMES[rng.integers(len(ROOM_NAMES))]
    inhabited = rng.random() < _INHABITED
    place = invent_place(rng, room, crowd=count, inhabited=inhabited)
    person = None
    if inhabited and rng.random() < _AT_HOME:
        person = invent_person(rng, place)
        count = max(0, count - 1)
    items = invent_items(rng, place, count, person)
    return Scene(place, items, invent_light(rng), invent_sensor(rng), person)


def invent_person(rng: np.random.Generator, place: Place, activity: str | None = None) -> Person | None:
    """Somebody who does what one does there, or what is given; None where nobody ever is."""
    possible = activities_at(place.room, place.furniture)
    if activity is None and possible:
        activity = possible[rng.integers(len(possible))]
    if activity not in possible:
        return None
    return people.invent_person(rng, activity, place.furniture)


def invent_wide_scene(rng: np.random.Generator) -> Scene:
    """A scene through a camera with a wider field of view, less level, than others: for the training alone."""
    scene = invent_scene(rng)
    view = replace(scene.place.view, fov=rng.uniform(0.96, 1.36), roll=rng.normal(0, 0.13))
    return replace(scene, place=replace(scene.place, view=view))


def clear_scenes(
    rng: np.random.Generator, invent: Callable[[np.random.Generator], Scene] = invent_scene
) -> Iterator[tuple[Scene, Rendering]]:
    """Endlessly, scenes of which every object can be named or cannot be seen."""
    while True:
        scene = invent(rng)
        rendering = render(scene)
        if rendering.is_clear:
            yield scene, rendering
