"""How well captions that people wrote are searched: beside BM25 and the embedder alone.

    cargo build --release
    python captions.py ../../target/release/engram
    python captions.py ../../target/release/engram --captions captions.tsv    # another extract

README.md beside this file says what is asked and whence the captions come.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
import snowballstemmer
from daemon import Daemon
from embedder import Embedder
from lexical import Bm25, reciprocal_rank, terms

HERE = Path(__file__).resolve().parent
SECOND = 1_700_000_000
HITS_MAX = 50
SIGHTINGS_MAX = 500
# Roles of a label that names a thing which a robot could be asked for.
THINGS = ("thing", "landmark")
# Certainties of a sighting that claim the thing itself.
CLAIMS = ("shown", "in_place")
STEMMER = snowballstemmer.stemmer("english")


class Engram:
    """A daemon that remembers these captions, a minute apart."""

    def __init__(self, program, texts):
        self.daemon, self.rows = Daemon(program), {}
        for at, text in enumerate(texts):
            seen = self.daemon.call("observe", caption=text, time=SECOND + 60 * at)
            self.rows[seen["id"]] = at

    def scores(self, query):
        """Of each caption; those that are not among the best are last together."""
        found = self.daemon.call("recall_best_match", query=query, k=HITS_MAX)["records"]
        scores = np.zeros(len(self.rows))
        for place, record in enumerate(found):
            scores[self.rows[record["id"]]] = HITS_MAX - place
        return scores

    def showing(self, thing):
        try:
            found = self.daemon.call("recall_all", query=f"the {thing}", k=SIGHTINGS_MAX)
        except RuntimeError:
            return set()
        return {self.rows[record["id"]] for record in found["records"]}

    def certainty(self, thing):
        """Of the last sighting, from in_place to related; None where none is given."""
        try:
            seen = self.daemon.call("recall_last_seen", query=f"the {thing}", explain=True)
        except RuntimeError:
            return None
        return seen["explanation"]["certainty"] if seen["records"] else None


def other_captions(rows, program, embed):
    """By one caption of a photograph its other four: reciprocal rank of the first, and how many
    of the four are among the first four."""
    # The first caption of each photograph.
    asked = dict(reversed(rows))
    kept = [(image, text) for image, text in rows if asked[image] != text]
    texts = [text for _, text in kept]
    vectors, words = np.array([embed(text) for text in texts]), Bm25(texts)
    engram = Engram(program, texts)
    systems = {
        "engram": engram.scores,
        "bm25": words.scores,
        "embedder": lambda text: vectors @ embed(text),
    }
    figures = {}
    for name, scores_of in systems.items():
        ranks, shares = [], []
        for image, text in asked.items():
            answers = {at for at, (other, _) in enumerate(kept) if other == image}
            scores = scores_of(text)
            ranks.append(reciprocal_rank(scores, answers))
            first = np.argsort(-scores, kind="stable")[: len(answers)]
            shares.append(len(answers & set(first.tolist())) / len(answers))
        figures[name] = {"mrr": float(np.mean(ranks)), "of_four": float(np.mean(shares))}
    engram.daemon.close()
    return {"questions": len(asked), "captions": len(texts), "systems": figures}


def singular(name):
    """The stems of a name, so that "trees" and "tree" are one."""
    return " ".join(STEMMER.stemWord(word) for word in name.lower().replace("-", " ").split())


def things(labelled):
    """Things asked for, by stems, each with one spelling and the captions that name it."""
    named = {}
    for at, row in enumerate(labelled):
        for it in row["names"]:
            if it["role"] in THINGS:
                spelling, rows = named.setdefault(singular(it["name"]), (it["name"].lower(), set()))
                rows.add(at)
    return named


def is_right(asked, row, also_right):
    """Whether a caption's labels name the thing, a kind of it, or what a person judged to be it."""
    names = {singular(it["name"]) for it in row["names"] if it["role"] != "absent"}
    is_kind = any(name == asked or name.endswith(f" {asked}") for name in names)
    return is_kind or bool(names & also_right.get(asked, set()))


def judged():
    """Pairs of names that a person judged to be one thing: what is asked, what a caption has."""
    pairs = {}
    for line in (HERE / "also_right.tsv").read_text().splitlines():
        asked, named = map(singular, line.split("\t"))
        pairs.setdefault(asked, set()).add(named)
    return pairs


def by_thing(labelled, program, embed, show):
    """What is returned for a thing named, against the labels made by hand."""
    texts = [row["text"] for row in labelled]
    vectors, words = np.array([embed(text) for text in texts]), Bm25(texts)
    engram, named, also_right = Engram(program, texts), things(labelled), judged()
    right = {asked: {at for at, row in enumerate(labelled) if is_right(asked, row, also_right)} for asked in named}
    cosines = {asked: vectors @ embed(f"the {said}") for asked, (said, _) in named.items()}
    systems = {
        "engram": {asked: engram.showing(said) for asked, (said, _) in named.items()},
        "bm25, all words": {asked: words.holding_all(said) for asked, (said, _) in named.items()},
        "embedder": nearest(cosines, right),
    }
    for asked, (said, _) in named.items() if show else ():
        for at in sorted(systems["engram"][asked] ^ right[asked]):
            kind = "wrong" if at in systems["engram"][asked] else "missed"
            print(f"{kind}\t{said}\t{texts[at]}")
    engram.daemon.close()
    figures = {name: against(found, right) for name, found in systems.items()}
    return {"things": len(named), "captions": len(texts), "systems": figures}


def nearest(cosines, right):
    """The captions above one threshold for all things: the one that is best for these very
    things, which nobody could know beforehand."""
    thresholds = np.arange(0.1, 0.9, 0.02)
    above = ({a: set(np.flatnonzero(c >= at).tolist()) for a, c in cosines.items()} for at in thresholds)
    return max(above, key=lambda found: against(found, right)["f1"])


def against(found, right):
    hits = sum(len(found[asked] & right[asked]) for asked in right)
    precision = hits / max(1, sum(map(len, found.values())))
    recall = hits / max(1, sum(map(len, right.values())))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def absent(rows, program, embed):
    """Things that no caption names: for how many is nothing given? Apart those whose last word
    captions have, as a litter tray where there is a tray."""
    texts = [text for _, text in rows]
    held = {term for text in texts for term in terms(text)}
    engram, words = Engram(program, texts), Bm25(texts)
    vectors = np.array([embed(text) for text in texts])
    asked = (HERE / "absent_things.txt").read_text().splitlines()
    groups = {
        "no word of the name": [thing for thing in asked if not held & set(terms(thing))],
        "a word of the name": [thing for thing in asked if held & set(terms(thing))],
    }
    figures = {"captions": len(texts)}
    for name, things in groups.items():
        said = {thing: engram.certainty(thing) for thing in things}
        best = [float((vectors @ embed(f"the {thing}")).max()) for thing in things]
        figures[name] = {
            "things": len(things),
            "engram gives": dict(Counter(str(it) for it in said.values()).most_common()),
            "engram claims": [thing for thing, it in said.items() if it in CLAIMS],
            "bm25 gives nothing": sum(not words.scores(it).any() for it in things) / len(things),
            "bm25, all words, gives nothing": sum(not words.holding_all(it) for it in things) / len(things),
            "embedder, median cosine of the best caption": float(np.median(best)),
        }
    engram.daemon.close()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("--captions", type=Path, default=HERE / "captions_heldout.tsv")
    parser.add_argument("--only", default="", help="of other, thing, absent")
    parser.add_argument("--show", action="store_true", help="what engram gives wrongly or misses")
    args = parser.parse_args()
    rows = [line.split("\t") for line in args.captions.read_text().splitlines()]
    labelled = [json.loads(line) for line in (HERE / "parse_200.jsonl").read_text().splitlines()]
    embedder, known = Embedder(), {}

    def embed(text):
        if text not in known:
            known[text] = embedder.embed(text)
        return known[text]

    parts = {
        "other": lambda: other_captions(rows, args.engram, embed),
        "thing": lambda: by_thing(labelled, args.engram, embed, args.show),
        "absent": lambda: absent(rows, args.engram, embed),
    }
    for name, measure in parts.items():
        if args.only in name:
            print(json.dumps({name: measure()}, indent=1), flush=True)


if __name__ == "__main__":
    main()
