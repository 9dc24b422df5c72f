//! Which records a view shows: window, source, map and area, as addresses and as arguments
//! hold them. Pure.

use serde_json::{Map, Value, json};

use crate::base::time::{Timestamp, Zone};
use crate::page::request::{Fields, link};

/// What of the memory is looked at; everything where it is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Filter {
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
    pub(crate) source: String,
    pub(crate) map: String,
    pub(crate) area: Option<Circle>,
}

/// A place and the metres around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Circle {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) radius: f64,
    /// Empty for the usual one.
    pub(crate) frame: String,
}

/// Names that the tools have for the bounds of a window.
pub(crate) type Bounds = (&'static str, &'static str);

impl Filter {
    /// Of an address' query.
    pub(crate) fn parse(fields: &Fields, zone: Zone, now: Timestamp) -> Result<Self, String> {
        let time = |name: &str| {
            let text = fields.get(name);
            text.map(|text| parse_time(text, zone, now))
                .transpose()
                .map_err(|why| format!("{name}: {why}"))
        };
        let filter = Self {
            from: time("from")?,
            to: time("to")?,
            source: fields.get("source").unwrap_or_default().to_owned(),
            map: fields.get("map").unwrap_or_default().to_owned(),
            area: fields.get("area").map(Circle::parse).transpose()?,
        };
        match (filter.from, filter.to) {
            (Some(from), Some(to)) if from > to => {
                Err("the window ends before it begins; accepted is a from before its to".to_owned())
            }
            _ => Ok(filter),
        }
    }

    /// For an address' query; pairs without a value are left out there.
    pub(crate) fn pairs(&self, zone: Zone) -> Vec<(&'static str, String)> {
        let time = |it: Option<Timestamp>| it.map_or_else(String::new, |it| write_time(it, zone));
        vec![
            ("from", time(self.from)),
            ("to", time(self.to)),
            ("source", self.source.clone()),
            ("map", self.map.clone()),
            ("area", self.area.as_ref().map_or_else(String::new, Circle::to_text)),
        ]
    }

    /// An address with this filter.
    pub(crate) fn link(&self, path: &str, zone: Zone) -> String {
        link(path, self.pairs(zone))
    }

    /// The arguments of a tool whose window has these names.
    pub(crate) fn arguments(&self, (start, end): Bounds) -> Map<String, Value> {
        let mut arguments = Map::new();
        let mut set = |name: &str, value: Option<Value>| {
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        };
        let text = |it: &str| (!it.is_empty()).then(|| json!(it));
        set(start, self.from.map(|it| json!(it.seconds())));
        set(end, self.to.map(|it| json!(it.seconds())));
        set("source", text(&self.source));
        set("map_id", text(&self.map));
        set("area", self.area.as_ref().map(Circle::to_argument));
        arguments
    }

    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

impl Circle {
    /// `x,y,radius`, and perhaps `,frame_id`.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("area: {text:?}, accepted is x,y,radius in metres, such as 1.5,-3,2");
        let mut parts = text.splitn(4, ',').map(str::trim);
        let mut metres = || {
            let number = parts.next().and_then(|it| it.parse::<f64>().ok());
            number.filter(|it| it.is_finite()).ok_or_else(wrong)
        };
        let (x, y, radius) = (metres()?, metres()?, metres()?);
        let frame = parts.next().unwrap_or_default().to_owned();
        if radius > 0.0 { Ok(Self { x, y, radius, frame }) } else { Err(wrong()) }
    }

    pub(crate) fn to_text(&self) -> String {
        let Self { x, y, radius, frame } = self;
        let frame = if frame.is_empty() { String::new() } else { format!(",{frame}") };
        format!("{x:.2},{y:.2},{radius:.2}{frame}")
    }

    fn to_argument(&self) -> Value {
        let Self { x, y, radius, frame } = self;
        if frame.is_empty() {
            json!({"x": x, "y": y, "radius": radius})
        } else {
            json!({"x": x, "y": y, "radius": radius, "frame_id": frame})
        }
    }
}

/// A time as people write it, or seconds since 1970 as the script does.
fn parse_time(text: &str, zone: Zone, now: Timestamp) -> Result<Timestamp, String> {
    let seconds = text.parse::<f64>().ok().filter(|it| *it >= 0.0);
    if let Some(time) = seconds.and_then(Timestamp::from_seconds) {
        return Ok(time);
    }
    // Fields of forms write no seconds where there are none.
    let with_seconds = format!("{text}:00");
    zone.parse(text, now)
        .or_else(|error| zone.parse(&with_seconds, now).map_err(|_second| error))
        .map_err(|error| error.to_string())
}

/// A time for an address: to the second where it is whole, else to the microsecond.
pub(crate) fn write_time(time: Timestamp, zone: Zone) -> String {
    let micros = time.micros() % 1_000_000;
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{}{fraction}", zone.format(time).replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utc() -> Zone {
        Zone::from_name("UTC").unwrap()
    }

    fn parse(query: &str) -> Result<Filter, String> {
        Filter::parse(&Fields::parse(query), utc(), Timestamp::EPOCH)
    }

    #[test]
    fn an_address_holds_the_filter() {
        let query = "from=2025-01-03T09:14&to=1735900000.5&source=front+camera&area=1.5,-3,2";
        let filter = parse(query).unwrap();
        let address = filter.link("/", utc());
        let expect = "/?from=2025-01-03T09:14:00&to=2025-01-03T10:26:40.500000\
            &source=front%20camera&area=1.50,-3.00,2.00";
        assert_eq!(address, expect);
        let again = address.split_once('?').unwrap().1;
        assert_eq!(parse(again), Ok(filter.clone()));
        let arguments = Value::Object(filter.arguments(("start_time", "end_time")));
        let expect = json!({"start_time": 1_735_895_640.0, "end_time": 1_735_900_000.5,
            "source": "front camera", "area": {"x": 1.5, "y": -3.0, "radius": 2.0}});
        assert_eq!(arguments, expect);
        assert!(parse("").unwrap().is_everything());
        assert_eq!(Filter::default().link("/map", utc()), "/map");
    }

    #[test]
    fn a_wrong_filter_is_told() {
        for (query, expect) in [
            ("from=soon", "from: \"soon\" is no time"),
            ("from=20&to=10", "the window ends before it begins"),
            ("area=1,2", "area: \"1,2\", accepted is x,y,radius"),
            ("area=1,2,0", "accepted is x,y,radius"),
            ("area=1,NaN,1", "accepted is x,y,radius"),
        ] {
            let error = parse(query).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_time_comes_back_as_it_went(micros in 0..4_000_000_000_000_000_i64) {
            let time = Timestamp::from_micros(micros).unwrap();
            let written = write_time(time, utc());
            prop_assert_eq!(parse_time(&written, utc(), Timestamp::EPOCH), Ok(time));
        }
    }
}
