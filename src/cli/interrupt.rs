//! Ctrl-C ends a measurement between two steps, so that it leaves nothing behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, ensure};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Asked for by a signal. The daemon that is measured gets Ctrl-C too and ends,
/// which ends the step that asks it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on signals are only noted.
    pub fn watch() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register(signal, Arc::clone(&interrupt.0)).context("signals cannot be caught")?;
        }
        Ok(interrupt)
    }

    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.0.load(Ordering::Relaxed), "interrupted; nothing is left behind");
        Ok(())
    }
}
