//! The single thread that everything runs on, and how it is asked to stop.

use std::future::Future;
use std::io;

use tokio::task::LocalSet;

/// Runs `main` on a current-thread runtime in which [`ledge_core::ports::Host::spawn`] works. Tasks that are
/// still running when `main` ends are cut off.
///
/// # Errors
/// The system refuses what a runtime needs.
pub fn run<T>(main: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, main))
}

/// Ends at SIGTERM or Ctrl-C.
///
/// # Errors
/// The system refuses to tell about signals.
pub async fn stop_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
