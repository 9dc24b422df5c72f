//! Records as a recording: frames with their boxes, poses and captions, a topic each.

use std::collections::BTreeMap;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::base::picture;
use crate::cli::export::foxglove::{self, Schema};
use crate::cli::export::mcap::{McapWriter, Number, Stamp};
use crate::cli::export::{Sink, micros};
use crate::tools::transfer::RecordItem;

/// Writes MCAP with Foxglove's schemas.
pub(super) struct RecordingSink<W> {
    file: McapWriter<W>,
    schemas: BTreeMap<&'static str, Number>,
    /// By topic and map.
    channels: BTreeMap<(String, String), (Number, u32)>,
}

impl<W: Write> RecordingSink<W> {
    pub(super) fn new(out: W) -> anyhow::Result<Self> {
        let library = concat!("engram ", env!("CARGO_PKG_VERSION"));
        let mut file = McapWriter::new(out, library)?;
        file.metadata("engram", &[("version", env!("CARGO_PKG_VERSION"))])?;
        Ok(Self { file, schemas: BTreeMap::new(), channels: BTreeMap::new() })
    }

    fn message(
        &mut self,
        (topic, schema): (&str, Schema),
        record: &RecordItem,
        (micros, data): (i64, &[u8]),
    ) -> anyhow::Result<()> {
        let topic = format!("/{}/{topic}", record.source);
        let Schema { name, descriptors } = schema;
        let file = &mut self.file;
        let schemas = &mut self.schemas;
        let key = (topic, record.map_id.clone());
        let (number, sequence) = self.channels.entry(key).or_insert_with_key(|(topic, map_id)| {
            let schema =
                schemas.entry(name).or_insert_with(|| file.schema(name, "protobuf", descriptors));
            (file.channel(topic, *schema, &[("map_id", map_id)]), 0)
        });
        *sequence += 1;
        let nanos = u64::try_from(micros)?.saturating_mul(1_000);
        let stamp = Stamp { channel: *number, sequence: *sequence, nanos };
        Ok(self.file.message(stamp, data)?)
    }
}

impl<W: Write> Sink for RecordingSink<W> {
    fn record(&mut self, record: &RecordItem) -> anyhow::Result<()> {
        let at = micros(&record.time)?;
        if let Some(frame) = &record.frame {
            let file = BASE64.decode(&frame.data)?;
            let format = frame.mime.trim_start_matches("image/");
            let image = foxglove::image(at, &record.source, format, &file);
            self.message(("image", foxglove::IMAGE), record, (at, &image))?;
            // The boxes of one frame replace those of the one before, also by none.
            let sides = picture::dimensions(&file)?;
            let boxes = foxglove::annotations(at, &record.detections, sides);
            self.message(("annotations", foxglove::ANNOTATIONS), record, (at, &boxes))?;
        }
        if let Some(pose) = foxglove::pose(at, record) {
            self.message(("pose", foxglove::POSE), record, (at, &pose))?;
        }
        let log = foxglove::log(at, record);
        self.message(("captions", foxglove::LOG), record, (at, &log))
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        self.file.finish()?;
        Ok(())
    }
}
