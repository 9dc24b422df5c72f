"""What people named in pictures, asked of the long captions that a vision-language model wrote of them.

    git clone https://github.com/google/imageinwords
    cargo build --release
    python described.py imageinwords ../../target/release/engram

README.md beside this file says whence the captions come and what counts as right.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from captions import Engram, against, nearest, singular
from embedder import Embedder
from lexical import Bm25, reciprocal_rank

# Of a name that more pictures have no single one is meant.
PICTURES_MAX = 3


def pictures(clone):
    """The caption of each picture by the model, and the names that people gave to what it shows."""
    lines = (clone / "datasets/IIW-400/data.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        (row["IIW-P5B"], {" ".join(it["label"].lower().split()) for it in row["objects"]})
        for row in rows
        if row.get("IIW-P5B")
    ]


def asked_of(named):
    """Each name of few pictures, with the pictures that have it or a longer one that ends with it."""
    stems = [{singular(name) for name in names} for names in named]
    asked = {}
    for name in sorted({name for names in named for name in names}):
        stem = singular(name)
        shown = {at for at, these in enumerate(stems) if any(it == stem or it.endswith(f" {stem}") for it in these)}
        if len(shown) <= PICTURES_MAX:
            asked[name] = shown
    return asked


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("imageinwords", type=Path, help="a clone of the repository")
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("--show", action="store_true", help="what engram gives or misses, name by name")
    args = parser.parse_args()
    texts, named = zip(*pictures(args.imageinwords), strict=True)
    right = asked_of(named)
    embed = Embedder().embed
    vectors, words, engram = np.array([embed(text) for text in texts]), Bm25(texts), Engram(args.engram, texts)
    cosines = {name: vectors @ embed(f"the {name}") for name in right}
    scores = {
        "engram": {name: engram.scores(f"the {name}") for name in right},
        "bm25": {name: words.scores(name) for name in right},
        "embedder": cosines,
    }
    found = {
        "engram": {name: engram.showing(name) for name in right},
        "bm25, all words": {name: words.holding_all(name) for name in right},
        "embedder": nearest(cosines, right),
    }
    for name, shown in right.items() if args.show else ():
        gives = found["engram"][name]
        for at in sorted(gives | shown):
            kind = "right" if at in gives & shown else "given" if at in gives else "missed"
            print(f"{kind}\t{name}\t{texts[at]}")
    engram.daemon.close()
    figures = {
        "captions": len(texts),
        "names": len(right),
        "mrr": {
            system: float(np.mean([reciprocal_rank(of[name], right[name]) for name in right]))
            for system, of in scores.items()
        },
        "all": {system: against(these, right) for system, these in found.items()},
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
