//! Where a captioner computes, and in which precision: on the CPU in single precision, on a GPU
//! in half. Knows no model.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::VarBuilder;

use crate::model::tensors::Tensors;

/// Which device a captioner is to compute on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ComputeDevice {
    /// The GPU where this build, the machine and the model have one, else the CPU.
    #[default]
    Auto,
    Cpu,
    /// The first NVIDIA GPU, or nothing.
    Cuda,
}

impl ComputeDevice {
    const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Cuda];

    /// As in `captioner.device`; `None` for another word.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|device| device.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda:0",
        }
    }
}

/// Device and precision that a network is loaded for.
#[derive(Debug, Clone)]
pub(super) struct Compute {
    device: Device,
    dtype: DType,
}

impl Compute {
    pub(super) fn on_cpu() -> Self {
        Self { device: Device::Cpu, dtype: DType::F32 }
    }

    /// The first NVIDIA GPU, or why there is none.
    pub(super) fn on_gpu() -> std::result::Result<Self, String> {
        if !cfg!(feature = "cuda") {
            return Err("this build computes on the CPU only; build it with the cargo feature \
                        `cuda`"
                .to_owned());
        }
        let device = Device::new_cuda(0).map_err(|error| error.to_string())?;
        Ok(Self { device, dtype: DType::F16 })
    }

    /// On the CPU as if it were another device, which computes in `dtype`.
    #[cfg(test)]
    pub(super) fn as_elsewhere(dtype: DType) -> Self {
        Self { device: Device::Cpu, dtype }
    }

    pub(super) fn weights(&self, tensors: Tensors) -> VarBuilder<'static> {
        VarBuilder::from_backend(Box::new(tensors), self.dtype, self.device.clone())
    }

    pub(super) fn put(&self, x: &Tensor) -> Result<Tensor> {
        x.to_dtype(self.dtype)?.to_device(&self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_as_they_are_written() {
        for device in ComputeDevice::ALL {
            assert_eq!(ComputeDevice::of_name(device.name()), Some(device));
        }
        assert_eq!(ComputeDevice::of_name("cuda"), None);
    }
}
