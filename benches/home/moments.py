"""The times that a task can speak of, each as two windows.

`sure` is what everybody means by the phrase, `perhaps` the widest that anybody could
mean: what a task asks for was seen in the one, and nothing like it in the rest of the
other, so that nobody need agree on when a morning ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

Span = tuple[datetime, datetime]

_PARTS = {
    "morning": ((7, 11.2), (4, 13.5)),
    "afternoon": ((13, 17.2), (11.5, 19)),
    "evening": ((18.5, 22), (16.5, 24)),
    "before_lunch": ((7, 11.2), (4, 14)),
    "noon": ((11.8, 13), (10.5, 14.5)),
}
"""Hours of the day, surely and perhaps."""
DAILY = {part: _PARTS[part] for part in ("morning", "afternoon", "evening")}


class Moment(NamedTuple):
    key: str
    """Of the phrases for it in a grammar."""
    sure: Span
    perhaps: Span
    slots: dict[str, str]


def moments(now: datetime, first: datetime) -> Iterator[Moment]:
    """All that can be said at `now` of the time since `first`."""
    today = now.replace(hour=0, minute=0, second=0)
    back = (today - first.replace(hour=0, minute=0, second=0)).days
    yield from _today(today, now)
    for ago in range(1, back + 1):
        yield from _day(today - timedelta(days=ago), ago)
    for hours in (2, 3, 4, 5, 6):
        middle = now - timedelta(hours=hours)
        yield Moment("hours_ago", _around(middle, 20), _around(middle, 75), {"n": _NUMBERS[hours]})
    yield from _last_week(today, now)


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _today(today: datetime, now: datetime) -> Iterator[Moment]:
    yield Moment("today", (today, now), (today, now), {})
    if now.hour >= 12:
        yield _part("today.morning", today, "morning")
        yield _part("today.before_lunch", today, "before_lunch")
    if now.hour >= 17:
        yield _part("today.afternoon", today, "afternoon")
    yield from (it for it in _clock("today", today) if it.perhaps[1] < now)


def _day(day: datetime, ago: int) -> Iterator[Moment]:
    whole = (day, day + timedelta(days=1))
    weekday = {"weekday": day.strftime("%A")}
    if ago == 1:
        yield Moment("yesterday", whole, whole, {})
        for part in ("morning", "afternoon", "evening", "before_lunch", "noon"):
            yield _part(f"yesterday.{part}", day, part)
        yield from _clock("yesterday", day)
    if ago == 2:
        yield Moment("before_yesterday", whole, whole, {})
    if 3 <= ago <= 6:
        yield Moment("days_ago", whole, whole, {"n": _NUMBERS[ago]})
    if 1 <= ago <= 6:
        yield Moment("weekday", whole, whole, weekday)
        for part in ("morning", "afternoon", "evening"):
            yield _part(f"weekday.{part}", day, part, weekday)
    slots = {"month": day.strftime("%B"), "day": str(day.day), "ordinal": _ordinal(day.day)}
    yield Moment("date", whole, whole, slots)


def _part(key: str, day: datetime, part: str, slots: dict[str, str] | None = None) -> Moment:
    sure, perhaps = _PARTS[part]
    if key == "yesterday.evening":
        # Said as "last night", too, which ends when one gets up.
        perhaps = (perhaps[0], 30)
    return Moment(key, _hours(day, sure), _hours(day, perhaps), slots or {})


def _clock(key: str, day: datetime) -> Iterator[Moment]:
    for hour in range(8, 22):
        at = day + timedelta(hours=hour)
        clock = f"{hour} o'clock" if hour <= 12 else f"{hour - 12} pm"
        yield Moment(f"{key}.clock", _around(at, 25), _around(at, 75), {"clock": clock})


def _last_week(today: datetime, now: datetime) -> Iterator[Moment]:
    """The calendar's last week, or the seven days until now."""
    monday = today - timedelta(days=today.weekday())
    calendar, rolling = (monday - timedelta(days=7), monday), (now - timedelta(days=7), now)
    sure = (max(calendar[0], rolling[0]), min(calendar[1], rolling[1]))
    if sure[0] < sure[1]:
        yield Moment("last_week", sure, (min(calendar[0], rolling[0]), max(calendar[1], rolling[1])), {})


def _hours(day: datetime, hours: tuple[float, float]) -> Span:
    return day + timedelta(hours=hours[0]), day + timedelta(hours=hours[1])


def _around(time: datetime, minutes: int) -> Span:
    return time - timedelta(minutes=minutes), time + timedelta(minutes=minutes)


def _ordinal(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
