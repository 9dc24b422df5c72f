//! The flags that name records by when, where and by what they were made.
//!
//! A time is of what was told as well: `engram export` leaves notes and memos by it, too.

use clap::Args;
use serde_json::{Map, Value, json};

/// All that is given must hold of a record; nothing given, all of them.
#[derive(Debug, Args)]
pub(super) struct RecordScope {
    /// Only records since a time: "2025-01-03 09:00:00", -2h, -1d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only records until a time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only records of this camera or other origin
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only records made in this map
    #[arg(long, value_name = "NAME")]
    map_id: Option<String>,
    /// Only records made within metres of a place: "1.5,-3,2" for 2 m around (1.5, -3)
    #[arg(long, value_name = "X,Y,RADIUS", allow_hyphen_values = true)]
    area: Option<String>,
}

impl RecordScope {
    /// As tools take it.
    pub(super) fn arguments(&self) -> anyhow::Result<Map<String, Value>> {
        let texts = [
            ("start_time", &self.since),
            ("end_time", &self.until),
            ("source", &self.source),
            ("map_id", &self.map_id),
        ];
        let given = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
        let mut arguments: Map<String, Value> =
            given.map(|(name, text)| (name.to_owned(), json!(text))).collect();
        if let Some(area) = &self.area {
            let numbers: Result<Vec<f64>, _> =
                area.split(',').map(|it| it.trim().parse()).collect();
            let numbers = numbers.ok();
            let Some([x, y, radius]) = numbers.as_deref() else {
                anyhow::bail!(
                    "--area is {area:?}; accepted are three numbers of metres: X,Y,RADIUS"
                );
            };
            arguments.insert("area".to_owned(), json!({"x": x, "y": y, "radius": radius}));
        }
        Ok(arguments)
    }
}
