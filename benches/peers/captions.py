"""Writes what a robot would caption over weeks, in time order, and what people would ask about it.

The robot goes through places. Each has things that stay where they are for a while, and a frame shows
some of them, so that neighbouring captions resemble each other as a robot's do, and yet no two are
equal. Half are short, a third are long ones in the manner of big vision-language models, the rest is
what the project's own captioner says. The wording comes from the grammars that the models are trained
with; the queries are drawn from scenes of the same places and from scenes never seen.

    python captions.py --records 100000 --captions captions.txt --queries queries.txt
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"
sys.path += [str(MODELS / "caption-embedder/training"), str(MODELS / "household-captioner/training")]

import grammar  # noqa: E402
import world  # noqa: E402

PLACES = 400
"""Distinct views that the robot comes back to."""
FRAMES_A_VISIT = (3, 12)
CHANGE = 0.3
"""How likely a thing is moved, replaced or painted between two visits."""
SHORT, LONG = 0.5, 0.35
UNSEEN_QUERIES = 0.2
TRIES = 50


@dataclass
class Place:
    """A view as it is at the moment: for a big model and for the household's small one."""

    scene: grammar.Scene
    surface: tuple[str, str, str]
    """Room, furniture and its material."""


def household_surface(rng: random.Random) -> tuple[str, str, str]:
    room = rng.choice(sorted(world.ROOMS))
    furniture = rng.choice(sorted(world.ROOMS[room]))
    return room, furniture, rng.choice(world.FURNITURE[furniture].materials)


def household_caption(rng: random.Random, place: Place) -> str:
    """One to four things on a surface, as the shipped captioner puts it."""
    room, furniture, material = place.surface
    seen = []
    for name in rng.choices(world.FURNITURE[furniture].holds, k=rng.randint(1, 4)):
        colours = world.OBJECTS[name].colours
        colour = rng.choice(colours) if colours else None
        seen.append(world.Seen(name, colour, rng.uniform(20, 236), rng.uniform(60, 200), 400))
    return world.caption(world.Truth(room, furniture, material, seen))


def caption(rng: random.Random, place: Place) -> str:
    """What one frame of the place says; the things in view and their order differ by frame."""
    things = place.scene.things
    scene = replace(place.scene, things=tuple(rng.sample(things, rng.randint(2, len(things)))))
    kind = rng.random()
    if kind < SHORT:
        return grammar.short_caption(rng, scene)
    if kind < SHORT + LONG:
        return grammar.long_caption(rng, scene)
    return household_caption(rng, place)


def new_place(rng: random.Random) -> Place:
    return Place(grammar.random_scene(rng, []), household_surface(rng))


def changed(rng: random.Random, place: Place) -> Place:
    """The place at the next visit."""
    things = list(place.scene.things)
    rng.shuffle(things)
    scene = replace(place.scene, things=tuple(things))
    if rng.random() < CHANGE:
        scene = grammar.changed(rng, scene)
    return replace(place, scene=scene)


def captions(rng: random.Random, records: int, places: list[Place]) -> Iterator[str]:
    """Distinct captions; a place that has nothing new to say is left, in the end for a new one."""
    said: set[str] = set()
    while len(said) < records:
        number = rng.randrange(len(places))
        places[number] = changed(rng, places[number])
        for _ in range(rng.randint(*FRAMES_A_VISIT)):
            for _ in range(TRIES):
                text = caption(rng, places[number])
                if text not in said:
                    break
            else:
                places[number] = new_place(rng)
                break
            said.add(text)
            yield text
            if len(said) == records:
                return


def queries(rng: random.Random, count: int, places: list[Place]) -> list[str]:
    """Distinct questions, phrases and short descriptions."""
    texts: dict[str, None] = {}
    while len(texts) < count:
        place = new_place(rng) if rng.random() < UNSEEN_QUERIES else rng.choice(places)
        texts[query(rng, place)] = None
    return list(texts)


def query(rng: random.Random, place: Place) -> str:
    thing = rng.choice(place.scene.things)
    scene = replace(place.scene, things=(thing, *place.scene.things[1:]))
    make = rng.choice(
        (
            lambda: grammar.scene_question(rng, scene),
            lambda: thing.phrase,
            lambda: f"{thing.placed} in the {scene.place}",
            lambda: household_caption(rng, place),
        )
    )
    return make()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--query-count", type=int, default=1_200)
    parser.add_argument("--captions", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    args = parser.parse_args()
    rng = random.Random(4)
    places = [new_place(rng) for _ in range(PLACES)]
    # Drawn before the places change, so that more captions leave the queries as they are.
    args.queries.write_text("\n".join(queries(random.Random(5), args.query_count, places)) + "\n")
    with args.captions.open("w") as out:
        for text in captions(rng, args.records, places):
            out.write(text + "\n")


if __name__ == "__main__":
    main()
