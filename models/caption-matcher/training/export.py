"""Writes a matcher as engram loads it: f16 weights, configuration and golden answers.

    python export.py --matcher WORK/matcher.pt --glance WORK/glance.pt --request-reader ../../request-reader --places ../../../benches/language --out ..

`--slope` and `--offset` make log-odds of its logits, as `evaluate.py` fits them.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import torch
from glance import SIZE, Glance, Words
from model import TABLE, Matcher, as_tensors, config_of, tokenizer_of, weights_of
from places import places_of, sentences
from safetensors.torch import save_file

GOLDEN = 60
_SAID = [
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "layer_norm_eps",
    "max_position_embeddings",
    "model_type",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matcher", type=Path, nargs="+", required=True, help="of several the mean")
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0], help="of each in the mean")
    parser.add_argument("--glance", type=Path, required=True)
    parser.add_argument("--request-reader", type=Path, required=True)
    parser.add_argument("--places", type=Path, nargs="+", required=True, help="for the golden answers")
    parser.add_argument("--slope", type=float, default=1.0)
    parser.add_argument("--offset", type=float, default=0.0)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    states = [torch.load(it, weights_only=True) for it in args.matcher]
    shares = list(zip(args.shares, states, strict=True))
    state = {name: sum(share * it[name].float() for share, it in shares) for name in states[0]}
    state["match.weight"], state["match.bias"] = (
        state["match.weight"] * args.slope,
        state["match.bias"] * args.slope + args.offset,
    )
    layers = 1 + max(int(name.split(".")[3]) for name in state if ".layer." in name)
    config = config_of(len(state[f"bert.{TABLE}"]), layers)
    kept = {name: it.half().contiguous() for name, it in state.items() if name != f"bert.{TABLE}"}
    glance_state = {name: it.half().contiguous() for name, it in torch.load(args.glance, weights_only=True).items()}
    save_file(
        kept | {f"glance.{name}": it for name, it in glance_state.items()},
        args.out / "model.safetensors",
        metadata={"format": "pt"},
    )
    said = {"architectures": ["CaptionMatcher"]} | {key: config.to_dict()[key] for key in _SAID}
    (args.out / "config.json").write_text(
        json.dumps(said | {"glance_size": SIZE, "words_of": "request-reader"}, indent=2) + "\n"
    )

    model, tokenizer = Matcher(config), tokenizer_of(args.request_reader)
    table = weights_of(args.request_reader)[TABLE]
    model.load_state_dict({name: it.float() for name, it in (kept | {f"bert.{TABLE}": table}).items()})
    model.eval()
    glance, words = Glance(table), Words(args.request_reader)
    glance.load_state_dict({name: it.float() for name, it in glance_state.items()})
    rng, rows = random.Random(7), []
    for place in list(places_of(args.places, []).values()):
        for question in rng.sample(place.questions, 2):
            number = rng.choice(
                sorted(question.shown) if question.shown and rng.random() < 0.6 else sorted(place.captions)
            )
            rows.append((question.text, rng.choice(sentences(place.captions[number]))))
    with torch.no_grad(), (args.out / "golden.jsonl").open("w") as out:
        for query, sentence in rows[:GOLDEN]:
            log_odds = model(*as_tensors(tokenizer, [(query, sentence)])).item()
            query_tokens, tokens = torch.tensor(words.of(query)), torch.tensor(words.of(sentence))
            at_a_glance = glance(query_tokens, tokens, torch.zeros_like(tokens)).item()
            row = {"query": query, "sentence": sentence}
            row |= {"log_odds": round(log_odds, 4), "at_a_glance": round(at_a_glance, 4)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
