"""From labelled words to the tokens of the model, and from its answers to labelled words."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer

from labels import NAMED, ROLES, TARGETS, Caption, Word
from model import Reader

IGNORED = -100


def words_in(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Tokens, number of the first token of each word, and where each word stands."""
    encoded = tokenizer.encode(text)
    first: list[int] = []
    spans: list[tuple[int, int]] = []
    before = None
    for at, (word, (start, end)) in enumerate(zip(encoded.word_ids, encoded.offsets, strict=True)):
        if word is None or end <= start:
            continue
        if word == before:
            spans[-1] = (spans[-1][0], end)
        else:
            first.append(at)
            spans.append((start, end))
        before = word
    return encoded.ids, first, spans


def aligned(caption: Caption, spans: list[tuple[int, int]]) -> list[Word]:
    """The caption's labels for words as the tokenizer cuts them."""
    pieces: list[list[int]] = [[] for _ in caption.words]
    owner = [-1] * len(spans)
    at = 0
    for number, (start, _) in enumerate(spans):
        while at + 1 < len(caption.words) and caption.words[at + 1].start <= start:
            at += 1
        if caption.words and caption.words[at].start <= start < caption.words[at].end:
            owner[number] = at
            pieces[at].append(number)
    words = []
    for number, (start, end) in enumerate(spans):
        word = caption.words[owner[number]] if owner[number] >= 0 else Word(start, end)
        words.append(_piece(word, number, pieces[owner[number]], start, end, caption, pieces))
    return words


def _piece(
    word: Word, number: int, own: list[int], start: int, end: int, caption: Caption, pieces: list[list[int]]
) -> Word:
    """One of a word's own words: "t-shirt" is three, and the last one its head."""
    if word.role == "none" or not own:
        return Word(start, end)
    main = own[-1] if word.role in NAMED else own[0]
    if number != main:
        return Word(start, end, "part" if word.role in NAMED else word.role, main)
    to = -1
    if word.to >= 0 and pieces[word.to]:
        to = pieces[word.to][-1 if caption.words[word.to].role in NAMED else 0]
    return Word(start, end, word.role, to)


def as_tensors(
    tokenizer: Tokenizer, captions: list[Caption], longest: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    rows = []
    for caption in captions:
        ids, first, spans = words_in(tokenizer, caption.text)
        rows.append((ids[:longest], first, aligned(caption, spans)))
    width = max(len(ids) for ids, _, _ in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    roles = torch.full((len(rows), width), IGNORED)
    to = torch.full((len(rows), width), IGNORED)
    for row, (tokens, first, words) in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
        for at, word in zip(first, words, strict=True):
            if at >= width or at >= len(tokens):
                break
            roles[row, at] = ROLES.index(word.role)
            if word.role not in ("none", "part"):
                target = first[word.to] if word.to >= 0 else 0
                to[row, at] = target if target < len(tokens) else IGNORED
    return ids, mask, roles, to


def read(model: Reader, tokenizer: Tokenizer, text: str) -> Caption:
    """What the model takes a caption for; decoded as the card says."""
    ids, first, spans = words_in(tokenizer, text)
    if not first:
        return Caption(text)
    with torch.no_grad():
        roles, pointed = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long))
    said = [ROLES[it] for it in roles[0, first].argmax(-1).tolist()]
    settle(said)
    scores = pointed[0][first][:, [0, *first]].tolist()
    words = []
    for number, ((start, end), role) in enumerate(zip(spans, said, strict=True)):
        words.append(Word(start, end, role, _target(number, said, scores[number])))
    return Caption(text, words)


def settle(roles: list[str]) -> None:
    """A part that no name follows is the name itself."""
    for at, role in enumerate(roles):
        if role == "part" and not (at + 1 < len(roles) and roles[at + 1] in ("part", *NAMED)):
            roles[at] = "thing"


def _target(number: int, roles: list[str], scores: list[float]) -> int:
    """The likeliest word of a role that it may belong to; -1 for none."""
    role = roles[number]
    if role == "none":
        return -1
    if role == "part":
        return next(at for at in range(number, len(roles)) if roles[at] != "part")
    if role == "relation" and number and roles[number - 1] == "relation":
        return next(at for at in range(number, -1, -1) if at == 0 or roles[at - 1] != "relation")
    allowed = [at for at, it in enumerate(roles) if it in TARGETS[role] and at != number]
    if role in NAMED:  # What a relation relates to follows it.
        allowed = [at for at in allowed if roles[at] != "relation" or at < number]
    best = max(allowed, key=lambda at: scores[at + 1], default=-1)
    return best if best >= 0 and (scores[best + 1] > scores[0] or role in ("attribute", "count")) else -1
