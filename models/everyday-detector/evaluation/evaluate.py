"""Precision and recall of the captions on the labelled photographs, time and confidence.

    evaluation/fetch.sh DIR
    python evaluate.py DIR path/to/engram [more arguments of `engram caption`]

photographs.tsv has a line a photograph: file, the categories of COCO that are visible over 1 %
of it, and those on which people may disagree, which count neither way. The labels are by eye
and were written before any caption was read. Categories are taken from the caption's words.
"""

import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
IRREGULAR = {"person": "people", "mouse": "mice", "knife": "knives", "sheep": "sheep", "skis": "skis"}
THRESHOLDS = (0.25, 0.3, 0.32, 0.34, 0.4, 0.5)


def plural(name):
    """As the captions write it."""
    if name in IRREGULAR:
        return IRREGULAR[name]
    return name + ("es" if name.endswith(("s", "x", "ch", "sh")) else "s")


def named(caption, classes):
    """Categories in a caption; orange is a fruit where no noun follows."""
    found = set()
    for name in sorted(classes, key=len, reverse=True):
        after = r"(?= and\b| on\b| to\b| behind\b| in front\b|[,.]|$)"
        pattern = rf"\b({plural(name)}|{name})\b{after}"
        if re.search(pattern, caption):
            found.add(name)
            caption = re.sub(pattern, "", caption)
    return found


def labels():
    """File, categories that are there, categories that may be."""
    for line in (HERE / "photographs.tsv").read_text().splitlines():
        file, there, unclear = line.split("\t")
        split = [{it.strip() for it in part.split(",") if it.strip()} for part in (there, unclear)]
        yield file, *split


def scores(found):
    """Right, wrong, missed over all photographs, and what comes of them."""
    right = sum(len(said & there) for said, there, _ in found)
    wrong = sum(len(said - there - unclear) for said, there, unclear in found)
    missed = sum(len(there - said) for said, there, _ in found)
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return (
        f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f} ({right} right, {wrong} wrong, {missed} missed)"
    )


def best_scores(line):
    """Best score of each category, without boxes that a better one of another name covers."""
    best, kept = {}, []
    for it in line.get("detections", []):
        if all(it["name"] == other["name"] or overlap(it["box"], other["box"]) < 0.7 for other in kept):
            best[it["name"]] = max(best.get(it["name"], 0), it["score"])
        kept.append(it)
    return best


def overlap(a, b):
    """Intersection over union."""
    shared = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared + 1e-9)


def main(photographs, program, *arguments):
    """Prints the report."""
    rows = list(labels())
    files = [str(Path(photographs) / file) for file, _, _ in rows]
    command = [program, "caption", "--json", *arguments, *files]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    classes = json.loads((HERE.parent / "config.json").read_text())["classes"]
    found = [(named(line["caption"], classes), there, unclear) for line, (_, there, unclear) in zip(lines, rows)]
    print(f"{len(rows)} photographs, {sum(len(there) for _, there, _ in rows)} categories")
    print("captions:", scores(found))
    for threshold in THRESHOLDS:
        at = [
            ({name for name, score in best_scores(line).items() if score >= threshold}, *labels)
            for line, (_, *labels) in zip(lines, rows)
        ]
        print(f"  at {threshold}:", scores(at))
    judged = [
        (line["confidence"], said <= there | unclear) for line, (said, there, unclear) in zip(lines, found) if said
    ]
    for low, high in ((0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = [right for sure, right in judged if low <= sure < high]
        if inside:
            print(
                f"  confidence {low} to {min(high, 1)}: {len(inside)} captions, {sum(inside) / len(inside):.2f} all right"
            )
    taken = sorted(line["milliseconds"] for line in lines[4:])
    print(f"milliseconds a frame: median {statistics.median(taken):.0f}, p95 {taken[int(0.95 * len(taken))]:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
