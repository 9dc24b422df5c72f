//! What a thing is wanted for, where a request does not name it: "something to stand on", "anything
//! against the rain".
//!
//! Pure. English.

use crate::language::sentence::tokens;
use crate::language::verbs;
use crate::language::words::{AFFORDANCES, DETERMINERS, PLACEHOLDERS};

/// Names of what may be meant, the likeliest first; none where nothing is wanted so.
pub(super) fn things_for(request: &str) -> Vec<String> {
    let lower = request.to_lowercase();
    let words = tokens(&lower);
    let wanted = words.iter().position(|it| PLACEHOLDERS.contains(it));
    let after = wanted.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    listed(use_in(after))
}

/// Things for a deed in -ing.
pub(super) fn things_for_deed(deed: Option<&str>) -> Vec<String> {
    listed(deed.and_then(|it| AFFORDANCES.value(it)))
}

fn listed(names: Option<&str>) -> Vec<String> {
    names.into_iter().flat_map(|it| it.split(", ")).map(str::to_owned).collect()
}

/// The things for the use that follows "something".
fn use_in(after: &[&str]) -> Option<&'static str> {
    let known = |use_: &str| AFFORDANCES.value(use_);
    match after {
        ["to" | "that" | "which", "can" | "will" | "would", verb, rest @ ..]
        | ["i" | "we" | "you", "can" | "could" | "might", verb, rest @ ..]
        | ["that" | "which", "i" | "we", "can" | "could", verb, rest @ ..]
        | ["to" | "that" | "which", verb, rest @ ..] => of_deed(&verbs::in_ing(verb), rest),
        ["for" | "against" | "with", rest @ ..] => {
            let named = rest.iter().find(|it| !DETERMINERS.contains(it))?;
            if named.ends_with("ing") { of_deed(named, &[]) } else { known(named) }
        }
        // "something warm to drink"
        [_, rest @ ..] if rest.first().is_some_and(|it| matches!(*it, "to" | "that" | "for")) => {
            use_in(rest)
        }
        _ => None,
    }
}

/// "writing on" before "writing", "keeping warm" before "keeping", of several words the last.
fn of_deed(deed: &str, rest: &[&str]) -> Option<&'static str> {
    let clause = rest.iter().take_while(|it| !matches!(**it, "," | "and" | "please"));
    let clause: Vec<&str> = clause.copied().collect();
    let whole = clause.iter().rev().find_map(|it| AFFORDANCES.value(&format!("{deed} {it}")));
    whole.or_else(|| AFFORDANCES.value(deed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thing_is_for_tells_what_it_may_be() {
        for (request, first) in [
            ("I need something to stand on", Some("step stool")),
            ("something to dry my hands with, please", Some("towel")),
            ("something against the rain", Some("umbrella")),
            ("anything to see by", Some("flashlight")),
            ("something that cuts", Some("knife")),
            ("something I can write on", Some("notebook")),
            ("something to write with", Some("pen")),
            ("something to keep me warm", Some("blanket")),
            ("a thing to hang my coat on", Some("hook")),
            ("something for cutting", Some("knife")),
            ("something to look at the stars with", Some("telescope")),
            ("something red", None),
            ("the mug to drink from", None),
            ("bring me something", None),
        ] {
            assert_eq!(things_for(request).first().map(String::as_str), first, "{request}");
        }
    }
}
