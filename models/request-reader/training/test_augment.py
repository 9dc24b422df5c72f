"""python -m unittest test_augment, in this folder."""

import random
import unittest
from collections import Counter

from augment import AFTER, BEFORE, HELD, Manners, chatted, mistyped, slipped, sounds_alike, spoken
from grammar import Request, supplied


def drawn(count: int) -> list[Request]:
    grammar, rng = supplied(), random.Random(2)
    return [grammar.request(rng) for _ in range(count)]


def roles_of(request: Request) -> set[str]:
    return {role for role, _ in request.spans()}


class Augment(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(3)
        self.manners = Manners(["captain", "plumber"], ["gladly"], ["Edna"])

    def test_a_word_that_nobody_needs_changes_no_span(self):
        for request in drawn(300):
            said = self.manners.put(request, self.rng)
            self.assertEqual(len(said.text), len(said.roles))
            words = lambda it: [(role, word.rstrip(".!?;, ")) for role, text in it.spans() for word in text.split()]  # noqa: E731
            self.assertEqual(words(said), words(request), said.text)

    def test_every_manner_keeps_a_role_for_each_character_and_no_other_roles(self):
        manners = [chatted, mistyped, lambda it, rng: spoken(it, sounds_alike(), rng)]
        for request in drawn(300):
            for manner in manners:
                said = manner(request, self.rng)
                self.assertEqual(len(said.text), len(said.roles), said.text)
                self.assertLessEqual(roles_of(said), roles_of(request), said.text)
                self.assertEqual(said.intent, request.intent)

    def test_a_slip_is_one_letter_away(self):
        for _ in range(500):
            word = slipped("backpack", self.rng)
            self.assertLessEqual(abs(len(word) - 8), 1)
            other = (Counter(word) - Counter("backpack")) + (Counter("backpack") - Counter(word))
            self.assertLessEqual(other.total(), 2, word)

    def test_words_that_are_held_out_are_never_added(self):
        self.assertFalse(set(HELD) & set(AFTER + BEFORE))
        said = " ".join(self.manners.put(Request("the mug", [0] * 7), self.rng).text for _ in range(2000))
        for word in ("robot", "asap", "mate", "cheers mate"):
            self.assertNotIn(f" {word} ", f" {said} ".replace("good robot", ""), word)


if __name__ == "__main__":
    unittest.main()
