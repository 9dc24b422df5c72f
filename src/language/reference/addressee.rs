//! Whom a request is said to: "mum, can you bring me my jacket" asks the mother, not the robot, and so
//! does "sweetheart, pass me the honey".
//!
//! Pure. English. A name says nothing, as the robot may be called so.

use crate::language::lexicon;
use crate::language::person::is_kin;
use crate::language::sentence::tokens;
use crate::language::words::{ASKED, AUXILIARIES, COPULAS, ENDEARMENTS, GREETINGS};

/// Whether somebody of the family, or whom one loves, is spoken to at its beginning.
pub(crate) fn is_for_another(request: &str) -> bool {
    let lower = request.to_lowercase().replace('’', "'").replace('!', ",");
    let words = tokens(&lower);
    let greeted = words.iter().take_while(|it| GREETINGS.contains(it) || **it == ",").count();
    let Some([called, rest @ ..]) = words.get(greeted..) else { return false };
    let is_beloved = ENDEARMENTS.contains(called);
    if !is_beloved && !is_kin(called) {
        return false;
    }
    let (is_apart, rest) = match rest {
        [",", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    match rest {
        [asking, who, ..] if AUXILIARIES.has_tag(asking, "asks") && ASKED.has_tag(who, "you") => {
            is_apart || !is_thing(called)
        }
        ["come", ..] => !is_beloved,
        [verb, object, ..] => is_apart && is_ordered(verb, object),
        _ => false,
    }
}

/// Whether what somebody is called may be a thing: honey.
fn is_thing(called: &str) -> bool {
    lexicon::is_name(called) && !lexicon::is_person(called)
}

/// "pass me", "please give"; not "is the mug", "red mug".
fn is_ordered(verb: &str, object: &str) -> bool {
    verb == "please" && lexicon::is_verb(object)
        || lexicon::is_verb(verb) && !lexicon::is_seldom_verb(verb) && !COPULAS.contains(verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_called_and_asked_is_meant() {
        for (request, expect) in [
            ("dad can u bring me my jacket when u come up", true),
            ("Grandma, do you want some tea?", true),
            ("hey mum could you find the scissors", true),
            ("dad come here quickly", true),
            ("can you bring mum the scissors", false),
            ("mum asks if you can bring the scissors", false),
            ("mum needs her glasses", false),
            ("hey robot can you bring the mug", false),
            ("anna can you bring the mug", false),
            ("mug can you see it", false),
            ("Sweetheart, pass me the honey", true),
            ("darling, could you get me the newspaper", true),
            ("darling could you get me the newspaper", true),
            ("Mum, pass me the honey", true),
            ("grandma, please bring the scarf", true),
            ("honey please", false),
            ("Honey, the one on the table", false),
            ("honey can you bring it", false),
            ("mum, the one with the red coat, where is she", false),
            ("", false),
        ] {
            assert_eq!(is_for_another(request), expect, "{request}");
        }
    }
}
