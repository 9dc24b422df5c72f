"""Shapes of the things of `world.py`, one builder for every object type.

A builder gets a random generator and the paint, and returns the object with its
base at z = 0, about life size. The generator varies proportions and details, so
the same seed gives the same individual (the red mug of the flat is always the
same mug). The builders of the second half are in `belongings.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import belongings
from mesh import (
    CREAM,
    DARK,
    Mesh,
    Paint,
    block,
    dropped,
    join,
    lathe,
    moved,
    panel,
    patch,
    shade_of,
    sheet,
    tilted,
    turned,
)
from world import COLOUR_NAMES


def _mug(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    height, radius = rng.uniform(0.085, 0.12), rng.uniform(0.038, 0.048)
    inside = c * 1.6 if paint.name == "black" else c * 0.6
    bottom = np.array([70, 40, 25], np.float32) if rng.random() < 0.5 else c * 0.6
    profile = [
        (0, 0),
        (radius, 0),
        (radius, height),
        (radius * 0.86, height),
        (radius * 0.82, height * 0.25),
        (0, height * 0.2),
    ]
    return join(
        [
            lathe(profile, [c, c, c, inside, bottom]),
            block((radius + 0.01, 0, height * 0.72), (0.03, 0.014, 0.014), c * 0.95),
            block((radius + 0.01, 0, height * 0.25), (0.03, 0.014, 0.014), c * 0.95),
            block((radius + 0.026, 0, height * 0.25), (0.014, 0.014, height * 0.5), c * 0.95),
        ]
    )


def _bowl(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.075, 0.095), rng.uniform(0.05, 0.07)
    profile = [(0, 0), (r * 0.5, 0), (r * 0.85, h * 0.5), (r, h), (r * 0.92, h), (r * 0.7, h * 0.4), (0, h * 0.2)]
    return lathe(profile, [c, c, c, c * 1.05, c * 0.8, c * 0.75], 14)


def _bottle(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.03, 0.037), rng.uniform(0.19, 0.25)
    cap = CREAM if rng.random() < 0.5 else DARK
    label = c * 0.3 + CREAM * 0.7 if rng.random() < 0.5 else c
    profile = [(0, 0), (r, 0), (r, h * 0.2), (r, h * 0.45), (r, h * 0.62), (r * 0.4, h * 0.82)]
    return join(
        [
            lathe(profile, [c, c, label, c, c], 10),
            lathe([(r * 0.4, h * 0.82), (r * 0.4, h * 0.93)], c, 8),
            lathe([(r * 0.5, h * 0.93), (r * 0.5, h), (0, h)], cap, 8),
        ]
    )


def _book(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    width, length, thick = rng.uniform(0.13, 0.17), rng.uniform(0.19, 0.23), rng.uniform(0.02, 0.045)
    pages = np.array([225, 218, 200], np.float32)
    parts = [block((0, 0, 0), (width, length, thick), [c, pages, pages, pages, c * 0.9, c])]
    if rng.random() < 0.6:
        title = paint.contrast(CREAM, DARK) * 0.9 + c * 0.1
        parts.append(patch(-width * 0.3, width * 0.3, length * 0.1, length * 0.25, thick + 0.001, title))
    book = join(parts)
    if rng.random() < 0.3:
        return dropped(tilted(book, math.pi / 2 - 0.12))._replace(faces_viewer=True)
    return book


_SCREENS = [(60, 110, 190), (30, 40, 60), (210, 225, 240), (50, 140, 130)]


def _laptop(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    keyboard = paint.contrast(DARK, (75, 75, 80), dark_on="black")
    picture = _SCREENS[rng.integers(len(_SCREENS))]
    lid = join([block((0, 0, 0), (0.32, 0.012, 0.21), c), panel(-0.145, 0.145, 0.015, 0.195, -0.0065, picture)])
    return join(
        [
            block((0, 0, 0), (0.32, 0.22, 0.016), c),
            patch(-0.13, 0.13, -0.02, 0.09, 0.0165, keyboard),
            patch(-0.04, 0.04, -0.09, -0.04, 0.0165, c * 0.8),
            moved(tilted(lid, -rng.uniform(0.12, 0.45)), (0, 0.11, 0.012)),
        ]
    )


def _remote(rng: np.random.Generator, paint: Paint) -> Mesh:
    width, length = 0.05, rng.uniform(0.16, 0.2)
    button = paint.contrast((60, 60, 65), (150, 150, 155), dark_on="black")
    parts = [block((0, 0, 0), (width, length, 0.02), paint.rgb)]
    for row in range(4):
        for side in (-1, 1):
            x, y = side * width * 0.2, -length * 0.35 + row * length * 0.17
            parts.append(patch(x - 0.007, x + 0.007, y - 0.007, y + 0.007, 0.021, button))
    parts.append(patch(-0.009, 0.009, length * 0.36, length * 0.44, 0.021, (210, 40, 40)))
    return join(parts)


_KEY_LENGTH = 0.085


def _one_key(metal: np.ndarray) -> Mesh:
    bow = [(0.015, -0.014, 0.006), (0.045, -0.016, 0.006), (0.045, 0.016, 0.006), (0.015, 0.014, 0.006)]
    return join(
        [
            sheet(bow, metal),
            patch(0.04, _KEY_LENGTH, -0.006, 0.006, 0.006, metal * 0.95),
            patch(_KEY_LENGTH - 0.02, _KEY_LENGTH - 0.01, -0.012, 0, 0.006, metal * 0.9),
        ]
    )


def _ring(metal: np.ndarray) -> list[Mesh]:
    angle = np.linspace(0, 2 * np.pi, 9)
    outer = [(0.024 * math.cos(a), 0.024 * math.sin(a), 0.004) for a in angle]
    inner = [(0.016 * math.cos(a), 0.016 * math.sin(a), 0.004) for a in angle]
    return [sheet([outer[i], outer[i + 1], inner[i + 1], inner[i]], metal * 0.8) for i in range(8)]


def _keys(rng: np.random.Generator, paint: Paint) -> Mesh:
    metal = np.array([(190, 192, 198), (205, 170, 80)][rng.integers(2)], np.float32)
    first = rng.uniform(0, 2 * np.pi)
    parts = _ring(metal)
    parts += [turned(_one_key(metal), first + k * 0.65) for k in range(int(rng.integers(2, 4)))]
    if rng.random() < 0.5:
        tag = shade_of(rng, COLOUR_NAMES[rng.integers(9)])
        parts.append(turned(patch(0.018, 0.05, -0.012, 0.012, 0.007, tag), first + 2.6))
    return join(parts)


def _apple(rng: np.random.Generator, paint: Paint) -> Mesh:
    c, r = paint.rgb, 0.042
    arc = np.linspace(-1.4, 1.2, 7)
    profile = [(0, 0.004), *((r * math.cos(a), r * 0.95 + r * 0.95 * math.sin(a)) for a in arc), (0, r * 1.6)]
    cheek = c if rng.random() < 0.6 else np.clip(c + np.array([30, 25, 0]), 0, 250)
    parts = [
        lathe(profile, [c] * 4 + [cheek] * 3 + [c * 0.6], 12),
        block((0, 0, r * 1.65), (0.007, 0.007, 0.028), (80, 50, 25)),
    ]
    if rng.random() < 0.5:
        leaf = [(0, 0, r * 1.9), (0.02, 0.006, r * 2.1), (0.04, 0, r * 2.05), (0.02, -0.008, r * 1.95)]
        parts.append(sheet(leaf, (60, 140, 50)))
    return join(parts)


def _ball(rng: np.random.Generator, paint: Paint) -> Mesh:
    c, r = paint.rgb, 0.07
    patterns = [[c] * 9, [c] * 4 + [CREAM] + [c] * 4, [c, c, CREAM, c, c, c, CREAM, c, c]]
    pattern = patterns[rng.integers(len(patterns))]
    arc = np.linspace(-1.5, 1.5, 10)
    sphere = lathe([(r * math.cos(a), r * math.sin(a)) for a in arc], pattern, 14)
    return moved(tilted(sphere, rng.uniform(-1.2, 1.2)), (0, 0, r))


def _plant(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    pot = [(0, 0), (0.05, 0), (0.066, 0.09), (0.058, 0.09), (0, 0.08)]
    parts = [lathe(pot, [c, c, c * 0.9, (70, 50, 35)], 12)]
    leaves, reach = int(rng.integers(12, 22)), rng.uniform(0.12, 0.2)
    for _ in range(leaves):
        around, rise = rng.uniform(0, 2 * np.pi), rng.uniform(0.15, 1.25)
        length, width = reach * rng.uniform(0.6, 1), rng.uniform(0.014, 0.028)
        green = np.array([50, 130, 45], np.float32) * rng.uniform(0.7, 1.25)
        x, z = math.cos(rise) * length, math.sin(rise) * length
        leaf = [(0, 0, 0), (x * 0.5, -width, z * 0.6), (x, 0, z), (x * 0.5, width, z * 0.6)]
        parts.append(moved(turned(sheet(leaf, green), around), (0, 0, 0.085)))
    return join(parts)


def _backpack(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    zip_colour = paint.contrast(DARK, (120, 120, 120), dark_on="black")
    return join(
        [
            block((0, 0, 0), (0.29, 0.15, 0.33), c),
            block((0, 0, 0.33), (0.25, 0.12, 0.035), c * 0.95),
            block((0, -0.09, 0.03), (0.21, 0.05, 0.15), c * 0.82),
            panel(-0.1, 0.1, 0.15, 0.165, -0.1155, zip_colour),
            panel(-0.14, 0.14, 0.25, 0.262, -0.0765, zip_colour),
            block((0, 0, 0.365), (0.07, 0.02, 0.025), c * 0.55),
            block((-0.155, 0, 0.05), (0.025, 0.06, 0.2), c * 0.6),
            block((0.155, 0, 0.05), (0.025, 0.06, 0.2), c * 0.6),
        ]
    )


def _shoe(rng: np.random.Generator, paint: Paint) -> Mesh:
    c, w = paint.rgb, 0.045
    sole = paint.contrast(CREAM, (120, 120, 120))
    lace = paint.contrast(CREAM, DARK)
    parts = [block((0, 0, 0), (0.27, 0.095, 0.025), sole)]
    along, tops = [-0.125, -0.05, 0.03, 0.125], [0.1, 0.095, 0.07, 0.04]
    for i in range(3):
        x0, x1, z0, z1 = along[i], along[i + 1], tops[i], tops[i + 1]
        opening = c if i else DARK
        parts.append(sheet([(x0, -w, z0), (x1, -w, z1), (x1, w, z1), (x0, w, z0)], opening))
        parts.append(sheet([(x0, -w, 0.025), (x1, -w, 0.025), (x1, -w, z1), (x0, -w, z0)], c))
        parts.append(sheet([(x1, w, 0.025), (x0, w, 0.025), (x0, w, z0), (x1, w, z1)], c))
    parts.append(sheet([(0.125, -w, 0.025), (0.125, w, 0.025), (0.125, w, 0.04), (0.125, -w, 0.04)], c))
    parts.append(sheet([(-0.125, w, 0.025), (-0.125, -w, 0.025), (-0.125, -w, 0.1), (-0.125, w, 0.1)], c))
    for i in range(3):
        x = -0.04 + i * 0.03
        z = 0.098 - 0.025 * (x + 0.05) / 0.08
        across = [(x, -0.03, z), (x + 0.012, -0.03, z - 0.003), (x + 0.012, 0.03, z - 0.003), (x, 0.03, z)]
        parts.append(sheet(across, lace))
    return join(parts)


def _lamp(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    metal = DARK if rng.random() < 0.5 else np.array([180, 160, 110], np.float32)
    h = rng.uniform(0.18, 0.24)
    return join(
        [
            lathe([(0, 0), (0.065, 0), (0.065, 0.012), (0.01, 0.02), (0.01, h)], metal, 10),
            lathe([(0.1, h * 0.85), (0.055, h * 1.5), (0, h * 1.5)], c * 1.1, 12),
            lathe([(0.0, h * 0.86), (0.098, h * 0.86)], (255, 245, 190), 10),
        ]
    )


def _box(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    width, depth, height = rng.uniform(0.15, 0.2), rng.uniform(0.13, 0.2), rng.uniform(0.09, 0.17)
    tape = np.clip(c * 1.25 + 15, 0, 250)
    if paint.name == "brown":
        c = np.array([178, 135, 85], np.float32) * rng.uniform(0.85, 1.1)
        tape = c * 1.2
    half = width * 0.12
    return join(
        [
            block((0, 0, 0), (width, depth, height), c),
            patch(-half, half, -depth / 2, depth / 2, height + 0.001, tape),
            panel(-half, half, height * 0.6, height, -depth / 2 - 0.001, tape),
        ]
    )


def _cushion(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    profile = [(0.15 * math.cos(a) ** 0.5, 0.05 * math.sin(a)) for a in np.linspace(-1.5, 1.5, 7)]
    pillow = lathe(profile, [c * 0.9, c, c, c * 1.03, c * 1.05, c * 1.05], 16, squareness=5)
    return dropped(tilted(turned(pillow, math.pi / 4), -rng.uniform(0.15, 1.2)))


def _wheel(x: float, y: float) -> list[Mesh]:
    rim = [(x + 0.028 * math.cos(a), y * 1.05, 0.028 + 0.028 * math.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1]]
    return [
        sheet([rim[0], rim[1], rim[2], rim[3]], DARK),
        sheet([rim[0], rim[3], rim[4], rim[7]], DARK),
        sheet([rim[4], rim[5], rim[6], rim[7]], DARK),
    ]


def _car(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    window = np.array([150, 190, 220], np.float32)
    parts = [
        block((0, 0, 0.02), (0.21, 0.1, 0.045), c),
        block((-0.01, 0, 0.065), (0.11, 0.085, 0.04), [c, window, window, window, window, c]),
    ]
    for x in (-0.065, 0.065):
        for y in (-0.05, 0.05):
            parts += _wheel(x, y)
    for y in (-0.04, 0.02):
        light = [(0.1055, y, 0.04), (0.1055, y + 0.02, 0.04), (0.1055, y + 0.02, 0.055), (0.1055, y, 0.055)]
        parts.append(sheet(light, (255, 250, 200)))
    return join(parts)


_BUILDERS: dict[str, Callable[[np.random.Generator, Paint], Mesh]] = {
    "mug": _mug,
    "bowl": _bowl,
    "bottle": _bottle,
    "book": _book,
    "laptop": _laptop,
    "remote": _remote,
    "keys": _keys,
    "apple": _apple,
    "ball": _ball,
    "plant": _plant,
    "backpack": _backpack,
    "shoe": _shoe,
    "lamp": _lamp,
    "box": _box,
    "cushion": _cushion,
    "car": _car,
    "hat": belongings.hat,
    "teddy bear": belongings.teddy_bear,
    "kettle": belongings.kettle,
    "pan": belongings.pan,
    "basket": belongings.basket,
    "clock": belongings.clock,
    "banana": belongings.banana,
    "phone": belongings.phone,
    "guitar": belongings.guitar,
    "watering can": belongings.watering_can,
}


def build(rng: np.random.Generator, object_type: str, colour: str | None) -> Mesh:
    """One individual of a type, in a shade of the colour."""
    rgb = shade_of(rng, colour) if colour else np.array([190, 190, 195], np.float32)
    return _finished(rng, _BUILDERS[object_type](rng, Paint(colour, rgb)), colour)


def _finished(rng: np.random.Generator, mesh: Mesh, colour: str | None) -> Mesh:
    """Metal gleams here and is dark there, wood is never of one shade; paint is left as it is."""
    count = len(mesh.colours)
    if colour == "metal":
        gleam = 1 + 0.38 * np.sin(np.arange(count) * rng.uniform(1.5, 2.2) + rng.uniform(0, 6))
    elif colour == "wooden":
        gleam = 1 + rng.normal(0, 0.13, count)
    else:
        return mesh
    shaded = np.clip(mesh.colours * gleam[:, None], 0, 252).astype(np.float32)
    return mesh._replace(colours=shaded)
