"""Builds the training text: one JSON line per group of related texts, globally shuffled.

Sources are Debian packages with English text (see ``fetch_text.sh``) and the project's own grammars
(``grammar.py``). None of it is shipped. Whole sources are held out for ``evaluate.py`` and never
read here: the dictionaries jargon and devil, the Wesnoth campaigns, and each twentieth WordNet synset.

    python corpus.py --text-root WORK/root --out WORK/corpus.jsonl
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import grammar

MAX_WORDS = 150
GROUP_LINES = 6
HELD_OUT_SYNSETS = 20
LEXICOGRAPHER_THINGS = {"05", "06", "13", "17", "20"}
"""WordNet's files of animals, artefacts, food, natural objects and plants: what a camera sees."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")

Group = list[str]


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def sentences(text: str) -> list[str]:
    return [s for s in SENTENCE_END.split(squeeze(text)) if len(s) > 3]


def passages(rng: random.Random, text: str) -> Iterator[str]:
    """Cuts prose into single sentences, small chunks and a few long passages."""
    rest = sentences(text)
    while rest:
        count = rng.choices((1, 2, 3, 6), weights=(60, 20, 13, 7))[0]
        chunk, rest = rest[:count], rest[count:]
        words = " ".join(chunk).split()
        if 2 <= len(words):
            yield " ".join(words[:MAX_WORDS])


def grouped(texts: Iterable[str]) -> Iterator[Group]:
    """Neighbouring texts in groups of a few."""
    group: Group = []
    for text in texts:
        group.append(text)
        if len(group) == GROUP_LINES:
            yield group
            group = []
    if len(group) > 1:
        yield group


def synsets(root: Path) -> Iterator[tuple[str, str, list[str], str, list[str], bool]]:
    """WordNet's synsets: part of speech, lexicographer file, lemmas, gloss, examples, held out?"""
    for part in ("noun", "verb", "adj", "adv"):
        lines = (root / "usr/share/wordnet" / f"data.{part}").read_text(encoding="latin-1").splitlines()
        for line in lines:
            if line.startswith("  "):
                continue
            data, _, gloss = line.partition(" | ")
            fields = data.split(" ")
            lemmas = [re.sub(r"\(.*\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(int(fields[3], 16))]
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = squeeze(gloss.split('; "')[0])
            yield part, fields[1], lemmas, definition, examples, int(fields[0]) % HELD_OUT_SYNSETS == 0


def wordnet(root: Path) -> Iterator[Group]:
    for part, _, lemmas, gloss, examples, held_out in synsets(root):
        if not held_out:
            titled = [] if part == "noun" else [f"{lemmas[0]}: {gloss}"]
            yield [*lemmas[:3], gloss, *titled, *examples[:2]]


def dictionary(root: Path, name: str) -> str:
    return gzip.open(root / f"usr/share/dictd/{name}.dict.dz", "rt", encoding="utf-8", errors="replace").read()


def gcide(root: Path) -> Iterator[Group]:
    """Webster 1913: definitions and quotations without etymologies and labels."""
    for entry in re.split(r"\n(?=\S)", dictionary(root, "gcide")):
        head = entry.split("\\", 1)[0].strip()
        body = re.sub(r"\[[^\]]*\]|--[A-Z][\w.]*( [A-Z(][\w.)]*)?|[{}]", "", entry.split("\n", 1)[-1])
        pieces = [squeeze(re.sub(r"^\s*(\d+\.|\([a-z]\))", "", piece)) for piece in body.split("\n\n")]
        pieces = [p for p in pieces if 3 <= len(p.split()) <= 60 and p.isascii()]
        if pieces:
            yield [head.lower(), *pieces[:4]]


def foldoc(rng: random.Random, root: Path) -> Iterator[Group]:
    for entry in re.split(r"\n(?=\S)", dictionary(root, "foldoc")):
        head, _, body = entry.partition("\n")
        body = re.sub(r"<[^>]*>|\([\d-]+\)|\{\(.*?\)\}|[{}]|\[[^\]]*\]", "", body, flags=re.S)
        texts = list(passages(rng, body))[:4]
        if texts:
            yield [head.strip(), *texts]


def markdown_prose(rng: random.Random, files: list[Path]) -> Iterator[str]:
    for path in files:
        text = gzip.open(path, "rt", errors="replace").read() if path.suffix == ".gz" else path.read_text(errors="replace")
        for paragraph in text.split("\n\n"):
            if len(paragraph) > 40 and not paragraph.lstrip().startswith(("#", "*", "[", "|", ">")):
                yield from passages(rng, re.sub(r"\[([^\]]*)\]\([^)]*\)|[*_`\\]", r"\1", paragraph))


def help_pages(rng: random.Random, root: Path) -> Iterator[str]:
    for path in sorted((root / "usr/share/help/C").rglob("*.page")):
        for paragraph in re.findall(r"<(?:p|title|desc)>(.*?)</(?:p|title|desc)>", path.read_text(), flags=re.S):
            yield from passages(rng, re.sub(r"<[^>]*>", "", paragraph))


def quoted_strings(rng: random.Random, files: list[Path]) -> Iterator[str]:
    """Story and dialogue of Endless Sky: strings in backquotes or quotes with several words."""
    for path in files:
        for text in re.findall(r"`([^`\n]{12,})`", path.read_text(errors="replace")):
            text = re.sub(r"<[^>]*>", "it", text)
            if text.count(" ") >= 3:
                yield from passages(rng, text)


def json_strings(value: object, key: str = "") -> Iterator[str]:
    """Names, descriptions and spoken lines in Cataclysm's data, in file order."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from json_strings(item, key if name in ("str", "str_sp") else name)
    elif isinstance(value, list):
        for item in value:
            yield from json_strings(item, key)
    elif isinstance(value, str) and key in ("name", "description", "text", "dynamic_line", "yes", "no", "sound"):
        yield value


def cataclysm(rng: random.Random, root: Path) -> Iterator[str]:
    for path in sorted((root / "usr/share/games/cataclysm-dda/json").rglob("*.json")):
        seen: set[str] = set()
        for text in json_strings(json.loads(path.read_text())):
            text = squeeze(re.sub(r"<[^>]*>", "", text))
            if " " in text and text not in seen:
                seen.add(text)
                yield from passages(rng, text) if len(text.split()) > 12 else [text]


def fortunes(rng: random.Random, root: Path) -> Iterator[str]:
    """Short wisdom, jokes and verse: the most everyday English among the packages."""
    for path in sorted((root / "usr/share/games/fortunes").glob("*.u8")):
        if "ascii-art" in path.name or path.name.startswith("art"):
            continue
        for text in path.read_text(errors="replace").split("\n%\n"):
            yield from passages(rng, re.sub(r"\n\s*-- .*", "", text, flags=re.S))


def package_summaries() -> Iterator[str]:
    listing = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    summaries = set(re.findall(r"^Description: (.*)$", listing, flags=re.M))
    yield from sorted(s for s in summaries if s.count(" ") > 3)


def rare_nouns(root: Path) -> list[str]:
    """Names of visible things in WordNet: words of one or two parts, mostly lower case."""
    names = {
        lemma
        for part, file, lemmas, _, _, held_out in synsets(root)
        if part == "noun" and file in LEXICOGRAPHER_THINGS and not held_out
        for lemma in lemmas[:2]
        if lemma.islower() and lemma.count(" ") <= 1 and lemma.replace(" ", "").isalpha()
    }
    return sorted(names)


def capped(rng: random.Random, groups: Iterable[Group], most: int) -> list[Group]:
    kept = list(groups)
    rng.shuffle(kept)
    return kept[:most]


def collect(root: Path, scenes: int, notes: int) -> dict[str, list[Group]]:
    rng = random.Random(20)
    nouns = rare_nouns(root)
    endless_sky = sorted((root / "usr/share/games/endless-sky/data").rglob("*.txt"))
    anarchism = sorted((root / "usr/share/doc/anarchism/markdown").glob("*.md*"))
    return {
        "scenes": [grammar.scene_group(rng, nouns) for _ in range(scenes)],
        "notes": [grammar.note_group(rng) for _ in range(notes)],
        "wordnet": capped(rng, wordnet(root), 45_000),
        "gcide": capped(rng, gcide(root), 14_000),
        "foldoc": capped(rng, foldoc(rng, root), 5_000),
        "anarchism": capped(rng, grouped(markdown_prose(rng, anarchism)), 4_500),
        "endless-sky": capped(rng, grouped(quoted_strings(rng, endless_sky)), 8_000),
        "cataclysm": capped(rng, grouped(cataclysm(rng, root)), 9_000),
        "fortunes": capped(rng, grouped(fortunes(rng, root)), 8_000),
        "help": capped(rng, grouped(help_pages(rng, root)), 2_000),
        "packages": capped(rng, grouped(package_summaries()), 2_500),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text-root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=14_000)
    parser.add_argument("--notes", type=int, default=14_000)
    args = parser.parse_args()

    sources = collect(args.text_root, args.scenes, args.notes)
    for name, groups in sources.items():
        texts = [text for group in groups for text in group]
        print(f"{name:12} {len(groups):7} groups {len(texts):8} texts {sum(map(len, texts)) / max(1, len(texts)):6.0f} characters each")
    everything = [{"source": name, "texts": group} for name, groups in sources.items() for group in groups]
    random.Random(21).shuffle(everything)
    with args.out.open("w") as out:
        for group in everything:
            out.write(json.dumps(group) + "\n")


if __name__ == "__main__":
    main()
