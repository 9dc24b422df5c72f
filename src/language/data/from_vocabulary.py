"""Writes frequent_words.txt from WordNet's files and the vocabulary of the embedder's tokenizer.

    python from_vocabulary.py --wordnet DICT --tokenizer ../../../models/caption-embedder/tokenizer.json

DICT is the folder of `from_wordnet.py`. See README.md for what the file holds.
"""

import argparse
import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A vocabulary of word pieces is in the order of how often texts have them. What is seldomer than so is
# as often what is left of a longer word.
RANK_MAX = 16_000
LETTERS_MIN = 4


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    args = parser.parse_args()
    ranks = json.loads(args.tokenizer.read_text())["model"]["vocab"]
    # Names of people and places have a capital.
    whole = re.compile(rf"[a-z]{{{LETTERS_MIN},}}")
    words = {it for it in lemmas(args.wordnet) if whole.fullmatch(it) and ranks.get(it, RANK_MAX) < RANK_MAX}
    told = words - words_of("english_words.txt")
    (HERE / "frequent_words.txt").write_text("".join(f"{word}\n" for word in sorted(told)))


def lemmas(wordnet):
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text().splitlines():
            if not line.startswith(" "):
                fields = line.split(" ")
                count = int(fields[3], 16)
                yield from fields[4 : 4 + 2 * count : 2]


def words_of(file):
    lines = (HERE / file).read_text().splitlines()
    return {line.rstrip("*") for line in lines if not line.startswith("#")}


if __name__ == "__main__":
    main()
