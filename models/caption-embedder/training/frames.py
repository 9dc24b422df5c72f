"""Notes as people write them, and the questions that look for them, from the frames in ``frames.txt``.

A line of the file is a note, the same or a related fact in other words, and two questions. Slots are
filled from word lists and from WordNet, so that the words are as wide as English while the frames are
few; each group also holds its notes with one slot filled otherwise: a near miss.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

import grammar

LINES = [line.split("|") for line in Path(__file__).with_name("frames.txt").read_text().splitlines()]
SLOT = re.compile(r"\{(\w+?)(\d?)\}")

NAMES = (
    grammar.NAMES
    + (
        "Alice Amir Astrid Bruno Carla Chen Chloe Daniel Diana Diego Edith Elif Elena Eric Fatima Fiona Frank George Greta "
        "Hannah Hassan Helen Ivan Jack Jane Javier Julia Karim Kate Kevin Lisa Louis Lucy Marta Martin Mehmet Nicole Noah "
        "Oliver Omar Pablo Peter Petra Philip Rachel Raj Robert Robin Ruth Sara Sebastian Simon Stella Susan Tara Thomas "
        "Tobias Ursula Vera Victor Walter Wei Yusuf Zara"
    ).split()
    + (
        "Mr Miller,Mrs Schmidt,Dr Patel,Aunt Mary,Uncle Joe,Granny,Dad,Mum,my sister,my brother,the boss,our neighbour,"
        "the tenant,Mr Rossi,Ms Garcia,Professor Lee,my wife,my son"
    ).split(",")
)
TIMES = grammar.TIMES + (
    "tonight|on Wednesday|on Sunday|next week|in spring|in autumn|at Easter|in November|on the 5th|on the 23rd|at 6 pm|"
    "before seven|around ten|every morning|each Thursday|after the holidays|in two weeks|three days ago|since Monday|"
    "in the evening|at night|by the end of the month|last winter|in 2023|on 2 July|at a quarter to nine"
).split("|")
WORDS = {
    "place": grammar.PLACES,
    "colour": [colour.replace("-", " ") for colour in grammar.COLOURS],
    "material": grammar.MATERIALS,
    "relation": grammar.RELATIONS,
    "name": NAMES,
    "when": TIMES,
    "adj": grammar.STATES
    + grammar.SIZES
    + "boring,funny,wonderful,terrible,strange,beautiful,ugly,expensive,cheap,loud".split(","),
    "clothes": "sweater,coat,dress,shirt,scarf,suit,jacket,blouse,trousers,skirt,uniform,pyjamas,hat,tie,socks,jeans,raincoat,gown".split(
        ","
    ),
    "vehicle": "bicycle,car,van,truck,motorbike,bus,tractor,tram,boat,camper,taxi,e-bike,trailer,moped,train,ferry".split(
        ","
    ),
    "city": "Berlin,Paris,London,Rome,Madrid,Vienna,Prague,Lyon,Boston,Chicago,Tokyo,Seoul,Cairo,Nairobi,Lima,Sydney,Toronto,Dublin,Hamburg,Zurich,Munich,Porto,Athens,Istanbul,Mumbai,Denver".split(
        ","
    ),
    "topic": "the new website,the budget,robot safety,the garden fence,the French Revolution,fractions,climate change,photosynthesis,the annual report,the marketing plan,data privacy,the summer party,the merger,quality control,Roman history,genetics,the roof repair,the thesis,the grant proposal,hiring,the warehouse move,electric cars,the survey,Shakespeare,chemistry,the tax return,machine learning,the school trip,fire safety,the new schedule,volcanoes,spelling,world religions,the product launch,mapping,battery recycling".split(
        ","
    ),
    "instrument": "piano,guitar,violin,flute,drums,trumpet,clarinet,accordion,harp,saxophone,organ,banjo,bass,recorder".split(
        ","
    ),
    "sport": "football,tennis,basketball,yoga,swimming,judo,handball,climbing,rowing,volleyball,golf,boxing,cycling,hockey,skiing,badminton,ballet,karate,riding,table tennis".split(
        ","
    ),
    "bodypart": "knee,shoulder,back,ankle,wrist,elbow,neck,hip,foot,thumb,tooth,eye,ear,head,stomach,hand,rib,toe".split(
        ","
    ),
    "illness": "flu,a cold,measles,hay fever,a migraine,insomnia,chickenpox,asthma,a cough,tetanus,food poisoning,bronchitis,diabetes,high blood pressure,an ear infection,back pain,depression,a sore throat".split(
        ","
    ),
    "toy": "teddy bear,blanket,doll,toy train,stuffed rabbit,building blocks,ball,puppet,puzzle,kite,yo-yo,spinning top,marbles,toy dinosaur".split(
        ","
    ),
    "substance": "ibuprofen,aspirin,iron,vitamin D,ethanol,bleach,acetone,ink,red wine,coffee,glue,grease,blood,salt,vinegar,baking soda,chlorine,paint,oil,antibiotics,insulin,cough syrup,resin,soap,detergent,fertiliser,hydrogen peroxide,wax".split(
        ","
    ),
    "feeling": "happy,sad,angry,worried,proud,nervous,disappointed,excited,jealous,relieved,tired,surprised,bored,grateful,lonely,ashamed,confused,hopeful".split(
        ","
    ),
    "tool": "systemctl restart,docker compose up,ros2 run,git pull,make clean,kubectl delete pod,apt install,npm start,cargo run,python -m,journalctl -u,tmux attach".split(
        ","
    ),
}
GENERAL_FOOD = "rice,pasta,bread,cheese,potatoes,chicken,fish,eggs,tomatoes,onions,apples,butter,milk,yoghurt,chocolate,nuts,beans,soup,salad,cake,honey,flour,sugar,lemon,garlic,carrots,mushrooms,bananas,tofu,ham".split(
    ","
)


@dataclass(frozen=True)
class Vocabulary:
    """Words of WordNet that fill slots and scenes."""

    things: list[str]
    animals: list[str]
    plants: list[str]
    food: list[str]
    people: list[str]
    doing: list[str]


def filler(rng: random.Random, slot: str, words: Vocabulary) -> str:
    """A word for a slot; half of the nouns come from WordNet."""
    rare = rng.random() < 0.5
    match slot:
        case "thing":
            return rng.choice(words.things if rare else grammar.OBJECTS)
        case "animal":
            return (
                rng.choice(words.animals)
                if rare
                else rng.choice(
                    "dog,cat,rabbit,hamster,horse,cow,fox,hedgehog,parrot,snake,mouse,goat,duck,owl,squirrel,turtle".split(
                        ","
                    )
                )
            )
        case "plant":
            return (
                rng.choice(words.plants)
                if rare
                else rng.choice(
                    "rose,fern,basil,cactus,palm,tomato plant,lemon tree,ivy,tulip,lavender,hedge,lawn,oak,mint".split(
                        ","
                    )
                )
            )
        case "food":
            return rng.choice(words.food if rare else GENERAL_FOOD)
        case "person":
            return (
                rng.choice(words.people)
                if rare
                else rng.choice(
                    "plumber,electrician,teacher,doctor,nurse,gardener,baker,lawyer,technician,manager,carpenter,driver,cleaner,nanny,pilot,engineer,painter,policeman".split(
                        ","
                    )
                )
            )
        case "doing":
            return rng.choice(words.doing)
        case "num":
            return str(rng.choice((rng.randint(2, 12), rng.randint(13, 99))))
        case "code":
            return rng.choice(
                (
                    f"{rng.choice('ABCDEFGHKLMRSTX')}{rng.randint(10, 999)}",
                    f"{rng.randint(100, 9999)}",
                    f"{rng.choice('abcdefgh')}{rng.randint(1, 9)}-{rng.randint(10, 99)}",
                )
            )
        case _:
            return rng.choice(WORDS[slot])


def shortened(rng: random.Random, text: str) -> str:
    """The text as somebody in a hurry types it."""
    text = rng.choice((text, text.lower(), text[0].upper() + text[1:] + ".", text))
    if rng.random() < 0.25:
        text = (
            rng.choice(
                (
                    "note: ",
                    "todo: ",
                    "remember: ",
                    "FYI ",
                    "reminder - ",
                    "btw ",
                    "important! ",
                    "* ",
                    "- ",
                    "1) ",
                    "update: ",
                )
            )
            + text
        )
    if rng.random() < 0.2:
        for long, short in (
            (" and ", " & "),
            (" with ", " w/ "),
            (" euros", " EUR"),
            ("tomorrow", "tmrw"),
            (" minutes", " min"),
            (" is ", " = "),
        ):
            text = text.replace(long, short)
    if rng.random() < 0.08:
        text += rng.choice((" please", " !!", " (ask me)", " - done", " :)", " thanks", ", don't forget"))
    return text


def frame_group(rng: random.Random, words: Vocabulary) -> list[str]:
    """A note, the same in other words, questions, and near misses of each."""
    line = rng.choice(LINES)
    slots = sorted({match.group(0) for part in line for match in SLOT.finditer(part)})
    values = {slot: filler(rng, SLOT.match(slot).group(1), words) for slot in slots}
    other = rng.choice(slots)
    near = values | {other: filler(rng, SLOT.match(other).group(1), words)}

    def filled(text: str, chosen: dict[str, str]) -> str:
        return SLOT.sub(lambda match: chosen[match.group(0)], text)

    texts = [shortened(rng, filled(line[0], values)), shortened(rng, filled(line[1], values))]
    texts += [rng.choice((q, q, q.rstrip("?"))) for q in (filled(part, values) for part in line[2:])]
    texts += [shortened(rng, filled(line[rng.randrange(2)], near)), filled(rng.choice(line[2:]), near)]
    return texts
