//! Imports: objects that others have stored in a bucket become files, in place.
//!
//! - [`ask`] makes the row of an import and its job. Each step ([`step`]) takes a page of the bucket's listing, finds where its
//!   keys lead ([`keys`]), and makes folders and files in one commit, which is refused where the space has changed since it
//!   was read. So a step that is repeated makes nothing twice. What can't become a file is reported ([`report`]).
//! - An imported object is a segment that has its listed entity tag: reads are refused where the object has another one by
//!   then, and the object is never removed.
//! - Its CRC-32 and digest aren't known: [`hash`] makes them when something needs them.

mod ask;
mod commit;
pub(crate) mod hash;
mod keys;
mod report;
mod step;

pub use ask::{MAX_PREFIX_BYTES, Wanted, ask};
pub use hash::step as hash_step;
pub use report::{MAX_REFUSED, Refused, Report, report};
pub use step::step;

use serde::{Deserialize, Serialize};

/// The CRC-32 of a blob whose row doesn't know it.
pub(crate) const UNKNOWN_CRC32: i64 = -1;

/// What an import has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Files that were made.
    pub files: u64,
    /// Folders that were made.
    pub folders: u64,
    /// The bytes of those files.
    pub bytes: u64,
    /// Objects that files refer to already.
    pub unchanged: u64,
    /// Objects of a drive, which were left out.
    pub own: u64,
    /// Objects that can't become files, each with a reason in the report.
    pub refused: u64,
}

impl Counts {
    fn objects(&self) -> u64 {
        self.files + self.unchanged + self.own + self.refused
    }
}
