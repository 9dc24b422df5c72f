"""BM25 over texts, with the program's stop words and stems."""

import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import snowballstemmer

ROOT = Path(__file__).resolve().parents[2]
K1, B = 1.2, 0.75
WORDS = (ROOT / "src/language/data/classes/stop_words.txt").read_text().splitlines()
STOP_WORDS = {word for line in WORDS if not line.startswith("#") for word in line.split()}
STEMMER = snowballstemmer.stemmer("english")


def terms(text):
    words = (word for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP_WORDS)
    return [STEMMER.stemWord(word) if word.isascii() and word.isalpha() else word for word in words]


class Bm25:
    def __init__(self, texts, b=B):
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], float)
        self.norms = K1 * (1 - b + b * lengths / max(lengths.mean(), 1))
        self.postings = defaultdict(list)
        for row, count in enumerate(counts):
            for term, times in count.items():
                self.postings[term].append((row, times))

    def scores(self, query):
        scores = np.zeros(len(self.norms))
        for term in set(terms(query)) & self.postings.keys():
            rows, times = map(np.array, zip(*self.postings[term], strict=True))
            idf = math.log(1 + (len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += idf * times * (K1 + 1) / (times + self.norms[rows])
        return scores

    def holding_all(self, query):
        """Rows that hold every term of the query."""
        asked = set(terms(query))
        held = [{row for row, _ in self.postings[term]} for term in asked & self.postings.keys()]
        return set.intersection(*held) if held and len(held) == len(asked) else set()


def reciprocal_rank(scores, answers):
    """Of the best answer; among equals the mean place."""
    best = max(scores[at] for at in answers)
    return 1 / ((scores > best).sum() + ((scores == best).sum() + 1) / 2)
