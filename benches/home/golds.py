"""What can be asked of a household so that there is one right answer, and what that is.

Each kind of task is a generator over everything that the robot saw; README.md says
in words how each finds its gold. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import training  # noqa: F401
from commonsense import KEPT_IN, unlike
from habits import Belonging
from layout import Layout
from moments import DAILY, Moment, moments
from sightings import Sighting, Sightings, occasions
from world import OBJECTS, ROOMLESS

OFTEN = 3
"""Fewest occasions of a habit."""
FAR_AHEAD, AHEAD = 1.6, 3
"""A habit is told from its rivals' by this factor and this many occasions."""


class Place(NamedTuple):
    """What a thing can be said to be at: a spot, a room, or another thing."""

    kind: str
    """"on", "in" or "beside"."""
    name: str


class Candidate(NamedTuple):
    kind: str
    objects: tuple[str, ...]
    """Any of these is right; none: there is no such thing in memory."""
    type: str = ""
    named: str | None = None
    """The colour it is asked for by."""
    place: Place | None = None
    moment: Moment | None = None
    daily: str | None = None
    activity: str | None = None
    spots: tuple[str, ...] = ()
    """Where to look for what was never seen."""
    is_hard: bool = True
    """Not to be found by going to the place that the task names."""


class Household(NamedTuple):
    layout: Layout
    belongings: dict[str, Belonging]
    sightings: Sightings
    now: datetime
    first: datetime

    def individuals(self, type_name: str) -> list[str]:
        return [thing for thing in self.sightings.seen() if self.belongings[thing].type == type_name]

    def types(self) -> list[str]:
        return sorted({self.belongings[thing].type for thing in self.sightings.seen()})

    def choices(self) -> Iterator[tuple[str, list[str]]]:
        """Types of which several were seen, so that words must say which."""
        for type_name in self.types():
            things = self.individuals(type_name)
            if len(things) > 1:
                yield type_name, things

    def places(self, kinds: tuple[str, ...] = ("on", "in", "beside")) -> Iterator[Place]:
        if "on" in kinds:
            yield from (Place("on", spot) for spot in self.layout.spots)
        if "in" in kinds:
            yield from (Place("in", room) for room in self.layout.rooms)
        if "beside" in kinds:
            for thing in self.sightings.seen():
                if self.is_named_by_looks(thing):
                    yield Place("beside", thing)

    def is_named_by_looks(self, thing: str) -> bool:
        """Nothing else in the household has its type and colour."""
        it = self.belongings[thing]
        return sum((other.type, other.colour) == (it.type, it.colour) for other in self.belongings.values()) == 1

    def is_at(self, sighting: Sighting, place: Place) -> bool:
        """Whether it might be said to be there."""
        if place.kind == "on":
            return sighting.spot == place.name
        if place.kind == "in":
            return self.layout.spots[sighting.spot].room == place.name
        return place.name in sighting.beside

    def is_surely_at(self, sighting: Sighting, place: Place) -> bool:
        """Also told by the caption, which names no room at a shelf or a windowsill."""
        is_told = place.kind != "in" or self.layout.spots[sighting.spot].furniture not in ROOMLESS
        return is_told and self.is_at(sighting, place)


def candidates(home: Household) -> dict[str, list[Candidate]]:
    """All tasks of each family."""
    return {
        "class": list(_class(home)),
        "attribute": list(_attribute(home)),
        "spatial": list(_spatial(home)),
        "spatial-temporal": [*_temporal(home), *_activity(home)],
        "spatial-frequentist": [*_habitual(home), *_daily(home), *_use(home)],
        "never-seen": list(_never(home)),
    }


def _class(home: Household) -> Iterator[Candidate]:
    for type_name in home.types():
        yield Candidate("class", tuple(home.individuals(type_name)), type_name)


def _attribute(home: Household) -> Iterator[Candidate]:
    for type_name, things in home.choices():
        for thing in things:
            colour = home.belongings[thing].colour
            if colour and home.is_named_by_looks(thing):
                yield Candidate("attribute", (thing,), type_name, colour)


def _spatial(home: Household) -> Iterator[Candidate]:
    """What is there now, as far as the robot knows."""
    for type_name, things in home.choices():
        for place in _places_but(home, type_name):
            lasts = {thing: home.sightings.last(thing) for thing in things}
            there = [thing for thing in things if home.is_at(lasts[thing], place)]
            if len(there) != 1 or not home.is_surely_at(lasts[there[0]], place):
                continue
            if not home.sightings.is_there_still(there[0]):
                continue
            if place.kind == "beside" and home.sightings.last(place.name).visit != lasts[there[0]].visit:
                continue
            # Somebody else was there before, or it is not the one seen last of its kind.
            newest = max(things, key=lambda thing: home.sightings.last(thing).time)
            yield Candidate(f"spatial.{place.kind}", (there[0],), type_name, place=place, is_hard=newest != there[0])


def _temporal(home: Household) -> Iterator[Candidate]:
    for moment in moments(home.now, home.first):
        for type_name, things in home.choices():
            for place in _places_but(home, type_name):
                surely = [
                    thing
                    for thing in things
                    if any(home.is_surely_at(it, place) for it in home.sightings.within(thing, moment.sure))
                ]
                perhaps = [
                    thing
                    for thing in things
                    if any(home.is_at(it, place) for it in home.sightings.within(thing, moment.perhaps))
                ]
                if len(surely) == 1 and surely == perhaps:
                    moved = not home.is_at(home.sightings.last(surely[0]), place)
                    kind = f"temporal.{place.kind}"
                    yield Candidate(kind, (surely[0],), type_name, place=place, moment=moment, is_hard=moved)


def _activity(home: Household) -> Iterator[Candidate]:
    for moment in moments(home.now, home.first):
        for type_name, things in home.choices():
            for activity in sorted({it.activity for thing in things for it in home.sightings.of(thing) if it.activity}):
                if type_name not in _DONE_WITH.get(activity, ()):
                    continue

                def used(thing: str, span, activity=activity) -> bool:
                    return any(it.activity == activity for it in home.sightings.within(thing, span))

                surely = [thing for thing in things if used(thing, moment.sure)]
                perhaps = [thing for thing in things if used(thing, moment.perhaps)]
                if len(surely) == 1 and surely == perhaps:
                    moved = home.sightings.last(surely[0]).activity is None
                    yield Candidate(
                        "temporal.activity", (surely[0],), type_name, moment=moment, activity=activity, is_hard=moved
                    )


_DONE_WITH = {
    "reading": ("book",),
    "cooking": ("pan", "bowl", "kettle"),
    "eating": ("bowl",),
    "watching television": ("remote",),
    "sleeping": ("teddy bear", "phone"),
}


def _habitual(home: Household) -> Iterator[Candidate]:
    for type_name, things in home.choices():
        for place in _places_but(home, type_name):
            least = 0.6 if place.kind == "beside" else 0.4

            def chosen(sighting: Sighting, is_sure: bool, place=place) -> bool:
                return home.is_surely_at(sighting, place) if is_sure else home.is_at(sighting, place)

            winner = _most(home, things, chosen)
            if winner and _share(home, winner, chosen) >= least:
                moved = not home.is_at(home.sightings.last(winner), place)
                yield Candidate(f"frequent.{place.kind}", (winner,), type_name, place=place, is_hard=moved)


def _daily(home: Household) -> Iterator[Candidate]:
    """Habits of a part of the day."""
    for part, (sure, perhaps) in DAILY.items():
        for type_name, things in home.choices():
            for place in home.places(("on",)):

                def chosen(sighting: Sighting, is_sure: bool, place=place, hours=(perhaps, sure)) -> bool:
                    begin, end = hours[is_sure]
                    return home.is_at(sighting, place) and begin <= _hour(sighting.time) < end

                winner = _most(home, things, chosen)
                if winner:
                    moved = not home.is_at(home.sightings.last(winner), place)
                    yield Candidate("frequent.hours", (winner,), type_name, place=place, daily=part, is_hard=moved)


def _use(home: Household) -> Iterator[Candidate]:
    """The most and the least used, where occasions, places and people agree."""
    seen = home.sightings
    for type_name, things in home.choices():
        if not all(home.is_named_by_looks(thing) for thing in things):
            continue
        by_visits = sorted(things, key=seen.visits)
        least, second, most, next_most = by_visits[0], by_visits[1], by_visits[-1], by_visits[-2]
        moves = all(seen.spots(most) >= seen.spots(thing) for thing in things)
        meets = all(_with_people(home, most) >= _with_people(home, thing) for thing in things)
        if _is_ahead(seen.visits(most), seen.visits(next_most)) and moves and meets:
            yield Candidate("frequent.most", (most,), type_name)
        if _is_ahead(seen.visits(second), seen.visits(least)):
            if all(seen.spots(least) <= seen.spots(thing) for thing in things):
                yield Candidate("frequent.least", (least,), type_name)


def _never(home: Household) -> Iterator[Candidate]:
    yield from never_owned(home, KEPT_IN)
    for type_name in home.types():
        things = [thing for thing in home.belongings.values() if thing.type == type_name]
        spots = {it.spot for thing in home.individuals(type_name) for it in home.sightings.of(thing)}
        rooms = KEPT_IN.get(type_name, ())
        spots |= {name for name, spot in home.layout.spots.items() if spot.room in rooms}
        for colour in OBJECTS[type_name].colours:
            if all(thing.colour and unlike(colour, thing.colour) for thing in things):
                yield Candidate("never.colour", (), type_name, colour, spots=tuple(sorted(spots)))


def never_owned(home: Household, kept_in: dict[str, tuple[str, ...]]) -> Iterator[Candidate]:
    """Types that it owns none of, where a room was looked at in which they are kept."""
    owned = {thing.type for thing in home.belongings.values()}
    looked_at = {home.layout.spots[it.spot].room for thing in home.sightings.seen() for it in home.sightings.of(thing)}
    for type_name, rooms in kept_in.items():
        spots = tuple(name for name, spot in home.layout.spots.items() if spot.room in rooms)
        if type_name not in owned and spots and looked_at & set(rooms):
            yield Candidate("never", (), type_name, spots=spots)


GONE_LOOKS = 2
"""Later looks at where a thing was seen last, all without it, that show it gone."""


def gone(home: Household) -> Iterator[Candidate]:
    """Things that are no longer where they were seen last, as the robot could know."""
    for thing in home.sightings.seen():
        if home.is_named_by_looks(thing) and home.sightings.looks_since(thing) >= GONE_LOOKS:
            it = home.belongings[thing]
            is_alone = sum(other.type == it.type for other in home.belongings.values()) == 1
            yield Candidate("attribute", (thing,), it.type, None if is_alone else it.colour)


def _places_but(home: Household, type_name: str) -> Iterable[Place]:
    """Places that a thing of this type can be at; not beside another of its type."""
    for place in home.places():
        if place.kind != "beside" or home.belongings[place.name].type != type_name:
            yield place


def _most(home: Household, things: list[str], chosen: Callable[[Sighting, bool], bool]) -> str | None:
    """The thing with far more occasions than any other."""

    def count(thing: str, is_sure: bool) -> int:
        return occasions(it for it in home.sightings.of(thing) if chosen(it, is_sure))

    surely = {thing: count(thing, True) for thing in things}
    winner = max(things, key=lambda thing: surely[thing])
    rivals = max(count(thing, False) for thing in things if thing != winner)
    return winner if surely[winner] >= OFTEN and _is_ahead(surely[winner], rivals) else None


def _is_ahead(first: int, second: int) -> bool:
    return first >= FAR_AHEAD * second and first >= second + AHEAD


def _share(home: Household, thing: str, chosen: Callable[[Sighting, bool], bool]) -> float:
    return occasions(it for it in home.sightings.of(thing) if chosen(it, True)) / home.sightings.visits(thing)


def _with_people(home: Household, thing: str) -> int:
    return occasions(it for it in home.sightings.of(thing) if it.activity)


def _hour(time: datetime) -> float:
    return time.hour + time.minute / 60
