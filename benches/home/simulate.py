"""Simulates a household over several days: what a robot sees of it, the truth, and tasks with their answers.

    python simulate.py --seed 7 --days 7 --tasks 60 --out /tmp/home --images

Writes into the directory: `frames.jsonl` (what a robot delivers), `frames/*.jpg` where
images are asked for, `truth.jsonl` (which things each frame shows, and its true caption),
`household.json` (the map, what there is, what was moved when and who was where) and
`tasks.jsonl`. README.md describes them. The same seed and days make the same
household, whatever the tasks, their wordings and the images.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import training  # noqa: F401
from extra import invent_extra
from golds import Household
from habits import Story, invent_story
from layout import Layout, invent_layout
from moments import stamp
from patrol import Camera, Frame, Patrol
from render import jpeg_bytes
from sightings import Sightings
from tasks import invent_tasks
from wording import Grammar
from world import all_things, name_thing

DAYS_MAX, TASKS_MAX = 60, 5_000
JPEG_QUALITY = 88
# Each part has a generator of its own, so that none depends on how much another drew.
_WORLD, _PICTURES, _TASKS = 1, 2, 3


def invent_home(seed: int, days: int) -> tuple[np.random.Generator, Layout, Story, datetime]:
    """The household, the midnight before its first day, and the chances of all that follows."""
    rng = np.random.default_rng([seed, _WORLD])
    start = datetime(2025, 1, 1) + timedelta(days=int(rng.integers(0, 330)))
    layout = invent_layout(rng)
    return rng, layout, invent_story(rng, layout, days), start


def simulate(seed: int, days: int) -> tuple[Layout, Story, list[Frame], datetime]:
    """The household and all that the robot saw of it, and the midnight before the first day."""
    rng, layout, story, start = invent_home(seed, days)
    return layout, story, list(Patrol(rng, layout, story, start).frames(days)), start


def household_of(seed: int, layout: Layout, story: Story, frames: list[Frame]) -> Household:
    """What tasks are asked of, some minutes after the last frame."""
    rng = np.random.default_rng([seed, _TASKS])
    now = frames[-1].time + timedelta(minutes=int(rng.integers(4, 40)))
    return Household(layout, story.belongings, Sightings(frames, layout.spots), now, frames[0].time)


def frame_line(frame: Frame) -> dict:
    return {
        "file": frame.file,
        "time": stamp(frame.time),
        "position": [*frame.position, 0.0],
        "theta": frame.theta,
        "frame_id": "map",
        "map_id": "home",
        "source": "front_camera",
    }


def truth_line(frame: Frame) -> dict:
    truth = frame.truth.to_json()
    objects = [
        {"id": name, "phrase": name_thing(seen.thing), **asdict(seen)}
        for name, seen in zip(frame.things, frame.truth.objects, strict=True)
    ]
    return {"file": frame.file, "visit": frame.visit, "place": frame.spot, **truth, "objects": objects}


def household_json(seed: int, days: int, layout: Layout, story: Story, start: datetime) -> dict:
    def at(hour: float) -> str:
        return stamp(start + timedelta(seconds=round(hour * 3600)))

    return {
        "seed": seed,
        "days": days,
        "map_id": "home",
        "rooms": {room.name: {"from": room.low, "to": room.high} for room in layout.rooms.values()},
        "places": {name: spot._asdict() for name, spot in layout.spots.items()},
        "objects": {
            name: {"type": it.type, "colour": it.colour, "habit": it.habit} for name, it in story.belongings.items()
        },
        "at_first": story.at_first,
        "phrases": [name_thing(thing) for thing in all_things()],
        "moves": [{"time": at(move.hour), "thing": move.thing, "to": move.to} for move in story.moves],
        "stays": [
            {"from": at(stay.begins), "to": at(stay.ends), "place": stay.spot, "activity": stay.activity}
            for stay in story.stays
        ],
    }


def write_lines(path: Path, lines) -> None:
    with path.open("w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


def write_pictures(seed: int, frames: list[Frame], out: Path) -> None:
    (out / "frames").mkdir(exist_ok=True)
    camera = Camera(np.random.default_rng([seed, _PICTURES]))
    for frame in frames:
        (out / frame.file).write_bytes(jpeg_bytes(camera.picture(frame).picture, JPEG_QUALITY))


def _within(name: str, least: int, most: int):
    def number(text: str) -> int:
        if not text.lstrip("-").isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{name} is {text}; accepted is {least} to {most}")
        return int(text)

    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=_within("--seed", 0, 2**32), required=True)
    parser.add_argument("--days", type=_within("--days", 1, DAYS_MAX), default=7)
    parser.add_argument("--tasks", type=_within("--tasks", 0, TASKS_MAX), default=60)
    parser.add_argument(
        "--extra", type=_within("--extra", 0, TASKS_MAX), default=0, help="tasks of the families beside the six"
    )
    parser.add_argument(
        "--wordings", default="dev", help="dev, dev2 to dev11, held1 to held9, or a grammar file of your own"
    )
    parser.add_argument("--out", type=Path, required=True, help="a directory; made where it is missing")
    parser.add_argument("--images", action="store_true", help="also render each frame")
    args = parser.parse_args()
    grammar = Grammar.open(args.wordings)
    layout, story, frames, start = simulate(args.seed, args.days)
    args.out.mkdir(parents=True, exist_ok=True)
    write_lines(args.out / "frames.jsonl", map(frame_line, frames))
    write_lines(args.out / "truth.jsonl", map(truth_line, frames))
    story_json = household_json(args.seed, args.days, layout, story, start)
    (args.out / "household.json").write_text(json.dumps(story_json, indent=1) + "\n")
    home = household_of(args.seed, layout, story, frames)
    tasks = list(invent_tasks(np.random.default_rng([args.seed, _TASKS, 1]), home, grammar, args.tasks))
    tasks += invent_extra(np.random.default_rng([args.seed, _TASKS, 2]), home, grammar, args.extra)
    write_lines(args.out / "tasks.jsonl", tasks)
    if args.images:
        write_pictures(args.seed, frames, args.out)
    print(f"{len(frames)} frames, {len(tasks)} tasks in {args.out}")


if __name__ == "__main__":
    main()
