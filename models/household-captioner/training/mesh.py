"""Meshes of coloured quadrilaterals: the primitives, how they are turned and joined, and the shades of a paint.

Metres; x runs right, y away from the viewer, z up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from world import COLOURS

Colour = np.ndarray | tuple[float, float, float]

CREAM = np.array([235, 232, 225], np.float32)
DARK = np.array([35, 35, 38], np.float32)


class Mesh(NamedTuple):
    """Quadrilaterals (n, 4, 3), a colour each (n, 3), and whether each is seen from behind too (n)."""

    quads: np.ndarray
    colours: np.ndarray
    two_sided: np.ndarray
    faces_viewer: bool = False
    """It only makes sense seen from the front: it is turned towards the viewer."""


class Paint(NamedTuple):
    """The colour of one individual: its name, and the exact shade."""

    name: str | None
    rgb: np.ndarray

    def contrast(self, light: Colour, dark: Colour, dark_on: str = "white") -> np.ndarray:
        """`light`, or `dark` where light details would be lost on the paint."""
        return np.array(dark if self.name == dark_on else light, np.float32)


def shade_of(rng: np.random.Generator, name: str, amount: float = 1.0) -> np.ndarray:
    """A shade that still counts as the colour `name`."""
    brightness = 1 + rng.normal(0, 0.09 * amount)
    tint = rng.normal(0, 7 * amount, 3)
    return np.clip(np.array(COLOURS[name], np.float32) * brightness + tint, 8, 250)


# Primitives


def block(centre: Sequence[float], size: Sequence[float], colours: Colour | list) -> Mesh:
    """A box on its base centre; six colours are for top, front, right, back, left, bottom."""
    x, y, z = centre
    a, b, h = size[0] / 2, size[1] / 2, size[2]
    corners = np.array(
        [(x + sx * a, y + sy * b, z + dz) for dz in (0, h) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
        np.float32,
    )
    faces = np.array([[4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [3, 2, 1, 0]])
    per_face = colours if isinstance(colours, list) else [colours] * 6
    return Mesh(corners[faces], np.array(per_face, np.float32), np.zeros(6, bool))


def lathe(
    profile: Sequence[tuple[float, float]], colours: Colour | list, segments: int = 12, squareness: float | None = None
) -> Mesh:
    """A profile of (radius, height) turned about the z axis; several colours are one for each ring.

    With `squareness` the circle becomes a superellipse, for cushions.
    """
    angle = np.linspace(0, 2 * np.pi, segments + 1)
    cos, sin = np.cos(angle), np.sin(angle)
    if squareness:
        bulge = (np.abs(cos) ** squareness + np.abs(sin) ** squareness) ** (-1 / squareness)
        cos, sin = cos * bulge, sin * bulge
    points = np.array(profile, np.float32)
    radius, height = points[:, 0, None], points[:, 1, None]
    grid = np.stack([radius * cos, radius * sin, np.repeat(height, segments + 1, 1)], -1)
    rings = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], 2)
    per_ring = colours if isinstance(colours, list) else [colours] * len(rings)
    quads = rings.reshape(-1, 4, 3).astype(np.float32)
    per_quad = np.repeat(np.array(per_ring, np.float32)[:, None], segments, 1).reshape(-1, 3)
    return Mesh(quads, per_quad, np.zeros(len(quads), bool))


def sheet(points: Sequence[Sequence[float]], colour: Colour) -> Mesh:
    """One quadrilateral, seen from both sides."""
    return Mesh(np.array([points], np.float32), np.array([colour], np.float32), np.ones(1, bool))


def patch(x0: float, x1: float, y0: float, y1: float, z: float, colour: Colour) -> Mesh:
    """A level rectangle."""
    return sheet([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], colour)


def panel(x0: float, x1: float, z0: float, z1: float, y: float, colour: Colour) -> Mesh:
    """An upright rectangle that faces the viewer."""
    return sheet([(x0, y, z0), (x1, y, z0), (x1, y, z1), (x0, y, z1)], colour)


def join(parts: Sequence[Mesh]) -> Mesh:
    return Mesh(
        np.concatenate([part.quads for part in parts]),
        np.concatenate([part.colours for part in parts]),
        np.concatenate([part.two_sided for part in parts]),
    )


def turned(mesh: Mesh, angle: float) -> Mesh:
    """Turned about the z axis."""
    c, s = math.cos(angle), math.sin(angle)
    return mesh._replace(quads=mesh.quads @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], np.float32))


def tilted(mesh: Mesh, angle: float) -> Mesh:
    """Turned about the x axis."""
    c, s = math.cos(angle), math.sin(angle)
    return mesh._replace(quads=mesh.quads @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]], np.float32))


def moved(mesh: Mesh, offset: Sequence[float]) -> Mesh:
    return mesh._replace(quads=mesh.quads + np.array(offset, np.float32))


def scaled(mesh: Mesh, factor: float) -> Mesh:
    return mesh._replace(quads=mesh.quads * np.float32(factor))


def dropped(mesh: Mesh) -> Mesh:
    """Set down so that its lowest point is at z = 0."""
    return moved(mesh, (0, 0, -float(mesh.quads[..., 2].min())))
