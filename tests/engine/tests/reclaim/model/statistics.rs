//! What has happened: a test in which nothing does proves nothing.

use std::cell::Cell;

macro_rules! statistics {
    ($($name:ident),* $(,)?) => {
        /// Counts over all schedules.
        #[derive(Debug, Default)]
        pub(super) struct Statistics {
            $(pub(super) $name: Cell<u64>,)*
        }

        impl Statistics {
            pub(super) fn assert_much_has_happened(&self) {
                $(assert!(self.$name.get() > 0, "{} never happened", stringify!($name));)*
            }
        }
    };
}

statistics! {
    saved, refused, unavailable, copied, deleted, restored, purged, failed_calls, deaths, late_calls, plans_read,
    strays, doomed, revived, gone, repacked, expired_uploads, orphans,
}

pub(super) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}
