"""Writes names_by_people.txt: nouns that different people use for one thing of a photograph.

    python from_captions.py CAPTIONS

CAPTIONS has a line a caption, `image id <TAB> caption`, several of each photograph (COCO 2017 validation, CC BY 4.0).
A pair of nouns of near kinds counts where one person has one of both and another the other, far oftener than by
chance, and nobody has both: a cap and a hat. Photographs that evaluations use are left out.
"""

import argparse
import re
from collections import Counter, defaultdict
from pathlib import Path

DATA = Path(__file__).parent
HELD_OUT = "0"
"""Last digits of the ids of photographs that evaluations use."""
STEPS_MAX = 2
"""Steps in concepts.txt from one noun over the kind of both to the other."""
PHOTOGRAPHS_MIN, LIFT_MIN, APART_MIN, SHARE_MIN = 4, 8, 0.9, 0.2
"""Photographs told so by two people; how much oftener than by chance; of all with both nouns those where no
caption has both; of those with the seldomer noun."""
PEOPLE = "0"
"""The concept of a person, who is called many things."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path)
    concepts = Concepts(DATA / "concepts.txt")
    photographs: dict[str, list[set[str]]] = defaultdict(list)
    for line in parser.parse_args().captions.read_text().splitlines():
        number, caption = line.split("\t")
        if number[-1] not in HELD_OUT:
            photographs[number].append(concepts.heads(caption))
    (DATA / "names_by_people.txt").write_text("".join(f"{a}, {b}\n" for a, b in pairs(photographs, concepts)))


class Concepts:
    def __init__(self, file: Path):
        self.parent: dict[str, str] = {}
        self.of: dict[str, list[str]] = defaultdict(list)
        for line in file.read_text().splitlines():
            if line and not line.startswith("#"):
                number, parent, names, *_ = line.split("\t")
                self.parent[number] = parent
                for name in names.split(", "):
                    self.of[name].append(number)

    def heads(self, caption: str) -> set[str]:
        """Nouns that no other noun follows, in the singular."""
        words = [self.singular(it) for it in re.findall(r"[a-z]+", caption.lower())]
        return {it for it, after in zip(words, [*words[1:], ""]) if it in self.of and after not in self.of}

    def singular(self, word: str) -> str:
        ends = [("", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe")]
        ones = [word.removesuffix(end) + one for end, one in ends if word.endswith(end)]
        return next((it for it in ones if it in self.of), word)

    def above(self, name: str) -> dict[str, int]:
        """The concepts of a name and those above them, with the steps there."""
        found: dict[str, int] = {}
        for number in self.of[name]:
            at, steps = number, 0
            while at and steps <= STEPS_MAX:
                found[at] = min(steps, found.get(at, steps))
                at, steps = self.parent[at], steps + 1
        return found

    def are_near(self, a: str, b: str) -> bool:
        one, other = self.above(a), self.above(b)
        steps = [one[it] + other[it] for it in one if it in other]
        return bool(steps) and 0 < min(steps) <= STEPS_MAX and PEOPLE not in one


def pairs(photographs: dict[str, list[set[str]]], concepts: Concepts) -> list[tuple[str, str]]:
    of: Counter[str] = Counter()
    apart: Counter[tuple[str, str]] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for captions in photographs.values():
        names = sorted(set().union(*captions))
        of.update(names)
        for at, a in enumerate(names):
            for b in names[at + 1 :]:
                is_together = any(a in it and b in it for it in captions)
                (together if is_together else apart)[a, b] += 1
    found = []
    for (a, b), count in apart.items():
        lift = count * len(photographs) / (of[a] * of[b])
        is_one = count / (count + together[a, b]) >= APART_MIN and count / min(of[a], of[b]) >= SHARE_MIN
        if count >= PHOTOGRAPHS_MIN and lift >= LIFT_MIN and is_one and concepts.are_near(a, b):
            found.append((a, b))
    return sorted(found)


if __name__ == "__main__":
    main()
