"""Generated English for training: scenes, notes, questions, dialogue turns and commands.

Every public function returns a *group*: a few texts about the same thing in different forms (a
phrase, a short caption, a long caption in the manner of a vision-language model, a question, a
note). Neighbours in a group are what the student has to tell apart and bring together, so a group
also holds near misses: the same scene with one colour, object or place changed.

The wording of the held-out test lives in ``heldout.py`` and shares no template with this file.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

COLOURS = (
    "red blue green yellow black white grey brown orange purple pink silver golden beige navy "
    "turquoise maroon cream teal dark-blue light-green bright-red pale-blue"
).split()
MATERIALS = "wooden metal plastic glass ceramic leather cardboard steel rubber concrete stone fabric paper wicker marble brass".split()
STATES = (
    "open,closed,empty,full,half-full,broken,new,old,dirty,clean,wet,folded,switched on,switched off,"
    "tipped over,unplugged,locked,dusty,cracked,stacked,torn,rusty,labelled,sealed"
).split(",")
SIZES = "small large tall short big tiny long round square rectangular narrow wide thin thick heavy".split()
RELATIONS = (
    "on,under,next to,behind,in front of,inside,above,to the left of,to the right of,near,beside,"
    "on top of,below,leaning against,hanging from,between the wall and,close to,at the foot of"
).split(",")

OBJECTS = (
    "mug,cup,plate,bowl,glass,bottle,water bottle,wine glass,teapot,kettle,coffee machine,toaster,"
    "microwave,oven,fridge,freezer,dishwasher,frying pan,saucepan,pot,knife,fork,spoon,chopping board,"
    "cereal box,bread,apple,banana,orange,lemon,tomato,potato,onion,carrot,egg carton,milk carton,cheese,"
    "sandwich,cake,pizza,bag of rice,jar of honey,salt shaker,napkin,dish towel,sponge,dish soap,bin,"
    "trash can,broom,mop,bucket,vacuum cleaner,ironing board,iron,laundry basket,washing machine,dryer,"
    "towel,toothbrush,toothpaste,soap dispenser,shampoo,hairbrush,mirror,bathtub,shower curtain,toilet,"
    "sink,tap,toilet paper,bath mat,medicine box,pill bottle,first aid kit,bandage,glasses,sunglasses,"
    "keys,car keys,wallet,phone,charger,laptop,keyboard,mouse,monitor,tablet,headphones,speaker,camera,"
    "remote control,television,game controller,router,printer,scanner,desk lamp,floor lamp,candle,clock,"
    "alarm clock,watch,umbrella,backpack,handbag,suitcase,shopping bag,hat,cap,scarf,gloves,jacket,coat,"
    "sweater,shirt,jeans,socks,shoes,boots,slippers,belt,book,notebook,magazine,newspaper,pen,pencil,"
    "marker,stapler,scissors,tape,envelope,letter,parcel,folder,binder,whiteboard,calendar,poster,picture,"
    "painting,photo frame,vase,flowers,potted plant,cactus,watering can,sofa,couch,armchair,chair,stool,"
    "bench,table,coffee table,dining table,desk,bookshelf,shelf,cabinet,cupboard,wardrobe,drawer,bed,"
    "pillow,blanket,rug,carpet,curtain,door,window,staircase,railing,fireplace,radiator,fan,heater,"
    "air conditioner,light switch,power socket,extension cord,smoke detector,fire extinguisher,ladder,"
    "hammer,screwdriver,wrench,pliers,drill,saw,tape measure,toolbox,nails,screws,paint can,paint brush,"
    "crate,pallet,forklift,pallet jack,conveyor belt,barcode scanner,hard hat,safety vest,traffic cone,"
    "warning sign,exit sign,loading dock,roller door,shipping container,trolley,hand truck,barrel,drum,"
    "cardboard box,plastic bin,storage rack,robot arm,gripper,mobile robot,quadruped robot,drone,lidar,"
    "charging station,battery pack,circuit board,oscilloscope,multimeter,soldering iron,microscope,"
    "centrifuge,pipette,beaker,test tube,flask,petri dish,fume hood,lab coat,goggles,gas cylinder,3d printer,"
    "server rack,network cable,emergency stop button,workbench,vice,dog,cat,bird,hamster,fish tank,"
    "dog bed,litter box,baby,stroller,teddy bear,doll,toy car,lego bricks,ball,football,puzzle,board game,"
    "bicycle,scooter,skateboard,helmet,car,van,truck,bus,motorcycle,golf cart,street lamp,traffic light,"
    "crosswalk,sidewalk,bus stop,parking meter,fire hydrant,mailbox,fence,gate,hedge,tree,palm tree,bush,"
    "lawn,flower bed,fountain,statue,picnic table,swing,slide,bridge,stairs,ramp,handrail,brick wall,"
    "glass door,elevator,escalator,vending machine,water cooler,reception desk,turnstile,security camera,"
    "bulletin board,recycling bin,wheelchair,walking stick,piano,guitar,violin,drum kit,yoga mat,dumbbell,"
    "treadmill,tent,sleeping bag,cooler,barbecue,garden hose,lawn mower,shovel,rake,wheelbarrow"
).split(",")
PLACES = (
    "kitchen,living room,bedroom,bathroom,hallway,entrance hall,dining room,study,home office,garage,"
    "basement,attic,balcony,terrace,garden,backyard,laundry room,pantry,nursery,guest room,laboratory,"
    "clean room,workshop,warehouse,loading bay,aisle 4,storage room,server room,meeting room,conference room,"
    "open-plan office,reception area,lobby,corridor,stairwell,cafeteria,canteen,break room,classroom,"
    "lecture hall,library,gym,hospital ward,waiting room,pharmacy,shop,supermarket,parking lot,"
    "parking garage,street,sidewalk,courtyard,campus,park,playground,construction site,train station,"
    "airport terminal,bus station,hotel room,restaurant,café,greenhouse,barn,assembly line,charging bay"
).split(",")
PEOPLE = (
    "a man,a woman,a child,a boy,a girl,an old man,a technician,a worker in a safety vest,a student,"
    "two people,a group of people,a nurse,a delivery driver,a man in a suit,a woman with long hair,"
    "a person wearing a helmet,a scientist in a lab coat,a couple,a cyclist,a security guard"
).split(",")
ACTIONS = (
    "walking,sitting,standing,talking on the phone,reading,working on a laptop,cooking,eating,drinking coffee,"
    "carrying a box,pushing a trolley,cleaning the floor,looking at the camera,sleeping,playing,waiting,"
    "riding a bicycle,opening the door,putting on a jacket,watching television,writing,having a conversation,"
    "washing the dishes,watering the plants,taking a photo,climbing the stairs,repairing a machine"
).split(",")
NAMES = (
    "Anna Ben Clara David Emma Felix Grace Hugo Ines Jonas Kim Laura Marco Nina Oscar Paula Quinn Rosa Sam Tina "
    "Ahmed Maria Tom Yuki Priya Lucas Melanie Caroline Joanna Nate John Andrew Audrey Deborah Jolene Evan Calvin"
).split()
RELATIVES = "my mother,my father,my sister,my brother,my son,my daughter,grandma,grandpa,my wife,my husband,my neighbour,my boss,my roommate,the landlord,the dentist,the plumber".split(
    ","
)
TIMES = (
    "yesterday,today,this morning,last night,last week,on Monday,on Tuesday evening,on Friday,at noon,at 8 am,"
    "at half past six,two days ago,an hour ago,last month,in March,on 14 May,next Thursday,tomorrow,"
    "over the weekend,in the afternoon,last summer,before lunch,right after breakfast,in 2021"
).split(",")


@dataclass(frozen=True)
class Thing:
    """One object of a scene, with an attribute and what it stands on or by."""

    noun: str
    attribute: str
    relation: str
    anchor: str

    @property
    def phrase(self) -> str:
        return f"{self.attribute} {self.noun}".strip()

    @property
    def placed(self) -> str:
        return f"{article(self.phrase)} {self.relation} the {self.anchor}"


@dataclass(frozen=True)
class Scene:
    """A place, the things in it and, at times, somebody doing something."""

    place: str
    things: tuple[Thing, ...]
    person: str
    action: str


def article(phrase: str) -> str:
    """The phrase behind "a", "an" or "some" (for plural nouns)."""
    if phrase.endswith("s") and not phrase.endswith(("ss", "us", "bus")):
        return f"some {phrase}"
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def random_attribute(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(COLOURS).replace("-", " ")
    if kind < 0.6:
        return rng.choice(MATERIALS)
    if kind < 0.7:
        return rng.choice(SIZES)
    if kind < 0.78:
        return rng.choice(STATES)
    if kind < 0.88:
        return f"{rng.choice(SIZES)} {rng.choice(COLOURS).replace('-', ' ')}"
    return ""


def random_noun(rng: random.Random, rare_nouns: list[str]) -> str:
    return rng.choice(rare_nouns) if rare_nouns and rng.random() < 0.3 else rng.choice(OBJECTS)


def random_scene(rng: random.Random, rare_nouns: list[str]) -> Scene:
    anchors = [rng.choice(OBJECTS) for _ in range(3)] + ["floor", "wall", "table", "shelf", "desk", "counter"]
    things = tuple(
        Thing(random_noun(rng, rare_nouns), random_attribute(rng), rng.choice(RELATIONS), rng.choice(anchors))
        for _ in range(rng.randint(2, 6))
    )
    person = rng.choice(PEOPLE) if rng.random() < 0.4 else ""
    return Scene(rng.choice(PLACES), things, person, rng.choice(ACTIONS))


def changed(rng: random.Random, scene: Scene) -> Scene:
    """The scene with one thing, attribute or the place replaced: a near miss."""
    thing = scene.things[0]
    kind = rng.randrange(3)
    if kind == 0:
        thing = replace(thing, attribute=rng.choice(COLOURS).replace("-", " "))
    elif kind == 1:
        thing = replace(thing, noun=rng.choice(OBJECTS))
    else:
        scene = replace(scene, place=rng.choice(PLACES))
    return replace(scene, things=(thing,) + scene.things[1:])


def short_caption(rng: random.Random, scene: Scene) -> str:
    thing = scene.things[0]
    forms = [
        thing.placed,
        f"{thing.placed} in the {scene.place}",
        f"a {scene.place} with {article(thing.phrase)} and {article(scene.things[1].phrase)}",
        f"{article(thing.phrase)} and {article(scene.things[1].phrase)} in a {scene.place}",
        f"a photo of {article(thing.phrase)}",
        f"there is {thing.placed}",
    ]
    if scene.person:
        forms += [
            f"{scene.person} {scene.action} in the {scene.place}",
            f"{scene.person} {scene.action} next to {article(thing.phrase)}",
        ]
    return rng.choice(forms)


def long_caption(rng: random.Random, scene: Scene) -> str:
    """Several sentences in the manner of a vision-language model's detailed caption."""
    first, rest = scene.things[0], scene.things[1:]
    opening = rng.choice(
        (
            f"The image shows a {scene.place} with {article(first.phrase)} {first.relation} the {first.anchor}.",
            f"This is a view of a {scene.place}. In the foreground there is {first.placed}.",
            f"The photo was taken in a {scene.place}, where {first.placed} can be seen.",
            f"A {scene.place} is visible from a low angle. {sentence(first.placed)} is in the center of the frame.",
            f"In the image we can see the interior of a {scene.place} with {first.placed}.",
            f"The scene shows {first.placed} in what appears to be a {scene.place}.",
        )
    )
    middle = [
        rng.choice(
            (
                f"There is also {t.placed}.",
                f"On the {rng.choice(('left', 'right'))} side there is {article(t.phrase)}.",
                f"{sentence(t.placed)} is visible in the background.",
                f"{sentence(article(t.phrase))} stands {t.relation} the {t.anchor}.",
                f"To the {rng.choice(('left', 'right'))}, {article(t.phrase)} can be seen.",
                f"Next to it is {article(t.phrase)}.",
            )
        )
        for t in rest
    ]
    if scene.person:
        middle.append(
            sentence(
                rng.choice(
                    (f"{scene.person} is {scene.action}.", f"there is {scene.person} {scene.action} in the middle.")
                )
            )
        )
    closing = rng.choice(
        (
            "",
            "",
            "The floor is made of concrete and the walls are painted white.",
            "The lighting is bright and natural, coming from a large window.",
            "The overall atmosphere of the room is tidy and quiet.",
            "The sky is blue with a few white clouds and there are trees in the distance.",
            "The room appears to be unoccupied.",
            "The floor is covered with a carpet and the ceiling has fluorescent lights.",
            "It seems to be late in the evening.",
        )
    )
    return " ".join([opening, *middle, closing]).strip()


def scene_question(rng: random.Random, scene: Scene) -> str:
    thing = scene.things[0]
    forms = [
        f"where is the {thing.noun}?",
        f"Where did I leave my {thing.noun}?",
        f"Where did you last see the {thing.phrase}?",
        f"What is {thing.relation} the {thing.anchor}?",
        f"Is there {article(thing.noun)} in the {scene.place}?",
        f"what colour is the {thing.noun} in the {scene.place}",
        f"How many {thing.noun}s are in the {scene.place}?",
        f"When did you see {article(thing.phrase)} for the last time?",
        f"have you seen my {thing.phrase}",
        f"How do I get to the {scene.place}?",
        f"Where can I find {article(thing.noun)}?",
        f"Which room has {article(thing.phrase)}?",
        f"Is the {thing.noun} still in the {scene.place}?",
        f"find {article(thing.phrase)}",
    ]
    if scene.person:
        forms += [f"Who was {scene.action} in the {scene.place}?", f"Did you see {scene.person} in the {scene.place}?"]
    return rng.choice(forms)


def scene_note(rng: random.Random, scene: Scene) -> str:
    thing = scene.things[0]
    return rng.choice(
        (
            f"I put the {thing.phrase} {thing.relation} the {thing.anchor} in the {scene.place}.",
            f"Saw {thing.placed}, {rng.choice(TIMES)}.",
            f"{rng.choice(NAMES)} moved the {thing.noun} to the {scene.place} {rng.choice(TIMES)}",
            f"The {thing.noun} is now in the {scene.place}, {thing.relation} the {thing.anchor}.",
            f"The {thing.noun} in the {scene.place} is {rng.choice(STATES)}.",
            f"We keep the {thing.noun} in the {scene.place}.",
            f"{rng.choice(NAMES)} is looking for the {thing.phrase}",
            f"objects in the {scene.place}: {', '.join(t.noun for t in scene.things)}",
            f"Please bring the {thing.phrase} from the {scene.place}.",
        )
    )


def scene_group(rng: random.Random, rare_nouns: list[str]) -> list[str]:
    scene = random_scene(rng, rare_nouns)
    near = changed(rng, scene)
    group = [scene.things[0].phrase, short_caption(rng, scene), short_caption(rng, near), scene_question(rng, scene)]
    group += [scene_note(rng, scene), scene_question(rng, near), scene_note(rng, near)]
    if rng.random() < 0.3:
        group += [long_caption(rng, scene), long_caption(rng, near)]
    else:
        turned = replace(scene, things=scene.things[::-1])
        group += [f"{sentence(short_caption(rng, scene))}. {sentence(short_caption(rng, turned))}."]
    return group


def _code(rng: random.Random) -> str:
    return rng.choice(
        (
            str(rng.randint(1000, 9999)),
            f"{rng.choice('ABCDEFGH')}{rng.randint(10, 99)}",
            f"{rng.randint(100, 999)}-{rng.randint(10, 99)}",
        )
    )


def _code_note(rng: random.Random) -> list[str]:
    what = rng.choice(
        "door,gate,alarm,bike lock,safe,garage,front door,wifi,locker,SIM card,printer,lab entrance,key box,laptop".split(
            ","
        )
    )
    kind = rng.choice(("code", "password", "PIN", "combination"))
    first, second = _code(rng), _code(rng)
    return [
        f"the {what} {kind} changed to {first}",
        f"The {kind} for the {what} is {second}.",
        f"What is the {what} {kind}?",
        f"{what} {kind}: {first}",
        f"how do I unlock the {what}",
        f"{rng.choice(NAMES)} said that the new {what} {kind} is {second}, the old one no longer works",
    ]


def _appointment(rng: random.Random) -> list[str]:
    what = rng.choice(
        "dentist appointment,doctor's appointment,team meeting,parents' evening,haircut,job interview,yoga class,piano lesson,oil change,fire drill,safety inspection,video call,delivery,flight to Berlin,train to Lyon,birthday party,concert,vet visit".split(
            ","
        )
    )
    who, when, later = rng.choice(NAMES), rng.choice(TIMES), rng.choice(TIMES)
    return [
        f"{who} has a {what} {when}",
        f"When is {who}'s {what}?",
        f"The {what} was moved to {later}.",
        f"Remind me about the {what} {when}.",
        f"is there a {what} {later}?",
        f"{who} cancelled the {what}.",
    ]


def _preference(rng: random.Random) -> list[str]:
    who = rng.choice(NAMES + RELATIVES)
    what = rng.choice(
        "peanuts,coffee,green tea,spicy food,cats,loud music,jazz,hiking,swimming,chess,black coffee without sugar,oat milk,strawberries,seafood,horror films,science fiction novels,gardening,cycling,pottery,football,early meetings,cold showers,gluten,lactose".split(
            ","
        )
    )
    return [
        f"{who} loves {what}",
        f"{who} can't stand {what}.",
        f"{who} is allergic to {what}",
        f"What does {who} like?",
        f"Does {who} like {what}?",
        f"who is allergic to {what}?",
        f"{who} prefers {what} over anything else",
    ]


def _incident(rng: random.Random) -> list[str]:
    noun, place, when = rng.choice(OBJECTS), rng.choice(PLACES), rng.choice(TIMES)
    fault = rng.choice(
        "is broken,is leaking,makes a strange noise,needs a new battery,is out of order,has to be cleaned,fell over,was stolen,is missing,was delivered,was repaired,is blocked,overheats,does not start,needs refilling".split(
            ","
        )
    )
    return [
        f"the {noun} in the {place} {fault}",
        f"What happened to the {noun} in the {place}?",
        f"{rng.choice(NAMES)} reported {when} that the {noun} {fault}.",
        f"Is the {noun} working again?",
        f"The {noun} was replaced {when}.",
        f"what was wrong in the {place} {when}?",
    ]


def _command(rng: random.Random) -> list[str]:
    table = rng.choice(
        "users,orders,robots,missions,events,frames,invoices,sensors,parts,customers,shipments,logs".split(",")
    )
    column = rng.choice(
        "id,name,status,created_at,battery,price,email,quantity,location,duration,temperature".split(",")
    )
    value, number = rng.choice(("'done'", "'failed'", "20", "'2024-05-01'", "NULL", "100")), rng.randint(1, 64)
    tool = rng.choice(
        "git pull,docker compose up,systemctl restart navigation,cargo build --release,pip install,ros2 launch bringup,ssh robot,rsync -a,kubectl get pods,apt install,make test,python train.py".split(
            ","
        )
    )
    return [
        f"SELECT {column} FROM {table} WHERE status = {value} ORDER BY {column} DESC LIMIT {number};",
        f"the query to list {table} by {column}",
        f"Which SQL statement counts the {table}?",
        f"SELECT count(*) FROM {table} GROUP BY {column};",
        f"run `{tool}` before the demo",
        f"What was the command to {rng.choice(('start', 'update', 'deploy', 'restart', 'build'))} it?",
        f"UPDATE {table} SET {column} = {value} WHERE id = {number};",
        f"{tool} failed with exit code {number}",
    ]


_EVENTS = (
    "went camping with the kids|started a pottery class|adopted a puppy|got a promotion|moved to a new flat|"
    "ran a half marathon|painted a sunset|joined a book club|lost my job|broke my ankle|bought a used car|"
    "visited the museum|planted tomatoes|signed up for a charity race|learned to play the guitar|baked a cake|"
    "met an old friend from school|finished reading a novel|had a fight with my brother|went to a concert|"
    "won a video game tournament|opened a small shop|wrote a screenplay|volunteered at the shelter|"
    "took the dog to the vet|got engaged|passed the exam|tried a new recipe|flew to Japan|repaired my bike"
).split("|")


def dialogue_group(rng: random.Random) -> list[str]:
    one, other = rng.sample(NAMES, 2)
    event, second, when = rng.choice(_EVENTS), rng.choice(_EVENTS), rng.choice(TIMES)
    theirs = event.replace(" my ", " their ")
    return [
        f"{one}: Hey {other}! I {event} {when}, it was {rng.choice(('amazing', 'so calming', 'a lot of work', 'exhausting', 'really tough', 'such fun'))}.",
        f"{other}: {rng.choice(('Wow', 'Oh no', 'Congrats', 'That sounds great', 'Really'))}, {one}! {rng.choice(('How did it go?', 'What was the best part?', 'I am happy for you.', 'Tell me more.', 'How are you feeling now?'))}",
        f"When did {one} say that they {theirs}?",
        f"{one} {theirs} {when}.",
        f"{other}: I {second} {when}. {rng.choice(('What about you?', 'It helped me a lot.', 'My family loved it.', 'I would do it again.'))}",
        f"What did {other} do {when}?",
        f"Who {theirs}?",
    ]


def note_group(rng: random.Random) -> list[str]:
    """Notes as people write them, with the questions that look for them."""
    make = rng.choice((_code_note, _appointment, _preference, _incident, _command, dialogue_group, dialogue_group))
    group = make(rng)
    if rng.random() < 0.3:
        group = [text.lower().rstrip(".?!") for text in group]
    return group
