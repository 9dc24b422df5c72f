//! Weights as PyTorch writes them (`pytorch_model.bin`): a zip of the numbers, each tensor's in a
//! file, and of a pickle that says which is which. Candle reads the pickle as data and runs
//! nothing of it; from there on the tensors are read like any others. Knows tensors, not what
//! they are for.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;
use std::sync::Arc;

use candle_core::DType;
use candle_core::pickle::{TensorInfo as PickledInfo, read_pth_tensor_info};
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use zip::{CompressionMethod, ZipArchive};

use crate::model::git_lfs::refuse_pointer;
use crate::model::stored_tensor::StoredTensor;

/// Largest pickle: of a thousand tensors it has some hundred kilobytes.
const PICKLE_BYTES_MAX: u64 = 16 << 20;

/// The tensors of a file by name; none is read yet.
pub(super) fn tensors_of(path: &Path) -> io::Result<Vec<(String, StoredTensor)>> {
    let mut file = File::open(path)?;
    let mut start = [0; 64];
    let read = file.read(&mut start)?;
    refuse_pointer(start.get(..read).unwrap_or_default())?;
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|error| {
        io::Error::other(format!("no zip, in which PyTorch writes weights since 2020: {error}"))
    })?;
    check_pickle(&mut zip)?;
    let infos = read_pth_tensor_info(path, false, None).map_err(io::Error::other)?;
    let file = Arc::new(File::open(path)?);
    let mut tensors = Vec::new();
    for info in infos {
        // Numbers of other kinds are counters and masks, which no network asks for.
        let Some(dtype) = dtype_of(info.dtype) else { continue };
        let name = info.name.clone();
        let stored = stored(&mut zip, &file, &info, dtype)
            .map_err(|error| io::Error::other(format!("tensor {name}: {error}")))?;
        tensors.push((name, stored));
    }
    Ok(tensors)
}

fn check_pickle(zip: &mut ZipArchive<BufReader<File>>) -> io::Result<()> {
    for at in 0..zip.len() {
        let entry = zip.by_index_raw(at).map_err(io::Error::other)?;
        let is_large = entry.size() > PICKLE_BYTES_MAX;
        if is_large && entry.name().is_ok_and(|name| name.ends_with("data.pkl")) {
            let found = entry.size();
            let text = format!("a pickle of {found} bytes, accepted are {PICKLE_BYTES_MAX}");
            return Err(io::Error::other(text));
        }
    }
    Ok(())
}

/// Where a tensor's numbers lie in the zip, which must hold them as they are.
fn stored(
    zip: &mut ZipArchive<BufReader<File>>,
    file: &Arc<File>,
    info: &PickledInfo,
    dtype: Dtype,
) -> io::Result<StoredTensor> {
    let layout = &info.layout;
    if !layout.is_contiguous() {
        return Err(io::Error::other("its numbers are not in order: convert it to safetensors"));
    }
    let entry = zip.by_name(&info.path).map_err(io::Error::other)?;
    if entry.compression() != CompressionMethod::Stored {
        return Err(io::Error::other("its numbers are compressed: convert it to safetensors"));
    }
    let (offset, bytes) =
        (layout.start_offset(), layout.shape().elem_count() * info.dtype.size_in_bytes());
    if (offset + bytes) as u64 > entry.size() {
        let found = entry.size();
        return Err(io::Error::other(format!("{found} bytes, its shape needs {}", offset + bytes)));
    }
    let start = entry.data_start().ok_or_else(|| io::Error::other("its numbers lie nowhere"))?;
    let info = TensorInfo { dtype, shape: layout.dims().to_vec(), data_offsets: (0, bytes) };
    Ok(StoredTensor { file: Arc::clone(file), start: start + offset as u64, info })
}

fn dtype_of(dtype: DType) -> Option<Dtype> {
    [(DType::F32, Dtype::F32), (DType::F16, Dtype::F16), (DType::BF16, Dtype::BF16)]
        .into_iter()
        .find_map(|(candle, safetensors)| (candle == dtype).then_some(safetensors))
}
