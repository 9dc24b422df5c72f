"""Writes the demo data: what a robot sees in three days in a simulated flat.

    python flat.py --seed 2026 --out ../flat

The robot goes on rounds and looks at each piece of furniture from the same spot.
A place looks the same at each visit but for the light, the noise, and what people
have moved; now and then the robot stands still and takes the same picture again.

Files: `frames/*.jpg` and `frames.jsonl` (what a robot would deliver), `truth.jsonl`
(what the frames show) and `household.json` (the map, and what was moved when).
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import household
from invent import invent_individual, invent_light, invent_person, invent_place, new_seed, put_down
from people import Person
from render import jpeg_bytes
from scene import Individual, Item, Light, Place, Rendering, Scene, Sensor, render
from world import FURNITURE, Seen

MIDNIGHT = datetime(2025, 1, 1, tzinfo=UTC)
DAYS = 3
ROUNDS = [8.05, 10.4, 12.75, 15.2, 17.75, 20.1]
"""Hours of the day at which a round begins."""
SKIPPED = 0.17
"""The chance that something is in the way and a spot is passed by."""
LINGERING = 0.06
"""The chance that the robot stands still at a spot and takes two to four pictures."""
JPEG_QUALITY = 88


@dataclass(frozen=True)
class Visit:
    """One look at one spot; `pictures` of it within a few seconds."""

    time: datetime
    spot: str
    pictures: int


class Flat:
    """What stands where, as time goes on."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        activities = {stay.spot: stay.activity for stay in household.STAYS}
        spots = {name: _invent_spot(rng, spot, activities.get(name)) for name, spot in household.SPOTS.items()}
        self.places = {name: place for name, (place, _) in spots.items()}
        self._people = {name: person for name, (_, person) in spots.items()}
        self._individuals = {name: invent_individual(rng, *thing) for name, thing in household.OBJECTS.items()}
        self._lying: dict[str, dict[str, Item]] = {name: {} for name in self.places}
        self._moves = sorted(household.MOVES, key=lambda move: (move.day, move.hour))
        for thing, spot in household.AT_FIRST.items():
            self._put(thing, spot)

    def advance(self, time: datetime) -> None:
        """Moves everything that people have moved by then."""
        while self._moves and _time_of(self._moves[0].day, self._moves[0].hour) <= time:
            move = self._moves.pop(0)
            for lying in self._lying.values():
                lying.pop(move.thing, None)
            if move.to is not None:
                self._put(move.thing, move.to)

    def at(self, spot: str) -> tuple[Item, ...]:
        return tuple(self._lying[spot].values())

    def person_at(self, spot: str, time: datetime) -> Person | None:
        """Who is there at that time."""
        is_there = any(
            stay.spot == spot and _time_of(stay.day, stay.begins) <= time < _time_of(stay.day, stay.ends)
            for stay in household.STAYS
        )
        return self._people[spot] if is_there else None

    def id_of(self, type_name: str, colour: str | None) -> str:
        return next(name for name, thing in household.OBJECTS.items() if thing == (type_name, colour))

    def _put(self, thing: str, spot: str) -> None:
        individual, lying = self._individuals[thing], self._lying[spot]
        lying[thing] = _find_room(self._rng, self.places[spot], tuple(lying.values()), individual, self._people[spot])


def _invent_spot(rng: np.random.Generator, spot: household.Spot, activity: str | None) -> tuple[Place, Person | None]:
    """The spot, from where somebody can be seen who is there at times."""
    while True:
        is_inhabited = activity is not None
        place = invent_place(rng, spot.room, spot.furniture, spot.material, crowd=3, inhabited=is_inhabited)
        person = invent_person(rng, place, activity) if is_inhabited else None
        if render(Scene(place, (), _even_light(), person=person)).truth.activity == activity:
            return place, person


def _find_room(
    rng: np.random.Generator, place: Place, others: tuple[Item, ...], individual: Individual, person: Person | None
) -> Item:
    """Puts the thing where it neither hides nor is hidden, whether or not the person is there."""
    assert individual.type in FURNITURE[place.furniture].holds, (individual, place)
    for _ in range(400):
        item = put_down(rng, place, others, individual, person=person)
        if item and all(
            len(_clear_view(Scene(place, (*others, item), _even_light(), person=who))) == len(others) + 1
            for who in {None, person}
        ):
            return item
    raise RuntimeError(f"no room for {individual} on {place}")


def _clear_view(scene: Scene) -> list[Seen]:
    """The objects in view if all of them are plain to see, else nothing."""
    rendering = render(scene)
    return rendering.truth.objects if rendering.is_clear else []


def _even_light() -> Light:
    return Light((0.0, -0.3, 0.95), 0.6, 0.4)


def _time_of(day: int, hour: float) -> datetime:
    return MIDNIGHT + timedelta(days=day - 1, hours=hour)


def plan_visits(rng: np.random.Generator) -> Iterator[Visit]:
    """The rounds of all days, every other one the other way about."""
    spots = list(household.SPOTS)
    for day in range(1, DAYS + 1):
        for number, hour in enumerate(ROUNDS):
            time = _time_of(day, hour) + timedelta(seconds=int(rng.integers(0, 600)))
            for spot in spots if number % 2 == 0 else reversed(spots):
                time += timedelta(seconds=int(rng.integers(25, 80)))
                if rng.random() < SKIPPED:
                    continue
                lingers = rng.random() < LINGERING
                yield Visit(time, spot, int(rng.integers(2, 5)) if lingers else 1)


def _daylight(rng: np.random.Generator, time: datetime) -> tuple[Light, Sensor]:
    """Bright and neutral at noon, dim and warm when the lamps are lit."""
    light = invent_light(rng)
    hour = time.hour + time.minute / 60
    evening = min(1.0, max(0.0, (hour - 16.5) / 2.5))
    sensor = Sensor(
        exposure=rng.uniform(0.92, 1.1) - 0.14 * evening,
        red=1 + 0.06 * evening + rng.normal(0, 0.02),
        blue=1 - 0.10 * evening + rng.normal(0, 0.02),
        falloff=rng.uniform(0, 0.2),
        falloff_angle=rng.uniform(0, 2 * math.pi),
        noise=rng.uniform(1.5, 3.5) + 2.5 * evening,
        blur=rng.uniform(0.3, 0.6) if rng.random() < 0.15 else 0.0,
    )
    return light, sensor


def _take_picture(rng: np.random.Generator, flat: Flat, visit: Visit) -> Iterator[Rendering]:
    """All pictures of a visit: one scene, noise anew in each."""
    items, person = flat.at(visit.spot), flat.person_at(visit.spot, visit.time)
    while True:
        light, sensor = _daylight(rng, visit.time)
        scene = Scene(flat.places[visit.spot], items, light, sensor, person)
        if len(_clear_view(scene)) == len(items):
            break
    for _ in range(visit.pictures):
        yield render(replace(scene, sensor=replace(sensor, seed=new_seed(rng))))


def _pose(rng: np.random.Generator, spot: household.Spot) -> tuple[list[float], float]:
    """Where the robot believes it is: its odometry is good to some centimetres."""
    (x, y), (fx, fy) = spot.seen_from, spot.at
    theta = math.atan2(fy - y, fx - x) + rng.normal(0, 0.015)
    return [round(x + rng.normal(0, 0.02), 3), round(y + rng.normal(0, 0.02), 3), 0.0], round(theta, 3)


def write_frames(rng: np.random.Generator, out: Path) -> int:
    """Sends the robot through the flat; returns the number of frames."""
    flat, count = Flat(rng), 0
    with (out / "frames.jsonl").open("w") as frames, (out / "truth.jsonl").open("w") as truths:
        for visit in plan_visits(rng):
            flat.advance(visit.time)
            position, theta = _pose(rng, household.SPOTS[visit.spot])
            time = visit.time
            for rendering in _take_picture(rng, flat, visit):
                count += 1
                name = f"frames/{count:06}.jpg"
                (out / name).write_bytes(jpeg_bytes(rendering.picture, JPEG_QUALITY))
                frames.write(json.dumps(_frame(name, time, position, theta)) + "\n")
                truths.write(json.dumps(_truth(name, visit.spot, flat, rendering)) + "\n")
                time += timedelta(seconds=2)
    return count


def _frame(name: str, time: datetime, position: list[float], theta: float) -> dict:
    return {
        "file": name,
        "time": _stamp(time),
        "position": position,
        "theta": theta,
        "frame_id": "map",
        "map_id": "flat",
        "source": "front_camera",
    }


def _truth(name: str, spot: str, flat: Flat, rendering: Rendering) -> dict:
    truth = rendering.truth.to_json()
    objects = [{"id": flat.id_of(seen["type"], seen["colour"]), **seen} for seen in truth["objects"]]
    return {"file": name, "place": spot, **truth, "objects": objects}


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def write_household(out: Path) -> None:
    """The map and the story, for those who want to check an answer rather than a caption."""
    story = {
        "map_id": "flat",
        "rooms": {name: {"from": low, "to": high} for name, (low, high) in household.ROOM_BOUNDS.items()},
        "places": {name: spot._asdict() for name, spot in household.SPOTS.items()},
        "objects": {
            name: {"type": type_name, "colour": colour} for name, (type_name, colour) in household.OBJECTS.items()
        },
        "at_first": household.AT_FIRST,
        "moves": [
            {"time": _stamp(_time_of(move.day, move.hour)), "thing": move.thing, "to": move.to}
            for move in household.MOVES
        ],
        "stays": [
            {
                "from": _stamp(_time_of(stay.day, stay.begins)),
                "to": _stamp(_time_of(stay.day, stay.ends)),
                "place": stay.spot,
                "activity": stay.activity,
            }
            for stay in household.STAYS
        ],
    }
    (out / "household.json").write_text(json.dumps(story, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True, help="its frames are replaced")
    args = parser.parse_args()
    shutil.rmtree(args.out / "frames", ignore_errors=True)
    (args.out / "frames").mkdir(parents=True)
    count = write_frames(np.random.default_rng(args.seed), args.out)
    write_household(args.out)
    print(f"{count} frames in {args.out}")


if __name__ == "__main__":
    main()
