//! Counts the bytes of the bucket's answers: those that an instance has read, and those that went past all instances.

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
}

impl Counters {
    /// Bytes of an answer have arrived for whoever asks.
    pub fn arrived(&self, bytes: usize) {
        let counter = if PASSING_ON.get() { &self.passed_on } else { &self.read };
        counter.fetch_add(bytes as u64, Relaxed);
    }

    /// As JSON.
    pub fn text(&self) -> String {
        let (read, passed_on) = (self.read.load(Relaxed), self.passed_on.load(Relaxed));
        serde_json::json!({ "read_by_instances": read, "passed_on": passed_on }).to_string()
    }
}

/// Asks for bytes on behalf of a client's connection.
pub fn passing_on<T>(ask: impl FnOnce() -> T) -> T {
    let before = PASSING_ON.replace(true);
    let asked = ask();
    PASSING_ON.set(before);
    asked
}
