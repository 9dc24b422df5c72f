"""Scenes as a vision-language model describes them at length, and questions about any part of them.

Objects, people and pursuits come from ``grammar.py`` and from WordNet (``frames.Vocabulary``).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import grammar
from frames import Vocabulary
from grammar import article, sentence

CLOTHES = "jeans,a blue shirt,a black jacket,a white coat,an orange vest,a red hat,a grey hoodie,a striped dress,an apron,sunglasses,a backpack,a dark suit,a yellow raincoat,gloves,a uniform,a green scarf".split(
    ","
)
VIEWPOINTS = "from a low angle,from above,through a doorway,from across the room,from the middle of the floor,at eye level,from a moving robot,from the far end".split(
    ","
)
SURFACES = "tiled,wooden,grey concrete,polished,carpeted,gravel,brick,white,dirty,wet,marble,asphalt".split(",")
LIGHTS = (
    "Sunlight comes in through a large window.|The lighting is artificial and even.|The room is rather dark.|It is a bright sunny day.|"
    "The sky is overcast.|Ceiling lamps illuminate the area.|It appears to be evening.|The light is warm and soft.|Strong shadows fall on the floor."
).split("|")
MOODS = (
    "The overall atmosphere is calm.|The space looks cluttered.|Everything seems tidy and organized.|The setting suggests a workplace.|"
    "It looks like a typical home.|The area seems busy.|There is no text visible in the image.|The scene conveys a sense of everyday life.|"
    "The image is slightly blurry.|The walls are painted in a light color.|Several cables run along the wall.|A sign is mounted on the wall."
).split("|")


@dataclass(frozen=True)
class View:
    """What a detailed caption tells: a place, things with their spots, a person with a pursuit."""

    place: str
    things: tuple[grammar.Thing, ...]
    person: str
    clothes: str
    pursuit: str
    surface: str
    light: str
    mood: str


def random_view(rng: random.Random, words: Vocabulary) -> View:
    def thing() -> grammar.Thing:
        noun = grammar.random_noun(rng, words.things)
        anchor = rng.choice(
            (rng.choice(grammar.OBJECTS), "floor", "wall", "table", "shelf", "desk", "counter", "window")
        )
        return grammar.Thing(noun, grammar.random_attribute(rng), rng.choice(grammar.RELATIONS), anchor)

    person = rng.choice(grammar.PEOPLE) if rng.random() < 0.6 else article(rng.choice(words.people))
    pursuit = rng.choice(grammar.ACTIONS) if rng.random() < 0.5 else rng.choice(words.doing)
    if rng.random() < 0.4:
        pursuit += f" near the {thing().noun}"
    return View(
        rng.choice(grammar.PLACES),
        tuple(thing() for _ in range(rng.randint(3, 6))),
        person if rng.random() < 0.65 else "",
        rng.choice(CLOTHES),
        pursuit,
        rng.choice(SURFACES),
        rng.choice(LIGHTS),
        rng.choice(MOODS),
    )


def changed(rng: random.Random, view: View, words: Vocabulary) -> View:
    """The view with one part replaced: a near miss."""
    other = random_view(rng, words)
    position = rng.randrange(len(view.things))
    thing = view.things[position]
    match rng.randrange(5):
        case 0:
            return replace(view, place=other.place)
        case 1:
            return replace(view, person=other.person, pursuit=other.pursuit)
        case 2:
            thing = replace(thing, attribute=rng.choice(grammar.COLOURS).replace("-", " "))
        case 3:
            thing = replace(thing, noun=other.things[0].noun)
        case _:
            thing = replace(thing, relation=other.things[0].relation, anchor=other.things[0].anchor)
    return replace(view, things=view.things[:position] + (thing,) + view.things[position + 1 :])


def _remark(rng: random.Random, thing: grammar.Thing) -> str:
    phrase, side = article(thing.phrase), rng.choice(("left", "right"))
    return rng.choice(
        (
            f"There is {thing.placed}.",
            f"{sentence(phrase)} can be seen {thing.relation} the {thing.anchor}.",
            f"On the {side} side of the image, there is {phrase}.",
            f"In the background, {phrase} is visible.",
            f"{sentence(thing.placed)} is also in view.",
            f"To the {side} of the frame stands {phrase}.",
            f"Near the {thing.anchor}, you can see {phrase}.",
            f"A part of {phrase} is visible at the edge.",
            f"Further away, there is {thing.placed}.",
            f"The {thing.anchor} has {phrase} {thing.relation} it.",
        )
    )


def detailed(rng: random.Random, view: View) -> str:
    """Four to nine sentences in one of several manners."""
    order = rng.sample(view.things, len(view.things))
    first, rest = order[0], order[1:]
    opening = rng.choice(
        (
            f"The image shows a {view.place} with {first.placed}.",
            f"The image depicts the interior of a {view.place}.  {sentence(first.placed)} is the main focus.",
            f"This photo shows {first.placed} in a {view.place}, seen {rng.choice(VIEWPOINTS)}.",
            f"A {view.place} is shown {rng.choice(VIEWPOINTS)}. {sentence(first.placed)} is in the foreground.",
            f"In this video frame, {article(first.phrase)} is {first.relation} the {first.anchor} of a {view.place}.",
            f"The camera is pointed at {article(first.phrase)} {first.relation} the {first.anchor} in the {view.place}.",
            f"A view of a {view.place} with a {view.surface} floor. In the center, there is {first.placed}.",
        )
    )
    middle = [_remark(rng, thing) for thing in rest]
    if view.person:
        middle.insert(
            rng.randint(0, len(middle)),
            rng.choice(
                (
                    f"{sentence(view.person)} is {view.pursuit}, wearing {view.clothes}.",
                    f"{sentence(view.person)} in {view.clothes} can be seen {view.pursuit}.",
                    f"There is {view.person} {view.pursuit} in the {view.place}.",
                    f"On the {rng.choice(('left', 'right'))}, {view.person} wearing {view.clothes} is {view.pursuit}.",
                )
            ),
        )
    closing = [text for text in (f"The floor is {view.surface}.", view.light, view.mood) if rng.random() < 0.55]
    return " ".join([opening, *middle, *closing]).replace("  ", " ")


def question(rng: random.Random, view: View) -> str:
    """About any thing or the person, in the words somebody may use."""
    thing = rng.choice(view.things)
    other = rng.choice(view.things)
    forms = [
        f"where is the {thing.phrase}?",
        f"Where did you see {article(thing.phrase)}?",
        f"what was {thing.relation} the {thing.anchor}?",
        f"is there {article(thing.noun)} {thing.relation} the {thing.anchor}",
        f"I am looking for my {thing.noun}, it is {thing.attribute or 'somewhere'}",
        f"When was the {thing.noun} in the {view.place}?",
        f"did you notice the {thing.phrase} next to the {other.noun}?",
        f"show me the {view.place} with the {thing.phrase}",
        f"Which place had both {article(thing.noun)} and {article(other.noun)}?",
        f"what colour was the {thing.noun} {thing.relation} the {thing.anchor}?",
        f"where have I put the {thing.noun}",
        f"What did the {view.place} look like?",
        f"go to the {thing.phrase} {thing.relation} the {thing.anchor}",
        f"the {view.place} where the {thing.noun} is",
    ]
    if view.person:
        who = view.person.split(" ", 1)[-1]
        forms += 2 * [
            f"what was the {who} in the {view.place} doing?",
            f"Who was {view.pursuit}?",
            f"when did you see {view.person} {view.pursuit}?",
            f"Was somebody {view.pursuit} in the {view.place}?",
            f"where was the person wearing {view.clothes}?",
            f"did {view.person} take the {thing.phrase}?",
        ]
    return rng.choice(forms)


def short(rng: random.Random, view: View) -> str:
    thing, other = rng.sample(view.things, 2)
    forms = [
        thing.placed,
        f"{thing.placed} in a {view.place}",
        f"{article(thing.phrase)} next to {article(other.phrase)}",
        f"a {view.place} with {article(thing.phrase)}",
        f"{thing.phrase}, {other.phrase}, {view.place}",
        f"{article(thing.phrase)} and {article(other.phrase)} {other.relation} the {other.anchor}",
    ]
    if view.person:
        forms += [
            f"{view.person} {view.pursuit}",
            f"{view.person} wearing {view.clothes} in a {view.place}",
            f"{view.person} {view.pursuit} by {article(thing.phrase)}",
        ]
    return rng.choice(forms)


def view_group(rng: random.Random, words: Vocabulary) -> list[str]:
    """A scene and a near miss, each at length, in short and asked about."""
    view = random_view(rng, words)
    near = changed(rng, view, words)
    texts = [detailed(rng, view), detailed(rng, near)]
    texts += [question(rng, view) for _ in range(3)] + [question(rng, near)]
    return texts + [short(rng, view), short(rng, near)]
