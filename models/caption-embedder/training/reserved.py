"""Words of the held-out tests. No training text contains any of them.

``heldout.py`` writes its scenes with them, and ``corpus.py`` drops every text that names one.
"""

from __future__ import annotations

import re

GOODS = (
    "thermos,lunchbox,paper towel roll,hand cream,blood pressure monitor,hearing aid case,knitting basket,"
    "board marker,cable drum,label printer,spirit level,glue gun,welding mask,ear defenders,stretch wrap,"
    "cordless screwdriver,power bank,walkie-talkie,tripod,projector,flip chart,stethoscope,syringe,walking frame,"
    "cookie tin,rolling pin,salad bowl,corkscrew,coat hanger,doormat,bird cage,rocking horse,tricycle,"
    "hula hoop,rain jacket,wellington boots,garden gnome,flower pot,sprinkler,bollard,manhole cover,"
    "ticket machine,kiosk,parasol,deck chair,scaffold,cement mixer,wheel loader,hi-fi,record player"
).split(",")
SPOTS = (
    "windowsill of the sewing room,bottom step of the cellar stairs,counter of the print shop,"
    "second tier of rack B7,trolley outside room 214,passenger seat of the delivery van,"
    "bench by the duck pond,ledge under the noticeboard,lab bench beside the incubator,"
    "kitchenette on the third floor,edge of the sandpit,tiled area around the pool,"
    "platform at the tram stop,desk of the night porter,corner behind the photocopier,"
    "landing outside the caretaker's flat,mezzanine above the packing line,veranda of the clubhouse,"
    "jetty below the boathouse,nook beneath the spiral stairs,foyer of the town hall,cloakroom of the theatre,"
    "forecourt of the petrol station,bay window of the drawing room,gangway of the ferry,"
    "potting shed behind the vicarage,weighbridge at the quarry,changing cubicle of the swimming baths,"
    "pews of the chapel,galley of the sailing boat"
).split(",")
FIGURES = (
    "a postwoman,a janitor,a toddler in dungarees,a bearded jogger,a welder,two pensioners,a waitress,a beekeeper,"
    "a lady with a parasol,a schoolboy,a paramedic,a busker"
).split(",")
PURSUITS = (
    "tying a shoelace,unrolling a map,blowing soap bubbles,sorting coins,feeding pigeons,yawning,juggling,"
    "polishing a trumpet,peeling an orange,winding up a hose,whistling,sketching,knitting,shovelling snow"
).split(",")
NAMES = (
    "Gudrun,Imke,Jonte,Henrik,Ilse,Femi,Thabo,Svea,Dragan,Sanna,Varga,Lindqvist,Osei,Abara,Runa,Minka,"
    "Bela,Leonie,Nadia,Anatol,Dudek,Nowak"
).split(",")

_RESERVED = re.compile(
    r"\b(?:" + "|".join(re.escape(name.lower()) for name in (*GOODS, *SPOTS, *FIGURES, *PURSUITS, *NAMES)) + r")s?\b"
)


def names_reserved(text: str) -> bool:
    """Whether the text contains a word or phrase of the held-out tests."""
    return _RESERVED.search(text.lower()) is not None
