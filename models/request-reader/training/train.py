"""Trains the reader on requests that are made anew for each step.

    python train.py --vocabulary WORK/vocabulary --teacher TEACHER --nouns WORK/root/usr/share/wordnet --out WORK/run --steps 1500

`--without NAME` leaves a file of templates out and measures on it; `--resume` goes on. `--start` trains a
finished model further, with a schedule of its own: give it a lower `--peak`, and `--often` the new templates.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import torch
from grammar import ORDERS, TENSES, Grammar, Request, supplied, wordnet_nouns
from model import Reader, config_of, start_from_teacher
from tokenizers import Tokenizer
from torch.nn import functional

BATCH = 64
RATE, HEAD_RATE, TABLE_RATE = 3e-4, 2e-3, 1e-4
WARM_UP = 60
SPOILED = 0.12
"""Share of requests without punctuation."""
LENGTH_MAX = 96
IGNORED = -100
OFTEN = 3
"""As many templates each one counts for in a file given as `--often`."""


def spoiled(request: Request, rng: random.Random) -> Request:
    """As it comes from speech recognition: without punctuation."""
    if rng.random() >= SPOILED:
        return request
    kept = [at for at, char in enumerate(request.text) if char not in ".,!?;:"]
    return Request(
        "".join(request.text[at] for at in kept), [request.roles[at] for at in kept], request.order, request.tense
    )


def as_tensors(tokenizer: Tokenizer, requests: list[Request]) -> tuple[torch.Tensor, ...]:
    encoded = tokenizer.encode_batch([request.text for request in requests])
    width = min(LENGTH_MAX, max(len(it.ids) for it in encoded))
    ids = torch.zeros(len(requests), width, dtype=torch.long)
    mask = torch.zeros(len(requests), width, dtype=torch.long)
    roles = torch.full((len(requests), width), IGNORED)
    for row, (it, request) in enumerate(zip(encoded, requests)):
        length = min(width, len(it.ids))
        ids[row, :length] = torch.tensor(it.ids[:length])
        mask[row, :length] = 1
        for at, (start, end) in enumerate(it.offsets[:length]):
            if end > start:
                roles[row, at] = request.roles[start]
    order = torch.tensor([ORDERS.index(request.order) for request in requests])
    tense = torch.tensor([TENSES.index(request.tense) for request in requests])
    return ids, mask, roles, order, tense


def read(model: Reader, tokenizer: Tokenizer, texts: list[str]) -> list[Request]:
    """What the model takes each text for."""
    found = []
    model.eval()
    with torch.no_grad():
        for text in texts:
            it = tokenizer.encode(text)
            roles, order, tense = model(torch.tensor([it.ids]), torch.ones(1, len(it.ids), dtype=torch.long))
            request = Request(text, [0] * len(text), ORDERS[int(order[0].argmax())], TENSES[int(tense[0].argmax())])
            before = (0, 0)
            for (start, end), role in zip(it.offsets, roles[0].argmax(-1).tolist()):
                if end > start:
                    if start == before[1] and start and text[start].isalnum() and text[start - 1].isalnum():
                        role = before[0]  # A word has the role of its first piece.
                    request.roles[start:end] = [role] * (end - start)
                    if before[0] == role and before[1] < start and text[before[1] : start].isspace():
                        request.roles[before[1] : start] = [role] * (start - before[1])
                    before = (role, end)
            found.append(request)
    model.train()
    return found


def sense(request: Request) -> tuple:
    """What a reading comes to; deeds and times by their first word only, and each thing once."""
    spans: list[tuple[str, str]] = []
    for role, words in request.spans():
        words = re.sub(r"\W+$", "", words.lower())
        if role == "time":
            continue
        if role == "deed":
            words = words.split()[0]
        if (role, words) not in spans:
            spans.append((role, words))
    return tuple(sorted(spans)), request.order, request.tense


def share_right(model: Reader, tokenizer: Tokenizer, requests: list[Request]) -> float:
    found = read(model, tokenizer, [request.text for request in requests])
    return float(np.mean([sense(a) == sense(b) for a, b in zip(found, requests)]))


def training_grammar(args: argparse.Namespace, nouns: list[str]) -> Grammar:
    files = sorted((Path(__file__).parent / "templates").glob("*.txt"))
    names = [file.stem for file in files if file.stem not in args.without]
    return supplied(names + args.often * (OFTEN - 1), nouns)


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.vocabulary / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(config_of(tokenizer.get_vocab_size()))
    if args.start:
        model.load_state_dict(torch.load(args.start, weights_only=True)["model"])
    else:
        start_from_teacher(model, args.teacher, json.loads((args.vocabulary / "teacher_ids.json").read_text()))
    nouns = wordnet_nouns(args.nouns)
    grammar = training_grammar(args, nouns)
    held: Grammar | None = supplied(args.without) if args.without else None
    table = [model.bert.embeddings.word_embeddings.weight]
    layers = [it for it in model.bert.parameters() if it is not table[0]]
    heads = [it for name, it in model.named_parameters() if not name.startswith("bert.")]
    optimiser = torch.optim.AdamW(
        [{"params": table, "peak": TABLE_RATE}, {"params": layers, "peak": RATE}, {"params": heads, "peak": HEAD_RATE}],
        lr=RATE,
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "checkpoint.pt"
    step = 0
    if args.resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    rng = random.Random(args.seed + step)
    began, smoothed = time.monotonic(), 0.0
    while step < args.steps:
        share = step / args.steps
        factor = args.peak * min(1.0, (step + 1) / WARM_UP) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        for group in optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        requests = [spoiled(grammar.request(rng), rng) for _ in range(BATCH)]
        ids, mask, roles, order, tense = as_tensors(tokenizer, requests)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
            said, ordered, tensed = model(ids, mask)
        loss = (
            functional.cross_entropy(said.float().flatten(0, 1), roles.flatten(), ignore_index=IGNORED)
            + 0.3 * functional.cross_entropy(ordered.float(), order)
            + 0.3 * functional.cross_entropy(tensed.float(), tense)
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        smoothed = 0.98 * smoothed + 0.02 * loss.item() if smoothed else loss.item()
        if step % 50 == 0:
            print(f"step {step} minutes {(time.monotonic() - began) / 60:.1f} loss {smoothed:.4f}", flush=True)
        if step % args.measure_every == 0 or step == args.steps:
            grammar = training_grammar(args, nouns)  # More templates may have been written.
            torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, checkpoint)
            if held:
                probe = random.Random(1)
                print(
                    f"step {step} held-out templates right {share_right(model, tokenizer, [held.request(probe) for _ in range(200)]):.3f}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=Path, required=True, help="folder of tokenizer.json and teacher_ids.json")
    parser.add_argument("--teacher", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--nouns", type=Path, required=True, help="folder of WordNet's data.noun")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--measure-every", type=int, default=500)
    parser.add_argument("--without", nargs="*", default=[], help="files of templates to hold out")
    parser.add_argument("--often", nargs="*", default=[], help="files of templates to draw from more often")
    parser.add_argument(
        "--start", type=Path, help="checkpoint to train further, in place of beginning from the teacher"
    )
    parser.add_argument("--peak", type=float, default=1.0, help="factor of all learning rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bf16", action="store_true", help="faster where the CPU has instructions for it")
    parser.add_argument("--resume", action="store_true")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
