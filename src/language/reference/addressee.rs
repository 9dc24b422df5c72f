//! Whom a request is said to: "mum, can you bring me my jacket" asks the mother, not the robot.
//!
//! Pure. English. A name says nothing, as the robot may be called so.

use crate::language::deeds::is_kin;
use crate::language::words::GREETINGS;

/// Whether somebody of the family is spoken to at its beginning.
pub(crate) fn is_for_another(request: &str) -> bool {
    let lower = request.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let mut words = words.filter(|it| !it.is_empty()).skip_while(|it| GREETINGS.contains(it));
    let is_called = words.next().is_some_and(is_kin);
    let (next, after) = (words.next(), words.next());
    is_called
        && match next {
            Some("come") => true,
            Some(next) if ASKING.contains(&next) => matches!(after, Some("you" | "u" | "ya")),
            _ => false,
        }
}

/// Verbs before "you" in what somebody is asked.
const ASKING: &[&str] =
    &["can", "could", "will", "would", "do", "did", "have", "are", "were", "shall", "may", "might"];

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
            ("", false),
        ] {
            assert_eq!(is_for_another(request), expect, "{request}");
        }
    }
}
