//! Embedding table of tokens, of which a text needs a few rows. Knows where it is stored, not
//! what it is for.

use std::fs::Metadata;
use std::io;
use std::time::SystemTime;

use candle_core::{DType, Device, Result, Tensor, bail};

use crate::model::stored_tensor::StoredTensor;

#[derive(Debug, Clone)]
pub(crate) enum EmbeddingTable {
    /// In memory, in any precision.
    InMemory(Tensor),
    /// In its file.
    InFile(FileTable),
}

impl EmbeddingTable {
    /// The rows of `ids` as f32.
    pub(crate) fn rows(&self, ids: &[u32]) -> Result<Tensor> {
        match self {
            Self::InMemory(table) => {
                table.index_select(&Tensor::new(ids, &Device::Cpu)?, 0)?.to_dtype(DType::F32)
            }
            Self::InFile(table) => table.rows(ids),
        }
    }
}

/// Table read row by row from its file: it takes the system's page cache, which is given back
/// when others need memory.
#[derive(Debug, Clone)]
pub(crate) struct FileTable {
    stored: StoredTensor,
    opened: Version,
}

/// Version of the file: one that is replaced stays as it is for whoever has it open, one that
/// is overwritten does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: SystemTime,
}

impl FileTable {
    pub(super) fn of(stored: StoredTensor) -> Result<Self> {
        let opened = Version::of(&stored.metadata()?)?;
        Ok(Self { stored, opened })
    }

    fn rows(&self, ids: &[u32]) -> Result<Tensor> {
        let rows = self.stored.rows(ids)?;
        if Version::of(&self.stored.metadata()?)? != self.opened {
            bail!("the model's weights were written over while it was in use; start again");
        }
        Ok(rows)
    }
}

impl Version {
    fn of(file: &Metadata) -> io::Result<Self> {
        Ok(Self { bytes: file.len(), modified: file.modified()? })
    }
}
