//! The text of a reply: whole lines within a bound, in which no text of others makes a line
//! of its own. Knows no tool and no memory.

use crate::base::plain;

/// A bounded text, whole lines only.
pub(crate) struct Text {
    lines: String,
    whole: String,
    room: usize,
    cut: usize,
}

impl Text {
    pub(crate) fn new(chars_max: usize) -> Self {
        // Room for the sentence that says what was cut.
        Self {
            lines: String::new(),
            whole: String::new(),
            room: chars_max.saturating_sub(80),
            cut: 0,
        }
    }

    /// One line, whatever is in it.
    pub(crate) fn line(&mut self, line: &str) {
        self.push(&plain::one_line(line));
    }

    /// Lines that belong together; of what others wrote, those after the first are indented
    /// or within delimiters.
    pub(crate) fn block(&mut self, lines: &str) {
        self.push(&plain::lines(lines));
    }

    fn push(&mut self, line: &str) {
        let chars = line.chars().count() + 1;
        if self.cut > 0 || chars > self.room {
            self.cut += 1;
            return;
        }
        self.room -= chars;
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// A line after all others that is never cut.
    pub(crate) fn whole_line(&mut self, line: &str) {
        self.whole.push_str(&plain::one_line(line));
        self.whole.push('\n');
    }

    pub(crate) fn finish(mut self) -> String {
        if self.cut > 0 {
            let lines = if self.cut == 1 { "line" } else { "lines" };
            self.lines.push_str(&format!(
                "(cut here: {} more {lines}, whole in structuredContent)\n",
                self.cut
            ));
        }
        self.lines.push_str(&self.whole);
        self.lines.pop();
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_says_so_and_stays_within_its_bound() {
        let mut text = Text::new(200);
        for i in 0..50 {
            text.line(&format!("line {i} of a text that does not fit"));
        }
        let text = text.finish();
        assert!(text.chars().count() <= 200, "{text}");
        assert!(text.ends_with("(cut here: 47 more lines, whole in structuredContent)"), "{text}");
    }
}
