"""How many requests of other wordings are read right: those of the simulated home, or of a list of templates.

    python evaluate.py --model .. --wordings ../../../benches/home/wordings/dev4.json
    python evaluate.py --model .. --templates lists/*.txt
    python evaluate.py --model .. --wordings ../../../benches/home/wordings/dev4.json --manner polite --nouns WORDNET

A request is right when every role, the order and the tense are; deeds by their first word. The texts
are filled with things and places of `lexicon.json` and with the list's own times and deeds. Of a list of
templates each line is read once, as it stands. `--manner` says the requests with words that are
never added in training (`polite`), with slips of the keys (`slips`), as typed in a chat (`chat`) or
as speech recognition writes them down (`speech`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import torch
from augment import chatted, manners_of, mistyped, sounds_alike, spoken
from grammar import HEADS, HERE, ORDERS, TENSES, Filler, Grammar, Request, Words
from import_wordings import flags_of, slot_of, with_uses
from model import Reader, config_of, weights_of
from tokenizers import Tokenizer
from train import read, sense

UNASKED = ("question", "stop", "chat")
"""Intents of what the robot is not sent for."""
_MOMENT = {"n": "three", "weekday": "Tuesday", "clock": "3 pm", "month": "May", "ordinal": "4th", "day": "4"}


def of_wordings(path: Path, words: Words, count: int, rng: random.Random) -> list[tuple[str, Request]]:
    """Requests of a grammar of `benches/home/wordings`, each with its family."""
    data = json.loads(path.read_text())
    found = []
    for family, templates in data["families"].items():
        flags = flags_of(family).split()
        order = next((flag for flag in flags if flag in ORDERS), "none")
        tense = next((flag for flag in flags if flag in TENSES), "none")
        for template in templates:
            for _ in range(count):
                text = template
                while rule := re.search(r"<(\w+)>", text):
                    text = text[: rule.start()] + rng.choice(data["rules"][rule.group(1)]) + text[rule.end() :]
                text = with_uses(family, text)
                request, filler, at = Request(order=order, tense=tense), Filler(words, rng), 0
                for slot in re.finditer(r"\{(\w+)\}|\[deed:(\w+)\]", text):
                    request.add(text[at : slot.start()])
                    at = slot.end()
                    name = slot.group(1)
                    if name is None:
                        request.add(slot.group(2), "deed")
                    elif name.lower() in ("when", "daily", "doing"):
                        choices = [it for some in data[name.lower()].values() for it in some]
                        said = rng.choice(choices).format_map(defaultdict(str, _MOMENT))
                        request.add(
                            said[0].upper() + said[1:] if name[0].isupper() else said,
                            "deed" if name == "doing" else "time",
                        )
                    elif name == "on_spot":
                        request.add("on ")
                        filler.slot(request, "spot")
                    else:
                        filler.slot(request, slot_of(name))
                request.add(text[at:])
                found.append((family, request))
    return found


def of_lines(path: Path, words: Words) -> list[tuple[str, Request]]:
    """Each line of a list of templates, with what its section says of it."""
    grammar = Grammar([path], words)
    found = []
    for (_, *heads), templates in grammar.whole.items():
        for template in templates:
            request = Request(**{head: said for head, said in zip(HEADS, heads) if said})
            Filler(words, random.Random(0)).fill(request, template, [""])
            found.append((request.intent if request.intent in UNASKED else "request", request))
    return found


def load(folder: Path) -> tuple[Reader, Tokenizer]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(config_of(tokenizer.get_vocab_size()))
    finished = (folder / "model.safetensors").exists()
    model.load_state_dict(weights_of(folder if finished else folder / "checkpoint.pt"))
    return model, tokenizer


def manner_of(name: str, nouns: Path | None) -> Callable[[Request, random.Random], Request]:
    if name == "polite" and nouns:
        return manners_of(nouns, held=True).put
    sounds = sounds_alike()
    known = {
        "slips": mistyped,
        "chat": chatted,
        "speech": lambda it, rng: spoken(it, sounds, rng),
        "plain": lambda it, _: it,
    }
    return known[name]


def told(name: str, asked: list[tuple[str, Request]], said: list[Request], show: int) -> None:
    """Prints how many are read right, and how many are taken for what they are."""
    right: dict[str, list[bool]] = defaultdict(list)
    whole: dict[str, list[bool]] = defaultdict(list)
    for (family, gold), read_as in zip(asked, said):
        is_asked, taken = gold.intent not in UNASKED, read_as.intent not in UNASKED
        # Of what is not asked for only questions and orders to stop say of what.
        is_right = sense(gold) == sense(read_as) or gold.intent == "chat"
        right[family].append(is_right)
        whole["request or none"].append(is_asked == taken)
        if not is_asked:
            whole["kind of none"].append(gold.intent == read_as.intent)
        for head in ("asks", "rank", "count"):
            if getattr(gold, head) != HEADS[head][0]:
                whole[head].append(getattr(gold, head) == getattr(read_as, head))
        if (not is_right or is_asked != taken) and show > 0:
            show -= 1
            print(f"{gold.text}\n   is {gold.intent} {sense(gold)}\n read {read_as.intent} {sense(read_as)}")
    everything = [it for some in right.values() for it in some]
    print(f"{name}: {sum(everything) / len(everything):.3f} of {len(everything)} read right")
    for shares in (right, whole):
        print("   " + ", ".join(f"{kind} {sum(some) / len(some):.3f} of {len(some)}" for kind, some in shares.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=HERE.parent)
    parser.add_argument("--wordings", type=Path, nargs="*", default=[])
    parser.add_argument("--templates", type=Path, nargs="*", default=[])
    parser.add_argument("--count", type=int, default=2, help="of each wording")
    parser.add_argument("--manner", choices=["plain", "polite", "slips", "chat", "speech"], default="plain")
    parser.add_argument("--nouns", type=Path, help="folder of WordNet, for polite words")
    parser.add_argument("--show", type=int, default=0, help="how many wrong ones to print")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = load(args.model)
    words = Words(json.loads((HERE / "lexicon.json").read_text()))
    rng = random.Random(3)
    said_so = manner_of(args.manner, args.nouns)
    for path in args.wordings + args.templates:
        asked = of_wordings(path, words, args.count, rng) if path.suffix == ".json" else of_lines(path, words)
        asked = [(family, said_so(it, rng)) for family, it in asked]
        told(path.name, asked, read(model, tokenizer, [it.text for _, it in asked]), args.show)


if __name__ == "__main__":
    main()
