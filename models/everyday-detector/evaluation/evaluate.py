"""What the captions say of the labelled photographs: things, colours, counts, relations,
confidence, time.

    evaluation/fetch.sh DIR
    python evaluate.py DIR path/to/engram [more arguments of `engram caption`]

The labels were written by eye before any caption was read. A line has, between tabs: the file; the
categories of COCO that are visible over 1 % of it; those on which people may disagree, which count
neither way; of things how many there are (`3`, or `2-5` where people would not agree) and which
colours a person might say (`grey/black`, `-` where none is clear); and relations that a person
might say. Only a thing that is listed has its count and colour judged.
"""

import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

from caption import read

HERE = Path(__file__).parent
SETS = ("photographs", "homes")
COLOURS = "red orange yellow green turquoise blue purple pink brown white grey black".split()
THING = re.compile(rf"([\d-]+) ([a-z ]+?)(?: ((?:{'|'.join(COLOURS)})(?:/[a-z]+)*|-))?")
MANY = 11
BINS = ((0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))


def labels(name):
    """Each photograph of a set: its file and what there is."""
    for line in (HERE / f"{name}.tsv").read_text().splitlines():
        file, there, unclear, things, relations = line.split("\t")
        yield {
            "file": file,
            "there": set(filter(None, there.split(", "))),
            "unclear": set(filter(None, unclear.split(", "))),
            "things": dict(thing(it) for it in filter(None, things.split("; "))),
            "relations": set(filter(None, relations.split("; "))),
        }


def thing(text):
    """`2-5 potted plant green/brown` as a name with counts and colours."""
    count, name, colours = THING.fullmatch(text).groups()
    low, _, high = count.partition("-")
    known = None if colours is None else set() if colours == "-" else set(colours.split("/"))
    return name, (range(int(low), int(high or low) + 1), known)


class Tally:
    """Right, wrong and missed, and what comes of them."""

    def __init__(self):
        self.right = self.wrong = self.missed = 0

    def add(self, right, wrong=0, missed=0):
        """Counts."""
        self.right, self.wrong, self.missed = self.right + right, self.wrong + wrong, self.missed + missed

    def __str__(self):
        precision = self.right / max(1, self.right + self.wrong)
        recall = self.right / max(1, self.right + self.missed)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        counts = f"{self.right} right, {self.wrong} wrong, {self.missed} missed"
        return f"precision {precision:.2f}, recall {recall:.2f}, F1 {f1:.2f} ({counts})"


def judge(rows, lines):
    """What the captions of a set say, against the labels."""
    tallies = {
        what: Tally()
        for what in ("things", "things where there are some", "colours", "counts", "counts above one", "relations")
    }
    for row, line in zip(rows, lines, strict=True):
        said, claims = read(line["caption"])
        kinds = row["said"] = {name for name, _, _ in said}
        row["confidence"] = line["confidence"]
        wrong = kinds - row["there"] - row["unclear"]
        for what in ("things", "things where there are some")[: 1 + bool(row["there"])]:
            tallies[what].add(len(kinds & row["there"]), len(wrong), len(row["there"] - kinds))
        for name, _, colour in said:
            if name in row["things"] and name in row["there"]:
                counts, colours = row["things"][name]
                total = sum(it for other, it, _ in said if other == name)
                is_right = total in counts or min(total, counts[-1]) >= MANY
                for what in ("counts", "counts above one")[: 1 + (total > 1)]:
                    tallies[what].add(is_right, not is_right)
                if colours is not None:
                    is_wrong, is_missed = bool(colour) and colour not in colours, not colour and bool(colours)
                    tallies["colours"].add(colour in colours, is_wrong, is_missed)
        told = {" ".join(it) for it in claims if {it[0], it[2]} <= row["there"] | row["unclear"]}
        wanted = {it for it in row["relations"] if set(RELATION.split(it)) <= kinds}
        tallies["relations"].add(len(told & row["relations"]), len(told - row["relations"]), len(wanted - told))
        row["doubted"] = told - row["relations"]
    return tallies


RELATION = re.compile(" on | left of | behind | in front of ")


def is_right(row):
    """Whether a caption names nothing that is not there."""
    return row["said"] <= row["there"] | row["unclear"]


def report(name, rows, lines):
    """Prints what the captions of a set are worth."""
    print(f"{name}: {len(rows)} photographs with {sum(len(row['there']) for row in rows)} things")
    for what, tally in judge(rows, lines).items():
        print(f"  {what}: {tally}")
    empty = [row for row in rows if not row["there"]]
    wrong = sum(not is_right(row) for row in empty)
    print(f"  {len(empty)} photographs with none of the 80: {wrong} captions name one all the same")
    for low, high in BINS:
        inside = [row for row in rows if row["said"] and low <= row["confidence"] < high]
        if inside:
            mean = statistics.mean(row["confidence"] for row in inside)
            right = statistics.mean(is_right(row) for row in inside)
            counts = f"{len(inside)} captions, {mean:.2f} on average, {right:.2f} all right"
            print(f"  confidence {low} to {min(high, 1)}: {counts}")
    for row in rows:
        for claim in sorted(row["doubted"]):
            print(f"  not in the labels: {row['file']}: {claim}")


def captions(photographs, program, *arguments):
    """The rows of each set with the program's lines for them."""
    sets = {name: list(labels(name)) for name in SETS}
    files = [str(Path(photographs) / row["file"]) for rows in sets.values() for row in rows]
    command = [program, "caption", "--json", *arguments, *files]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    for name, rows in sets.items():
        yield name, rows, lines[: len(rows)]
        lines = lines[len(rows) :]


def main(*arguments):
    """Prints the report."""
    taken = []
    for name, rows, lines in captions(*arguments):
        report(name, rows, lines)
        taken += [line["milliseconds"] for line in lines]
    taken = sorted(taken[4:])
    print(f"milliseconds a frame: median {statistics.median(taken):.0f}, p95 {taken[int(0.95 * len(taken))]:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
