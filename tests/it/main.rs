//! Tests of the whole: real processes, sockets, disks and models. One binary,
//! because each one links candle.

#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that does not get what it needs should stop"
)]

mod access;
mod agent_step;
mod backup;
mod bench;
mod caption;
mod caption_worker;
mod crash;
#[cfg(feature = "failpoints")]
mod crash_daemon;
mod crash_segments;
mod daemon;
mod deeds;
mod dev_memory;
mod endpoint;
#[path = "../../benches/home/evaluation/mod.rs"]
mod evaluation;
mod exhausted;
mod ffmpeg;
mod footprint;
mod forgotten_things;
mod fusion;
mod gone;
mod grounding;
mod home;
mod hostile;
mod hub;
mod hub_server;
mod installed;
mod instruments;
mod killed_writer;
mod last_seen;
mod literal;
mod live;
mod lost;
mod memo_examples;
mod model_planner;
mod models;
mod named_place;
mod names;
mod notes;
mod offline;
mod page;
mod parse_by_hand;
mod parts;
mod photographs;
mod purge;
mod python_client;
mod raw_frames;
mod recall_queries;
mod receipts;
mod refused;
mod remembered;
mod requests;
mod rereading;
#[cfg(feature = "ros2")]
mod ros2;
mod running;
mod schemas;
mod scripted_model;
mod sdk;
mod served_captioner;
mod sessions;
mod several;
mod socket_activation;
mod targets;
mod tools;
mod transcripts;
mod units;
mod unsure;
mod wanted_place;
mod wayout;
mod without_words;
