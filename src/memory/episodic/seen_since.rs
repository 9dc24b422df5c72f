//! What was seen since a thing was surely seen, is called otherwise and looks just as it is asked for:
//! the small red boots, after the small red wellies.
//!
//! Of five such looks in `benches/language` where a question tells a colour or a pattern four show the
//! thing; of 175 that only may be it and tell no such look five.

use std::time::Duration;

use crate::base::time::Window;
use crate::index::phrases::SceneQuery;
use crate::language::fit::{Certainty, Fit, fit};
use crate::language::mention::{Attribute, AttributeKind};
use crate::memory::episodic::caption_match::match_caption;
use crate::memory::episodic::last_seen::Sighting;
use crate::memory::episodic::{Episodic, MemoryError};
use crate::search::sightings::ObjectSightings;
use crate::search::{Filter, Query};

/// Newest of those that may be the thing, which are read.
const RECORDS_MAX: usize = 16;

impl Episodic {
    /// The newest record since the newest of `sightings`, which are sure, that may show the thing and
    /// says how it looks; `None` where the question does not tell that, or tells a place.
    pub(super) fn seen_since(
        &self,
        asked: &Query<'_>,
        wanted: &SceneQuery,
        sightings: &[Sighting],
    ) -> Result<Option<Sighting>, MemoryError> {
        let looks: Vec<Attribute> =
            wanted.target.attributes.iter().filter(|it| is_look(it)).cloned().collect();
        let newest = sightings.first().filter(|it| it.certainty >= Certainty::Shown);
        let Some(newest) = newest.filter(|_| !looks.is_empty() && wanted.around.is_empty()) else {
            return Ok(None);
        };
        let since = newest.recalled.record.end_at.plus(Duration::from_micros(1));
        let Ok(window) = Window::new(Some(since), asked.filter.window.end()) else {
            return Ok(None);
        };
        let filter = Filter { window, ..asked.filter.clone() };
        let Some(seen) = self.corpus.last_sightings(wanted, &filter, RECORDS_MAX) else {
            return Ok(None);
        };
        // What surely shows it and was passed over is a misdetection.
        if !matches!(seen.certainty, Certainty::Possible | Certainty::Partial) {
            return Ok(None);
        }
        let records = self.store.records(&seen.records)?;
        let looks_so = records.into_iter().find(|it| {
            match_caption(&it.parsed, wanted)
                .is_some_and(|it| fit(&it.target.attributes, &looks) == Some(Fit::Full))
        });
        let Some(record) = looks_so else { return Ok(None) };
        let seen = ObjectSightings { certainty: Certainty::Partial, records: vec![record.id] };
        Ok(self.sightings(asked, wanted, seen)?.pop())
    }
}

fn is_look(it: &Attribute) -> bool {
    matches!(it.kind, AttributeKind::Colour | AttributeKind::Pattern)
}
