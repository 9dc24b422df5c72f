"""Held-out test text: sources and wordings that no training text shares.

Dictionaries (jargon, devil), story dialogue (three Wesnoth campaigns), each twentieth WordNet synset,
and scenes, notes, synonyms and attributes written for this test alone, in templates and words of
their own (``reserved.py``).
"""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass
from pathlib import Path

from corpus import dictionary, passages, squeeze, synsets
from reserved import FIGURES, GOODS, PURSUITS, SPOTS

MOST_TEXTS = 800
CAMPAIGNS = ("Liberty", "Descent_Into_Darkness", "Sceptre_of_Fire")


@dataclass(frozen=True)
class Retrieval:
    """Queries and the text that answers each: query i is answered by text i among all texts."""

    name: str
    queries: list[str]
    texts: list[str]
    of_a_robot: bool
    """Captions, questions and notes: what engram holds. Else prose, for comparison."""


def dictionary_groups(root: Path, name: str, rng: random.Random) -> list[list[str]]:
    groups = []
    for entry in re.split(r"\n(?=\S)", dictionary(root, name)):
        body = re.sub(r"[{}]|\[[^\]]*\]|^.*?, [navj]+\.", "", entry, flags=re.S)
        texts = list(passages(rng, body))[:4]
        if len(texts) > 1:
            groups.append(texts)
    return groups


def dialogue_groups(root: Path) -> list[list[str]]:
    """The lines spoken in each scenario, in order."""
    groups = []
    for campaign in CAMPAIGNS:
        folder = root / "usr/share/games/wesnoth/1.16/data/campaigns" / campaign / "scenarios"
        for path in sorted(folder.glob("*.cfg")):
            lines = re.findall(r'message= *_ *"([^"]+)"', path.read_text())
            groups.append([squeeze(line) for line in lines if " " in line])
    return [group for group in groups if len(group) > 1]


def held_out_synsets(root: Path) -> list[tuple[list[str], str, list[str]]]:
    return [(lemmas, gloss, examples) for _, _, lemmas, gloss, examples, held_out in synsets(root) if held_out]


_HUES = [
    "scarlet",
    "teal",
    "mustard-coloured",
    "violet",
    "charcoal",
    "white",
    "olive",
    "pink",
    "striped",
    "transparent",
]
_PLAIN_HUES = "red,blue,green,yellow,black,white,grey,orange,purple,brown".split(",")
_LIGHT = (
    "Daylight falls in from above.,It is rather dim.,Shadows stretch across the ground.,A neon tube flickers overhead.,"
    "Low sun throws everything into relief.,The picture is slightly out of focus."
).split(",")
_FILLERS = (
    "A faint reflection hints at a pane between camera and subject.|Scuff marks tell of heavy use.|"
    "One cannot read the small print on the sticker.|Apart from that the surroundings are bare.|"
    "Judging by the puddles it must have rained not long ago.|A strip of tape divides the ground in two."
).split("|")


@dataclass(frozen=True)
class Scene:
    """One held-out scene in words: what somebody may ask, a short caption, a detailed one."""

    question: str
    short: str
    detailed_question: str
    detailed: str


def _detailed(rng: random.Random, thing: str, others: list[str], spot: str, who: str, pursuit: str) -> str:
    """About seventy words in one of several manners of describing."""
    light, filler = rng.choice(_LIGHT), rng.choice(_FILLERS)
    one, two, three = others
    return rng.choice(
        (
            f"We are looking at the {spot}. What stands out is one {thing}, roughly in the middle of the picture. "
            f"{one.capitalize()} has been put down beside it, and further back one makes out {two}. {light} "
            f"{who.capitalize()}, {pursuit}, occupies the rear. {filler} Close to the border the camera caught {three}.",
            f"{who.capitalize()}, busy {pursuit}, takes up a third of the view. Nearer to us somebody set down one {thing}; "
            f"the place is evidently the {spot}. {light} Half hidden one recognises {one}. {two.capitalize()} completes the "
            f"arrangement, whereas {three} got cropped at the margin. {filler}",
            f"Pictured: the {spot}. Inventory from near to far: one {thing}, {one}, {two}, {three}. {filler} "
            f"A figure, presumably {who}, is absorbed in {pursuit}. {light} Nothing else draws attention, and no lettering is legible.",
            f"Snapshot of the {spot}, taken at chest height. {one.capitalize()} dominates at first glance, yet the eye soon wanders "
            f"to one {thing} placed with some care. {filler} {three.capitalize()} rests askew against {two}. {light} "
            f"{who.capitalize()} passes the time {pursuit}.",
        )
    )


def scenes(rng: random.Random, count: int) -> list[Scene]:
    """Different scenes: no two share both the thing and the spot."""
    result = []
    for good, spot in rng.sample(list(itertools.product(GOODS, SPOTS)), count):
        hue = rng.choice(_HUES)
        others = [f"a {rng.choice(_HUES)} {other}" for other in rng.sample(GOODS, 3)]
        who, pursuit = rng.choice(FIGURES), rng.choice(PURSUITS)
        question = rng.choice(
            (
                f"Any idea whereabouts the {hue} {good} ended up?",
                f"Somebody must have put the {good} down somewhere; at the {spot}?",
                f"Could you tell me if the {hue} {good} is still lying around?",
                f"which spot did you notice the {good} at",
            )
        )
        detailed_question = rng.choice(
            (
                f"Any idea whereabouts the {hue} {good} ended up?",
                f"did {who} at the {spot} happen to have {others[0]} around",
                f"Recall the moment with {who} {pursuit} beside the {good}.",
                f"what was going on at the {spot} when the {good} turned up",
                f"Somebody was {pursuit} near {others[1]}, I believe; who?",
                f"which spot did you notice the {hue} {good} at",
            )
        )
        short = f"{hue} {good} lying at the {spot}"
        result.append(
            Scene(question, short, detailed_question, _detailed(rng, f"{hue} {good}", others, spot, who, pursuit))
        )
    return result


def notes() -> list[tuple[str, str]]:
    """Questions and the notes that answer them, each written by hand."""
    rows = Path(__file__).with_name("heldout_notes.tsv").read_text().splitlines()
    return [(question, note) for question, note in (row.split("\t") for row in rows)]


SYNONYMS = (
    "mug/cup,sofa/couch,trash can/waste bin,fridge/refrigerator,television/tv set,spectacles/glasses,rug/carpet,"
    "wardrobe/closet,tap/faucet,lorry/truck,torch/flashlight,mobile phone/cell phone,film/movie,lift/elevator,"
    "pavement/sidewalk,bicycle/bike,automobile/car,infant/baby,physician/doctor,shop/store,path/trail,stone/rock,"
    "forest/woods,jumper/sweater,trousers/pants,purse/handbag,parcel/package,sweets/candy,cooker/stove,"
    "hob/hotplate,saucepan/pot,autumn/fall,drawing/sketch,garbage/rubbish,parking lot/car park,curtain/drape,"
    "armchair/easy chair,vacuum cleaner/hoover,notebook computer/laptop,screwdriver/driver,nappy/diaper,"
    "spanner/wrench,duvet/quilt,rucksack/backpack,cellar/basement,staircase/stairs,street/road,picture/image,"
    "kid/child,aeroplane/plane,boat/ship,puppy/young dog,kitten/young cat,photo/snapshot,chef/cook,cab/taxi"
).split(",")

ATTRIBUTE_PAIRS = (
    "red/blue,green/yellow,black/white,grey/orange,open/closed,empty/full,broken/intact,wooden/metal,small/large,"
    "wet/dry,clean/dirty,plastic/glass,locked/unlocked,old/new,round/square"
).split(",")
ATTRIBUTE_NOUNS = "mug,box,door,bucket,chair,suitcase,drawer,bottle,bag,cabinet,window,tray,gate,container".split(",")


def attribute_tests(rng: random.Random, count: int = 300) -> list[tuple[str, str, str]]:
    """Query, caption with the asked attribute, caption with its opposite and all else alike."""
    tests = []
    for _ in range(count):
        noun, (one, other) = rng.choice(ATTRIBUTE_NOUNS), rng.choice(ATTRIBUTE_PAIRS).split("/")
        spot, distractor = rng.choice(SPOTS), rng.choice(GOODS)
        if rng.random() < 0.5:
            one, other = other, one
        query = rng.choice((f"{one} {noun}", f"is the {noun} {one}?", f"spotted the {one} {noun} anywhere?"))
        caption = f"one {{}} {noun} and a {distractor} at the {spot}"
        tests.append((query, caption.format(one), caption.format(other)))
    return tests


COLOURS_AT_ONCE = 8


def colour_tests(rng: random.Random, count: int = 200) -> list[tuple[str, list[str]]]:
    """Query for a thing of a colour; captions of it in several colours at several spots, the right one first."""
    tests = []
    for _ in range(count):
        good, hues, spots = (
            rng.choice(GOODS),
            rng.sample(_PLAIN_HUES, COLOURS_AT_ONCE),
            rng.sample(SPOTS, COLOURS_AT_ONCE),
        )
        query = rng.choice(
            (f"{hues[0]} {good}", f"whereabouts is the {hues[0]} {good}", f"spotted the {hues[0]} {good} anywhere?")
        )
        tests.append((query, [f"one {hue} {good} at the {spot}" for hue, spot in zip(hues, spots)]))
    return tests


def retrievals(root: Path, rng: random.Random) -> list[Retrieval]:
    captions = scenes(rng, 400)
    synset_list = held_out_synsets(root)
    entries = dictionary_groups(root, "jargon", rng)
    lines = [pair for group in dialogue_groups(root) for pair in itertools.pairwise(group)]

    def test(name: str, pairs: list[tuple[str, str]], of_a_robot: bool = False) -> Retrieval:
        kept = pairs if len(pairs) <= MOST_TEXTS else rng.sample(pairs, MOST_TEXTS)
        return Retrieval(name, [query for query, _ in kept], [text for _, text in kept], of_a_robot)

    return [
        test("question -> short caption", [(scene.question, scene.short) for scene in captions], True),
        test("question -> long caption", [(scene.detailed_question, scene.detailed) for scene in captions], True),
        test("short -> long caption", [(scene.short, scene.detailed) for scene in captions], True),
        test("question -> note", notes(), True),
        test("gloss -> example", [(gloss, examples[0]) for _, gloss, examples in synset_list if examples]),
        test("word -> gloss", [(lemmas[0], gloss) for lemmas, gloss, _ in synset_list]),
        test("definition -> its next passage", [(entry[0], entry[1]) for entry in entries]),
        test("line -> next line of dialogue", lines),
    ]


def related_groups(root: Path, rng: random.Random) -> dict[str, list[list[str]]]:
    """Groups of related texts by kind, for pairs of cosines."""
    return {
        "captions and questions": [[s.question, s.short, s.detailed, s.detailed_question] for s in scenes(rng, 600)],
        "notes": [list(pair) for pair in notes()],
        "synsets": [[*lemmas[:2], gloss, *examples[:2]] for lemmas, gloss, examples in held_out_synsets(root)],
        "dictionary prose": dictionary_groups(root, "jargon", rng) + dictionary_groups(root, "devil", rng),
        "dialogue": dialogue_groups(root),
    }
