//! Taking turns: small appends to one file, in one isolate, one after another.
//!
//! It is no lock, and nothing is wrong without it: of appends at once all but one would lose the race and begin again, at
//! two round trips each time. Whoever waits looks again by its own timer, since on Workers nothing of one request may wake
//! another; and goes on after a second, whoever is before it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::ports::{Host, Timestamp};

/// The longest wait.
const PATIENCE_MILLIS: u64 = 1_000;
/// Looks are so far apart at most: about what the two round trips take.
const LOOK_MILLIS: u64 = 12;
/// A turn that is older belongs to a request that was cut off.
const STALE_MILLIS: i64 = 5_000;

thread_local! {
    /// Whose turn it is, by file, and since when.
    static TURNS: RefCell<HashMap<String, (u64, Timestamp)>> = RefCell::default();
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// A turn; the next one's when dropped.
pub(super) struct Turn {
    file: String,
    number: u64,
}

impl Turn {
    /// Waits for a turn at a file, but not for long: None where others take theirs.
    pub(super) async fn take(host: &impl Host, file: String) -> Option<Self> {
        let mut waited = 0;
        loop {
            if let Some(turn) = Self::try_take(&file, host.now()) {
                return Some(turn);
            }
            if waited >= PATIENCE_MILLIS {
                return None;
            }
            let mut random = [0];
            host.random(&mut random);
            let millis = 1 + u64::from(random[0]) % LOOK_MILLIS;
            host.sleep(millis).await;
            waited += millis;
        }
    }

    fn try_take(file: &str, now: Timestamp) -> Option<Self> {
        TURNS.with_borrow_mut(|turns| {
            if turns.get(file).is_some_and(|(_, since)| now.0.saturating_sub(since.0) < STALE_MILLIS) {
                return None;
            }
            let number = NEXT.get();
            NEXT.set(number.wrapping_add(1));
            turns.insert(file.to_owned(), (number, now));
            Some(Self { file: file.to_owned(), number })
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Not while another one holds the table: nothing awaits inside of it.
        TURNS.with_borrow_mut(|turns| {
            if turns.get(&self.file).is_some_and(|(number, _)| *number == self.number) {
                turns.remove(&self.file);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_with_its_holder_or_after_a_while() {
        let take = |file, millis| Turn::try_take(file, Timestamp(millis));
        let first = take("a", 0);
        assert!(first.is_some());
        assert!(take("a", 4_999).is_none());
        assert!(take("b", 0).is_some());
        let second = take("a", 5_000);
        assert!(second.is_some());
        drop(first);
        assert!(take("a", 5_001).is_none(), "what was overtaken ends nobody else's");
        drop(second);
        assert!(take("a", 5_002).is_some());
        TURNS.with_borrow(|turns| assert!(turns.is_empty()));
    }
}
