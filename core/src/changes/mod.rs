//! What changed in a space: recorded by every commit, and read as a feed.
//!
//! Commits run one after another, and each raises the space's `change_seq` in its own batch: their order is the order of
//! the numbers, and no number appears after a higher one was seen.

mod follow;
mod record;

pub use follow::{Change, Follow, MAX_LIMIT, MAX_WAIT_SECS, Page, follow};
pub(crate) use record::{Record, record};

/// What happened to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is new.
    Created,
    /// A file has another content, or its history has changed.
    Updated,
    /// It has another folder or name.
    Moved,
    /// It went into the trash.
    Deleted,
    /// It came back from there.
    Restored,
    /// It is gone for good.
    Purged,
}

impl What {
    const ALL: [Self; 6] =
        [Self::Created, Self::Updated, Self::Moved, Self::Deleted, Self::Restored, Self::Purged];

    /// The name in the table and in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Moved => "moved",
            Self::Deleted => "deleted",
            Self::Restored => "restored",
            Self::Purged => "purged",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.name() == name)
    }
}
