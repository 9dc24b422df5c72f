//! One spelling for words that are spelt otherwise in America: "colour" of "color", and the forms
//! of such words: "galvanised" of "galvanized".
//!
//! Pure: `data/spellings.txt`, compiled in.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A word in lower case as it is spelt in Britain; other words are as they are.
pub(crate) fn british(word: &str) -> String {
    if let Some(known) = SPELLINGS.get(word) {
        return (*known).to_owned();
    }
    let of_form = |end: &&str| {
        let base = SPELLINGS.get(word.strip_suffix(end)?)?;
        Some(format!("{base}{end}"))
    };
    let in_ing = || {
        let base = SPELLINGS.get(format!("{}e", word.strip_suffix("ing")?).as_str())?;
        Some(format!("{}ing", base.strip_suffix('e')?))
    };
    let form = ENDS.iter().find_map(of_form).or_else(in_ing);
    form.unwrap_or_else(|| word.to_owned())
}

/// The same of each word of a name.
pub(crate) fn british_name(name: &str) -> String {
    name.split(' ').map(british).collect::<Vec<_>>().join(" ")
}

/// Ends of forms of a word.
const ENDS: &[&str] = &["s", "d", "r", "rs", "ed", "ing", "less", "ful"];

static SPELLINGS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    include_str!("data/spellings.txt").lines().filter_map(|it| it.split_once('\t')).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_forms_have_one_spelling() {
        for (word, expect) in [
            ("color", "colour"),
            ("colours", "colours"),
            ("colors", "colours"),
            ("organizer", "organiser"),
            ("organizers", "organisers"),
            ("galvanized", "galvanised"),
            ("polarizing", "polarising"),
            ("gray", "grey"),
            ("tires", "tyres"),
            ("aluminum", "aluminium"),
            ("donut", "doughnut"),
            ("molded", "moulded"),
            ("theater", "theatre"),
            ("jewelry", "jewellery"),
            ("mug", "mug"),
            ("doctor", "doctor"),
            ("size", "size"),
            ("bold", "bold"),
        ] {
            assert_eq!(british(word), expect, "{word}");
        }
        assert_eq!(british_name("color chart"), "colour chart");
    }
}
