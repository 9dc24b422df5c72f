"""python -m pytest test_grammar.py, in this folder; needs nothing but Python."""

import json
import random
import unittest

from grammar import HERE, Sentence, Words, supplied, unpunctuated
from labels import NAMED, ROLES, TARGETS, Caption, Word, parse
from renaming import Renaming, gerund


class Templates(unittest.TestCase):
    def test_every_template_gives_captions_whose_words_belong_to_what_they_may(self):
        grammar, rng = supplied(), random.Random(1)
        seen = set()
        for line in (line for file in [*grammar.files, *grammar.words.clauses.values()] for line in file):
            for _ in range(4):
                sentence = Sentence(grammar.words, rng)
                sentence.fill(line)
                seen |= self.checked(sentence.caption(), line)
        self.assertEqual(seen, set(ROLES))

    def checked(self, caption: Caption, line: str) -> set[str]:
        self.assertNotRegex(caption.text, r"[{}@=]|\w:\w", line)
        for word in caption.words:
            self.assertEqual(caption.text[word.start : word.end].strip(), caption.text[word.start : word.end])
            if word.to < 0 or word.role == "part":
                continue
            to = caption.words[word.to].role
            joined = word.role in ("deed", "relation") and to == word.role
            self.assertTrue(joined or to in TARGETS[word.role], f"{line}: {word.role} of {to}")
        return {word.role for word in caption.words}


class Slots(unittest.TestCase):
    def filled(self, template: str, clauses: dict | None = None, **lists: list[str]) -> Caption:
        words = Words(json.loads((HERE / "words.json").read_text()) | lists, [], clauses)
        sentence = Sentence(words, random.Random(4))
        sentence.fill(template)
        return sentence.caption()

    def test_a_literal_name_ends_in_its_head_and_other_words_begin_with_theirs(self):
        caption = self.filled("=washing_up_liquid/thing#t =next_to/relation>t#r the =sink/landmark>r")
        said = [(word.role, word.to) for word in caption.words]
        part, relation = [("part", 2), ("part", 2), ("thing", -1)], [("relation", 2), ("relation", 3)]
        self.assertEqual(said, [*part, *relation, ("none", -1), ("landmark", 3)])

    def test_a_clause_has_names_of_its_own(self):
        clauses = {"red": ["=cup/thing#t is =red/attribute>t"]}
        caption = self.filled("=mug/thing#t and @red and =blue/attribute>t", clauses)
        self.assertEqual(
            [(it.role, it.to) for it in caption.words if it.role == "attribute"], [("attribute", 2), ("attribute", 0)]
        )

    def test_what_is_written_on_a_thing_is_its_attribute_or_that_of_how_it_is_written(self):
        texts = {it: ["A"] for it in ("room", "named", "stuff", "people", "things", "first_parts", "last_parts")}
        for template, first in [
            ("=sign/thing#t reads @text>t", "sign"),
            ("the text @text>t on =sign/thing#t", "sign"),
            ("=box/thing#t =labelled/attribute>t#l @text>l", "labelled"),
        ]:
            seen = set()
            for seed in range(40):
                words = Words({"texts": ["NO DOGS"]} | texts, [])
                sentence = Sentence(words, random.Random(seed))
                sentence.fill(template)
                caption = sentence.caption()
                said = [caption.text[it.start : it.end] for it in caption.words]
                if "DOGS" in said:
                    no, dogs = caption.words[said.index("NO")], caption.words[said.index("DOGS")]
                    self.assertEqual(said[no.to], first)
                    self.assertEqual(said[dogs.to], "labelled" if first == "labelled" else "NO")
                    seen.add("'" in said or '"' in said)
            self.assertEqual(seen, {True, False})

    def test_a_state_belongs_by_its_first_word_where_a_particle_follows_else_by_its_last(self):
        for state, main in [("switched off", 0), ("wide open", 1)]:
            caption = self.filled("=door/thing#t is @state>t", states=[state])
            words = caption.words[2:]
            self.assertEqual([it.to for it in words], [0, 2] if main == 0 else [3, 0])

    def test_what_is_no_slot_is_refused(self):
        for template in ("@nothing", "a:nothing", "=mug", "a:thing>nobody"):
            with self.assertRaises((ValueError, KeyError), msg=template):
                self.filled(template)

    def test_without_punctuation_no_word_moves(self):
        caption = self.filled("a =Mug/thing , a =cup/thing .")
        self.assertEqual(unpunctuated(caption).text, "a mug  a cup ")
        self.assertEqual(unpunctuated(caption).words, caption.words)


class Readings(unittest.TestCase):
    def read(self, text: str, said: dict[str, tuple[str, str]]):
        """`said`: of each word with a role, the role and the word it belongs to."""
        words, at = [], 0
        numbers = {word: number for number, word in enumerate(text.split())}
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            role, to = said.get(word, ("none", ""))
            words.append([start, at, role, numbers.get(to, -1)])
        return parse(Caption.from_json(json.dumps({"text": text, "words": words})))

    def test_a_name_has_its_parts_its_attributes_and_what_it_is_related_to(self):
        found = self.read(
            "a light green soap bottle next to one sink",
            {
                "light": ("attribute", "green"),
                "green": ("attribute", "bottle"),
                "soap": ("part", "bottle"),
                "bottle": ("thing", ""),
                "next": ("relation", "bottle"),
                "to": ("relation", "next"),
                "one": ("count", "sink"),
                "sink": ("landmark", "next"),
            },
        )
        bottle, sink = found.names
        self.assertEqual((bottle.name, bottle.attributes), ("soap bottle", ["light green"]))
        self.assertEqual((sink.role, sink.count, sink.links), ("landmark", "one", [("next to", 0)]))

    def test_a_deed_has_its_particle_who_does_it_and_with_what(self):
        found = self.read(
            "C picks a knife up from racks",
            {
                "C": ("person", ""),
                "picks": ("deed", "C"),
                "knife": ("thing", "picks"),
                "up": ("deed", "picks"),
                "from": ("relation", "picks"),
                "racks": ("landmark", "from"),
            },
        )
        (deed,) = found.deeds
        self.assertEqual((deed.words, deed.who, deed.objects, deed.links), ("picks up", 0, [1], [("from", 2)]))

    def test_words_of_one_attribute_are_parted_by_a_blank_also_where_a_quote_stands(self):
        text = "a half-full box labelled 'NO'"
        spans = [("half", 3), ("-", 0), ("full", 0), ("box", -1), ("labelled", 3), ("'", -1), ("NO", 4)]
        roles = {"box": "thing", "'": "none"}
        words, at = [], 0
        for said, to in spans:
            start = text.index(said, at)
            at = start + len(said)
            words.append([start, at, roles.get(said, "attribute"), to])
        (box,) = parse(Caption.from_json(json.dumps({"text": text, "words": words}))).names
        self.assertEqual(box.attributes, ["half-full", "labelled NO"])

    def test_every_name_has_a_role_that_names(self):
        caption = supplied().caption(random.Random(9))
        self.assertTrue(all(it.role in NAMED for it in parse(caption).names))


class Renamed(unittest.TestCase):
    def test_names_persons_and_deeds_get_other_words_and_keep_what_they_belong_to(self):
        text = "a tall man mopping the tiled floor , people near a coffee machine"
        roles = "none attribute person deed none attribute thing none person relation none part thing".split()
        to = [-1, 2, -1, 2, -1, 6, 3, -1, -1, 8, -1, 12, 9]
        words, at = [], 0
        for word, role, target in zip(text.split(), roles, to, strict=True):
            words.append(Word(at, at + len(word), role, target))
            at += len(word) + 1
        caption = Caption(text, words)
        renaming = Renaming(Words(json.loads((HERE / "words.json").read_text()), []), ["plumber"], ["weld"])
        rng, seen = random.Random(5), set()
        for _ in range(60):
            other = renaming.renamed(caption, rng)
            said = [other.text[it.start : it.end] for it in other.words]
            self.assertEqual(" ".join(said), other.text)
            kept = [it.role for it in other.words if it.role != "part"]
            self.assertEqual(kept, [it for it in roles if it != "part"])
            heads = {it.role: number for number, it in enumerate(other.words) if it.role in ("person", "deed")}
            self.assertEqual(other.words[heads["deed"]].to, said.index("plumber") if "plumber" in said else 2)
            seen |= {it for it in said if it in ("plumber", "plumbers", "welding", "mopping", "floor")}
        self.assertEqual(seen, {"plumber", "plumbers", "welding", "mopping", "floor"})

    def test_a_gerund_doubles_a_short_last_sound(self):
        for verb, expected in [("mop", "mopping"), ("weld", "welding"), ("tie", "tying"), ("see", "seeing")]:
            self.assertEqual(gerund(verb), expected)
        self.assertEqual([gerund(it) for it in ("solder", "wipe", "draw")], ["soldering", "wiping", "drawing"])


if __name__ == "__main__":
    unittest.main()
