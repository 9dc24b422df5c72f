//! Times, spans and numbers as people read them. Pure.

use crate::base::time::{Timestamp, Zone};

/// `1,234`
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 record`, `1,234 records`
pub(super) fn quantity(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", thousands(number))
}

/// A span to its two largest units: `9 h 20 min`.
pub(super) fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 5] =
        [(31_557_600.0, "y"), (86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let seconds = seconds.max(0.0).round();
    let Some(at) = UNITS.iter().position(|(unit, _)| seconds >= *unit) else {
        return "0 s".to_owned();
    };
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (unit, name) in UNITS.iter().skip(at).take(2) {
        let count = (rest / unit).floor();
        rest -= count * unit;
        if count > 0.0 {
            parts.push(format!("{count} {name}"));
        }
    }
    parts.join(" ")
}

/// `Fri 3 January 2025`
pub(super) fn day(time: Timestamp, zone: Zone) -> String {
    zone.wall(time).format("%a %-d %B %Y").to_string()
}

/// `14:10`, with seconds where `is_fine`.
pub(super) fn clock(time: Timestamp, zone: Zone, is_fine: bool) -> String {
    zone.wall(time).format(if is_fine { "%H:%M:%S" } else { "%H:%M" }).to_string()
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share.clamp(0.0, 1.0))
}

/// `12.5 MiB`
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{amount:.digits$} {}", UNITS.get(unit).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_for_people() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(
            (quantity(1, "record"), quantity(1000, "record")),
            ("1 record".to_owned(), "1,000 records".to_owned())
        );
        for (seconds, expect) in [
            (0.2, "0 s"),
            (59.6, "1 min"),
            (3_600.0, "1 h"),
            (33_600.0, "9 h 20 min"),
            (90_061.0, "1 d 1 h"),
            (31_557_600.0 * 2.5, "2 y 182 d"),
        ] {
            assert_eq!(duration(seconds), expect);
        }
        assert_eq!(
            (bytes(500.0), bytes(1.5 * 1024.0 * 1024.0)),
            ("500 B".to_owned(), "1.5 MiB".to_owned())
        );
        assert_eq!(percent(0.834), "83 %");
    }
}
