"""Is the thing there? Every goal that is given for a thing, with its probability, against the truth.

    python sureness.py --seed 11 ../../target/release/engram --out claims.jsonl
    python sureness.py --seed 11 ../../target/release/engram --captions captions.jsonl --out claims.jsonl

A household is simulated as `simulate.py` does it, and the robot's rounds are played to a
daemon. After each round of the last days every thing that was seen and that no other looks
like is asked for as if it were `AHEAD` hours later, and each goal of the answer is a claim
that the thing is there then: where the household has it is known. Nothing of the story after
the round has been played. `reliability.py` draws and fits.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from moments import stamp
from patrol import Frame, Patrol
from simulate import frame_line, invent_home
from world import name_thing

sys.path.append(str(Path(__file__).resolve().parent.parent / "language"))
from daemon import Daemon  # noqa: E402

AHEAD = (0.25, 1, 2, 4, 8, 16)
"""Hours after a round."""
DAYS_BEFORE = 2
"""Days that the robot knows a household before it is asked."""
ROUND_GAP = timedelta(hours=1)
NEAR_METRES = 1.0
"""A goal this near to a viewpoint is that place, as in the benchmark."""


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class Watched(Patrol):
    """A patrol that notes where every thing really went: what finds no room stays where it was."""

    def __init__(self, *args):
        super().__init__(*args)
        self.went = [(-1.0, thing, self._where(thing)) for thing in self._individuals]

    def _advance(self, time: datetime) -> None:
        hour = (time - self._start).total_seconds() / 3600
        while self._moves and self._moves[0].hour <= hour:
            move = self._moves.pop(0)
            if move.to is None:
                self._take(move.thing)
            else:
                self._put(move.thing, move.to)
            self.went.append((move.hour, move.thing, self._where(move.thing)))

    def _where(self, thing: str) -> str | None:
        return next((spot for spot, lying in self._lying.items() if thing in lying), None)


class Home:
    """A simulated household: its frames, and where everything is at any time."""

    def __init__(self, seed: int, days: int, captions: Path | None):
        rng, self.layout, story, self.start = invent_home(seed, days)
        patrol = Watched(rng, self.layout, story, self.start)
        given = {Path(it["file"]).name: it for it in read_lines(captions)} if captions else {}
        self.frames = [(frame, self.message(frame, given)) for frame in patrol.frames(days)]
        self.went = patrol.went

    @staticmethod
    def message(frame: Frame, given: dict[str, dict]) -> dict:
        """What `observe` is given."""
        told = given.get(Path(frame.file).name) or frame.truth.to_json()
        message = frame_line(frame) | {"caption": told["caption"]}
        message.pop("file")
        if told.get("confidence") is not None:
            message["confidence"] = told["confidence"]
        return message

    def phrases(self) -> dict[str, str]:
        """By thing, what it is called; of things that look alike none."""
        called = {}
        for frame, _ in self.frames:
            called |= {thing: name_thing(it.thing) for thing, it in zip(frame.things, frame.truth.objects, strict=True)}
        often = Counter(called.values())
        return {thing: phrase for thing, phrase in called.items() if often[phrase] == 1}

    def hour(self, at: datetime) -> float:
        return (at - self.start).total_seconds() / 3600

    def is_there(self, thing: str, at: datetime, position: list[float]) -> bool:
        hour = self.hour(at)
        place = [spot for time, what, spot in self.went if what == thing and time <= hour][-1]
        if place is None:
            return False
        x, y = self.layout.spots[place].seen_from
        return (x - position[0]) ** 2 + (y - position[1]) ** 2 <= NEAR_METRES**2


def claims(home: Home, program: str):
    """One for each goal; a task without a goal has one of rank 0."""
    daemon, phrases, seen = Daemon(program), home.phrases(), set()
    asked_from = home.frames[0][0].time + timedelta(days=DAYS_BEFORE)
    end = home.frames[-1][0].time
    for (frame, message), after in zip(home.frames, [*home.frames[1:], None], strict=True):
        daemon.call("observe", **message)
        seen |= set(frame.things) & phrases.keys()
        is_round_over = after is None or after[0].time - frame.time > ROUND_GAP
        for hours in AHEAD if is_round_over and frame.time >= asked_from else ():
            later = frame.time + timedelta(hours=hours)
            # Of what comes after the last round nothing is told.
            for thing in sorted(seen) if later <= end else ():
                for claim in answer(daemon, home, thing, phrases[thing], later):
                    yield {"thing": thing, "hours": hours, **claim}
    daemon.close()


def answer(daemon: Daemon, home: Home, thing: str, phrase: str, later: datetime):
    name = phrase.split(" ", 1)[1]
    try:
        reply = daemon.call("retrieve_object", task=f"bring me the {name}", now=stamp(later))
        goals = reply["goals"]
    except RuntimeError:
        goals = []
    if not goals:
        yield {"rank": 0, "probability": 0.0, "there": False, "guess": False}
    for rank, goal in enumerate(goals, 1):
        there = home.is_there(thing, later, goal["position"])
        guess = bool(goal.get("guess"))
        yield {"rank": rank, "probability": goal["probability"], "there": there, "guess": guess}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("engram", help="the program")
    parser.add_argument("--captions", type=Path, help="of `engram caption --json`; true ones where absent")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    home = Home(args.seed, args.days, args.captions)
    with args.out.open("w") as file:
        for claim in claims(home, args.engram):
            file.write(json.dumps({"seed": args.seed, **claim}) + "\n")


if __name__ == "__main__":
    main()
