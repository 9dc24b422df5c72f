//! Phrases as bytes.

use roaring::RoaringBitmap;

use crate::index::bytes::{BadBytes, BlobKind, ByteReader, ByteWriter};
use crate::index::phrases::{PHRASES_MAX, Phrases};
use crate::language::mention::{Attribute, AttributeKind, Mention};

/// A change of how sentences are cut is a new version: what was cut before would
/// be found by other names.
const KIND: BlobKind = BlobKind { name: "a segment's phrases", tag: *b"EPHR", version: 3 };

impl Phrases {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new(KIND);
        writer.one(self.rows);
        writer.one(self.left_out);
        writer.one(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        for entry in &self.entries {
            let Mention { phrase, head, head_stem, attributes } = &entry.mention;
            for text in [phrase, head, head_stem] {
                writer.text(text);
            }
            writer.one(u32::try_from(attributes.len()).unwrap_or(u32::MAX));
            for Attribute { word, kind } in attributes {
                let number = AttributeKind::ALL.iter().position(|it| it == kind).unwrap_or(0);
                writer.one(u8::try_from(number).unwrap_or(0));
                writer.text(word);
            }
            let mut rows = Vec::with_capacity(entry.rows.serialized_size());
            #[expect(clippy::expect_used, reason = "into memory: no writer that could fail")]
            entry.rows.serialize_into(&mut rows).expect("serializes into memory");
            writer.many(&rows);
        }
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        let mut reader = ByteReader::new(KIND, bytes)?;
        let mut phrases = Self { rows: reader.one()?, left_out: reader.one()?, ..Self::default() };
        let count: u32 = reader.one()?;
        reader.ensure(count as usize <= PHRASES_MAX, "it has too many phrases")?;
        for at in 0..count {
            let mention = mention(&mut reader)?;
            let rows: Vec<u8> = reader.many()?;
            let rows = RoaringBitmap::deserialize_from(rows.as_slice())
                .map_err(|_fault| reader.content("a phrase's rows are no bitmap"))?;
            reader.ensure(
                rows.max().is_none_or(|row| row < phrases.rows),
                "a phrase's row is beyond the end",
            )?;
            reader.ensure(
                !phrases.by_text.contains_key(mention.phrase.as_str()),
                "a phrase is there twice",
            )?;
            phrases.add(mention);
            if let Some(entry) = phrases.entries.get_mut(at as usize) {
                entry.rows = rows;
            }
        }
        reader.finish()?;
        Ok(phrases)
    }
}

fn mention(reader: &mut ByteReader<'_>) -> Result<Mention, BadBytes> {
    let [phrase, head, head_stem] = [reader.text()?, reader.text()?, reader.text()?];
    let mut attributes = Vec::new();
    for _ in 0..reader.one::<u32>()? {
        let number: u8 = reader.one()?;
        let kind = AttributeKind::ALL.get(usize::from(number)).copied();
        let kind = kind.ok_or_else(|| reader.content("an attribute is of an unknown kind"))?;
        attributes.push(Attribute { word: reader.text()?.to_owned(), kind });
    }
    let [phrase, head, head_stem] = [phrase, head, head_stem].map(str::to_owned);
    Ok(Mention { phrase, head, head_stem, attributes })
}
