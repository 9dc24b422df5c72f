"""Furniture: draws what things stand on, and says which part of its surface is free for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belongings import disc_towards_viewer
from canvas import BACKGROUND, FURNITURE, Canvas
from mesh import Colour, Mesh, block, join, lathe, moved, panel, shade_of

_BLACK_LACQUER = np.array([54, 54, 58], np.float32)
"""Lighter than the black of small things, or nothing black could be seen on it."""

WOODS = [(176, 122, 70), (150, 98, 56), (205, 160, 105), (110, 70, 42), (190, 140, 95)]


class Surface(NamedTuple):
    """The free area, centred at (0, `centre_y`): half its width and half its depth, in metres."""

    half_width: float
    half_depth: float
    centre_y: float = 0.0


_SURFACES = {
    "table": Surface(0.34, 0.2),
    "desk": Surface(0.34, 0.2),
    "counter": Surface(0.34, 0.2),
    "shelf": Surface(0.33, 0.07),
    "sofa": Surface(0.34, 0.16, -0.08),
    "bed": Surface(0.34, 0.2, -0.12),
    "floor": Surface(0.38, 0.26),
    "armchair": Surface(0.26, 0.14, -0.08),
    "nightstand": Surface(0.21, 0.14),
    "washing machine": Surface(0.26, 0.2),
    "windowsill": Surface(0.37, 0.07, -0.02),
}


def surface_of(furniture: str) -> Surface:
    return _SURFACES[furniture]


_DEPTHS = {"table": 0.4, "desk": 0.36, "counter": 0.32, "floor": 0.26}


def depth_of(furniture: str) -> float:
    """How far it reaches behind its middle, in metres; 0 where nobody sits behind it."""
    return _DEPTHS.get(furniture, 0.0)


def shade_of_material(rng: np.random.Generator, material: str) -> np.ndarray:
    if material == "wooden":
        return np.array(WOODS[rng.integers(len(WOODS))], np.float32) * rng.uniform(0.9, 1.08)
    if material == "black":
        return _BLACK_LACQUER * rng.uniform(0.8, 1.2)
    return shade_of(rng, material, 0.6)


class _Builder:
    """What every kind of furniture needs to draw itself: canvas, chance, colour, and the height of its surface."""

    def __init__(self, canvas: Canvas, rng: np.random.Generator, material: str, height: float):
        self.canvas = canvas
        self.rng = rng
        self.height = height
        self.colour = shade_of_material(rng, material)
        self.grain = "wood" if material == "wooden" else "plain"
        self.is_white = material == "white"

    def block(self, centre: tuple[float, float, float], size: tuple[float, float, float], colour: Colour) -> None:
        self.draw(block(centre, size, colour))

    def draw(self, mesh: Mesh, object_id: int = FURNITURE) -> None:
        self.canvas.draw(mesh, object_id)

    def top(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        texture: str | None = None,
        colour: Colour | None = None,
        tile: float = 0.6,
    ) -> None:
        """A textured rectangle at the height of the surface."""
        variants = self.canvas.textures[texture or self.grain]
        chosen = variants[self.rng.integers(len(variants))]
        self.canvas.cover_level(x, y, self.height, chosen, self.colour if colour is None else colour, tile)


def _table(b: _Builder) -> None:
    w, d, h = b.rng.uniform(0.6, 0.95), b.rng.uniform(0.34, 0.42), b.height
    for x in (-w + 0.06, w - 0.06):
        for y in (d - 0.06, -d + 0.06):
            b.block((x, y, 0), (0.06, 0.06, h - 0.04), b.colour * 0.8)
    b.block((0, 0, h - 0.045), (2 * w, 2 * d, 0.044), b.colour * 0.85)
    b.top((-w, w), (-d, d))


def _desk(b: _Builder) -> None:
    w, d, h = b.rng.uniform(0.65, 0.9), 0.36, b.height
    side = float(b.rng.choice([-1, 1]))
    drawers = side * (w - 0.25)
    b.block((0, d - 0.03, 0.25), (2 * w - 0.1, 0.02, h - 0.3), b.colour * 0.6)
    b.block((drawers, 0, 0.05), (0.44, 2 * d - 0.08, h - 0.1), b.colour * 0.8)
    for i in range(3):
        b.block((drawers, -d + 0.03, 0.1 + i * 0.2), (0.4, 0.02, 0.18), b.colour * 0.92)
        b.block((drawers, -d + 0.015, 0.18 + i * 0.2), (0.1, 0.012, 0.015), (60, 60, 60))
    b.block((-side * (w - 0.04), 0, 0), (0.04, 2 * d - 0.06, h - 0.03), b.colour * 0.75)
    b.block((0, 0, h - 0.035), (2 * w, 2 * d, 0.034), b.colour * 0.85)
    b.top((-w, w), (-d, d))


def _counter(b: _Builder) -> None:
    d, h = 0.32, b.height
    front = shade_of_material(b.rng, ["wooden", "white", "blue", "green"][b.rng.integers(4)])
    b.block((0, 0.02, 0), (3.2, 2 * d - 0.06, h - 0.04), front * 0.9)
    for i in range(-4, 4):
        b.block((i * 0.4 + 0.2, -d + 0.04, 0.08), (0.37, 0.015, h - 0.18), front)
        b.block((i * 0.4 + 0.34, -d + 0.03, h - 0.26), (0.02, 0.015, 0.1), (70, 70, 70))
    b.block((0, 0, h - 0.04), (3.3, 2 * d, 0.039), b.colour * 0.8)
    b.top((-1.65, 1.65), (-d, d), "stone", tile=0.4)
    if b.rng.random() < 0.4:
        _sink(b, float(b.rng.choice([-0.62, 0.62])))


def _sink(b: _Builder, x: float) -> None:
    h = b.height
    b.block((x, 0.05, h), (0.4, 0.3, 0.004), (175, 178, 182))
    b.block((x, 0.05, h + 0.004), (0.34, 0.24, 0.001), (110, 112, 116))
    b.block((x, 0.22, h), (0.03, 0.03, 0.2), (190, 190, 195))


def _shelf(b: _Builder) -> None:
    w, d, h = b.rng.uniform(0.45, 0.6), 0.16, b.height
    gap = b.rng.uniform(0.38, 0.45)
    b.block((0, d, h - 0.6), (2 * w, 0.02, 1.6), b.colour * 0.62)
    _shelf_back(b, w, d - 0.011)
    for board in (h - gap, h):
        b.block((0, 0, board - 0.03), (2 * w, 2 * d, 0.03), b.colour * 0.95)
    for x in (-w, w):
        b.block((x, 0, h - 0.6), (0.035, 2 * d, 1.6), b.colour * 0.85)
    b.block((0, 0, h + gap), (2 * w, 2 * d, 0.03), b.colour * 0.95)
    b.top((-w + 0.02, w - 0.02), (-d, d))


def _shelf_back(b: _Builder, w: float, y: float) -> None:
    low, high = b.height - 0.6, b.height + 1
    corners = np.array([(-w, y, low), (w, y, low), (w, y, high), (-w, y, high)], np.float32)
    pixels, _ = b.canvas.camera.project(corners)
    variants = b.canvas.textures[b.grain]
    plane = b.canvas.camera.plane((-w, y, low), (1, 0, 0), (0, 0, 1))
    b.canvas.cover(variants[b.rng.integers(len(variants))], b.colour * 0.75, 0.6, plane, pixels, FURNITURE, 1.0)


def _sofa(b: _Builder) -> None:
    w, d, h, c = b.rng.uniform(0.75, 0.95), 0.36, b.height, b.colour
    b.block((0, d + 0.06, 0.05), (2 * w, 0.2, 0.78), c * 0.9)
    b.block((0, 0, 0.08), (2 * w, 2 * d, h - 0.14), c * 0.8)
    seats = int(b.rng.integers(2, 4))
    seat = 2 * w / seats
    for i in range(seats):
        middle = -w + seat * (i + 0.5)
        b.block((middle, 0.02, h - 0.1), (seat - 0.02, 2 * d - 0.06, 0.099), c)
        b.top((middle - seat / 2 + 0.01, middle + seat / 2 - 0.01), (-d + 0.05, d - 0.01), "carpet", c * 1.05, 0.5)
    for i in range(seats):
        b.block((-w + seat * (i + 0.5), d - 0.06, h), (seat - 0.03, 0.12, 0.33), c * 0.97)
    for x in (-w - 0.08, w + 0.08):
        b.block((x, 0, 0.05), (0.18, 2 * d + 0.1, 0.58), c * 0.93)


def _bed(b: _Builder) -> None:
    w, d, h = 0.8, 0.62, b.height
    frame = np.array(WOODS[b.rng.integers(len(WOODS))], np.float32)
    mattress = b.colour * 0.9 if b.is_white else (225, 225, 225)
    b.block((0, d + 0.04, 0), (2 * w + 0.1, 0.06, h + 0.35), frame)
    b.block((0, 0, 0.1), (2 * w, 2 * d, 0.2), frame * 0.8)
    b.block((0, 0, 0.28), (2 * w - 0.02, 2 * d - 0.02, h - 0.285), mattress)
    blanket = "carpet" if b.rng.random() < 0.5 else "stripe"
    b.top((-w, w), (-d, d * 0.45), blanket, b.colour * 1.05, 0.9)
    b.top((-w, w), (d * 0.45, d), "plain", (238, 238, 240), 0.9)
    profile = [(0.28 * math.cos(a) ** 0.5, 0.06 * math.sin(a)) for a in np.linspace(-1.5, 1.5, 6)]
    pillow = lathe(profile, (242, 242, 245), 14, squareness=4)
    pillow = pillow._replace(quads=pillow.quads * np.array([1.1, 0.55, 1], np.float32))
    pillows = [moved(pillow, (x, d * 0.72, h + 0.05)) for x in (-0.4, 0.4)]
    b.canvas.draw(join(pillows), FURNITURE)


def _armchair(b: _Builder) -> None:
    w, d, h, c = b.rng.uniform(0.33, 0.38), 0.34, b.height, b.colour
    b.block((0, d + 0.05, 0.05), (2 * w + 0.3, 0.18, 0.85), c * 0.88)
    b.block((0, 0, 0.08), (2 * w, 2 * d, h - 0.14), c * 0.78)
    b.block((0, 0.02, h - 0.1), (2 * w - 0.02, 2 * d - 0.04, 0.099), c)
    b.top((-w + 0.01, w - 0.01), (-d + 0.04, d - 0.01), "carpet", c * 1.05, 0.5)
    b.block((0, d - 0.06, h), (2 * w - 0.03, 0.12, 0.4), c * 0.96)
    for x in (-w - 0.09, w + 0.09):
        b.block((x, -0.02, 0.05), (0.17, 2 * d + 0.08, 0.6), c * 0.92)
        # The rolled front of the arm.
        b.block((x, -d - 0.07, 0.56), (0.19, 0.03, 0.1), c * 0.72)


def _nightstand(b: _Builder) -> None:
    w, d, h = b.rng.uniform(0.25, 0.3), 0.2, b.height
    side = float(b.rng.choice([-1, 1]))
    blanket = b.rng.uniform(90, 225, 3)
    b.block((side * (w + 0.5), -0.1, 0.1), (0.8, 1.2, 0.22), np.array(WOODS[b.rng.integers(len(WOODS))]) * 0.8)
    b.block((side * (w + 0.5), -0.1, 0.3), (0.8, 1.2, 0.16), (228, 228, 228))
    b.block((side * (w + 0.5), -0.3, 0.31), (0.82, 0.8, 0.17), blanket)
    b.block((0, 0, 0.08), (2 * w, 2 * d, h - 0.1), b.colour * 0.82)
    for low in (0.12, 0.12 + (h - 0.18) / 2):
        high = (h - 0.22) / 2
        b.block((0, -d, low), (2 * w - 0.06, 0.02, high), b.colour * 0.95)
        b.block((0, -d - 0.015, low + high * 0.5), (0.05, 0.02, 0.025), (70, 66, 60))
    b.block((0, 0, h - 0.03), (2 * w + 0.03, 2 * d + 0.03, 0.029), b.colour * 0.9)
    b.top((-w - 0.015, w + 0.015), (-d - 0.015, d + 0.015))


def _washing_machine(b: _Builder) -> None:
    w, d, h, c = b.rng.uniform(0.31, 0.34), 0.3, b.height, b.colour
    b.block((0, 0, 0.02), (2 * w, 2 * d, h - 0.022), c * 0.93)
    front = -d - 0.002
    rim = np.array([185, 188, 192], np.float32) if not b.is_white else np.array([120, 124, 130], np.float32)
    b.draw(disc_towards_viewer((0, front, h * 0.45), 0.21, rim, 16))
    b.draw(disc_towards_viewer((0, front - 0.004, h * 0.45), 0.165, (38, 46, 58), 16))
    b.draw(disc_towards_viewer((-0.04, front - 0.008, h * 0.47), 0.06, (85, 105, 125), 10))
    b.draw(panel(-w + 0.01, w - 0.01, h - 0.15, h - 0.04, front - 0.002, c * 0.8))
    b.draw(disc_towards_viewer((0.1, front - 0.006, h - 0.095), 0.036, (60, 62, 66), 10))
    b.draw(panel(-w + 0.05, -w + 0.2, h - 0.125, h - 0.065, front - 0.005, (30, 60, 70)))
    b.top((-w, w), (-d, d), "plain")
    b.block((0, d - 0.02, h), (2 * w, 0.03, 0.035), c * 0.85)


def _windowsill(b: _Builder) -> None:
    w, back, h = b.rng.uniform(0.6, 0.8), 0.13, b.height
    by_day = b.rng.random() < 0.75
    sky = np.array([178, 212, 242] if by_day else [36, 46, 80], np.float32) * b.rng.uniform(0.9, 1.05)
    garden = np.array([105, 150, 85] if by_day else [22, 34, 34], np.float32) * b.rng.uniform(0.8, 1.15)
    horizon = h + b.rng.uniform(0.12, 0.3)
    frame = np.array([236, 236, 232] if b.rng.random() < 0.7 else [118, 78, 45], np.float32)
    b.draw(panel(-w, w, h - 0.02, h + 1.1, back + 0.004, sky), BACKGROUND)
    b.draw(panel(-w, w, h - 0.02, horizon, back + 0.003, garden), BACKGROUND)
    for _ in range(int(b.rng.integers(1, 4))):
        at, size = b.rng.uniform(-w, w), b.rng.uniform(0.08, 0.18)
        b.draw(disc_towards_viewer((at, back + 0.002, horizon + size * 0.4), size, garden * 0.8, 10), BACKGROUND)
    middle = b.rng.uniform(-0.15, 0.15)
    for x in (-w, middle, w):
        b.draw(panel(x - 0.03, x + 0.03, h, h + 1.1, back, frame), BACKGROUND)
    b.draw(panel(-w, w, h, h + 0.05, back - 0.001, frame * 0.95), BACKGROUND)
    b.block((0, 0, h - 0.045), (2 * w + 0.16, 0.28, 0.044), b.colour * 0.88)
    b.top((-w - 0.08, w + 0.08), (-0.14, 0.13))


_BUILDERS: dict[str, Callable[[_Builder], None]] = {
    "table": _table,
    "desk": _desk,
    "counter": _counter,
    "shelf": _shelf,
    "sofa": _sofa,
    "bed": _bed,
    "armchair": _armchair,
    "nightstand": _nightstand,
    "washing machine": _washing_machine,
    "windowsill": _windowsill,
}


def draw_furniture(canvas: Canvas, rng: np.random.Generator, furniture: str, material: str, height: float) -> None:
    """Draws a piece of furniture; the floor is there already."""
    if furniture != "floor":
        _BUILDERS[furniture](_Builder(canvas, rng, material, height))
