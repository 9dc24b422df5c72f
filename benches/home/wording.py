"""Puts a task into everyday words, from a grammar in a file.

A grammar is JSON: `families` lists the templates of each kind of task, `rules` what
`<rule>` in a template may become, `{slot}` is filled by the task; `when` and `daily`
list the phrases for times, `nouns`, `furniture` and `doing` what people call things,
furniture and what they do (the first of a list is taken most often). A template whose
slots a task does not have is not for that task.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

SUPPLIED = Path(__file__).resolve().parent / "wordings"
_SLOT, _RULE = re.compile(r"\{(\w+)\}"), re.compile(r"<(\w+)>")
_COMMON = 0.7
"""How often the first of several words is taken."""
_SECTIONS = ("nouns", "furniture", "doing", "rules", "families", "when", "daily")


class Grammar:
    def __init__(self, path: Path):
        data = json.loads(path.read_text())
        missing = [section for section in _SECTIONS if section not in data]
        if missing:
            raise SystemExit(f"{path} has no {', '.join(missing)}; a grammar has {', '.join(_SECTIONS)}")
        self._data = data

    @classmethod
    def open(cls, name: str) -> Grammar:
        """One of those supplied, by name, or a file."""
        supplied = SUPPLIED / f"{name}.json"
        path = supplied if supplied.is_file() else Path(name)
        if not path.is_file():
            names = ", ".join(sorted(file.stem for file in SUPPLIED.glob("*.json")))
            raise SystemExit(f"--wordings is {name}; accepted is one of {names}, or a file of that form")
        return cls(path)

    def kinds(self) -> list[str]:
        return list(self._data["families"])

    def can_say(self, section: str, key: str) -> bool:
        return bool(self._data[section].get(key))

    def words(self, section: str, key: str) -> list[str]:
        """All that it may be called."""
        return self._data[section].get(key, [key])

    def word(self, rng: np.random.Generator, section: str, key: str) -> str:
        """What somebody calls this; itself where the grammar does not say."""
        words = self.words(section, key)
        if len(words) == 1 or rng.random() < _COMMON:
            return words[0]
        return words[1 + rng.integers(len(words) - 1)]

    def phrase(self, rng: np.random.Generator, section: str, key: str, slots: dict[str, str]) -> str:
        """One of the phrases for a time, all as likely."""
        phrases = self._data[section][key]
        return phrases[rng.integers(len(phrases))].format(**slots)

    def say(self, rng: np.random.Generator, kind: str, slots: dict[str, str]) -> str:
        templates = [
            template
            for template in self._data["families"][kind]
            if all(slot in slots for slot in _SLOT.findall(template))
        ]
        if not templates:
            raise SystemExit(f"no template of {kind} does with {', '.join(sorted(slots))}")
        text = templates[rng.integers(len(templates))]
        text = _RULE.sub(lambda match: self._expand(rng, match.group(1)), text).format(**slots)
        return text[0].upper() + text[1:]

    def _expand(self, rng: np.random.Generator, rule: str) -> str:
        choices = self._data["rules"][rule]
        return choices[rng.integers(len(choices))]


def with_article(words: str) -> str:
    """`a mug`, `an orange bowl`, `a set of keys`."""
    if words == "keys":
        return "a set of keys"
    return f"{'an' if words[0] in 'aeiouAEIOU' else 'a'} {words}"
