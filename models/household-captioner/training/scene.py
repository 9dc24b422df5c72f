"""Scenes: a description of what stands where under which light, and how to take its picture.

A description is plain data and drawing it is a pure function of it, so a place
can be looked at again and again: `flat.py` keeps the `Place` and the `Item`s and
changes the light and the sensor, the training invents everything anew (`invent.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np

import furniture as furniture_shapes
import geometry
import mesh
import people
import rooms
from canvas import FIRST_OBJECT, PERSON, SIZE, Camera, Canvas
from people import Person
from world import (
    COLOUR_NAMES,
    OBJECTS,
    TYPE_NAMES,
    ObjectType,
    Seen,
    Truth,
)

PICTURE_SIZE = 128
LABEL_SIZE = 16
"""Cells across a label grid: two for every patch of the encoder."""
UNCOLOURED = len(COLOUR_NAMES) + 1
"""The colour label of an object whose colour is not named."""
PERSON_TYPE = len(TYPE_NAMES) + 1
"""The type label of a person."""

_ENOUGH_OF_A_PERSON = 1500
"""Pixels, with the head among them, that show what somebody is doing."""
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
    person: Person | None = None


class Labels(NamedTuple):
    """What each cell of the picture shows: grids of type and colour numbers, 0 for no object."""

    types: np.ndarray
    colours: np.ndarray


Box = tuple[int, int, int, int]
"""Left, top, right and bottom of what is to be seen of a thing, in pixels of the picture."""


class Rendering(NamedTuple):
    picture: np.ndarray
    """RGB, 128×128, 8 bits."""
    labels: Labels
    truth: Truth
    boxes: list[Box]
    """Of each object of the truth."""
    is_clear: bool
    """Every object is either plain to see or out of sight, so that nobody can argue about the caption."""


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
    figure = _figure_of(scene)
    wall = rooms.draw_room(canvas, look, place.room, place.furniture, place.material, place.height)
    if figure:
        wall.show(figure.screen, place.height)
        _draw_person(canvas, figure.behind, place.height)
    furniture_shapes.draw_furniture(canvas, look, place.furniture, place.material, place.height)
    canvas.cast_shadows([outline for item in scene.items for outline in _shadow_of(item, scene)], scene.light.shadow)
    drawn = _draw_items(canvas, scene, figure)
    named, is_clear = _judge(canvas, drawn, place.height)
    activity, is_sure = _judge_person(canvas, scene)
    labels = _label(canvas.ids, named, activity is not None)
    named.sort(key=lambda sight: sight[1].u)
    truth = Truth(place.room, place.furniture, place.material, [seen for _, seen in named], activity)
    boxes = [_box_of(canvas.ids, object_id) for object_id, _ in named]
    return Rendering(expose(canvas.image, scene.sensor), labels, truth, boxes, is_clear and is_sure)


def _figure_of(scene: Scene) -> people.Figure | None:
    if scene.person is None:
        return None
    return people.figure_of(scene.person, scene.place.furniture, furniture_shapes.depth_of(scene.place.furniture))


def _draw_person(canvas: Canvas, part: mesh.Mesh | None, height: float) -> None:
    if part:
        canvas.draw(mesh.moved(part, (0, 0, height)), PERSON)


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


def _draw_items(canvas: Canvas, scene: Scene, figure: people.Figure | None) -> list[tuple[Item, int, int]]:
    """Draws from far to near; returns each item with its object id and the pixels it covers unhidden."""
    eye = canvas.camera.position

    def distance(item: Item) -> float:
        return math.hypot(item.x - eye[0], item.y - eye[1])

    drawn = []
    person_is_due = figure is not None
    for object_id, item in enumerate(sorted(scene.items, key=distance, reverse=True), FIRST_OBJECT):
        if person_is_due and item.y < figure.y:
            _draw_person(canvas, figure.above, scene.place.height)
            person_is_due = False
        thing = item.individual
        shape = geometry.build(np.random.default_rng(thing.seed), thing.type, thing.colour)
        yaw = item.yaw / 4 if shape.faces_viewer else item.yaw
        shape = mesh.turned(mesh.scaled(shape, item.scale), yaw)
        covered = canvas.draw(mesh.moved(shape, (item.x, item.y, scene.place.height)), object_id)
        drawn.append((item, object_id, covered))
    if person_is_due:
        _draw_person(canvas, figure.above, scene.place.height)
    return drawn


def _judge(canvas: Canvas, drawn: list[tuple[Item, int, int]], height: float) -> tuple[list[tuple[int, Seen]], bool]:
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


def _judge_person(canvas: Canvas, scene: Scene) -> tuple[str | None, bool]:
    """What the person is seen to do, and whether that is plain or there is nobody to be seen at all."""
    if scene.person is None:
        return None, True
    pixels = int(np.count_nonzero(canvas.ids == PERSON))
    if pixels >= _ENOUGH_OF_A_PERSON and _head_is_in_view(canvas, scene):
        return scene.person.activity, True
    return None, pixels <= _HIDDEN_PIXELS


def _head_is_in_view(canvas: Canvas, scene: Scene) -> bool:
    head = people.head_of(scene.person, scene.place.furniture, furniture_shapes.depth_of(scene.place.furniture))
    (u, v), _ = canvas.camera.project(np.array(head, np.float32) + np.array([0, 0, scene.place.height], np.float32))
    return bool(4 < u < SIZE - 4 and 4 < v < SIZE - 4 and canvas.ids[int(v), int(u)] == PERSON)


def _contrast(canvas: Canvas, object_id: int) -> float:
    """How far, on average, an object's pixels are from the mean colour just around it."""
    mask = (canvas.ids == object_id).astype(np.uint8)
    around = cv2.dilate(mask, np.ones((11, 11), np.uint8)) - mask
    surroundings = np.array(cv2.mean(canvas.image, around)[:3], np.float32)
    return float(np.linalg.norm(canvas.image[mask > 0] - surroundings, axis=1).mean())


def _box_of(ids: np.ndarray, object_id: int) -> Box:
    rows, columns = np.nonzero(ids == object_id)
    scale = SIZE // PICTURE_SIZE
    left, top = int(columns.min()) // scale, int(rows.min()) // scale
    return left, top, int(columns.max()) // scale + 1, int(rows.max()) // scale + 1


def _label(ids: np.ndarray, named: list[tuple[int, Seen]], has_person: bool) -> Labels:
    """Each cell shows the object that fills most of it, if that is a fair part."""
    types = np.zeros((LABEL_SIZE, LABEL_SIZE), np.uint8)
    colours = np.zeros((LABEL_SIZE, LABEL_SIZE), np.uint8)
    most = np.full((LABEL_SIZE, LABEL_SIZE), 0.3, np.float32)
    marks = [
        (object_id, TYPE_NAMES.index(s.type) + 1, COLOUR_NAMES.index(s.colour) + 1 if s.colour else UNCOLOURED)
        for object_id, s in named
    ]
    if has_person:
        marks.append((PERSON, PERSON_TYPE, UNCOLOURED))
    for object_id, type_label, colour_label in marks:
        mask = (ids == object_id).astype(np.float32)
        share = cv2.resize(mask, (LABEL_SIZE, LABEL_SIZE), interpolation=cv2.INTER_AREA)
        cells = share > most
        most[cells] = share[cells]
        types[cells] = type_label
        colours[cells] = colour_label
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
