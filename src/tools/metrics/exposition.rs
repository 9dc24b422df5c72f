//! Metrics as Prometheus reads them: the text exposition format, version 0.0.4. Pure.

use crate::base::histogram::Histogram;

/// Kind of a family of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// Labels of a sample: names of ours, values of anybody's.
pub(super) type Labels<'a> = &'a [(&'a str, &'a str)];

/// The text, family by family.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    /// Begins a family; its samples follow.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> &mut Self {
        self.family = name;
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.name()));
        self
    }

    /// A sample of the family.
    pub(super) fn sample(&mut self, labels: Labels<'_>, value: f64) -> &mut Self {
        self.write("", labels, value);
        self
    }

    /// A whole number, exact up to 2⁵³.
    pub(super) fn count(&mut self, labels: Labels<'_>, value: u64) -> &mut Self {
        self.sample(labels, value as f64)
    }

    /// A histogram's samples.
    pub(super) fn histogram(&mut self, labels: Labels<'_>, histogram: &Histogram) -> &mut Self {
        for (bound, count) in histogram.cumulative() {
            let bound = bound.to_string();
            self.write("_bucket", &[labels, &[("le", &bound)]].concat(), count as f64);
        }
        let count = histogram.count() as f64;
        self.write("_bucket", &[labels, &[("le", "+Inf")]].concat(), count);
        self.write("_sum", labels, histogram.sum().as_secs_f64());
        self.write("_count", labels, count);
        self
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn write(&mut self, suffix: &str, labels: Labels<'_>, value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.text.push_str(&format!("{}{suffix}{labels} {value}\n", self.family));
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn families_are_written_as_the_format_has_them() {
        let mut text = Exposition::default();
        text.family("a_total", Kind::Counter, "Lines\nand \\.")
            .count(&[("source", "a \"b\"\nc\\")], 3)
            .count(&[], 1 << 53);
        let mut histogram = Histogram::new(&[0.5, 1.0]);
        histogram.observe(Duration::from_millis(750));
        text.family("b_seconds", Kind::Histogram, "B.").histogram(&[("tool", "x")], &histogram);
        let expect = r#"# HELP a_total Lines\nand \\.
# TYPE a_total counter
a_total{source="a \"b\"\nc\\"} 3
a_total 9007199254740992
# HELP b_seconds B.
# TYPE b_seconds histogram
b_seconds_bucket{tool="x",le="0.5"} 0
b_seconds_bucket{tool="x",le="1"} 1
b_seconds_bucket{tool="x",le="+Inf"} 1
b_seconds_sum{tool="x"} 0.75
b_seconds_count{tool="x"} 1
"#;
        assert_eq!(text.finish(), expect);
    }
}
