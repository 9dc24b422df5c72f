//! Tests of the whole: real processes, sockets, disks and models. One binary,
//! because each one links candle.

mod caption_worker;
mod crash;
mod daemon;
mod models;
mod running;
mod sdk;
mod tools;
