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
import os
import re
import socket
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import snowballstemmer
from embedder import MODEL, Embedder

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"development": (1, 2, 3, 4), "other people A": (5, 6, 7), "other people B": (8, 9, 10)}
PASSAGE_CHARS_MAX = 1_000
K1, B = 1.2, 0.75
STOP_WORDS = set(
    re.findall(
        r'"(\w+)"',
        (ROOT / "src/index/terms.rs").read_text().split("STOP_WORDS")[1].split("];")[0],
    )
)
STEMMER = snowballstemmer.stemmer("english")


def terms(text):
    words = (word for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP_WORDS)
    return [STEMMER.stemWord(word) if word.isascii() and word.isalpha() else word for word in words]


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
        counts = [Counter(terms(passage)) for _, passage in cut]
        lengths = np.array([sum(count.values()) for count in counts], float)
        self.norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1))
        self.postings = defaultdict(list)
        for row, count in enumerate(counts):
            for term, times in count.items():
                self.postings[term].append((row, times))

    def dense(self, question):
        return self.best(self.vectors @ self.embed(question))

    def bm25(self, question):
        scores = np.zeros(len(self.owners))
        for term in set(terms(question)) & self.postings.keys():
            rows, times = map(np.array, zip(*self.postings[term], strict=True))
            idf = math.log(1 + (len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += idf * times * (K1 + 1) / (times + self.norms[rows])
        return self.best(scores)

    def best(self, scores):
        best = np.full(self.owners.max() + 1, -np.inf)
        np.maximum.at(best, self.owners, scores)
        return best


class Engram:
    """A daemon of its own with these notes."""

    def __init__(self, program, notes):
        self.dir = tempfile.TemporaryDirectory()
        path = f"{self.dir.name}/socket"
        env = {"ENGRAM_STORE_STATE_DIR": f"{self.dir.name}/state", "ENGRAM_SOCKET_PATH": path}
        self.daemon = subprocess.Popen([program, "serve"], env=os.environ | env)
        while not Path(path).exists():
            time.sleep(0.1)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        self.stream = connection.makefile("rw")
        self.places = {self.call("memory_save", text=it)["id"]: at for at, it in enumerate(notes)}

    def call(self, name, **arguments):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": name, "arguments": arguments, "_meta": meta}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.stream.write(json.dumps(request) + "\n")
        self.stream.flush()
        return json.loads(self.stream.readline())["result"]["structuredContent"]

    def reciprocal_rank(self, question, answers):
        """0 where no answer is among the first hundred."""
        found = self.call("memory_load", query=question, threshold=0, limit=100)["memories"]
        ranks = (at for at, it in enumerate(found, 1) if self.places[it["id"]] in answers)
        return 1 / next(ranks, math.inf)

    def close(self):
        self.daemon.terminate()
        self.daemon.wait()
        self.dir.cleanup()


def reciprocal_rank(scores, answers):
    """Of the best answer; among equals the mean place."""
    best = max(scores[at] for at in answers)
    return 1 / ((scores > best).sum() + ((scores == best).sum() + 1) / 2)


def measure(collections, program, embed):
    ranks = defaultdict(list)
    for notes, questions in collections:
        baselines, engram = Baselines(notes, embed), Engram(program, notes)
        for question, answers in questions:
            ranks["bm25"].append(reciprocal_rank(baselines.bm25(question), answers))
            ranks["embedder"].append(reciprocal_rank(baselines.dense(question), answers))
            ranks["engram"].append(engram.reciprocal_rank(question, answers))
        engram.close()
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
