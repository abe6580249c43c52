//! What has happened: a test in which nothing does proves nothing.

use std::cell::Cell;

use super::operation::{Operation, lacks_chunks};

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
    begun, parts, finished, abandoned, expired, joined, joined_folders, drafts,
    asked, promises, packs, lists, vanished, appended, patched, concatenated,
}

impl Statistics {
    /// Somebody has been answered.
    pub(super) fn answered(&self, operation: &Operation, status: u16, body: &[u8]) {
        let count = match (status, operation) {
            (503, _) => &self.unavailable,
            (409, Operation::List { .. }) if lacks_chunks(body) => &self.vanished,
            (400.., _) => &self.refused,
            (_, Operation::Save { .. }) => &self.saved,
            (_, Operation::Copy { .. }) => &self.copied,
            (_, Operation::Delete(_)) => &self.deleted,
            (_, Operation::Purge(_)) => &self.purged,
            (_, Operation::Begin { .. } | Operation::MakeFolder(_)) => &self.begun,
            (_, Operation::Part { .. } | Operation::PutPart { .. }) => &self.parts,
            (_, Operation::Abandon(_) | Operation::DropFolder(_)) => &self.abandoned,
            (_, Operation::Join { .. }) => &self.joined,
            (_, Operation::JoinFolder { .. }) => &self.joined_folders,
            (_, Operation::Ask(_)) => &self.asked,
            (_, Operation::Pack { .. }) => &self.packs,
            (_, Operation::List { .. }) => &self.lists,
            (_, Operation::Append { .. }) => &self.appended,
            (_, Operation::Patch { .. }) => &self.patched,
            (_, Operation::Concat { .. }) => &self.concatenated,
            _ => &self.restored,
        };
        add(count, 1);
    }
}

pub(super) fn add(count: &Cell<u64>, more: u64) {
    count.set(count.get() + more);
}
