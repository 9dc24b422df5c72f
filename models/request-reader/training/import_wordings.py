"""Turns development lists of the simulated home (`benches/home/wordings`) into templates.

python import_wordings.py ../../../benches/home/wordings/dev*.json > templates/home.txt
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

_SLOTS = {
    "thing": "thing", "a_thing": "a_thing", "named": "thing", "a_named": "a_thing", "colour": "colour",
    "the_spot": "spot", "the_room": "room", "other": "other", "when": "when", "daily": "daily", "doing": "doing",
}  # fmt: skip
_FLAGS = {"frequent.most": "most", "frequent.least": "least", "frequent": "habit most", "temporal": "once"}
_USE = re.compile(r"\b(use|uses|used|using)\b(?! to\b)")
EXPANSIONS = 4
"""Of each template with rules, by chance."""


def lines_of(path: Path, rng: random.Random) -> dict[str, list[str]]:
    data = json.loads(path.read_text())
    found: dict[str, list[str]] = {}
    for family, templates in data["families"].items():
        flags = flags_of(family)
        for template in templates:
            for _ in range(EXPANSIONS if "<" in template else 1):
                text = template
                while rule := re.search(r"<(\w+)>", text):
                    text = text[: rule.start()] + rng.choice(data["rules"][rule.group(1)]) + text[rule.end() :]
                text = with_uses(family, text)
                text = text.replace("{on_spot}", "on {the_spot}").replace("{On_spot}", "On {the_spot}")
                text = re.sub(r"\{(\w+)\}", lambda it: "{" + slot_of(it.group(1)) + "}", text)
                found.setdefault(flags, []).append(text)
    return found


def with_uses(family: str, text: str) -> str:
    """Marks what is said of use where use singles the thing out."""
    return _USE.sub(r"[deed:\1]", text) if flags_of(family) in ("most", "least") else text


def flags_of(family: str) -> str:
    """The flags of a section of templates, for a family of the simulated home's tasks."""
    return _FLAGS.get(family) or _FLAGS.get(family.split(".")[0], "the")


def slot_of(name: str) -> str:
    known = _SLOTS[name.lower()]
    return known.capitalize() if name[0].isupper() else known


def main() -> None:
    rng = random.Random(1)
    for path in map(Path, sys.argv[1:]):
        print(f"# from {path.name}")
        for flags, lines in lines_of(path, rng).items():
            print(f"== full the {flags}".replace("the the", "the"))
            print("\n".join(dict.fromkeys(lines)))


if __name__ == "__main__":
    main()
