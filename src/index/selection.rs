//! Which rows a search may look at.

use crate::index::Row;

/// A set of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    All,
    /// By row; rows beyond the end are not selected.
    Only(Vec<bool>),
}

impl Selection {
    #[inline]
    pub fn contains(&self, row: Row) -> bool {
        match self {
            Self::All => true,
            Self::Only(marked) => marked.get(row.at()).copied().unwrap_or(false),
        }
    }
}
