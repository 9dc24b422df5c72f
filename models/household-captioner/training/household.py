"""The simulated flat: its rooms and furniture on a map, the things its people own, and how these move in three days.

Only tables; `flat.py` sends a robot through it. Nothing here is known to the training.
"""

from __future__ import annotations

from typing import NamedTuple

Point = tuple[float, float]
"""x and y in metres in the map frame."""


class Spot(NamedTuple):
    """A piece of furniture, and where the robot stands to look at it."""

    room: str
    furniture: str
    material: str
    at: Point
    """The middle of its surface."""
    seen_from: Point


ROOM_BOUNDS: dict[str, tuple[Point, Point]] = {
    "kitchen": ((0.0, 0.0), (4.0, 3.4)),
    "living room": ((4.0, 0.0), (9.6, 3.4)),
    "hallway": ((0.0, 3.4), (9.6, 4.8)),
    "bedroom": ((0.0, 4.8), (4.6, 8.4)),
    "office": ((4.6, 4.8), (9.6, 8.4)),
}
"""Lower left and upper right corner of each room."""

# In the order of a round through the flat.
SPOTS: dict[str, Spot] = {
    "hallway table": Spot("hallway", "table", "wooden", (0.9, 4.5), (1.4, 3.7)),
    "hallway floor": Spot("hallway", "floor", "tiled", (3.0, 4.2), (3.9, 3.9)),
    "kitchen counter": Spot("kitchen", "counter", "white", (0.5, 0.4), (1.2, 1.2)),
    "kitchen table": Spot("kitchen", "table", "white", (2.6, 2.1), (1.7, 1.7)),
    "sofa": Spot("living room", "sofa", "grey", (7.0, 0.6), (7.0, 1.8)),
    "living room table": Spot("living room", "table", "wooden", (7.1, 2.0), (6.1, 2.4)),
    "living room shelf": Spot("living room", "shelf", "wooden", (9.3, 2.6), (8.3, 2.4)),
    "living room carpet": Spot("living room", "floor", "carpet", (5.3, 1.2), (4.6, 2.1)),
    "bed": Spot("bedroom", "bed", "blue", (1.1, 7.4), (1.6, 6.2)),
    "nightstand": Spot("bedroom", "nightstand", "white", (3.7, 7.7), (3.3, 6.8)),
    "desk": Spot("office", "desk", "wooden", (8.6, 7.8), (8.2, 6.8)),
    "office shelf": Spot("office", "shelf", "white", (5.0, 7.9), (5.4, 6.9)),
}

OBJECTS: dict[str, tuple[str, str | None]] = {
    "red-mug": ("mug", "red"),
    "blue-mug": ("mug", "blue"),
    "purple-book": ("book", "purple"),
    "green-book": ("book", "green"),
    "keys": ("keys", None),
    "grey-laptop": ("laptop", "grey"),
    "black-remote": ("remote", "black"),
    "red-apple": ("apple", "red"),
    "green-apple": ("apple", "green"),
    "orange-bowl": ("bowl", "orange"),
    "blue-bottle": ("bottle", "blue"),
    "white-plant": ("plant", "white"),
    "brown-plant": ("plant", "brown"),
    "green-backpack": ("backpack", "green"),
    "red-shoe": ("shoe", "red"),
    "yellow-ball": ("ball", "yellow"),
    "pink-lamp": ("lamp", "pink"),
    "red-cushion": ("cushion", "red"),
    "orange-car": ("car", "orange"),
    "parcel": ("box", "brown"),
    "black-phone": ("phone", "black"),
    "brown-bear": ("teddy bear", "brown"),
    "wooden-clock": ("clock", "wooden"),
}
"""Each thing by its id, with its type and colour."""

AWAY = None
"""Out of the flat, eaten, or not there yet."""

AT_FIRST: dict[str, str] = {
    "red-mug": "kitchen counter",
    "blue-mug": "kitchen table",
    "purple-book": "nightstand",
    "green-book": "office shelf",
    "keys": "hallway table",
    "grey-laptop": "desk",
    "black-remote": "living room table",
    "red-apple": "kitchen counter",
    "green-apple": "kitchen table",
    "orange-bowl": "kitchen counter",
    "blue-bottle": "kitchen table",
    "white-plant": "living room shelf",
    "brown-plant": "hallway table",
    "green-backpack": "hallway floor",
    "red-shoe": "hallway floor",
    "yellow-ball": "living room carpet",
    "pink-lamp": "nightstand",
    "red-cushion": "sofa",
    "orange-car": "living room carpet",
    "black-phone": "living room table",
    "brown-bear": "bed",
    "wooden-clock": "office shelf",
}
"""Where things are when the robot starts; what is not here is away."""


class Move(NamedTuple):
    day: int
    """1 to 3."""
    hour: float
    thing: str
    to: str | None


MOVES: list[Move] = [
    # Day 1. The red mug goes to the desk with its owner, and ends the day by the sofa.
    Move(1, 8.9, "red-mug", "desk"),
    Move(1, 9.0, "green-backpack", AWAY),
    Move(1, 9.0, "keys", AWAY),
    Move(1, 9.5, "blue-bottle", "desk"),
    Move(1, 11.5, "green-book", "desk"),
    Move(1, 12.2, "green-apple", AWAY),
    Move(1, 12.4, "black-phone", "kitchen table"),
    Move(1, 14.0, "orange-car", "kitchen table"),
    Move(1, 14.5, "yellow-ball", "hallway floor"),
    Move(1, 16.8, "keys", "hallway table"),
    Move(1, 16.8, "green-backpack", "hallway floor"),
    Move(1, 17.0, "red-mug", "living room table"),
    Move(1, 17.1, "grey-laptop", "sofa"),
    Move(1, 19.1, "grey-laptop", "desk"),
    Move(1, 19.3, "purple-book", "sofa"),
    Move(1, 19.4, "black-remote", "sofa"),
    Move(1, 19.6, "orange-bowl", "living room table"),
    Move(1, 21.5, "purple-book", "bed"),
    Move(1, 21.8, "black-phone", "nightstand"),
    Move(1, 22.0, "red-mug", "kitchen counter"),
    Move(1, 22.0, "green-book", "office shelf"),
    # Day 2. A parcel comes; the keys are put down in the wrong room.
    Move(2, 8.8, "red-mug", "desk"),
    Move(2, 9.0, "black-phone", "hallway table"),
    Move(2, 9.1, "purple-book", "nightstand"),
    Move(2, 9.2, "orange-bowl", "kitchen counter"),
    Move(2, 9.3, "black-remote", "living room table"),
    Move(2, 10.0, "green-backpack", AWAY),
    Move(2, 10.0, "keys", AWAY),
    Move(2, 11.6, "parcel", "hallway floor"),
    Move(2, 12.1, "red-apple", AWAY),
    Move(2, 12.3, "blue-mug", "kitchen counter"),
    Move(2, 13.5, "yellow-ball", "living room carpet"),
    Move(2, 14.4, "orange-car", "living room carpet"),
    Move(2, 16.0, "green-backpack", "kitchen table"),
    Move(2, 16.0, "keys", "kitchen counter"),
    Move(2, 16.3, "parcel", "office shelf"),
    Move(2, 16.6, "red-shoe", "living room carpet"),
    Move(2, 17.2, "red-mug", "nightstand"),
    Move(2, 17.4, "blue-bottle", "kitchen table"),
    Move(2, 18.5, "black-phone", "living room table"),
    Move(2, 19.2, "red-cushion", "bed"),
    Move(2, 19.3, "grey-laptop", "bed"),
    Move(2, 19.5, "blue-mug", "living room table"),
    Move(2, 19.8, "purple-book", "living room shelf"),
    Move(2, 22.0, "red-mug", "kitchen counter"),
    Move(2, 22.1, "grey-laptop", "desk"),
    # Day 3. The remote is lost in the bedroom, and the keys on the sofa.
    Move(3, 8.7, "green-apple", "kitchen table"),
    Move(3, 8.8, "red-mug", "desk"),
    Move(3, 9.0, "red-cushion", "sofa"),
    Move(3, 9.2, "green-backpack", "hallway floor"),
    Move(3, 9.4, "keys", "sofa"),
    Move(3, 9.5, "blue-mug", "kitchen table"),
    Move(3, 10.9, "red-shoe", "hallway floor"),
    Move(3, 11.4, "green-book", "sofa"),
    Move(3, 12.4, "black-remote", "bed"),
    Move(3, 13.9, "brown-bear", "living room carpet"),
    Move(3, 14.2, "yellow-ball", "office shelf"),
    Move(3, 14.5, "white-plant", "living room table"),
    Move(3, 16.2, "orange-car", "hallway floor"),
    Move(3, 17.0, "red-mug", "living room shelf"),
    Move(3, 17.3, "orange-bowl", "kitchen table"),
    Move(3, 19.0, "green-book", "desk"),
    Move(3, 19.2, "keys", "hallway table"),
    Move(3, 19.4, "pink-lamp", "desk"),
]
"""Who moves things is not seen; the robot only finds them elsewhere."""


class Stay(NamedTuple):
    day: int
    begins: float
    ends: float
    """Hours of the day."""
    spot: str
    activity: str


STAYS: list[Stay] = [
    Stay(1, 12.4, 13.5, "desk", "reading"),
    Stay(1, 17.4, 18.4, "kitchen counter", "cooking"),
    Stay(1, 19.9, 21.0, "living room table", "watching television"),
    Stay(2, 7.5, 8.6, "bed", "sleeping"),
    Stay(2, 17.4, 18.4, "kitchen counter", "cooking"),
    Stay(2, 12.4, 13.5, "desk", "reading"),
    Stay(2, 19.9, 21.0, "living room table", "watching television"),
    Stay(3, 7.5, 8.6, "bed", "sleeping"),
    Stay(3, 14.9, 15.9, "desk", "reading"),
    Stay(3, 17.4, 18.4, "kitchen counter", "cooking"),
]
"""When somebody is to be seen, and what they do; one spot has one activity."""
