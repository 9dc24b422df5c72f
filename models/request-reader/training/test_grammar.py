"""python -m unittest test_grammar, in this folder."""

import json
import random
import tempfile
import unittest
from pathlib import Path

from grammar import GROUPS, HEADS, HERE, ROLES, Filler, Grammar, Request, Words, is_where, several, supplied


class Slots(unittest.TestCase):
    def setUp(self):
        self.words = Words(json.loads((HERE / "lexicon.json").read_text()))

    def filled(self, template: str) -> Request:
        request = Request()
        Filler(self.words, random.Random(4)).fill(request, template, ["Bring it."])
        return request

    def test_a_slot_has_its_role_and_its_article_none(self):
        request = self.filled("{A_thing} lay on {spot} {when}. <it>")
        self.assertEqual([role for role, _ in request.spans()], ["thing", "place", "time"])
        self.assertTrue(request.text.startswith(("A ", "An ", "Some ")), request.text)
        self.assertTrue(request.text.endswith(". Bring it."), request.text)
        self.assertEqual(len(request.text), len(request.roles))

    def test_what_is_named_twice_is_the_same(self):
        things = [words for role, words in self.filled("{a_thing}, yes, that {thing}").spans() if role == "thing"]
        self.assertEqual(len(things), 2)
        self.assertEqual(things[0], things[1])

    def test_literal_words_have_the_role_they_name_and_asides_none(self):
        request = self.filled("the [attr:broken] {thing} I [deed:use], not {aside}")
        self.assertEqual([role for role, _ in request.spans()], ["attribute", "thing", "deed"])

    def test_a_deed_without_a_thing_has_its_role_and_whoever_does_it_none(self):
        request = self.filled("did {anyone} {act} or {person} {acted}")
        self.assertEqual([role for role, _ in request.spans()], ["deed", "deed"])

    def test_an_unknown_slot_is_refused(self):
        with self.assertRaisesRegex(ValueError, "thingy"):
            self.filled("the {thingy}")


class Templates(unittest.TestCase):
    def test_all_files_are_read_and_give_requests_of_every_kind(self):
        grammar, rng = supplied(), random.Random(0)
        self.assertEqual({kind[0] for kind in grammar.kinds}, set(GROUPS))
        requests = [grammar.request(rng) for _ in range(1500)]
        seen = {role for request in requests for role, _ in request.spans()}
        self.assertEqual(seen, set(ROLES) - {"none"})
        self.assertFalse([it.text for it in requests if "{" in it.text or "<it>" in it.text or "__" in it.text])

    def test_requests_want_something_and_questions_orders_to_stop_and_talk_do_not(self):
        grammar, rng = supplied(), random.Random(1)
        requests = [grammar.request(rng) for _ in range(1500)]
        for head, answers in HEADS.items():
            self.assertEqual({getattr(it, head) for it in requests}, set(answers), head)
        wanted = [it for it in requests if it.intent in ("fetch", "where")]
        self.assertTrue(0.6 < len(wanted) / len(requests) < 0.9)
        self.assertTrue(all(it.asks == "none" for it in requests if it.intent != "question"))

    def test_what_only_asks_where_something_is_wants_to_know_it(self):
        self.assertTrue(is_where("Any idea where the mug is?"))
        self.assertTrue(is_where("What became of the mug?"))
        self.assertFalse(is_where("Where is the mug? Bring it."))
        self.assertFalse(is_where("the mug on the desk"))

    def test_more_than_one_of_them_is_said_by_the_rule(self):
        for thing, more in [
            ("mug", "mugs"),
            ("box of screws", "boxes of screws"),
            ("battery", "batteries"),
            ("keys", "keys"),
        ]:
            self.assertEqual(several(thing), more)

    def test_a_section_of_unknown_flags_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "x.txt")
            file.write_text("== full the sometimes\nthe {thing}\n")
            with self.assertRaisesRegex(ValueError, "sometimes"):
                Grammar([file], Words(json.loads((HERE / "lexicon.json").read_text())))


if __name__ == "__main__":
    unittest.main()
