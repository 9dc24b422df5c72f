//! Tests of the whole: real processes, sockets, disks and models. One binary,
//! because each one links candle.

mod daemon;
mod running;
mod sdk;
mod tools;
