#!/usr/bin/env python3
"""Prints captions that name a thing each which no other names, a line each.

benches/distinct_nouns.py 16000 > nouns.txt
engram bench recall --records 4000,8000,16000 --captions nouns.txt
"""

import itertools
import sys

ONSETS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "pl", "st"]
VOWELS = ["a", "e", "i", "o", "u"]
COLOURS = ["red", "blue", "green", "white", "black"]
PLACES = ["desk", "shelf", "table", "floor", "counter"]
# So that none is another one's plural or past tense.
ENDING = "k"


def nouns():
    """Words of three syllables that stand in no dictionary."""
    syllables = ["".join(it) for it in itertools.product(ONSETS, VOWELS)]
    for first, second, third in itertools.product(syllables, repeat=3):
        yield first + second + third + ENDING


def captions(count):
    for number, noun in enumerate(itertools.islice(spread(nouns()), count)):
        yield f"a {COLOURS[number % len(COLOURS)]} {noun} on a {PLACES[number % len(PLACES)]}"


def spread(words):
    """Every 41st, so that neighbours differ by more than their last letters."""
    return itertools.islice(words, 0, None, 41)


if __name__ == "__main__":
    for caption in captions(int(sys.argv[1])):
        print(caption)
