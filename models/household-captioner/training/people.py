"""People: what somebody looks like who reads, sleeps, cooks, eats or watches television, and the room they take.

A person belongs to a piece of furniture and is drawn in two parts: what is
behind the furniture is drawn before it, the rest among the things on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from belongings import disc_towards_viewer
from mesh import Colour, Mesh, block, join, lathe, moved, panel, sheet, tilted, turned

_SKIN = [(238, 200, 170), (224, 178, 140), (190, 135, 95), (140, 92, 62), (95, 62, 45)]
_HAIR = [(40, 28, 22), (85, 55, 32), (160, 115, 60), (25, 25, 28), (150, 150, 152), (150, 70, 35)]


@dataclass(frozen=True)
class Person:
    activity: str
    x: float
    """How far to the side of the middle of the furniture."""
    seed: int
    """Decides looks and clothes."""


class Area(NamedTuple):
    """What a person takes of a surface: nothing is put down there."""

    x0: float
    x1: float
    y0: float
    y1: float

    def takes(self, x: float, y: float, reach: float) -> bool:
        return self.x0 - reach < x < self.x1 + reach and self.y0 - reach < y < self.y1 + reach


class Figure(NamedTuple):
    """A person as it is drawn, in metres, with z from the surface of the furniture."""

    behind: Mesh | None
    above: Mesh | None
    y: float
    """How far away what is above the surface stands, to be drawn in its turn."""
    screen: list[tuple[float, float, float, float, Colour]]
    """Rectangles (x0, x1, z0, z1, colour) of a television on the wall."""


class _Looks(NamedTuple):
    skin: np.ndarray
    hair: np.ndarray
    shirt: np.ndarray
    trousers: np.ndarray


def invent_person(rng: np.random.Generator, activity: str, furniture: str) -> Person:
    """Somebody at a spot that leaves room for things."""
    side = float(rng.choice([-1, 1]))
    aside = {"sofa": (0.36, 0.44), "bed": (0.36, 0.42), "floor": (0.0, 0.35)}
    low, high = (0.0, 0.0) if (activity, furniture) == ("sleeping", "sofa") else aside.get(furniture, (0.0, 0.26))
    return Person(activity, side * float(rng.uniform(low, high)), int(rng.integers(2**31)))


def area_of(person: Person, furniture: str) -> Area | None:
    """What of the surface is taken; nothing where the person sits behind it."""
    x = person.x
    if furniture == "sofa":
        return Area(-2, 2, 0.06, 1) if person.activity == "sleeping" else Area(x - 0.22, x + 0.22, -1, 1)
    if furniture == "bed":
        return Area(x - 0.22, x + 0.22, -1, 1)
    if person.activity in ("eating", "cooking"):
        return Area(x - 0.13, x + 0.13, 0.09, 1)
    if furniture == "floor":
        return Area(x - 0.22, x + 0.22, 0.2, 1)
    return None


def head_of(person: Person, furniture: str, depth: float) -> tuple[float, float, float]:
    """Where the middle of the head is."""
    if furniture == "floor":
        return person.x, depth + 0.3, 0.28 + 0.48
    if furniture not in ("sofa", "bed"):
        return person.x, depth + 0.14, 0.48
    if person.activity == "reading":
        return person.x, (0.1 if furniture == "sofa" else 0.4) - 0.02, 0.57
    if furniture == "bed":
        return person.x, 0.44, 0.12
    return -0.66 * _side_of_head(person), 0.13, 0.1


def _side_of_head(person: Person) -> float:
    return 1.0 if person.seed % 2 else -1.0


def figure_of(person: Person, furniture: str, depth: float) -> Figure:
    """The person at furniture that is `depth` metres deep behind its middle."""
    rng = np.random.default_rng(person.seed)
    looks = _Looks(
        np.array(_SKIN[rng.integers(len(_SKIN))], np.float32),
        np.array(_HAIR[rng.integers(len(_HAIR))], np.float32),
        rng.uniform(50, 225, 3).astype(np.float32),
        np.array([(45, 55, 90), (60, 60, 65), (110, 95, 75)][rng.integers(3)], np.float32),
    )
    if furniture in ("sofa", "bed"):
        if person.activity == "sleeping":
            mesh = _asleep(rng, looks, furniture, _side_of_head(person))
        else:
            mesh = _reclined(rng, looks, furniture)
        x = 0.0 if (person.activity, furniture) == ("sleeping", "sofa") else person.x
        return Figure(None, moved(mesh, (x, 0, 0)), 0.1, [])
    at = depth + (0.3 if furniture == "floor" else 0.14)
    behind, above = _BEHIND_FURNITURE[person.activity](rng, looks)
    screen = _television(rng, person.x) if person.activity == "watching television" else []
    if furniture == "floor":
        # Sitting on the floor, legs in front, the back to the viewer.
        return Figure(moved(behind, (person.x, at, 0.28)), None, at, screen)
    place = (person.x, at, 0.0)
    return Figure(moved(behind, place), moved(above, place) if above else None, depth - 0.1, screen)


def _ball(centre: tuple[float, float, float], radius: float, colour: Colour, stretch: float = 1.0) -> Mesh:
    arc = np.linspace(-1.5, 1.5, 7)
    return moved(lathe([(radius * math.cos(a), radius * stretch * math.sin(a)) for a in arc], colour, 12), centre)


def _head(looks: _Looks, centre: tuple[float, float, float], from_behind: bool = False) -> Mesh:
    x, y, z = centre
    if from_behind:
        return join([_ball(centre, 0.1, looks.skin, 1.2), _ball((x, y - 0.02, z + 0.03), 0.108, looks.hair, 1.15)])
    eyes = [disc_towards_viewer((x + side * 0.035, y - 0.098, z + 0.01), 0.013, (30, 26, 26), 6) for side in (-1, 1)]
    mouth = panel(x - 0.03, x + 0.03, z - 0.06, z - 0.048, y - 0.096, looks.skin * 0.6)
    hair = [_ball((x, y + 0.025, z + 0.05), 0.112, looks.hair, 1.05)]
    return join([*hair, _ball(centre, 0.1, looks.skin, 1.2), *eyes, mouth])


def _torso(looks: _Looks, low: float, high: float) -> Mesh:
    """Shoulders at `high`; the profile is round, so it is squashed to be wider than deep."""
    profile = [(0, low), (0.17, low), (0.19, high - 0.08), (0.15, high - 0.01), (0.05, high), (0.05, high + 0.06)]
    mesh = lathe(
        profile, [looks.shirt * 0.9, looks.shirt * 0.95, looks.shirt, looks.shirt * 1.03, looks.skin * 0.9], 12
    )
    return mesh._replace(quads=mesh.quads * np.array([1, 0.6, 1], np.float32))


def _limb(start: tuple[float, float, float], end: tuple[float, float, float], width: float, colour: Colour) -> Mesh:
    """A straight bar between two points, square in section."""
    a, b = np.array(start, np.float32), np.array(end, np.float32)
    along = (b - a) / (np.linalg.norm(b - a) + 1e-9)
    across = np.cross(along, [0, 0, 1] if abs(along[2]) < 0.9 else [1, 0, 0])
    across /= np.linalg.norm(across)
    up = np.cross(across, along)
    corners = [across + up, across - up, -across - up, -across + up]
    sides = []
    for i in range(4):
        c, d = corners[i] * width / 2, corners[(i + 1) % 4] * width / 2
        sides.append(sheet([a + c, b + c, b + d, a + d], colour))
    return join(sides)


def _arm(looks: _Looks, side: float, shoulder_z: float, hand: tuple[float, float, float]) -> Mesh:
    shoulder = (side * 0.18, 0.0, shoulder_z - 0.05)
    elbow = (side * 0.25, hand[1] * 0.45, min(shoulder_z - 0.22, hand[2] + 0.06))
    return join(
        [
            _limb(shoulder, elbow, 0.085, looks.shirt * 0.9),
            _limb(elbow, hand, 0.07, looks.shirt * 0.85),
            _ball(hand, 0.042, looks.skin),
        ]
    )


def _newspaper(rng: np.random.Generator, y: float, z: float) -> Mesh:
    """Held open, so that the viewer sees the outer pages."""
    paper = np.array([232, 230, 220], np.float32) * rng.uniform(0.92, 1.03)
    parts = []
    for side in (-1, 1):
        page = [panel(0, 0.24, 0, 0.3, 0, paper), panel(0.02, 0.22, 0.25, 0.28, -0.002, (50, 50, 54))]
        if rng.random() < 0.5:
            page.append(panel(0.02, 0.11, 0.13, 0.23, -0.002, (130, 132, 138)))
        for column in (0.02, 0.125):
            for row in range(6):
                top = 0.22 - row * 0.034
                page.append(panel(column, column + 0.085, top - 0.014, top, -0.0015, (150, 150, 150)))
        half = turned(join(page), -0.22)
        if side < 0:
            half = half._replace(quads=half.quads * np.array([-1, 1, 1], np.float32))
        parts.append(half)
    return moved(tilted(join(parts), -0.15), (0, y, z))


def _reading(rng: np.random.Generator, looks: _Looks) -> tuple[Mesh, Mesh]:
    paper = _newspaper(rng, -0.26, 0.05)
    hands = [_arm(looks, side, 0.34, (side * 0.22, -0.25, 0.2)) for side in (-1, 1)]
    return join([_torso(looks, -0.3, 0.36), _head(looks, (0, -0.02, 0.5))]), join([*hands, paper])


def _eating(rng: np.random.Generator, looks: _Looks) -> tuple[Mesh, Mesh]:
    side = float(rng.choice([-1, 1]))
    plate = lathe([(0, 0), (0.08, 0.002), (0.13, 0.018), (0.085, 0.008), (0, 0.006)], (242, 242, 240), 14)
    food = [
        _ball((rng.uniform(-0.05, 0.05), rng.uniform(-0.04, 0.04), 0.02), rng.uniform(0.026, 0.04), colour, 0.7)
        for colour in [(90, 150, 60), (200, 120, 50), (235, 215, 160)]
    ]
    dish = moved(join([plate, *food]), (0, -0.32, 0))
    mouth = (side * 0.06, -0.16, 0.36)
    hand = (side * 0.16, -0.2, 0.27)
    above = [
        dish,
        _arm(looks, side, 0.34, hand),
        _limb(hand, mouth, 0.014, (205, 208, 212)),
        _arm(looks, -side, 0.34, (-side * 0.2, -0.25, 0.04)),
    ]
    return join([_torso(looks, -0.3, 0.36), _head(looks, (0, -0.02, 0.5))]), join(above)


def _cooking(rng: np.random.Generator, looks: _Looks) -> tuple[Mesh, Mesh]:
    side = float(rng.choice([-1, 1]))
    steel = np.array([120, 124, 130], np.float32)
    pot = lathe(
        [(0, 0), (0.12, 0), (0.12, 0.13), (0.11, 0.13), (0.1, 0.1), (0, 0.1)],
        [steel, steel, steel * 1.2, steel * 0.6, (190, 120, 60)],
        14,
    )
    handles = [block((s * 0.135, 0, 0.09), (0.04, 0.03, 0.02), (35, 35, 38)) for s in (-1, 1)]
    pot = moved(join([pot, *handles]), (0, -0.3, 0))
    hand = (side * 0.1, -0.22, 0.3)
    apron = np.array([240, 240, 238], np.float32)
    hat = lathe([(0.09, 0.57), (0.09, 0.64), (0.125, 0.68), (0.11, 0.78), (0, 0.79)], (244, 244, 242), 12)
    behind = [
        _torso(looks, -0.3, 0.36),
        _head(looks, (0, -0.02, 0.5)),
        panel(-0.11, 0.11, -0.2, 0.25, -0.13, apron),
        hat,
    ]
    above = [
        pot,
        _arm(looks, side, 0.34, hand),
        _limb(hand, (0.0, -0.3, 0.1), 0.02, (150, 105, 60)),
        _arm(looks, -side, 0.34, (-side * 0.16, -0.26, 0.1)),
    ]
    return join(behind), join(above)


def _watching(rng: np.random.Generator, looks: _Looks) -> tuple[Mesh, None]:
    body = join([_torso(looks, -0.32, 0.3), _head(looks, (0, 0, 0.45), from_behind=True)])
    return body, None


def _television(rng: np.random.Generator, x: float) -> list[tuple[float, float, float, float, Colour]]:
    """Switched on: a bright picture with a few things in it."""
    middle = -0.5 * x + rng.uniform(-0.08, 0.08)
    low, high = 0.1, 0.72
    left, right = middle - 0.52, middle + 0.52
    rectangles = [(left - 0.03, right + 0.03, low - 0.03, high + 0.03, np.array([18, 18, 20], np.float32))]
    sky = np.array([(120, 190, 255), (250, 200, 120), (190, 140, 250), (130, 240, 200)][rng.integers(4)], np.float32)
    rectangles.append((left, right, low, high, sky))
    rectangles.append((left, right, low, low + rng.uniform(0.15, 0.3), rng.uniform(60, 220, 3)))
    for _ in range(3):
        at, up = rng.uniform(left, right - 0.2), rng.uniform(low, high - 0.25)
        rectangles.append((at, at + rng.uniform(0.08, 0.2), up, up + rng.uniform(0.1, 0.25), rng.uniform(80, 255, 3)))
    return rectangles


def _reclined(rng: np.random.Generator, looks: _Looks, furniture: str) -> Mesh:
    """Sitting against the back with a newspaper, knees towards the viewer."""
    back = 0.1 if furniture == "sofa" else 0.4
    feet = -0.34 if furniture == "sofa" else -0.45
    parts = [moved(_torso(looks, 0.0, 0.42), (0, back, 0)), moved(_head(looks, (0, -0.02, 0.57)), (0, back, 0))]
    for side in (-1, 1):
        knee = (side * 0.1, feet, 0.1)
        parts.append(_limb((side * 0.1, back, 0.08), knee, 0.13, looks.trousers))
        if furniture == "sofa":
            parts.append(_limb(knee, (side * 0.1, feet - 0.04, -0.38), 0.11, looks.trousers * 0.9))
        else:
            parts.append(block((side * 0.1, feet - 0.03, 0.0), (0.09, 0.06, 0.16), looks.trousers * 0.7))
        parts.append(moved(_arm(looks, side, 0.4, (side * 0.22, -0.24, 0.27)), (0, back, 0)))
    parts.append(moved(_newspaper(rng, -0.25, 0.13), (0, back, 0)))
    return join(parts)


def _asleep(rng: np.random.Generator, looks: _Looks, furniture: str, side: float) -> Mesh:
    """On the back: the length of the sofa, or with the head on the pillow of a bed."""
    blanket = np.clip(rng.uniform(80, 225, 3), 0, 250)
    angle = np.linspace(-1.5, 1.5, 9)
    bump = lathe(
        [(0.19 * math.cos(a) ** 0.6, 0.5 * math.sin(a)) for a in angle],
        [blanket * (1 - 0.06 * (i % 2)) for i in range(8)],
        12,
    )
    # Laid down along y, flat below and round above.
    lying = tilted(bump, math.pi / 2)
    lying = lying._replace(quads=lying.quads * np.array([1, 1, 0.75], np.float32))
    chest = _ball((0, 0.42, 0.06), 0.17, looks.shirt, 0.55)
    face = _ball((0, 0.66, 0.1), 0.1, looks.skin, 1.0)
    hair = _ball((0, 0.71, 0.105), 0.105, looks.hair, 1.0)
    lids = [
        sheet(
            [
                (s * 0.04 - 0.02, 0.60, 0.185),
                (s * 0.04 + 0.02, 0.60, 0.185),
                (s * 0.04 + 0.02, 0.612, 0.19),
                (s * 0.04 - 0.02, 0.612, 0.19),
            ],
            (60, 40, 35),
        )
        for s in (-1, 1)
    ]
    body = join([moved(lying, (0, -0.02, 0.02)), chest, hair, face, *lids])
    if furniture == "bed":
        return moved(body, (0, -0.22, 0.02))
    return moved(turned(body, side * math.pi / 2), (0, 0.13, 0.0))


_BEHIND_FURNITURE: dict[str, Callable[[np.random.Generator, _Looks], tuple[Mesh, Mesh | None]]] = {
    "reading": _reading,
    "eating": _eating,
    "cooking": _cooking,
    "watching television": _watching,
}
