//! Signs from lines that were read: lines that stand below each other are one sign. Pure.

use crate::base::detection::{BoundingBox, DetectedObject};
use crate::model::scene_text::letters::Line;

/// Likelihood of the letters from which a line is said.
const SAID_FROM: f32 = 0.8;

/// Letters and digits of a line below which it says nothing.
const LETTERS_MIN: usize = 2;

/// Gap between two lines of a sign, in heights of the upper one.
const GAP_MAX: f32 = 0.8;

/// Signs from lines with their places, in the order of reading.
pub(super) fn signs(lines: Vec<(Line, BoundingBox)>) -> Vec<DetectedObject> {
    let mut lines: Vec<(Line, BoundingBox)> =
        lines.into_iter().filter(|(line, _)| is_said(line)).collect();
    lines.sort_by(|(_, a), (_, b)| a.top.total_cmp(&b.top).then(a.left.total_cmp(&b.left)));
    let mut signs: Vec<Sign> = Vec::new();
    for (line, place) in lines {
        match signs.iter_mut().find(|it| it.goes_on(place)) {
            Some(sign) => sign.add(&line, place),
            None => signs.push(Sign { text: line.text, score: line.score, place, last: place }),
        }
    }
    let detection = |it: Sign| {
        let name = format!("sign that reads {}", it.text);
        DetectedObject { name, score: it.score, place: it.place }
    };
    signs.into_iter().map(detection).collect()
}

/// English captions have Latin letters: what else is read is mostly a pattern.
fn is_said(line: &Line) -> bool {
    let is_latin = |it: char| it.is_ascii_alphanumeric() || ('À'..='ÿ').contains(&it);
    let letters = line.text.chars().filter(|it| is_latin(*it)).count();
    let is_foreign = line.text.chars().any(|it| it.is_alphabetic() && !is_latin(it));
    line.score >= SAID_FROM && letters >= LETTERS_MIN && !is_foreign
}

struct Sign {
    text: String,
    score: f32,
    place: BoundingBox,
    last: BoundingBox,
}

impl Sign {
    /// Whether a line there stands right below the last one.
    fn goes_on(&self, line: BoundingBox) -> bool {
        let shared = self.last.right.min(line.right) - self.last.left.max(line.left);
        shared > 0.5 * self.last.width().min(line.width())
            && line.top - self.last.bottom < GAP_MAX * self.last.height()
    }

    fn add(&mut self, line: &Line, place: BoundingBox) {
        self.text = format!("{} {}", self.text, line.text);
        self.score = self.score.min(line.score);
        self.last = place;
        self.place = BoundingBox {
            left: self.place.left.min(place.left),
            top: self.place.top.min(place.top),
            right: self.place.right.max(place.right),
            bottom: self.place.bottom.max(place.bottom),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, score: f32, left: f32, top: f32) -> (Line, BoundingBox) {
        let place = BoundingBox { left, top, right: left + 0.3, bottom: top + 0.1 };
        (Line { text: text.to_owned(), score }, place)
    }

    #[test]
    fn lines_below_each_other_are_one_sign() {
        let found = signs(vec![
            line("PARKING", 0.9, 0.12, 0.25),
            line("NO", 0.95, 0.1, 0.1),
            line("EXIT", 0.99, 0.6, 0.12),
            line("Hours 9 to 5", 0.9, 0.1, 0.8),
        ]);
        let texts: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        let expect =
            ["sign that reads NO PARKING", "sign that reads EXIT", "sign that reads Hours 9 to 5"];
        assert_eq!(texts, expect);
        assert!((found[0].place.bottom - 0.35).abs() < 1e-6 && found[0].score < 0.91);
    }

    #[test]
    fn what_is_faint_short_or_of_another_script_is_not_said() {
        let found = signs(vec![
            line("EXIT", 0.7, 0.1, 0.1),
            line("X", 0.9, 0.1, 0.4),
            line("H政政", 0.9, 0.5, 0.1),
            line("--", 0.9, 0.5, 0.7),
        ]);
        assert_eq!(found, []);
    }
}
