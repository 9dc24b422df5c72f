"""Where a thing was seen last, and where at all: in narrations and in long captions.

    cargo build --release
    python sightings.py ../../target/release/engram narrations.jsonl narration_questions.jsonl
    python sightings.py ../../target/release/engram long_captions.jsonl long_caption_questions.jsonl

`--latency` tells how long `recall_last_seen` takes the first time and again; `--out FILE` writes what `benches/home/reliability.py` draws. Each group of texts (a session, a building) is a memory of its own. README.md says whence the texts come.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from captions import CLAIMS, SECOND, SIGHTINGS_MAX
from daemon import Daemon
from lexical import Bm25

MINUTE = 60


class Memory:
    """A daemon that remembers these texts, a minute apart, in their order."""

    def __init__(self, program, texts):
        self.daemon, self.rows = Daemon(program), {}
        for at, text in enumerate(texts):
            seen = self.daemon.call("observe", caption=text, time=SECOND + MINUTE * at)
            self.rows[seen["id"]] = at

    def last(self, thing):
        """The newest sighting, its certainty and its probability; None where none is given."""
        try:
            seen = self.daemon.call("recall_last_seen", query=thing, explain=True)
        except RuntimeError:
            return None, None, None
        for first in seen["records"][:1]:
            return self.rows[first["id"]], seen["explanation"]["certainty"], first["probability"]
        return None, None, None

    def all(self, thing):
        """What shows it, and what only may, which is listed apart; each with its probability."""
        try:
            found = self.daemon.call("recall_all", query=thing, k=SIGHTINGS_MAX)
        except RuntimeError:
            return {}, {}
        lists = (found.get(name, ()) for name in ("records", "possible"))
        shown, possible = ({self.rows[it["id"]]: it["probability"] for it in these} for these in lists)
        return shown, possible


def bm25_last(words, thing):
    """The newest of those with the best score."""
    scores = words.scores(thing)
    return max(i for i, score in enumerate(scores) if score == scores.max()) if scores.any() else None


def group_of(row):
    return row.get("session") or row["building"]


def ask(program, texts, questions, show):
    memory, words = Memory(program, [row["text"] for row in texts]), Bm25([row["text"] for row in texts])
    numbers = [row["n"] for row in texts]
    outcomes = []
    for row in questions:
        asked = row["question"]
        lasts = set(row.get("answers", row.get("last")))
        all_right, unknown = set(row.get("all", ())), set(row.get("maybe", ()))
        last, certainty, probability = memory.last(asked)
        given = memory.all(asked)
        # Nobody can tell of what a text leaves open.
        found, possible = ({numbers[at] for at in these} - unknown for these in given)
        by_words = bm25_last(words, asked)
        outcome = {
            "asked": asked,
            "is_absent": not lasts,
            "last": last is not None and numbers[last] in lasts,
            "claims": certainty in CLAIMS,
            "certainty": certainty,
            "claims of all": [
                (probability, last is not None and numbers[last] in lasts),
                *(
                    (said, numbers[at] in all_right)
                    for these in given
                    for at, said in these.items()
                    if "all" in row and numbers[at] not in unknown
                ),
            ],
            "gives": last is not None,
            "bm25": by_words is not None and numbers[by_words] in lasts,
            "all": counts(found, all_right) if "all" in row else (0, 0, 0),
            "all or possible": counts(found | possible, all_right) if "all" in row else (0, 0, 0),
        }
        outcomes.append(outcome)
        wrong = outcome["claims"] if outcome["is_absent"] else not outcome["last"]
        if show and (wrong or ("all" in row and found != all_right)):
            said = numbers[last] if last is not None else None
            print(f"{group_of(row)} {asked!r}: last {said} ({certainty}), right {sorted(lasts)}")
            for number in sorted({said, *lasts} - {None}) if wrong else ():
                print(f"    {number}: {texts[numbers.index(number)]['text']}")
            if "all" in row:
                print(f"    wrongly {sorted(found - all_right)}, missed {sorted(all_right - found)}")
                print(f"    possible {sorted(possible & all_right)} rightly, {sorted(possible - all_right)} wrongly")
    memory.daemon.close()
    return outcomes


def latencies(program, texts, questions):
    """Milliseconds of each question the first time, then of each again."""
    memory = Memory(program, [row["text"] for row in texts])
    # The first query of all loads the models.
    memory.last("a thing")
    rounds = []
    for _ in range(2):
        taken = []
        for row in questions:
            start = time.perf_counter()
            memory.last(row["question"])
            taken.append(1000 * (time.perf_counter() - start))
        rounds.append(taken)
    memory.daemon.close()
    return rounds


def counts(given, right):
    return len(given & right), len(given), len(right)


def figures(outcomes):
    there = [it for it in outcomes if not it["is_absent"]]
    absent = [it for it in outcomes if it["is_absent"]]
    hits, given, wanted = map(sum, zip(*(it["all"] for it in outcomes), strict=True))
    also_hits, also_given, _ = map(sum, zip(*(it["all or possible"] for it in outcomes), strict=True))
    by_certainty = {}
    for it in outcomes:
        right, of = by_certainty.get(str(it["certainty"]), (0, 0))
        by_certainty[str(it["certainty"])] = (right + it["last"], of + 1)
    return {
        "things": len(there),
        "last right": sum(it["last"] for it in there) / len(there),
        "last right, BM25": sum(it["bm25"] for it in there) / len(there),
        "absent": len(absent),
        "absent, nothing given": sum(not it["gives"] for it in absent),
        "absent, claimed": sum(it["claims"] for it in absent),
        "recall_all precision": hits / given if given and wanted else None,
        "recall_all recall": hits / wanted if wanted else None,
        "with possible, precision": also_hits / also_given if also_given and wanted else None,
        "with possible, recall": also_hits / wanted if wanted else None,
        "last right of those given, by certainty": by_certainty,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("texts", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--only", help="one group")
    parser.add_argument("--show", action="store_true", help="what is answered wrongly")
    parser.add_argument("--latency", action="store_true", help="how long it takes, and nothing else")
    parser.add_argument("--out", type=Path, help="each answer's probability and whether it is right, to draw")
    args = parser.parse_args()
    texts, questions = (
        [json.loads(line) for line in path.read_text().splitlines()] for path in (args.texts, args.questions)
    )
    outcomes, first, again = {}, [], []
    for group in dict.fromkeys(map(group_of, texts)):
        if args.only not in (None, group):
            continue
        own = [[row for row in rows if group_of(row) == group] for rows in (texts, questions)]
        if args.latency:
            for all_, taken in zip((first, again), latencies(args.engram, *own), strict=True):
                all_.extend(taken)
        else:
            outcomes[group] = ask(args.engram, *own, args.show)
    if args.latency:
        for name, taken in (("first", first), ("again", again)):
            print(f"{name}: median {statistics.median(taken):.1f} ms, mean {statistics.mean(taken):.1f} ms")
        return
    for group, own in outcomes.items():
        print(group, json.dumps(figures(own)))
    everything = [it for own in outcomes.values() for it in own]
    print("all", json.dumps(figures(everything)))
    if args.out:
        claims = (claim for it in everything for claim in it["claims of all"] if claim[0] is not None)
        lines = (json.dumps({"rank": 1, "probability": said, "there": right}) for said, right in claims)
        args.out.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
