"""Where people keep things, and which colours nobody takes for each other: tables."""

from __future__ import annotations

KEPT_IN: dict[str, tuple[str, ...]] = {
    # Things of the captioner's world, where a household may have none of.
    "book": ("living room", "bedroom", "office"),
    "laptop": ("office", "living room", "bedroom"),
    "remote": ("living room", "bedroom"),
    "keys": ("hallway", "kitchen", "living room"),
    "apple": ("kitchen", "living room"),
    "banana": ("kitchen", "living room"),
    "ball": ("living room", "bedroom", "hallway"),
    "backpack": ("hallway", "bedroom", "office"),
    "shoe": ("hallway", "bedroom"),
    "lamp": ("bedroom", "living room", "office"),
    "cushion": ("living room", "bedroom"),
    "car": ("living room", "bedroom"),
    "hat": ("hallway", "bedroom"),
    "teddy bear": ("bedroom", "living room"),
    "kettle": ("kitchen",),
    "pan": ("kitchen",),
    "bottle": ("kitchen", "living room", "office"),
    "bowl": ("kitchen", "living room"),
    "mug": ("kitchen", "living room", "office"),
    "guitar": ("living room", "bedroom", "office"),
    "phone": ("living room", "bedroom", "office", "hallway"),
    "watering can": ("living room", "kitchen", "bathroom", "hallway"),
    # Things that its captions have no word for.
    "umbrella": ("hallway",),
    "coat": ("hallway", "bedroom"),
    "toothbrush": ("bathroom",),
    "towel": ("bathroom", "kitchen"),
    "bar of soap": ("bathroom", "kitchen"),
    "hairbrush": ("bathroom", "bedroom"),
    "toaster": ("kitchen",),
    "fork": ("kitchen",),
    "spoon": ("kitchen",),
    "plate": ("kitchen",),
    "corkscrew": ("kitchen",),
    "loaf of bread": ("kitchen",),
    "stapler": ("office",),
    "pencil": ("office",),
    "calculator": ("office",),
    "pair of scissors": ("office", "kitchen"),
    "blanket": ("bedroom", "living room"),
    "pair of pyjamas": ("bedroom",),
}
"""The rooms where looking first is sensible."""

UNLISTED: dict[str, tuple[str, ...]] = {
    "wok": ("kitchen",),
    "funnel": ("kitchen",),
    "trivet": ("kitchen",),
    "strainer": ("kitchen",),
    "percolator": ("kitchen",),
    "carafe": ("kitchen", "living room"),
    "loofah": ("bathroom",),
    "bathmat": ("bathroom",),
    "pillowcase": ("bedroom",),
    "bedspread": ("bedroom",),
    "nightlight": ("bedroom", "hallway"),
    "paperweight": ("office",),
    "protractor": ("office",),
    "typewriter": ("office",),
    "harmonica": ("living room", "bedroom"),
    "tambourine": ("living room", "bedroom"),
    "xylophone": ("living room", "bedroom"),
    "metronome": ("living room", "office"),
    "shoehorn": ("hallway",),
}
"""The same of things that no source file of engram names but dictionaries; README.md says what has learnt their names since."""

_ALIKE = (
    {"red", "orange", "pink", "purple", "brown"},
    {"blue", "turquoise", "purple", "green"},
    {"yellow", "orange", "wooden", "brown"},
    {"white", "grey", "metal"},
    {"black", "grey", "brown"},
)
"""Colours that an eye, or a captioner, may take for each other."""


_MATERIALS = {"wooden", "metal"}
"""What a thing is of leaves open which colour it has."""


def unlike(colour: str, other: str) -> bool:
    """Whether a thing that is the one is surely not the other."""
    if (colour in _MATERIALS) != (other in _MATERIALS):
        return False
    return colour != other and not any(colour in family and other in family for family in _ALIKE)
