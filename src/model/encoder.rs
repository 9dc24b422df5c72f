//! BERT encoder, laid out for one short text at a time on one thread.
//!
//! candle-transformers has a `BertModel` too; for a query of ten words to the default embedder
//! this one takes two thirds of its time (release build, both in one run: .62 against .94 ms at
//! best, on a busy machine). Weights are transposed at loading, so that a product with a few
//! rows reads them in order instead of repacking them at every call; queries, keys and values
//! are one product; texts of one length need no mask; and row-wise operations are done in
//! place.

use candle_core::{Error, Result, Tensor};
use candle_nn::VarBuilder;
use rayon::ThreadPool;

use crate::model::bert_config::BertConfig;
use crate::model::encoder_files::EncoderFiles;
use crate::model::in_place::SoftmaxRows;
use crate::model::layers::{Activation, Heads, Linear, Norm};
use crate::model::quantized_linear::QuantizedLinear;
use crate::model::table::EmbeddingTable;
use crate::model::threads::pool_of_one;

pub(crate) struct Encoder {
    words: EmbeddingTable,
    /// Of each position, with that of the first text of a pair added: there is
    /// never a second.
    positions: Tensor,
    norm: Norm,
    layers: Vec<EncoderLayer>,
    /// Where layers are quantized, the thread that computes them.
    thread: Option<ThreadPool>,
}

/// In what the weights of the layers are kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Precision {
    /// For a model on the way of every query.
    Single,
    /// Of 8 bits, for a model that tells classes and none of whose numbers is stored.
    Quantized,
}

impl Encoder {
    pub(super) fn load(files: &EncoderFiles, precision: Precision) -> Result<Self> {
        let EncoderFiles { config, tokenizer: _, words, weights } = files;
        let width = config.hidden_size;
        let embeddings = weights.pp("embeddings");
        let table = |name: &str, rows| embeddings.pp(name).get((rows, width), "weight");
        let types = table("token_type_embeddings", config.type_vocab_size)?;
        let positions = table("position_embeddings", config.max_position_embeddings)?;
        let layers = weights.pp("encoder.layer");
        Ok(Self {
            words: words.clone(),
            positions: positions.broadcast_add(&types.get(0)?)?,
            norm: norm_of(config, &embeddings)?,
            layers: (0..config.num_hidden_layers)
                .map(|layer| EncoderLayer::load(config, &layers.pp(layer), precision))
                .collect::<Result<_>>()?,
            thread: match precision {
                Precision::Single => None,
                Precision::Quantized => Some(pool_of_one("encoder").map_err(Error::wrap)?),
            },
        })
    }

    /// Vectors of tokens by themselves.
    pub(crate) fn word_table(&self) -> &EmbeddingTable {
        &self.words
    }

    /// Vectors of the last layer, texts × tokens × width, for texts of equal length.
    pub(crate) fn forward(&self, texts: &[&[u32]]) -> Result<Tensor> {
        self.on_its_thread(|| self.forward_here(texts))
    }

    /// Vectors of the last layer of the first token of each text, texts × width; texts may be of any
    /// lengths but none. Products are of all texts together; the last layer makes no other vectors.
    pub(super) fn forward_first(&self, texts: &[&[u32]]) -> Result<Tensor> {
        self.on_its_thread(|| self.forward_first_here(texts))
    }

    fn on_its_thread<T: Send>(&self, compute: impl FnOnce() -> T + Send) -> T {
        match &self.thread {
            Some(thread) => thread.install(compute),
            None => compute(),
        }
    }

    fn forward_here(&self, texts: &[&[u32]]) -> Result<Tensor> {
        let length = texts.first().map_or(0, |text| text.len());
        let shape = (texts.len(), length, ());
        let words = self.words.rows(&texts.concat())?.reshape(shape)?;
        let x = words.broadcast_add(&self.positions.narrow(0, 0, length)?)?;
        let mut x = self.norm.apply(x.flatten(0, 1)?)?;
        for layer in &self.layers {
            x = layer.forward(&x, texts.len())?;
        }
        x.reshape(shape)
    }

    fn forward_first_here(&self, texts: &[&[u32]]) -> Result<Tensor> {
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let positions = lengths
            .iter()
            .map(|length| self.positions.narrow(0, 0, *length))
            .collect::<Result<Vec<_>>>()?;
        let x = (self.words.rows(&texts.concat())? + Tensor::cat(&positions, 0)?)?;
        let mut x = self.norm.apply(x)?;
        let (last, others) =
            self.layers.split_last().ok_or_else(|| Error::msg("an encoder has layers"))?;
        for layer in others {
            x = layer.forward_packed(&x, &lengths)?;
        }
        last.forward_first(&x, &lengths)
    }
}

struct EncoderLayer {
    heads: usize,
    queries_keys_values: EncoderLinear,
    attended: EncoderLinear,
    attended_norm: Norm,
    widened: EncoderLinear,
    activation: Activation,
    narrowed: EncoderLinear,
    narrowed_norm: Norm,
}

impl EncoderLayer {
    fn load(config: &BertConfig, weights: &VarBuilder<'_>, precision: Precision) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let attention = weights.pp("attention");
        let linear = |inputs, outputs, weights: &VarBuilder<'_>| {
            EncoderLinear::new(&Linear::load(inputs, outputs, weights)?, precision)
        };
        let queries_keys_values = queries_keys_values(config, &attention.pp("self"))?;
        Ok(Self {
            heads: config.num_attention_heads,
            queries_keys_values: EncoderLinear::new(&queries_keys_values, precision)?,
            attended: linear(width, width, &attention.pp("output.dense"))?,
            attended_norm: norm_of(config, &attention.pp("output"))?,
            widened: linear(width, inner, &weights.pp("intermediate.dense"))?,
            activation: config.hidden_act,
            narrowed: linear(inner, width, &weights.pp("output.dense"))?,
            narrowed_norm: norm_of(config, &weights.pp("output"))?,
        })
    }

    /// Rows are the tokens of all `texts`, which are of equal length, one text after another.
    fn forward(&self, x: &Tensor, texts: usize) -> Result<Tensor> {
        let length = x.dim(0)? / texts;
        let attended = self.attend(&self.queries_keys_values.forward(x)?, texts, length)?;
        self.after_attention(&attended, x)
    }

    /// Rows are the tokens of texts of these lengths, one text after another.
    fn forward_packed(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let attended = self.attend_each(x, lengths, |length| length)?;
        self.after_attention(&attended, x)
    }

    /// As `forward_packed`, of the first token of each text.
    fn forward_first(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let attended = self.attend_each(x, lengths, |_| 1)?;
        let firsts =
            starts(lengths).map(|start| x.narrow(0, start, 1)).collect::<Result<Vec<_>>>()?;
        self.after_attention(&attended, &Tensor::cat(&firsts, 0)?)
    }

    /// `x` is what was attended from.
    fn after_attention(&self, attended: &Tensor, x: &Tensor) -> Result<Tensor> {
        let x = self.attended_norm.apply((self.attended.forward(attended)? + x)?)?;
        let widened = self.activation.apply(self.widened.forward(&x)?)?;
        self.narrowed_norm.apply((self.narrowed.forward(&widened)? + x)?)
    }

    /// What the first tokens of each text attend to, `attending` of its length.
    fn attend_each(
        &self,
        x: &Tensor,
        lengths: &[usize],
        attending: impl Fn(usize) -> usize,
    ) -> Result<Tensor> {
        let all = self.queries_keys_values.forward(x)?;
        let one = |(start, length): (usize, &usize)| {
            self.attend(&all.narrow(0, start, *length)?, 1, attending(*length))
        };
        let attended = starts(lengths).zip(lengths).map(one).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&attended, 0)
    }

    /// What the first `attending` tokens of each text attend to; of all tokens of the `texts`, which are
    /// of equal length, queries, keys and values lie side by side.
    fn attend(&self, all: &Tensor, texts: usize, attending: usize) -> Result<Tensor> {
        let (rows, widths) = all.dims2()?;
        let (length, width) = (rows / texts, widths / 3);
        let split = all
            .reshape((texts, length, 3, self.heads, width / self.heads))?
            .permute((2, 0, 3, 1, 4))?
            .contiguous()?;
        let (queries, keys, values) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let shares = queries.narrow(2, 0, attending)?.matmul(&keys.t()?)?;
        shares.inplace_op1(&SoftmaxRows)?;
        shares.matmul(&values)?.transpose(1, 2)?.reshape((texts * attending, width))
    }
}

/// Where each of texts of these lengths begins.
fn starts(lengths: &[usize]) -> impl Iterator<Item = usize> {
    lengths.iter().scan(0, |next, length| {
        let start = *next;
        *next += length;
        Some(start)
    })
}

enum EncoderLinear {
    Single(Linear),
    Quantized(QuantizedLinear),
}

impl EncoderLinear {
    /// `linear` with its weights as they lie in their file.
    fn new(linear: &Linear, precision: Precision) -> Result<Self> {
        match precision {
            Precision::Single => linear.transposed().map(Self::Single),
            Precision::Quantized => linear.quantized().map(Self::Quantized),
        }
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Single(linear) => linear.forward(x),
            Self::Quantized(linear) => linear.forward(x),
        }
    }
}

fn scale_of(config: &BertConfig) -> f64 {
    Heads::of(config.hidden_size, config.num_attention_heads).scale()
}

/// Side by side, the queries scaled already.
fn queries_keys_values(config: &BertConfig, weights: &VarBuilder<'_>) -> Result<Linear> {
    let width = config.hidden_size;
    let part = |name| Linear::load(width, width, &weights.pp(name));
    let queries = part("query")?.scale_by(scale_of(config))?;
    Linear::side_by_side(&[queries, part("key")?, part("value")?])
}

fn norm_of(config: &BertConfig, weights: &VarBuilder<'_>) -> Result<Norm> {
    Norm::load(config.hidden_size, config.layer_norm_eps, &weights.pp("LayerNorm"))
}
