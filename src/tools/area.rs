//! The argument `area`: a place and the metres around it.

use serde_json::{Map, Value, json};

use crate::base::area::Area;
use crate::base::frame::NAME_BYTES_MAX;
use crate::tools::ToolError;
use crate::tools::args::{Args, Kind, Param, argument_error};

pub(crate) const AREA: Param = Param::optional(
    "area",
    Kind::Area,
    "Only within radius metres. Also z (any height without), frame_id ('map' without), map_id.",
);

pub(super) const ACCEPTED: &str =
    "an object {x, y, z?, radius, frame_id?, map_id?} in metres, with a radius above 0";

const KEYS: [&str; 6] = ["x", "y", "z", "radius", "frame_id", "map_id"];

/// JSON Schema of the argument; its text names the fields that few give.
pub(super) fn schema() -> Value {
    let metres = json!({"type": "number"});
    json!({
        "type": "object",
        "properties": {"x": metres, "y": metres, "radius": metres},
        "required": ["x", "y", "radius"],
    })
}

/// The area of a call, in the map that the call names unless it names one itself.
pub(crate) fn area(args: &Args, map_id: Option<&str>) -> Result<Option<Area>, ToolError> {
    let Some(fields) = args.object(AREA.name)? else { return Ok(None) };
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(argument_error(format!(
            "argument \"area\" has an unknown field {key:?}; accepted is {ACCEPTED}"
        )));
    }
    let (x, y) = (require(&fields, "x")?, require(&fields, "y")?);
    let (z, radius) = (number(&fields, "z")?, require(&fields, "radius")?);
    let frame_id = name(&fields, "frame_id")?.unwrap_or("map");
    let own_map = name(&fields, "map_id")?;
    if let (Some(own), Some(of_call)) = (own_map, map_id)
        && own != of_call
    {
        return Err(argument_error(format!(
            "argument \"area\": its map_id is {own:?} and argument \"map_id\" is {of_call:?}; \
             accepted is one map, as no record is of two"
        )));
    }
    let map_id = own_map.or(map_id).unwrap_or_default();
    let area = Area::new((x, y, z), radius, frame_id, map_id);
    area.map(Some).map_err(|error| argument_error(format!("argument \"area\": {error}")))
}

/// `within 2 m of (1.5, -3) in frame_id "map" of map_id "home"`, for who found nothing.
pub(crate) fn describe(area: &Area) -> String {
    let (x, y, z) = area.centre();
    let centre = z.map_or_else(|| format!("({x}, {y})"), |z| format!("({x}, {y}, {z})"));
    format!(
        "within {} m of {centre} in frame_id {:?} of map_id {:?}",
        area.radius_metres(),
        area.frame_id(),
        area.map_id()
    )
}

fn require(fields: &Map<String, Value>, key: &str) -> Result<f64, ToolError> {
    number(fields, key)?.ok_or_else(|| {
        argument_error(format!("argument \"area\" has no {key:?}; accepted is {ACCEPTED}"))
    })
}

fn number(fields: &Map<String, Value>, key: &str) -> Result<Option<f64>, ToolError> {
    let Some(value) = field(fields, key) else { return Ok(None) };
    // Small models write "1.5" for 1.5.
    let number = value.as_f64().or_else(|| value.as_str().and_then(|it| it.trim().parse().ok()));
    number.map(Some).ok_or_else(|| wrong_field(key, value, "a number of metres"))
}

fn name<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, ToolError> {
    let Some(value) = field(fields, key) else { return Ok(None) };
    let name = value.as_str().filter(|it| it.len() <= NAME_BYTES_MAX);
    let accepted = || format!("a text of at most {NAME_BYTES_MAX} bytes");
    name.map(Some).ok_or_else(|| wrong_field(key, value, &accepted()))
}

/// As with arguments, null counts as absent.
fn field<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    fields.get(key).filter(|value| !value.is_null())
}

fn wrong_field(key: &str, value: &Value, accepted: &str) -> ToolError {
    let shown: String = value.to_string().chars().take(80).collect();
    argument_error(format!("argument \"area\": its {key:?} is {shown}; accepted is {accepted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Value, map_id: Option<&str>) -> Result<String, String> {
        let args = Args::new(&[AREA], Map::from_iter([("area".to_owned(), value)])).unwrap();
        match area(&args, map_id) {
            Ok(found) => Ok(found.map_or_else(|| "none".to_owned(), |it| describe(&it))),
            Err(ToolError::Argument(sentence)) => Err(sentence),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_place_is_in_the_calls_map_unless_it_names_its_own() {
        let two = json!({"x": 1.5, "y": -3, "radius": 2});
        let expect = |map: &str| {
            Ok(format!("within 2 m of (1.5, -3) in frame_id \"map\" of map_id {map:?}"))
        };
        assert_eq!(check(two.clone(), None), expect(""));
        assert_eq!(check(two, Some("home")), expect("home"));
        let own = json!({"x": "1.5", "y": -3, "radius": 2, "map_id": "attic", "z": null});
        assert_eq!(check(own.clone(), None), expect("attic"));
        assert_eq!(check(own.clone(), Some("attic")), expect("attic"));
        assert!(check(own, Some("home")).unwrap_err().contains("accepted is one map"));
        assert_eq!(check(json!(null), None), Ok("none".to_owned()));
        let high = json!({"x": 0, "y": 0, "z": 1, "radius": 0.5, "frame_id": "odom"}).to_string();
        let expect = "within 0.5 m of (0, 0, 1) in frame_id \"odom\" of map_id \"\"";
        assert_eq!(check(json!(high), None), Ok(expect.to_owned()), "as text, as models write it");
    }

    #[test]
    fn a_refusal_names_the_field_what_came_and_what_is_accepted() {
        for (value, expect) in [
            (json!([1, 2]), "argument \"area\" is [1,2]; accepted is an object {x, y, z?, radius"),
            (json!({"x": 1, "y": 2}), "has no \"radius\"; accepted is an object {x"),
            (json!({"x": 1, "y": 2, "r": 2}), "unknown field \"r\"; accepted is an object {x"),
            (json!({"x": 1, "y": 2, "radius": 0}), "radius is 0, accepted are metres above 0"),
            (
                json!({"x": "far", "y": 2, "radius": 1}),
                "its \"x\" is \"far\"; accepted is a number",
            ),
            (json!({"x": 1e12, "y": 2, "radius": 1}), "x of the area is 1000000000000, accepted"),
            (json!({"x": 1, "y": 2, "radius": "NaN"}), "radius is NaN, accepted are metres"),
            (
                json!({"x": 1, "y": 2, "radius": 1, "map_id": 7}),
                "its \"map_id\" is 7; accepted is a text of at most",
            ),
        ] {
            let text = check(value, None).unwrap_err();
            assert!(text.contains(expect), "{text}");
        }
    }
}
