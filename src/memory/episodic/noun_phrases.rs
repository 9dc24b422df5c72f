//! Which words are the name of a thing, and nothing but the name.
//!
//! Pure.

use crate::language::mention::mentions;
use crate::language::words::DETERMINERS;

/// The thing that `words` are the name of, and nothing but the name; `None` where they
/// say more, such as a request.
pub fn bare_name(words: &str) -> Option<String> {
    let lower = words.trim().to_lowercase();
    let bare = match lower.split_once(' ') {
        Some((article, bare)) if DETERMINERS.contains(article) => bare,
        _ => &lower,
    };
    let named = mentions(&lower);
    let rest = bare.strip_prefix(named.first()?.phrase.as_str())?;
    // A plant is known by its pot.
    let is_potted =
        || rest.starts_with(" in a ") && named.get(1).is_some_and(|it| it.head == "pot");
    let is_whole = rest.is_empty() || named.len() == 2 && is_potted();
    is_whole.then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_from_a_request() {
        let check = |words: &str, expect: Option<&str>| {
            assert_eq!(bare_name(words).as_deref(), expect, "{words}");
        };
        check("purple book", Some("purple book"));
        check("a red mug", Some("red mug"));
        check("My keys", Some("keys"));
        check("that green toy car", Some("green toy car"));
        check("plant in a red pot", Some("plant in a red pot"));
        check("the mug that I use the most", None);
        check("the mug on the desk", None);
        check("bring me a mug", None);
        check("", None);
    }
}
