"""Fits intercept and slope of confidence.json, and measures them on what they were not fitted on.

    python fit_confidence.py DIR path/to/engram [more arguments]   (numpy)

The logistic regression of "the thing is there" on the logit of its score, over the things that
captions name, but those of the folders of wild animals, which no robot meets indoors. Each half of the photographs (each second one) is judged by the fit on the other.
"""

import sys

import numpy as np
from evaluate import BINS, captions
from caption import read


WILD = ("gcompris/erase/", "gcompris/world_animals/")


def scored(row, line):
    """Logit of the best score of each thing that is named, and whether it is there."""
    for name in {name for name, _, _ in read(line["caption"])[0]}:
        score = max(it["score"] for it in line["detections"] if it["name"] == name)
        yield np.log(score / (1 - score)), name in row["there"], name in row["unclear"]


def fit(pictures):
    """Newton's method; what people disagree on is left out."""
    known = [it for things in pictures for it in things if not it[2]]
    inputs = np.array([(1, logit) for logit, _, _ in known])
    truth = np.array([is_there for _, is_there, _ in known], float)
    found = np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ found))
        curvature = (inputs.T * (chance * (1 - chance))) @ inputs + 1e-3 * np.eye(2)
        found += np.linalg.solve(curvature, inputs.T @ (truth - chance) - 1e-3 * found)
    return found


def confidence(found, things):
    """That all things of a caption are there."""
    return np.prod([1 / (1 + np.exp(-found[0] - found[1] * logit)) for logit, _, _ in things])


def main(*arguments):
    """Prints both tables and the fit on all."""
    pairs = [pair for _, rows, lines in captions(*arguments) for pair in zip(rows, lines)]
    pictures = [list(scored(row, line)) for row, line in pairs if not row["file"].startswith(WILD)]
    pictures = [things for things in pictures if things]
    judged = []
    for half in (0, 1):
        found = fit(pictures[half::2])
        judged += [(confidence(found, it), all(a or b for _, a, b in it)) for it in pictures[1 - half :: 2]]
    print(f"{len(judged)} captions, each judged by the fit on the other half")
    for low, high in BINS:
        inside = [it for it in judged if low <= it[0] < high]
        mean, right = np.mean(inside, axis=0)
        print(f"  {low} to {min(high, 1)}: {len(inside)} captions, {mean:.2f} on average, {right:.2f} all right")
    intercept, slope = fit(pictures)
    print(f"all: intercept {intercept:.2f}, slope {slope:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
