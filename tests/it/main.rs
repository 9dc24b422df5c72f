//! Tests of the parts together: real models, real processes, the whole daemon.
//! One binary, so that candle is linked once.

mod crash;
mod models;
