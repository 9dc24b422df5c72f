//! One tensor of a safetensors file: its numbers are read when asked for, all or some rows.
//! Knows neither its name nor what it is for.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use candle_core::{DType, Device, Result, Tensor, WithDType, bail};
use half::{bf16, f16};
use safetensors::tensor::TensorInfo;

/// Bytes of a file that are read at once; a multiple of the size of any number.
///
/// Small, so that no large buffer is freed beside the weights: after one, glibc's
/// allocator keeps as much in reserve for good.
pub(super) const BLOCK_BYTES: usize = 64 << 10;

/// A tensor that is still in its file.
#[derive(Debug, Clone)]
pub(super) struct StoredTensor {
    pub(super) file: Arc<File>,
    /// At which byte its numbers begin.
    pub(super) start: u64,
    pub(super) info: TensorInfo,
}

impl StoredTensor {
    /// Of its file, as it is now.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Those rows of a table, as f32.
    pub(super) fn rows(&self, ids: &[u32]) -> Result<Tensor> {
        let Self { file, start, info } = self;
        let &[count, width] = info.shape.as_slice() else { bail!("it is no table") };
        let dtype = DType::try_from(info.dtype)?;
        let row = width * dtype.size_in_bytes();
        let mut bytes = vec![0; ids.len() * row];
        for (id, bytes) in ids.iter().zip(bytes.chunks_exact_mut(row.max(1))) {
            if *id as usize >= count {
                bail!("row {id} of a table of {count}");
            }
            file.read_exact_at(bytes, start + u64::from(*id) * row as u64)?;
        }
        Tensor::from_raw_buffer(&bytes, dtype, &[ids.len(), width], &Device::Cpu)?
            .to_dtype(DType::F32)
    }

    pub(super) fn read(&self, dtype: DType) -> Result<Tensor> {
        if dtype == DType::F16 {
            self.read_as::<f16>()
        } else if dtype == DType::BF16 {
            self.read_as::<bf16>()
        } else {
            self.read_as::<f32>()?.to_dtype(dtype)
        }
    }

    /// A block at a time, so that nothing but the tensor itself is as large as it.
    fn read_as<T: WithDType>(&self) -> Result<Tensor> {
        let Self { file, start, info } = self;
        let dtype = DType::try_from(info.dtype)?;
        if dtype.size_in_bytes() == 0 {
            bail!("numbers of type {dtype:?} are not read");
        }
        let (from, to) = info.data_offsets;
        let mut numbers: Vec<T> = Vec::with_capacity(info.shape.iter().product());
        let mut block = vec![0; BLOCK_BYTES.min(to - from)];
        let mut at = 0;
        while at < to - from {
            block.truncate(to - from - at);
            file.read_exact_at(&mut block, start + at as u64)?;
            let count = block.len() / dtype.size_in_bytes();
            let read = Tensor::from_raw_buffer(&block, dtype, &[count], &Device::Cpu)?;
            numbers.extend(read.to_dtype(T::DTYPE)?.to_vec1::<T>()?);
            at += block.len();
        }
        Tensor::from_vec(numbers, info.shape.as_slice(), &Device::Cpu)
    }
}
