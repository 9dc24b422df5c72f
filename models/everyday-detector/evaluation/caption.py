"""Reads a caption of everyday-detector back: its things with counts and colours, its relations."""

import json
import re
from pathlib import Path

NUMBERS = dict(
    zip("a an two three four five six seven eight nine ten many".split(), (1, 1, *range(2, 11), 11), strict=True)
)
COLOURS = "red orange yellow green turquoise blue purple pink brown white grey black".split()
IRREGULAR = {
    "person": "people",
    "mouse": "mice",
    "knife": "knives",
    "sheep": "sheep",
    "skis": "skis",
    "scissors": "scissors",
}
CLASSES = json.loads((Path(__file__).parent.parent / "config.json").read_text())["classes"]


def plural(name):
    """As the captions write it."""
    before, _, noun = name.rpartition(" ")
    noun = IRREGULAR.get(noun) or noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")
    return f"{before} {noun}".strip()


NAMES = {form: name for name in CLASSES for form in (name, plural(name))}


def read(caption):
    """Things as (name, count, colour), relations as (name, relation, name)."""
    things, relations = [], []
    for sentence in caption.split(". "):
        front, _, rest = sentence.partition(" on ")
        support, *around = rest.split(", ") if rest else (None,)
        on = of_list(front, things, relations)
        if support is None:
            continue
        (under,) = of_list(support, things, relations)
        relations += [(it, "on", under) for it in on]
        for phrase in re.split(r"(?<= behind it)|(?<= in front of it)", ", ".join(around)):
            what, relation = re.subn(r"^, | behind it$", "", phrase)[0], "behind"
            if phrase.endswith(" in front of it"):
                what, relation = re.sub(r"^, | in front of it$", "", phrase), "in front of"
            relations += [(it, relation, under) for it in of_list(what, things, relations) if what]
    return things, set(relations)


def of_list(text, things, relations):
    """Names of "a, two b and c" or of "a to the left of b", noted in both lists."""
    left, _, right = text.partition(" to the left of ")
    names = []
    for phrase in filter(None, re.split(", | and ", left) + [right]):
        number, _, noun = phrase.replace("a pair of ", "a ").partition(" ")
        first, _, after = noun.partition(" ")
        colour, noun = (first, after) if first in COLOURS and after else (None, noun)
        if noun in NAMES:
            things.append((NAMES[noun], NUMBERS[number], colour))
            names.append(NAMES[noun])
    if right and len(names) == 2:
        relations.append((names[0], "left of", names[1]))
    return names
