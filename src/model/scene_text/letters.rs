//! Letters from what the reading network says of each step along a line: the likeliest sign of
//! each step, repeats and blanks left out (CTC). Pure.

/// A line that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Mean likelihood of its letters.
    pub(super) score: f32,
}

/// The network's alphabet: a blank, a sign a line of the file's list, a space.
#[derive(Debug)]
pub(super) struct Alphabet(Vec<char>);

impl Alphabet {
    pub(super) fn of_list(list: &str) -> Self {
        // A sign of several characters would shift no other.
        let first = |line: &str| line.chars().next().unwrap_or(' ');
        let signs = list.lines().map(first);
        Self(std::iter::once(BLANK).chain(signs).chain([' ']).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// `steps` has a likelihood for each sign of each step.
    pub(super) fn read(&self, steps: &[f32]) -> Line {
        let mut text = String::new();
        let (mut sum, mut letters, mut before) = (0.0, 0_u16, BLANK);
        for step in steps.chunks_exact(self.len().max(1)) {
            let best = step.iter().zip(&self.0).max_by(|a, b| a.0.total_cmp(b.0));
            let Some((likelihood, sign)) = best else { continue };
            if *sign != BLANK && *sign != before {
                text.push(*sign);
                sum += likelihood;
                letters += 1;
            }
            before = *sign;
        }
        Line { text: text.trim().to_owned(), score: sum / f32::from(letters.max(1)) }
    }
}

const BLANK: char = '\0';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_one_letter_unless_a_blank_parts_them() {
        let alphabet = Alphabet::of_list("a\nb\n");
        assert_eq!(alphabet.len(), 4);
        let steps = |text: &str| -> Vec<f32> {
            let at = |sign: char| "_ab ".find(sign).unwrap();
            text.chars()
                .flat_map(|it| (0..4).map(move |n| if n == at(it) { 0.7 } else { 0.1 }))
                .collect()
        };
        let check =
            |signs: &str, expect: &str| assert_eq!(alphabet.read(&steps(signs)).text, expect);
        check("_aa_ab b_", "aab b");
        check("aaa", "a");
        check(" a ", "a");
        check("___", "");
        let line = alphabet.read(&steps("_aab_"));
        assert!((line.score - 0.7).abs() < 1e-6, "{line:?}");
        assert!(alphabet.read(&[]).text.is_empty());
    }
}
