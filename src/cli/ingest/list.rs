//! `engram ingest RECORDING --list`: what a recording holds, without a daemon.

use std::path::Path;

use serde_json::{Value, json};

use crate::capture::recording::{self, Contents, ImageSample, Options, PoseOrigin, TopicContents};
use crate::cli::output::say;

/// Prints the topics of the recording at `path`, as a table or as JSON.
pub(super) fn print(path: &Path, options: &Options, is_json: bool) -> anyhow::Result<()> {
    let contents = recording::list(path, options)?;
    let text = if is_json {
        serde_json::to_string_pretty(&as_json(&contents))?
    } else {
        as_table(&contents)
    };
    Ok(say(text.trim_end())?)
}

fn as_table(contents: &Contents) -> String {
    let mut rows = vec![["", "topic", "type", "messages", ""].map(str::to_owned)];
    for it in &contents.topics {
        let TopicContents { topic, kind: _, is_taken, sample } = it;
        let taken = if *is_taken { "→" } else { "" };
        let count = topic.count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let sample = sample.as_ref().map(describe).unwrap_or_default();
        rows.push([taken.to_owned(), topic.name.clone(), topic.schema.clone(), count, sample]);
    }
    let mut text = String::new();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..5).map(|column| width(column).unwrap_or_default()).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            // Numbers end in one column.
            if column == 3 { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&match &contents.poses {
        None => "no images: nothing would be taken\n".to_owned(),
        Some(PoseOrigin::Transforms { map_frame }) => {
            format!("→ taken; poses are the camera's in {map_frame:?}, by tf\n")
        }
        Some(PoseOrigin::Topic(topic)) => format!("→ taken; poses are the robot's, by {topic}\n"),
        Some(PoseOrigin::Nowhere { reason }) => format!("→ taken, without poses: {reason}\n"),
    });
    for fault in &contents.faults {
        text.push_str(fault);
        text.push('\n');
    }
    text
}

fn describe(sample: &Result<ImageSample, String>) -> String {
    match sample {
        Ok(ImageSample { size, encoding, frame_id }) => {
            let size = size.map(|(width, height)| format!("{width}x{height} ")).unwrap_or_default();
            format!("{size}{encoding}, frame {frame_id}")
        }
        Err(reason) => reason.clone(),
    }
}

fn as_json(contents: &Contents) -> Value {
    let topics = contents.topics.iter().map(|it| {
        let TopicContents { topic, kind: _, is_taken, sample } = it;
        let mut value = json!({
            "topic": topic.name, "type": topic.schema, "messages": topic.count, "taken": is_taken,
        });
        match (sample, value.as_object_mut()) {
            (Some(Ok(ImageSample { size, encoding, frame_id })), Some(fields)) => {
                fields.insert("encoding".to_owned(), json!(encoding));
                fields.insert("frame_id".to_owned(), json!(frame_id));
                if let Some((width, height)) = size {
                    fields.insert("width".to_owned(), json!(width));
                    fields.insert("height".to_owned(), json!(height));
                }
            }
            (Some(Err(reason)), Some(fields)) => {
                fields.insert("fault".to_owned(), json!(reason));
            }
            _ => {}
        }
        value
    });
    let poses = match &contents.poses {
        None => Value::Null,
        Some(PoseOrigin::Transforms { map_frame }) => json!({"by": "tf", "frame": map_frame}),
        Some(PoseOrigin::Topic(topic)) => json!({"by": topic}),
        Some(PoseOrigin::Nowhere { reason }) => json!({"by": null, "reason": reason}),
    };
    json!({"topics": topics.collect::<Vec<_>>(), "poses": poses, "faults": contents.faults})
}
