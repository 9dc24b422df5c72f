//! Any JSON as nested tables: what agents keep has no form that is known here. Pure.

use serde_json::{Map, Value};

use crate::page::html::{Html, html};

/// Deeper ones are shown as JSON.
const DEPTH_MAX: usize = 6;

/// The fields of an object.
pub(super) fn draw_fields(fields: &Map<String, Value>) -> Html {
    object(fields, 0)
}

fn draw_at(value: &Value, depth: usize) -> Html {
    match value {
        Value::Null => html!("<span class=\"soft\">–</span>"),
        Value::Bool(flag) => html!("{}", if *flag { "yes" } else { "no" }),
        Value::Number(number) => html!("{}", number.to_string()),
        Value::String(text) => html!("<span class=\"text\">{}</span>", text),
        Value::Array(_) | Value::Object(_) if depth == DEPTH_MAX => {
            html!("<code>{}</code>", value.to_string())
        }
        Value::Array(items) => list(items, depth),
        Value::Object(fields) => object(fields, depth),
    }
}

fn object(fields: &Map<String, Value>, depth: usize) -> Html {
    if fields.is_empty() {
        return html!("<span class=\"soft\">empty</span>");
    }
    let row = |(name, value): (&String, &Value)| {
        html!("<dt>{}</dt><dd>{}</dd>", name.replace('_', " "), draw_at(value, depth + 1))
    };
    html!("<dl class=\"table\">{}</dl>", fields.iter().map(row).collect::<Html>())
}

/// Objects of the same fields are a table, others a list.
fn list(items: &[Value], depth: usize) -> Html {
    let first = items.first().and_then(Value::as_object);
    let is_table = |names: &Map<String, Value>| {
        let has_names = |it: &Value| it.as_object().is_some_and(|it| it.keys().eq(names.keys()));
        items.iter().all(has_names)
    };
    match first {
        None if items.is_empty() => html!("<span class=\"soft\">none</span>"),
        Some(names) if is_table(names) => {
            let head = names.keys().map(|name| html!("<th>{}</th>", name.replace('_', " ")));
            let cells = |item: &Value| {
                let cells = item.as_object().into_iter().flatten();
                cells.map(|(_, it)| html!("<td>{}</td>", draw_at(it, depth + 1))).collect::<Html>()
            };
            let rows = items.iter().map(|it| html!("<tr>{}</tr>", cells(it)));
            html!(
                "<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>\
                 </div>",
                head.collect::<Html>(),
                rows.collect::<Html>()
            )
        }
        _ => {
            let rows = items.iter().map(|it| html!("<li>{}</li>", draw_at(it, depth + 1)));
            html!("<ul class=\"values\">{}</ul>", rows.collect::<Html>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_like_objects_are_tables_and_all_is_escaped() {
        let value = json!({"a_b": [{"x": 1, "y": "<b>"}, {"x": null, "y": true}], "c": [[], {}]});
        let drawn = draw_at(&value, 0).into_string();
        assert!(drawn.contains("<th>x</th><th>y</th>"), "{drawn}");
        assert!(drawn.contains("<dt>a b</dt>") && drawn.contains("&lt;b&gt;"), "{drawn}");
        assert!(drawn.contains("none") && drawn.contains("empty") && !drawn.contains("<b>"));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert!(draw_at(&deep, 0).into_string().contains("<code>[[["));
    }
}
