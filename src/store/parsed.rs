//! What a caption says, as it lies in a record.
//!
//! Pure: mirrors [`ParsedCaption`] and its parts, and is converted by hand, so that a
//! change of them cannot change the disk by accident.

use bincode::{Decode, Encode};

use crate::language::caption::{ParsedCaption, ParsedDeed, ParsedThing, Presence};
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::place::{PlaceWords, Spot};
use crate::store::records::Fault;

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(super) struct ParsedOnDisk {
    reader: u32,
    things: Vec<ThingOnDisk>,
    /// A verb each, and the numbers of those who do it, each after a blank, then from
    /// [`OBJECT`] on of what it is done to: older readers look for these in vain.
    deeds: Vec<String>,
    surface: Option<SpotOnDisk>,
    room: Option<SpotOnDisk>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct ThingOnDisk {
    phrase: String,
    head: String,
    head_stem: String,
    attributes: Vec<AttributeOnDisk>,
    sentence: u32,
    presence: u8,
    is_person: bool,
    inside: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct SpotOnDisk {
    phrase: String,
    stem: String,
    attributes: Vec<AttributeOnDisk>,
}

#[derive(Debug, Clone, PartialEq, Encode, Decode)]
struct AttributeOnDisk {
    word: String,
    kind: u8,
}

impl ParsedOnDisk {
    pub(super) fn of(parsed: &ParsedCaption) -> Self {
        let ParsedCaption { reader, things, deeds, place } = parsed;
        let (surface, room) =
            place.as_ref().map_or((None, None), |PlaceWords { surface, room }| {
                (surface.as_ref().map(SpotOnDisk::of), room.as_ref().map(SpotOnDisk::of))
            });
        let things = things.iter().map(ThingOnDisk::of).collect();
        let deeds = deeds.iter().map(deed_on_disk).collect();
        Self { reader: *reader, things, deeds, surface, room }
    }

    pub(super) fn into_parsed(self) -> Result<ParsedCaption, Fault> {
        let Self { reader, things, deeds, surface, room } = self;
        let things: Result<Vec<ParsedThing>, Fault> =
            things.into_iter().map(ThingOnDisk::into_thing).collect();
        let spot = |it: Option<SpotOnDisk>| it.map(SpotOnDisk::into_spot).transpose();
        let place = PlaceWords { surface: spot(surface)?, room: spot(room)? };
        let place = (place != PlaceWords::default()).then_some(place);
        let deeds: Result<Vec<ParsedDeed>, Fault> = deeds.iter().map(|it| deed_of(it)).collect();
        Ok(ParsedCaption { reader, things: things?, deeds: deeds?, place })
    }
}

impl ThingOnDisk {
    fn of(thing: &ParsedThing) -> Self {
        let ParsedThing { mention, sentence, presence, is_person, inside } = thing;
        let Mention { phrase, head, head_stem, attributes } = mention.clone();
        Self {
            phrase,
            head,
            head_stem,
            attributes: attributes.into_iter().map(AttributeOnDisk::of).collect(),
            sentence: small(*sentence),
            presence: number_in(&PRESENCES, presence),
            is_person: *is_person,
            inside: inside.map(small),
        }
    }

    fn into_thing(self) -> Result<ParsedThing, Fault> {
        let Self { phrase, head, head_stem, attributes, sentence, presence, is_person, inside } =
            self;
        let attributes = attributes_of(attributes)?;
        Ok(ParsedThing {
            mention: Mention { phrase, head, head_stem, attributes },
            sentence: sentence as usize,
            presence: of_number(&PRESENCES, presence, "presence")?,
            is_person,
            inside: inside.map(|it| it as usize),
        })
    }
}

impl SpotOnDisk {
    fn of(spot: &Spot) -> Self {
        let Spot { phrase, stem, attributes } = spot.clone();
        let attributes = attributes.into_iter().map(AttributeOnDisk::of).collect();
        Self { phrase, stem, attributes }
    }

    fn into_spot(self) -> Result<Spot, Fault> {
        let Self { phrase, stem, attributes } = self;
        Ok(Spot { phrase, stem, attributes: attributes_of(attributes)? })
    }
}

impl AttributeOnDisk {
    fn of(Attribute { word, kind }: Attribute) -> Self {
        Self { word, kind: number_in(&AttributeKind::ALL, &kind) }
    }
}

fn attributes_of(attributes: Vec<AttributeOnDisk>) -> Result<Vec<Attribute>, Fault> {
    let attribute = |AttributeOnDisk { word, kind }| {
        Ok(Attribute { word, kind: of_number(&AttributeKind::ALL, kind, "kind of attribute")? })
    };
    attributes.into_iter().map(attribute).collect()
}

fn deed_on_disk(deed: &ParsedDeed) -> String {
    let ParsedDeed { verb, who, what } = deed;
    let numbers = who.iter().copied().chain(what.iter().map(|it| it + OBJECT));
    std::iter::once(verb.clone()).chain(numbers.map(|it| format!(" {it}"))).collect()
}

fn deed_of(on_disk: &str) -> Result<ParsedDeed, Fault> {
    let mut words = on_disk.split(' ');
    let verb = words.next().unwrap_or_default().to_owned();
    let numbers: Result<Vec<usize>, _> = words.map(str::parse).collect();
    let numbers = numbers.map_err(|error| Fault::Content(format!("deed {on_disk:?}, {error}")))?;
    let (who, what): (Vec<usize>, Vec<usize>) = numbers.into_iter().partition(|it| *it < OBJECT);
    Ok(ParsedDeed { verb, who, what: what.into_iter().map(|it| it - OBJECT).collect() })
}

/// More than a caption names things.
const OBJECT: usize = 1_000_000;

/// Their place is their number on disk.
const PRESENCES: [Presence; 5] =
    [Presence::Shown, Presence::Landmark, Presence::Absent, Presence::Depicted, Presence::Guessed];

fn number_in<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let at = all.iter().position(|it| it == one);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
}

fn of_number<T: Copy>(all: &[T], number: u8, what: &str) -> Result<T, Fault> {
    let one = all.get(usize::from(number)).copied();
    one.ok_or_else(|| Fault::Content(format!("{what} {number}")))
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_caption_comes_back_as_it_was() {
        let mut parsed = ParsedCaption::by_rules(
            "a person reading a dark red coffee table book. A plant in a white pot on a wooden \
             desk in the kitchen.",
        );
        parsed.reader = 7;
        parsed.things[0].presence = Presence::Landmark;
        parsed.things[1].presence = Presence::Absent;
        parsed.things[2].presence = Presence::Depicted;
        parsed.things[3].presence = Presence::Guessed;
        assert!(parsed.things.iter().any(|it| it.inside.is_some()));
        assert!(parsed.place.is_some() && !parsed.deeds.is_empty());
        parsed.deeds.push(ParsedDeed {
            verb: "sitting".to_owned(),
            who: vec![0, 12],
            what: vec![0, 3],
        });
        assert_eq!(ParsedOnDisk::of(&parsed).into_parsed().unwrap(), parsed);
    }

    #[test]
    fn an_unknown_number_is_a_fault() {
        let mut on_disk = ParsedOnDisk::of(&ParsedCaption::by_rules("a mug"));
        on_disk.things[0].presence = 9;
        on_disk.into_parsed().unwrap_err();
        let mut on_disk = ParsedOnDisk::of(&ParsedCaption::by_rules("a man reading"));
        on_disk.deeds[0].push_str(" he");
        on_disk.into_parsed().unwrap_err();
    }
}
