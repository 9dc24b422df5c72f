"""How well notes are found: mean reciprocal rank of the first note that answers.

    git clone https://github.com/danny911kr/REALTALK
    cargo build --release
    python notes.py REALTALK ../../target/release/engram

REALTALK (Lee et al. 2025, arXiv 2502.13270) is ten chats of people over three weeks with
questions and the messages that answer them; its licence is not stated, so it is not
shipped. Its `data/locomo` is not read. Each message is a note, with and without its
speaker; each session of a chat is one, too. The four chats of Emi, Elise, Kevin and Paola
were the development data of `src/search/prose.rs`; the people of the other six are in
none of these. `heldout` is the embedder's own test, a hand-written note a question.

Beside engram: BM25 alone and the embedder alone, both over the same passages.
"""

import argparse
import json
import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from daemon import Daemon
from embedder import MODEL, Embedder
from lexical import Bm25, reciprocal_rank

GROUPS = {"development": (1, 2, 3, 4), "other people A": (5, 6, 7), "other people B": (8, 9, 10)}
PASSAGE_CHARS_MAX = 1_000
# Length normalisation for prose, as `src/index/lexical/forward.rs` has it; the usual .75 is worse.
PROSE_B = 0.1


def passages(text):
    """As `src/memory/notes/passages.rs` cuts them, for texts in ASCII."""
    found, rest = [], text.strip()
    while len(rest) > PASSAGE_CHARS_MAX:
        window = rest[:PASSAGE_CHARS_MAX]
        ends = [end for end in (after(window, "\n"),) if end]
        ends = ends or [end for end in (after(window, it) for it in (". ", "! ", "? ")) if end]
        ends = ends or [end for end in (after(window, " "),) if end] or [PASSAGE_CHARS_MAX]
        found.append(rest[: max(ends)].rstrip())
        rest = rest[max(ends) :].lstrip()
    return [*found, rest]


def after(window, mark):
    at = window.rfind(mark) + len(mark)
    return at if at > len(window) / 2 and mark in window else 0


def chats(directory, numbers, with_speaker, as_sessions):
    """Notes and questions of each chat: a question and the places of what answers it."""
    for number in numbers:
        (path,) = (directory / "data").glob(f"Chat_{number}_*.json")
        chat = json.loads(path.read_text())
        notes, ids = [], []
        for key, turns in chat.items():
            if not re.fullmatch(r"session_\d+", key):
                continue
            turns = [turn for turn in turns if turn["clean_text"].strip()]
            speaker = (lambda turn: f"{turn['speaker']}: ") if with_speaker else (lambda _: "")
            texts = [speaker(turn) + turn["clean_text"].strip() for turn in turns]
            own = [turn["dia_id"] for turn in turns]
            if as_sessions and texts:
                notes.append("\n".join(texts))
                ids.append(set(own))
            elif not as_sessions:
                notes.extend(texts)
                ids.extend({it} for it in own)
        questions = []
        for it in chat["qa"]:
            answers = {at for at, own in enumerate(ids) if own & set(it["evidence"])}
            if answers:
                questions.append((it["question"], answers))
        yield notes, questions


def heldout():
    lines = (MODEL / "training" / "heldout_notes.tsv").read_text().splitlines()
    pairs = [line.split("\t") for line in lines if line.count("\t") == 1]
    yield [note for _, note in pairs], [(it[0], {at}) for at, it in enumerate(pairs)]


class Baselines:
    """BM25 and the embedder over the passages of some notes."""

    def __init__(self, notes, embed):
        cut = [(at, passage) for at, note in enumerate(notes) for passage in passages(note)]
        self.embed, self.owners = embed, np.array([at for at, _ in cut])
        self.vectors = np.array([embed(passage) for _, passage in cut])
        self.words = Bm25([passage for _, passage in cut], b=PROSE_B)

    def dense(self, question):
        return self.best(self.vectors @ self.embed(question))

    def bm25(self, question):
        return self.best(self.words.scores(question))

    def best(self, scores):
        best = np.full(self.owners.max() + 1, -np.inf)
        np.maximum.at(best, self.owners, scores)
        return best


class Engram:
    """A daemon with these notes."""

    def __init__(self, program, notes):
        self.daemon = Daemon(program)
        saved = (self.daemon.call("memory_save", text=it)["id"] for it in notes)
        self.places = {id: at for at, id in enumerate(saved)}

    def reciprocal_rank(self, question, answers):
        """0 where no answer is among the first hundred."""
        found = self.daemon.call("memory_load", query=question, threshold=0, limit=100)["memories"]
        ranks = (at for at, it in enumerate(found, 1) if self.places[it["id"]] in answers)
        return 1 / next(ranks, math.inf)


def measure(collections, program, embed):
    ranks = defaultdict(list)
    for notes, questions in collections:
        baselines, engram = Baselines(notes, embed), Engram(program, notes)
        for question, answers in questions:
            ranks["bm25"].append(reciprocal_rank(baselines.bm25(question), answers))
            ranks["embedder"].append(reciprocal_rank(baselines.dense(question), answers))
            ranks["engram"].append(engram.reciprocal_rank(question, answers))
        engram.daemon.close()
    return {name: sum(of) / len(of) for name, of in ranks.items()}, len(ranks["engram"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("realtalk", type=Path, help="directory of the clone")
    parser.add_argument("engram", type=Path, help="the program")
    parser.add_argument("--only", default="", help="measure sets whose name has this only")
    args = parser.parse_args()
    embedder, known = Embedder(), {}

    def embed(text):
        if text not in known:
            known[text] = embedder.embed(text)
        return known[text]

    forms = {"messages": (False, False), "with speaker": (True, False), "sessions": (True, True)}
    sets = {
        f"{group}, {form}": chats(args.realtalk, numbers, *how)
        for group, numbers in GROUPS.items()
        for form, how in forms.items()
    }
    sets["heldout"] = heldout()
    print(f"{'MRR':30} {'bm25':>9} {'embedder':>9} {'engram':>9} questions")
    for name, collections in sets.items():
        if args.only in name:
            found, questions = measure(collections, args.engram, embed)
            values = (f"{found[it]:9.3f}" for it in ("bm25", "embedder", "engram"))
            print(f"{name:30} {' '.join(values)} {questions:9}", flush=True)


if __name__ == "__main__":
    main()
