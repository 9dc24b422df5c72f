"""The world that the captioner knows: what things exist, where they are kept, and how a scene is put into words.

Everything here is a table or a pure function over the tables; nothing draws.
To enlarge the world, add a row (and, for an object or a piece of furniture, its
shape in `geometry.py` or `furniture.py`); the vocabulary, the tokenizer, the
label grids and the heads of the training follow from the tables.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

Rgb = tuple[int, int, int]

COLOURS: dict[str, Rgb] = {
    "red": (200, 30, 30),
    "blue": (35, 70, 200),
    "green": (40, 150, 55),
    "yellow": (235, 205, 40),
    "orange": (240, 125, 20),
    "purple": (120, 45, 160),
    "pink": (245, 140, 180),
    "white": (238, 238, 235),
    "black": (28, 28, 32),
    "grey": (135, 138, 142),
    "brown": (120, 75, 40),
    "turquoise": (45, 195, 190),
    "wooden": (200, 152, 100),
    "metal": (172, 178, 186),
}
"""Colours, and two materials that take the place of one: a thing has either."""
COLOUR_NAMES = list(COLOURS)

_VIVID = ("red", "blue", "green", "yellow", "orange", "purple", "pink")


@dataclass(frozen=True)
class ObjectType:
    """One kind of thing that lies about in a household."""

    colours: tuple[str, ...]
    """The colours it comes in; empty if its colour is not worth a word."""
    radius: float
    """Of the footprint, in metres at scale 1: things may not overlap."""
    scale: float
    """How much larger than life it is drawn, so that 128 pixels show what it is."""
    height: float = 0.06
    """Of what casts the shadow, in metres at scale 1."""
    bulky: bool = False
    """Drawn a little smaller on a shelf, or it would hide its neighbours."""
    facing: str = "any"
    """Which way it is put down: "any", "viewer" or "sideways"."""
    shadow_width: float = 0.8
    """Width of the shadow in footprints."""
    phrase: str = "{article} {colour} {noun}"
    exceptions: dict[str, str] = field(default_factory=dict)
    """Phrases for particular colours, where people say something else."""


OBJECTS: dict[str, ObjectType] = {
    "mug": ObjectType((*_VIVID, "white", "black", "turquoise"), 0.06, 1.45, height=0.1),
    "bowl": ObjectType((*_VIVID, "white", "black", "wooden", "metal"), 0.09, 1.3),
    "bottle": ObjectType((*_VIVID, "white", "turquoise", "metal"), 0.045, 1.25, height=0.2),
    "book": ObjectType((*_VIVID, "white", "black"), 0.13, 1.05, shadow_width=0.6),
    "laptop": ObjectType(
        ("grey", "black", "white"), 0.2, 0.95, height=0.15, bulky=True, facing="viewer", shadow_width=0.6
    ),
    "remote": ObjectType(("black", "white", "grey"), 0.09, 1.35, shadow_width=0.6),
    "keys": ObjectType((), 0.06, 1.7, phrase="a set of keys"),
    "apple": ObjectType(("red", "green", "yellow"), 0.045, 1.6),
    "ball": ObjectType(_VIVID, 0.075, 1.15, bulky=True),
    "plant": ObjectType(
        ("white", "black", "red", "blue", "brown", "yellow"),
        0.08,
        1.2,
        height=0.2,
        bulky=True,
        phrase="a plant in {article} {colour} pot",
    ),
    "backpack": ObjectType(
        ("red", "blue", "green", "black", "purple", "orange", "grey"),
        0.15,
        0.8,
        height=0.3,
        bulky=True,
        facing="viewer",
        shadow_width=0.6,
    ),
    "shoe": ObjectType(
        ("red", "blue", "white", "black", "brown", "green"), 0.13, 1.05, facing="sideways", shadow_width=0.6
    ),
    "lamp": ObjectType(
        ("white", "yellow", "red", "blue", "green", "pink", "turquoise"), 0.1, 1.05, height=0.3, bulky=True
    ),
    "box": ObjectType(
        ("brown", "white", "blue", "red"), 0.11, 1.0, bulky=True, exceptions={"brown": "a cardboard box"}
    ),
    "cushion": ObjectType(
        ("red", "blue", "green", "yellow", "grey", "white", "purple", "turquoise"),
        0.17,
        1.0,
        bulky=True,
        facing="viewer",
    ),
    "car": ObjectType(
        ("red", "blue", "green", "yellow", "black", "orange", "wooden"), 0.11, 1.2, phrase="{article} {colour} toy car"
    ),
    "hat": ObjectType(("red", "blue", "green", "black", "brown", "white", "yellow"), 0.15, 0.85, height=0.08),
    "teddy bear": ObjectType(
        ("brown", "white", "pink", "grey", "blue"), 0.11, 1.05, height=0.2, bulky=True, facing="viewer"
    ),
    "kettle": ObjectType(
        ("metal", "white", "red", "black", "turquoise"), 0.1, 1.05, height=0.17, bulky=True, facing="sideways"
    ),
    "pan": ObjectType(("black", "red", "metal", "blue"), 0.15, 0.95, bulky=True),
    "basket": ObjectType(("brown", "white", "blue", "pink"), 0.13, 1.05, height=0.1, bulky=True, facing="viewer"),
    "clock": ObjectType(
        ("red", "white", "black", "wooden", "yellow", "green"), 0.075, 1.3, height=0.15, facing="viewer"
    ),
    "banana": ObjectType((), 0.08, 1.35, phrase="a banana"),
    "phone": ObjectType(("black", "white", "red", "blue", "pink"), 0.08, 1.5, shadow_width=0.6),
    "guitar": ObjectType(
        ("wooden", "black", "red", "white"), 0.12, 0.85, height=0.35, bulky=True, facing="viewer", shadow_width=0.6
    ),
    "watering can": ObjectType(
        ("green", "blue", "metal", "red", "yellow"), 0.12, 1.0, height=0.14, bulky=True, facing="sideways"
    ),
}
TYPE_NAMES = list(OBJECTS)


@dataclass(frozen=True)
class FurnitureType:
    """Something that things are put on."""

    materials: tuple[str, ...]
    holds: tuple[str, ...]
    """The object types one finds there."""
    height: tuple[float, float]
    """Range of the height of the surface, in metres."""
    phrase: str = "a {material} {noun}"
    exceptions: dict[str, str] = field(default_factory=dict)
    """Phrases for particular materials."""
    preposition: str = "on"
    """Where a person is who uses it."""


def _everything_but(*left_out: str) -> tuple[str, ...]:
    return tuple(name for name in TYPE_NAMES if name not in left_out)


FURNITURE: dict[str, FurnitureType] = {
    "table": FurnitureType(
        ("wooden", "white", "black"), _everything_but("shoe", "cushion", "guitar"), (0.72, 0.72), preposition="at"
    ),
    "desk": FurnitureType(
        ("wooden", "white", "black"),
        _everything_but("shoe", "cushion", "guitar", "ball", "pan"),
        (0.74, 0.74),
        preposition="at",
    ),
    "counter": FurnitureType(
        ("white", "black", "grey"),
        ("mug", "bowl", "bottle", "book", "laptop", "remote", "keys", "apple", "plant", "box")
        + ("kettle", "pan", "banana", "phone", "clock", "basket"),
        (0.9, 0.9),
        phrase="a {material} kitchen counter",
        preposition="at",
    ),
    "shelf": FurnitureType(
        ("wooden", "white", "black"),
        ("mug", "bowl", "bottle", "book", "keys", "apple", "plant", "ball", "box", "car", "lamp", "remote")
        + ("clock", "teddy bear", "basket", "hat", "phone", "kettle", "watering can"),
        (0.7, 1.1),
    ),
    "sofa": FurnitureType(
        ("grey", "blue", "red", "green", "brown"),
        ("book", "laptop", "remote", "keys", "ball", "backpack", "cushion", "box", "car", "apple", "bottle")
        + ("teddy bear", "guitar", "phone", "hat", "banana"),
        (0.42, 0.42),
    ),
    "bed": FurnitureType(
        ("white", "blue", "pink", "grey"),
        ("book", "laptop", "remote", "keys", "ball", "backpack", "cushion", "box", "shoe", "car", "mug")
        + ("teddy bear", "guitar", "phone", "hat"),
        (0.5, 0.5),
    ),
    "floor": FurnitureType(
        ("wooden", "tiled", "carpet"),
        ("book", "bottle", "keys", "ball", "backpack", "shoe", "box", "car", "plant", "cushion", "lamp", "bowl")
        + ("teddy bear", "guitar", "basket", "hat", "watering can", "clock"),
        (0.0, 0.0),
        phrase="the {material} floor",
        exceptions={"carpet": "the carpet"},
    ),
    "armchair": FurnitureType(
        ("grey", "blue", "red", "green", "brown"),
        ("book", "laptop", "remote", "keys", "ball", "backpack", "cushion", "teddy bear", "guitar", "phone", "hat"),
        (0.43, 0.43),
    ),
    "nightstand": FurnitureType(
        ("wooden", "white", "black"),
        ("book", "phone", "lamp", "clock", "mug", "bottle", "keys", "remote", "plant", "apple"),
        (0.56, 0.56),
    ),
    "washing machine": FurnitureType(
        ("white", "grey", "black"),
        ("bottle", "box", "basket", "watering can", "bowl", "keys", "phone", "hat", "plant", "mug"),
        (0.85, 0.85),
    ),
    "windowsill": FurnitureType(
        ("white", "wooden", "grey"),
        ("plant", "watering can", "mug", "book", "clock", "bottle", "teddy bear", "apple", "banana", "keys", "bowl")
        + ("phone",),
        (0.85, 1.0),
    ),
}
FURNITURE_NAMES = list(FURNITURE)
SURFACES = [(name, material) for name, kind in FURNITURE.items() for material in kind.materials]
"""Every furniture with every material: the classes of the surface head."""

ROOMS: dict[str, dict[str, int]] = {
    "kitchen": {"counter": 6, "table": 4, "shelf": 1, "floor": 2, "windowsill": 2},
    "living room": {"sofa": 5, "armchair": 4, "table": 4, "shelf": 2, "floor": 2, "windowsill": 1},
    "bedroom": {"bed": 6, "nightstand": 4, "desk": 1, "shelf": 1, "floor": 2, "table": 1, "windowsill": 1},
    "office": {"desk": 6, "shelf": 3, "table": 2, "floor": 2, "armchair": 1, "windowsill": 1},
    "hallway": {"floor": 4, "shelf": 2, "table": 4},
    "bathroom": {"washing machine": 5, "floor": 3, "shelf": 1, "windowsill": 1},
}
"""Each room with the furniture that stands in it and how often it is looked at."""
ROOM_NAMES = list(ROOMS)

ROOMLESS = ("shelf", "windowsill")
"""Furniture that fills the picture, so that nobody could tell the room."""

ACTIVITIES: dict[str, dict[str, tuple[str, ...]]] = {
    "reading": {"desk": (), "sofa": (), "bed": (), "table": ()},
    "sleeping": {"sofa": (), "bed": ()},
    "cooking": {"counter": ()},
    "eating": {"table": ("kitchen", "living room")},
    "watching television": {"table": ("living room",), "floor": ("living room",)},
}
"""What a person may be doing, at which furniture, and in which rooms if not in all of them."""
ACTIVITY_NAMES = list(ACTIVITIES)


def activities_at(room: str, furniture: str) -> list[str]:
    """What somebody may be doing there."""
    return [
        name
        for name, places in ACTIVITIES.items()
        if furniture in places and (not places[furniture] or room in places[furniture])
    ]


IN_FRONT_PIXELS = 28
"""Two things further apart than this in a 256-pixel picture stand one in front of the other."""


class Thing(NamedTuple):
    """What a caption says of one object: its type, and its colour if that is named."""

    type: str
    colour: str | None


@dataclass
class Seen:
    """An object that a picture shows well enough to be named."""

    type: str
    colour: str | None
    u: float
    v: float
    """Where it stands, in pixels of the 256-pixel picture."""
    pixels: int
    """How many of those pixels show it."""

    @property
    def thing(self) -> Thing:
        return Thing(self.type, self.colour)


@dataclass
class Truth:
    """What a picture shows: everything that its caption is made of."""

    room: str
    furniture: str
    material: str
    objects: list[Seen]
    activity: str | None = None
    """What the person in the picture is doing, if there is one."""

    def to_json(self) -> dict:
        return {**asdict(self), "caption": caption(self)}

    @classmethod
    def from_json(cls, data: dict) -> Truth:
        objects = [Seen(o["type"], o["colour"], o["u"], o["v"], o["pixels"]) for o in data["objects"]]
        return cls(data["room"], data["furniture"], data["material"], objects, data["activity"])


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def name_thing(thing: Thing) -> str:
    """`a red mug`, `a set of keys`, `a plant in an orange pot`."""
    kind = OBJECTS[thing.type]
    if thing.colour is None:
        return kind.phrase
    phrase = kind.exceptions.get(thing.colour, kind.phrase)
    return phrase.format(article=_article(thing.colour), colour=thing.colour, noun=thing.type)


def name_surface(furniture: str, material: str) -> str:
    """`a wooden desk`, `the tiled floor`, `the carpet`."""
    kind = FURNITURE[furniture]
    return kind.exceptions.get(material, kind.phrase).format(material=material, noun=furniture)


def caption(truth: Truth) -> str:
    """The one caption of a scene: the sentence follows from how many things there are and how they stand.

    Objects are named from left to right, so that the same picture always gets
    the same words and a wrong word is a wrong sight, never a matter of style.
    """
    surface = name_surface(truth.furniture, truth.material)
    room = "" if truth.furniture in ROOMLESS else f" in the {truth.room}"
    objects = sorted(truth.objects, key=lambda seen: seen.u)
    names = [name_thing(seen.thing) for seen in objects]
    if not objects:
        return _name_empty(truth, surface) + room
    person = f", where a person is {truth.activity}" if truth.activity else ""
    if len(objects) == 1:
        return f"there is {names[0]} on {surface}{room}{person}"
    if len(objects) == 2:
        return f"{_relate(objects, names)} on {surface}{room}{person}"
    return f"{', '.join(names[:-1])} and {names[-1]} on {surface}{room}{person}"


def _name_empty(truth: Truth, surface: str) -> str:
    if truth.activity:
        return f"a person is {truth.activity} {FURNITURE[truth.furniture].preposition} {surface}"
    if truth.furniture == "floor":
        return f"an empty {surface.removeprefix('the ')}"
    return f"{surface} with nothing on it"


def _relate(objects: list[Seen], names: list[str]) -> str:
    lower_by = objects[0].v - objects[1].v
    if abs(lower_by) <= IN_FRONT_PIXELS:
        return f"{names[0]} next to {names[1]}"
    front, back = (0, 1) if lower_by > 0 else (1, 0)
    return f"{names[front]} in front of {names[back]}"


def all_things() -> list[Thing]:
    return [Thing(name, colour) for name, kind in OBJECTS.items() for colour in (kind.colours or (None,))]


def vocabulary() -> list[str]:
    """Every word that a caption can hold, sorted."""
    words: set[str] = set(
        "there is an a in front of next to and , on the with nothing it empty where person is at".split()
    )
    words.update(word for name in ACTIVITY_NAMES for word in name.split())
    for thing in all_things():
        words.update(name_thing(thing).split())
    for furniture, material in SURFACES:
        words.update(name_surface(furniture, material).split())
    for room in ROOM_NAMES:
        words.update(room.split())
    return sorted(words)


class Parsed(NamedTuple):
    """What a caption claims."""

    things: list[Thing]
    surface: tuple[str, str] | None
    room: str | None
    activity: str | None


def _longest_first(phrases) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True)))


_THING_OF_PHRASE = {name_thing(thing): thing for thing in all_things()}
_THING_PATTERN = _longest_first(_THING_OF_PHRASE)
# Without the article, because an empty floor is "an empty tiled floor".
_SURFACE_OF_PHRASE = {name_surface(*surface).split(" ", 1)[1]: surface for surface in SURFACES}
_SURFACE_PATTERN = _longest_first(_SURFACE_OF_PHRASE)
_ROOM_PATTERN = re.compile("in the (" + "|".join(ROOM_NAMES) + ")")
_ACTIVITY_PATTERN = re.compile("a person is (" + "|".join(ACTIVITY_NAMES) + ")")


def parse(text: str) -> Parsed:
    """Reads a caption back; words outside the grammar are passed over."""
    text = text.replace(" ,", ",")
    surface = _SURFACE_PATTERN.search(text)
    room = _ROOM_PATTERN.search(text)
    activity = _ACTIVITY_PATTERN.search(text)
    return Parsed(
        [_THING_OF_PHRASE[phrase] for phrase in _THING_PATTERN.findall(text)],
        _SURFACE_OF_PHRASE[surface.group()] if surface else None,
        room.group(1) if room else None,
        activity.group(1) if activity else None,
    )
