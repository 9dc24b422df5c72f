"""Rooms: floor, back wall, and on the wall what gives a room away (cabinets, curtains, a door, a mirror)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from canvas import BACKGROUND, NEAR, SIZE, Canvas
from furniture import WOODS, shade_of_material
from mesh import Colour
from world import ROOMLESS

_ROOM_FLOORS = {
    "kitchen": ["tiled", "wooden"],
    "living room": ["wooden", "carpet"],
    "bedroom": ["wooden", "carpet"],
    "office": ["wooden", "carpet"],
    "hallway": ["tiled", "wooden", "carpet"],
    "bathroom": ["tiled"],
}
_TILE_TINTS = [(215, 212, 205), (170, 175, 180), (205, 190, 165), (150, 160, 150)]
_CARPET_TINTS = [(150, 140, 125), (110, 120, 140), (140, 95, 90), (120, 130, 110), (180, 170, 150)]

_WALLS: dict[str, tuple[dict[str, float], list[Colour], float]] = {
    "kitchen": ({"tile": 1.0}, [(225, 228, 225), (190, 215, 220), (225, 215, 190), (200, 220, 200)], 0.85),
    "living room": (
        {"plain": 0.7, "brick": 0.3},
        [(225, 205, 175), (200, 180, 150), (190, 120, 90), (215, 200, 185)],
        0.9,
    ),
    "bedroom": (
        {"stripe": 0.6, "plain": 0.4},
        [(205, 190, 220), (180, 200, 225), (235, 205, 210), (215, 220, 200)],
        0.8,
    ),
    "office": ({"plain": 1.0}, [(225, 228, 232), (205, 212, 220), (190, 200, 205)], 1.0),
    "hallway": ({"plain": 1.0}, [(215, 205, 170), (180, 190, 165), (205, 200, 190), (220, 190, 150)], 1.0),
    "bathroom": ({"tile": 1.0}, [(120, 190, 208), (95, 150, 195), (232, 175, 190), (120, 175, 160)], 0.6),
}
"""For each room: what its wall may be made of, in which tints, and the metres after which the pattern repeats."""


def choose(rng: np.random.Generator, options: Sequence):
    return options[int(rng.integers(len(options)))]


class _Wall:
    """The back wall at a distance: draws upright rectangles on it, a little in front of each other."""

    def __init__(self, canvas: Canvas, distance: float):
        self.canvas = canvas
        self.distance = distance
        frontal = max(0.0, -float(canvas.light[1]))
        self.brightness = canvas.ambient + (1 - canvas.ambient) * frontal * 0.9 + 0.12

    def rectangle(self, x0: float, x1: float, z0: float, z1: float, colour: Colour, raised: float = 0.005) -> None:
        y = self.distance - raised
        corners = np.array([(x0, y, z0), (x1, y, z0), (x1, y, z1), (x0, y, z1)], np.float32)
        pixels, depth = self.canvas.camera.project(corners)
        if depth.min() > NEAR:
            lit = np.clip(np.array(colour, np.float32) * min(self.brightness, 1.1), 0, 255)
            self.canvas.fill(pixels, lit, 0)

    def show(self, screen: list[tuple[float, float, float, float, Colour]], height: float) -> None:
        """A picture made of rectangles (x0, x1, z0, z1, colour), which shines whatever the light."""
        for layer, (x0, x1, z0, z1, colour) in enumerate(screen):
            bright = np.array(colour, np.float32) / min(self.brightness, 1.1)
            self.rectangle(x0, x1, height + z0, height + z1, bright, 0.03 + 0.002 * layer)


def draw_room(
    canvas: Canvas, rng: np.random.Generator, room: str, furniture: str, material: str, height: float
) -> _Wall:
    """Floor and back wall behind a piece of furniture whose surface is at `height`; returns the wall."""
    _draw_floor(canvas, rng, material if furniture == "floor" else choose(rng, _ROOM_FLOORS[room]))
    wall = _Wall(canvas, _wall_distance(rng, furniture))
    tint = _draw_wall(wall, rng, room)
    skirting = (120, 110, 100) if room == "kitchen" else np.array(tint) * 0.75
    wall.rectangle(-3, 3, 0, 0.09, skirting)
    if furniture not in ROOMLESS:
        x, z = rng.uniform(-0.5, 0.5), _cue_height(rng, furniture, height)
        _CUES[room](wall, rng, x, z)
    return wall


def _wall_distance(rng: np.random.Generator, furniture: str) -> float:
    fixed = {"shelf": 0.24, "sofa": 0.65, "armchair": 0.6, "nightstand": 0.4, "windowsill": 0.15}
    extra = {"floor": 0.3, "bed": 0.15, "washing machine": -0.25}
    # Farther than furniture stands from a wall, so that somebody can sit behind it.
    anywhere = rng.uniform(0.68, 0.92)
    return fixed.get(furniture, anywhere + extra.get(furniture, 0))


def _cue_height(rng: np.random.Generator, furniture: str, height: float) -> float:
    """Low enough on the wall to be in the picture, high enough not to be hidden."""
    if furniture == "floor":
        return rng.uniform(0.35, 0.5)
    return height + (rng.uniform(0.25, 0.4) if furniture == "bed" else rng.uniform(0.12, 0.28))


def _draw_floor(canvas: Canvas, rng: np.random.Generator, material: str) -> None:
    variant = int(rng.integers(6))
    if material == "wooden":
        kind, tint, tile = "parquet", choose(rng, WOODS), 1.2
    elif material == "tiled":
        kind, tint, tile = "tile", choose(rng, _TILE_TINTS), rng.uniform(0.8, 1.2)
    else:
        kind, tint, tile = "carpet", choose(rng, _CARPET_TINTS), 0.8
    origin = (rng.uniform(-1, 1), rng.uniform(-1, 1), 0)
    whole = np.array([(-10, -10), (SIZE + 10, -10), (SIZE + 10, SIZE + 10), (-10, SIZE + 10)], np.float32)
    tint = np.array(tint) * rng.uniform(0.85, 1.1)
    plane = canvas.camera.plane(origin, (1, 0, 0), (0, 1, 0))
    canvas.cover(canvas.textures[kind][variant], tint, tile, plane, whole, BACKGROUND, canvas.brightness((0, 0, 1)))


def _draw_wall(wall: _Wall, rng: np.random.Generator, room: str) -> Colour:
    kinds, tints, tile = _WALLS[room]
    kind = str(rng.choice(list(kinds), p=list(kinds.values())))
    # Only the plain tiles go on a wall, not the chessboard.
    variant = choose(rng, (0, 1, 3)) if kind == "tile" else int(rng.integers(6))
    tint = choose(rng, tints)
    canvas = wall.canvas
    foot, _ = canvas.camera.project(np.array([(-3, wall.distance, 0), (3, wall.distance, 0)], np.float32))
    along = foot[1] - foot[0]
    up = np.array([along[1], -along[0]]) / np.linalg.norm(along) * 2000
    left, right = foot[0] - along * 2, foot[1] + along * 2
    canvas.cover(
        canvas.textures[kind][variant],
        np.array(tint) * rng.uniform(0.9, 1.06),
        tile * rng.uniform(0.85, 1.15) if kind == "tile" else tile,
        canvas.camera.plane((0, wall.distance, 0), (1, 0, 0), (0, 0, -1)),
        np.array([left, right, right + up, left + up]),
        0,
        min(wall.brightness, 1.05),
    )
    return tint


def _kitchen(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    if rng.random() < 0.6:
        _utensil_rail(wall, rng, x, z)
    else:
        _upper_cabinets(wall, rng, x, z)
    if rng.random() < 0.5:
        wall.rectangle(x + 0.55, x + 1.15, 0, 0.85, (190, 190, 195), 0.02)
        wall.rectangle(x + 0.6, x + 1.1, 0.25, 0.65, (40, 40, 45), 0.025)


def _utensil_rail(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    wall.rectangle(x - 0.9, x + 0.9, z + 0.16, z + 0.175, (120, 120, 125))
    for i in range(7):
        at = x - 0.75 + i * 0.25 + rng.normal(0, 0.02)
        wall.rectangle(at - 0.008, at + 0.008, z - 0.02, z + 0.165, (150, 150, 155) if i % 2 else (110, 75, 45))
        wall.rectangle(at - 0.03, at + 0.03, z - 0.09, z - 0.01, (165, 165, 170) if i % 2 else (125, 85, 50), 0.006)


def _upper_cabinets(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    front = shade_of_material(rng, choose(rng, ["wooden", "white", "grey"]))
    for i in range(-3, 4):
        at = x + i * 0.4
        wall.rectangle(at, at + 0.385, z, z + 1, front, 0.02)
        wall.rectangle(at + 0.33, at + 0.35, z + 0.04, z + 0.12, (60, 60, 60), 0.025)


def _living_room(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    for i in range(int(rng.integers(1, 3))):
        at = x - 0.4 + i * 0.75 + rng.normal(0, 0.05)
        if rng.random() < 0.35:
            wall.rectangle(at - 0.38, at + 0.38, z, z + 0.45, (25, 25, 28))
            wall.rectangle(at - 0.36, at + 0.36, z + 0.02, z + 0.43, (45, 55, 70), 0.007)
        else:
            _picture(wall, rng, at, z)


def _picture(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    w, h = rng.uniform(0.15, 0.3), rng.uniform(0.15, 0.3)
    wall.rectangle(x - w, x + w, z - 0.02, z + h * 2, (90, 60, 35))
    wall.rectangle(x - w + 0.03, x + w - 0.03, z + 0.01, z + h * 2 - 0.03, rng.uniform(60, 230, 3), 0.007)
    wall.rectangle(x - w + 0.03, x + w - 0.03, z + 0.01, z + h * 0.8, rng.uniform(40, 200, 3), 0.009)


def _bedroom(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    curtain = rng.uniform(90, 230, 3)
    sky = (175, 210, 240) if rng.random() < 0.6 else (30, 40, 70)
    wall.rectangle(x - 0.35, x + 0.35, z - 0.05, z + 1, (245, 245, 245))
    wall.rectangle(x - 0.32, x + 0.32, z - 0.02, z + 1, sky, 0.007)
    wall.rectangle(x - 0.01, x + 0.01, z - 0.02, z + 1, (245, 245, 245), 0.009)
    for side in (-1, 1):
        for fold in range(4):
            at = x + side * (0.3 + fold * 0.07)
            wall.rectangle(at - 0.036, at + 0.036, z - 0.2, z + 1, curtain * (1 if fold % 2 else 0.82), 0.02)


def _office(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    wall.rectangle(x - 0.62, x + 0.62, z - 0.05, z + 0.7, (150, 152, 155))
    wall.rectangle(x - 0.59, x + 0.59, z - 0.02, z + 0.67, (250, 250, 250), 0.007)
    for _ in range(int(rng.integers(3, 8))):
        at, up = x + rng.uniform(-0.5, 0.2), z + rng.uniform(0.02, 0.5)
        ink = choose(rng, [(40, 60, 180), (200, 40, 40), (30, 30, 30)])
        wall.rectangle(at, at + rng.uniform(0.1, 0.35), up, up + 0.012, ink, 0.01)


def _hallway(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    paint = np.array(choose(rng, [(150, 105, 65), (235, 232, 225), (95, 65, 45)]))
    side = float(rng.choice([-0.35, 0.35]))
    door = x + side
    wall.rectangle(door - 0.5, door + 0.5, 0, 2.1, paint * 0.7)
    wall.rectangle(door - 0.45, door + 0.45, 0, 2.05, paint, 0.01)
    for low in (0.15, 0.75, 1.35):
        wall.rectangle(door - 0.33, door + 0.33, low, low + 0.5, paint * 0.85, 0.012)
        wall.rectangle(door - 0.3, door + 0.3, low + 0.03, low + 0.47, paint * 0.95, 0.014)
    wall.rectangle(door + 0.34, door + 0.4, 1.0, 1.03, (200, 180, 90), 0.02)
    if side < 0:
        wall.rectangle(x + 0.3, x + 1.2, z + 0.22, z + 0.26, (90, 60, 40))
        for i in range(4):
            wall.rectangle(x + 0.38 + i * 0.2, x + 0.4 + i * 0.2, z + 0.12, z + 0.24, (60, 60, 60), 0.01)


def _bathroom(wall: _Wall, rng: np.random.Generator, x: float, z: float) -> None:
    left, right = x - 0.45, x + 0.15
    wall.rectangle(left, right, z, z + 0.8, (205, 208, 212), 0.01)
    wall.rectangle(left + 0.03, right - 0.03, z + 0.03, z + 0.77, (168, 192, 206), 0.014)
    for i in range(2):
        at = left + 0.12 + i * 0.2
        wall.rectangle(at, at + 0.05, z + 0.08, z + 0.7, (200, 218, 228), 0.016)
    wall.rectangle(x + 0.25, x + 0.75, z + 0.3, z + 0.32, (180, 182, 186), 0.02)
    for i in range(2):
        towel = rng.uniform(70, 240, 3)
        at = x + 0.29 + i * 0.23
        wall.rectangle(at, at + 0.19, z - 0.08, z + 0.33, towel, 0.024)
        wall.rectangle(at, at + 0.19, z - 0.03, z, towel * 0.75, 0.026)


_CUES: dict[str, Callable[[_Wall, np.random.Generator, float, float], None]] = {
    "kitchen": _kitchen,
    "living room": _living_room,
    "bedroom": _bedroom,
    "office": _office,
    "hallway": _hallway,
    "bathroom": _bathroom,
}
