//! Whom a request is said to: "mum, can you bring me my jacket" asks the mother, not the robot, and so
//! does "sweetheart, pass me the honey".
//!
//! Pure. English. A name says nothing where any may be the robot's; where its names are known, "Dev,
//! pass me the salt" asks Dev.

use crate::language::known_words::{is_grammar, is_in_dictionary};
use crate::language::lexicon;
use crate::language::person::is_kin;
use crate::language::sentence::tokens;
use crate::language::words::{
    ASKED, AUXILIARIES, COPULAS, COURTESY, DETERMINERS, ENDEARMENTS, GREETINGS,
};

/// Whether somebody of the family, or whom one loves, is spoken to at its beginning; or, where the
/// robot has names, in lower case, somebody by another one.
pub(crate) fn is_for_another(request: &str, robot_names: &[String]) -> bool {
    is_for_family(request) || !robot_names.is_empty() && names_another(request, robot_names)
}

/// What is said to the robot after its name: "pass me the red mug" of "hey Bo, pass me the red mug".
pub(crate) fn without_own_name<'r>(request: &'r str, robot_names: &[String]) -> &'r str {
    let (mut called, mut said) = first_word(request);
    if GREETINGS.contains(&called) {
        (called, said) = first_word(said);
    }
    let rest = said.trim_start_matches([',', '!', ':', '.', ' ']);
    let is_apart = !rest.is_empty() && said.starts_with([',', '!', ':', '.']);
    let is_own = robot_names.contains(&called);
    let is_said_to = is_own && (is_apart || asks_somebody(&tokens(&rest.to_lowercase()), false));
    if is_said_to { rest } else { request }
}

/// The first word, in lower case, and what stands after it; a name's genitive is another word.
fn first_word(text: &str) -> (String, &str) {
    let text = text.trim_start_matches([',', ' ']);
    let is_within = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-');
    let (word, rest) = text.split_at(text.find(|c| !is_within(c)).unwrap_or(text.len()));
    (word.to_lowercase(), rest)
}

fn is_for_family(request: &str) -> bool {
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

/// Whether an order or a question calls somebody by a name before it, or after it, that is none of
/// the robot's.
fn names_another(request: &str, robot_names: &[String]) -> bool {
    let lower = request.to_lowercase().replace('’', "'").replace(['!', '?', '.'], ",");
    let words = tokens(&lower);
    let greeted = words.iter().take_while(|it| GREETINGS.contains(it)).count();
    let said = words.get(greeted..).unwrap_or_default();
    let is_name = |word: &str| {
        let is_polite = COURTESY.contains(word) || GREETINGS.contains(word);
        !is_polite && !is_grammar(word) && !robot_names.iter().any(|it| it == word)
    };
    let is_capital = |word: &str| {
        let said = request.split(|c: char| !c.is_alphanumeric());
        said.skip(1).any(|it| it.starts_with(char::is_uppercase) && it.to_lowercase() == *word)
    };
    match said {
        [called, ",", rest @ ..]
            if is_name(called) && asks_somebody(rest, is_in_dictionary(called)) =>
        {
            true
        }
        [order @ .., ",", called] | [order @ .., ",", called, ","] => {
            is_name(called)
                && (is_capital(called) || !is_in_dictionary(called))
                && !order.contains(&",")
                && asks_somebody(order, false)
        }
        _ => false,
    }
}

/// "can you …", "pass me the …"; after what may be a thing, "salt", only what asks for another.
fn asks_somebody(words: &[&str], may_be_thing: bool) -> bool {
    match words {
        [asking, who, ..] if AUXILIARIES.has_tag(asking, "asks") => ASKED.has_tag(who, "you"),
        [verb, "me" | "us", next, ..] => lexicon::is_verb(verb) && DETERMINERS.contains(next),
        [verb, object, ..] => {
            !may_be_thing && !matches!(*object, "it" | "them") && is_ordered(verb, object)
        }
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
            assert_eq!(is_for_another(request, &[]), expect, "{request}");
        }
    }

    #[test]
    fn where_the_robot_has_names_who_is_called_otherwise_is_somebody_else() {
        for (request, expect) in [
            ("Dev, can you pass me the salt", true),
            ("Tom, pass me the salt would you.", true),
            ("dev, grab the ladder", true),
            ("Grab me a towel, Jen", true),
            ("Can you get me a towel, Jen?", true),
            ("Robbie, can you pass me the salt", false),
            ("Grab me a towel, Robbie!", false),
            ("hey robot, grab me a towel", false),
            ("Salt, please", false),
            ("Keys, bring them", false),
            ("Keys, the red ones, bring them", false),
            ("bring me the towel, please", false),
            ("bring me the towel, quickly", false),
            ("bring me the towel, the red one", false),
            ("bring Jen the towel", false),
        ] {
            let names = ["robbie".to_owned()];
            assert_eq!(is_for_another(request, &names), expect, "{request}");
        }
        assert!(!is_for_another("Dev, can you pass me the salt", &[]));
    }

    #[test]
    fn the_name_of_the_robot_is_no_part_of_what_it_is_asked() {
        for (request, expect) in [
            ("Bo, pass me the red mug", "pass me the red mug"),
            ("hey bo pass me the red mug", "pass me the red mug"),
            ("Hey, Bo! The red mug.", "The red mug."),
            ("Bo's red mug", "Bo's red mug"),
            ("bo mug", "bo mug"),
            ("Bottle, please", "Bottle, please"),
            ("Bo!", "Bo!"),
            ("Dev, pass me the mug", "Dev, pass me the mug"),
            ("", ""),
        ] {
            assert_eq!(without_own_name(request, &["bo".to_owned()]), expect, "{request}");
        }
    }
}
