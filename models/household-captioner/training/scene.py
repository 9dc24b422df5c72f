"""Scenes: a description of what stands where under which light, how to invent one, and how to take its picture.

A description is plain data and drawing it is a pure function of it, so a place
can be looked at again and again: `flat.py` keeps the `Place` and the `Item`s and
changes the light and the sensor, the training invents everything anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np

import furniture as furniture_shapes
import geometry
import rooms
from canvas import FIRST_OBJECT, SIZE, Camera, Canvas
from world import (
    COLOUR_NAMES,
    FURNITURE,
    OBJECTS,
    ROOM_NAMES,
    ROOMS,
    TYPE_NAMES,
    ObjectType,
    Seen,
    Thing,
    Truth,
)

PICTURE_SIZE = 128
LABEL_SIZE = 16
"""Cells across a label grid: two for every patch of the encoder."""
UNCOLOURED = len(COLOUR_NAMES) + 1
"""The colour label of an object whose colour is not named."""

_SEED_LIMIT = 2**31
_ENOUGH_PIXELS, _HIDDEN_PIXELS = 150, 25
"""At least so many of the 256×256 pixels make an object worth a word; at most so many make it no sight at all."""
_ENOUGH_VISIBLE = 0.45
"""The fraction of an object that must not be hidden by others."""
_ENOUGH_CONTRAST = 18
"""Grey levels by which an object must stand out: a black bowl on a dark shelf is there, but nobody sees it."""


@dataclass(frozen=True)
class View:
    """Where the camera is, relative to what it looks at; metres and radians."""

    distance: float
    elevation: float
    azimuth: float
    target: tuple[float, float, float]
    """Offset of the point it looks at from the middle of the surface."""
    fov: float
    roll: float = 0.0


@dataclass(frozen=True)
class Place:
    """Everything that is the same at each visit: a piece of furniture in a room, and the view of it."""

    room: str
    furniture: str
    material: str
    height: float
    view: View
    seed: int
    """Decides textures, tints, proportions and what hangs on the wall."""


@dataclass(frozen=True)
class Individual:
    """One particular thing, wherever it lies."""

    type: str
    colour: str | None
    seed: int
    """Decides its exact shade and proportions."""
    size: float = 1.0
    """Compared with others of its type."""


@dataclass(frozen=True)
class Item:
    """An individual, put down somewhere on the surface."""

    individual: Individual
    x: float
    y: float
    yaw: float
    scale: float

    @property
    def kind(self) -> ObjectType:
        return OBJECTS[self.individual.type]

    @property
    def reach(self) -> float:
        return self.kind.radius * self.scale


@dataclass(frozen=True)
class Light:
    direction: tuple[float, float, float]
    ambient: float
    shadow: float


@dataclass(frozen=True)
class Sensor:
    """What the camera adds."""

    exposure: float = 1.0
    red: float = 1.0
    blue: float = 1.0
    """Gains of the white balance."""
    falloff: float = 0.0
    falloff_angle: float = 0.0
    """Brightness differs so much across the picture, along this angle."""
    noise: float = 3.0
    """Standard deviation, in grey levels of 255."""
    blur: float = 0.0
    """Standard deviation, in pixels."""
    smear: tuple[int, int] | None = None
    """Motion: the rows where a 5-pixel streak enters and leaves."""
    seed: int = 0


@dataclass(frozen=True)
class Scene:
    place: Place
    items: tuple[Item, ...]
    light: Light
    sensor: Sensor = field(default_factory=Sensor)


class Labels(NamedTuple):
    """What each cell of the picture shows: grids of type and colour numbers, 0 for no object."""

    types: np.ndarray
    colours: np.ndarray


class Rendering(NamedTuple):
    picture: np.ndarray
    """RGB, 128×128, 8 bits."""
    labels: Labels
    truth: Truth
    is_clear: bool
    """Every object is either plain to see or out of sight, so that nobody can argue about the caption."""


# Inventing scenes


def new_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(_SEED_LIMIT))


def invent_place(
    rng: np.random.Generator,
    room: str | None = None,
    furniture: str | None = None,
    material: str | None = None,
    crowd: int = 2,
) -> Place:
    """A place, with what is not given chosen at random; the camera steps back for a crowd of objects."""
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
    return Place(room, furniture, material, height, _invent_view(rng, furniture, crowd), new_seed(rng))


def _invent_view(rng: np.random.Generator, furniture: str, crowd: int) -> View:
    on_shelf = furniture == "shelf"
    farther = 0.15 if furniture in ("floor", "bed", "sofa") else 0
    return View(
        distance=rng.uniform(0.85, 1.2) + farther + 0.08 * max(0, crowd - 2),
        elevation=rng.uniform(0.06, 0.24) if on_shelf else rng.uniform(0.36, 0.72),
        azimuth=rng.uniform(-0.4, 0.4),
        target=(rng.normal(0, 0.03), rng.normal(0, 0.03), rng.uniform(0.05, 0.12) + (0.03 if on_shelf else 0)),
        fov=rng.uniform(0.85, 1.0),
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
    rng: np.random.Generator, place: Place, others: Sequence[Item], individual: Individual, spread: float = 1.0
) -> Item | None:
    """The thing at a random spot of the surface, or None if that spot is taken."""
    kind = OBJECTS[individual.type]
    scale = kind.scale * individual.size * (0.85 if place.furniture == "shelf" and kind.bulky else 1)
    area = furniture_shapes.surface_of(place.furniture)
    x = rng.uniform(-area.half_width, area.half_width) * spread
    y = area.centre_y + rng.uniform(-area.half_depth, area.half_depth) * spread
    item = Item(individual, x, y, _invent_yaw(rng, kind.facing, place), scale)
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


def invent_items(rng: np.random.Generator, place: Place, count: int) -> tuple[Item, ...]:
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
        spread = 0.55 if count == 1 else 1.0
        item = put_down(rng, place, items, invent_individual(rng, *thing), spread)
        if item is not None:
            items.append(item)
            taken.add(thing)
    return tuple(items)


def invent_scene(rng: np.random.Generator) -> Scene:
    count = int(rng.choice(5, p=[0.03, 0.24, 0.36, 0.27, 0.10]))
    place = invent_place(rng, crowd=count)
    return Scene(place, invent_items(rng, place, count), invent_light(rng), invent_sensor(rng))


def clear_scenes(rng: np.random.Generator) -> Iterator[tuple[Scene, Rendering]]:
    """Endlessly, scenes of which every object can be named or cannot be seen."""
    while True:
        scene = invent_scene(rng)
        rendering = render(scene)
        if rendering.is_clear:
            yield scene, rendering


# Taking pictures


def camera_of(place: Place) -> Camera:
    view = place.view
    target = np.array([view.target[0], view.target[1], place.height + view.target[2]])
    level = view.distance * math.cos(view.elevation)
    offset = [
        level * math.sin(view.azimuth),
        -level * math.cos(view.azimuth),
        view.distance * math.sin(view.elevation),
    ]
    return Camera(target + np.array(offset), target, view.fov, view.roll)


def render(scene: Scene, texture_seed: int | None = None) -> Rendering:
    """The picture of a scene with its truth; a texture seed dresses it in textures of another seed."""
    place = scene.place
    light = np.array(scene.light.direction, np.float32)
    canvas = Canvas(camera_of(place), light, scene.light.ambient, texture_seed)
    look = np.random.default_rng(place.seed)
    rooms.draw_room(canvas, look, place.room, place.furniture, place.material, place.height)
    furniture_shapes.draw_furniture(canvas, look, place.furniture, place.material, place.height)
    canvas.cast_shadows([outline for item in scene.items for outline in _shadow_of(item, scene)], scene.light.shadow)
    drawn = _draw_items(canvas, scene)
    named, is_clear = _judge(canvas, drawn, place.height)
    labels = _label(canvas.ids, named)
    seen = sorted((sight for _, sight in named), key=lambda sight: sight.u)
    truth = Truth(place.room, place.furniture, place.material, seen)
    return Rendering(expose(canvas.image, scene.sensor), labels, truth, is_clear)


def _shadow_of(item: Item, scene: Scene) -> list[np.ndarray]:
    """The footprint three times, moved away from the light as far as the object is high."""
    angle = np.linspace(0, 2 * np.pi, 13)[:-1]
    lx, ly, lz = scene.light.direction
    length = item.kind.height * item.scale * 0.5
    width = item.reach * item.kind.shadow_width
    level = np.full(12, scene.place.height + 0.001)
    return [
        np.stack(
            [
                item.x - lx / lz * length * part + width * np.cos(angle),
                item.y - ly / lz * length * part + width * np.sin(angle),
                level,
            ],
            1,
        ).astype(np.float32)
        for part in (0, 0.5, 1)
    ]


def _draw_items(canvas: Canvas, scene: Scene) -> list[tuple[Item, int, int]]:
    """Draws from far to near; returns each item with its object id and the pixels it covers unhidden."""
    eye = canvas.camera.position

    def distance(item: Item) -> float:
        return math.hypot(item.x - eye[0], item.y - eye[1])

    drawn = []
    for object_id, item in enumerate(sorted(scene.items, key=distance, reverse=True), FIRST_OBJECT):
        thing = item.individual
        mesh = geometry.build(np.random.default_rng(thing.seed), thing.type, thing.colour)
        yaw = item.yaw / 4 if mesh.faces_viewer else item.yaw
        mesh = geometry.turned(geometry.scaled(mesh, item.scale), yaw)
        covered = canvas.draw(geometry.moved(mesh, (item.x, item.y, scene.place.height)), object_id)
        drawn.append((item, object_id, covered))
    return drawn


def _judge(
    canvas: Canvas, drawn: list[tuple[Item, int, int]], height: float
) -> tuple[list[tuple[int, Seen]], bool]:
    """The objects that can be named, by object id, and whether the rest cannot be seen at all."""
    counts = np.bincount(canvas.ids.ravel(), minlength=FIRST_OBJECT + len(drawn))
    named, is_clear = [], True
    for item, object_id, covered in drawn:
        pixels = int(counts[object_id])
        visible = pixels / max(covered, 1)
        stands_out = pixels > 0 and _contrast(canvas, object_id) >= _ENOUGH_CONTRAST
        if pixels >= _ENOUGH_PIXELS and visible >= _ENOUGH_VISIBLE and stands_out:
            (u, v), _ = canvas.camera.project(np.array([item.x, item.y, height], np.float32))
            thing = item.individual
            named.append((object_id, Seen(thing.type, thing.colour, round(float(u)), round(float(v)), pixels)))
        elif pixels > _HIDDEN_PIXELS:
            is_clear = False
    return named, is_clear


def _contrast(canvas: Canvas, object_id: int) -> float:
    """How far, on average, an object's pixels are from the mean colour just around it."""
    mask = (canvas.ids == object_id).astype(np.uint8)
    around = cv2.dilate(mask, np.ones((11, 11), np.uint8)) - mask
    surroundings = np.array(cv2.mean(canvas.image, around)[:3], np.float32)
    return float(np.linalg.norm(canvas.image[mask > 0] - surroundings, axis=1).mean())


def _label(ids: np.ndarray, named: list[tuple[int, Seen]]) -> Labels:
    """Each cell shows the object that fills most of it, if that is a fair part."""
    types = np.zeros((LABEL_SIZE, LABEL_SIZE), np.uint8)
    colours = np.zeros((LABEL_SIZE, LABEL_SIZE), np.uint8)
    most = np.full((LABEL_SIZE, LABEL_SIZE), 0.3, np.float32)
    for object_id, seen in named:
        mask = (ids == object_id).astype(np.float32)
        share = cv2.resize(mask, (LABEL_SIZE, LABEL_SIZE), interpolation=cv2.INTER_AREA)
        cells = share > most
        most[cells] = share[cells]
        types[cells] = TYPE_NAMES.index(seen.type) + 1
        colours[cells] = COLOUR_NAMES.index(seen.colour) + 1 if seen.colour else UNCOLOURED
    return Labels(types, colours)


def expose(image: np.ndarray, sensor: Sensor) -> np.ndarray:
    """The picture that the camera delivers of what is in front of it."""
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE - 0.5
    across = x * math.cos(sensor.falloff_angle) + y * math.sin(sensor.falloff_angle)
    gains = np.array([sensor.red, 1, sensor.blue], np.float32) * sensor.exposure
    image = image * ((1 + sensor.falloff * across)[..., None] * gains)
    image = cv2.resize(image, (PICTURE_SIZE, PICTURE_SIZE), interpolation=cv2.INTER_AREA)
    if sensor.blur:
        image = cv2.GaussianBlur(image, (0, 0), sensor.blur)
    if sensor.smear:
        streak = np.zeros((5, 5), np.float32)
        cv2.line(streak, (0, sensor.smear[0]), (4, sensor.smear[1]), 1.0)
        image = cv2.filter2D(image, -1, streak / streak.sum())
    noise = np.random.default_rng(sensor.seed).standard_normal(image.shape, np.float32)
    return np.clip(image + sensor.noise * noise, 0, 255).astype(np.uint8)
