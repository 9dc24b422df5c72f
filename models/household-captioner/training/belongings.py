"""More shapes of things, as those in `geometry.py`: what hangs about in a household besides crockery and toys."""

from __future__ import annotations

import math

import numpy as np

from mesh import (
    CREAM,
    DARK,
    Colour,
    Mesh,
    Paint,
    block,
    dropped,
    join,
    lathe,
    moved,
    panel,
    patch,
    sheet,
    tilted,
    turned,
)


def _ball_of(centre: tuple[float, float, float], radius: float, colour: Colour, segments: int = 10) -> Mesh:
    arc = np.linspace(-1.5, 1.5, 7)
    return moved(lathe([(radius * math.cos(a), radius * math.sin(a)) for a in arc], colour, segments), centre)


def disc_towards_viewer(
    centre: tuple[float, float, float], radius: float, colour: Colour, segments: int = 12, stretch: float = 1.0
) -> Mesh:
    """An upright disc, `stretch` times as high as wide, seen from both sides."""
    x, y, z = centre
    angle = np.linspace(0, 2 * np.pi, segments + 1)
    rim = [(x + radius * math.cos(a), y, z + stretch * radius * math.sin(a)) for a in angle]
    # A quadrilateral takes in two steps of the rim and the middle.
    return join([sheet([(x, y, z), rim[i], rim[i + 1], rim[i + 2]], colour) for i in range(0, segments, 2)])


def hat(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h, brim = rng.uniform(0.085, 0.095), rng.uniform(0.09, 0.12), rng.uniform(0.16, 0.185)
    band = paint.contrast(CREAM, DARK) * 0.85
    profile = [(brim, 0.012), (r, 0.008), (r * 0.98, 0.035), (r * 0.85, h), (r * 0.4, h * 1.05), (0, h * 0.95)]
    underside = lathe([(0, 0), (brim, 0.012)], c * 0.6, 14)
    return join([underside, lathe(profile, [c * 0.93, band, c, c * 1.03, c * 0.8], 14)])


def teddy_bear(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    light = np.clip(c * 0.55 + CREAM * 0.45, 0, 250)
    if paint.name == "white":
        light = c * 0.85
    r = rng.uniform(0.07, 0.08)
    head = r * 2.35
    parts = [
        _ball_of((0, 0, r), r, c),
        _ball_of((0, -r * 0.35, r * 0.95), r * 0.72, light),
        _ball_of((0, 0, head), r * 0.8, c),
        _ball_of((0, -r * 0.62, head - r * 0.15), r * 0.32, light, 8),
        _ball_of((0, -r * 0.9, head - r * 0.05), r * 0.11, DARK, 6),
    ]
    for side in (-1, 1):
        parts.append(_ball_of((side * r * 0.6, 0, head + r * 0.62), r * 0.33, c * 0.9, 8))
        parts.append(_ball_of((side * r * 0.28, -r * 0.68, head + r * 0.2), r * 0.1, DARK, 6))
        parts.append(_ball_of((side * r * 1.05, -r * 0.35, r * 1.35), r * 0.36, c * 0.92, 8))
        parts.append(_ball_of((side * r * 0.75, -r * 0.9, r * 0.35), r * 0.4, c * 0.92, 8))
        parts.append(_ball_of((side * r * 0.75, -r * 1.2, r * 0.35), r * 0.22, light, 8))
    return join(parts)._replace(faces_viewer=True)


def kettle(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.075, 0.085), rng.uniform(0.15, 0.18)
    dark = paint.contrast(DARK, (120, 120, 125), dark_on="black")
    body = [(0, 0), (r, 0), (r, h * 0.15), (r * 0.95, h * 0.5), (r * 0.6, h), (0, h * 1.04)]
    grip_x = -r * 1.35
    return join(
        [
            lathe(body, [c, dark, c, c, c * 0.8], 12),
            lathe([(0.014, h * 1.02), (0.014, h * 1.15), (0, h * 1.18)], dark, 8),
            # Spout to the one side, handle to the other.
            sheet(
                [
                    (r * 0.8, -0.018, h * 0.5),
                    (r * 1.55, -0.008, h * 0.95),
                    (r * 1.35, -0.008, h),
                    (r * 0.7, -0.018, h * 0.8),
                ],
                c,
            ),
            sheet(
                [
                    (r * 0.8, 0.018, h * 0.5),
                    (r * 1.55, 0.008, h * 0.95),
                    (r * 1.35, 0.008, h),
                    (r * 0.7, 0.018, h * 0.8),
                ],
                c * 0.9,
            ),
            sheet(
                [
                    (r * 0.8, -0.018, h * 0.5),
                    (r * 0.8, 0.018, h * 0.5),
                    (r * 1.55, 0.008, h * 0.95),
                    (r * 1.55, -0.008, h * 0.95),
                ],
                c * 0.75,
            ),
            block((grip_x, 0, h * 0.25), (0.02, 0.026, h * 0.75), dark),
            block((grip_x * 0.75, 0, h * 0.88), (r * 0.95, 0.026, 0.02), dark),
            block((grip_x * 0.85, 0, h * 0.25), (r * 0.6, 0.026, 0.02), dark),
        ]
    )


def pan(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.11, 0.125), 0.042
    inside = np.array([70, 70, 74], np.float32) if paint.name != "black" else np.array([62, 62, 66], np.float32)
    profile = [(0, 0), (r * 0.85, 0), (r, h), (r * 0.95, h), (r * 0.82, 0.008), (0, 0.006)]
    handle = np.array([120, 80, 45], np.float32) if rng.random() < 0.4 else np.array([40, 40, 44], np.float32)
    return join(
        [
            lathe(profile, [c, c, c * 1.1, inside * 0.85, inside], 14),
            block((r + 0.1, 0, h * 0.75), (0.22, 0.026, 0.018), handle),
            block((r + 0.01, 0, h * 0.7), (0.05, 0.036, 0.014), (150, 150, 155)),
        ]
    )


def basket(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.11, 0.13), rng.uniform(0.09, 0.11)
    levels = np.linspace(0, 1, 7)
    profile = [
        (0, 0),
        *((r * (0.78 + 0.22 * z), h * z) for z in levels),
        (r * 0.9, h),
        (r * 0.75, h * 0.3),
        (0, h * 0.2),
    ]
    weave = [c * 0.8, *(c * (1.08 if i % 2 else 0.78) for i in range(6)), c * 1.1, c * 0.6, c * 0.5]
    parts = [lathe(profile, weave, 14)]
    angle = np.linspace(0, np.pi, 9)
    outer = [(r * math.cos(a), h * 0.95 + 1.25 * h * math.sin(a)) for a in angle]
    inner = [(r * 0.88 * math.cos(a), h * 0.95 + 1.08 * h * math.sin(a)) for a in angle]
    for i in range(8):
        (x0, z0), (x1, z1), (x2, z2), (x3, z3) = outer[i], outer[i + 1], inner[i + 1], inner[i]
        for y in (-0.012, 0.012):
            parts.append(sheet([(x0, y, z0), (x1, y, z1), (x2, y, z2), (x3, y, z3)], c * (1.0 if i % 2 else 0.82)))
        parts.append(sheet([(x0, -0.012, z0), (x1, -0.012, z1), (x1, 0.012, z1), (x0, 0.012, z0)], c * 0.95))
    return join(parts)


def clock(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r = rng.uniform(0.068, 0.078)
    z = r + 0.022
    drum = moved(tilted(lathe([(r, -0.03), (r, 0.03)], c, 14), math.pi / 2), (0, 0, z))
    back, rim = disc_towards_viewer((0, 0.03, z), r, c * 0.9, 14), disc_towards_viewer((0, -0.03, z), r, c, 14)
    face = disc_towards_viewer((0, -0.034, z), r * 0.84, (248, 247, 240), 14)
    parts = [drum, back, rim, face]
    for hand, width in ((0.5, 0.012), (0.72, 0.008)):
        a = rng.uniform(0, 2 * np.pi)
        x, up = math.cos(a), math.sin(a)
        length = r * hand
        parts.append(
            sheet(
                [
                    (-up * width, -0.037, z + x * width),
                    (up * width, -0.037, z - x * width),
                    (x * length, -0.037, z + up * length),
                    (x * length * 0.99, -0.037, z + up * length * 0.99),
                ],
                (25, 25, 28),
            )
        )
    for side in (-1, 1):
        parts.append(_ball_of((side * r * 0.62, 0, z + r * 0.98), r * 0.36, c * 0.85, 8))
        parts.append(block((side * r * 0.6, 0, 0), (0.016, 0.04, 0.035), c * 0.7))
    return join(parts)


def banana(rng: np.random.Generator, paint: Paint) -> Mesh:
    yellow = np.array([238, 205, 55], np.float32) * rng.uniform(0.9, 1.05)
    bend, thick, count = rng.uniform(0.085, 0.1), 0.019, 7
    middle = np.linspace(-1.05, 1.05, count)
    width = thick * np.array([0.35, 0.85, 1, 1, 1, 0.85, 0.3])
    parts = []
    for k in range(int(rng.integers(1, 4))):
        yaw, lift = k * 0.32, 0.006 * k
        for i in range(count - 1):
            tone = (55, 45, 25) if i in (0, count - 2) and rng.random() < 0.5 else yellow * (0.93 + 0.1 * (i % 2))
            ring = []
            for j in (i, i + 1):
                a, w = middle[j], width[j]
                x, y = math.sin(a) * bend, bend - math.cos(a) * bend
                dx, dy = -math.sin(a) * w, math.cos(a) * w
                ring.append(
                    [(x - dx, y - dy, thick), (x, y, 2 * w + thick - w), (x + dx, y + dy, thick), (x, y, thick - w)]
                )
            for side in range(4):
                nxt = (side + 1) % 4
                shade = np.array(tone) * (1.0 if side < 2 else 0.78)
                quad = [ring[0][side], ring[1][side], ring[1][nxt], ring[0][nxt]]
                parts.append(moved(turned(sheet(quad, shade), yaw), (0, k * 0.02, lift)))
    return dropped(join(parts))


_APPS = [(235, 70, 60), (60, 170, 90), (250, 190, 50), (70, 120, 235), (250, 250, 250)]


def phone(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    width, length, thick = 0.078, 0.155, 0.012
    glow = np.array([(120, 200, 250), (190, 225, 250), (90, 150, 240)][rng.integers(3)], np.float32)
    parts = [
        block((0, 0, 0), (width, length, thick), c),
        patch(-width * 0.4, width * 0.4, -length * 0.43, length * 0.43, thick + 0.001, glow),
    ]
    for row in range(4):
        for column in range(2):
            x, y = (column - 0.5) * width * 0.38, length * (-0.3 + 0.2 * row)
            app = _APPS[rng.integers(len(_APPS))]
            parts.append(patch(x - 0.009, x + 0.009, y - 0.009, y + 0.009, thick + 0.002, app))
    return join(parts)


def guitar(rng: np.random.Generator, paint: Paint) -> Mesh:
    """Small, as one for children, and leaning back on nothing in particular."""
    c = paint.rgb
    neck = np.array([95, 60, 38], np.float32)
    if paint.name == "black":
        neck = np.array([150, 105, 65], np.float32)
    parts = [
        disc_towards_viewer((0, 0.03, 0.1), 0.1, c * 0.7),
        disc_towards_viewer((0, 0.03, 0.225), 0.074, c * 0.7),
        panel(-0.011, 0.011, 0.2, 0.48, 0.012, neck),
        disc_towards_viewer((0, 0, 0.1), 0.1, c),
        disc_towards_viewer((0, 0, 0.225), 0.074, c),
        panel(-0.06, 0.06, 0.13, 0.2, 0.0, c),
        disc_towards_viewer((0, -0.003, 0.19), 0.03, (35, 22, 15)),
        panel(-0.013, 0.013, 0.2, 0.46, -0.005, neck),
        panel(-0.022, 0.022, 0.46, 0.53, -0.006, neck * 0.75),
        panel(-0.04, 0.04, 0.07, 0.085, -0.004, neck * 0.7),
        panel(-0.004, 0.004, 0.085, 0.46, -0.007, (225, 220, 205)),
    ]
    return dropped(tilted(join(parts), -rng.uniform(0.1, 0.3)))._replace(faces_viewer=True)


def watering_can(rng: np.random.Generator, paint: Paint) -> Mesh:
    c = paint.rgb
    r, h = rng.uniform(0.062, 0.07), rng.uniform(0.12, 0.14)
    body = [(0, 0), (r, 0), (r * 0.92, h), (r * 0.75, h), (0, h * 0.9)]
    reach, top = r * 3.0, h * 1.35
    parts = [lathe(body, [c * 0.7, c, c * 1.05, c * 0.45], 12)]
    for y, tone in ((-0.013, 1.0), (0.013, 0.85)):
        spout = [
            (r * 0.85, y, h * 0.15),
            (reach, y, top - 0.015),
            (reach - 0.012, y, top + 0.005),
            (r * 0.85, y, h * 0.42),
        ]
        parts.append(sheet(spout, c * tone))
    parts.append(
        sheet(
            [(r * 0.85, -0.013, h * 0.42), (r * 0.85, 0.013, h * 0.42), (reach, 0.013, top), (reach, -0.013, top)],
            c * 1.05,
        )
    )
    parts.append(
        moved(tilted(lathe([(0.012, 0), (0.034, 0.03), (0, 0.034)], c * 0.85, 8), 0.0), (reach, 0, top - 0.01))
    )
    angle = np.linspace(-0.5 * np.pi, 0.55 * np.pi, 8)
    for a, b in zip(angle[:-1], angle[1:], strict=True):
        corners = []
        for radius, at in ((0.062, a), (0.062, b), (0.047, b), (0.047, a)):
            corners.append((-r * 0.8 - radius * math.cos(at), 0.0, h * 0.68 + radius * math.sin(at)))
        for y in (-0.011, 0.011):
            parts.append(moved(sheet(corners, c * 0.9), (0, y, 0)))
        (x0, _, z0), (x1, _, z1) = corners[0], corners[1]
        parts.append(sheet([(x0, -0.011, z0), (x1, -0.011, z1), (x1, 0.011, z1), (x0, 0.011, z0)], c))
    return join(parts)
