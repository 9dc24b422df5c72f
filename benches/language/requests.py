"""What people say to a robot in a building: is it sent to the right spot, is it left standing, is it answered?

    cargo build --release
    python requests.py ../../target/release/engram                 # all households
    python requests.py ../../target/release/engram --only w13 --show

README.md tells whence the households come and which of them somebody has read.
"""

import argparse
import json
from datetime import datetime, timedelta
from math import dist
from pathlib import Path

from daemon import Daemon
from lexical import Bm25
from sightings import bm25_last

HERE = Path(__file__).resolve().parent
HOUSEHOLDS = HERE / "households"
# As far from a spot the robot still stands at it, in metres.
SAME_SPOT = 1.0
KINDS = ("fetch", "nothing", "question")


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Household:
    def __init__(self, program, folder):
        self.daemon = Daemon(program)
        self.captions = {row["n"]: row for row in rows(folder / "captions.jsonl")}
        for row in self.captions.values():
            self.daemon.call(
                "observe",
                caption=row["caption"],
                time=row["at"].replace("T", " "),
                position=[row["x"], row["y"], 0.0],
                theta=0.0,
            )
        last = max(datetime.fromisoformat(row["at"]) for row in self.captions.values())
        self.now = str(last + timedelta(hours=1))
        self.words = Bm25([row["caption"] for row in self.captions.values()])

    def answer(self, request):
        """The reply, and whether it is right; a refusal is a reply without a goal."""
        try:
            reply = self.daemon.call("retrieve_object", task=request["text"], now=self.now)
        except RuntimeError as error:
            reply = {"status": "refused", "goals": [], "error": str(error)}
        return reply, self.is_right(request, reply)

    def is_right(self, request, reply):
        goals = reply.get("goals", [])
        if request["kind"] == "nothing":
            return not goals
        if request["kind"] == "question":
            said = (reply.get("answer") or "").lower()
            return not goals and all(any(word in said for word in words) for words in request["says"])
        return bool(goals) and self.is_at(goals[0]["position"][:2], request["right"])

    def is_at(self, position, numbers):
        """Whether one of these captions was made there."""
        spots = ((self.captions[n]["x"], self.captions[n]["y"]) for n in numbers)
        return any(dist(position, spot) <= SAME_SPOT for spot in spots)

    def is_right_by_words(self, request):
        """Whether a keyword search goes to the right spot: the newest of the best captions."""
        row = bm25_last(self.words, request["text"])
        rows_of = list(self.captions.values())
        return row is not None and self.is_at((rows_of[row]["x"], rows_of[row]["y"]), request["right"])

    def close(self):
        self.daemon.close()


def shown(household, request, reply):
    """A request that was answered wrongly, and what the memory said to it."""
    lines = [f"{request['kind']}: {request['text']}", f"    understood {json.dumps(reply.get('understood'))}"]
    for number in request.get("right", ()):
        lines.append(f"    right {number}: {household.captions[number]['caption']}")
    if "says" in request:
        lines.append(f"    to hold {request['says']}; answer: {reply.get('answer')}")
    if "error" in reply:
        lines.append(f"    refused: {reply['error']}")
    for goal in reply.get("goals", [])[:1]:
        at = [n for n in household.captions if household.is_at(goal["position"][:2], [n])]
        lines.append(f"    went to {at}: {goal['reason']} ({goal.get('probability')})")
    return "\n".join(lines)


def ask(program, folder, show, out):
    household = Household(program, folder)
    right = {kind: [0, 0] for kind in (*KINDS, "fetch by BM25")}
    for request in rows(folder / "requests.jsonl"):
        reply, is_right = household.answer(request)
        right[request["kind"]][0] += is_right
        right[request["kind"]][1] += 1
        if show and not is_right:
            print(shown(household, request, reply), flush=True)
        if out:
            told = {"household": folder.name, "text": request["text"], "is_right": is_right}
            out.write(json.dumps(told) + "\n")
        if request["kind"] == "fetch":
            right["fetch by BM25"][0] += household.is_right_by_words(request)
            right["fetch by BM25"][1] += 1
    household.close()
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("--households", type=Path, default=HOUSEHOLDS, help="a folder for each")
    parser.add_argument("--only", nargs="*", help="these households")
    parser.add_argument("--show", action="store_true", help="what is answered wrongly")
    parser.add_argument("--out", type=argparse.FileType("w"), help="each request, and whether it went right")
    args = parser.parse_args()
    folders = sorted(it for it in args.households.iterdir() if it.is_dir())
    for folder in folders:
        if not args.only or folder.name in args.only:
            right = ask(args.engram, folder, args.show, args.out)
            print(folder.name, ", ".join(f"{kind} {hits} of {of}" for kind, (hits, of) in right.items()), flush=True)


if __name__ == "__main__":
    main()
