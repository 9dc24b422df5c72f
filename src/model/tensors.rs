//! Weights in the files of a model, read one by one when a network asks for them. Knows tensors,
//! not what they are for.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;

use candle_core::{DType, Device, Error, Result, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder};
use safetensors::tensor::Metadata;

use crate::model::git_lfs::{LFS_POINTER, refuse_pointer};
use crate::model::pickle;
use crate::model::stored_tensor::StoredTensor;
use crate::model::table::{EmbeddingTable, FileTable};

/// Header limit: names of ten thousand tensors fit several times over.
const HEADER_BYTES_MAX: u64 = 16 << 20;
/// Weights of a model by name.
#[derive(Debug, Default)]
pub(crate) struct Tensors(HashMap<String, StoredWeight>);

#[derive(Debug, Clone)]
enum StoredWeight {
    /// Still in its file.
    Stored(StoredTensor),
    /// Of several names.
    Shared(Tensor),
}

impl Tensors {
    /// Adds the tensors of a file, and checks that it holds what it says.
    pub(super) fn add_file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut start = [0; LFS_POINTER.len()];
        if file.read_exact(&mut start).is_ok() {
            refuse_pointer(&start)?;
        }
        if path.extension().is_some_and(|it| it == "bin") {
            let found = pickle::tensors_of(path)?;
            self.0.extend(found.into_iter().map(|(name, it)| (name, StoredWeight::Stored(it))));
            return Ok(());
        }
        let (metadata, data_start) = metadata_of(&mut file)?;
        let file = Arc::new(file);
        for name in metadata.offset_keys() {
            let Some(info) = metadata.info(&name).cloned() else { continue };
            let start = data_start + info.data_offsets.0 as u64;
            let stored = StoredTensor { file: Arc::clone(&file), start, info };
            self.0.insert(name, StoredWeight::Stored(stored));
        }
        Ok(())
    }

    /// Renames every tensor.
    pub(crate) fn rename(&mut self, renamed: impl Fn(String) -> String) {
        // The order in which a map gives its entries does not show in another map.
        #[expect(clippy::iter_over_hash_type, reason = "from map to map")]
        for (name, tensor) in std::mem::take(&mut self.0) {
            self.0.insert(renamed(name), tensor);
        }
    }

    /// Makes `name` an alias of `target`, without a second copy, where a file leaves out tied
    /// weights.
    pub(crate) fn alias(&mut self, name: &str, target: &str) -> Result<()> {
        if self.0.contains_key(name) || !self.0.contains_key(target) {
            return Ok(());
        }
        let shared = StoredWeight::Shared(self.find(target)?.read(target, DType::F32)?);
        self.0.insert(name.to_owned(), shared.clone());
        self.0.insert(target.to_owned(), shared);
        Ok(())
    }

    /// Table in memory, in half precision where the file has it so: it is widened row by row.
    pub(crate) fn table_in_memory(
        &self,
        name: &str,
        shape: (usize, usize),
    ) -> Result<EmbeddingTable> {
        let dtype = match self.0.get(name) {
            Some(StoredWeight::Stored(it)) => DType::try_from(it.info.dtype)?,
            Some(StoredWeight::Shared(_)) | None => DType::F32,
        };
        let is_half = matches!(dtype, DType::F16 | DType::BF16);
        let dtype = if is_half { dtype } else { DType::F32 };
        self.read_shaped(shape.into(), name, dtype).map(EmbeddingTable::InMemory)
    }

    /// Table left in its file, for a model that is seldom used.
    pub(crate) fn table_in_file(
        &self,
        name: &str,
        shape: (usize, usize),
    ) -> Result<EmbeddingTable> {
        match self.weight(shape.into(), name)? {
            StoredWeight::Stored(it) => FileTable::of(it.clone()).map(EmbeddingTable::InFile),
            StoredWeight::Shared(tensor) => Ok(EmbeddingTable::InMemory(tensor.clone())),
        }
    }

    /// All other weights as f32, each read when it is asked for.
    pub(crate) fn into_builder(self) -> VarBuilder<'static> {
        VarBuilder::from_backend(Box::new(self), DType::F32, Device::Cpu)
    }

    fn read_shaped(&self, expected: Shape, name: &str, dtype: DType) -> Result<Tensor> {
        self.weight(expected, name)?.read(name, dtype)
    }

    fn weight(&self, expected: Shape, name: &str) -> Result<&StoredWeight> {
        let weight = self.find(name)?;
        let got = match weight {
            StoredWeight::Stored(it) => Shape::from(it.info.shape.as_slice()),
            StoredWeight::Shared(tensor) => tensor.shape().clone(),
        };
        if got == expected {
            return Ok(weight);
        }
        let msg = format!("shape mismatch for {name}");
        Err(Error::UnexpectedShape { msg, expected, got })
    }

    fn find(&self, name: &str) -> Result<&StoredWeight> {
        self.0.get(name).ok_or_else(|| Error::CannotFindTensor { path: name.to_owned() })
    }
}

impl SimpleBackend for Tensors {
    fn get(&self, shape: Shape, name: &str, _: Init, dtype: DType, to: &Device) -> Result<Tensor> {
        self.read_shaped(shape, name, dtype)?.to_device(to)
    }

    fn get_unchecked(&self, name: &str, dtype: DType, to: &Device) -> Result<Tensor> {
        self.find(name)?.read(name, dtype)?.to_device(to)
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl StoredWeight {
    fn read(&self, name: &str, dtype: DType) -> Result<Tensor> {
        match self {
            Self::Stored(it) => {
                it.read(dtype).map_err(|error| Error::Msg(format!("tensor {name}: {error}")))
            }
            Self::Shared(tensor) => tensor.to_dtype(dtype),
        }
    }
}

/// JSON header of a safetensors file, after its eight bytes of length.
pub(super) fn header_of(file: &mut File, file_length: u64) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    file.rewind()?;
    file.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > HEADER_BYTES_MAX.min(file_length - 8) {
        return Err(io::Error::other(format!("a header of {length} bytes is no safetensors")));
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header)?;
    Ok(header)
}

/// What a file holds, and at which byte the weights begin.
fn metadata_of(file: &mut File) -> io::Result<(Metadata, u64)> {
    let file_length = file.metadata()?.len();
    if file_length < 8 {
        return Err(io::Error::other("the file is too short"));
    }
    let header = header_of(file, file_length)?;
    // Checks that places follow one another and fit the shapes.
    let metadata: Metadata = serde_json::from_slice(&header)?;
    let data_start = 8 + header.len() as u64;
    let found = file_length - data_start;
    if metadata.data_len() as u64 != found {
        let expected = metadata.data_len();
        return Err(io::Error::other(format!(
            "{found} bytes of weights, the header says {expected}"
        )));
    }
    Ok((metadata, data_start))
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;

    use crate::model::stored_tensor::BLOCK_BYTES;

    const SECOND: Duration = Duration::from_secs(1);

    /// What is in a file with this header and these weights.
    fn tensors(header: &str, data: &[u8]) -> (TempDir, Tensors) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        fs::write(&path, bytes).unwrap();
        let mut tensors = Tensors::default();
        tensors.add_file(&path).unwrap();
        (dir, tensors)
    }

    /// 1.0 and −2.0 in half precision.
    fn two_halves() -> (TempDir, Tensors) {
        let header = r#"{"w":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}}"#;
        tensors(header, &[0x00, 0x3c, 0x00, 0xc0])
    }

    #[test]
    fn half_precision_is_read_as_single_under_any_name() {
        let (_dir, mut tensors) = two_halves();
        tensors.alias("tied", "w").unwrap();
        tensors.alias("w", "tied").unwrap();
        tensors.alias("other", "absent").unwrap();
        tensors.rename(|name| format!("x.{name}"));
        let found = tensors.into_builder();
        for name in ["x.w", "x.tied"] {
            let tensor = found.get((2, 1), name).unwrap();
            assert_eq!(tensor.to_vec2::<f32>().unwrap(), [[1.0], [-2.0]]);
        }
        assert!(!found.contains_tensor("w"));
        assert!(!found.contains_tensor("x.other"));
    }

    #[test]
    fn rows_of_a_table_are_widened_exactly_held_or_left_in_the_file() {
        // Every half there is but for infinities and what is no number.
        let halves: Vec<u16> = (0..=u16::MAX).filter(|it| it & 0x7c00 != 0x7c00).collect();
        let data: Vec<u8> = halves.iter().flat_map(|it| it.to_le_bytes()).collect();
        let (rows, end) = (halves.len() / 2, data.len());
        let header =
            format!(r#"{{"w":{{"dtype":"F16","shape":[{rows},2],"data_offsets":[0,{end}]}}}}"#);
        assert!(end > BLOCK_BYTES);
        let (_dir, tensors) = tensors(&header, &data);
        let bits = |tensor: Tensor| -> Vec<u32> {
            let numbers = tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            numbers.into_iter().map(f32::to_bits).collect()
        };
        let expect: Vec<u32> = halves.iter().map(|it| widen(*it).to_bits()).collect();
        let ids: Vec<u32> = (0..u32::try_from(rows).unwrap()).collect();
        let held = tensors.table_in_memory("w", (rows, 2)).unwrap();
        assert!(matches!(&held, EmbeddingTable::InMemory(it) if it.dtype() == DType::F16));
        let left = tensors.table_in_file("w", (rows, 2)).unwrap();
        for table in [&held, &left] {
            assert_eq!(bits(table.rows(&ids).unwrap()), expect);
            let some = table.rows(&[7, 7, 2]).unwrap();
            assert_eq!(bits(some)[2..], [expect[14], expect[15], expect[4], expect[5]]);
            table.rows(&[0, u32::try_from(rows).unwrap()]).unwrap_err();
        }
        assert_eq!(bits(tensors.into_builder().get((rows, 2), "w").unwrap()), expect);
    }

    /// The value of a half, by its definition.
    fn widen(half: u16) -> f32 {
        let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f32::from(half & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2_f32.powi(-24),
            _ => (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15),
        };
        sign * magnitude
    }

    #[test]
    fn other_types_are_single_precision() {
        let header = r#"{"f":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},
            "i":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}}"#;
        let mut data: Vec<u8> = [0.5_f32, -3.0].iter().flat_map(|it| it.to_le_bytes()).collect();
        data.extend(7_i64.to_le_bytes());
        let (_dir, tensors) = tensors(header, &data);
        for table in [tensors.table_in_memory("f", (1, 2)), tensors.table_in_file("f", (1, 2))] {
            let row = table.unwrap().rows(&[0]).unwrap();
            assert_eq!(row.to_vec2::<f32>().unwrap(), [[0.5, -3.0]]);
        }
        let whole = tensors.into_builder().get(1, "i").unwrap();
        assert_eq!(whole.to_vec1::<f32>().unwrap(), [7.0]);
    }

    #[test]
    fn tensors_that_do_not_fit_are_named() {
        let (_dir, tensors) = two_halves();
        let said = |error: Error| error.to_string();
        for table in [Tensors::table_in_memory, Tensors::table_in_file] {
            let wrong = said(table(&tensors, "w", (1, 2)).unwrap_err());
            assert!(wrong.contains("shape mismatch for w"), "{wrong}");
            let absent = said(table(&tensors, "v", (1, 2)).unwrap_err());
            assert!(absent.contains('v'), "{absent}");
        }
    }

    #[test]
    fn a_file_that_is_written_over_while_it_is_open_is_an_error() {
        let (dir, tensors) = two_halves();
        let path = dir.path().join("model.safetensors");
        let table = tensors.table_in_file("w", (2, 1)).unwrap();
        let read = || table.rows(&[1]).and_then(|it| it.to_vec2::<f32>());
        assert_eq!(read().unwrap(), [[-2.0]]);
        // Another file under the name is none of this model's.
        let whole = fs::read(&path).unwrap();
        fs::rename(&path, dir.path().join("old")).unwrap();
        fs::write(&path, "other").unwrap();
        assert_eq!(read().unwrap(), [[-2.0]]);
        let old = File::options().write(true).open(dir.path().join("old")).unwrap();
        old.set_modified(old.metadata().unwrap().modified().unwrap() + SECOND).unwrap();
        assert!(read().unwrap_err().to_string().contains("written over"));
        old.set_len(whole.len() as u64 - 1).unwrap();
        read().unwrap_err();
        let error = tensors.table_in_memory("w", (2, 1)).unwrap_err().to_string();
        assert!(error.contains("tensor w"), "{error}");
    }
}
