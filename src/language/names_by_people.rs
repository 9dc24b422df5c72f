//! What people call otherwise who see the same photograph: a cap is a hat to the next one.
//!
//! Pure: `data/names_by_people.txt`, compiled in.

/// What others call the thing that somebody calls by this noun, in the singular. It only may be that.
pub fn other_names(noun: &str) -> impl Iterator<Item = &'static str> {
    let pairs =
        include_str!("data/names_by_people.txt").lines().filter_map(|it| it.split_once(", "));
    pairs.filter_map(move |(a, b)| match () {
        () if a == noun => Some(b),
        () if b == noun => Some(a),
        () => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_calls_a_cap_another_calls_a_hat() {
        assert_eq!(other_names("cap").collect::<Vec<_>>(), ["hat"]);
        assert!(other_names("hat").any(|it| it == "cap"));
        assert_eq!(other_names("mug").count(), 0);
    }
}
