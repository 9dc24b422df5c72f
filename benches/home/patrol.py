"""Lets a story happen and sends a robot through it: what it sees, frame by frame, with the truth of each.

The truth of a view is judged by the captioner's renderer, once for each state of
a spot; pictures, where they are asked for, are taken under the light of the hour
and show just what the truth says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

import training  # noqa: F401
import flat
from habits import Story
from invent import invent_individual, new_seed
from layout import Layout
from people import Person
from scene import Item, Rendering, Scene, render
from world import Truth

ROUNDS = (7.6, 9.8, 12.3, 14.8, 17.6, 20.2)
"""Hours of the day at which a round begins."""
SKIPPED = 0.12
"""The chance that something is in the way and a spot is passed by."""
LINGERING = 0.05
"""The chance that the robot stands still and takes two or three pictures."""
ON_A_SPOT = 3
"""Most things on a spot: the captioner knows scenes of up to four, people among them."""
POSITION_NOISE, HEADING_NOISE = 0.05, 0.03
"""Standard deviations of where the robot believes it is, in metres and radians."""
_EXPOSURES_MAX = 25


class Frame(NamedTuple):
    file: str
    time: datetime
    visit: int
    """Frames of one look at one spot share a number."""
    spot: str
    position: tuple[float, float]
    theta: float
    truth: Truth
    things: tuple[str, ...]
    """The ids of the objects of the truth, in its order."""
    scene: Scene


class Patrol:
    """A robot in a household; iterating over `frames` lets the days pass."""

    def __init__(self, rng: np.random.Generator, layout: Layout, story: Story, start: datetime):
        self._rng = rng
        self._layout, self._story, self._start = layout, story, start
        spots = {name: flat._invent_spot(rng, spot, story.activities.get(name)) for name, spot in layout.spots.items()}
        self._places = {name: place for name, (place, _) in spots.items()}
        self._people = {name: person for name, (_, person) in spots.items()}
        looks = {}
        for thing in story.belongings.values():
            # Twins look the same.
            looks.setdefault((thing.type, thing.colour), invent_individual(rng, thing.type, thing.colour))
        self._individuals = {name: looks[thing.type, thing.colour] for name, thing in story.belongings.items()}
        self._lying: dict[str, dict[str, Item]] = {name: {} for name in self._places}
        self._moves = list(story.moves)
        self._judged: dict[tuple, Truth] = {}
        for thing, spot in story.at_first.items():
            self._put(thing, spot)

    def frames(self, days: int) -> Iterator[Frame]:
        """The rounds of all days, every other one the other way about; the last day ends after any of its last four."""
        rng, count, visit = self._rng, 0, 0
        last_round = int(rng.integers(3, len(ROUNDS) + 1))
        for day in range(days):
            rounds = ROUNDS if day < days - 1 else ROUNDS[:last_round]
            for number, hour in enumerate(rounds):
                time = self._start + timedelta(days=day, hours=hour, seconds=int(rng.integers(0, 900)))
                spots = list(self._places)
                for spot in spots if (day + number) % 2 == 0 else reversed(spots):
                    time += timedelta(seconds=int(rng.integers(20, 60)))
                    if rng.random() < SKIPPED:
                        continue
                    visit += 1
                    for _ in range(int(rng.integers(2, 4)) if rng.random() < LINGERING else 1):
                        count += 1
                        yield self._look(count, visit, spot, time)
                        time += timedelta(seconds=2)

    def _look(self, number: int, visit: int, spot: str, time: datetime) -> Frame:
        self._advance(time)
        person = self._person_at(spot, time)
        lying = self._lying[spot]
        scene = Scene(self._places[spot], tuple(lying.values()), flat._even_light(), person=person)
        truth = self._judge(scene)
        ids = {(item.individual.type, item.individual.colour): name for name, item in lying.items()}
        things = tuple(ids[seen.type, seen.colour] for seen in truth.objects)
        (x, y), (fx, fy) = self._layout.spots[spot].seen_from, self._layout.spots[spot].at
        theta = math.atan2(fy - y, fx - x) + self._rng.normal(0, HEADING_NOISE)
        position = (
            round(x + self._rng.normal(0, POSITION_NOISE), 3),
            round(y + self._rng.normal(0, POSITION_NOISE), 3),
        )
        return Frame(f"frames/{number:06}.jpg", time, visit, spot, position, round(theta, 3), truth, things, scene)

    def _judge(self, scene: Scene) -> Truth:
        key = (scene.place.seed, scene.items, scene.person)
        if key not in self._judged:
            self._judged[key] = render(scene).truth
        return self._judged[key]

    def _advance(self, time: datetime) -> None:
        hour = (time - self._start).total_seconds() / 3600
        while self._moves and self._moves[0].hour <= hour:
            move = self._moves.pop(0)
            if move.to is None:
                self._take(move.thing)
            else:
                self._put(move.thing, move.to)

    def _take(self, thing: str) -> None:
        for lying in self._lying.values():
            lying.pop(thing, None)

    def _put(self, thing: str, spot: str) -> None:
        """Where there is no room, the thing stays where it is."""
        lying, individual = self._lying[spot], self._individuals[thing]
        if thing in lying or len(lying) >= ON_A_SPOT:
            return
        # Nobody could tell twins on one spot apart.
        if any(item.individual == individual for item in lying.values()):
            return
        try:
            item = flat._find_room(self._rng, self._places[spot], tuple(lying.values()), individual, self._people[spot])
        except RuntimeError:
            return
        self._take(thing)
        lying[thing] = item

    def _person_at(self, spot: str, time: datetime) -> Person | None:
        hour = (time - self._start).total_seconds() / 3600
        is_there = any(stay.spot == spot and stay.begins <= hour < stay.ends for stay in self._story.stays)
        return self._people[spot] if is_there else None


@dataclass
class Camera:
    """Takes the pictures, from a generator of its own: the same home with and without them."""

    rng: np.random.Generator

    def picture(self, frame: Frame) -> Rendering:
        """Under the light of the hour, so that it shows what the truth says and nothing else.

        Where that light hides something each time, under the even light in which the truth was judged.
        """
        for _ in range(_EXPOSURES_MAX):
            light, sensor = flat._daylight(self.rng, frame.time)
            sensor = replace(sensor, seed=new_seed(self.rng))
            rendering = render(replace(frame.scene, light=light, sensor=sensor))
            if rendering.is_clear and _claims(rendering.truth) == _claims(frame.truth):
                return rendering
        return render(replace(frame.scene, sensor=replace(frame.scene.sensor, seed=new_seed(self.rng))))


def _claims(truth: Truth) -> tuple:
    return truth.activity, [seen.thing for seen in truth.objects]
