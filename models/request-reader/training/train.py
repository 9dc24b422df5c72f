"""Trains the reader on requests that are made anew for each step.

    python train.py --vocabulary WORK/vocabulary --teacher TEACHER --nouns WORK/root/usr/share/wordnet --out WORK/run --steps 1500

`--without NAME` leaves a file of templates out and measures on it; `--resume` goes on. `--start` trains a
finished model further, with a schedule of its own: give it a lower `--peak`. `--table` begins from the
teacher, with a table of tokens that others read with as well and that stays as it is.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from pathlib import Path

import numpy as np
import torch
from augment import Augmented, manners_of
from grammar import HEADS, Grammar, Request, supplied, wordnet_nouns, wordnet_sentences
from model import TABLE, Reader, config_of, start_from, start_from_teacher, weights_of
from tokenizers import Tokenizer
from torch.nn import functional

RATE, HEAD_RATE, TABLE_RATE = 3e-4, 2e-3, 1e-4
WARM_UP = 60
POOLED = 16
"""Batches whose requests are sorted by length together."""
LENGTH_MAX = 72
IGNORED = -100
NO_REQUEST_MARGIN = 1.5
"""Logit by which it must be likelier that nothing is to be fetched, as in engram."""
TEXT_FROM, WORDS_FROM = 5, 100
"""First tokens of the vocabulary that stand for text, and that are put in another's place."""
TALK = ("stop", "chat")
"""Intents of what nothing is looked for after."""
HEAD_WEIGHT = {"order": 0.3, "tense": 0.3, "intent": 0.5, "asks": 0.2, "rank": 0.2, "count": 0.2}


def is_told(request: Request, at: int) -> bool:
    """Whether a template says which role a character has. Of talk none does, and of what calls something
    off some name the thing and some do not: what is learnt there would be missing in requests."""
    return request.intent not in TALK or (request.intent == "stop" and request.roles[at] > 0)


def as_tensors(
    tokenizer: Tokenizer, requests: list[Request]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
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
            if end > start and is_told(request, start):
                roles[row, at] = request.roles[start]
    whole = {
        head: torch.tensor([answers.index(getattr(request, head)) for request in requests])
        for head, answers in HEADS.items()
    }
    return ids, mask, roles, whole


def read(model: Reader, tokenizer: Tokenizer, texts: list[str]) -> list[Request]:
    """What the model takes each text for."""
    found = []
    model.eval()
    with torch.no_grad():
        for text in texts:
            it = tokenizer.encode(text)
            ids = torch.tensor([it.ids], device=next(model.parameters()).device)
            roles, whole = model(ids, torch.ones_like(ids))
            roles, whole = roles.cpu(), {head: said.cpu() for head, said in whole.items()}
            wanted = torch.tensor([answer in ("fetch", "where") for answer in HEADS["intent"]])
            whole["intent"] = whole["intent"] + NO_REQUEST_MARGIN * wanted
            said = {head: answers[int(whole[head][0].argmax())] for head, answers in HEADS.items()}
            request = Request(text, [0] * len(text), **said)
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
    """What a reading comes to; deeds and times by their first word only, each thing once, and a habit
    beside an order by frequency, which says the same, left out."""
    spans: list[tuple[str, str]] = []
    for role, words in request.spans():
        words = re.sub(r"\W+$", "", words.lower())
        if role == "time":
            continue
        if role == "deed":
            words = words.partition(" ")[0]
        if (role, words) not in spans:
            spans.append((role, words))
    is_often = request.order in ("most", "least") and request.tense == "habit"
    return tuple(sorted(spans)), request.order, "none" if is_often else request.tense


def share_right(model: Reader, tokenizer: Tokenizer, requests: list[Request]) -> float:
    found = read(model, tokenizer, [request.text for request in requests])
    return float(np.mean([sense(a) == sense(b) for a, b in zip(found, requests)]))


def training_grammar(args: argparse.Namespace, nouns: list[str], sentences: list[str]) -> Grammar:
    files = sorted((Path(__file__).parent / "templates").glob("*.txt"))
    names = [file.stem for file in files if file.stem not in args.without]
    return supplied(names + 2 * args.thrice, nouns, sentences)


def batches_of(requests: list[Request], size: int, rng: random.Random) -> list[list[Request]]:
    """Requests of about one length together: less of a batch is padding."""
    requests.sort(key=lambda it: len(it.text))
    batches = [requests[at : at + size] for at in range(0, len(requests), size)]
    rng.shuffle(batches)
    return batches


def with_noise(ids: torch.Tensor, share: float, vocabulary: int) -> torch.Tensor:
    """With this share of the tokens as any others; those that stand for no text stay."""
    replaced = (torch.rand(ids.shape, device=ids.device) < share) & (ids >= TEXT_FROM)
    return torch.where(replaced, torch.randint_like(ids, WORDS_FROM, vocabulary), ids)


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.vocabulary / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(config_of(tokenizer.get_vocab_size(), args.dropout))
    if args.start:
        start_from(model, weights_of(args.start))
    elif args.table:
        start_from_teacher(model, args.teacher, weights_of(args.table)[f"bert.{TABLE}"])
    else:
        start_from_teacher(model, args.teacher, json.loads((args.vocabulary / "teacher_ids.json").read_text()))
    model.to(args.device)
    nouns, sentences = wordnet_nouns(args.nouns), wordnet_sentences(args.nouns)
    grammar = training_grammar(args, nouns, sentences)
    augmented = Augmented(manners_of(args.nouns))
    held: Grammar | None = supplied(args.without) if args.without else None
    table = [model.bert.embeddings.word_embeddings.weight]
    layers = [it for it in model.bert.parameters() if it is not table[0]]
    heads = [it for name, it in model.named_parameters() if not name.startswith("bert.")]
    groups = [{"params": layers, "peak": RATE}, {"params": heads, "peak": HEAD_RATE}]
    if args.start or args.table:
        table[0].requires_grad_(False)  # Half of the time, and the tokens are known.
    else:
        groups.append({"params": table, "peak": TABLE_RATE})
    optimiser = torch.optim.AdamW(
        groups,
        lr=RATE,
        betas=(0.9, 0.98),
        weight_decay=args.decay,
    )
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "checkpoint.pt"
    step = 0
    if args.resume and checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True, map_location=args.device)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    rng = random.Random(args.seed + step)
    began, smoothed, batches = time.monotonic(), 0.0, []
    while step < args.steps:
        left = (args.steps - step) / (args.falling * args.steps)
        factor = args.peak * min(1.0, (step + 1) / WARM_UP, left)
        for group in optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        if not batches:
            requests = [augmented(grammar.request(rng), rng) for _ in range(args.batch * POOLED)]
            batches = batches_of(requests, args.batch, rng)
        ids, mask, roles, whole = as_tensors(tokenizer, batches.pop())
        ids, mask, roles = (it.to(args.device) for it in (ids, mask, roles))
        whole = {head: it.to(args.device) for head, it in whole.items()}
        if args.noise:
            ids = with_noise(ids, args.noise, len(table[0]))
        with torch.autocast(args.device, torch.bfloat16, enabled=args.bf16):
            said, answered = model(ids, mask)
        loss = functional.cross_entropy(said.float().flatten(0, 1), roles.flatten(), ignore_index=IGNORED)
        for head, weight in HEAD_WEIGHT.items():
            loss = loss + weight * functional.cross_entropy(answered[head].float(), whole[head])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        smoothed = 0.98 * smoothed + 0.02 * loss.item() if smoothed else loss.item()
        if step % 50 == 0:
            print(f"step {step} minutes {(time.monotonic() - began) / 60:.1f} loss {smoothed:.4f}", flush=True)
        if step % args.measure_every == 0 or step == args.steps:
            grammar = training_grammar(args, nouns, sentences)  # More templates may have been written.
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
    parser.add_argument(
        "--thrice", nargs="*", default=[], help="files of templates that are drawn three times as often"
    )
    parser.add_argument(
        "--start", type=Path, help="checkpoint or model to train further, in place of beginning from the teacher"
    )
    parser.add_argument("--table", type=Path, help="finished model whose table of tokens is taken as it is")
    parser.add_argument("--peak", type=float, default=1.0, help="factor of all learning rates")
    parser.add_argument(
        "--falling",
        type=float,
        default=0.3,
        help="share of the steps, the last ones, in which the rate falls to nothing",
    )
    parser.add_argument("--batch", type=int, default=32, help="requests of one step")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=0.01, help="of the weights")
    parser.add_argument("--noise", type=float, default=0.0, help="share of the tokens that are replaced by any others")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bf16", action="store_true", help="faster where the processor has instructions for it")
    parser.add_argument("--resume", action="store_true")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
