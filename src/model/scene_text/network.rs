//! A network in ONNX, run by tract on one thread.

use std::path::Path;

use tract_onnx::pb::ModelProto;
use tract_onnx::prelude::{
    Datum as _, Framework as _, InferenceFact, InferenceModelExt as _, Tensor, TractResult,
    TypedModel, TypedRunnableModel, tvec,
};

use crate::model::scene_text::{file, unusable};
use crate::model::{CaptionError, ModelError};

/// What a file holds, before it is laid out for a size.
pub(super) struct NetworkFile {
    proto: ModelProto,
    unusable: Box<dyn Fn(&str) -> ModelError>,
}

impl NetworkFile {
    pub(super) fn read(dir: &Path, name: &'static str) -> Result<Self, ModelError> {
        let bytes = file(dir, name)?;
        let dir = dir.to_owned();
        let unusable = move |reason: &str| unusable(&dir, &format!("{name}: {reason}"));
        let proto = tract_onnx::onnx().proto_model_for_read(&mut bytes.as_slice());
        let proto = proto.map_err(|error| unusable(&format!("{error:#}")))?;
        Ok(Self { proto, unusable: Box::new(unusable) })
    }

    /// A text that the file carries.
    pub(super) fn note(&self, key: &str) -> Result<&str, ModelError> {
        let found = self.proto.metadata_props.iter().find(|it| it.key == key);
        let found = found.ok_or_else(|| (self.unusable)(&format!("it has no {key:?}")))?;
        Ok(&found.value)
    }

    /// For pictures of this height and width alone: others would be laid out anew each time.
    pub(super) fn for_size(&self, height: usize, width: usize) -> Result<Network, ModelError> {
        let lay_out = || -> TractResult<TypedRunnableModel<TypedModel>> {
            let shape = [1, 3, height, width];
            let onnx = tract_onnx::onnx();
            let model = onnx.model_for_proto_model(&self.proto)?;
            let input = InferenceFact::dt_shape(f32::datum_type(), shape);
            model.with_input_fact(0, input)?.into_optimized()?.into_runnable()
        };
        let plan = lay_out().map_err(|error| (self.unusable)(&format!("{error:#}")))?;
        Ok(Network { plan, height, width })
    }
}

/// Ready to run.
pub(super) struct Network {
    plan: TypedRunnableModel<TypedModel>,
    pub(super) height: usize,
    pub(super) width: usize,
}

impl Network {
    /// The numbers that come out; `pixels` are three planes of the network's size.
    pub(super) fn run(&self, pixels: &[f32]) -> Result<Vec<f32>, CaptionError> {
        let run = || -> TractResult<Vec<f32>> {
            let input = Tensor::from_shape(&[1, 3, self.height, self.width], pixels)?;
            let outputs = self.plan.run(tvec!(input.into()))?;
            let first = outputs.first().map(|it| it.as_slice::<f32>().map(<[f32]>::to_vec));
            first.unwrap_or_else(|| Ok(Vec::new()))
        };
        run().map_err(|error| CaptionError::Died(format!("reading text: {error:#}")))
    }
}
