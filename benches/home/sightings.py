"""What the robot saw of whom, where and when, as the tasks are made from it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from moments import Span


class Sighting(NamedTuple):
    """One thing in one frame."""

    frame: int
    visit: int
    time: datetime
    spot: str
    beside: frozenset[str]
    """The other things in the frame."""
    activity: str | None


class Sightings:
    def __init__(self, frames: Iterable, spots: Iterable[str]):
        self._of: dict[str, list[Sighting]] = {}
        self._visits: dict[str, list[int]] = {spot: [] for spot in spots}
        for number, frame in enumerate(frames):
            if frame.visit not in self._visits[frame.spot]:
                self._visits[frame.spot].append(frame.visit)
            for thing in frame.things:
                beside = frozenset(frame.things) - {thing}
                sighting = Sighting(number, frame.visit, frame.time, frame.spot, beside, frame.truth.activity)
                self._of.setdefault(thing, []).append(sighting)

    def seen(self) -> list[str]:
        return sorted(self._of)

    def of(self, thing: str) -> list[Sighting]:
        return self._of.get(thing, [])

    def last(self, thing: str) -> Sighting:
        return self._of[thing][-1]

    def is_there_still(self, thing: str) -> bool:
        """The robot's last look at where it last saw the thing showed it."""
        return self.looks_since(thing) == 0

    def looks_since(self, thing: str) -> int:
        """How often the robot looked at where it last saw the thing, and did not see it."""
        last = self.last(thing)
        return sum(visit > last.visit for visit in self._visits[last.spot])

    def visits(self, thing: str) -> int:
        """On how many occasions it was seen: frames of one look are one."""
        return len({sighting.visit for sighting in self.of(thing)})

    def spots(self, thing: str) -> int:
        return len({sighting.spot for sighting in self.of(thing)})

    def within(self, thing: str, span: Span) -> list[Sighting]:
        return [sighting for sighting in self.of(thing) if span[0] <= sighting.time < span[1]]


def occasions(sightings: Iterable[Sighting]) -> int:
    return len({sighting.visit for sighting in sightings})
