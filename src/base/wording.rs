//! Counts and articles before nouns, as sentences for people have them.

/// `1 day`, `3 days`.
pub fn quantity(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// "an" before a vowel, else "a".
pub fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_a_vowel_takes_an() {
        let quantities = [0, 1, 2].map(|number| quantity(number, "day"));
        assert_eq!(quantities, ["0 days", "1 day", "2 days"]);
        assert_eq!([article("apple"), article("mug"), article("")], ["an", "a", "a"]);
    }
}
