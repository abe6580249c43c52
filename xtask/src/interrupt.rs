//! Ctrl-C and SIGTERM: the command ends after it has stopped what it started.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on, being asked to stop is noted instead of ending the program at once.
pub(crate) fn watch() -> Result<()> {
    ctrlc::set_handler(|| ASKED.store(true, Ordering::SeqCst)).context("can't watch for Ctrl-C")
}

/// Whether the program was asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
