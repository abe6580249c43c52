//! Why a picture has no thumbnails.

use crate::read::Format;

/// Why. The words are for whoever asked for the thumbnail, and are kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not of a format that is read.
    #[error("this is no JPEG, PNG, GIF, WebP or BMP picture")]
    NotAPicture,
    /// The format is read, but not this kind of it.
    #[error("this kind of {format} isn't read: {what}")]
    Unsupported {
        /// The format.
        format: Format,
        /// What it has that isn't read.
        what: String,
    },
    /// It would take more memory than there is.
    #[error(
        "a {format} picture of {width} × {height} pixels takes {} MiB of memory, and {} MiB is the limit",
        mebibytes(*.needed_bytes), mebibytes(crate::MEMORY_BYTES)
    )]
    TooLarge {
        /// The format.
        format: Format,
        /// How wide it says it is.
        width: u32,
        /// How high it says it is.
        height: u32,
        /// What it would take.
        needed_bytes: u64,
    },
    /// The file is longer than what is read.
    #[error("the file has more than {} MiB, which is the limit", mebibytes(crate::MAX_SOURCE_BYTES))]
    TooLong,
    /// It would take too much work: a file that is made to.
    #[error("this {format} picture takes too much work: {what}")]
    TooMuchWork {
        /// The format.
        format: Format,
        /// What there is too much of.
        what: String,
    },
    /// The file is damaged, or ends early.
    #[error("this {format} file is damaged: {what}")]
    Damaged {
        /// The format.
        format: Format,
        /// What is wrong.
        what: String,
    },
    /// The thumbnail can't be written.
    #[error("the thumbnail can't be written: {0}")]
    Unwritable(String),
}

/// Whole mebibytes, rounded up.
fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
