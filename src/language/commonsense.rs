//! In which rooms people keep what: a guess for a thing that was never seen.
//!
//! Pure. A table of everyday things; what it does not name is left to what its
//! vector is like.

use crate::language::everyday_names;
use crate::language::lexicon;
use crate::language::mention::mentions;
use crate::language::words::{KEPT, is_room};

/// How well a place suits the thing, from its name: 1 where such things are kept there,
/// 0 where they are kept elsewhere; `None` where the table does not name the thing, or the place names
/// no room.
pub fn suits(thing: &str, place: &str) -> Option<f32> {
    /// What lies on the floor mostly belongs there.
    const FLOOR: f32 = 0.5;
    let named = mentions(&format!("a {thing}")).into_iter().next()?;
    // "pyjamas" have no singular; a toy car is a toy.
    let one = named.singular_head();
    let kind = named.attributes.iter().map(|it| it.word.as_str()).find(|it| *it == "toy");
    // A bar of soap is kept where soap is.
    let stuff = thing.rsplit_once(" of ").map(|(_, stuff)| stuff);
    // "hair brush"
    let joined = named.attributes.last().map(|it| format!("{}{one}", it.word));
    let names = [Some(one.as_str()), Some(named.head.as_str()), joined.as_deref(), kind, stuff];
    // Else what it is a kind of: a colander is a kitchen utensil.
    let general = lexicon::more_general(&one).filter_map(|name| KEPT.value(name)).take(1);
    let own: Vec<&str> = names.iter().flatten().filter_map(|name| KEPT.value(name)).collect();
    // A wine opener is a corkscrew.
    let name = named.name();
    let other = || everyday_names::other_names(&name).find_map(|it| KEPT.value(it.name));
    let rooms = match (own.is_empty(), other()) {
        (false, _) => own,
        (true, Some(rooms)) => vec![rooms],
        (true, None) => general.collect(),
    };
    let mut rooms = rooms.into_iter().flat_map(|it| it.split(", ")).peekable();
    rooms.peek()?;
    let is_there = rooms.any(|room| place.contains(room));
    let on_floor = place.contains("floor") || place.contains("carpet");
    let is_in_room = || (1..=2).any(|count| names_room(place, count));
    match (is_there, on_floor) {
        (true, false) => Some(1.0),
        (true, true) => Some(FLOOR),
        (false, _) => is_in_room().then_some(0.0),
    }
}

/// Whether so many words of a place name a room: "living room".
fn names_room(place: &str, count: usize) -> bool {
    let words: Vec<&str> = place.split(' ').collect();
    words.windows(count).any(|it| is_room(&lexicon::noun_stem(&it.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_kept_in_their_rooms() {
        assert_eq!(suits("fork", "white counter in the kitchen"), Some(1.0));
        assert_eq!(suits("forks", "wooden desk in the office"), Some(0.0));
        assert_eq!(suits("red coat", "wooden table in the hallway"), Some(1.0));
        assert_eq!(suits("coat", "white bed in the bedroom"), Some(1.0));
        assert_eq!(suits("umbrella", "tiled floor in the hallway"), Some(0.5));
        assert_eq!(suits("toy car", "grey sofa in the living room"), Some(1.0));
        assert_eq!(suits("pyjamas", "white bed in the bedroom"), Some(1.0));
        assert_eq!(suits("colander", "white counter in the kitchen"), Some(1.0));
        assert_eq!(suits("trombone", "grey sofa in the living room"), Some(1.0));
        assert_eq!(suits("hair brush", "white bed in the bedroom"), Some(1.0));
        assert_eq!(suits("bar of soap", "white washing machine in the bathroom"), Some(1.0));
        assert_eq!(suits("colander", "red enamel mug"), None);
        assert_eq!(suits("white clicker", "grey sofa in the living room"), Some(1.0));
        assert_eq!(suits("wine opener", "white counter in the kitchen"), Some(1.0));
        assert_eq!(suits("sextant", "wooden desk in the office"), None);
    }
}
