"""Held-out test text: sources and wordings that no training text shares.

Dictionaries (jargon, devil), story dialogue (three Wesnoth campaigns), each twentieth WordNet synset,
and scenes, notes, synonyms and attributes written for this test alone, in templates of their own.
"""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass
from pathlib import Path

from corpus import dictionary, passages, squeeze, synsets

MOST_TEXTS = 800
CAMPAIGNS = ("Liberty", "Descent_Into_Darkness", "Sceptre_of_Fire")


@dataclass(frozen=True)
class Retrieval:
    """Queries and the text that answers each: query i is answered by text i among all texts."""

    name: str
    queries: list[str]
    texts: list[str]


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


_HUES = ["scarlet", "teal", "mustard-coloured", "violet", "charcoal", "white", "olive", "pink", "striped", "transparent"]
_GOODS = (
    "thermos,lunchbox,paper towel roll,hand cream,blood pressure monitor,hearing aid case,knitting basket,"
    "board marker,cable drum,label printer,spirit level,glue gun,welding mask,ear defenders,stretch wrap,"
    "cordless screwdriver,power bank,walkie-talkie,tripod,projector,flip chart,stethoscope,syringe,walking frame,"
    "cookie tin,rolling pin,salad bowl,corkscrew,coat hanger,doormat,bird cage,rocking horse,tricycle,"
    "hula hoop,rain jacket,wellington boots,garden gnome,rake,flower pot,sprinkler,bollard,manhole cover,"
    "ticket machine,kiosk,parasol,deck chair,scaffold,cement mixer,wheel loader,hi-fi,record player"
).split(",")
_SPOTS = (
    "windowsill of the sewing room,bottom step of the cellar stairs,counter of the print shop,"
    "second tier of rack B7,trolley outside room 214,passenger seat of the delivery van,"
    "bench by the duck pond,ledge under the noticeboard,lab bench beside the incubator,"
    "kitchenette on the third floor,edge of the sandpit,tiled area around the pool,"
    "platform at the tram stop,desk of the night porter,corner behind the photocopier"
).split(",")


def scenes(rng: random.Random, count: int) -> list[tuple[str, str, str]]:
    """Triples of question, short caption and long caption of the same scene, all scenes different."""
    pairs = rng.sample(list(itertools.product(_GOODS, _SPOTS)), count)
    result = []
    for good, spot in pairs:
        hue, other_hue = rng.sample(_HUES, 2)
        other, third = rng.sample(_GOODS, 2)
        question = rng.choice(
            (
                f"Any idea whereabouts the {hue} {good} ended up?",
                f"Somebody must have put the {good} down somewhere; at the {spot}?",
                f"Could you tell me if the {hue} {good} is still lying around?",
                f"which spot did you notice the {good} at",
            )
        )
        short = f"{hue} {good} lying at the {spot}"
        long = (
            f"We are looking at the {spot}. What stands out is one {hue} {good}, roughly in the middle of the picture. "
            f"A {other_hue} {other} has been put down beside it, and further back one makes out a {third}. "
            f"{rng.choice(('Daylight falls in from above.', 'It is rather dim.', 'Nobody is around.', 'Shadows stretch across the ground.'))}"
        )
        result.append((question, short, long))
    return result


NOTES: list[tuple[str, str]] = [
    ("how do I get into the bike cellar?", "Bike cellar: turn the key twice to the left, then lift the handle."),
    ("which pills does Grandpa take in the evening", "evening meds for Grandpa = half a bisoprolol + one statin, after food"),
    ("What is the guest network called?", "Visitors can use the SSID 'Lindenhof-Guests', passphrase birdsong77."),
    ("who feeds the neighbour's cat while they are away?", "Lena from upstairs looks after Minka until the Kowalskis are back."),
    ("when is the chimney sweep coming", "Chimney sweep announced himself for the 9th, between ten and twelve."),
    ("Why is the centrifuge switched off?", "Do not use the Eppendorf: rotor imbalance, service technician ordered."),
    ("where do we store the spare fuses?", "Spare fuses moved from the hall cupboard to the biscuit tin under the stairs."),
    ("how long does the rice cooker need for brown rice", "brown rice: 1 cup + 2 1/4 water, setting 3, forty minutes"),
    ("Who broke the blue vase?", "Theo knocked over grandmother's vase while playing football indoors."),
    ("which shelf is reserved for returned goods?", "Returns go on level zero of rack R, never mixed with outbound pallets."),
    ("What did the electrician recommend?", "Sparky says the fuse box should be replaced before winter, quote follows."),
    ("Is anyone vegetarian among the guests?", "Saturday dinner: Ravi and Mia don't eat meat, Olga no shellfish."),
    ("how did the exam go for Leonie", "Leonie: I got a B+ in statistics, I honestly expected to fail!"),
    ("what present did Max want", "Max keeps talking about that telescope in the window of the optician's."),
    ("When was the robot's wheel replaced?", "left drive wheel swapped on Sept 2nd, odometer at 412 km"),
    ("Which parking space belongs to the physiotherapist?", "Bay 17 is for the physio, people get towed."),
    ("statement to find late parcels", "SELECT parcel, due FROM parcels WHERE delivered IS NULL AND due < now();"),
    ("how to reboot the lidar driver", "sudo systemctl restart lidar-driver.service fixes the frozen point cloud"),
    ("What did Nadia do on her holiday?", "Nadia: we hiked from hut to hut in the Dolomites, eleven days, my feet are ruined."),
    ("does the upstairs tap still drip?", "Plumber tightened the washer in the top-floor bathroom; no more dripping."),
    ("what music does Dad enjoy", "My old man will listen to nothing but Fado and a bit of Satie."),
    ("Where was the ladder last?", "The ladder is leaning against the cherry tree, Paul used it for picking."),
    ("who is the contact for fire alarms", "In case of a false alarm call Mr Brandt on extension 118."),
    ("how much did the new tyres cost?", "Paid 480 for four winter tyres including fitting."),
    ("When do the bins get emptied?", "Collection: paper every second Monday, residual waste on Fridays before 6."),
    ("What is wrong with the scanner at gate 3?", "Gate three keeps rejecting wet labels, wipe the optics first."),
    ("which child is afraid of the vacuum", "Little Ida starts crying as soon as somebody hoovers."),
    ("did we order more gloves", "500 pairs nitrile size M are on their way, should arrive midweek"),
    ("Where does Aunt Rita live now?", "Rita has sold the farm and taken a flat near the harbour in Bremen."),
    ("what was the reason for the power cut", "A digger hit the cable in Mill Lane, half the quarter was dark for two hours."),
    ("How should the orchids be watered?", "Orchids: dip them for ten minutes once a week, no standing water!"),
    ("Which room is too cold?", "Thermostat in the archive does not get above 16 degrees."),
    ("who won the chess tournament?", "Surprise of the weekend: Bela beat all of us and took home the cup."),
    ("did the courier leave anything", "UPS dropped a flat package at number 12 because no one opened."),
    ("what time does the night shift begin?", "Nights start at 21:45 with a ten-minute handover."),
    ("Where can I charge the scooter?", "Only the socket next to the washing line has enough ampere for the e-scooter."),
    ("how many visitors came to the open day", "We counted 326 people at the doors-open event, most before noon."),
    ("When did Sofia start her new job?", "Sofia: today was my first day at the bakery, I smell like cinnamon."),
    ("what does the red blinking light mean?", "LED flashing red twice a second = gripper has lost air pressure."),
    ("which key opens the attic hatch", "The tiny brass one with the green ribbon fits the hatch to the loft."),
]

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
        spot, distractor = rng.choice(_SPOTS), rng.choice(_GOODS)
        if rng.random() < 0.5:
            one, other = other, one
        query = rng.choice((f"{one} {noun}", f"is the {noun} {one}?", f"spotted the {one} {noun} anywhere?"))
        caption = f"one {{}} {noun} and a {distractor} at the {spot}"
        tests.append((query, caption.format(one), caption.format(other)))
    return tests


def retrievals(root: Path, rng: random.Random) -> list[Retrieval]:
    captions = scenes(rng, 400)
    synset_list = held_out_synsets(root)
    entries = dictionary_groups(root, "jargon", rng)
    lines = [pair for group in dialogue_groups(root) for pair in itertools.pairwise(group)]

    def test(name: str, pairs: list[tuple[str, str]]) -> Retrieval:
        kept = pairs if len(pairs) <= MOST_TEXTS else rng.sample(pairs, MOST_TEXTS)
        return Retrieval(name, [query for query, _ in kept], [text for _, text in kept])

    return [
        test("question -> caption", [(question, short) for question, short, _ in captions]),
        test("short -> long caption", [(short, long) for _, short, long in captions]),
        test("question -> note", NOTES),
        test("gloss -> example", [(gloss, examples[0]) for _, gloss, examples in synset_list if examples]),
        test("word -> gloss", [(lemmas[0], gloss) for lemmas, gloss, _ in synset_list]),
        test("definition -> its next passage", [(entry[0], entry[1]) for entry in entries]),
        test("line -> next line of dialogue", lines),
    ]


def related_groups(root: Path, rng: random.Random) -> dict[str, list[list[str]]]:
    """Groups of related texts by kind, for pairs of cosines."""
    return {
        "captions and questions": [list(triple) for triple in scenes(rng, 600)],
        "notes": [list(pair) for pair in NOTES],
        "synsets": [[*lemmas[:2], gloss, *examples[:2]] for lemmas, gloss, examples in held_out_synsets(root)],
        "dictionary prose": dictionary_groups(root, "jargon", rng) + dictionary_groups(root, "devil", rng),
        "dialogue": dialogue_groups(root),
    }
