"""What sends a robot off of what is said near it: a request should, talk that names things should not.

    cargo build --release
    python talk.py ../../target/release/engram [--show]

The memory is that of the household w13. README.md tells whence the texts come.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from requests import HERE, HOUSEHOLDS, Household, rows

MEMORY = HOUSEHOLDS / "w13"


def goes(household, text):
    """Whether the robot is sent; a refusal sends nobody."""
    try:
        reply = household.daemon.call("retrieve_object", task=text, now=household.now)
    except RuntimeError:
        return False, None
    return bool(reply["goals"]), reply["understood"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("--show", action="store_true", help="what is taken wrongly, of the lines that were read")
    args = parser.parse_args()
    household = Household(args.engram, MEMORY)
    right, number = Counter(), Counter()
    for at, line in enumerate(rows(HERE / "talk.jsonl")):
        is_read = at % 2 == 1
        sent, understood = goes(household, line["text"])
        # What was never seen in that household has no place to go to, and may be guessed.
        kind = ("read" if is_read else "read by nobody", "request" if line["moves"] else "talk")
        number[kind] += 1
        right[kind] += sent == line["moves"]
        if args.show and is_read and sent != line["moves"]:
            print(kind[1], line["text"], json.dumps(understood), sep=" | ", flush=True)
    household.close()
    for kind in sorted(number):
        print(*kind, f"{right[kind]} of {number[kind]}")


if __name__ == "__main__":
    main()
