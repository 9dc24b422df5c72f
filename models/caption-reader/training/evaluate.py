"""Precision and recall of the teacher and of the reader against captions that were labelled by hand.

python evaluate.py --gold ../../../benches/language/parse_200.jsonl --nouns WORDNET
python evaluate.py --gold ../../../benches/language/parse_200.jsonl --model .. --request-reader ../../request-reader
python evaluate.py --presence lists/longer.txt --model ..
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from labels import SENTENCE, Caption, Parse, parse

Read = Callable[[str], Caption]


def flat(words: str) -> str:
    return re.sub(r"[\s\-_\"']+", " ", words.lower()).strip()


def answers_of_gold(row: dict) -> dict[str, Counter]:
    shown = [it for it in row["names"] if it["role"] != "absent"]
    return {
        "names": Counter(flat(it["name"]) for it in shown),
        "landmarks": Counter(flat(it["name"]) for it in shown if it["role"] == "landmark"),
        "persons": Counter(flat(it["name"]) for it in shown if it["role"] == "person"),
        "places": Counter(flat(it["name"]) for it in shown if it["role"] == "place"),
        "absent": Counter(flat(it["name"]) for it in row["names"] if it["role"] == "absent"),
        "attributes": Counter((flat(it["name"]), flat(one)) for it in shown for one in it["attributes"]),
        "deeds": Counter((flat(it["who"]), flat(it["verb"]).split()[0]) for it in row["deeds"]),
        "objects": Counter((flat(it["verb"]).split()[0], flat(it["object"])) for it in row["deeds"] if it["object"]),
    }


def answers_of_parse(said: Parse) -> dict[str, Counter]:
    shown = [it for it in said.names if it.role != "absent"]

    def of(role: str) -> Counter:
        return Counter(flat(it.name) for it in said.names if it.role == role)

    def who(number: int) -> str:
        return flat(said.names[number].name) if number >= 0 else ""

    return {
        "names": Counter(flat(it.name) for it in shown),
        "landmarks": of("landmark"),
        "persons": of("person"),
        "places": of("place"),
        "absent": of("absent"),
        "attributes": Counter((flat(it.name), flat(one)) for it in shown for one in it.attributes),
        "deeds": Counter((who(it.who), flat(it.words).split()[0]) for it in said.deeds),
        "objects": Counter((flat(it.words).split()[0], who(number)) for it in said.deeds for number in it.objects),
    }


def read_all(read: Read, text: str) -> dict[str, Counter]:
    """Sentence by sentence, as engram does."""
    found: dict[str, Counter] = {}
    for sentence in SENTENCE.split(text):
        for kind, some in answers_of_parse(parse(read(sentence))).items():
            found[kind] = found.get(kind, Counter()) + some
    return found


class Score:
    def __init__(self) -> None:
        self.right = self.said = self.gold = 0

    def add(self, said: Counter, gold: Counter) -> None:
        self.right += (said & gold).total()
        self.said += said.total()
        self.gold += gold.total()

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.said), self.right / max(1, self.gold)
        return f"precision {precision:.3f} recall {recall:.3f} of {self.gold}"


def scored(read: Read, rows: list[dict], show: bool) -> dict[str, Score]:
    scores: dict[str, Score] = {}
    for row in rows:
        gold, said = answers_of_gold(row), read_all(read, row["text"])
        for kind, some in gold.items():
            scores.setdefault(kind, Score()).add(said[kind], some)
            missed, extra = some - said[kind], said[kind] - some
            if show and (missed or extra):
                print(f"{row['text']}\n    {kind}: missed {list(missed)} said {list(extra)}")
    return scores


def presence(read: Read, rows: list[tuple[str, str]]) -> Iterator[tuple[str, str, bool]]:
    """Of each thing of a list of captions: its caption, its sign and whether it is read as that says."""
    for text, things in rows:
        names = [it for part in SENTENCE.split(text) for it in parse(read(part)).names]
        for sign, thing in ((it[0], it[1:]) for it in things.split()):
            is_shown = any(it.role != "absent" and it.name.split()[-1] == thing for it in names)
            yield text, sign, is_shown == (sign == "+")


def teacher_reader(nouns: Path) -> Read:
    from lexicon import Lexicon
    from teacher import Teacher

    teacher = Teacher(Lexicon(nouns))
    return lambda text: teacher.label_all([text])[0]


def model_reader(folder: Path, request_reader: Path) -> Read:
    import torch
    from tokenizers import Tokenizer

    from model import load
    from reading import read

    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(request_reader / "tokenizer.json"))
    tokenizer.no_padding()
    model = load(folder, request_reader)
    return lambda text: read(model, tokenizer, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--presence", type=Path, help="captions, each with what is there and what is not")
    parser.add_argument("--nouns", type=Path, help="folder of WordNet's data.noun: measures the teacher")
    parser.add_argument("--model", type=Path, help="folder of the reader")
    parser.add_argument("--request-reader", type=Path, default=Path("../../request-reader"))
    parser.add_argument("--show", action="store_true", help="what is wrong")
    args = parser.parse_args()
    read = model_reader(args.model, args.request_reader) if args.model else teacher_reader(args.nouns)
    if args.presence:
        lines = [line.strip().split(" | ") for line in args.presence.open() if not line.startswith("#")]
        found = list(presence(read, lines))
        for sign, said in (("+", "there"), ("-", "not there")):
            of = [is_right for _, its, is_right in found if its == sign]
            print(f"{said}: {sum(of)} of {len(of)} things right")
        wrong = {text for text, _, is_right in found if not is_right}
        print(f"{len(lines) - len(wrong)} of {len(lines)} captions right in all")
    if not args.gold:
        return
    rows = [json.loads(line) for line in args.gold.open()]
    for kind in [None, *dict.fromkeys(row["kind"] for row in rows)]:
        some = [row for row in rows if kind in (None, row["kind"])]
        print(f"{kind or 'all'}: {len(some)} captions")
        for name, score in scored(read, some, args.show and kind is None).items():
            print(f"    {name:11} {score}")


if __name__ == "__main__":
    main()
