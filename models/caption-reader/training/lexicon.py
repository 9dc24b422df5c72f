"""Words of kinds that the teacher's rules ask for: from WordNet, and short closed lists."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path


_SOMEONE = "someone somebody anyone nobody noone everyone he she they i who user"
_PERSONS = (
    "people person man woman men women boy girl kid child baby toddler lady guy gentleman user crowd "
    "couple family team player surfer skateboarder skier snowboarder batter catcher umpire rider "
    "biker cyclist motorcyclist pedestrian spectator passenger driver someone somebody human male "
    "female adult worker visitor guest chef cook elder grandmother grandfather mom dad mother father "
    "colleague technician nurse cowboy cop police officer clown bride groom skater tourist performer "
    "individual friend teenager youth dude"
)
_NOT_PERSONS = (
    "pitcher counter runner stranger host server double case range model page image reader figure "
    "stop creature bear animal cat dog horse pet snake rat pig bull lamb monkey kitten coach "
    "fan head hand character party group bunch blade sitter miniature star charge jack tender "
    "slicker boarder dish beauty wheeler diner knocker bat bum doll teddy cutter peeler grater "
    "tangerine monitor controller fry fries hotdog printer trailer grey gray comforter toaster burger "
    "speaker macaroni bleacher bleachers calculator peel carrier washer cub mannequin pacifier crane "
    "maker hanger shrimp quiche ostrich planter shaker cog checker checkers who goer zombie marine "
    "ace native black white blonde plant hood peer single rest original suit"
)
_NOT_ANIMALS = "baby male female young pet prey game stock head racer bat pizza"
_BACKGROUND = (
    "sky glow view angle plenty sunlight daylight shade reflection distance day night time "
    "evening morning afternoon sunset sunrise weather ambiance ambience atmosphere mood style "
    "perspective midair air closeup close-up shot scene background foreground focus use variety "
    "color colour size shape fun action motion way order surroundings area space something anything "
    "nothing everything thing things lot contrast depth touch feel sense purpose work middle "
    "appearance detail texture pattern presence arrangement lighting light-source side top end "
    "display condition order front back rear row half today yesterday tomorrow moment minute hour "
    "left right bottom edge corner center centre part piece turn trick life other one ones lots "
    "type kind sort name word words number age year years home daytime nighttime summer winter "
    "ride walk trip flight meal-time preparation mid- mid progress operation game match sport "
    "close abundance birthday up attention setting surface place position look pose smile bite"
)
_PICTURES = "image picture photo photograph photography snapshot frame scene shot view video footage"
_COLOURS = (
    "red blue green yellow black white grey gray brown orange purple pink beige teal navy maroon turquoise "
    "gold golden silver tan cream violet cyan magenta khaki crimson blonde"
)
_SHADES = "light dark bright pale deep half completely partially fully partly very-dark"
_MATERIALS = (
    "wooden metal plastic leather steel stainless brick marble ceramic concrete wood porcelain granite "
    "chrome wicker iron bronze copper brass rubber silk wool cotton denim velvet linen stone aluminum "
    "aluminium"
)
_PLACES = (
    "kitchen bedroom bathroom hallway corridor office garage basement attic balcony patio "
    "garden yard backyard courtyard park street beach field forest pantry lounge study lobby cafeteria canteen "
    "laboratory lab warehouse classroom library restaurant store shop supermarket city town mall "
    "airport station zoo stadium cafe market room restroom stairwell entrance hall nursery "
    "laundry workshop entryway foyer den playroom closet-room living-room meadow playground "
    "countryside desert woods pasture farm village parking-lot sidewalk road highway "
    "intersection area ocean sea lake river hospital hotel school gym museum church pharmacy theater "
    "cubicle lavatory washroom driveway plaza harbor port downtown sunroom utility-room"
)
_PLACE_PAIRS = (
    "living room|dining room|bed room|bath room|guest room|laundry room|meeting room|conference room|"
    "waiting room|utility room|storage room|break room|parking lot|tennis court|baseball field|ski slope|"
    "train station|bus station|bus stop|grocery store|loading dock|front yard|back yard|soccer field|"
    "entrance hall|lecture hall|front room|hotel room|locker room|changing room|control room"
)
_COMPOUNDS = (
    "hot dog|stuffed animal|fire hydrant|living room|dining room|cutting board|frying pan|washing machine|"
    "washing up|chopping board|teddy bear|double decker|remote control|cell phone|dining table|parking meter|"
    "wash cloth|sleeping bag|measuring cup|baking sheet|baking tray|rolling pin|ironing board|vacuum cleaner|"
    "french fries|potted plant|stop sign|exit sign|wheelchair ramp|swimming pool|parking lot|walking stick|"
    "shopping cart|shopping bag|drinking glass|mashed potatoes|orange juice|filing cabinet|electric kettle|"
    "swiss knife|soft drink|running shoes|high chair|mobile phone|rocking chair|living rooms|bathing suit|"
    "tea towel|baked goods|running shoe|electric toothbrush|red wine|white wine|green beans|hard drive|"
    "polar bear|smart phone|tennis racket|tennis court|toaster oven|surf board|skate board|train tracks|"
    "stop light|street light|clock tower|stuffed bear|stuffed animals|fire hydrants|teddy bears|hot dogs|"
    "double decker|stop signs|parking meters|cell phones|stained glass|ski lift|ski poles|"
    "first aid|wet suit|fire extinguisher|shower curtain|traffic light|bath tub|steering wheel"
)
_RIDDEN = (
    "skateboard surfboard snowboard ski skis bike bicycle motorcycle motorbike horse elephant camel scooter "
    "bus train boat wheelchair wakeboard sled moped cellphone phone laptop computer"
)


class Lexicon:
    def __init__(self, folder: Path):
        self._parents, self._first = _wordnet(folder)
        self.someone = set(_SOMEONE.split())
        self.persons = (self._below("person") | set(_PERSONS.split())) - set(_NOT_PERSONS.split())
        self.animals = self._below("animal") - set(_NOT_ANIMALS.split()) - self.persons
        self.clothing = self._below("clothing") | self._below("footwear") | self._below("headdress")
        self.clothing |= {"outfit", "gear", "glass", "goggle", "clothe", "clothes", "clothing"}
        self.ridden = set(_RIDDEN.split())
        self.background = set(_BACKGROUND.split())
        self.pictures = set(_PICTURES.split())
        self.colours = set(_COLOURS.split())
        self.shades = set(_SHADES.split())
        self.materials = set(_MATERIALS.split())
        self.places = set(_PLACES.split()) | set(_PLACE_PAIRS.split("|"))
        self.compounds = set(_COMPOUNDS.split("|"))

    def is_animal(self, lemma: str) -> bool:
        return lemma.lower() in self.animals

    def _below(self, name: str) -> set[str]:
        """Words whose commonest sense is below that of `name`."""
        top = self._first[name]  # By its name: the numbers of synsets change from one WordNet to the next.
        return {word for word, sense in self._first.items() if self._is_below(sense, top)}

    def _is_below(self, synset: str, top: str) -> bool:
        waiting, seen = [synset], set()
        while waiting:
            it = waiting.pop()
            if it == top:
                return True
            if it not in seen:
                seen.add(it)
                waiting += self._parents[it]
        return False


def _wordnet(folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Hypernyms of each synset of nouns, and the first sense of each word."""
    parents: dict[str, list[str]] = defaultdict(list)
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith(" "):
            continue
        parts = line.split(" ")
        at = 4 + 2 * int(parts[3], 16)
        for pointer in range(int(parts[at])):
            kind, to, _, _ = parts[at + 1 + 4 * pointer : at + 5 + 4 * pointer]
            if kind in ("@", "@i"):
                parents[parts[0]].append(to)
    first = {}
    for line in (folder / "index.noun").read_text().splitlines():
        if not line.startswith(" "):
            parts = line.split()
            first[parts[0].replace("_", " ")] = parts[-int(parts[2])]
    return parents, first
