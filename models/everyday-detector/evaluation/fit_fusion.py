"""How much each detector's score counts, and from which score a thing is named: chosen on one of
the two sets, measured on the other.

    python fit_fusion.py DIR path/to/engram

Takes each detector's own boxes from two runs, in which the other counts nothing, and does with
them what src/model/detector/fusion.rs does. A setting is compared with the first detector alone
(1 and 0), whose threshold is chosen on the same photographs.
"""

import itertools
import json
import shutil
import sys
import tempfile
from pathlib import Path

from evaluate import SETS, Tally, captions

HERE = Path(__file__).parent.parent
SHIPPED = json.loads((HERE / "confidence.json").read_text())
KNOWN = set(filter(None, json.loads((HERE / "config.json").read_text())["second"]["names"]))
SAME_THING_MIN, SAME_PLACE_MIN = 0.3, 0.7
ALONE = (1.0, 0.0)
WEIGHTS = [ALONE, *itertools.product((0.7, 0.8, 0.9, 1.0), (0.1, 0.2, 0.3, 0.4, 0.5))]
THRESHOLDS = (0.32, 0.34, 0.36, 0.38, 0.4, 0.42)


def detections(photographs, program, first, second):
    """What is found in each photograph of each set with these weights, however unsure."""
    with tempfile.TemporaryDirectory() as copied:
        model = Path(copied) / "everyday-detector"
        shutil.copytree(HERE, model, ignore=shutil.ignore_patterns("evaluation", "convert"))
        settings = SHIPPED | {"kept_from": 0.01, "fusion": {"first": first, "second": second}}
        (model / "confidence.json").write_text(json.dumps(settings))
        for name, rows, lines in captions(photographs, program, "--model", str(model)):
            yield name, rows, [line["detections"] for line in lines]


def overlap(a, b):
    """Intersection over union."""
    shared = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return shared / max(1e-9, (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def pairs(first, second):
    """Each thing as name, both scores, box."""

    def same(a, b):
        return a["name"] == b["name"] and overlap(a["box"], b["box"]) >= SAME_THING_MIN

    for it in first:
        others = (other["score"] for other in second if same(it, other))
        yield it["name"], it["score"], max(others, default=0), it["box"]
    for it in second:
        if not any(same(it, other) for other in first):
            yield it["name"], 0, it["score"], it["box"]


def may_be_named(thing):
    """With the largest weights, from the lowest threshold."""
    _, first, second, _ = thing
    return first + max(weight for _, weight in WEIGHTS) * second >= min(THRESHOLDS)


def kinds(things, weights, threshold):
    """What a caption would name."""
    scored = []
    for name, first, second, box in things:
        score = min(1, weights[0] * first + weights[1] * second) if name in KNOWN else first
        if score >= threshold:
            scored.append((score, name, box))
    scored.sort(key=lambda it: -it[0])

    def stands_in_a_better_place(at):
        _, name, box = scored[at]
        return any(name != it[1] and overlap(box, it[2]) >= SAME_PLACE_MIN for it in scored[:at])

    return {it[1] for at, it in enumerate(scored) if not stands_in_a_better_place(at)}


def measure(photographs, setting):
    """Precision, recall and F1 of names."""
    tally = Tally()
    for row, things in photographs:
        said = kinds(things, *setting)
        tally.add(len(said & row["there"]), len(said - row["there"] - row["unclear"]), len(row["there"] - said))
    return tally


def f1(tally):
    """Of a tally."""
    return 2 * tally.right / max(1, 2 * tally.right + tally.wrong + tally.missed)


def main(*arguments):
    """Prints what is chosen on each set, and what it is worth on the other."""
    runs = zip(detections(*arguments, 1, 0), detections(*arguments, 0, 1), strict=True)
    sets = {}
    for (name, rows, first), (_, _, second) in runs:
        # With a weight of 0, what only the first one knows is in both.
        second = [[it for it in things if it["name"] in KNOWN] for things in second]
        things = (list(filter(may_be_named, pairs(*it))) for it in zip(first, second, strict=True))
        sets[name] = list(zip(rows, things, strict=True))
    for chosen_on, measured_on in (SETS, SETS[::-1]):
        for what, weights in (("both", WEIGHTS), ("the first alone", [ALONE])):
            settings = itertools.product(weights, THRESHOLDS)
            best = max(settings, key=lambda it: f1(measure(sets[chosen_on], it)))
            print(f"{what}, chosen on {chosen_on}: {best}; {measured_on}: {measure(sets[measured_on], best)}")
    shipped = (tuple(SHIPPED["fusion"].values()), SHIPPED["named_from"])
    for name, photographs in sets.items():
        print(f"as shipped, {name}: {measure(photographs, shipped)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
