"""Builds the training text: one JSON line per group of related texts, globally shuffled.

Sources are Debian packages with English text (see ``fetch_text.sh``) and the project's own grammars
(``grammar.py``, ``frames.py``, ``views.py``). None of it is shipped. Whole sources are held out for
``evaluate.py`` and never read here: the dictionaries jargon and devil, the Wesnoth campaigns, and each
twentieth WordNet synset; nor is any text kept that names a word of the held-out tests.

    python corpus.py prose --text-root WORK/root --out WORK/prose.jsonl
    python corpus.py generated --text-root WORK/root --out WORK/generated.jsonl
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import frames
import grammar
import views
from reserved import names_reserved

MAX_WORDS = 150
GROUP_LINES = 6
HELD_OUT_SYNSETS = 20
ANIMALS, ARTEFACTS, FOOD, NATURAL, PEOPLE, PLANTS = "05", "06", "13", "17", "18", "20"
"""Numbers of WordNet's lexicographer files of what a camera sees."""
ACTIVITIES = {"29", "30", "34", "35", "36", "38", "40"}
"""Those of verbs of the body, change, consumption, contact, creation, motion and possession."""

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")

COMMON = 4
RUDE = re.compile(r"offensive|disparag|derogat|slur|insult|ethnic|sexual", re.IGNORECASE)

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
        text = (
            gzip.open(path, "rt", errors="replace").read() if path.suffix == ".gz" else path.read_text(errors="replace")
        )
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


def plain_words(root: Path, part: str, files: set[str], most_parts: int) -> list[str]:
    """Common lower-case lemmas of the given lexicographer files, of one or a few words.

    Common is a word that WordNet's own glosses use now and then.
    """
    everything = list(synsets(root))
    used = Counter(
        word
        for *_, gloss, examples, _ in everything
        for text in (gloss, *examples)
        for word in re.findall(r"[a-z]+", text.lower())
    )
    words = {
        lemma
        for p, file, lemmas, gloss, _, held_out in everything
        if p == part and file in files and not held_out and not RUDE.search(gloss)
        for lemma in lemmas[:2]
        if lemma.islower() and lemma.count(" ") < most_parts and lemma.replace(" ", "").isalpha()
        if all(used[word] >= COMMON for word in lemma.split()) and not names_reserved(lemma)
    }
    return sorted(words)


def gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]", verb):
        return verb + verb[-1] + "ing"
    return verb + "ing"


def vocabulary(root: Path) -> frames.Vocabulary:
    def nouns(*files: str) -> list[str]:
        return plain_words(root, "noun", set(files), 2)

    verbs = plain_words(root, "verb", ACTIVITIES, 1)
    return frames.Vocabulary(
        things=nouns(ANIMALS, ARTEFACTS, ARTEFACTS, FOOD, NATURAL, PLANTS),
        animals=nouns(ANIMALS),
        plants=nouns(PLANTS),
        food=nouns(FOOD),
        people=nouns(PEOPLE),
        doing=[gerund(verb) for verb in verbs if len(verb) > 2] + list(grammar.ACTIONS) * 20,
    )


def capped(rng: random.Random, groups: Iterable[Group], most: int) -> list[Group]:
    shuffled = list(groups)
    rng.shuffle(shuffled)
    return shuffled[:most]


def prose(root: Path) -> dict[str, list[Group]]:
    """Text that people wrote: dictionaries, games, handbooks, aphorisms."""
    rng = random.Random(20)
    endless_sky = sorted((root / "usr/share/games/endless-sky/data").rglob("*.txt"))
    anarchism = sorted((root / "usr/share/doc/anarchism/markdown").glob("*.md*"))
    return {
        "wordnet": capped(rng, wordnet(root), 26_000),
        "gcide": capped(rng, gcide(root), 4_000),
        "foldoc": capped(rng, foldoc(rng, root), 2_500),
        "anarchism": capped(rng, grouped(markdown_prose(rng, anarchism)), 1_500),
        "endless-sky": capped(rng, grouped(quoted_strings(rng, endless_sky)), 8_000),
        "cataclysm": capped(rng, grouped(cataclysm(rng, root)), 9_000),
        "fortunes": capped(rng, grouped(fortunes(rng, root)), 6_000),
        "help": capped(rng, grouped(help_pages(rng, root)), 1_500),
        "packages": capped(rng, grouped(package_summaries()), 2_000),
    }


def asked(rng: random.Random, root: Path) -> Iterator[Group]:
    """WordNet's entries in the forms of questions, notes and reports."""
    for part, _, lemmas, gloss, examples, held_out in synsets(root):
        if held_out or part not in ("noun", "verb"):
            continue
        lemma, name = lemmas[0], rng.choice(frames.NAMES)
        thing = lemma if part == "verb" else grammar.article(lemma)
        yield [
            rng.choice(
                (f"what is {thing}?", f"explain {lemma}", f"what does {lemma} mean?", f"do you know what {thing} is")
            ),
            rng.choice(
                (f"what do you call {gloss}?", f"the word for {gloss}", f"{lemma} = {gloss}", f"note: {lemma}, {gloss}")
            ),
            rng.choice(
                (
                    f"What did {name} say about {thing}?",
                    f"when did {name} mention {lemma}?",
                    f"does {name} know about {lemma}?",
                )
            ),
            *(f"{name}: {example}" for example in examples[:2]),
            *([rng.choice((f"{name} says {examples[0]}", f"{name} wrote: {examples[0]}"))] if examples else []),
        ]


def generated(root: Path, groups: int) -> dict[str, list[Group]]:
    """Text of the project's own grammars."""
    rng = random.Random(22)
    words = vocabulary(root)
    return {
        "views": [views.view_group(rng, words) for _ in range(groups)],
        "frames": [frames.frame_group(rng, words) for _ in range(groups * 2)],
        "scenes": [grammar.scene_group(rng, words.things) for _ in range(groups)],
        "notes": [grammar.note_group(rng) for _ in range(groups)],
        "asked": capped(rng, asked(rng, root), groups),
    }


def kept(groups: list[Group]) -> list[Group]:
    """The groups without the texts that name a word of the held-out tests."""
    clean = [[text for text in dict.fromkeys(group) if not names_reserved(text)] for group in groups]
    return [group for group in clean if group]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("prose", "generated"))
    parser.add_argument("--text-root", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--groups", type=int, default=6_000, help="of each grammar, twice as many of frames")
    args = parser.parse_args()

    raw = prose(args.text_root) if args.part == "prose" else generated(args.text_root, args.groups)
    sources = {name: kept(groups) for name, groups in raw.items()}
    for name, groups in sources.items():
        texts = [text for group in groups for text in group]
        print(
            f"{name:12} {len(groups):7} groups {len(texts):8} texts {sum(map(len, texts)) / max(1, len(texts)):6.0f} characters each"
        )
    everything = [{"source": name, "texts": group} for name, groups in sources.items() for group in groups]
    random.Random(21).shuffle(everything)
    with args.out.open("w") as out:
        for group in everything:
            out.write(json.dumps(group) + "\n")


if __name__ == "__main__":
    main()
