"""Requests as people type and say them: words that nobody needs, chat spelling, slips of the keys,
and what speech recognition makes of them. What each character says stays with it.

    python augment.py --nouns WORDNET --show 30
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grammar import Request, supplied, wordnet_nouns, wordnet_sentences

HELD_EVERY = 5
"""One word in as many, of those from WordNet, is never added in training."""

BEFORE = """hey|hi|hello|ok|okay|yo|so|well|right|please|pls|plz|excuse me|sorry|listen|look|oi|um|uh|now|alright|hey there|ok so|
quick question|when you can|if you can|kindly|be so kind|do me a favour|one thing|actually|anyway|also|good morning|evening|attention""".replace(
    "\n", ""
).split("|")
AFTER = """please|pls|plz|pleaseee|thanks|thank you|thank u|thx|thnx|tnx|ty|thanks a lot|thanks a million|many thanks|thanks so much|
thank you very much|thank you so much|cheers|much appreciated|thanks in advance|appreciate it|now|right now|rn|quick|quickly|at once|
immediately|straight away|right away|as soon as you can|as soon as possible|when you can|when you get a chance|if you can|if possible|
if you could|if you please|would you|will you|could you|can you|ok|okay|k|alright|yeah|yes|right|hurry|hurry up|in a hurry|no rush|
take your time|for me|for us|for once|already|then|too|again|though|anyway|instead|somehow|soon|today|lol|haha|hehe|btw|tbh|i guess|
i think|i suppose|i mean|you know|you hear me|got it|understood|over|do it|go|go on|come on|chop chop|be quick|be careful|
sir|madam|ma'am|my friend|my dear|honey|sweetheart|dear|love|bro|dude|man|boss|chief|bot|machine|computer|assistant|helper|
good robot|little one|old chap|you there|there's a dear|there's a good boy|you legend|you star|everyone|guys|folks|somebody|anyone|
and thanks|and hurry|and quick|xx|x|!!|!!!|:)|;)|:D|<3|🙏|😊|👍|❤️|😂|🤖|...|..""".replace("\n", "").split("|")
HELD = """robot|asap|mate|mates|buddy|pal|chum|ta|guv|skipper|hun|mister|amigo|comrade|matey|pronto|kk|tysm|kiddo|droid|sharpish|stat|
much obliged|at the double|on the double|cheers mate|ty so much|yeah thanks|my good man|if it's no bother|pretty please|🥺""".replace(
    "\n", ""
).split("|")
"""Never added in training: for evaluation."""

CHAT = {
    "please": ["pls", "plz", "please", "pleaaase"], "thanks": ["thx", "ty"], "you": ["u", "ya"], "your": ["ur"], "you're": ["ur", "youre"],
    "are": ["r"], "i'm": ["im"], "i've": ["ive"], "i'd": ["id"], "i'll": ["ill"], "where's": ["wheres"], "what's": ["whats"], "that's": ["thats"],
    "it's": ["its"], "there's": ["theres"], "don't": ["dont"], "can't": ["cant"], "isn't": ["isnt"], "won't": ["wont"], "didn't": ["didnt"],
    "and": ["n", "&", "an"], "to": ["2", "to"], "for": ["4"], "with": ["w", "w/"], "because": ["cuz", "bc"], "tomorrow": ["tmrw"],
    "yesterday": ["yday", "yest"], "tonight": ["2nite"], "something": ["smth", "sth"], "the": ["da", "the", "th", "teh"], "want": ["wanna"],
    "about": ["abt"], "before": ["b4"], "see": ["c"], "why": ["y"], "really": ["rly"], "though": ["tho"], "okay": ["k", "ok"], "know": ["kno"],
    "give": ["gimme"], "could": ["cud"], "would": ["wud"], "have": ["hv"], "from": ["frm"], "right": ["rite"], "one": ["1"], "two": ["2"],
    "second": ["2nd", "2nd"], "third": ["3rd"], "most": ["moast", "most"], "bring": ["bring", "brng"], "my": ["mah", "my"],
}  # fmt: skip
SOUNDS = [
    "their|there|they're", "to|two|too", "for|four", "by|buy|bye", "right|write", "here|hear", "where|wear|were", "know|no", "red|read",
    "blue|blew", "need|knead", "new|knew", "some|sum", "one|won", "would|wood", "whole|hole", "pair|pear|pare", "plate|plait", "flour|flower",
    "see|sea", "be|bee", "our|hour|are", "weigh|way", "your|you're", "its|it's", "of|off", "then|than", "and|end", "in|inn", "is|his",
    "bean|been", "board|bored", "brake|break", "cord|chord", "grate|great", "mail|male", "meet|meat", "peace|piece", "rain|reign",
    "sole|soul", "steak|stake", "vase|vays", "wine|whine", "which|witch", "week|weak", "night|knight", "ring|wring", "bring|bringe",
]  # fmt: skip
FILLERS = [
    "um",
    "uh",
    "er",
    "erm",
    "like",
    "you know",
    "i mean",
    "well",
    "hmm",
    "uhm",
    "let me see",
    "what's it called",
]
KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]


def is_held(word: str) -> bool:
    return word in HELD or zlib.crc32(word.encode()) % HELD_EVERY == 0


@dataclass
class Piece:
    """What stands between two blanks."""

    text: str
    roles: list[int]

    @property
    def core(self) -> tuple[int, int]:
        """Where its word begins and ends, without the signs around it."""
        start, end = 0, len(self.text)
        while start < end and not self.text[start].isalnum():
            start += 1
        while end > start and not self.text[end - 1].isalnum():
            end -= 1
        return start, end

    @property
    def word(self) -> str:
        start, end = self.core
        return self.text[start:end]

    def spelled(self, word: str) -> Piece:
        start, end = self.core
        role = max(self.roles[start:end], default=0)
        return Piece(
            self.text[:start] + word + self.text[end:], self.roles[:start] + [role] * len(word) + self.roles[end:]
        )


def pieces_of(request: Request) -> list[Piece]:
    found, at = [], 0
    for text in request.text.split(" "):
        if text:
            found.append(Piece(text, request.roles[at : at + len(text)]))
        at += len(text) + 1
    return found


def joined(request: Request, pieces: list[Piece]) -> Request:
    text, roles = "", []
    for piece in pieces:
        if text:
            role = roles[-1] if piece.roles and roles[-1] == piece.roles[0] else 0
            text, roles = text + " ", [*roles, role]
        text, roles = text + piece.text, roles + piece.roles
    return request.of(text, roles)


def added(words: str, role: int = 0) -> Piece:
    return Piece(words, [role] * len(words))


def borders(pieces: list[Piece]) -> list[int]:
    """Before which pieces nothing is parted: after the end of a span, or where a new one is led in."""
    found = []
    for at in range(1, len(pieces)):
        before, after = pieces[at - 1].roles[-1], pieces[at].roles[0]
        if before and not after and len(pieces[at - 1].word) > 2:
            found.append(at)
    return found


class Manners:
    """Words that nobody needs, from closed classes and from WordNet."""

    def __init__(self, persons: list[str], adverbs: list[str], names: list[str], held: bool = False):
        wanted = [[it for it in words if is_held(it) == held] for words in (persons, adverbs, names)]
        self.persons, self.adverbs, self.names = (it or ["friend"] for it in wanted)
        self.before = BEFORE if not held else ["oi oi", "ahoy", "psst", "greetings"]
        self.after = AFTER if not held else HELD

    def vocative(self, rng: random.Random) -> str:
        kind = rng.random()
        if kind < 0.45:
            return rng.choice(self.persons)
        if kind < 0.75:
            return rng.choice(self.names)
        kind = rng.choice(["good", "my dear", "dear", "little", "you", "my", "old", "mister", "you lazy", "sweet"])
        return f"{kind} {rng.choice(self.persons)}"

    def last(self, rng: random.Random) -> str:
        kind = rng.random()
        return (
            rng.choice(self.after) if kind < 0.55 else self.vocative(rng) if kind < 0.85 else rng.choice(self.adverbs)
        )

    def put(self, request: Request, rng: random.Random) -> Request:
        pieces = pieces_of(request)
        comma = rng.random() < 0.4
        if rng.random() < 0.3:
            lead = rng.choice(self.before) if rng.random() < 0.6 else self.vocative(rng)
            pieces.insert(0, added(lead + ("," if comma else "")))
        places = borders(pieces)
        if places and rng.random() < 0.2:
            within = rng.choice(
                ["please", "pls", "um", "maybe", "say", "quickly", "kindly"] if rng.random() < 0.4 else [self.last(rng)]
            )
            pieces.insert(rng.choice(places), added(f", {within}," if comma else within))
        if rng.random() < 0.75:
            end = self.last(rng) + (" " + self.last(rng) if rng.random() < 0.25 else "")
            if pieces and pieces[-1].text[-1] in ".!?;" and rng.random() < 0.6:
                last = pieces[-1]
                pieces[-1] = Piece(last.text[:-1], last.roles[:-1]) if len(last.text) > 1 else last
            if comma and pieces:
                pieces[-1] = Piece(pieces[-1].text + ",", [*pieces[-1].roles, 0])
            pieces.append(added(end))
        return joined(request, pieces)


def unpunctuated(pieces: list[Piece], signs: str = '.,!?;:"') -> list[Piece]:
    kept = []
    for piece in pieces:
        stay = [at for at, char in enumerate(piece.text) if char not in signs]
        if stay:
            kept.append(Piece("".join(piece.text[at] for at in stay), [piece.roles[at] for at in stay]))
    return kept


def lowered(pieces: list[Piece]) -> list[Piece]:
    lower = [piece.text.lower() for piece in pieces]
    return [Piece(text, piece.roles) if len(text) == len(piece.text) else piece for text, piece in zip(lower, pieces)]


def chatted(request: Request, rng: random.Random) -> Request:
    """As it is typed in a chat."""
    pieces = pieces_of(request)
    if rng.random() < 0.85:
        pieces = lowered(pieces)
    if rng.random() < 0.7:
        pieces = unpunctuated(pieces, rng.choice([".", ".,", ".,!?;:", ".,;?", "'.,?"]))
    share = rng.choice([0.0, 0.3, 0.8])
    for at, piece in enumerate(pieces):
        said = CHAT.get(piece.word.lower())
        if said and rng.random() < share:
            pieces[at] = piece.spelled(rng.choice(said))
        elif "'" in piece.text and rng.random() < 0.5:
            pieces[at] = unpunctuated([piece], "'")[0] if piece.text != "'" else piece
    if len(pieces) > 2 and rng.random() < 0.06:
        shout = [Piece(piece.text.upper(), piece.roles) for piece in pieces]
        pieces = shout if all(len(it.text) == len(it.roles) for it in shout) else pieces
    if pieces and rng.random() < 0.1:
        pieces.append(
            added(rng.choice(["lol", "xD", "haha", "!!!", "??", "...", "🙂", "🙏", "👀", "btw", "omg", "smh"]))
        )
    return joined(request, pieces) if pieces else request


def spoken(request: Request, sounds: dict[str, list[str]], rng: random.Random) -> Request:
    """As speech recognition hears it: no signs, words that sound alike, fillers, words said twice."""
    pieces = unpunctuated(lowered(pieces_of(request)))
    share = rng.choice([0.0, 0.1, 0.35])
    heard: list[Piece] = []
    fillers = rng.choice([0.0, 0.04, 0.12])
    for piece in pieces:
        if piece.word in sounds and rng.random() < share:
            piece = piece.spelled(rng.choice(sounds[piece.word]))
        if heard and rng.random() < fillers:
            role = heard[-1].roles[-1] if heard[-1].roles[-1] == piece.roles[0] else 0
            heard.append(added(rng.choice(FILLERS[:4] if role else FILLERS), role))
        heard.append(piece)
        if rng.random() < fillers / 2:
            heard.append(piece)
    return joined(request, heard) if heard else request


def slipped(word: str, rng: random.Random) -> str:
    """With one slip of the keys."""
    at = rng.randrange(len(word))
    kind = rng.random()
    if kind < 0.3 and len(word) > 3:
        return word[:at] + word[at + 1 :]
    if kind < 0.5:
        return word[: at + 1] + word[at:]
    if kind < 0.75 and at + 1 < len(word):
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for row in KEYS:
        beside = row.find(word[at].lower())
        if beside >= 0:
            near = row[max(0, beside - 1) : beside] + row[beside + 1 : beside + 2]
            return word[:at] + rng.choice(near) + word[at + (rng.random() < 0.7) :]
    return word


def mistyped(request: Request, rng: random.Random) -> Request:
    """With slips in some words, mostly in such as matter, and a blank that was left out."""
    pieces = pieces_of(request)
    long = [at for at, piece in enumerate(pieces) if len(piece.word) > 3 and piece.word.isalpha()]
    telling = [at for at in long if max(pieces[at].roles)]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        among = telling if telling and rng.random() < 0.7 else long
        if among:
            at = rng.choice(among)
            pieces[at] = pieces[at].spelled(slipped(pieces[at].word, rng)) if pieces[at].word else pieces[at]
    if len(pieces) > 2 and rng.random() < 0.12:
        at = rng.randrange(len(pieces) - 1)
        first, second = pieces[at], pieces[at + 1]
        if first.text.isalnum() and second.text[0].isalnum():
            role = max(first.roles[0], second.roles[0])
            pieces[at : at + 2] = [
                Piece(first.text + second.text, [role] * len(first.text) + [role if it else 0 for it in second.roles])
            ]
    return joined(request, pieces)


def sounds_alike() -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for line in SOUNDS:
        for word in line.split("|"):
            known[word] = [it for it in line.split("|") if it != word]
    return known


def manners_of(folder: Path, held: bool = False) -> Manners:
    """Persons, first names and adverbs of WordNet."""
    persons, names = set(), set()
    for line in (folder / "data.noun").read_text().splitlines():
        parts = line.split(" ")
        if not line.startswith(" ") and parts[1] == "18":
            for word in parts[4 : 4 + 2 * int(parts[3], 16) : 2]:
                if word.isalpha() and word.islower() and 2 < len(word) < 11:
                    persons.add(word)
                elif word[0].isupper() and word.count("_") == 1:
                    first = word.split("_")[0]
                    if first.isalpha() and 2 < len(first) < 10:
                        names.add(first)
    adverbs = set()
    for line in (folder / "data.adv").read_text().splitlines():
        word = line.split(" ")[4] if not line.startswith(" ") else ""
        if word.endswith("ly") and word.isalpha() and word.islower():
            adverbs.add(word)
    return Manners(sorted(persons), sorted(adverbs), sorted(names), held)


class Augmented:
    """Makes of some requests what people would have typed or said."""

    def __init__(self, manners: Manners):
        self.manners = manners
        self.sounds = sounds_alike()

    def __call__(self, request: Request, rng: random.Random) -> Request:
        if rng.random() < 0.35:
            return request
        steps: list[tuple[float, Callable[[Request], Request]]] = [
            (0.4, lambda it: self.manners.put(it, rng)),
            (0.25, lambda it: mistyped(it, rng)),
        ]
        manner = rng.random()
        if manner < 0.4:
            steps.append((1.0, lambda it: chatted(it, rng)))
        elif manner < 0.7:
            steps.append((1.0, lambda it: spoken(it, self.sounds, rng)))
        for share, step in steps:
            if rng.random() < share:
                request = step(request)
        return request


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nouns", type=Path, required=True, help="folder of WordNet")
    parser.add_argument("--show", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    grammar = supplied(None, wordnet_nouns(args.nouns), wordnet_sentences(args.nouns))
    augmented, rng = Augmented(manners_of(args.nouns)), random.Random(args.seed)
    for _ in range(args.show):
        request = augmented(grammar.request(rng), rng)
        assert len(request.text) == len(request.roles), request
        print(f"{request.text}\n    {request.spans()} {request.intent} {request.asks} {request.count}")


if __name__ == "__main__":
    main()
