"""Fits intercept and slope of confidence.json, and measures them on what they were not fitted on.

    python fit_confidence.py DIR path/to/engram [more arguments]   (numpy)

The logistic regression of "all things of the caption are there" on the mean of the logits of their
scores. Whole sources are held out: the captions of each package, and of each activity of GCompris,
are judged by the fit on all others.
"""

import sys

import numpy as np
from caption import read
from evaluate import BINS, captions, is_right

# As src/model/detector/confidence.rs has it.
SURE = 0.99


def source(row):
    """The package of a photograph; of GCompris, whose activities differ, the activity."""
    package, folder, *_ = row["file"].split("/")
    return f"{package}/{folder}" if package == "gcompris" else package


def mean_logit(line):
    """Of the best scores of the things that a caption names."""
    names = {name for name, _, _ in read(line["caption"])[0]}
    best = [max(it["score"] for it in line["detections"] if it["name"] == name) for name in names]
    scores = np.clip(best, 1 - SURE, SURE)
    return np.mean(np.log(scores / (1 - scores)))


def fit(known):
    """Newton's method, on pairs of a mean logit and whether the caption is right."""
    inputs = np.array([(1, logit) for logit, _ in known])
    truth = np.array([right for _, right in known], float)
    found = np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ found))
        curvature = (inputs.T * (chance * (1 - chance))) @ inputs + 0.3 * np.eye(2)
        found += np.linalg.solve(curvature, inputs.T @ (truth - chance) - 0.3 * found)
    return found


def main(*arguments):
    """Prints the table and the fit on all."""
    known = {}
    for _, rows, lines in captions(*arguments):
        for row, line in zip(rows, lines, strict=True):
            row["said"] = {name for name, _, _ in read(line["caption"])[0]}
            if row["said"]:
                known.setdefault(source(row), []).append((mean_logit(line), is_right(row)))
    judged = []
    for held, pairs in known.items():
        intercept, slope = fit([it for other, rest in known.items() if other != held for it in rest])
        judged += [(1 / (1 + np.exp(-intercept - slope * logit)), right) for logit, right in pairs]
    print(f"{len(judged)} captions of {len(known)} sources, each judged by the fit on the other sources")
    for low, high in BINS:
        inside = [it for it in judged if low <= it[0] < high]
        mean, right = np.mean(inside, axis=0)
        print(f"  {low} to {min(high, 1)}: {len(inside)} captions, {mean:.2f} on average, {right:.2f} all right")
    print(f"Brier score {np.mean([(chance - right) ** 2 for chance, right in judged]):.3f}")
    intercept, slope = fit([it for pairs in known.values() for it in pairs])
    print(f"all: intercept {intercept:.2f}, slope {slope:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
