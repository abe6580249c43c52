//! Counts the bytes of the bucket's answers: those that an instance has read, and those that went past all instances. And how
//! far instances' memory has grown.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    /// Whether a connection to a client is what asks for bytes at the moment.
    static PASSING_ON: Cell<bool> = const { Cell::new(false) };
}

/// The counts.
#[derive(Debug, Default)]
pub struct Counters {
    read: AtomicU64,
    passed_on: AtomicU64,
    peak_memory: AtomicU64,
    refused: AtomicU64,
}

impl Counters {
    /// Bytes of an answer have arrived for whoever asks.
    pub fn arrived(&self, bytes: usize) {
        let counter = if PASSING_ON.get() { &self.passed_on } else { &self.read };
        counter.fetch_add(bytes as u64, Relaxed);
    }

    /// An instance's memory grows to so many bytes, if it may.
    pub fn grows(&self, bytes: usize, may: bool) {
        if may {
            self.peak_memory.fetch_max(bytes as u64, Relaxed);
        } else {
            self.refused.fetch_add(1, Relaxed);
        }
    }

    /// As JSON. Jobs read when they like, so only requests' bytes count; but everybody's memory does.
    pub fn text(&self, of_jobs: &Self) -> String {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        serde_json::json!({
            "read_by_instances": load(&self.read), "passed_on": load(&self.passed_on),
            "peak_memory_bytes": load(&self.peak_memory).max(load(&of_jobs.peak_memory)),
            "memory_refusals": load(&self.refused) + load(&of_jobs.refused),
        })
        .to_string()
    }
}

/// Asks for bytes on behalf of a client's connection.
pub fn passing_on<T>(ask: impl FnOnce() -> T) -> T {
    let before = PASSING_ON.replace(true);
    let asked = ask();
    PASSING_ON.set(before);
    asked
}
