//! Ctrl-C ends a command between two steps, so that a measurement leaves nothing behind and a
//! camera's last frames are told.

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

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.is_asked(), "interrupted; nothing is left behind");
        Ok(())
    }
}
