"""How many requests of other wordings are read right: those of the simulated home, or of a list of templates.

    python evaluate.py --model .. --wordings ../../../benches/home/wordings/dev4.json
    python evaluate.py --model .. --templates FILE.txt

A request is right when every role, the order and the tense are; deeds by their first word. The texts
are filled with things and places of `lexicon.json` and with the list's own times and deeds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from pathlib import Path

import torch
from grammar import HERE, ORDERS, TENSES, Filler, Grammar, Request, Words
from import_wordings import flags_of, slot_of, with_uses
from model import Reader, config_of
from safetensors.torch import load_file
from tokenizers import Tokenizer
from train import read, sense

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


def load(folder: Path) -> tuple[Reader, Tokenizer]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(config_of(tokenizer.get_vocab_size()))
    weights = folder / "model.safetensors"
    state = (
        {name: it.float() for name, it in load_file(weights).items()}
        if weights.exists()
        else torch.load(folder / "checkpoint.pt", weights_only=True)["model"]
    )
    model.load_state_dict(state)
    return model, tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=HERE.parent)
    parser.add_argument("--wordings", type=Path, nargs="*", default=[])
    parser.add_argument("--templates", type=Path, nargs="*", default=[])
    parser.add_argument("--count", type=int, default=2, help="of each template")
    parser.add_argument("--show", type=int, default=0, help="how many wrong ones to print")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = load(args.model)
    words = Words(json.loads((HERE / "lexicon.json").read_text()))
    rng = random.Random(3)
    for path in args.wordings + args.templates:
        if path.suffix == ".json":
            asked = of_wordings(path, words, args.count, rng)
        else:
            grammar = Grammar([path], words)
            asked = [("all", grammar.request(rng)) for _ in range(200 * args.count)]
        right: dict[str, list[bool]] = defaultdict(list)
        shown = 0
        for (family, gold), said in zip(asked, read(model, tokenizer, [it.text for _, it in asked])):
            is_right = sense(gold) == sense(said)
            right[family].append(is_right)
            if not is_right and shown < args.show:
                shown += 1
                print(f"{gold.text}\n   is {sense(gold)}\n read {sense(said)}")
        everything = [it for some in right.values() for it in some]
        print(f"{path.name}: {sum(everything) / len(everything):.3f} of {len(everything)} read right")
        print("   " + ", ".join(f"{family} {sum(some) / len(some):.2f}" for family, some in right.items()))


if __name__ == "__main__":
    main()
