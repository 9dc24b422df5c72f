//! Verbs: what somebody was seen doing, as captions say it.
//!
//! Pure.

use crate::memory::episodic::reference::words::{GERUNDS, PLACING};

/// The form in -ing of a verb; `None` where it says only where something is.
pub(super) fn activity(verb: &str) -> Option<String> {
    if let Some((_, gerund)) = GERUNDS.iter().find(|(form, _)| *form == verb) {
        return Some((*gerund).to_owned());
    }
    if PLACING.contains(&verb) || verb.len() < 3 {
        return None;
    }
    if verb.ends_with("ing") {
        return Some(verb.to_owned());
    }
    let base = if let Some(base) = verb.strip_suffix("ied") {
        format!("{base}y")
    } else if let Some(base) = verb.strip_suffix("ed") {
        base.to_owned()
    } else if let Some(base) = verb.strip_suffix("ies") {
        format!("{base}y")
    } else if let Some(base) =
        verb.strip_suffix("es").filter(|it| it.ends_with(['h', 's', 'x', 'z']))
    {
        base.to_owned()
    } else {
        verb.strip_suffix('s').filter(|it| !it.ends_with('s')).unwrap_or(verb).to_owned()
    };
    let stem = base.strip_suffix('e').filter(|it| !it.ends_with('e')).unwrap_or(&base);
    Some(format!("{stem}ing"))
}
