//! Merge of the columns of several parts.

use roaring::RoaringBitmap;

use crate::index::Row;
use crate::index::columns::Columns;

impl Columns {
    /// Merges parts, one after the other, without the deleted rows of each.
    pub fn merge(parts: &[(&Self, &RoaringBitmap)]) -> Self {
        let mut merged = Self::default();
        for (part, deleted) in parts {
            let rows = (0..u32::try_from(part.len()).unwrap_or(u32::MAX)).map(Row);
            for row in rows.filter(|row| !deleted.contains(row.0)) {
                if let Some(cells) = part.cells(row) {
                    merged.push(cells);
                }
            }
        }
        merged.order_places();
        merged
    }
}
